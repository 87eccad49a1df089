"""Earthworks that look right and are not, for every goal of fluid_simulation."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from scbench.builders.fluid_simulation.plans import (
    Box,
    Structure,
    as_answer,
    assemble,
    basin,
    moat,
    near_square,
    parts_for,
    reservoir,
    roofed,
    targets,
    well,
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
)


def without_effect(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return answers that leave the ground as it was, so that they score what nothing scores."""
    width = params.width

    def rows(row: Callable[[Box], dict[str, JsonValue]]) -> JsonValue:
        return {"earthworks": [_row(box) | row(box) for box in plan]}

    return {
        "nothing_done": {"earthworks": []},
        "boxes_that_leave_the_world": rows(lambda box: {"xyzMax": [width, *box.high[1:]]}),
        "unknown_material": rows(lambda _: {"material": "Dirt"}),
        "coordinates_as_text": rows(lambda box: {"xyzMin": [str(v) for v in box.low]}),
        "booleans": rows(lambda _: {"xyzMax": [True, True, True]}),
        "corners_of_two_numbers": rows(lambda box: {"xyzMax": [*box.high[:2]]}),
        "older_format": {"voxels": [{"xyz": [*box.low], "material": "Dirt"} for box in plan]},
    }


def wrong(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return plans with a mistake each, without those that happen to be right in this world."""
    answers: dict[str, JsonValue] = {}
    for name, example in _faulty_plans(params, plan):
        if not example or example == list(plan):
            continue
        answer = as_answer(example)
        if grade(params, answer).score < 1:
            answers[name] = answer.model_dump(mode="json")
    return answers


def _row(box: Box) -> dict[str, JsonValue]:
    return {"xyzMin": [*box.low], "xyzMax": [*box.high], "material": box.material}


def _faulty_plans(params: Params, plan: Sequence[Box]) -> Iterator[tuple[str, list[Box]]]:
    """Yield every faulty plan; some may happen to be right."""
    last = params.width - 1
    ground = params.rock_layers
    yield (
        "dug_through_to_the_bottom",
        [box._replace(low=(*box.low[:2], 0)) if box.material == "Air" else box for box in plan],
    )
    yield "swapped_corners", [box._replace(low=box.high, high=box.low) for box in plan]
    yield (
        "pits_open_to_the_side",
        [box._replace(low=(0, *box.low[1:])) if box.material == "Air" else box for box in plan],
    )
    yield "walls_only", [box for box in plan if box.material == "Rock"]
    yield "backwards", list(reversed(plan))
    yield "last_box_forgotten", list(plan[:-1])
    x, y = (min(max(v, 5), last - 5) for v in params.rain[0])
    z = ground + 2
    yield (
        "floating_walls",  # three of four, hanging over the rain
        [
            Box((x - 3, y - 3, z), (x + 4, y - 3, z + 1), "Rock"),
            Box((x - 3, y - 2, z), (x - 3, y + 4, z + 1), "Rock"),
            Box((x + 4, y - 2, z), (x + 4, y + 4, z + 1), "Rock"),
        ],
    )
    for name, parts in _near_misses(params):
        for target in targets(params):
            smooth = assemble(params, parts, target, smooth=True)
            if smooth is not None:
                yield name, smooth
                break
    if isinstance(params.goal, HiddenWater | HiddenLakes):
        yield "no_roof", [box for box in plan if box.material == "Air"]
        pillar = [box for box in plan if box.material == "Rock" and box.low[:2] == box.high[:2]]
        yield "roof_without_pillar", [box for box in plan if box not in pillar]
    if isinstance(params.goal, RingLake):
        yield from _broken_rings(plan)


def _near_misses(params: Params) -> Iterator[tuple[str, list[Structure]]]:
    """Yield parts that fall short of the goal by a little."""
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
            yield "one_lake_short", next(parts_for(params.goal, params))[1:]
            yield "all_on_one_level", [basin(ground, 2, 2, top, top)] * n
        case DeepWater(min_depth=n) if n > 1:
            yield "one_level_short", [well(ground, params.rain[0], n - 1)]
        case LargeLakes(lakes=n, min_voxels=size):
            parts = [basin(ground, *near_square(-(-size // 2)), top - 1, top)] * (n - 1)
            yield "one_lake_short", parts
            if size > 1:
                yield "one_lake_too_small", [*parts, reservoir(ground, size - 1)]
        case RingLake(dry_side=k) if k > 1:
            yield "narrow_island", [moat(ground, k - 1, 1)]
        case WaterLevels(water_at=wet, dry_at=dry):
            yield "lowest_level_only", [basin(ground, 4, 4, wet[0], wet[0])]
            yield "water_where_none_may_be", [basin(ground, 4, 4, z, z) for z in (*wet, *dry[:1])]
        case ExactVolume(voxels=n):
            yield "one_voxel_more", [reservoir(ground, n + 1)]
            if n > 1:
                yield "one_voxel_less", [reservoir(ground, n - 1)]
        case HiddenLakes(lakes=n, min_voxels=size):
            yield "one_lake_of_all", [roofed(ground, 1, *near_square(n * size))]
            yield "visible", [basin(ground, *near_square(size), top, top)] * n


def _broken_rings(plan: Sequence[Box]) -> Iterator[tuple[str, list[Box]]]:
    """Yield the moat with something wrong about its island."""
    *before, island = plan
    (x, y, z), (u, v, _) = island.low, island.high
    pond = ((x + u) // 2, (y + v) // 2, z)
    yield "pond_on_the_island", [*plan, Box(pond, pond, "Air")]
    outer = before[-1]
    yield "bridge_to_the_island", [*plan, Box((outer.low[0], y, z), (x - 1, y, z), "Rock")]
    yield "lake_without_island", before
