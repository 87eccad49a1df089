"""Plans that miss the goal by a little, and their scores by the rules of the prompt."""

from collections.abc import Iterator

from scbench.builders.fluid_simulation.plans import assemble, parts_for, targets
from scbench.builders.fluid_simulation.structures import (
    Box,
    Structure,
    basin,
    near_square,
    reservoir,
    roofed_pits,
    shaft,
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
    Params,
    WaterLevels,
    WideLakes,
)


def plans_that_miss(params: Params) -> Iterator[tuple[str, list[Box], float]]:
    """Yield plans with honest mistakes, as name, boxes and score; none on uneven ground."""
    # Holes in the ground also hold water, which would have to be simulated.
    if params.ground:
        return
    for name, parts, score in parts_that_miss(params):
        plan = assemble(params, parts, targets(params)[0], smooth=True)
        if plan is not None:
            yield name, plan, score


def parts_that_miss(params: Params) -> Iterator[tuple[str, list[Structure], float]]:
    """Yield parts that miss the goal, as name, parts and score."""
    ground = params.rock_layers
    top = ground - 1
    match params.goal:
        case LakeSurface(min_columns=n) if n > 1:
            yield "one_column_short", [reservoir(ground, n - 1)], (n - 1) / n
        case WideLakes(lakes=n, side=k):
            lakes = [basin(ground, k, k, top, top)] * (n - 1)
            yield "one_lake_short", lakes, (n - 1) / n
            if k > 1:
                narrow = basin(ground, k, k - 1, top, top)
                yield "one_lake_too_narrow", [*lakes, narrow], (n - 1) / n
        case HighWater(min_z=z, min_voxels=n) if n > 1:
            yield "one_voxel_short", [basin(ground, 1, n - 1, z, z)], (n - 1) / n
        case HiddenWater(min_voxels=n) if n > 1:
            yield "one_voxel_short", [roofed_pits(ground, 1, 1, n - 1)], (n - 1) / n
        case LakesOnLevels(lakes=n, levels=k):
            (parts,) = parts_for(params)
            yield "one_lake_short", parts[1:], (n - 1) / n
            lakes = [basin(ground, 2, 2, top, top)] * n
            yield "all_lakes_on_one_level", lakes, 1 / k
        case DeepWater(min_depth=n) if n > 1:
            yield "one_level_short", [shaft(ground, params.rain[0], n - 1)], (n - 1) / n
        case LargeLakes(lakes=n, min_voxels=size):
            lake = basin(ground, *near_square(-(-size // 2)), top - 1, top)
            lakes = [lake] * (n - 1)
            yield "one_lake_short", lakes, (n - 1) / n
            if size > 1:
                small = reservoir(ground, size - 1)
                yield "one_lake_too_small", [*lakes, small], (n - 1) / n
        case WaterLevels(water_at=wet):
            yield "one_level_short", [basin(ground, 4, 4, wet[0], wet[0])], 1 / len(wet)
        case ExactVolume(voxels=n):
            yield "one_voxel_more", [reservoir(ground, n + 1)], 1 - 1 / n
            if n > 1:
                yield "one_voxel_less", [reservoir(ground, n - 1)], 1 - 1 / n
        case HiddenLakes(lakes=n, min_voxels=size):
            if n > 1:
                lakes = [roofed_pits(ground, n - 1, *near_square(size))]
                yield "one_lake_short", lakes, (n - 1) / n
            single_lake = [roofed_pits(ground, 1, *near_square(n * size))]
            yield "one_lake_of_all", single_lake, 1 / n
