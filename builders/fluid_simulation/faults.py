"""Wrong answers: plans without effect, plans with a mistake, and near misses of the goal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from scbench.builders.fluid_simulation.plans import assemble, short_parts, targets
from scbench.builders.fluid_simulation.structures import Box, as_answer, as_json
from scbench.builders.shared.builder import under
from scbench.graders.fluid_simulation import grade
from scbench.schemas.fluid_simulation import (
    HiddenLakes,
    HiddenWater,
    Params,
    RingLake,
)


def without_effect(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return answers that leave the ground unchanged, so they score like an empty plan."""
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
    """Return plans with one mistake each, except those that happen to be right in this world."""
    answers: dict[str, JsonValue] = {}
    for name, faulty in faulty_plans(params, plan):
        # A mistake that changes nothing needs no simulation.
        if not faulty or faulty == list(plan):
            continue
        if grade(params, as_answer(faulty)).score < 1:
            answers[name] = as_json(faulty)
    return answers


def faulty_plans(
    params: Params, plan: Sequence[Box]
) -> Iterator[tuple[str, list[Box]]]:
    """Yield every faulty plan; some plans may happen to be right."""
    air = [box for box in plan if box.material == "Air"]
    rock = [box for box in plan if box.material == "Rock"]
    deep = []
    sideways = []
    for box in plan:
        if box.material != "Air":
            deep.append(box)
            sideways.append(box)
            continue
        x, y, z = box.low
        deep.append(box._replace(low=(x, y, 0)))
        sideways.append(box._replace(low=(0, y, z)))
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
    if isinstance(params.goal, HiddenWater | HiddenLakes):
        yield "no_roof", air
        pillars = [box for box in rock if box.low[:2] == box.high[:2]]
        without_pillars = [box for box in plan if box not in pillars]
        yield "roof_without_pillar", without_pillars
    if isinstance(params.goal, RingLake):
        yield from broken_rings(plan)


def floating_walls(params: Params) -> list[Box]:
    """Return three of four walls, hanging over the rain."""
    # The walls keep a distance of at least one voxel from the sides of the world.
    greatest = params.width - 6
    rain_x, rain_y = params.rain[0]
    x = min(max(rain_x, 5), greatest)
    y = min(max(rain_y, 5), greatest)
    low = params.rock_layers + 2
    high = low + 1
    return [
        Box((x - 3, y - 3, low), (x + 4, y - 3, high), "Rock"),
        Box((x - 3, y - 2, low), (x - 3, y + 4, high), "Rock"),
        Box((x + 4, y - 2, low), (x + 4, y + 4, high), "Rock"),
    ]


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
