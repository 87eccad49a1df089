"""Boxes that come from halving a unit square or cube, and how two of them touch.

All lengths are integers in units of the finest interval, so every comparison is exact.
"""

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]
Box = tuple[Interval, ...]


def boxes(labels: Iterable[str], cycle: Sequence[str], axes: Sequence[str]) -> dict[str, Box]:
    """Return the box of every label.

    Args:
        labels: paths from the root; bit i halves along ``cycle[i % len(cycle)]``, 0 the lower half.
        cycle: names of axes.
        axes: the axes of the space, in the order of a box's intervals.

    Returns:
        For each label one interval per axis; the whole space is 0 to 2**depth, with the depth of
        the longest label.
    """
    names = list(labels)
    side = 1 << max(map(len, names), default=0)
    return {name: _box(name, cycle, axes, side) for name in names}


def _box(label: str, cycle: Sequence[str], axes: Sequence[str], side: int) -> Box:
    low = dict.fromkeys(axes, 0)
    size = dict.fromkeys(axes, side)
    for i, bit in enumerate(label):
        axis = cycle[i % len(cycle)]
        size[axis] //= 2
        if bit == "1":
            low[axis] += size[axis]
    return tuple((low[axis], low[axis] + size[axis]) for axis in axes)


def touching_axes(a: Box, b: Box) -> int | None:
    """Return along how many axes two boxes only touch, or None if they have no point in common.

    1 is contact through a piece of side or face, 2 or more contact at an edge or corner, 0 overlap.
    """
    touching = 0
    for (a_low, a_high), (b_low, b_high) in zip(a, b, strict=True):
        if a_high < b_low or b_high < a_low:
            return None
        touching += a_high == b_low or b_high == a_low
    return touching


def contacts(
    labels: Sequence[str], cycle: Sequence[str], axes: Sequence[str], target: str
) -> dict[str, int]:
    """Return every other label whose box touches the target's, with its `touching_axes`."""
    place = boxes(labels, cycle, axes)
    touching = {name: touching_axes(place[target], box) for name, box in place.items()}
    return {name: n for name, n in touching.items() if n is not None and name != target}


def neighbours(
    labels: Sequence[str], cycle: Sequence[str], axes: Sequence[str], target: str
) -> list[str]:
    """Return the labels in contact with the target through a piece of side or face, in order."""
    return [name for name, n in contacts(labels, cycle, axes, target).items() if n == 1]
