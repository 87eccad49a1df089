"""Boxes of any number of axes laid out flat, as tables of small squares in larger tables.

The first axis runs to the right and the second downwards, which makes a small square. Each further
axis leads from square to square, to the right or downwards, so that the whole is nearly square.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import compress, product
from operator import ne
from typing import NamedTuple

MOST_CELLS = 8_000

_MOST_SEARCHED = 10
"""Boxes of more axes are laid out in turn; there are too many other ways."""

_GAPS = (0.0, 0.7, 1.2, 1.8, 2.6, 3.6, 4.8, 6.0)
"""Space between the parts of a level, in cells."""

Place = tuple[float, float]


class Unfolded(NamedTuple):
    """Where the cells of a box lie; lengths are in cells.

    Attributes:
        extents: cells of each axis that are laid out; fewer than there are if they are too many.
        ways: 0 for each axis that runs to the right, 1 for each that runs downwards.
        steps: how far each cell along an axis lies from the one before, in that axis's direction.
        width: of the whole.
        height: of the whole.
    """

    extents: tuple[int, ...]
    ways: tuple[int, ...]
    steps: tuple[float, ...]
    width: float
    height: float

    def at(self, cell: Sequence[int]) -> Place:
        """Return the upper left corner of a cell; one outside the box lies just outside its part.

        Args:
            cell: as many coordinates as there are axes.
        """
        place = [0.0, 0.0]
        for way, c, n, step in zip(self.ways, cell, self.extents, self.steps, strict=True):
            place[way] += min(max(c, -1), n) * step
        return place[0], place[1]

    def middle(self, cell: Sequence[int]) -> Place:
        """Return the middle of a cell, or of where it is drawn if it is outside the box."""
        x, y = self.at(cell)
        return x + 0.5, y + 0.5

    def holds(self, cell: Sequence[int]) -> bool:
        """Whether a cell is one of those that are laid out."""
        return len(cell) == len(self.extents) and all(
            0 <= c < n for c, n in zip(cell, self.extents, strict=True)
        )

    def squares(self) -> Iterator[Place]:
        """Yield the upper left corner of each small square."""
        origin = (0,) * min(2, len(self.extents))
        for outer in product(*(range(n) for n in self.extents[2:])):
            yield self.at((*origin, *outer))

    @property
    def square(self) -> tuple[int, int]:
        """Columns and rows of a small square."""
        return self.extents[0], (*self.extents, 1)[1]


def unfold(size: Sequence[int], *, rounded: bool = False, limit: int = MOST_CELLS) -> Unfolded:
    """Lay out a box.

    Args:
        size: cells along each axis.
        rounded: whether gaps are whole cells, as characters need it.
        limit: cells laid out at most; of larger boxes, the last axes are cut.
    """
    extents = list(size)
    for axis in range(len(extents) - 1, -1, -1):
        extents[axis] = max(1, min(extents[axis], limit // math.prod(extents[:axis])))
    ways = _ways(extents)
    extent, levels, steps = [1.0, 1.0], [0, 0], []
    for way, n in zip(ways, extents, strict=True):
        gap = _GAPS[min(levels[way], len(_GAPS) - 1)]
        steps.append(extent[way] + (math.ceil(gap) if rounded else gap))
        extent[way] += (n - 1) * steps[-1]
        levels[way] += 1
    return Unfolded(tuple(extents), ways, tuple(steps), extent[0], extent[1])


def _ways(size: Sequence[int]) -> tuple[int, ...]:
    """Return for each axis whether it runs downwards: in turn, or closer to a square."""
    in_turn = tuple(axis % 2 for axis in range(len(size)))
    if not 3 <= len(size) <= _MOST_SEARCHED:
        return in_turn

    def longer_side(ways: Sequence[int]) -> int:
        return max(math.prod(compress(size, (w == way for w in ways))) for way in (0, 1))

    choices = ((0, 1, *further) for further in product((0, 1), repeat=len(size) - 2))
    return min(choices, key=lambda ways: (longer_side(ways), sum(map(ne, ways, in_turn))))
