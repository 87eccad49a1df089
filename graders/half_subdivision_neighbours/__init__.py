"""Checks whether an answer lists exactly the neighbours of the target.

Intervals are compared as integers, in units of the smallest one. Labels are strings, in any order,
without repeats.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Params

VERSION = 1

CHECKS = {
    "repeats": "No label is listed twice.",
    "tree": "Every label names a box of the tree.",
    "leaves": "No label names a box that was cut.",
    "target": "The target itself is not listed.",
    "contact": "Every listed leaf shares a piece of a side or face with the target.",
    "complete": "Every neighbour of the target is listed.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("repeats", "tree", "leaves", "target")

# Characters of a label that a verdict shows.
_LABEL_SHOWN = 60
Interval = tuple[int, int]
Box = tuple[Interval, ...]


class Truth(NamedTuple):
    """The labels of an instance."""

    leaves: frozenset[str]
    inner: frozenset[str]
    """Boxes that were cut."""
    neighbours: frozenset[str]
    grazing: frozenset[str]
    """Leaves that touch the target at a corner or edge only."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the labels are the target's neighbours, each listed once, else 0."""
    truth = truth_of(params)
    checks = Checklist(CHECKS)
    n = len(answer.neighbors)
    if n > 10 * len(params.leaves):
        return checks.too_large(
            f"{n:,} labels are listed; the tree has only {len(params.leaves)} leaves."
        )

    labels = frozenset(answer.neighbors)
    repeats: list[str] = []
    if len(labels) < n:
        counts = Counter(answer.neighbors)
        repeats = _shortened(label for label, count in counts.items() if count > 1)
    fault = counted(len(repeats), "label is", "labels are")
    _forbid_labels(checks, "repeats", repeats, f"{fault} listed more than once")
    stray = labels - truth.leaves
    # In a complete tree, a label that is neither a leaf nor an inner box begins with a
    # leaf's label.
    below = _shortened(stray - truth.inner)
    fault = counted(len(below), "label continues", "labels continue")
    _forbid_labels(checks, "tree", below, f"{fault} the label of a leaf")
    inner = _shortened(stray & truth.inner)
    fault = counted(
        len(inner), "label names a box that was cut", "labels name boxes that were cut"
    )
    _forbid_labels(checks, "leaves", inner, fault)
    wrong = f"The target {params.target!r} itself is listed."
    checks.expect("target", params.target not in labels, wrong)
    surplus = sorted((labels & truth.leaves) - truth.neighbours - {params.target})
    grazing = [leaf for leaf in surplus if leaf in truth.grazing]
    fault = counted(
        len(surplus),
        "listed leaf is not a neighbour",
        "listed leaves are not neighbours",
    )
    if grazing:
        touching = counted(len(grazing), "touches", "touch")
        fault += f" ({touching} the target only at a corner or edge)"
    _forbid_labels(checks, "contact", surplus, fault)
    missing = sorted(truth.neighbours - labels)
    total = len(truth.neighbours)
    fault = counted(
        len(missing),
        f"of {total} neighbours is missing",
        f"of {total} neighbours are missing",
    )
    _forbid_labels(checks, "complete", missing, fault)
    return checks.binary(
        neighbors=len(truth.neighbours),
        missing=missing,
        surplus=surplus,
        grazing=grazing,
    )


def _shortened(labels: Iterable[str]) -> list[str]:
    """Return labels in order, each cut to the length that a verdict shows."""
    return sorted(label[:_LABEL_SHOWN] for label in labels)


def _forbid_labels(
    checks: Checklist, check_id: str, labels: Sequence[str], fault: str
) -> None:
    checks.forbid(check_id, labels, lambda label: f"{fault}; the first is {label!r}.")


@lru_cache(maxsize=256)
def truth_of(params: Params) -> Truth:
    """Return the labels of an instance, cached for further answers to it."""
    # Every prefix of a leaf's label is the label of a box that contains the leaf.
    inner: set[str] = set()
    for leaf in params.leaves:
        inner.update(leaf[:k] for k in range(len(leaf)))
    touch = contacts(
        params.leaves, params.axis_cycle, AXES[params.dimension], params.target
    )
    return Truth(
        frozenset(params.leaves),
        frozenset(inner),
        frozenset(leaf for leaf, n in touch.items() if n == 1),
        frozenset(leaf for leaf, n in touch.items() if n > 1),
    )


def neighbours(
    labels: Sequence[str], cycle: Sequence[str], axes: Sequence[str], target: str
) -> list[str]:
    """Return the labels that share a piece of a side or face with the target, in order."""
    return [name for name, n in contacts(labels, cycle, axes, target).items() if n == 1]


def contacts(
    labels: Sequence[str], cycle: Sequence[str], axes: Sequence[str], target: str
) -> dict[str, int]:
    """Return every other label whose box touches the target's, with its `touching_axes`."""
    box_of = boxes(labels, cycle, axes)
    target_box = box_of.pop(target)
    touch: dict[str, int] = {}
    for name, box in box_of.items():
        n = touching_axes(target_box, box)
        if n is not None:
            touch[name] = n
    return touch


def touching_axes(a: Box, b: Box) -> int | None:
    """Return the number of axes along which two boxes only touch; None if they are separate.

    1 means contact along a piece of a side or face, 2 or more means contact at an edge or corner,
    and 0 means overlap.
    """
    touching = 0
    for (a_low, a_high), (b_low, b_high) in zip(a, b, strict=True):
        if a_high < b_low or b_high < a_low:
            return None
        touching += a_high == b_low or b_high == a_low
    return touching


def boxes(
    labels: Iterable[str], cycle: Sequence[str], axes: Sequence[str]
) -> dict[str, Box]:
    """Return the box of every label, with one interval for each axis.

    A label is a path from the root. Bit i halves the box along ``cycle[i % len(cycle)]``; 0 is the
    lower half. The whole space is 0 to 2**depth along each axis, where depth is the length of the
    longest label.
    """
    names = list(labels)
    side = 1 << max(map(len, names), default=0)
    return {name: box_of_label(name, cycle, axes, side) for name in names}


def box_of_label(
    label: str, cycle: Sequence[str], axes: Sequence[str], side: int
) -> Box:
    """Return the box of a label in a space with this side length; see `boxes`."""
    low = dict.fromkeys(axes, 0)
    size = dict.fromkeys(axes, side)
    for i, bit in enumerate(label):
        axis = cycle[i % len(cycle)]
        size[axis] //= 2
        if bit == "1":
            low[axis] += size[axis]
    return tuple((low[axis], low[axis] + size[axis]) for axis in axes)
