"""Answers of heavy tasks that are given more than once are judged once.

Many samples of one model, or many models, often give the same plan, and a simulation of it can take
a minute. Two lines are twins if they answer the same instance with the same answer, wherever in
their text it was found.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from scbench.answers.extract import find_answer, shape_of
from scbench.canonical import canonical_json, sha256
from scbench.catalog import Task
from scbench.grading.outcome import without_answer
from scbench.grading.rows.columns import Head
from scbench.grading.rows.wire import Packed
from scbench.model import Status
from scbench.predictions import Line

_REMEMBERED = 10_000
"""Outcomes kept for twins that come later; one is some kilobytes."""


class Twin(NamedTuple):
    """What is known of a heavy answer before it is judged.

    Attributes:
        answer: the same for twins; None if nothing is gained by knowing.
        source: where the answer was found.
        repairs: what had to be done to read it.
    """

    answer: str | None = None
    source: str | None = None
    repairs: list[str] = []  # noqa: RUF012  (nobody changes it)


def twin_of(line: Line, instance_id: str, task: Task) -> Twin | None:
    """Return what tells twins of a line's answer; None if the line has none to judge."""
    if without_answer(line.prediction) is not None:
        return None
    found = find_answer(line.prediction, shape_of(task.answer_model))
    if found is None:
        return None
    try:
        answer = sha256(f"{instance_id} {canonical_json(found.value)}".encode())
    except ValueError:  # what no JSON can hold has no twin
        return Twin()
    return Twin(answer, found.source, list(found.repairs))


@dataclass(frozen=True, slots=True)
class Pending:
    """A line that is to be judged by itself, and what its rows need.

    Attributes:
        head: what they hold besides the outcome.
        key: under which the journal keeps them.
        size: bytes of the line.
        twin: what is known of its answer.
    """

    head: Head
    key: str
    size: int
    twin: Twin | None = None


class Twins:
    """Which lines wait for the outcome of another, and the outcomes of late."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Pending]] = {}
        self._judged: OrderedDict[str, Packed] = OrderedDict()
        self.held = 0

    def known(self, line: Pending) -> Packed | None:
        """Return the outcome of an earlier twin, as if its answer had been found in this line."""
        outcome = self._judged.get(_answer(line))
        return outcome and _as_found(outcome, line)

    def hold(self, line: Pending) -> bool:
        """Return whether a twin is being judged; the line is then kept until `release`."""
        answer = _answer(line)
        if not answer:
            return False
        if answer in self._waiting:
            self._waiting[answer].append(line)
            self.held += 1
            return True
        self._waiting[answer] = []
        return False

    def release(self, line: Pending, outcome: Packed) -> list[tuple[Pending, Packed]]:
        """Take the outcome of a line; return the twins that waited for it, with theirs."""
        answer = _answer(line)
        if not answer:
            return []
        if outcome.status == Status.ANSWERED:
            self._judged[answer] = outcome
            if len(self._judged) > _REMEMBERED:
                self._judged.popitem(last=False)
        waited = self._waiting.pop(answer)
        self.held -= len(waited)
        return [(twin, _as_found(outcome, twin)) for twin in waited]


def _answer(line: Pending) -> str:
    return (line.twin and line.twin.answer) or ""


def _as_found(outcome: Packed, line: Pending) -> Packed:
    if line.twin is None:
        return outcome
    return outcome._replace(source=line.twin.source, repairs=list(line.twin.repairs))
