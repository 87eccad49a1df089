"""Fresh worlds for fluid_simulation, and goals read off the water that something built there holds.

What is built is drawn first; the thresholds come from the simulation of it.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from scbench.base.seeding import Stream
from scbench.builders.fluid_simulation.plans import (
    Box,
    Structure,
    as_answer,
    assemble,
    basin,
    moat,
    roofed,
    undo_ground,
    well,
)
from scbench.graders.fluid_simulation import grade
from scbench.graders.fluid_simulation.earthworks import carry_out, settle
from scbench.graders.fluid_simulation.lakes import Water, squares, survey
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.schemas.fluid_simulation import GroundBox, Params, Zone

HEIGHT = 8
LAYERS = 3


def draw_ground(
    rng: Stream, *, width: int, hills: int, holes: int, zones: int, rain_columns: int, centred: bool
) -> Params:
    """Draw a world; its goal is a stand-in."""

    def rectangle(most: int) -> tuple[int, int, int, int]:
        w, d = rng.between(2, most), rng.between(2, most)
        x, y = rng.between(1, width - 1 - w), rng.between(1, width - 1 - d)
        return x, y, x + w - 1, y + d - 1

    most = max(3, width // 8)
    ground = []
    for _ in range(hills):
        x, y, u, v = rectangle(most)
        high = rng.between(LAYERS, LAYERS + 2)
        ground.append(GroundBox(low=(x, y, LAYERS), high=(u, v, high), material="Rock"))
    for _ in range(holes):
        x, y, u, v = rectangle(most)
        # Open to the sky, so that no hill is left hanging.
        low = rng.between(1, LAYERS - 1)
        ground.append(GroundBox(low=(x, y, low), high=(u, v, HEIGHT - 1), material="Air"))
    protected = []
    for _ in range(zones):
        x, y, u, v = rectangle(max(3, width // 5))
        protected.append(Zone(low=(x, y, 0), high=(u, v, HEIGHT - 1)))
    if centred:
        c = width // 2
        block = [(c + i % 2, c + i // 2) for i in range(8)]
        rain = tuple(block[:rain_columns])
    else:
        inner = width - 8
        spots = rng.sample(range(inner * inner), rain_columns)
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


def draw_goal(
    rng: Stream, world: Params, kind: str, *, side: int, lakes: int, slack: int
) -> Params | None:
    """Build something at a drawn place and return the world with a goal that it meets, if it does.

    Args:
        rng: source of randomness.
        world: what `draw_ground` gave.
        kind: one of `GOAL_KINDS`.
        side: largest side of a lake.
        lakes: how many lakes, for goals that ask for several.
        slack: most that a threshold lies below what was measured.
    """
    numbers, parts = _draft(rng, kind, world.rain, side, lakes)
    target = (rng.below(2 * world.width), rng.below(2 * world.width))
    plan = assemble(world, parts, target, smooth=True)
    if plan is None:
        return None
    if kind in {"hidden_water", "hidden_lakes", "water_levels"}:
        plan = [*undo_ground(world, holes_only=True), *plan]
    water = _water(world, plan)
    goal = _read(kind, numbers, water, rng.below(slack + 1))
    if goal is None:
        return None
    params = Params.model_validate({**world.model_dump(), "goal": goal})
    return params if grade(params, as_answer(plan)).score == 1 else None


def _water(world: Params, plan: Sequence[Box]) -> Water:
    rock, _ = carry_out(world, as_answer(plan).earthworks)
    rock, _ = settle(rock)
    return survey(rock, rain_on(rock, world.rain).water)


def _read(kind: str, numbers: dict[str, Any], water: Water, slack: int) -> dict[str, Any] | None:
    """Return the goal that this water meets with at most so much to spare."""
    goal = {"kind": kind, **numbers}
    sizes = sorted((lake.voxels for lake in water.lakes), reverse=True)
    match kind:
        case "lake_surface":
            figure = max((lake.surface for lake in water.lakes), default=0)
            goal["min_columns"] = max(1, figure - slack)
        case "wide_lakes":
            goal["lakes"] = sum(
                squares(lake.columns, numbers["side"], water.width) > 0 for lake in water.lakes
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


def _draft(
    rng: Stream, kind: str, rain: Sequence[Sequence[int]], side: int, lakes: int
) -> tuple[dict[str, Any], list[Structure]]:
    """Draw the numbers of a goal that are not measured, and parts that should meet it."""
    top = LAYERS - 1

    def sides(least: int = 2) -> tuple[int, int]:
        return rng.between(least, side), rng.between(least, side)

    def pit() -> Structure:
        return basin(LAYERS, *sides(), rng.between(1, top), top)

    match kind:
        case "lake_surface":
            return {}, [basin(LAYERS, *sides(), top, top)]
        case "wide_lakes":
            size = rng.between(2, 3)
            return {"side": size}, [basin(LAYERS, *sides(size), top, top) for _ in range(lakes)]
        case "high_water":
            z = rng.between(LAYERS + 1, HEIGHT - 1)
            return {"min_z": z}, [basin(LAYERS, *sides(), z, HEIGHT - 1)]
        case "hidden_water":
            return {}, [roofed(LAYERS, 1, *sides())]
        case "lakes_on_levels":
            levels = rng.between(2, lakes)
            heights = [top + min(i, levels - 1) for i in range(lakes)]
            parts = [basin(LAYERS, *sides(), z, z) for z in heights]
            return {"lakes": lakes, "levels": levels}, parts
        case "deep_water":
            return {}, [well(LAYERS, rng.choice(rain), rng.between(LAYERS, HEIGHT - 1))]
        case "large_lakes":
            return {"lakes": lakes}, [pit() for _ in range(lakes)]
        case "ring_lake":
            island = rng.between(2, max(3, side - 1))
            return {"dry_side": island}, [moat(LAYERS, island, rng.between(1, 2))]
        case "water_levels":
            heights = sorted(rng.sample(range(top, HEIGHT), 4))
            wet = sorted(rng.sample(heights, 2))
            dry = tuple(z for z in heights if z not in wet)
            parts = [basin(LAYERS, *sides(), z, z) for z in wet]
            return {"water_at": tuple(wet), "dry_at": dry}, parts
        case "exact_volume":
            return {}, [pit(), pit()]
        case "hidden_lakes":
            return {"lakes": lakes}, [roofed(LAYERS, lakes, *sides())]
    raise AssertionError(kind)


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
GOAL_KINDS: tuple[GoalKind, ...] = get_args(GoalKind)
"""All kinds of goal."""
