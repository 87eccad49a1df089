"""Plans of earthworks: choices of parts and of places for them.

The grader's simulation decides whether a plan works.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from scbench.builders.fluid_simulation.structures import (
    Box,
    Structure,
    as_answer,
    basin,
    moat,
    near_square,
    reservoir,
    roofed_pits,
    shaft,
)
from scbench.graders.fluid_simulation import grade
from scbench.schemas.fluid_simulation import (
    DeepWater,
    ExactVolume,
    HiddenLakes,
    HiddenWater,
    HighWater,
    LakesOnLevels,
    LakeSurface,
    LargeLakes,
    Params,
    RingLake,
    WaterLevels,
    WideLakes,
    Zone,
)

# Maximum number of simulations in one search for a plan.
_TRIES = 30
# Goals that water elsewhere can spoil.
_SENSITIVE = (
    HiddenWater,
    HiddenLakes,
    WaterLevels,
    ExactVolume,
)


def solve(params: Params) -> list[Box] | None:
    """Return the first plan that meets the goal in full, or None after thirty simulations."""
    for plan in islice(plans_for(params), _TRIES):
        if grade(params, as_answer(plan)).score == 1:
            return plan
    return None


def plans_for(params: Params) -> Iterator[list[Box]]:
    """Yield plans with parts that should meet the goal, those with the fewest boxes first."""
    choices = list(parts_for(params))
    preparations: list[list[Box]] = [[]]
    # Holes in the ground also hold water.
    if isinstance(params.goal, _SENSITIVE):
        preparations = [undo_ground(params, holes_only=True)]
    ways = [True]
    if params.ground:
        preparations.append(undo_ground(params, holes_only=False))
        ways.append(False)
    for preparation in preparations:
        for smooth in ways:
            for parts in choices:
                for target in targets(params):
                    plan = assemble(params, parts, target, smooth=smooth)
                    if plan is not None:
                        yield [*preparation, *plan]


def parts_for(params: Params) -> Iterator[list[Structure]]:
    """Yield choices of parts that should meet the goal."""
    ground = params.rock_layers
    top = ground - 1
    match params.goal:
        case LakeSurface(min_columns=n):
            yield [basin(ground, *near_square(n), top, top)]
        case WideLakes(lakes=n, side=side):
            yield [basin(ground, side, side, top, top)] * n
        case HighWater(min_z=z, min_voxels=n):
            yield [basin(ground, *near_square(n), z, params.height - 1)]
            yield [basin(ground, *near_square(n), z, z)]
        case HiddenWater(min_voxels=n):
            yield [roofed_pits(ground, 1, *near_square(n))]
        case LakesOnLevels(lakes=n, levels=k):
            heights = [top + min(i, k - 1) for i in range(n)]
            yield [basin(ground, 4, 4, z, z) for z in heights]
        case DeepWater(min_depth=n):
            for column in params.rain:
                yield [shaft(ground, column, n)]
        case LargeLakes(lakes=n, min_voxels=size):
            yield [basin(ground, *near_square(-(-size // 2)), top - 1, top)] * n
        case RingLake(dry_side=side):
            yield [moat(ground, side, 2)]
            yield [moat(ground, side, 1)]
        case WaterLevels(water_at=levels):
            yield [basin(ground, 4, 4, z, z) for z in levels]
            yield [basin(ground, 1, 1, z, z) for z in levels]
        case ExactVolume(voxels=n):
            yield [reservoir(ground, n, 1 if n <= 100 else 2)]
        case HiddenLakes(lakes=n, min_voxels=size):
            yield [roofed_pits(ground, n, *near_square(size))]


def short_parts(params: Params) -> Iterator[tuple[str, list[Structure]]]:
    """Yield parts that just fall short of the goal."""
    ground = params.rock_layers
    top = ground - 1
    match params.goal:
        case LakeSurface(min_columns=n) if n > 1:
            yield "one_column_short", [reservoir(ground, n - 1)]
        case WideLakes(lakes=n, side=k):
            yield "one_lake_short", [basin(ground, k, k, top, top)] * (n - 1)
            if k > 1:
                yield "narrow_lakes", [basin(ground, k - 1, k, top, top)] * n
        case HighWater(min_z=z, min_voxels=n):
            yield "one_level_low", [basin(ground, *near_square(n), z - 1, z - 1)]
        case HiddenWater(min_voxels=n):
            yield "visible", [reservoir(ground, n)]
        case LakesOnLevels(lakes=n):
            (parts,) = parts_for(params)
            yield "one_lake_short", parts[1:]
            yield "all_on_one_level", [basin(ground, 2, 2, top, top)] * n
        case DeepWater(min_depth=n) if n > 1:
            yield "one_level_short", [shaft(ground, params.rain[0], n - 1)]
        case LargeLakes(lakes=n, min_voxels=size):
            lake = basin(ground, *near_square(-(-size // 2)), top - 1, top)
            parts = [lake] * (n - 1)
            yield "one_lake_short", parts
            if size > 1:
                yield "one_lake_too_small", [*parts, reservoir(ground, size - 1)]
        case RingLake(dry_side=k) if k > 1:
            yield "narrow_island", [moat(ground, k - 1, 1)]
        case WaterLevels(water_at=wet, dry_at=dry):
            yield "lowest_level_only", [basin(ground, 4, 4, wet[0], wet[0])]
            levels = (*wet, *dry[:1])
            parts = [basin(ground, 4, 4, z, z) for z in levels]
            yield "water_where_none_may_be", parts
        case ExactVolume(voxels=n):
            yield "one_voxel_more", [reservoir(ground, n + 1)]
            if n > 1:
                yield "one_voxel_less", [reservoir(ground, n - 1)]
        case HiddenLakes(lakes=n, min_voxels=size):
            yield "one_lake_of_all", [roofed_pits(ground, 1, *near_square(n * size))]
            yield "visible", [basin(ground, *near_square(size), top, top)] * n


def targets(params: Params) -> list[tuple[int, int]]:
    """Return doubled places to build at: where the rain falls, then the world's quarters."""
    n = len(params.rain)
    rain_x = 2 * sum(x for x, _ in params.rain) // n + 1
    rain_y = 2 * sum(y for _, y in params.rain) // n + 1
    quarters = [params.width // 2, params.width, 3 * params.width // 2]
    return [(rain_x, rain_y), *((x, y) for x in quarters for y in quarters)]


def undo_ground(params: Params, *, holes_only: bool) -> list[Box]:
    """Return boxes that make the ground flat again where no zone is in the way."""
    boxes = []
    for box in params.ground:
        x, y, _ = box.high
        if box.material == "Air":
            flat = Box(box.low, (x, y, params.rock_layers - 1), "Rock")
        elif holes_only:
            continue
        else:
            flat = Box(box.low, box.high, "Air")
        if not any(overlap(flat, zone) for zone in params.protected):
            boxes.append(flat)
    return boxes


def overlap(box: Box, zone: Zone) -> bool:
    """Return whether a box and a zone have a voxel in common."""
    for low, high, zone_low, zone_high in zip(
        box.low, box.high, zone.low, zone.high, strict=True
    ):
        if low > zone_high or zone_low > high:
            return False
    return True


def assemble(
    params: Params, parts: Sequence[Structure], target: Sequence[int], *, smooth: bool
) -> list[Box] | None:
    """Return a plan of parts near a target, or None if there is no room.

    The target is given as twice its x and y. If ``smooth``, the plan builds only on untouched
    ground; otherwise it flattens the ground first.
    """
    corners = place(parts, reserved_columns(params, smooth=smooth), target)
    if corners is None:
        return None
    ground = params.rock_layers
    plan = []
    if not smooth:
        for part, (x, y) in zip(parts, corners, strict=True):
            u = x + part.width - 1
            v = y + part.depth - 1
            plan.append(Box((x, y, ground), (u, v, params.height - 1), "Air"))
            plan.append(Box((x, y, 0), (u, v, ground - 1), "Rock"))
    for part, (x, y) in zip(parts, corners, strict=True):
        plan += part.boxes(x, y)
    return plan


def reserved_columns(params: Params, *, smooth: bool) -> NDArray[np.bool_]:
    """Return the columns [x, y] that no part may use: sides, zones, and uneven ground if smooth."""
    reserved = np.ones((params.width, params.width), bool)
    # Water that reaches a side of the world is lost.
    reserved[1:-1, 1:-1] = False
    boxes = list(params.protected)
    if smooth:
        boxes += params.ground
    for box in boxes:
        x, y, _ = box.low
        u, v, _ = box.high
        reserved[x : u + 1, y : v + 1] = True
    return reserved


def free_places(reserved: NDArray[np.bool_], wide: int, deep: int) -> NDArray[np.bool_]:
    """Return for each low corner whether a rectangle of this size has no reserved column."""
    # Cumulative sums give the number of reserved columns in any rectangle.
    sums = np.pad(reserved.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    count = sums[wide:, deep:] - sums[:-wide, deep:]
    count += sums[:-wide, :-deep] - sums[wide:, :-deep]
    free: NDArray[np.bool_] = count == 0
    return free


def place(
    parts: Sequence[Structure], reserved: NDArray[np.bool_], target: Sequence[int]
) -> list[tuple[int, int]] | None:
    """Return low corners for all parts, each as near to the target as the earlier parts allow.

    None if there is no room for a part.
    """
    reserved = reserved.copy()
    corners = []
    for part in parts:
        wide = part.width
        deep = part.depth
        free = free_places(reserved, wide, deep)
        if part.at is not None:
            # A part with a fixed place can only be there.
            x, y = part.at
            columns, rows = free.shape
            if not (0 <= x < columns and 0 <= y < rows and free[x, y]):
                return None
        else:
            places = np.argwhere(free)
            if not len(places):
                return None
            # Twice the distances, so that they are integers.
            off = 2 * places + (wide, deep) - np.array(target)
            nearest = (off * off).sum(axis=1).argmin()
            x, y = (int(c) for c in places[nearest])
        corners.append((x, y))
        # Parts do not touch: a column around each stays free.
        reserved[max(x - 1, 0) : x + wide + 1, max(y - 1, 0) : y + deep + 1] = True
    return corners
