"""Measures of the remaining water in a voxel world, and the share of each goal that it reaches.

Every score is a quotient of two integers, at most 1.
"""

from collections.abc import Mapping
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
    Goal,
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

# Kinds of goal that allow no visible water.
HIDDEN = frozenset({"hidden_water", "hidden_lakes"})
# Message about the progress towards each kind of goal.
_SENTENCES = {
    "lake_surface": "The widest lake covers {part} of the {target} columns required.",
    "wide_lakes": (
        "Lakes with a block of {goal.side} x {goal.side} columns: {part} of {target} required; "
        "lakes in total: {count}."
    ),
    "high_water": "Voxels of water at z = {goal.min_z} or above: {part} of {target} required.",
    "hidden_water": "Voxels of water: {part} of {target} required.",
    "lakes_on_levels": "Lakes: {count} of {goal.lakes} required; different levels of lakes: "
    "{levels} of {goal.levels} required.",
    "deep_water": "The deepest water has {part} of the {target} voxels required.",
    "large_lakes": (
        "Lakes of at least {goal.min_voxels} voxels: {part} of {target} required; lakes in total: "
        "{count}."
    ),
    "hidden_lakes": (
        "Lakes of at least {goal.min_voxels} voxels: {part} of {target} required; lakes in total: "
        "{count}."
    ),
    "ring_lake": "No lake encloses a dry block of {goal.dry_side} x {goal.dry_side} columns.",
    "water_levels": "There is no water at z = {missing}.",
    "exact_volume": "Voxels of water: {water.voxels}; required: exactly {target}.",
}


class Lake(NamedTuple):
    """A body of water: cells connected by faces."""

    voxels: int
    columns: int
    """Its columns as bits, numbered x * width + y."""
    levels: tuple[int, ...]
    """Number of cells on each level, starting at z = 0."""
    visible: bool
    """Whether any of its cells has no rock above it, not counting the top layer."""

    @property
    def surface(self) -> int:
        """Number of columns."""
        return self.columns.bit_count()

    @property
    def main_level(self) -> int:
        """The level with most of its cells; the lowest of them in a tie."""
        return self.levels.index(max(self.levels))


class Water(NamedTuple):
    """All water of a world."""

    width: int
    lakes: tuple[Lake, ...]
    """In the order of their first cells, x outermost and z innermost."""
    levels: tuple[int, ...]
    """Number of cells on each level, starting at z = 0."""
    visible_columns: tuple[tuple[int, int], ...]
    """Columns with water that has no rock above it, not counting the top layer."""
    depth: int
    """Maximum number of cells of water directly above each other."""
    deepest: tuple[int, int] | None
    """The first column with that many."""
    roofed: int
    """Number of columns with rock above air or water."""

    @property
    def voxels(self) -> int:
        """Number of cells of water."""
        return sum(self.levels)


class Reached(NamedTuple):
    """The progress of the water towards a goal."""

    part: int
    """How much of `target` is reached."""
    target: int
    sentence: str
    """The distance from the goal in a sentence."""
    details: Mapping[str, Any]

    @property
    def score(self) -> float:
        """The share that is reached, at most 1."""
        return min(self.part, self.target) / self.target


def survey(rock: Cells, water: Cells) -> Water:
    """Measure the water of a world; both arrays are boolean, [x, y, z], equally wide in x and y."""
    width = rock.shape[0]
    # Drops start in the top layer, so rock there neither blocks nor hides anything.
    below_top = np.arange(rock.shape[2]) < rock.shape[2] - 1
    open_water = water & ~_with_cells_below(rock & below_top)
    space = padded(water)
    lakes = []
    for part in parts(pack(space), padded_strides(water.shape)):
        cells = unpack(part, space.shape)[:, :-1, :-1]
        levels = _level_counts(cells)
        visible = bool((cells & open_water).any())
        lakes.append(Lake(sum(levels), pack(np.any(cells, axis=2)), levels, visible))
    # Length of the run of water that ends at each level, and the longest so far.
    run = np.zeros((width, width), int)
    longest = run
    for z in range(water.shape[2]):
        run = (run + 1) * water[:, :, z]
        longest = np.maximum(longest, run)
    depth = int(longest.max())
    deepest = divmod(int(longest.argmax()), width) if depth else None
    open_columns = np.argwhere(open_water.any(axis=2))
    roofed = (_with_cells_below(rock) & ~rock).any(axis=2)
    return Water(
        width=width,
        lakes=tuple(lakes),
        levels=_level_counts(water),
        visible_columns=tuple((int(x), int(y)) for x, y in open_columns),
        depth=depth,
        deepest=deepest,
        roofed=int(roofed.sum()),
    )


def _with_cells_below(rock: Cells) -> Cells:
    """Return rock and everything below it."""
    return np.flip(np.logical_or.accumulate(np.flip(rock, 2), axis=2), 2)


def _level_counts(cells: Cells) -> tuple[int, ...]:
    return tuple(int(count) for count in cells.sum(axis=(0, 1)))


def goal_progress(goal: Goal, water: Water) -> Reached:
    """Return the progress of the water towards a goal."""
    details: dict[str, Any] = {}
    lakes = water.lakes
    levels: list[int] = []
    missing: list[int] = []
    match goal:
        case LakeSurface(min_columns=target):
            columns = [lake.surface for lake in lakes]
            part = max(columns, default=0)
            details["lake"] = columns.index(part) if columns else None
        case WideLakes(lakes=target, side=side):
            wide = [bool(squares(lake.columns, side, water.width)) for lake in lakes]
            part = sum(wide)
            details["lakes"] = np.flatnonzero(wide).tolist()
        case HighWater(min_voxels=target):
            part = sum(water.levels[goal.min_z :])
        case HiddenWater(min_voxels=target):
            part = water.voxels
        case LakesOnLevels():
            levels = sorted({lake.main_level for lake in lakes})
            details["levels"] = levels
            # The goal has both numbers; the number of lakes comes first.
            if len(lakes) < goal.lakes:
                part = len(lakes)
                target = goal.lakes
            else:
                part = len(levels)
                target = goal.levels
        case DeepWater(min_depth=target):
            part = water.depth
            details["column"] = list(water.deepest) if water.deepest else None
        case LargeLakes(lakes=target) | HiddenLakes(lakes=target):
            large = [lake.voxels >= goal.min_voxels for lake in lakes]
            part = sum(large)
            details["lakes"] = np.flatnonzero(large).tolist()
        case RingLake():
            island = dry_island(water, goal.dry_side)
            part = int(island is not None)
            target = 1
            if island:
                details["lake"] = island[0]
                details["low_corner"] = list(island[1:])
        case WaterLevels(water_at=wet_levels):
            missing = [z for z in wet_levels if not water.levels[z]]
            details["missing"] = missing
            part = len(wet_levels) - len(missing)
            target = len(wet_levels)
        case ExactVolume(voxels=target):
            part = max(0, target - abs(water.voxels - target))
    sentence = _SENTENCES[goal.kind].format(
        part=part,
        target=target,
        goal=goal,
        water=water,
        count=len(lakes),
        levels=len(levels),
        missing=", ".join(map(str, missing)),
    )
    return Reached(part, target, sentence, details)


def squares(columns: int, side: int, width: int) -> int:
    """Return the low corners of all squares with this side length in a set of columns.

    The set has no columns at the sides of the world, so that no square wraps.
    """
    for stride in (1, width):
        run = columns
        for i in range(1, side):
            run &= columns >> i * stride
        columns = run
    return columns


def dry_island(water: Water, side: int) -> tuple[int, int, int] | None:
    """Find a lake around a dry square; return its position and the square's low corner.

    A lake encloses the regions of other columns (connected along x and y) that do not
    reach the sides of the world. One of them must contain a square of columns without
    any water.
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
        # Wrapping joins only columns at the sides.
        enclosed = dry & ~flood(sides, dry, (width, 1))
        corners = squares(enclosed & ~wet, side, width)
        if corners:
            lowest = positions(corners & -corners)[0]
            return (i, *divmod(lowest, width))
    return None
