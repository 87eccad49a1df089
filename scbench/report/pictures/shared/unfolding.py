"""Boxes of cells with any number of axes, laid out flat.

The first two axes make a small square. Each further axis repeats the layout so far to
the right or downwards.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

# Maximum number of cells in the layout; larger boxes are cut along their last axes.
_MOST_CELLS = 8_000
# With more axes, the directions simply alternate; there are too many combinations to
# compare.
_MOST_SEARCHED = 10
# Space between the parts of a level, in cells.
_GAPS = (0.0, 0.7, 1.2, 1.8, 2.6, 3.6, 4.8, 6.0)

Place = tuple[float, float]


class Unfolded(NamedTuple):
    """Places of a box's cells in the layout; lengths are in cells.

    Attributes:
        extents: number of cells shown along each axis.
        ways: 0 for each axis that runs to the right, 1 for each that runs downwards.
        steps: distance between neighbouring cells along each axis.
        width: of the whole.
        height: of the whole.
    """

    extents: tuple[int, ...]
    ways: tuple[int, ...]
    steps: tuple[float, ...]
    width: float
    height: float

    def at(self, cell: Sequence[int]) -> Place:
        """Return the upper left corner of a cell; those outside the box lie next to its part."""
        place = [0.0, 0.0]
        axes = zip(self.ways, cell, self.extents, self.steps, strict=True)
        for way, position, count, step in axes:
            place[way] += min(max(position, -1), count) * step
        return place[0], place[1]

    def middle(self, cell: Sequence[int]) -> Place:
        """Return the middle of a cell, or of where it is drawn if it is outside the box."""
        x, y = self.at(cell)
        return x + 0.5, y + 0.5

    def holds(self, cell: Sequence[int]) -> bool:
        """Return whether a cell is in the layout."""
        if len(cell) != len(self.extents):
            return False
        axes = zip(cell, self.extents, strict=True)
        return all(0 <= position < count for position, count in axes)

    def squares(self) -> Iterator[Place]:
        """Yield the upper left corner of each small square."""
        origin = (0,) * min(2, len(self.extents))
        for outer in product(*(range(count) for count in self.extents[2:])):
            yield self.at((*origin, *outer))

    @property
    def square(self) -> tuple[int, int]:
        """Columns and rows of a small square."""
        rows = self.extents[1] if len(self.extents) > 1 else 1
        return self.extents[0], rows


def unfold(size: Sequence[int], *, rounded: bool = False) -> Unfolded:
    """Lay out a box.

    Args:
        size: cells along each axis.
        rounded: whether gaps are whole cells, as text needs.
    """
    extents = list(size)
    for axis in range(len(extents) - 1, -1, -1):
        limit = _MOST_CELLS // math.prod(extents[:axis])
        extents[axis] = max(1, min(extents[axis], limit))
    ways = axis_ways(extents)
    # Length, and number of axes, so far to the right and downwards.
    lengths, levels = [1.0, 1.0], [0, 0]
    steps = []
    for way, count in zip(ways, extents, strict=True):
        gap = _GAPS[min(levels[way], len(_GAPS) - 1)]
        if rounded:
            gap = math.ceil(gap)
        step = lengths[way] + gap
        steps.append(step)
        lengths[way] += (count - 1) * step
        levels[way] += 1
    return Unfolded(tuple(extents), ways, tuple(steps), lengths[0], lengths[1])


def axis_ways(size: Sequence[int]) -> tuple[int, ...]:
    """Return for each axis whether it runs downwards, so that the layout is nearly square."""
    in_turn = tuple(axis % 2 for axis in range(len(size)))
    if not 3 <= len(size) <= _MOST_SEARCHED:
        return in_turn

    def rank(ways: Sequence[int]) -> tuple[int, int]:
        """Return the longer side in cells, and how many axes break the alternation."""
        sides = [1, 1]
        for way, count in zip(ways, size, strict=True):
            sides[way] *= count
        pairs = zip(ways, in_turn, strict=True)
        return max(sides), sum(way != usual for way, usual in pairs)

    # The first two axes make a small square, so their directions alternate.
    choices = ((0, 1, *further) for further in product((0, 1), repeat=len(size) - 2))
    return min(choices, key=rank)
