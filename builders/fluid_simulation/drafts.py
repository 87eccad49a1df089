"""Drafts of goals: parts to build in a fresh world, and thresholds derived from the result."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from scbench.base.seeding import Stream
from scbench.builders.fluid_simulation.structures import (
    Box,
    Structure,
    as_answer,
    basin,
    moat,
    roofed_pits,
    shaft,
)
from scbench.graders.fluid_simulation.earthworks import carry_out, settle
from scbench.graders.fluid_simulation.lakes import squares, survey
from scbench.graders.fluid_simulation.rainfall import rain_on
from scbench.schemas.fluid_simulation import Params

# Number of levels in a fresh world, and how many of them are rock.
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
GOAL_KINDS: tuple[GoalKind, ...] = get_args(GoalKind)


class Draft(NamedTuple):
    """The fields of a goal that are not measured, and parts that should meet it."""

    numbers: dict[str, Any]
    parts: list[Structure]


def draft_goal(
    kind: GoalKind,
    rain: Sequence[Sequence[int]],
    side: int,
    lakes: int,
    rng: Stream,
    *,
    dry_ground: bool = False,
) -> Draft:
    """Draw a draft.

    Args:
        kind: the kind of goal.
        rain: the columns that get rain in every round.
        side: the largest side of a lake.
        lakes: number of lakes, for goals that ask for several.
        rng: the source of the draws.
        dry_ground: whether the highest level of rock is one of the dry levels.
    """
    top = LAYERS - 1

    def sides(least: int = 2) -> tuple[int, int]:
        """Draw the sides of a lake."""
        return rng.between(least, side), rng.between(least, side)

    def pit() -> Structure:
        """Draw the sides and the depth of a pit."""
        return basin(LAYERS, *sides(), rng.between(1, top), top)

    numbers: dict[str, Any] = {"kind": kind}
    match kind:
        case "lake_surface":
            parts = [basin(LAYERS, *sides(), top, top)]
        case "wide_lakes":
            numbers["side"] = rng.between(2, 3)
            parts = [
                basin(LAYERS, *sides(numbers["side"]), top, top) for _ in range(lakes)
            ]
        case "high_water":
            numbers["min_z"] = rng.between(LAYERS + 1, HEIGHT - 1)
            parts = [basin(LAYERS, *sides(), numbers["min_z"], HEIGHT - 1)]
        case "hidden_water":
            parts = [roofed_pits(LAYERS, 1, *sides())]
        case "lakes_on_levels":
            levels = rng.between(2, lakes)
            numbers |= {"lakes": lakes, "levels": levels}
            # Lakes beyond the number of levels share the highest level.
            heights = [top + min(i, levels - 1) for i in range(lakes)]
            parts = [basin(LAYERS, *sides(), z, z) for z in heights]
        case "deep_water":
            column = rng.choice(rain)
            parts = [shaft(LAYERS, column, rng.between(LAYERS, HEIGHT - 1))]
        case "large_lakes":
            numbers["lakes"] = lakes
            parts = [pit() for _ in range(lakes)]
        case "ring_lake":
            numbers["dry_side"] = rng.between(2, max(3, side - 1))
            parts = [moat(LAYERS, numbers["dry_side"], rng.between(1, 2))]
        case "water_levels":
            # Two levels must be wet, and two dry.
            if dry_ground:
                heights = [top, *sorted(rng.sample(range(LAYERS, HEIGHT), 3))]
                wet = sorted(rng.sample(heights[1:], 2))
            else:
                heights = sorted(rng.sample(range(top, HEIGHT), 4))
                wet = sorted(rng.sample(heights, 2))
            numbers["water_at"] = tuple(wet)
            numbers["dry_at"] = tuple(z for z in heights if z not in wet)
            parts = [basin(LAYERS, *sides(), z, z) for z in wet]
        case "exact_volume":
            parts = [pit(), pit()]
        case "hidden_lakes":
            numbers["lakes"] = lakes
            parts = [roofed_pits(LAYERS, lakes, *sides())]
    return Draft(numbers, parts)


def measured_goal(
    world: Params, plan: Sequence[Box], numbers: dict[str, Any], slack: int
) -> dict[str, Any] | None:
    """Return a goal that a plan meets with at most this margin; None if there is none."""
    rock, _ = carry_out(world, as_answer(plan).earthworks)
    rock, _ = settle(rock)
    water = survey(rock, rain_on(rock, world.rain).water)
    goal = dict(numbers)
    match goal["kind"]:
        case "lake_surface":
            surface = max((lake.surface for lake in water.lakes), default=0)
            goal["min_columns"] = max(1, surface - slack)
        case "wide_lakes":
            goal["lakes"] = sum(
                squares(lake.columns, goal["side"], water.width) > 0
                for lake in water.lakes
            )
        case "high_water":
            goal["min_voxels"] = max(1, sum(water.levels[goal["min_z"] :]) - slack)
        case "hidden_water":
            goal["min_voxels"] = max(1, water.voxels - slack)
        case "deep_water":
            goal["min_depth"] = water.depth
        case "large_lakes" | "hidden_lakes":
            sizes = sorted((lake.voxels for lake in water.lakes), reverse=True)
            if len(sizes) < goal["lakes"]:
                return None
            goal["min_voxels"] = max(1, sizes[goal["lakes"] - 1] - slack)
        case "exact_volume":
            goal["voxels"] = water.voxels
    # Doing nothing would meet a goal of zero.
    return None if 0 in goal.values() else goal
