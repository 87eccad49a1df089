"""Boxes of cells with any number of axes, laid out flat.

The first two axes make a small square. Each further axis repeats the layout so far to
the right or downwards.
"""

import math
import operator
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
        width: width of the whole.
        height: height of the whole.
    """

    extents: tuple[int, ...]
    ways: tuple[int, ...]
    steps: tuple[float, ...]
    width: float
    height: float

    def at(self, cell: Sequence[int]) -> Place:
        """Return the upper left corner of a cell; cells outside the box are moved next to it."""
        place = [0.0, 0.0]
        axes = zip(self.ways, cell, self.extents, self.steps, strict=True)
        for way, position, count, step in axes:
            place[way] += min(max(position, -1), count) * step
        return place[0], place[1]

    def middle(self, cell: Sequence[int]) -> Place:
        """Return the middle of a cell, or of where it is drawn if it is outside the box."""
        x, y = self.at(cell)
        return x + 0.5, y + 0.5

    def contains(self, cell: Sequence[int]) -> bool:
        """Return whether a cell is in the layout."""
        if len(cell) != len(self.extents):
            return False
        axes = zip(cell, self.extents, strict=True)
        return all(0 <= position < count for position, count in axes)

    def squares(self) -> Iterator[Place]:
        """Yield the upper left corner of each small square."""
        first_cell = (0,) * min(2, len(self.extents))
        further_axes = map(range, self.extents[2:])
        for position in product(*further_axes):
            yield self.at((*first_cell, *position))

    @property
    def square(self) -> tuple[int, int]:
        """Columns and rows of a small square."""
        rows = self.extents[1] if len(self.extents) > 1 else 1
        return self.extents[0], rows


def unfold(size: Sequence[int], *, rounded: bool = False) -> Unfolded:
    """Lay out a box.

    Args:
        size: cells along each axis.
        rounded: whether to round gaps to whole cells, which text output requires.
    """
    extents = shown_extents(size)
    ways = axis_ways(extents)
    # Length of the layout so far, and number of axes in it, to the right and downwards.
    lengths = [1.0, 1.0]
    levels = [0, 0]
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


def shown_extents(size: Sequence[int]) -> list[int]:
    """Return the number of cells shown along each axis; the last axes are cut first."""
    extents = list(size)
    for axis in reversed(range(len(extents))):
        limit = _MOST_CELLS // math.prod(extents[:axis])
        extents[axis] = max(1, min(extents[axis], limit))
    return extents


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
        breaks = map(operator.ne, ways, in_turn)
        return max(sides), sum(breaks)

    # The first two axes make a small square, so their directions alternate.
    choices = ((0, 1, *further) for further in product((0, 1), repeat=len(size) - 2))
    return min(choices, key=rank)
