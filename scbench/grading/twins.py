"""Answers of heavy tasks that are given more than once are judged once.

Many samples of one model, or many models, often give the same plan, and a simulation of it can take
a minute. Two lines are twins if they answer the same instance with the same answer, wherever in
their text it was found.
"""

from collections import OrderedDict
from dataclasses import dataclass

from scbench.canonical import canonical_json, sha256
from scbench.catalog import Task
from scbench.grading.extract import find_answer, shape_of
from scbench.grading.outcome import without_answer
from scbench.grading.packed import Packed
from scbench.grading.reading import Line
from scbench.model import Instance, Status

_REMEMBERED = 10_000
"""Outcomes kept for twins that come later; one is some kilobytes."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A line that is to be graded, and what its rows need.

    Attributes:
        line: the line.
        instance: that it answers.
        digest: SHA-256 of its bytes.
        key: under which the journal keeps its rows.
        answer: the same for twins; None if nothing is gained by knowing.
        source: where the answer was found.
        repairs: what had to be done to read it.
    """

    line: Line
    instance: Instance
    digest: str
    key: str
    answer: str | None = None
    source: str | None = None
    repairs: tuple[str, ...] = ()


def pending(line: Line, instance: Instance, task: Task, digest: str, key: str) -> Pending:
    """Return a line that is to be graded, with its answer looked up if the task is heavy."""
    if task.heavy and without_answer(line.prediction) is None:
        found = find_answer(line.prediction, shape_of(task.answer_model))
        if found is not None:
            try:
                answer = sha256(f"{instance.id} {canonical_json(found.value)}".encode())
            except ValueError:  # what no JSON can hold has no twin
                return Pending(line, instance, digest, key)
            return Pending(line, instance, digest, key, answer, found.source, found.repairs)
    return Pending(line, instance, digest, key)


class Twins:
    """Which lines wait for the outcome of another, and the outcomes of late."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Pending]] = {}
        self._judged: OrderedDict[str, Packed] = OrderedDict()

    def known(self, line: Pending) -> Packed | None:
        """Return the outcome of an earlier twin, as if its answer had been found in this line."""
        outcome = self._judged.get(line.answer) if line.answer else None
        return outcome and _as_found(outcome, line)

    def hold(self, line: Pending) -> bool:
        """Return whether a twin is being judged; the line is then kept until `release`."""
        if line.answer is None:
            return False
        if line.answer in self._waiting:
            self._waiting[line.answer].append(line)
            return True
        self._waiting[line.answer] = []
        return False

    def release(self, line: Pending, outcome: Packed) -> list[tuple[Pending, Packed]]:
        """Take the outcome of a line; return the twins that waited for it, with theirs."""
        if line.answer is None:
            return []
        if outcome.status == Status.ANSWERED:
            self._judged[line.answer] = outcome
            if len(self._judged) > _REMEMBERED:
                self._judged.popitem(last=False)
        return [(twin, _as_found(outcome, twin)) for twin in self._waiting.pop(line.answer)]


def _as_found(outcome: Packed, line: Pending) -> Packed:
    return outcome._replace(source=line.source, repairs=list(line.repairs))
