"""Plans a connected region that only a few more cuts will level."""

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scbench.graders.terrain_levelling import blast_simulation

# Share of the tolerance that is used: cuts are rounded to two decimals.
_SAFE = 0.95
# At this depth or more, one ball raises a flat cell by more than the usual tolerance.
_LUMP = 0.6


class Region(NamedTuple):
    """The cost of a region, the cells to cut, and the height to cut them to."""

    cost: float
    cells: list[int]
    target: float


class RimCell(NamedTuple):
    """A high cell at the rim of the region; the first in order gains most cells per cost."""

    negative_rate: float
    height: float
    cell: int
    gain: int


class RegionPlan:
    """A region that grows, cell by cell, from the largest piece of level ground.

    Args:
        heights: heights of n * n cells, row by row.
        n: cells along a side.
        target: the approximate height that the region will have.
        tolerance: largest step within a flat region.
        spoil: cells that each ball of a deep cut is expected to spoil.
    """

    def __init__(
        self,
        heights: Sequence[float],
        n: int,
        target: float,
        tolerance: float,
        spoil: float,
    ) -> None:
        self._heights = heights
        self._target = target
        self._spoil = spoil
        self._beside = blast_simulation.neighbours(n)
        self._pieces = level_pieces(heights, self._beside, target, _SAFE * tolerance)
        # The number of the piece that each cell is in, or -1.
        self._piece_of = [-1] * len(heights)
        for k, cells in enumerate(self._pieces):
            for cell in cells:
                self._piece_of[cell] = k
        self._is_joined = [False] * len(self._pieces)
        self._is_included = [False] * len(heights)
        self._rim: list[RimCell] = []

    def grow(self, goal: int, too_much: float = math.inf) -> Region | None:
        """Grow the region to ``goal`` cells; None if this is impossible or costs ``too_much``.

        The best cell at the rim is added repeatedly, with the pieces of level ground beyond it.
        """
        if not self._pieces:
            return None
        sizes = [len(piece) for piece in self._pieces]
        size = self._join(sizes.index(max(sizes)))
        cost = 0.0
        cuts: list[int] = []
        while size < goal:
            if not self._rim:
                return None
            best = heapq.heappop(self._rim)
            cell = best.cell
            if self._is_included[cell]:
                continue
            if best.gain != self._gain(cell):
                # Another cell has joined a piece next to this one in the meantime.
                self._offer([cell])
                continue
            self._is_included[cell] = True
            cuts.append(cell)
            cost += self._cost(cell)
            # The cost never falls.
            if cost >= too_much:
                return None
            size += 1 + sum(self._join(k) for k in sorted(self._beyond(cell)))
            self._offer(self._beside[cell])
        return Region(cost, cuts, self._target)

    def _join(self, k: int) -> int:
        """Add a piece of level ground and return the number of its cells."""
        self._is_joined[k] = True
        for cell in self._pieces[k]:
            self._offer(self._beside[cell])
        return len(self._pieces[k])

    def _offer(self, cells: Iterable[int]) -> None:
        """Add the cells above the target to the rim."""
        for cell in cells:
            if self._piece_of[cell] >= 0 or self._is_included[cell]:
                continue
            height = self._heights[cell]
            if height > self._target:
                gain = self._gain(cell)
                rate = -gain / self._cost(cell)
                heapq.heappush(self._rim, RimCell(rate, height, cell, gain))

    def _cost(self, cell: int) -> float:
        """Return 1 for a shallow cut, and more for a deep one that spoils level ground."""
        depth = self._heights[cell] - self._target
        if depth < _LUMP:
            return 1
        return 1 + self._spoil * blast_simulation.ball_count(depth)

    def _gain(self, cell: int) -> int:
        """Return the number of cells that the region gains by adding a cell."""
        return 1 + sum(len(self._pieces[k]) for k in self._beyond(cell))

    def _beyond(self, cell: int) -> set[int]:
        """Return the pieces next to a cell that are not yet part of the region."""
        pieces = set()
        for near in self._beside[cell]:
            k = self._piece_of[near]
            if k >= 0 and not self._is_joined[k]:
                pieces.add(k)
        return pieces


def level_pieces(
    heights: Sequence[float],
    beside: Sequence[Sequence[int]],
    target: float,
    reach: float,
) -> list[list[int]]:
    """Return the connected pieces of ground within reach of the target, as lists of cells."""
    is_level = [abs(height - target) <= reach for height in heights]
    pieces: list[list[int]] = []
    for start in range(len(heights)):
        if not is_level[start]:
            continue
        # A cell that already belongs to a piece no longer counts as level.
        is_level[start] = False
        members = [start]
        for cell in members:
            for near in beside[cell]:
                if is_level[near] and abs(heights[cell] - heights[near]) <= reach:
                    is_level[near] = False
                    members.append(near)
        pieces.append(members)
    return pieces
