"""Duplicates: repeated answers to heavy tasks, which are graded only once.

Many samples of one model, or many models, often give the same plan, and a simulation of it can take
a minute. Two answers are duplicates if they are equal and answer the same instance,
regardless of where they were found in the text.
"""

from collections import OrderedDict
from typing import NamedTuple

from scbench.base.model import Status
from scbench.grading.rows.lines import PendingLine
from scbench.grading.rows.wire import WireOutcome

# Maximum number of outcomes stored for later duplicates, and of characters in their
# answers.
_REMEMBERED = 10_000
_REMEMBERED_CHARACTERS = 2**27


class FinishedLine(NamedTuple):
    """A line graded separately, or a duplicate of one, with its outcome."""

    line: PendingLine
    outcome: WireOutcome


class DuplicateAnswers:
    """The lines that wait for the outcome of another line, and recent outcomes.

    Attributes:
        waiting: number of lines that wait for the outcome of another.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[PendingLine]] = {}
        self._judged: OrderedDict[str, WireOutcome] = OrderedDict()
        self._characters = 0
        self.waiting = 0

    def earlier(self, line: PendingLine) -> WireOutcome | None:
        """Return the outcome of an earlier duplicate, adapted to this line."""
        if line.answer is None:
            return None
        outcome = self._judged.get(line.answer.key)
        return None if outcome is None else relocated(outcome, line)

    def postpone(self, line: PendingLine) -> bool:
        """Return whether a duplicate is being judged; if so, the line waits until `release`."""
        if line.answer is None:
            return False
        waiting = self._waiting.get(line.answer.key)
        if waiting is None:
            self._waiting[line.answer.key] = []
            return False
        # Only the line being judged keeps the text; copies of long texts would fill the
        # memory.
        waiting.append(line._replace(answer=line.answer._replace(text="")))
        self.waiting += 1
        return True

    def release(self, line: PendingLine, outcome: WireOutcome) -> list[FinishedLine]:
        """Take the outcome of a line; return the waiting duplicates with their outcomes."""
        if line.answer is None:
            return []
        # A failure is not a verdict on the answer, so a later duplicate is graded.
        if outcome.status == Status.ANSWERED:
            self._remember(line.answer.key, outcome)
        duplicates = self._waiting.pop(line.answer.key)
        self.waiting -= len(duplicates)
        return [
            FinishedLine(duplicate, relocated(outcome, duplicate))
            for duplicate in duplicates
        ]

    def _remember(self, key: str, outcome: WireOutcome) -> None:
        """Store an outcome, and forget the oldest ones if there are too many."""
        self._judged[key] = outcome
        self._characters += len(outcome.answer or "")
        while (
            len(self._judged) > _REMEMBERED or self._characters > _REMEMBERED_CHARACTERS
        ):
            _, forgotten = self._judged.popitem(last=False)
            self._characters -= len(forgotten.answer or "")


def relocated(outcome: WireOutcome, line: PendingLine) -> WireOutcome:
    """Return an outcome with the origin that the answer has in another line."""
    if line.answer is None:
        return outcome
    return outcome._replace(source=line.answer.source, repairs=line.answer.repairs)
