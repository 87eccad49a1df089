"""Fluid simulation: prompts, fresh worlds with a goal, and plans that meet it.

What is built in a fresh world is drawn first; the thresholds come from the simulation of it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import JsonValue

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.fluid_simulation import plans
from scbench.builders.fluid_simulation.plans import Box, Structure, as_answer
from scbench.builders.shared.builder import Builder, Point, data_file, parameter
from scbench.graders.fluid_simulation import grade
from scbench.graders.fluid_simulation.earthworks import carry_out, settle
from scbench.graders.fluid_simulation.lakes import Water, squares, survey
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.schemas import fluid_simulation as goals
from scbench.schemas.fluid_simulation import Answer, Goal, GroundBox, Params, Zone

_TRIES = 40
HEIGHT = 8
LAYERS = 3

GoalKind = Literal[
    "lake_surface",
    "wide_lakes",
    "high_water",
    "hidden_water",
    "lakes_on_levels",
    "deep_water",
    "large_lakes",
    "ring_lake",
    "water_levels",
    "exact_volume",
    "hidden_lakes",
]

# All kinds of goal.
GOAL_KINDS: tuple[GoalKind, ...] = get_args(GoalKind)


# One of what goals count, in the plural of their templates.
_ONE = re.compile(
    r"\b1 ((?:large |separate |different |z )*)(column|voxel|lake|level)s\b"
)


class Space(Point):
    """Parameters of fresh worlds."""

    goal: Literal["any", GoalKind] = parameter(
        "any", "what the water has to be like; any draws one of them"
    )
    width: int = parameter(32, "cells along x and along y", ge=16, le=64, multiple_of=2)
    side: int = parameter(
        5,
        "largest side of a lake in the plan that thresholds are read from",
        ge=3,
        le=10,
    )
    lakes: int = parameter(
        3, "number of lakes, for the goals that ask for several", ge=2, le=4
    )
    slack: int = parameter(
        2,
        "most that a threshold lies below what that plan reaches; larger is easier",
        ge=0,
        le=20,
    )
    hills: int = parameter(2, "hills on the ground, 1 to 3 high", ge=0, le=8)
    holes: int = parameter(2, "holes in the ground, 1 or 2 deep", ge=0, le=8)
    zones: int = parameter(
        1, "protected zones, which no box may reach into", ge=0, le=16
    )
    rain_columns: int = parameter(
        4, "columns that get a drop in every round", ge=1, le=8
    )
    rain_place: Literal["centre", "anywhere"] = parameter(
        "anywhere",
        "a block of columns at the centre, or columns anywhere but near the sides",
    )
    spare_boxes: int | None = parameter(
        4, "boxes allowed beyond those of the reference; null for no limit", ge=0, le=50
    )


class TaskBuilder(Builder[Params, Answer, Space]):
    """Worlds whose goal some plan of a few boxes meets."""

    task = "fluid_simulation"
    version = 4
    form = '{"earthworks": [{"xyzMin": [x, y, z], "xyzMax": [x, y, z], "material": "Rock"}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the world and the goal, in full and in brief."""
        ground = "".join(f"\n- {_box(box)}: {box.material}" for box in params.ground)
        if ground:
            ground = (
                " Then the ground was shaped by these boxes, in this order (both ends included, "
                f"later ones overwrite earlier ones):{ground}"
            )
        protected = "".join(f"\n- {_box(zone)}" for zone in params.protected)
        if protected:
            protected = (
                "The same holds for a box that shares even one voxel with a protected zone. The "
                f"protected zones (both ends included) are:{protected}\n"
            )
        limit = "There is no limit on the number of boxes."
        if params.max_boxes is not None:
            limit = (
                f"You may list at most {params.max_boxes} boxes, ignored ones included; a longer "
                "list scores 0."
            )
        return {
            **params.model_dump(include={"width", "height"}),
            "last": params.width - 1,
            "top": params.height - 1,
            "rock_top": params.rock_layers - 1,
            "ground": ground,
            "protected": protected,
            "limit": limit,
            "rain": ", ".join(f"({x}, {y})" for x, y in params.rain),
            **_goal_words(params.goal),
        }

    def reference(self, params: Params) -> Answer:
        """Put together parts that hold water until the simulation agrees."""
        plan = plans.solve(params)
        if plan is None:
            raise GenerationError("no plan of the parts that are known meets this goal")
        return as_answer(plan)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return answers without effect, plans with a mistake, and near misses of the goal."""
        plan = plans.solve(params) or []
        counters = {**plans.without_effect(params, plan), **plans.wrong(params, plan)}
        if params.max_boxes is not None:
            boxes: list[JsonValue] = list(
                as_answer(plan).model_dump(mode="json")["earthworks"]
            )
            counters["too_many_boxes"] = {
                "earthworks": boxes + boxes[-1:] * params.max_boxes
            }
        return counters

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return a pit in each quarter of the world, and one walled basin in its middle."""
        n, ground, top = params.width, params.rock_layers, params.height - 1
        middle, side = n // 2, max(1, n // 2 - 4)
        pits = [
            Box((x, y, 1), (x + side - 1, y + side - 1, ground - 1), "Air")
            for x in (2, middle + 1)
            for y in (2, middle + 1)
        ]
        half = min(5, middle)
        basin = [
            Box(
                (middle - half,) * 2 + (ground,),
                (middle + half - 1,) * 2 + (top,),
                "Rock",
            ),
            Box(
                (middle - half + 1,) * 2 + (1,),
                (middle + half - 2,) * 2 + (top,),
                "Air",
            ),
        ]
        named_plans = {"four pits": pits, "block with a basin": basin}
        return {
            name: as_answer(plan).model_dump(mode="json")
            for name, plan in named_plans.items()
        }

    def measure(self, params: Params) -> float:
        """Return boxes of a plan by things they keep clear of by the bits of what is asked for.

        What is asked for is the product of the goal's numbers: lakes and their voxels, say.
        """
        things = 1 + len(params.ground) + len(params.protected)
        numbers = params.goal.model_dump(exclude={"kind"}).values()
        amount = math.prod(n if isinstance(n, int) else len(n) for n in numbers)
        return len(self.reference(params).earthworks) * things * (1 + math.log2(amount))

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw a world, build something that holds water, and ask for what it holds."""
        for _ in range(_TRIES):
            kind = rng.choice(GOAL_KINDS) if point.goal == "any" else point.goal
            params = draw_goal(point, draw_ground(point, rng), kind, rng)
            if params is None or grade(params, Answer(earthworks=())).score == 1:
                continue
            plan = plans.solve(params)
            if plan is None:
                continue
            if point.spare_boxes is None:
                return params
            return params.model_copy(
                update={"max_boxes": len(plan) + point.spare_boxes}
            )
        raise GenerationError(
            f"no {point.goal} goal for this point was found in {_TRIES} tries; ask for smaller or "
            "fewer lakes, a wider world, or fewer hills, holes and zones"
        )


def draw_ground(point: Space, rng: Stream) -> Params:
    """Draw a world; its goal is a stand-in."""
    width = point.width

    def rectangle(limit: int) -> tuple[int, int, int, int]:
        w, d = rng.between(2, limit), rng.between(2, limit)
        x, y = rng.between(1, width - 1 - w), rng.between(1, width - 1 - d)
        return x, y, x + w - 1, y + d - 1

    longest = max(3, width // 8)
    ground = []
    for _ in range(point.hills):
        x, y, u, v = rectangle(longest)
        high = rng.between(LAYERS, LAYERS + 2)
        ground.append(GroundBox(low=(x, y, LAYERS), high=(u, v, high), material="Rock"))
    for _ in range(point.holes):
        x, y, u, v = rectangle(longest)
        # Open to the sky, so that no hill is left hanging.
        low = rng.between(1, LAYERS - 1)
        ground.append(
            GroundBox(low=(x, y, low), high=(u, v, HEIGHT - 1), material="Air")
        )
    protected = []
    for _ in range(point.zones):
        x, y, u, v = rectangle(max(3, width // 5))
        protected.append(Zone(low=(x, y, 0), high=(u, v, HEIGHT - 1)))
    if point.rain_place == "centre":
        c = width // 2
        block = [(c + i % 2, c + i // 2) for i in range(8)]
        rain = tuple(block[: point.rain_columns])
    else:
        inner = width - 8
        spots = rng.sample(range(inner * inner), point.rain_columns)
        rain = tuple((4 + spot // inner, 4 + spot % inner) for spot in spots)
    return Params.model_validate(
        {
            "width": width,
            "height": HEIGHT,
            "rock_layers": LAYERS,
            "ground": tuple(ground),
            "protected": tuple(protected),
            "rain": rain,
            "max_boxes": None,
            "goal": {"kind": "exact_volume", "voxels": 1},
        }
    )


def draw_goal(point: Space, world: Params, kind: str, rng: Stream) -> Params | None:
    """Build something at a drawn place; return the world with a goal that it meets, if it does."""
    numbers, parts = _draft_goal(rng, kind, world.rain, point.side, point.lakes)
    target = (rng.below(2 * world.width), rng.below(2 * world.width))
    plan = plans.assemble(world, parts, target, smooth=True)
    if plan is None:
        return None
    if kind in {"hidden_water", "hidden_lakes", "water_levels"}:
        plan = [*plans.undo_ground(world, holes_only=True), *plan]
    water = _water(world, plan)
    goal = _measured_goal(kind, numbers, water, rng.below(point.slack + 1))
    if goal is None:
        return None
    params = Params.model_validate({**world.model_dump(), "goal": goal})
    return params if grade(params, as_answer(plan)).score == 1 else None


def _water(world: Params, plan: Sequence[Box]) -> Water:
    rock, _ = carry_out(world, as_answer(plan).earthworks)
    rock, _ = settle(rock)
    return survey(rock, rain_on(rock, world.rain).water)


def _measured_goal(
    kind: str, numbers: dict[str, Any], water: Water, slack: int
) -> dict[str, Any] | None:
    """Return the goal that this water meets with at most so much to spare."""
    goal = {"kind": kind, **numbers}
    sizes = sorted((lake.voxels for lake in water.lakes), reverse=True)
    match kind:
        case "lake_surface":
            figure = max((lake.surface for lake in water.lakes), default=0)
            goal["min_columns"] = max(1, figure - slack)
        case "wide_lakes":
            goal["lakes"] = sum(
                squares(lake.columns, numbers["side"], water.width) > 0
                for lake in water.lakes
            )
        case "high_water":
            goal["min_voxels"] = max(1, sum(water.levels[numbers["min_z"] :]) - slack)
        case "hidden_water":
            goal["min_voxels"] = max(1, water.voxels - slack)
        case "deep_water":
            goal["min_depth"] = water.depth
        case "large_lakes" | "hidden_lakes":
            if len(sizes) < numbers["lakes"]:
                return None
            goal["min_voxels"] = max(1, sizes[numbers["lakes"] - 1] - slack)
        case "exact_volume":
            goal["voxels"] = water.voxels
    return None if 0 in goal.values() else goal


def _draft_goal(
    rng: Stream, kind: str, rain: Sequence[Sequence[int]], side: int, lakes: int
) -> tuple[dict[str, Any], list[Structure]]:
    """Draw the numbers of a goal that are not measured, and parts that should meet it."""
    top = LAYERS - 1

    def sides(least: int = 2) -> tuple[int, int]:
        return rng.between(least, side), rng.between(least, side)

    def pit() -> Structure:
        return plans.basin(LAYERS, *sides(), rng.between(1, top), top)

    match kind:
        case "lake_surface":
            return {}, [plans.basin(LAYERS, *sides(), top, top)]
        case "wide_lakes":
            size = rng.between(2, 3)
            return {"side": size}, [
                plans.basin(LAYERS, *sides(size), top, top) for _ in range(lakes)
            ]
        case "high_water":
            z = rng.between(LAYERS + 1, HEIGHT - 1)
            return {"min_z": z}, [plans.basin(LAYERS, *sides(), z, HEIGHT - 1)]
        case "hidden_water":
            return {}, [plans.roofed(LAYERS, 1, *sides())]
        case "lakes_on_levels":
            levels = rng.between(2, lakes)
            heights = [top + min(i, levels - 1) for i in range(lakes)]
            parts = [plans.basin(LAYERS, *sides(), z, z) for z in heights]
            return {"lakes": lakes, "levels": levels}, parts
        case "deep_water":
            return {}, [
                plans.well(LAYERS, rng.choice(rain), rng.between(LAYERS, HEIGHT - 1))
            ]
        case "large_lakes":
            return {"lakes": lakes}, [pit() for _ in range(lakes)]
        case "ring_lake":
            island = rng.between(2, max(3, side - 1))
            return {"dry_side": island}, [plans.moat(LAYERS, island, rng.between(1, 2))]
        case "water_levels":
            heights = sorted(rng.sample(range(top, HEIGHT), 4))
            wet = sorted(rng.sample(heights, 2))
            dry = tuple(z for z in heights if z not in wet)
            parts = [plans.basin(LAYERS, *sides(), z, z) for z in wet]
            return {"water_at": tuple(wet), "dry_at": dry}, parts
        case "exact_volume":
            return {}, [pit(), pit()]
        case "hidden_lakes":
            return {"lakes": lakes}, [plans.roofed(LAYERS, lakes, *sides())]
    raise AssertionError(kind)


def _box(box: Zone) -> str:
    return ", ".join(
        f"{axis} = {a} to {b}"
        for axis, a, b in zip("xyz", box.low, box.high, strict=True)
    )


def _goal_words(goal: Goal) -> dict[str, str]:
    """Return what is asked for and how it is scored, and without definitions and score."""
    numbers = goal.model_dump()
    if isinstance(goal, goals.WideLakes):
        numbers["area"] = goal.side**2
    elif isinstance(goal, goals.WaterLevels):
        dry = _level_list(goal.dry_at, "or") if goal.dry_at else ""
        numbers |= {
            "wet": _level_list(goal.water_at, "and"),
            "count": len(goal.water_at),
            "and_none": f", and none at all at {dry}" if dry else "",
            "but_none": f", but none at {dry}" if dry else "",
            "void": f"0 if there is any water at {dry}; otherwise " if dry else "",
        }
    texts = data_file(__package__, "goals.json")[goal.kind]
    return {
        name: _ONE.sub(r"1 \1\2", text.format(**numbers))
        for name, text in texts.items()
    }


def _level_list(levels: tuple[int, ...], word: str) -> str:
    *earlier, last = [f"z = {z}" for z in levels]
    return f"{', '.join(earlier)} {word} {last}" if earlier else last
