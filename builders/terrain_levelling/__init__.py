"""Terrain levelling: prompts, fresh height maps of Perlin noise, and plans that were simulated."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from pydantic import JsonValue

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, prompt_template, reply_as
from scbench.builders.shared.parameters import parameter
from scbench.builders.terrain_levelling.baselines import baselines
from scbench.builders.terrain_levelling.solver import MOST_WORK, Plan, Work, solve
from scbench.graders.terrain_levelling import MAX_WORK
from scbench.graders.terrain_levelling.blast_simulation import TRIFLE, largest_flat
from scbench.schemas.terrain_levelling import MAX_BLASTS, Answer, Blast, Params

_MAPS = 4
"""Maps that one draw tries."""
_MUCH_LEFT = MOST_WORK * 3 // 4
"""Unless so much work is left, another draw would take too long."""

_GRADIENTS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
_OCTAVES = 4

_PROMPT = prompt_template(__name__)


class Space(Point):
    """Parameters of fresh maps."""

    size: int = parameter(6, "cells along a side of the map", ge=5, le=48)
    noise_scale: float = parameter(2.5, "periods of the noise along a side", ge=1.0, le=16.0)
    flat_tolerance: float = parameter(0.2, "greatest step within a flat region", ge=0.1, le=1.0)
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

    def words(self, params: Params) -> dict[str, object]:
        """Return the map, and what the score is measured by."""
        n = len(params.heights)
        before = len(largest_flat(_flat(params), n, params.flat_tolerance))
        return {
            "n": n,
            "last": n - 1,
            "half": n / 2,
            "table": "\n".join(
                " ".join(f"{height:>4.1f}" for height in row) for row in params.heights
            ),
            "max_blasts": params.max_blasts,
            "max_work": MAX_WORK,
            "trifle": TRIFLE,
            "tolerance": params.flat_tolerance,
            "before": before,
            "wanted": f"{min(params.share * n * n, n * n - before):g}",
        }

    def prompt(self, params: Params) -> str:
        """Return the map, the rules, the score and the physics."""
        return _PROMPT.format(**self.words(params)) + reply_as(
            '{"blasts": [{"x": 0, "y": 0, "z": 0.0}, ...]}'
        )

    def reference(self, params: Params) -> Answer:
        """Return the stored plan of a paper instance; simulate one for any other."""
        plan = _stored().get(params)
        if plan is None:
            plan = _plan(params)
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
            "negative_depth": [_blast(x, y, round(heights[y][x] - top - 1, 1)) for x, y in cells],
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
        return {name: {"blasts": blasts} for name, blasts in counters.items()}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return cuts planned as if no rubble came down anywhere."""
        return baselines(params)

    def measure(self, params: Params) -> float:
        """Return the share of cells to be levelled over the tolerance, more with few blasts.

        One blast for each cell makes it twice as much.
        """
        scarcity = 1 + len(params.heights) ** 2 / params.max_blasts
        return params.share / params.flat_tolerance * scarcity

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw noise until the solver levels it.

        Raises:
            WorkSpentError: it levelled no map, and did much work for that.
            GenerationError: it levelled none of four maps.
            CannotGrade: PyBullet is not installed.
        """
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
                plan = _plan(params, work)
            except GenerationError:
                continue
            if plan:
                limit = MAX_BLASTS if point.spare is None else math.ceil(point.spare * len(plan))
                return params.model_copy(update={"max_blasts": min(MAX_BLASTS, limit)})
        failure = GenerationError if work.remaining > _MUCH_LEFT else WorkSpentError
        raise failure(
            f"the solver levels none of {tried} maps of {point.size} x {point.size} cells; "
            "ask for a smaller size or share, or a greater noise scale or tolerance"
        )


def height_map(size: int, scale: float, table: Sequence[int]) -> tuple[tuple[float, ...], ...]:
    """Return a map of classic Perlin noise of four octaves, with heights of one decimal about 5.

    Args:
        size: cells along a side.
        scale: periods of the first octave along a side.
        table: 0 to 255 in random order.
    """
    rows = [
        [
            round((_noise(x * scale / size, y * scale / size, table) + 0.5) * 10, 1)
            for x in range(size)
        ]
        for y in range(size)
    ]
    low, high = min(map(min, rows)), max(map(max, rows))
    if high - low < 5:
        spread = (high - low) or 1.0
        rows = [[round(1 + 9 * (height - low) / spread, 1) for height in row] for row in rows]
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


def _flat(params: Params) -> tuple[float, ...]:
    return tuple(height for row in params.heights for height in row)


def _plan(params: Params, work: Work | None = None) -> Plan:
    n, tolerance = len(params.heights), params.flat_tolerance
    return solve(_flat(params), n, tolerance, params.share, work)


@cache
def _stored() -> dict[Params, Plan]:
    """Return the plans of the paper's instances, found by the programs tools/level_*.py."""
    path = files(__package__).joinpath("references.json")
    plans = json.loads(path.read_text("utf-8"))["plans"]
    items = TaskBuilder().paper()
    return {item.params: plan for item, plan in zip(items, plans, strict=True)}
