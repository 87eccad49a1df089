"""The five failure modes, and the signals that checks give of them.

Cards print the signals of checks and the built-in judge follows them, so the two cannot disagree.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from scbench.base.data import packaged_toml
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS

# State of a score that is no candidate because it is high enough.
PASS = "pass"  # noqa: S105  (no password)
# Places at which one failed check is still a slip.
SLIP_PLACES = 2
# Texts for people and judges, worded once.
TEXTS = packaged_toml("scbench.analysis.failure_modes", "texts.toml")


# Its docstring is part of the schema of decisions, which is stored in bundles.
class Mode(StrEnum):
    """Why an answer scored low. Exactly one applies to a candidate. The order is the paper's."""

    EVASION = "evasion_forfeit"
    TRIVIALIZED = "trivialized_misframed"
    OVERTHINKING = "runaway_overthinking"
    LOCAL_ONLY = "local_only"
    NEAR_MISS = "near_miss"


# States of a diagnosed score, in the order of the paper's figure.
STATES: tuple[str, ...] = (
    PASS,
    Mode.EVASION,
    Mode.LOCAL_ONLY,
    Mode.NEAR_MISS,
    Mode.TRIVIALIZED,
    Mode.OVERTHINKING,
)


class Meaning(NamedTuple):
    """The meaning of a mode, for people and judges.

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


MEANINGS: Mapping[Mode, Meaning] = {
    mode: Meaning(**TEXTS["modes"][mode]) for mode in Mode
}


class Likely(NamedTuple):
    """A label that the failure of a check points to, under a condition; empty for always."""

    mode: Mode
    when: str


class Signal(NamedTuple):
    """A check, and the meaning of its failure.

    Attributes:
        check: its id.
        requirement: on the answer.
        likely: labels that its failure points to, likeliest first.
    """

    check: str
    requirement: str
    likely: list[Likely]


def signals(task: Task) -> list[Signal]:
    """Return a signal for every check a task can fail: its own in their order, then the common."""
    of_task = []
    for check, requirement in task.checks.items():
        kind = "defining" if check in task.defining_checks else "own"
        of_task.append(Signal(check, requirement, likely_labels(kind)))
    for check, requirement in COMMON_CHECKS.items():
        of_task.append(Signal(check, requirement, likely_labels(check)))
    return of_task


def likely_labels(check: str) -> list[Likely]:
    """Return the labels that the failure of a check, or of a kind of check, points to."""
    labels = []
    for label, when in TEXTS["likely"][check].items():
        labels.append(Likely(Mode(label), when.format(places=SLIP_PLACES)))
    return labels
