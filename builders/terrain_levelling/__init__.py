"""Terrain levelling: blasts that make rough ground level, although each scatters its rock.

An example of the puzzle, cut short, with the beginning of an answer:

    The height of every cell:
     5.1  6.0  4.2
     4.9  7.3  4.4
     5.0  5.2  4.6
    Two cells that share an edge are joined if their heights differ by at most 0.2.
    {"blasts": [{"x": 1, "y": 1, "z": 2.2}, {"x": 1, "y": 0, "z": 0.9}, ...]}
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import Any

from pydantic import JsonValue

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, data_file, parameter, under
from scbench.builders.terrain_levelling.noise import height_map
from scbench.builders.terrain_levelling.solver import MOST_WORK, Plan, Work, solve
from scbench.graders.terrain_levelling import MAX_WORK, blast_simulation
from scbench.schemas.terrain_levelling import MAX_BLASTS, Answer, Blast, Params

# Maximum number of maps that one draw tries.
_MAPS = 4
# Side of the corner that a baseline levels; larger plans take minutes to simulate and gain nothing.
_SIDE = 20
# Maximum number of blasts in an answer that stops early.
_BEGINNING = 40
# With less work left than this, no further map is drawn.
_MUCH_LEFT = MOST_WORK * 3 // 4


class Space(Point):
    """Parameters of fresh maps."""

    size: int = parameter(6, "number of cells along a side of the map", ge=5, le=48)
    noise_scale: float = parameter(
        2.5, "number of noise periods along a side", ge=1.0, le=16.0
    )
    flat_tolerance: float = parameter(
        0.2,
        "largest height difference between neighbours in a flat region",
        ge=0.1,
        le=1.0,
    )
    share: float = parameter(
        0.5, "gain needed for a score of 1, as a share of all cells", ge=0.2, le=0.7
    )
    spare: float | None = parameter(
        None,
        "maximum number of blasts, as a multiple of the number that the solver needs; null for "
        "only the general limit",
        ge=1.0,
        le=10.0,
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rough ground that can be levelled to a score of 1."""

    task = "terrain_levelling"
    version = 3
    draws = 2
    form = '{"blasts": [{"x": 0, "y": 0, "z": 0.0}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the map, the limits, and the numbers of the score."""
        n = len(params.heights)
        flat = blast_simulation.largest_flat(
            ground_of(params), n, params.flat_tolerance
        )
        before = len(flat)
        rows = []
        for row in params.heights:
            cells = [f"{height:>4.1f}" for height in row]
            rows.append(" ".join(cells))
        return {
            "n": n,
            "last": n - 1,
            "half": n / 2,
            "table": "\n".join(rows),
            "max_blasts": params.max_blasts,
            "max_work": MAX_WORK,
            "trifle": blast_simulation.TRIFLE,
            "tolerance": params.flat_tolerance,
            "before": before,
            "wanted": f"{min(params.share * n * n, n * n - before):g}",
        }

    def reference(self, params: Params) -> Answer:
        """Return the stored plan of a paper instance; simulate one for any other."""
        plan = stored_plans().get(params)
        if plan is None:
            plan = plan_for(params)
        return Answer(blasts=tuple(Blast(x=x, y=y, z=z) for x, y, z in plan))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return plans with one error each; most break a rule with their first blast."""
        heights = params.heights
        n = len(heights)
        plan = self.reference(params).blasts
        reference: list[Any] = [blast.model_dump(mode="json") for blast in plan]
        cells = [(x, y) for y, x in product(range(n), range(n))]

        def height_at(cell: tuple[int, int]) -> float:
            x, y = cell
            return heights[y][x]

        x, y = max(cells, key=height_at)
        top = heights[y][x]
        above_ground: list[JsonValue] = []
        for cell in cells:
            depth = round(height_at(cell) - top - 1, 1)
            above_ground.append(blast_at(*cell, depth))
        counters: dict[str, JsonValue] = {
            "empty": [],
            "stopped_early": reference[: min(30, len(reference) - 1)],
            "negative_depth": above_ground,
            "zero_depth": [blast_at(x, y, 0), *reference[:10]],
            "below_the_ground": [blast_at(x, y, round(top + 0.1, 1))],
            "same_rock_twice": [blast_at(x, y, round(0.7 * top, 2))] * 2,
            "off_the_map": [blast_at(n, 0, 0.5)],
            "negative_index": [blast_at(-1, 0, 0.5)],
            "one_bad_blast_at_the_end": [*reference[:3], blast_at(0, n, 0.5)],
            "half_a_cell": [{"x": 0.5, "y": 0, "z": 0.5}],
            "text": [{"x": str(x), "y": str(y), "z": "1.0"}],
            "lists": [[x, y, 1.0]],
        }
        misreadings = {
            "y_counted_from_the_last_line": heights[::-1],
            "x_and_y_swapped": tuple(zip(*heights, strict=True)),
        }
        for name, misreading in misreadings.items():
            misread = deepest_misread(heights, misreading)
            if misread is not None:
                counters[name] = [misread]
        return under("blasts", counters)

    def honest_faults(self, params: Params) -> Mapping[str, tuple[JsonValue, float]]:
        """Return the beginning of a plan; its effect is simulated and counted cell by cell."""
        plan = self.reference(params).blasts
        beginning = plan[: min(_BEGINNING, max(1, len(plan) - 5))]
        n = len(params.heights)
        heights = list(ground_of(params))
        before = flat_cells(heights, n, params.flat_tolerance)
        for blast in beginning:
            blast_simulation.blast_cell(heights, n, blast.x, blast.y, blast.z)
        after = flat_cells(heights, n, params.flat_tolerance)
        wanted = min(params.share * n * n, n * n - before)
        score = min(1.0, max(0.0, (after - before) / wanted))
        blasts: list[JsonValue] = [blast.model_dump(mode="json") for blast in beginning]
        return {"stopped_early": ({"blasts": blasts}, score)}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a plan that cuts the hills of one corner to middle height, highest first."""
        cells = []
        for y, row in enumerate(params.heights[:_SIDE]):
            cells += [(height, x, y) for x, height in enumerate(row[:_SIDE])]
        cells.sort(reverse=True)
        level, _, _ = cells[len(cells) // 2]
        blasts: list[JsonValue] = []
        for height, x, y in cells[: params.max_blasts]:
            # Rounded down, because no cell may be lowered by more than its height.
            depth = math.floor(round(100 * (height - level), 6)) / 100
            if depth > params.flat_tolerance / 2:
                blasts.append(blast_at(x, y, depth))
        return {"hills cut to medium height": {"blasts": blasts}}

    def measure(self, params: Params) -> float:
        """Return the share of cells to level, divided by the tolerance, times 1 + cells / blasts.

        With one blast for each cell, the measure is twice the quotient.
        """
        scarcity = 1 + len(params.heights) ** 2 / params.max_blasts
        return params.share / params.flat_tolerance * scarcity

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw maps, at most four, until the solver levels one.

        Raises:
            GenerationError: no map could be levelled.
            WorkSpentError: no map could be levelled, and trying cost much work.
        """
        work = Work()
        maps = 0
        while maps < _MAPS and work.remaining > 0:
            maps += 1
            table = list(range(256))
            rng.shuffle(table)
            params = Params(
                heights=height_map(point.size, point.noise_scale, table),
                flat_tolerance=point.flat_tolerance,
                share=point.share,
                max_blasts=MAX_BLASTS,
            )
            try:
                plan = plan_for(params, work)
            except GenerationError:
                continue
            # If the ground is level already, the plan has no blasts.
            if plan and point.spare is None:
                return params
            if plan and point.spare is not None:
                limit = min(MAX_BLASTS, math.ceil(point.spare * len(plan)))
                return params.model_copy(update={"max_blasts": limit})
        failure = GenerationError if work.remaining > _MUCH_LEFT else WorkSpentError
        raise failure(
            f"the solver could not level any of {maps} maps of {point.size} x {point.size} cells; "
            "ask for a smaller size or share, or a greater noise scale or tolerance"
        )


@cache
def stored_plans() -> dict[Params, Plan]:
    """Return the stored plans for the paper's instances."""
    plans = data_file(__package__, "references.json")["plans"]
    items = TaskBuilder().paper()
    return {item.params: plan for item, plan in zip(items, plans, strict=True)}


def plan_for(params: Params, work: Work | None = None) -> Plan:
    """Return a plan that levels the ground of an instance; see `solve`."""
    n = len(params.heights)
    return solve(ground_of(params), n, params.flat_tolerance, params.share, work)


def ground_of(params: Params) -> tuple[float, ...]:
    """Return the heights row by row."""
    return tuple(chain(*params.heights))


def flat_cells(heights: Sequence[float], n: int, tolerance: float) -> int:
    """Return the number of cells in the largest flat region."""
    unseen = set(range(n * n))
    largest = 0
    while unseen:
        size = 0
        border = [unseen.pop()]
        while border:
            cell = border.pop()
            size += 1
            y, x = divmod(cell, n)
            for v, u in ((y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)):
                near = v * n + u
                is_on_map = 0 <= u < n and 0 <= v < n
                if not is_on_map or near not in unseen:
                    continue
                step = abs(heights[cell] - heights[near])
                if step <= tolerance + blast_simulation.TRIFLE:
                    unseen.remove(near)
                    border.append(near)
        largest = max(largest, size)
    return largest


def blast_at(x: int, y: int, z: float) -> dict[str, JsonValue]:
    """Return a blast in the form of an answer."""
    return {"x": x, "y": y, "z": z}


def deepest_misread(
    heights: Sequence[Sequence[float]], misreading: Sequence[Sequence[float]]
) -> JsonValue | None:
    """Return the blast that would dig a misread cell down to 0; it is deeper than the real ground.

    None if no cell was read as higher than it is.
    """
    differences = []
    for y, row in enumerate(heights):
        for x, height in enumerate(row):
            difference = misreading[y][x] - height
            differences.append((difference, x, y))
    excess, x, y = max(differences)
    return blast_at(x, y, misreading[y][x]) if excess > 0 else None
