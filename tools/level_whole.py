"""Write shorter reference plans for height maps, each by keeping to one plan of the whole region.

`level_terrain.py` plans anew after every blast that it tries. Here a region is planned once and is
kept while it holds, so every cut of it can be tried at little cost: it is judged by the size that
the region has in the end, when all cuts are made. Rubble on cells that are still to be cut does no
harm, rubble beside the region may even join it, and each cell won like that saves a cut at the
region's end. Where every cut does harm, some are judged by a new plan each::

    nice python tools/level_whole.py --maps 2 --deep 1 --growing 0.1
"""

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from itertools import product

import numpy as np
from level_terrain import TARGET, Ahead, Band, region, sturdy, wanted_cells
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from scbench.base.canonical import canonical_json
from scbench.builders.terrain_levelling import Plan, TaskBuilder
from scbench.graders.terrain_levelling.blast_simulation import blast_cell
from scbench.schemas.terrain_levelling import Params

# Cells beyond those that are wanted.
_SPARE = 4
# Cells that each ball of a deep cut is expected to spoil, at first.
_SPOIL = 0.05
# How far beside its planned height a cell may be cut as well.
_OFF = (-0.12, 0.0, 0.12)
# Blasts after which the region is planned anew.
_AGAIN = 15
_NEAR = [(a, b) for a in (-0.05, 0, 0.05) for b in (-0.05, 0, 0.05)]
_FAR = [(a, b) for a in (-0.2, -0.1, 0, 0.1, 0.2) for b in (-0.1, 0, 0.1, 0.4)]

Floats = NDArray[np.float64]
# Cells that a blast changes, and by how much.
Effect = tuple[list[int], list[float]]


def main() -> None:
    """Search, and write each plan that is shorter than the stored one and as sturdy."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--maps", type=int, nargs="*", default=range(9), help="subtasks"
    )
    parser.add_argument(
        "--deep", type=float, default=0.05, help="worth of depth, in cells"
    )
    parser.add_argument(
        "--growing", type=float, default=0.0, help="spoilt cells more at the end"
    )
    parser.add_argument(
        "--off", type=float, nargs="*", default=_OFF, help="heights beside planned"
    )
    parser.add_argument(
        "--pool", type=int, default=8, help="cells tried where all cuts do harm"
    )
    options = parser.parse_args()
    items = TaskBuilder().paper()
    plans = json.loads(TARGET.read_text())["plans"]
    for i in options.maps:
        search = Search(
            items[i].params, options.deep, options.growing, options.off, options.pool
        )
        plan = search.run(len(plans[i]) - 1)
        if plan is not None and sturdy(items[i].params, plan):
            plans[i] = plan
            print(f"{i:02d}: {len(plan)} blasts", flush=True)
        lines = ",\n".join(canonical_json(plan) for plan in plans)
        TARGET.write_text(f'{{"plans": [\n{lines}\n]}}\n')


class Search:
    """A search for a plan of one map; the options are those of the command."""

    def __init__(
        self,
        params: Params,
        deep: float,
        growing: float,
        off: Sequence[float],
        pool: int,
    ) -> None:
        self._n = n = len(params.heights)
        self._tolerance = params.flat_tolerance
        self._goal = wanted_cells(params) + _SPARE
        self._deep, self._growing, self._off, self._pool = deep, growing, off, pool
        self._spoil = _SPOIL
        numbers = np.arange(n * n).reshape(n, n)
        self._before = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()])
        self._after = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()])
        self._ground = np.array([height for row in params.heights for height in row])
        self._effects: dict[tuple[int, float], Effect] = {}
        self._queue: list[tuple[float, int, int, float]] = []
        self._version: defaultdict[int, int] = defaultdict(int)
        self._target: dict[int, float] = {}
        """Height that each cell is still to be cut to."""
        levels = sorted(self._ground.tolist())
        widths, quantiles = (0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2), range(15, 55, 5)
        self._bands = [
            Band(levels[q * n * n // 100], w) for w, q in product(widths, quantiles)
        ]

    def run(self, limit: int) -> Plan | None:
        """Return a plan of at most so many blasts; None if the search comes to none."""
        plan: list[tuple[int, int, float]] = []
        self._replan(self._bands)
        size = self._size(self._end())
        stuck = False
        while len(plan) <= limit:
            self._spoil = _SPOIL + self._growing * len(plan) / max(
                1, len(plan) + len(self._target)
            )
            best = self._best(size)
            if best is None:
                if stuck or not self._replan(self._beside(_FAR)):
                    return None
                stuck = True
                self._renew(self._target)
                size = self._size(self._end())
                continue
            stuck = False
            worth, cell, depth = best
            new = None
            if worth - self._deep * min(depth, 6.0) < -0.5:
                cell, depth, new = self._least_harm(cell, depth)
            before, self._ground = self._ground, self._blasted(cell, depth)
            plan.append((cell % self._n, cell // self._n, depth))
            self._target.pop(cell, None)
            if new is not None:
                self._keep(new)
            if self._size(self._ground) >= self._goal:
                return tuple(plan)
            self._notice(np.nonzero(self._ground != before)[0].tolist())
            size = self._drop_leaves(self._size(self._end()))
            if len(plan) % _AGAIN == 0 or size < self._goal:
                self._replan(
                    self._beside(_NEAR),
                    len(self._target) if size >= self._goal else None,
                )
                size = self._size(self._end())
        return None

    def _size(self, heights: Floats) -> int:
        """Return the number of cells of the largest flat region."""
        level = self._level(heights)
        ends = self._before[level], self._after[level]
        graph = csr_matrix(
            (np.ones(len(ends[0]), np.int8), ends), shape=(len(heights),) * 2
        )
        return int(np.bincount(connected_components(graph, directed=False)[1]).max())

    def _level(self, heights: Floats) -> NDArray[np.bool_]:
        steps: Floats = np.abs(heights[self._before] - heights[self._after])
        return steps <= self._tolerance - 0.001

    def _end(self) -> Floats:
        """Return the ground as it will be when all cuts are made, rubble apart."""
        heights = self._ground.copy()
        for cell, height in self._target.items():
            heights[cell] = min(heights[cell], height)
        return heights

    def _blasted(self, cell: int, depth: float) -> Floats:
        heights = self._ground.tolist()
        blast_cell(heights, self._n, cell % self._n, cell // self._n, depth)
        return np.array(heights)

    def _effect(self, cell: int, depth: float) -> Effect:
        change = self._blasted(cell, depth) - self._ground
        cells = np.nonzero(change)[0]
        return cells.tolist(), change[cells].tolist()

    def _depths(self, cell: int, off: Collection[float]) -> list[float]:
        height = float(self._ground[cell])
        above = height - self._target[cell]
        depths = {
            math.floor(100 * (above + margin)) / 100 for margin in off if above > 0
        }
        return sorted(depth for depth in depths if 0 < depth < height - 0.02)

    def _offer(self, cell: int) -> None:
        """Put the cuts of a cell on the queue, to be judged before any that was."""
        self._version[cell] += 1
        for depth in self._depths(cell, self._off):
            if (cell, depth) not in self._effects:
                self._effects[cell, depth] = self._effect(cell, depth)
            heappush(self._queue, (-99.0, self._version[cell], cell, depth))

    def _best(self, size: int) -> tuple[float, int, float] | None:
        """Return worth, cell and depth of the best cut: judged by old effects, then simulated."""
        end = self._end()
        counts: dict[tuple[int, float], int] = defaultdict(int)
        while self._queue:
            worth, version, cell, depth = heappop(self._queue)
            key = cell, depth
            if cell not in self._target or self._version[cell] != version:
                continue
            counts[key] += 1
            if counts[key] == 3:
                return -worth, cell, depth
            if counts[key] == 2:
                self._effects[key] = self._effect(cell, depth)
            after = end.copy()
            for neighbour, change in zip(*self._effects[key], strict=True):
                height = float(self._ground[neighbour]) + change
                is_inside = neighbour == cell or neighbour not in self._target
                after[neighbour] = (
                    height if is_inside else min(height, self._target[neighbour])
                )
            worth = self._size(after) - size + self._deep * min(depth, 6.0)
            heappush(self._queue, (-worth, version, cell, depth))
        return None

    def _least_harm(self, cell: int, depth: float) -> tuple[int, float, Ahead | None]:
        """Return the cut after which least is left by a new plan, and that plan."""
        cells = sorted(
            self._target, key=lambda c: float(self._ground[c]) - self._target[c]
        )
        some = cells[:: max(1, len(cells) // self._pool)][: self._pool]
        tried = [(cell, depth), *((c, z) for c in some for z in self._depths(c, _OFF))]
        ahead = [(self._plan(self._blasted(*cut), self._band), *cut) for cut in tried]
        options = [(plan.cost, c, z, plan) for plan, c, z in ahead if plan is not None]
        if not options:
            return cell, depth, None
        _, cell, depth, plan = min(options, key=lambda item: item[:3])
        return cell, depth, plan

    def _plan(self, heights: Floats, band: Band) -> Ahead | None:
        levels = heights.tolist()
        return region(levels, self._n, self._goal, band, self._tolerance, self._spoil)

    def _beside(self, steps: Sequence[tuple[float, float]]) -> list[Band]:
        middle, width = self._band
        return [Band(middle + a, max(0.05, width + b)) for a, b in steps]

    def _replan(self, bands: Sequence[Band], limit: int | None = None) -> bool:
        """Keep to the cheapest new plan, if it has fewer cuts than so many."""
        plans = [
            (plan, band) for band in bands if (plan := self._plan(self._ground, band))
        ]
        if not plans:
            return False
        plan, band = min(plans, key=lambda item: item[0].cost)
        if limit is None or len(plan.cuts) < limit:
            self._band = band
            self._keep(plan)
        return True

    def _keep(self, plan: Ahead) -> None:
        old, self._target = self._target, dict(plan.cuts)
        self._renew(
            c for c, height in plan.cuts if abs(old.get(c, -9.0) - height) > 1e-9
        )

    def _renew(self, cells: Iterable[int]) -> None:
        """Try the cuts of some cells anew."""
        changed = set(cells)
        self._effects = {
            key: e for key, e in self._effects.items() if key[0] not in changed
        }
        for cell in sorted(changed):
            self._offer(cell)

    def _notice(self, changed: Collection[int]) -> None:
        """Follow what a blast changed of cells that are to be cut."""
        for cell in changed:
            if self._ground[cell] <= self._target.get(cell, -1.0):
                del self._target[cell]
        self._renew(cell for cell in changed if cell in self._target)

    def _drop_leaves(self, size: int) -> int:
        """Leave out cuts at the region's end while it is larger than need be; return its size."""
        level = self._level(self._end())
        ends = np.concatenate([self._before[level], self._after[level]])
        joined = np.bincount(ends, minlength=len(self._ground))
        leaves = sorted(
            (cell for cell in self._target if joined[cell] <= 1),
            key=lambda cell: self._target[cell] - float(self._ground[cell]),
        )
        for cell in leaves:
            if size <= self._goal:
                break
            height = self._target.pop(cell)
            remaining = self._size(self._end())
            if remaining >= self._goal and size - remaining <= 1:
                size = remaining
            else:
                self._target[cell] = height
        return size


if __name__ == "__main__":
    main()
