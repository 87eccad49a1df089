"""A solver for terrain levelling that simulates as it goes.

First the highest cells are cut, so that their rock fills the lowest. Then a connected region is
planned that takes few more cuts: cells that are level already cost nothing, shallow cuts little,
deep ones more because their rock spoils what is finished. The deepest planned cuts are made, and
the region is planned again, until the wanted number of cells is flat.
"""

import heapq
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.errors import GenerationError
from scbench.graders.terrain_levelling import MAX_WORK
from scbench.graders.terrain_levelling.blast_simulation import (
    ball_count,
    blast_cell,
    blast_work,
    largest_flat,
    neighbours,
)

Plan = tuple[tuple[int, int, float], ...]

MOST_WORK = 18_000_000
"""After so much work the solver gives up: under half a minute. See `Work`."""


class Work:
    """Counts what the solver does, in units that take one or two microseconds each.

    Attributes:
        remaining: what may still be done; the solver gives up when nothing is.
    """

    def __init__(self, limit: int = MOST_WORK) -> None:
        """Allow so much work."""
        self.remaining = limit

    def blast(self, depth: float, cells: int) -> None:
        """Count a blast, for which balls meet each other and the ground, and a look at the map."""
        balls = ball_count(depth)
        self.remaining -= 800 * balls + balls**4 // 8 + cells // 4

    def region(self, cells: int) -> None:
        """Count a region that is planned on a map of so many cells."""
        self.remaining -= 3 * cells


class Settings(NamedTuple):
    """What a plan depends on apart from the map.

    Attributes:
        quantile: of the heights, to which the high cells are cut first.
        deep: cuts at least this deep are made first.
        undershoot: how much deeper than the quantile those go.
        spoil: cells that each ball of a deep cut is expected to spoil.
        part: share of the planned cuts that is made before planning again.
    """

    quantile: float = 0.53
    deep: float = 1.2
    undershoot: float = 0.1
    spoil: float = 0.3
    part: float = 0.1


_TRIALS = (Settings(), Settings(quantile=0.45, deep=0.8, undershoot=0.25))
_STEP = 0.05
_SAFE = 0.95
"""Share of the tolerance that is used: cuts are rounded to two decimals."""
_LUMP = 0.6
"""From this depth on, one ball is more rock than a flat cell can take at the usual tolerance."""


@lru_cache(maxsize=4096)
def plan_slot(*_: object) -> list[Plan]:
    """Return the list that the plan of a map, given as to `solve`, is put into once it is found."""
    return []


def solve(
    heights: tuple[float, ...], n: int, tolerance: float, share: float, work: Work | None = None
) -> Plan:
    """Return a plan that scores 1, and no longer does without its last blast.

    The plan does not depend on how much work is allowed; whether one is found does.

    Args:
        heights: the ground, ``n * n`` values row by row.
        n: columns of the ground, and rows.
        tolerance: of a flat region.
        share: of all cells that has to be gained.
        work: what may be done; what is done here is taken off.

    Raises:
        GenerationError: two tries of a bounded number of blasts, and of bounded work, gave none.
        CannotGrade: PyBullet is not installed.
    """
    slot = plan_slot(heights, n, tolerance, share)
    work = work or Work()
    for settings in () if slot else _TRIALS:
        plan = attempt(heights, n, tolerance, share, settings, 3 * n * n, work)
        if plan is not None:
            slot.append(plan)
            break
    if slot:
        return slot[0]
    raise GenerationError(
        f"the solver finds no plan for this map of {n} x {n} cells; "
        "ask for a smaller map or share, or a greater noise scale or tolerance"
    )


def attempt(
    heights: Sequence[float],
    n: int,
    tolerance: float,
    share: float,
    settings: Settings,
    limit: int,
    work: Work,
) -> Plan | None:
    """Return a plan made with these settings, or None if it takes too many blasts or too much work.

    Args:
        heights: see `solve`.
        n: see `solve`.
        tolerance: see `solve`.
        share: see `solve`.
        settings: how to go about it.
        limit: most blasts.
        work: what may be done; what is done here is taken off.
    """
    ground = list(heights)
    before = len(largest_flat(ground, n, tolerance))
    goal = math.ceil(before + min(share * n * n, n * n - before))
    level = sorted(ground)[int(settings.quantile * n * n)]
    plan: list[tuple[int, int, float]] = []
    may_simulate = float(MAX_WORK)

    def cut(cell: int, target: float) -> bool:
        """Lower a cell to the target and return whether enough is flat now."""
        nonlocal may_simulate
        depth = math.floor(100 * (min(ground[cell], ground[cell] - target))) / 100
        if depth > 0:
            may_simulate -= blast_work(depth)
            y, x = divmod(cell, n)
            blast_cell(ground, n, x, y, depth)
            work.blast(depth, n * n)
            plan.append((x, y, depth))
        return may_simulate >= 0 and len(largest_flat(ground, n, tolerance)) >= goal

    low = max(0.0, level - settings.undershoot)
    aim: float | None = None
    while len(plan) < limit and may_simulate > 0 and work.remaining > 0:
        highest = max(range(n * n), key=ground.__getitem__)
        if aim is None and ground[highest] - level >= settings.deep:
            if cut(highest, low):
                return tuple(plan)
            continue
        steps = range(-16, 9) if aim is None else range(-4, 2)
        targets = [(level if aim is None else aim) + _STEP * k for k in steps]
        work.region(len(targets) * n * n)
        regions = [
            (*region, target)
            for target in targets
            if target > 0
            and (region := _region(ground, n, goal + n // 8, target, tolerance, settings.spoil))
        ]
        if not regions:
            # Too little ground is high enough to be joined up: fill some more.
            if ground[highest] - low < 0.01:
                return None
            if cut(highest, low):
                return tuple(plan)
            continue
        _, cells, aim = min(regions, key=lambda region: region[0])
        cells.sort(key=lambda cell: -ground[cell])
        cuts_before = len(plan)
        for cell in cells[: max(3, int(settings.part * len(cells)))]:
            if cut(cell, aim):
                return tuple(plan)
        if len(plan) == cuts_before:
            return None
    return None


def _region(
    heights: Sequence[float], n: int, goal: int, target: float, tolerance: float, spoil: float
) -> tuple[float, list[int]] | None:
    """Plan a connected region at about the target height; return its cost and the cells to cut.

    Starts from the largest piece of ground that is level already, and takes in again and again the
    high cell at its rim that gains most cells for its cost, pieces of level ground beyond included.

    Returns:
        None if no such region reaches the wanted number of cells.
    """
    beside = neighbours(n)
    reach = _SAFE * tolerance
    piece = [-1] * len(heights)
    pieces: list[list[int]] = []
    for start, height in enumerate(heights):
        if piece[start] >= 0 or abs(height - target) > reach:
            continue
        piece[start] = len(pieces)
        members = [start]
        for cell in members:
            for near in beside[cell]:
                if (
                    piece[near] < 0
                    and abs(heights[near] - target) <= reach
                    and abs(heights[cell] - heights[near]) <= reach
                ):
                    piece[near] = len(pieces)
                    members.append(near)
        pieces.append(members)
    if not pieces:
        return None

    included = [False] * len(heights)
    joined = [False] * len(pieces)
    rim: list[tuple[float, float, int, int]] = []

    def cost(cell: int) -> float:
        depth = heights[cell] - target
        return 1 + (spoil * ball_count(depth) if depth >= _LUMP else 0)

    def beyond(cell: int) -> set[int]:
        return {piece[o] for o in beside[cell] if piece[o] >= 0 and not joined[piece[o]]}

    def gain(cell: int) -> int:
        return 1 + sum(len(pieces[k]) for k in beyond(cell))

    def offer(cells: Sequence[int]) -> None:
        for cell in cells:
            if piece[cell] < 0 and heights[cell] > target and not included[cell]:
                gained = gain(cell)
                heapq.heappush(rim, (-gained / cost(cell), heights[cell], cell, gained))

    def join(k: int) -> int:
        joined[k] = True
        for cell in pieces[k]:
            offer(beside[cell])
        return len(pieces[k])

    size = join(max(range(len(pieces)), key=lambda k: len(pieces[k])))
    total, cuts = 0.0, []
    while size < goal:
        if not rim:
            return None
        _, _, cell, gained = heapq.heappop(rim)
        if included[cell]:
            continue
        if gained != gain(cell):  # another cell has joined a piece since
            offer([cell])
            continue
        included[cell] = True
        cuts.append(cell)
        total += cost(cell)
        size += 1 + sum(join(k) for k in sorted(beyond(cell)))
        offer(beside[cell])
    return total, cuts
