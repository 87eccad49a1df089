"""The eleven goals of fluid_simulation and how far water reaches them.

Every score is a whole number over a whole number, at most 1.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scbench.graders.fluid_simulation.lakes import Water, dry_island, squares
from scbench.schemas.fluid_simulation import (
    DeepWater,
    ExactVolume,
    HiddenLakes,
    HiddenWater,
    HighWater,
    LakesOnLevels,
    LakeSurface,
    LargeLakes,
    RingLake,
    WaterLevels,
    WideLakes,
)


class Reached(NamedTuple):
    """How far the water is from a goal."""

    part: int
    """What is reached, of `target`."""
    target: int
    says: str
    """What there is and what is asked for, in a sentence."""
    details: Mapping[str, Any]

    @property
    def score(self) -> float:
        """The share that is reached, at most 1."""
        return min(self.part, self.target) / self.target


def _lake_surface(goal: LakeSurface, water: Water) -> Reached:
    columns = [lake.surface for lake in water.lakes]
    widest = max(columns, default=0)
    return Reached(
        widest,
        goal.min_columns,
        f"The widest lake has {widest} columns; {goal.min_columns} are asked for.",
        {"lake": columns.index(widest) if columns else None},
    )


def _wide_lakes(goal: WideLakes, water: Water) -> Reached:
    matches = [
        i for i, lake in enumerate(water.lakes) if squares(lake.columns, goal.side, water.width)
    ]
    return Reached(
        len(matches),
        goal.lakes,
        f"{len(matches)} of {len(water.lakes)} lakes have a {goal.side} by {goal.side} block of "
        f"columns; {goal.lakes} are asked for.",
        {"lakes": matches},
    )


def _high_water(goal: HighWater, water: Water) -> Reached:
    high = sum(water.levels[goal.min_z :])
    return Reached(
        high,
        goal.min_voxels,
        f"{high} voxels of water are at z = {goal.min_z} or above; {goal.min_voxels} are asked "
        "for.",
        {},
    )


def _hidden_water(goal: HiddenWater, water: Water) -> Reached:
    return Reached(
        water.voxels,
        goal.min_voxels,
        f"There are {water.voxels} voxels of water; {goal.min_voxels} under rock are asked for.",
        {},
    )


def _lakes_on_levels(goal: LakesOnLevels, water: Water) -> Reached:
    levels = sorted({lake.main_level for lake in water.lakes})
    says = (
        f"{len(water.lakes)} lakes have their main parts on {len(levels)} levels; {goal.lakes} "
        f"lakes on {goal.levels} levels are asked for."
    )
    if len(water.lakes) < goal.lakes:
        return Reached(len(water.lakes), goal.lakes, says, {"levels": levels})
    return Reached(len(levels), goal.levels, says, {"levels": levels})


def _deep_water(goal: DeepWater, water: Water) -> Reached:
    return Reached(
        water.depth,
        goal.min_depth,
        f"The deepest water is {water.depth} voxels deep; {goal.min_depth} are asked for.",
        {"column": list(water.deepest) if water.deepest else None},
    )


def _large(lakes: int, voxels: int, water: Water) -> Reached:
    large = [i for i, lake in enumerate(water.lakes) if lake.voxels >= voxels]
    return Reached(
        len(large),
        lakes,
        f"{len(large)} of {len(water.lakes)} lakes have {voxels} voxels or more; {lakes} are asked "
        "for.",
        {"lakes": large},
    )


def _large_lakes(goal: LargeLakes, water: Water) -> Reached:
    return _large(goal.lakes, goal.min_voxels, water)


def _hidden_lakes(goal: HiddenLakes, water: Water) -> Reached:
    return _large(goal.lakes, goal.min_voxels, water)


def _ring_lake(goal: RingLake, water: Water) -> Reached:
    island = dry_island(water, goal.dry_side)
    return Reached(
        island is not None,
        1,
        f"No lake closes round a dry block of {goal.dry_side} by {goal.dry_side} columns.",
        {"lake": island[0], "low_corner": list(island[1:])} if island else {},
    )


def _water_levels(goal: WaterLevels, water: Water) -> Reached:
    missing = [z for z in goal.water_at if not water.levels[z]]
    return Reached(
        len(goal.water_at) - len(missing),
        len(goal.water_at),
        f"There is no water at z = {', '.join(map(str, missing))}.",
        {"missing": missing},
    )


def _exact_volume(goal: ExactVolume, water: Water) -> Reached:
    off = abs(water.voxels - goal.voxels)
    return Reached(
        max(0, goal.voxels - off),
        goal.voxels,
        f"There are {water.voxels} voxels of water; exactly {goal.voxels} are asked for.",
        {},
    )


_GOALS: Mapping[str, Callable[[Any, Water], Reached]] = {
    "lake_surface": _lake_surface,
    "wide_lakes": _wide_lakes,
    "high_water": _high_water,
    "hidden_water": _hidden_water,
    "lakes_on_levels": _lakes_on_levels,
    "deep_water": _deep_water,
    "large_lakes": _large_lakes,
    "ring_lake": _ring_lake,
    "water_levels": _water_levels,
    "exact_volume": _exact_volume,
    "hidden_lakes": _hidden_lakes,
}

HIDDEN = frozenset({"hidden_water", "hidden_lakes"})
"""Kinds of goal that allow no visible water."""


def reached(goal: Any, water: Water) -> Reached:  # noqa: ANN401
    """Return how far the water is from a goal of `scbench.schemas.fluid_simulation.Goal`."""
    return _GOALS[goal.kind](goal, water)
