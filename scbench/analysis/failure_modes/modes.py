"""The five failure modes, and their signals in failed checks.

Cards print the signals of checks, and the built-in judge uses the same ones.
"""

from enum import StrEnum
from typing import NamedTuple

from scbench.base.data import packaged_toml
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS

# State of a score that is too high to be a candidate.
PASS = "pass"  # noqa: S105  (no password)
# A check that fails in at most this many places counts as a slip.
SLIP_PLACES = 2
# Texts for people and judges.
TEXTS = packaged_toml("scbench.analysis.failure_modes", "texts.toml")


# Its docstring is part of the schema of decisions, which is stored in bundles.
class Mode(StrEnum):
    """Why an answer scored low. Exactly one applies to a candidate. The order is the paper's."""

    EVASION = "evasion_forfeit"
    TRIVIALIZED = "trivialized_misframed"
    OVERTHINKING = "runaway_overthinking"
    LOCAL_ONLY = "local_only"
    NEAR_MISS = "near_miss"


class Meaning(NamedTuple):
    """The meaning of a mode, for people and judges.

    Attributes:
        title: full name.
        short: name for table headings.
        applies: condition for the label.
        not_if: condition that excludes the label.
    """

    title: str
    short: str
    applies: str
    not_if: str


class Likely(NamedTuple):
    """A label suggested by a failed check, under a condition (empty for always)."""

    mode: Mode
    when: str


class Signal(NamedTuple):
    """A check, and the meaning of its failure.

    Attributes:
        check: id of the check.
        requirement: requirement on the answer.
        likely: labels suggested by its failure, most likely first.
    """

    check: str
    requirement: str
    likely: list[Likely]


def ordered_states() -> list[str]:
    """Return the states of a diagnosed score, in the order of the paper's figure."""
    return [
        PASS,
        Mode.EVASION,
        Mode.LOCAL_ONLY,
        Mode.NEAR_MISS,
        Mode.TRIVIALIZED,
        Mode.OVERTHINKING,
    ]


def meaning_of(mode: Mode) -> Meaning:
    """Return the meaning of a mode."""
    return Meaning(**TEXTS["modes"][mode])


def signals(task: Task) -> list[Signal]:
    """Return a signal for every check of a task: its specific ones, then the common ones."""
    of_task = []
    for check, requirement in task.checks.items():
        kind = "defining" if check in task.defining_checks else "own"
        of_task.append(Signal(check, requirement, likely_labels(kind)))
    for check, requirement in COMMON_CHECKS.items():
        of_task.append(Signal(check, requirement, likely_labels(check)))
    return of_task


def likely_labels(check: str) -> list[Likely]:
    """Return the labels suggested by the failure of a check or kind of check."""
    labels = []
    for label, when in TEXTS["likely"][check].items():
        labels.append(Likely(Mode(label), when.format(places=SLIP_PLACES)))
    return labels
