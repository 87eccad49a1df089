"""The five failure modes, the order in which they are decided, and what failed checks say of them.

Cards print these signals and the built-in judge follows them, so the two cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS


class Mode(StrEnum):
    """Why an answer scored low. Exactly one holds for a candidate; in the order of the paper."""

    EVASION = "evasion_forfeit"
    TRIVIALIZED = "trivialized_misframed"
    OVERTHINKING = "runaway_overthinking"
    LOCAL_ONLY = "local_only"
    NEAR_MISS = "near_miss"


PASS = "pass"  # noqa: S105  (no password)
"""State of a score that is no candidate because it is high enough."""

THRESHOLD = 0.6
"""Scores below it are candidates."""

SLIP_PLACES = 2
"""Places at which one failed check is still a slip."""

STATES: tuple[str, ...] = (
    PASS,
    *(Mode.EVASION, Mode.LOCAL_ONLY, Mode.NEAR_MISS, Mode.TRIVIALIZED, Mode.OVERTHINKING),
)
"""What a diagnosed score can be, as the paper's figure lists it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a mode means, for people and judges.

    Attributes:
        title: full name.
        short: name for the heads of tables.
        applies: when it is the label.
        not_if: when it is not.
    """

    title: str
    short: str
    applies: str
    not_if: str


MEANINGS: Mapping[Mode, Meaning] = MappingProxyType(
    {
        Mode.EVASION: Meaning(
            "Evasion / Forfeit",
            "Evasion",
            "No attempt was made: the reply refuses, calls the task too hard, points to a program "
            "that would solve it, or holds an empty or placeholder answer.",
            "there is a real attempt, however wrong",
        ),
        Mode.TRIVIALIZED: Meaning(
            "Trivialized / Misframed",
            "Trivialized",
            "Another problem was solved than the one asked: a rule that makes the task what it is "
            "was left out, or the answer has the form of some other task.",
            "the rule was respected but for its fringe",
        ),
        Mode.OVERTHINKING: Meaning(
            "Runaway Overthinking",
            "Overthinking",
            "Much work went in a direction that does not end in the asked-for answer: something is "
            "there, but it fits neither the form nor the rules.",
            "the answer is empty, which is evasion",
        ),
        Mode.LOCAL_ONLY: Meaning(
            "Local-Only (global constraint integration failure)",
            "Local-Only",
            "The pieces are sound one by one and the whole is not: they overlap, cross, leave gaps "
            "or contradict each other. Mostly several checks fail, or one about the whole.",
            "a single small correction would mend it",
        ),
        Mode.NEAR_MISS: Meaning(
            "Near-Miss Edge Case",
            "Near-Miss",
            "Nearly everything is right and one sharp check fails, such as one item too many or a "
            "point out of bounds; a small local change would mend it.",
            "it would have to be designed anew",
        ),
    }
)

DECISION_ORDER: tuple[tuple[Mode, str], ...] = (
    (Mode.EVASION, "the answer is empty or a placeholder, or the reply plainly declines"),
    (Mode.TRIVIALIZED, "the wrong problem was solved, or a defining rule was dropped"),
    (Mode.NEAR_MISS, "it is mostly right, and one sharp check fails in one or two places"),
    (
        Mode.LOCAL_ONLY,
        "it is inconsistent as a whole: several checks fail, or one does in many places",
    ),
    (Mode.OVERTHINKING, "otherwise: something is there, but it leads nowhere"),
)
"""The first that applies is the label."""

TIES = (
    "An empty answer is evasion, never overthinking. Near-miss wins over local-only if one small "
    "change would mend the answer; several failed checks, or one about the whole, are local-only."
)


class Signal(NamedTuple):
    """A check, and what its failure means.

    Attributes:
        check: its id.
        requirement: what the answer must keep.
        likely: labels that its failure points to, likeliest first, each with the condition under
            which it does; empty for always.
    """

    check: str
    requirement: str
    likely: tuple[tuple[Mode, str], ...]


_COMMON: dict[str, tuple[tuple[Mode, str], ...]] = {
    "answer_found": ((Mode.EVASION, ""),),
    "answer_schema": (
        (Mode.EVASION, "nothing is given under the asked-for keys"),
        (Mode.TRIVIALIZED, "something is, in another form"),
    ),
    "resource_limit": ((Mode.OVERTHINKING, ""),),
}
_DEFINING = ((Mode.TRIVIALIZED, ""),)
_TASK_CHECK = (
    (Mode.NEAR_MISS, f"it fails alone, at no more than {SLIP_PLACES} places"),
    (Mode.LOCAL_ONLY, "it fails at more places, or other checks fail with it"),
)


def signals(task: Task) -> list[Signal]:
    """Return a signal for every check a task can fail: its own in their order, then the common."""
    defining = task.defining_checks
    of_task = [
        Signal(check, requirement, _DEFINING if check in defining else _TASK_CHECK)
        for check, requirement in task.checks.items()
    ]
    return of_task + [
        Signal(check, requirement, _COMMON[check]) for check, requirement in COMMON_CHECKS.items()
    ]
