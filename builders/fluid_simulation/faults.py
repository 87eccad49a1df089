"""Wrong answers: plans without effect, plans with a mistake, and near misses of the goal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from scbench.builders.fluid_simulation.plans import assemble, parts_for, targets
from scbench.builders.fluid_simulation.structures import (
    Box,
    Structure,
    as_answer,
    as_json,
    basin,
    moat,
    near_square,
    reservoir,
    roofed,
    well,
)
from scbench.builders.shared.builder import under
from scbench.graders.fluid_simulation import grade
from scbench.schemas import fluid_simulation as goals
from scbench.schemas.fluid_simulation import Params


def without_effect(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return answers that leave the ground as it was, so that they score as nothing does."""
    rows: list[dict[str, Any]] = as_answer(plan).model_dump(mode="json")["earthworks"]
    leaving = [row | {"xyzMax": [params.width, *row["xyzMax"][1:]]} for row in rows]
    voxels = [{"xyz": row["xyzMin"], "material": "Dirt"} for row in rows]
    lists: dict[str, list[dict[str, Any]]] = {
        "nothing_done": [],
        "boxes_that_leave_the_world": leaving,
        "unknown_material": [row | {"material": "Dirt"} for row in rows],
        "coordinates_as_text": [
            row | {"xyzMin": [str(c) for c in row["xyzMin"]]} for row in rows
        ],
        "booleans": [row | {"xyzMax": [True, True, True]} for row in rows],
        "corners_of_two_numbers": [row | {"xyzMax": row["xyzMax"][:2]} for row in rows],
    }
    return under("earthworks", lists) | under("voxels", {"older_format": voxels})


def faulty_answers(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return plans with a mistake each, without those that happen to be right in this world."""
    answers: dict[str, JsonValue] = {}
    for name, faulty in faulty_plans(params, plan):
        if not faulty or faulty == list(plan):
            continue
        if grade(params, as_answer(faulty)).score < 1:
            answers[name] = as_json(faulty)
    return answers


def faulty_plans(
    params: Params, plan: Sequence[Box]
) -> Iterator[tuple[str, list[Box]]]:
    """Yield every faulty plan; some may happen to be right."""
    air = [box for box in plan if box.material == "Air"]
    rock = [box for box in plan if box.material == "Rock"]
    deep = []
    sideways = []
    for box in plan:
        x, y, z = box.low
        is_air = box.material == "Air"
        deep.append(box._replace(low=(x, y, 0)) if is_air else box)
        sideways.append(box._replace(low=(0, y, z)) if is_air else box)
    yield "dug_through_to_the_bottom", deep
    yield "swapped_corners", [box._replace(low=box.high, high=box.low) for box in plan]
    yield "pits_open_to_the_side", sideways
    yield "walls_only", rock
    yield "backwards", list(reversed(plan))
    yield "last_box_forgotten", list(plan[:-1])
    yield "floating_walls", floating_walls(params)
    for name, parts in short_parts(params):
        for target in targets(params):
            smooth = assemble(params, parts, target, smooth=True)
            if smooth is not None:
                yield name, smooth
                break
    if isinstance(params.goal, goals.HiddenWater | goals.HiddenLakes):
        yield "no_roof", air
        pillars = [box for box in rock if box.low[:2] == box.high[:2]]
        without_pillars = [box for box in plan if box not in pillars]
        yield "roof_without_pillar", without_pillars
    if isinstance(params.goal, goals.RingLake):
        yield from broken_rings(plan)


def floating_walls(params: Params) -> list[Box]:
    """Return three of four walls, hanging over the rain."""
    last = params.width - 1
    x, y = (min(max(c, 5), last - 5) for c in params.rain[0])
    low = params.rock_layers + 2
    high = low + 1
    return [
        Box((x - 3, y - 3, low), (x + 4, y - 3, high), "Rock"),
        Box((x - 3, y - 2, low), (x - 3, y + 4, high), "Rock"),
        Box((x + 4, y - 2, low), (x + 4, y + 4, high), "Rock"),
    ]


def short_parts(params: Params) -> Iterator[tuple[str, list[Structure]]]:
    """Yield parts that fall short of the goal by a little."""
    ground = params.rock_layers
    top = ground - 1
    match params.goal:
        case goals.LakeSurface(min_columns=n) if n > 1:
            yield "one_column_short", [reservoir(ground, n - 1)]
        case goals.WideLakes(lakes=n, side=k):
            yield "one_lake_short", [basin(ground, k, k, top, top)] * (n - 1)
            if k > 1:
                yield "narrow_lakes", [basin(ground, k - 1, k, top, top)] * n
        case goals.HighWater(min_z=z, min_voxels=n):
            yield "one_level_low", [basin(ground, *near_square(n), z - 1, z - 1)]
        case goals.HiddenWater(min_voxels=n):
            yield "visible", [reservoir(ground, n)]
        case goals.LakesOnLevels(lakes=n):
            (parts,) = parts_for(params)
            yield "one_lake_short", parts[1:]
            yield "all_on_one_level", [basin(ground, 2, 2, top, top)] * n
        case goals.DeepWater(min_depth=n) if n > 1:
            yield "one_level_short", [well(ground, params.rain[0], n - 1)]
        case goals.LargeLakes(lakes=n, min_voxels=size):
            lake = basin(ground, *near_square(-(-size // 2)), top - 1, top)
            yield "one_lake_short", [lake] * (n - 1)
            if size > 1:
                small = reservoir(ground, size - 1)
                yield "one_lake_too_small", [*[lake] * (n - 1), small]
        case goals.RingLake(dry_side=k) if k > 1:
            yield "narrow_island", [moat(ground, k - 1, 1)]
        case goals.WaterLevels(water_at=wet, dry_at=dry):
            yield "lowest_level_only", [basin(ground, 4, 4, wet[0], wet[0])]
            levels = (*wet, *dry[:1])
            parts = [basin(ground, 4, 4, z, z) for z in levels]
            yield "water_where_none_may_be", parts
        case goals.ExactVolume(voxels=n):
            yield "one_voxel_more", [reservoir(ground, n + 1)]
            if n > 1:
                yield "one_voxel_less", [reservoir(ground, n - 1)]
        case goals.HiddenLakes(lakes=n, min_voxels=size):
            yield "one_lake_of_all", [roofed(ground, 1, *near_square(n * size))]
            yield "visible", [basin(ground, *near_square(size), top, top)] * n


def broken_rings(plan: Sequence[Box]) -> Iterator[tuple[str, list[Box]]]:
    """Yield plans of a moat with water on the island, a bridge to it, or no island."""
    *before, island = plan
    x, y, z = island.low
    u, v, _ = island.high
    pond = ((x + u) // 2, (y + v) // 2, z)
    yield "pond_on_the_island", [*plan, Box(pond, pond, "Air")]
    moat_x, _, _ = before[-1].low
    bridge = Box((moat_x, y, z), (x - 1, y, z), "Rock")
    yield "bridge_to_the_island", [*plan, bridge]
    yield "lake_without_island", before
