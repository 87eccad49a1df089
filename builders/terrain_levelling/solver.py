"""Levels ground by blasts that are simulated one after the other.

First it cuts the highest cells, so that their rock fills the lowest. Then it plans a connected
region that needs few further cuts: level cells cost nothing, shallow cuts little, and deep cuts
more, because their rock spoils level ground. It makes the deepest planned cuts and plans the region
again, until enough cells are flat.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.errors import GenerationError
from scbench.builders.terrain_levelling.region import Region, RegionPlan
from scbench.graders.terrain_levelling import MAX_WORK, blast_simulation

# x, y and depth of each blast.
Plan = tuple[tuple[int, int, float], ...]
# The solver gives up after this much work, which takes less than half a minute. See `Work`.
MOST_WORK = 18_000_000
# Step between the heights that are tried for a region.
_STEP = 0.05


class Work:
    """Counts the remaining work, in units of one or two microseconds each."""

    def __init__(self, limit: int = MOST_WORK) -> None:
        self.remaining = limit

    def blast(self, depth: float, cells: int) -> None:
        """Count the collisions of a blast's balls, and one search of the map for flat ground."""
        balls = blast_simulation.ball_count(depth)
        self.remaining -= 800 * balls + balls**4 // 8 + cells // 4

    def region(self, cells: int) -> None:
        """Count the cost of planning a region on a map with this many cells."""
        self.remaining -= 3 * cells


class Settings(NamedTuple):
    """Settings of one attempt at a plan.

    Cells more than ``deep`` above the ``quantile`` of the heights are cut first, to ``undershoot``
    below it. Each ball of a deep cut is expected to spoil ``spoil`` cells. The share ``part`` of
    the planned cuts is made before the region is planned again.
    """

    quantile: float = 0.53
    deep: float = 1.2
    undershoot: float = 0.1
    spoil: float = 0.3
    part: float = 0.1


def solve(
    heights: tuple[float, ...],
    n: int,
    tolerance: float,
    share: float,
    work: Work | None = None,
) -> Plan:
    """Return a plan that scores 1 with its last blast, and less before it.

    ``heights`` contains n * n heights, row by row. The allowed work does not change the plan, only
    whether there is one. The work done here is deducted from the allowance.

    Raises:
        GenerationError: two attempts, with limited blasts and work, found no plan.
        CannotGrade: PyBullet is not installed.
    """
    slot = plan_slot(heights, n, tolerance, share)
    if slot:
        return slot[0]
    work = work or Work()
    for settings in (Settings(), Settings(quantile=0.45, deep=0.8, undershoot=0.25)):
        plan = Site(heights, n, tolerance, share, work).level(settings)
        if plan is not None:
            slot.append(plan)
            return plan
    raise GenerationError(
        f"the solver finds no plan for this map of {n} x {n} cells; "
        "ask for a smaller map or share, or a greater noise scale or tolerance"
    )


@lru_cache(maxsize=4096)
def plan_slot(*_: object) -> list[Plan]:
    """Return the list that receives the plan of a map once there is one; see `solve`."""
    return []


class Site:
    """The ground while it is levelled, and the blasts so far."""

    def __init__(
        self,
        heights: Sequence[float],
        n: int,
        tolerance: float,
        share: float,
        work: Work,
    ) -> None:
        self._ground = list(heights)
        self._n = n
        self._tolerance = tolerance
        self._work = work
        self._plan: list[tuple[int, int, float]] = []
        # The grader's limit on the work that a plan may take.
        self._may_simulate = float(MAX_WORK)
        before = self._flat_cells()
        self._goal = math.ceil(before + min(share * n * n, n * n - before))

    def _flat_cells(self) -> int:
        """Return the number of cells in the largest flat region."""
        region = blast_simulation.largest_flat(self._ground, self._n, self._tolerance)
        return len(region)

    def level(self, settings: Settings) -> Plan | None:
        """Return a plan, or None if it takes too many blasts or too much work."""
        ground = self._ground
        n = self._n
        middle = sorted(ground)[int(settings.quantile * n * n)]
        low = max(0.0, middle - settings.undershoot)
        # The height of the last region planned.
        aim: float | None = None
        while self._may_go_on():
            highest = max(range(n * n), key=ground.__getitem__)
            region = None
            if aim is not None or ground[highest] - middle < settings.deep:
                region = self._best_region(middle, aim, settings.spoil)
                if region is None and ground[highest] - low < 0.01:
                    return None
            if region is None:
                # Fill low ground with the rock of the highest cell.
                if self._cut(highest, low):
                    return tuple(self._plan)
                continue
            aim = region.target
            cells = sorted(region.cells, key=lambda cell: -ground[cell])
            cuts_before = len(self._plan)
            for cell in cells[: max(3, int(settings.part * len(cells)))]:
                if self._cut(cell, aim):
                    return tuple(self._plan)
            if len(self._plan) == cuts_before:
                return None
        return None

    def _may_go_on(self) -> bool:
        """Return whether blasts and work are left."""
        has_work = self._may_simulate > 0 and self._work.remaining > 0
        return has_work and len(self._plan) < 3 * self._n * self._n

    def _best_region(
        self, middle: float, aim: float | None, spoil: float
    ) -> Region | None:
        """Plan regions of several heights, and return the cheapest; None if there is none."""
        n = self._n
        if aim is None:
            targets = [middle + _STEP * k for k in range(-16, 9)]
        else:
            # The next region is likely to be about as high as the last.
            targets = [aim + _STEP * k for k in range(-4, 2)]
        self._work.region(len(targets) * n * n)
        best: Region | None = None
        for target in targets:
            if target <= 0:
                continue
            plan = RegionPlan(self._ground, n, target, self._tolerance, spoil)
            # Plan more cells than needed, because blasts spoil a few.
            cheapest = math.inf if best is None else best.cost
            region = plan.grow(self._goal + n // 8, cheapest)
            if region and region.cost < cheapest:
                best = region
        return best

    def _cut(self, cell: int, target: float) -> bool:
        """Lower a cell to the target; return whether enough cells are flat now."""
        height = self._ground[cell]
        depth = math.floor(100 * min(height, height - target)) / 100
        if depth > 0:
            self._may_simulate -= blast_simulation.blast_work(depth)
            y, x = divmod(cell, self._n)
            blast_simulation.blast_cell(self._ground, self._n, x, y, depth)
            self._work.blast(depth, len(self._ground))
            self._plan.append((x, y, depth))
        return self._may_simulate >= 0 and self._flat_cells() >= self._goal
