"""Answers of heavy tasks that are given more than once are judged once.

Many samples of one model, or many models, often give the same plan, and a simulation of it can take
a minute. Two answers are duplicates if they are the same answer to the same instance, wherever in
their text they were found.
"""

import json
from collections import OrderedDict
from typing import NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Status
from scbench.grading.rows.columns import Head
from scbench.grading.rows.wire import WireOutcome
from scbench.scoring.answers.candidates import Found

_REMEMBERED = 10_000
"""Outcomes kept for duplicates that come later; one is some kilobytes."""


class FoundAnswer(NamedTuple):
    """A heavy answer that was found in its line, and is still to be judged.

    Attributes:
        key: the same for duplicates.
        text: the answer as JSON, its keys in the order given.
        source: where it was found.
        repairs: what had to be done to read it.
    """

    key: str
    text: str
    source: str
    repairs: list[str]

    @classmethod
    def of(cls, match: Found, instance_id: str) -> "FoundAnswer | None":
        """Return the answer to an instance, ready to travel; None if no JSON can hold it."""
        try:
            key = sha256(f"{instance_id} {canonical_json(match.value)}")
        except ValueError:
            return None
        text = json.dumps(match.value, ensure_ascii=False, separators=(",", ":"))
        return cls(key, text, match.source, list(match.repairs))


class PendingLine(NamedTuple):
    """A line that is to be judged by itself.

    Attributes:
        head: what its rows hold besides the outcome.
        start: where it begins in the bytes of its chunk.
        end: where it ends.
        answer: that was found; None if that was not looked for yet.
    """

    head: Head
    start: int
    end: int
    answer: FoundAnswer | None = None

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return self.end - self.start


class DuplicateAnswers:
    """Which lines wait for the outcome of another, and the outcomes of late."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[PendingLine]] = {}
        self._judged: OrderedDict[str, WireOutcome] = OrderedDict()
        self.waiting = 0

    def earlier(self, line: PendingLine) -> WireOutcome | None:
        """Return the outcome of an earlier duplicate, as if it had been found in this line."""
        outcome = line.answer and self._judged.get(line.answer.key)
        return outcome and _as_found(outcome, line)

    def hold(self, line: PendingLine) -> bool:
        """Return whether a duplicate is being judged; the line is then kept until `release`."""
        if line.answer is None:
            return False
        waiting = self._waiting.get(line.answer.key)
        if waiting is None:
            self._waiting[line.answer.key] = []
            return False
        waiting.append(line)
        self.waiting += 1
        return True

    def release(
        self, line: PendingLine, outcome: WireOutcome
    ) -> list[tuple[PendingLine, WireOutcome]]:
        """Take the outcome of a line; return the duplicates that waited for it, with theirs."""
        if line.answer is None:
            return []
        if outcome.status == Status.ANSWERED:
            self._judged[line.answer.key] = outcome
            if len(self._judged) > _REMEMBERED:
                self._judged.popitem(last=False)
        waited = self._waiting.pop(line.answer.key)
        self.waiting -= len(waited)
        return [(duplicate, _as_found(outcome, duplicate)) for duplicate in waited]


def _as_found(outcome: WireOutcome, line: PendingLine) -> WireOutcome:
    if line.answer is None:
        return outcome
    return outcome._replace(source=line.answer.source, repairs=line.answer.repairs)
