"""Terrain levelling: prompts, fresh height maps of Perlin noise, and plans that were simulated.

The solver simulates as it goes. First the highest cells are cut, so that their rock fills the
lowest. Then a connected region is planned that takes few more cuts: cells that are level already
cost nothing, shallow cuts little, deep ones more because their rock spoils what is finished. The
deepest planned cuts are made, and the region is planned again, until enough cells are flat.
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, under
from scbench.graders.terrain_levelling import MAX_WORK, blast_simulation
from scbench.schemas.terrain_levelling import MAX_BLASTS, Answer, Blast, Params

# Maps that one draw tries.
_MAPS = 4
_GRADIENTS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_OCTAVES = 4
# Of the corner that is worked on; larger plans take minutes to simulate and gain no
# more.
_SIDE = 20
Plan = tuple[tuple[int, int, float], ...]
# After so much work the solver gives up: under half a minute. See `Work`.
MOST_WORK = 18_000_000
# Unless so much work is left, another draw would take too long.
_MUCH_LEFT = MOST_WORK * 3 // 4


_STEP = 0.05
# Share of the tolerance that is used: cuts are rounded to two decimals.
_SAFE = 0.95
# From this depth on, one ball is more rock than a flat cell can take at the usual
# tolerance.
_LUMP = 0.6


class Work:
    """Counts what the solver may still do, in units that take one or two microseconds each."""

    def __init__(self, limit: int = MOST_WORK) -> None:
        self.remaining = limit

    def blast(self, depth: float, cells: int) -> None:
        """Count a blast, for which balls meet each other and the ground, and a look at the map."""
        balls = blast_simulation.ball_count(depth)
        self.remaining -= 800 * balls + balls**4 // 8 + cells // 4

    def region(self, cells: int) -> None:
        """Count a region that is planned on a map of so many cells."""
        self.remaining -= 3 * cells


class Space(Point):
    """Parameters of fresh maps."""

    size: int = parameter(6, "cells along a side of the map", ge=5, le=48)
    noise_scale: float = parameter(
        2.5, "periods of the noise along a side", ge=1.0, le=16.0
    )
    flat_tolerance: float = parameter(
        0.2, "greatest step within a flat region", ge=0.1, le=1.0
    )
    share: float = parameter(
        0.5, "share of all cells to be gained for a score of 1", ge=0.2, le=0.7
    )
    spare: float | None = parameter(
        None,
        "most blasts, as a multiple of those that the solver takes; "
        "without it only the general limit holds",
        ge=1.0,
        le=10.0,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rough ground that can be levelled to a score of 1."""

    task = "terrain_levelling"
    version = 2
    form = '{"blasts": [{"x": 0, "y": 0, "z": 0.0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the map, and what the score is measured by."""
        n = len(params.heights)
        before = len(
            blast_simulation.largest_flat(_ground(params), n, params.flat_tolerance)
        )
        return {
            "n": n,
            "last": n - 1,
            "half": n / 2,
            "table": "\n".join(
                " ".join(f"{height:>4.1f}" for height in row) for row in params.heights
            ),
            "max_blasts": params.max_blasts,
            "max_work": MAX_WORK,
            "trifle": blast_simulation.TRIFLE,
            "tolerance": params.flat_tolerance,
            "before": before,
            "wanted": f"{min(params.share * n * n, n * n - before):g}",
        }

    def reference(self, params: Params) -> Answer:
        """Return the stored plan of a paper instance; simulate one for any other."""
        plan = _stored_plans().get(params)
        if plan is None:
            plan = _blast_plan(params)
        return Answer(blasts=tuple(Blast(x=x, y=y, z=z) for x, y, z in plan))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return plans with one fault each; most are void at their first blast."""
        n, heights = len(params.heights), params.heights
        reference: list[JsonValue] = [
            blast.model_dump(mode="json") for blast in self.reference(params).blasts
        ]
        cells = [(x, y) for y in range(n) for x in range(n)]
        x, y = max(cells, key=lambda cell: heights[cell[1]][cell[0]])
        top = heights[y][x]
        counters: dict[str, JsonValue] = {
            "empty": [],
            "stopped_early": reference[: min(30, len(reference) - 1)],
            "negative_depth": [
                _blast(x, y, round(heights[y][x] - top - 1, 1)) for x, y in cells
            ],
            "zero_depth": [_blast(x, y, 0), *reference[:10]],
            "below_the_ground": [_blast(x, y, round(top + 0.1, 1))],
            "same_rock_twice": [_blast(x, y, round(0.7 * top, 2))] * 2,
            "off_the_map": [_blast(n, 0, 0.5)],
            "negative_index": [_blast(-1, 0, 0.5)],
            "one_bad_blast_at_the_end": [*reference[:3], _blast(0, n, 0.5)],
            "half_a_cell": [{"x": 0.5, "y": 0, "z": 0.5}],
            "text": [{"x": str(x), "y": str(y), "z": "1.0"}],
            "lists": [[x, y, 1.0]],
        }
        for name, misreading in (
            ("y_counted_from_the_last_line", heights[::-1]),
            ("x_and_y_swapped", tuple(zip(*heights, strict=True))),
        ):
            misread = _deepest_misread(heights, misreading)
            if misread is not None:
                counters[name] = [misread]
        return under("blasts", counters)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a plan that cuts the hills of one corner to middle height, the highest first."""
        corner = [row[:_SIDE] for row in params.heights[:_SIDE]]
        cells = [(h, x, y) for y, row in enumerate(corner) for x, h in enumerate(row)]
        cells.sort(reverse=True)
        level = cells[len(cells) // 2][0]
        blasts: list[JsonValue] = []
        for height, x, y in cells[: params.max_blasts]:
            # Rounded down: no cell may be lowered by more than its height.
            depth = math.floor(round(100 * (height - level), 6)) / 100
            if depth > params.flat_tolerance / 2:
                blasts.append({"x": x, "y": y, "z": depth})
        return {"hills cut to the middle height": {"blasts": blasts}}

    def measure(self, params: Params) -> float:
        """Return the share of cells to be levelled over the tolerance, more with few blasts.

        One blast for each cell makes it twice as much.
        """
        scarcity = 1 + len(params.heights) ** 2 / params.max_blasts
        return params.share / params.flat_tolerance * scarcity

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw noise until the solver levels it, four times at most; `WorkSpentError` if slow."""
        work, tried = Work(), 0
        while tried < _MAPS and work.remaining > 0:
            tried += 1
            table = list(range(256))
            rng.shuffle(table)
            params = Params(
                heights=height_map(point.size, point.noise_scale, table),
                flat_tolerance=point.flat_tolerance,
                share=point.share,
                max_blasts=MAX_BLASTS,
            )
            try:
                plan = _blast_plan(params, work)
            except GenerationError:
                continue
            if plan:
                limit = (
                    MAX_BLASTS
                    if point.spare is None
                    else math.ceil(point.spare * len(plan))
                )
                return params.model_copy(update={"max_blasts": min(MAX_BLASTS, limit)})
        failure = GenerationError if work.remaining > _MUCH_LEFT else WorkSpentError
        raise failure(
            f"the solver levels none of {tried} maps of {point.size} x {point.size} cells; "
            "ask for a smaller size or share, or a greater noise scale or tolerance"
        )


def height_map(
    size: int, scale: float, table: Sequence[int]
) -> tuple[tuple[float, ...], ...]:
    """Return a map of classic Perlin noise of four octaves, with heights of one decimal about 5.

    ``scale`` is periods of the first octave along a side, ``table`` 0 to 255 in random order.
    """
    places = [k * scale / size for k in range(size)]
    rows = [
        [round((_noise(x, y, table) + 0.5) * 10, 1) for x in places] for y in places
    ]
    low, high = min(map(min, rows)), max(map(max, rows))
    if high - low < 5:
        spread = (high - low) or 1.0
        rows = [
            [round(1 + 9 * (height - low) / spread, 1) for height in row]
            for row in rows
        ]
    return tuple(map(tuple, rows))


def _noise(x: float, y: float, table: Sequence[int]) -> float:
    total, amplitude, frequency, largest = 0.0, 1.0, 1.0, 0.0
    for _ in range(_OCTAVES):
        total += amplitude * _perlin(x * frequency, y * frequency, table)
        largest += amplitude
        amplitude *= 0.5
        frequency *= 2
    return total / largest


def _perlin(x: float, y: float, table: Sequence[int]) -> float:
    cell_x, cell_y = math.floor(x), math.floor(y)
    dx, dy = x - cell_x, y - cell_y

    def corner(i: int, j: int) -> float:
        hashed = table[(table[(cell_x + i) % 256] + (cell_y + j) % 256) % 256]
        gradient_x, gradient_y = _GRADIENTS[hashed % 8]
        return gradient_x * (dx - i) + gradient_y * (dy - j)

    u, v = _fade(dx), _fade(dy)
    first = corner(0, 0) + u * (corner(1, 0) - corner(0, 0))
    second = corner(0, 1) + u * (corner(1, 1) - corner(0, 1))
    return first + v * (second - first)


def _fade(t: float) -> float:
    return t * t * t * (t * (t * 6 - 15) + 10)


def _deepest_misread(
    heights: Sequence[Sequence[float]], misreading: Sequence[Sequence[float]]
) -> JsonValue | None:
    """Return the blast that digs a cell of the map as seen down to 0, far below the real ground."""
    excess, x, y = max(
        (high - real, x, y)
        for y, rows in enumerate(zip(misreading, heights, strict=True))
        for x, (high, real) in enumerate(zip(*rows, strict=True))
    )
    return _blast(x, y, misreading[y][x]) if excess > 0 else None


def _blast(x: int, y: int, z: float) -> JsonValue:
    return {"x": x, "y": y, "z": z}


def _ground(params: Params) -> tuple[float, ...]:
    return tuple(height for row in params.heights for height in row)


def _blast_plan(params: Params, work: Work | None = None) -> Plan:
    n, tolerance = len(params.heights), params.flat_tolerance
    return solve(_ground(params), n, tolerance, params.share, work)


@cache
def _stored_plans() -> dict[Params, Plan]:
    """Return the plans of the paper's instances, found by the programs tools/level_*.py."""
    plans = data_file(__package__, "references.json")["plans"]
    items = TaskBuilder().paper()
    return {item.params: plan for item, plan in zip(items, plans, strict=True)}


class Settings(NamedTuple):
    """What a plan depends on apart from the map.

    High cells, those ``deep`` above a quantile of the heights, are cut first, to ``undershoot``
    below it. Each ball of a deep cut is expected to spoil so many cells; a part of the planned cuts
    is made before planning again.
    """

    quantile: float = 0.53
    deep: float = 1.2
    undershoot: float = 0.1
    spoil: float = 0.3
    part: float = 0.1


_TRIALS = (Settings(), Settings(quantile=0.45, deep=0.8, undershoot=0.25))


@lru_cache(maxsize=4096)
def plan_slot(*_: object) -> list[Plan]:
    """Return the list that the plan of a map, given as to `solve`, is put into once it is found."""
    return []


def solve(
    heights: tuple[float, ...],
    n: int,
    tolerance: float,
    share: float,
    work: Work | None = None,
) -> Plan:
    """Return a plan that scores 1, and no longer does without its last blast.

    The plan, for ``n * n`` heights row by row, does not depend on how much work is allowed; whether
    one is found does. What is done here is taken off.

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

    Besides what `solve` takes, the settings say how to go about it and the limit is of blasts.
    """
    ground = list(heights)
    before = len(blast_simulation.largest_flat(ground, n, tolerance))
    goal = math.ceil(before + min(share * n * n, n * n - before))
    level = sorted(ground)[int(settings.quantile * n * n)]
    plan: list[tuple[int, int, float]] = []
    may_simulate = float(MAX_WORK)

    def cut(cell: int, target: float) -> bool:
        """Lower a cell to the target and return whether enough is flat now."""
        nonlocal may_simulate
        depth = math.floor(100 * (min(ground[cell], ground[cell] - target))) / 100
        if depth > 0:
            may_simulate -= blast_simulation.blast_work(depth)
            y, x = divmod(cell, n)
            blast_simulation.blast_cell(ground, n, x, y, depth)
            work.blast(depth, n * n)
            plan.append((x, y, depth))
        return (
            may_simulate >= 0
            and len(blast_simulation.largest_flat(ground, n, tolerance)) >= goal
        )

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
            and (
                region := _plan_region(
                    ground, n, goal + n // 8, target, tolerance, settings.spoil
                )
            )
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


def _level_pieces(
    heights: Sequence[float],
    beside: Sequence[Sequence[int]],
    target: float,
    reach: float,
) -> tuple[list[int], list[list[int]]]:
    """Return the piece of level ground that each cell is in, or -1, and the cells of each."""
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
    return piece, pieces


def _plan_region(
    heights: Sequence[float],
    n: int,
    goal: int,
    target: float,
    tolerance: float,
    spoil: float,
) -> tuple[float, list[int]] | None:
    """Plan a connected region at about the target height; return its cost and the cells to cut.

    Starts from the largest piece of ground that is level already, and takes in again and again the
    high cell at its rim that gains most cells for its cost, pieces of level ground beyond included.
    None is returned if no such region reaches the wanted number of cells.
    """
    beside = blast_simulation.neighbours(n)
    piece, pieces = _level_pieces(heights, beside, target, _SAFE * tolerance)
    if not pieces:
        return None
    included = [False] * len(heights)
    joined = [False] * len(pieces)
    rim: list[tuple[float, float, int, int]] = []

    def cost(cell: int) -> float:
        depth = heights[cell] - target
        return 1 + (spoil * blast_simulation.ball_count(depth) if depth >= _LUMP else 0)

    def beyond(cell: int) -> set[int]:
        return {
            piece[o] for o in beside[cell] if piece[o] >= 0 and not joined[piece[o]]
        }

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
