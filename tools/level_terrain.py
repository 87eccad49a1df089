"""Write reference plans for the paper's height maps, as short as a search that looks ahead finds.

A flat region need not lie at one height: a cell that is cut joins whatever neighbours are within
the tolerance of it, and a slope is flat. So a region is planned that keeps within a band of heights
and takes few cuts. Of the cuts planned, a few are simulated, and the one is made after which least
is left to do, by another plan: where the rubble of a cut comes to lie may help as well as harm.

A plan is kept if it is shorter than the stored one and also scores 1 on ground that is a millionth
off::

    nice python tools/level_terrain.py --tries 4
"""

import argparse
import heapq
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scbench.base.canonical import canonical_json
from scbench.base.seeding import Stream
from scbench.builders.terrain_levelling import Plan, TaskBuilder
from scbench.graders.terrain_levelling.blast_simulation import (
    ball_count,
    blast_cell,
    largest_flat,
    neighbours,
)
from scbench.schemas.terrain_levelling import Params

TARGET = (
    Path(__file__).resolve().parent.parent
    / "scbench/builders/terrain_levelling/references.json"
)
# Share of the tolerance that is planned with: depths are rounded to two decimals.
_REACH = 0.95
# From this depth on a blast throws up balls by its depth; below, three small ones.
_LUMP = 0.75
# Planned cells over those that are wanted: some will be spoilt.
_SLACK = 1.1
# What a cut should save; if the best of a batch saves less, more cuts are simulated.
_ENOUGH = 1.0


class Band(NamedTuple):
    """Where a region is planned: heights within a width of the middle."""

    middle: float
    width: float


class Ahead(NamedTuple):
    """What is left to do: an estimate of its cost, and the cuts, as cells and heights."""

    cost: float
    cuts: list[tuple[int, float]]


def main() -> None:
    """Search, and write after each map."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=4, help="searches on each map")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first search"
    )
    parser.add_argument(
        "--maps", type=int, nargs="*", default=range(9), help="subtasks"
    )
    parser.add_argument(
        "--cuts", type=int, default=4, help="cuts to simulate in a batch"
    )
    parser.add_argument(
        "--batches", type=int, default=3, help="most batches for one blast"
    )
    options = parser.parse_args()
    items = TaskBuilder().paper()
    plans = json.loads(TARGET.read_text())["plans"]
    for i in options.maps:
        params = items[i].params
        for k in range(options.first, options.first + options.tries):
            rng = Stream("level_terrain", len(params.heights), k)
            spoil = (0.1, 0.05, 0.15, 0.2)[k % 4]
            plan = search(
                params, rng, spoil, options.cuts, options.batches, len(plans[i]) - 1
            )
            if plan is not None and sturdy(params, plan):
                plans[i] = plan
                print(f"{i:02d}: {len(plan)} blasts, search {k}", flush=True)
        lines = ",\n".join(canonical_json(plan) for plan in plans)
        TARGET.write_text(f'{{"plans": [\n{lines}\n]}}\n')


def search(
    params: Params, rng: Stream, spoil: float, cuts: int, batches: int, limit: int
) -> Plan | None:
    """Return a plan that scores 1 with half a side of cells to spare; None if it gets too long.

    Args:
        params: the map.
        rng: draws which cuts are simulated.
        spoil: cells that each ball of a deep cut is expected to spoil.
        cuts: to simulate in a batch.
        batches: most of them for one blast.
        limit: most blasts.
    """
    n, tolerance = len(params.heights), params.flat_tolerance
    ground = [height for row in params.heights for height in row]
    least = min(n * n, wanted_cells(params) + n // 2)
    planned = min(n * n, int(least * _SLACK))
    levels = sorted(ground)
    bands = [
        Band(levels[int(q * n * n)], width)
        for width in (0.1, 0.2, 0.3, 0.4, 0.6)
        for q in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    ]
    plan: list[tuple[int, int, float]] = []
    best = _best(ground, n, planned, bands, tolerance, spoil)
    while best is not None and len(plan) < limit:
        band, ahead = best
        done: tuple[float, list[float], int, float, Ahead] | None = None
        for batch in range(batches):
            for cell, depth in _cuts_to_try(ground, n, ahead.cuts, rng, cuts, batch):
                after = list(ground)
                blast_cell(after, n, cell % n, cell // n, depth)
                remainder = region(after, n, planned, band, tolerance, spoil)
                if remainder is not None and (done is None or remainder.cost < done[0]):
                    done = (remainder.cost, after, cell, depth, remainder)
            if done is not None and done[0] <= ahead.cost - _ENOUGH:
                break
        if done is None:
            return None
        _, ground, cell, depth, ahead = done
        plan.append((cell % n, cell // n, depth))
        if len(largest_flat(ground, n, tolerance)) >= least:
            return tuple(plan)
        best = band, ahead
        if len(plan) % 10 == 0:
            near = [Band(band.middle + a, max(0.05, band.width + b))
                    for a in (-0.05, 0, 0.05) for b in (-0.05, 0, 0.05)]  # fmt: skip
            best = _best(ground, n, planned, near, tolerance, spoil)
    return None


def wanted_cells(params: Params) -> int:
    """Return the size of the largest flat region that scores 1."""
    n = len(params.heights)
    start = [height for row in params.heights for height in row]
    before = len(largest_flat(start, n, params.flat_tolerance))
    return math.ceil(before + min(params.share * n * n, n * n - before))


def _best(
    ground: Sequence[float],
    n: int,
    least: int,
    bands: Sequence[Band],
    tolerance: float,
    spoil: float,
) -> tuple[Band, Ahead] | None:
    regions = [
        (band, region(ground, n, least, band, tolerance, spoil)) for band in bands
    ]
    usable = [(band, ahead) for band, ahead in regions if ahead is not None]
    return min(usable, key=lambda item: item[1].cost, default=None)


def _cuts_to_try(
    ground: Sequence[float],
    n: int,
    planned: Sequence[tuple[int, float]],
    rng: Stream,
    count: int,
    batch: int,
) -> list[tuple[int, float]]:
    """Return cells and depths to try: first what is planned, the deepest and some others."""
    deepest = sorted(planned, key=lambda cut: cut[1] - ground[cut[0]])
    candidates = (
        [(cell, height, 0.0) for cell, height in deepest[: count // 2]]
        if not batch
        else []
    )
    while len(candidates) < count:
        if planned and (not batch or rng.below(5) < 3):
            cell, height = rng.choice(deepest)
            off = rng.between(-15, 15) / 100 if batch else 0.0
        else:
            cell = rng.below(n * n)
            height, off = (
                ground[rng.choice(neighbours(n)[cell])],
                rng.between(-19, 19) / 100,
            )
        candidates.append((cell, height, off))
    cut = {
        (c, math.floor(100 * min(ground[c], ground[c] - h + o)) / 100)
        for c, h, o in candidates
    }
    return sorted((cell, depth) for cell, depth in cut if depth > 0)


def region(
    heights: Sequence[float],
    n: int,
    least: int,
    band: Band,
    tolerance: float,
    spoil: float,
) -> Ahead | None:
    """Plan a flat region that keeps within a band, and return what it would take.

    Starts from the largest piece of level ground there, and takes in again and again the cell at
    its rim that gains most cells for its cost, with the pieces of level ground that it joins.

    Returns:
        None if no such region reaches the wanted number of cells.
    """
    beside, reach = neighbours(n), _REACH * tolerance
    low, high = band.middle - band.width, band.middle + band.width
    piece, pieces = _level_pieces(heights, n, reach + 0.005)
    touching = (k for k, cells in enumerate(pieces) if any(low - 0.1 <= heights[c] <= high + 0.1
                                                           for c in cells))  # fmt: skip
    start = max(touching, key=lambda k: (len(pieces[k]), -k), default=None)
    if start is None:
        return None
    ground = list(heights)
    inside = bytearray(n * n)
    rim: list[tuple[float, float, int]] = []
    cuts: list[tuple[int, float]] = []
    total, size = 0.0, 0

    def joined(cell: int, height: float) -> tuple[bool, list[int]]:
        """Whether a cell of this height meets the region, and the other pieces that it meets."""
        near = [o for o in beside[cell] if abs(ground[o] - height) <= reach + 0.005]
        neighbours = {
            piece[o] for o in near if not inside[o] and piece[o] != piece[cell]
        }
        return any(inside[o] for o in near), sorted(neighbours)

    def best_cut(cell: int) -> tuple[float, float, float] | None:
        """Return the gain for the cost, height and cost of the best cut of a cell."""
        steps = {
            min(max(ground[o] + s, low), high)
            for o in beside[cell]
            for s in (reach, 0, -reach)
        }
        best = None
        for height in sorted(steps):
            depth = heights[cell] - height
            if depth <= 0 or height <= 0:
                continue
            meets, neighbours = joined(cell, height)
            if meets:
                cost = 1 + spoil * (ball_count(depth) if depth >= _LUMP else 2 * depth)
                gain = 1 + sum(len(pieces[k]) for k in neighbours)
                best = max(best or (0.0, 0.0, 0.0), (gain / cost, height, cost))
        return best

    def offer(cells: Sequence[int]) -> None:
        for cell in cells:
            if not inside[cell] and (cut := best_cut(cell)):
                heapq.heappush(rim, (-cut[0], -cut[1], cell))

    def join(k: int) -> None:
        nonlocal size
        for cell in pieces[k]:
            size += not inside[cell]
            inside[cell] = 1
        for cell in pieces[k]:
            offer(beside[cell])

    join(start)
    while size < least:
        if not rim:
            return None
        rate, _, cell = heapq.heappop(rim)
        cut = None if inside[cell] else best_cut(cell)
        if cut is None:
            continue
        if -cut[0] > rate + 1e-12:  # it was worth more before
            heapq.heappush(rim, (-cut[0], -cut[1], cell))
            continue
        _, height, cost = cut
        pieces_near = joined(cell, height)[1]
        ground[cell], inside[cell] = height, 1
        cuts.append((cell, height))
        total, size = total + cost, size + 1
        for k in pieces_near:
            join(k)
        offer(beside[cell])
    return Ahead(total, cuts)


def _level_pieces(
    heights: Sequence[float], n: int, reach: float
) -> tuple[list[int], list[list[int]]]:
    """Return the piece of level ground that each cell is in, and the cells of each piece."""
    beside = neighbours(n)
    piece, pieces = [-1] * len(heights), []
    for start in range(len(heights)):
        if piece[start] >= 0:
            continue
        members = [start]
        piece[start] = len(pieces)
        for cell in members:  # grows while it is gone through
            for neighbour in beside[cell]:
                if (
                    piece[neighbour] < 0
                    and abs(heights[cell] - heights[neighbour]) <= reach
                ):
                    piece[neighbour] = len(pieces)
                    members.append(neighbour)
        pieces.append(members)
    return piece, pieces


def sturdy(params: Params, plan: Plan) -> bool:
    """Whether the plan still scores 1, three times, with heights off by up to 1e-6 at every blast.

    Other machines move balls by far less than that.
    """
    n, least = len(params.heights), wanted_cells(params)
    start = [height for row in params.heights for height in row]
    for k in range(3):
        rng, heights = Stream("level_terrain", "sturdy", n, k), start
        for x, y, z in plan:
            heights = [height + rng.uniform(-1e-6, 1e-6) for height in heights]
            blast_cell(heights, n, x, y, z)
        if len(largest_flat(heights, n, params.flat_tolerance)) < least:
            return False
    return True


if __name__ == "__main__":
    main()
