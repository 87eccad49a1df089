"""What each check of a task, if it fails, says about the failure mode.

Cards print these signals and the built-in judge follows them, so the two cannot disagree.
"""

from typing import NamedTuple

from scbench.analysis.failure_modes.labels import SLIP_PLACES, Mode
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS


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
