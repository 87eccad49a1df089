"""What the standing water of a voxel world is like, and how far it reaches each of eleven goals.

Every score is a whole number over a whole number, at most 1.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    flood,
    pack,
    padded,
    padded_strides,
    parts,
    positions,
    unpack,
)
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


class Lake(NamedTuple):
    """A body of water: cells connected face to face."""

    voxels: int
    columns: int
    """Its columns as bits, numbered x * width + y."""
    levels: tuple[int, ...]
    """Cells on each level from z = 0."""
    visible: bool
    """Whether some cell of it has no rock above."""

    @property
    def surface(self) -> int:
        """Number of columns."""
        return self.columns.bit_count()

    @property
    def main_level(self) -> int:
        """The level with most of its cells, the lowest of equals."""
        return self.levels.index(max(self.levels))


class Water(NamedTuple):
    """All water of a world."""

    width: int
    lakes: tuple[Lake, ...]
    """In the order of their first cells, x outermost and z innermost."""
    levels: tuple[int, ...]
    """Cells on each level from z = 0."""
    visible_columns: tuple[tuple[int, int], ...]
    """Columns with water that has no rock above."""
    depth: int
    """Most cells of water directly above each other."""
    deepest: tuple[int, int] | None
    """The first column with that many."""

    @property
    def voxels(self) -> int:
        """Number of cells of water."""
        return sum(self.levels)


def survey(rock: Cells, water: Cells) -> Water:
    """Measure the water of a world; both arrays are boolean, [x, y, z], equally wide along x, y."""
    width = rock.shape[0]
    roofed = np.flip(np.logical_or.accumulate(np.flip(rock, 2), axis=2), 2)
    open_water = water & ~roofed
    space = padded(water)
    lakes = []
    for part in parts(pack(space), padded_strides(water.shape)):
        cells = unpack(part, space.shape)[:, :-1, :-1]
        levels = _level_counts(cells)
        visible = bool((cells & open_water).any())
        lakes.append(Lake(sum(levels), pack(np.any(cells, axis=2)), levels, visible))
    run = np.zeros((width, width), int)
    longest = run
    for z in range(water.shape[2]):
        run = (run + 1) * water[:, :, z]
        longest = np.maximum(longest, run)
    depth = int(longest.max())
    return Water(
        width,
        tuple(lakes),
        _level_counts(water),
        tuple((int(x), int(y)) for x, y in np.argwhere(open_water.any(axis=2))),
        depth,
        (int(longest.argmax()) // width, int(longest.argmax()) % width) if depth else None,
    )


def _level_counts(cells: Cells) -> tuple[int, ...]:
    return tuple(int(count) for count in cells.sum(axis=(0, 1)))


def squares(columns: int, side: int, width: int) -> int:
    """Return the columns at the low corners of all squares of this side inside a set of columns.

    The set has none at the sides of the world, so that no square wraps.
    """
    for stride in (1, width):
        run = columns
        for i in range(1, side):
            run &= columns >> i * stride
        columns = run
    return columns


def dry_island(water: Water, side: int) -> tuple[int, int, int] | None:
    """Find a lake that closes round a dry square: its position, and that square's low corner.

    A lake's columns close round the regions of other columns, connected along x and y, that do not
    reach the sides of the world. One of them must hold a square of columns without any water.
    """
    width = water.width
    world = (1 << width * width) - 1
    inner = np.zeros((width, width), bool)
    inner[1:-1, 1:-1] = True
    sides = world ^ pack(inner)
    wet = 0
    for lake in water.lakes:
        wet |= lake.columns
    for i, lake in enumerate(water.lakes):
        dry = world & ~lake.columns
        enclosed = dry & ~flood(sides, dry, (width, 1))  # wrapping joins only columns of the sides
        corners = squares(enclosed & ~wet, side, width)
        if corners:
            return (i, *divmod(positions(corners & -corners)[0], width))
    return None


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
    says = f"The widest lake has {widest} columns; {goal.min_columns} are asked for."
    lake = columns.index(widest) if columns else None
    return Reached(widest, goal.min_columns, says, {"lake": lake})


def _wide_lakes(goal: WideLakes, water: Water) -> Reached:
    side = goal.side
    matches = [i for i, lake in enumerate(water.lakes) if squares(lake.columns, side, water.width)]
    says = (
        f"{len(matches)} of {len(water.lakes)} lakes have a {side} by {side} block of columns; "
        f"{goal.lakes} are asked for."
    )
    return Reached(len(matches), goal.lakes, says, {"lakes": matches})


def _high_water(goal: HighWater, water: Water) -> Reached:
    high = sum(water.levels[goal.min_z :])
    says = (
        f"{high} voxels of water are at z = {goal.min_z} or above; {goal.min_voxels} are asked for."
    )
    return Reached(high, goal.min_voxels, says, {})


def _hidden_water(goal: HiddenWater, water: Water) -> Reached:
    says = f"There are {water.voxels} voxels of water; {goal.min_voxels} under rock are asked for."
    return Reached(water.voxels, goal.min_voxels, says, {})


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
    says = f"The deepest water is {water.depth} voxels deep; {goal.min_depth} are asked for."
    column = list(water.deepest) if water.deepest else None
    return Reached(water.depth, goal.min_depth, says, {"column": column})


def _large_lakes(goal: LargeLakes | HiddenLakes, water: Water) -> Reached:
    large = [i for i, lake in enumerate(water.lakes) if lake.voxels >= goal.min_voxels]
    says = (
        f"{len(large)} of {len(water.lakes)} lakes have {goal.min_voxels} voxels or more; "
        f"{goal.lakes} are asked for."
    )
    return Reached(len(large), goal.lakes, says, {"lakes": large})


def _ring_lake(goal: RingLake, water: Water) -> Reached:
    island = dry_island(water, goal.dry_side)
    says = f"No lake closes round a dry block of {goal.dry_side} by {goal.dry_side} columns."
    details = {"lake": island[0], "low_corner": list(island[1:])} if island else {}
    return Reached(island is not None, 1, says, details)


def _water_levels(goal: WaterLevels, water: Water) -> Reached:
    missing = [z for z in goal.water_at if not water.levels[z]]
    count = len(goal.water_at)
    says = f"There is no water at z = {', '.join(map(str, missing))}."
    return Reached(count - len(missing), count, says, {"missing": missing})


def _exact_volume(goal: ExactVolume, water: Water) -> Reached:
    off = abs(water.voxels - goal.voxels)
    says = f"There are {water.voxels} voxels of water; exactly {goal.voxels} are asked for."
    return Reached(max(0, goal.voxels - off), goal.voxels, says, {})


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
    "hidden_lakes": _large_lakes,
}

HIDDEN = frozenset({"hidden_water", "hidden_lakes"})
"""Kinds of goal that allow no visible water."""


def reached(goal: Any, water: Water) -> Reached:  # noqa: ANN401
    """Return how far the water is from a goal of `scbench.schemas.fluid_simulation.Goal`."""
    return _GOALS[goal.kind](goal, water)
