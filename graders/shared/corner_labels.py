"""Conclusions about the inside of a square from its corner labels.

The *ring* is the list of corners in counter-clockwise order; side i joins corners i and i + 1. A
side is *crossed* if its corners have different labels. One curve ends there, and the unordered pair
of the labels is its type.

This module answers two questions. Must all classes share a point (topology_enumeration)? Which
sides must a curve join (enumerate_edges, classify_behaviour)? For the second question, a curve has
the same two classes along its whole length, and junctions occur only where the ends of curves
cannot all be paired by type.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from scbench.schemas.classify_behaviour import Behaviour

T = TypeVar("T")
Labels = tuple[int, ...]
Pair = tuple[int, int]


def on_ring(
    values: Sequence[T], order: Sequence[str], ring: Sequence[str]
) -> tuple[T, ...]:
    """Rearrange values from one order of the corners (or sides) to ring order."""
    by_name = dict(zip(order, values, strict=True))
    return tuple(by_name[name] for name in ring)


def canonical(labels: Sequence[object]) -> Labels:
    """Return the labels renamed 0, 1, 2 ... in order of first occurrence.

    >>> canonical((7, 7, 4, 7))
    (0, 0, 1, 0)
    """
    names: dict[object, int] = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def letters(labels: Sequence[int]) -> str:
    """Return the pattern of the labels in letters, such as ``abac``; at most 26 labels."""
    return "".join(chr(ord("a") + name) for name in canonical(labels))


def crossed_sides(ring: Sequence[int]) -> list[int]:
    """Return the sides whose corners have different labels."""
    return [i for i, (a, b) in enumerate(pairwise((*ring, *ring[:1]))) if a != b]


# Must all classes meet?


def must_meet(ring: Sequence[int]) -> bool:
    """Return whether all classes on the ring share an inner point in every division.

    Two closed areas that cover a connected area always meet. Three meet if the border winds around
    the triangle of the classes (Knaster, Kuratowski and Mazurkiewicz). Otherwise the labels of the
    border extend inwards with at most two classes at any point. Four or more classes never need a
    common point, because it can be split into points where three meet.
    """
    labels = canonical(ring)
    classes = len(set(labels))
    return classes == 2 or (classes == 3 and winding(labels) != 0)


def winding(ring: Sequence[int]) -> int:
    """Return how often the labels, which are 0, 1 or 2, run around the triangle 0-1-2."""
    turns = 0
    for a, b in pairwise((*ring, *ring[:1])):
        step = (b - a) % 3
        # Two steps forwards around a triangle are one step backwards.
        turns += -1 if step == 2 else step
    return turns // 3


def meeting_patterns(
    classes: int, order: Sequence[str], ring: Sequence[str], partial: str = ""
) -> list[Labels]:
    """Return the sorted canonical patterns, in this order of corners, whose classes must meet."""
    meeting = []
    for pattern in patterns(len(ring), classes):
        labels = on_ring(pattern, order, ring)
        if agrees(pattern, partial) and must_meet(labels):
            meeting.append(pattern)
    return meeting


@lru_cache(maxsize=64)
def patterns(corners: int, classes: int) -> tuple[Labels, ...]:
    """Return every canonical labelling of the corners by exactly ``classes`` classes, sorted."""
    beginnings: list[Labels] = [()]
    for _ in range(corners):
        longer = []
        for start in beginnings:
            # A new label is always the smallest unused one.
            used = max(start, default=-1) + 1
            longer += [(*start, label) for label in range(min(used + 1, classes))]
        beginnings = longer
    return tuple(labels for labels in beginnings if len(set(labels)) == classes)


def agrees(labels: Sequence[int], pattern: str) -> bool:
    """Return whether labels, one per corner, fit a partly known pattern.

    The pattern has one character per corner: ``?`` for any label, or letters that are equal exactly
    where the labels are equal. It is empty if nothing is known.
    """
    pairs = set()
    for letter, label in zip(pattern, labels, strict=False):
        if letter != "?":
            pairs.add((letter, label))
    letter_count = len({letter for letter, _ in pairs})
    label_count = len({label for _, label in pairs})
    # A renaming is a one-to-one map from letters to labels.
    return len(pairs) == letter_count == label_count


# Which sides are joined?


def joined_sides(ring: Sequence[int]) -> list[Pair] | None:
    """Return the pairs of sides that a curve certainly joins; None if undetermined.

    They are determined if there is exactly one pairing by type: each type occurs twice,
    or there are no ends. Otherwise there is a junction or a choice.
    """
    sides_by_type: dict[frozenset[int], list[int]] = {}
    for side in crossed_sides(ring):
        curve_type = frozenset((ring[side], ring[(side + 1) % len(ring)]))
        sides_by_type.setdefault(curve_type, []).append(side)
    pairs = []
    for sides in sides_by_type.values():
        if len(sides) != 2:
            return None
        pairs.append((sides[0], sides[1]))
    return sorted(pairs)


def behaviour(ring: Sequence[int]) -> Behaviour:
    """Return the name of a square by its corner labels in ring order."""
    if joined_sides(ring) is not None:
        return "known behaviour"
    if len(crossed_sides(ring)) == 3:
        return "three domains meeting"
    return "ambiguous"
