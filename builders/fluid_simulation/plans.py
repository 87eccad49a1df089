"""Plans of earthworks from a list of parts: pits, walled basins, roofed pits, moats, wells.

A part stands on flat ground, needs a free rectangle of columns, and works if any rain falls on it.
So a plan is a choice of parts and of places for them; the simulation of the grader has the last
word.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from scbench.graders.fluid_simulation import grade
from scbench.schemas import fluid_simulation as goals
from scbench.schemas.fluid_simulation import Answer, Earthwork, Goal, Material, Params

Corner = tuple[int, int, int]


class Box(NamedTuple):
    """One earthwork."""

    low: Corner
    high: Corner
    material: Material


class Structure(NamedTuple):
    """Something that holds water, on a rectangle of columns that includes its rim.

    ``boxes`` makes it, from the low corner of the rectangle. A part with a fixed place has it in
    ``at``.
    """

    width: int
    depth: int
    boxes: Callable[[int, int], list[Box]]
    at: tuple[int, int] | None = None


def as_answer(plan: Sequence[Box]) -> Answer:
    """Return a plan in the form of an answer."""
    return Answer(
        earthworks=tuple(
            Earthwork(xyzMin=box.low, xyzMax=box.high, material=box.material)
            for box in plan
        )
    )


def basin(ground: int, width: int, depth: int, low: int, high: int) -> Structure:
    """Return a basin of this size from z = low to z = high, walled where it stands above ground."""

    def boxes(x: int, y: int) -> list[Box]:
        walls = Box((x, y, ground), (x + width + 1, y + depth + 1, high), "Rock")
        inside = Box((x + 1, y + 1, low), (x + width, y + depth, high), "Air")
        return [walls, inside] if high >= ground else [inside]

    return Structure(width + 2, depth + 2, boxes)


def roofed(ground: int, lakes: int, width: int, depth: int) -> Structure:
    """Return pits side by side under one roof on a pillar, so that what is too much runs off."""
    along = math.isqrt(lakes - 1) + 1
    across = -(-lakes // along)
    size = (along * (width + 1) + 1, across * (depth + 1) + 1)

    def boxes(x: int, y: int) -> list[Box]:
        pits = []
        for i in range(lakes):
            u = x + 1 + i % along * (width + 1)
            v = y + 1 + i // along * (depth + 1)
            top = ground - 1
            pits.append(Box((u, v, top), (u + width - 1, v + depth - 1, top), "Air"))
        pits.append(Box((x, y, ground), (x, y, ground + 1), "Rock"))
        high = (x + size[0] - 1, y + size[1] - 1, ground + 2)
        return [*pits, Box((x, y, ground + 2), high, "Rock")]

    return Structure(*size, boxes)


def moat(ground: int, island: int, width: int) -> Structure:
    """Return a moat of this width round a square island."""
    outer = island + 2 * width
    top = ground - 1

    def boxes(x: int, y: int) -> list[Box]:
        near, far = 1 + width, width + island
        return [
            Box((x + 1, y + 1, top), (x + outer, y + outer, top), "Air"),
            Box((x + near, y + near, top), (x + far, y + far, top), "Rock"),
        ]

    return Structure(outer + 2, outer + 2, boxes)


def reservoir(ground: int, voxels: int, levels: int = 1) -> Structure:
    """Return a pit of exactly this many cells, some levels deep but for a ledge on one side."""
    width = math.isqrt(-(-voxels // levels) - 1) + 1
    rows = voxels // (levels * width)
    ledge = voxels - levels * width * rows
    top = ground - 1

    def boxes(x: int, y: int) -> list[Box]:
        pits = []
        if rows:
            pits.append(
                Box((x + 1, y + 1, ground - levels), (x + width, y + rows, top), "Air")
            )
        row, remainder = rows, ledge
        while remainder:
            length = min(remainder, width)
            row += 1
            pits.append(Box((x + 1, y + row, top), (x + length, y + row, top), "Air"))
            remainder -= length
        return pits

    return Structure(width + 2, rows + -(-ledge // width) + 2, boxes)


def well(ground: int, column: Sequence[int], depth: int) -> Structure:
    """Return a shaft, one column wide, that takes the drops of a rain column."""
    x, y = column
    low = ground - depth if depth < ground else 1
    return basin(ground, 1, 1, low, low + depth - 1)._replace(at=(x - 1, y - 1))


def parts_for(goal: Goal, params: Params) -> Iterator[list[Structure]]:
    """Yield choices of parts that should meet the goal."""
    ground = params.rock_layers
    top = ground - 1
    match goal:
        case goals.LakeSurface(min_columns=n):
            yield [basin(ground, *near_square(n), top, top)]
        case goals.WideLakes(lakes=n, side=side):
            yield [basin(ground, side, side, top, top)] * n
        case goals.HighWater(min_z=z, min_voxels=n):
            yield [basin(ground, *near_square(n), z, params.height - 1)]
            yield [basin(ground, *near_square(n), z, z)]
        case goals.HiddenWater(min_voxels=n):
            yield [roofed(ground, 1, *near_square(n))]
        case goals.LakesOnLevels(lakes=n, levels=k):
            levels = [top + min(i, k - 1) for i in range(n)]
            yield [basin(ground, 4, 4, z, z) for z in levels]
        case goals.DeepWater(min_depth=n):
            for column in params.rain:
                yield [well(ground, column, n)]
        case goals.LargeLakes(lakes=n, min_voxels=size):
            yield [basin(ground, *near_square(-(-size // 2)), top - 1, top)] * n
        case goals.RingLake(dry_side=side):
            yield [moat(ground, side, 2)]
        case goals.WaterLevels(water_at=levels):
            yield [basin(ground, 4, 4, z, z) for z in levels]
        case goals.ExactVolume(voxels=n):
            yield [reservoir(ground, n, 1 if n <= 100 else 2)]
        case goals.HiddenLakes(lakes=n, min_voxels=size):
            yield [roofed(ground, n, *near_square(size))]


def near_square(cells: int) -> tuple[int, int]:
    """Return the sides of a rectangle of at least so many cells, as square as can be."""
    side = math.isqrt(cells - 1) + 1
    return side, -(-cells // side)


def undo_ground(params: Params, *, holes_only: bool) -> list[Box]:
    """Return boxes that make the ground flat again where no zone is in the way."""
    boxes = []
    for box in params.ground:
        (x, y, z), (u, v, w) = box.low, box.high
        if box.material == "Air":
            flat = Box((x, y, z), (u, v, params.rock_layers - 1), "Rock")
        elif holes_only:
            continue
        else:
            flat = Box((x, y, z), (u, v, w), "Air")
        if not any(
            all(
                a <= d and c <= b
                for a, b, c, d in zip(*flat[:2], zone.low, zone.high, strict=True)
            )
            for zone in params.protected
        ):
            boxes.append(flat)
    return boxes


def _reserved_columns(params: Params, *, smooth: bool) -> NDArray[np.bool_]:
    """Return the columns that no part may use: sides, zones and, if smooth, uneven ground."""
    reserved = np.ones((params.width, params.width), bool)
    reserved[1:-1, 1:-1] = False
    boxes = (*params.protected, *(params.ground if smooth else ()))
    for box in boxes:
        reserved[box.low[0] : box.high[0] + 1, box.low[1] : box.high[1] + 1] = True
    return reserved


def place(
    parts: Sequence[Structure], reserved: NDArray[np.bool_], target: Sequence[float]
) -> list[tuple[int, int]] | None:
    """Return low corners for all parts, each as near to the target as the others leave it."""
    reserved = reserved.copy()
    corners = []
    for part in parts:
        sums = np.pad(reserved.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        w, d = part.width, part.depth
        free = sums[w:, d:] - sums[:-w, d:] - sums[w:, :-d] + sums[:-w, :-d] == 0
        if part.at is not None:
            x, y = part.at
            if not (0 <= x < free.shape[0] and 0 <= y < free.shape[1] and free[x, y]):
                return None
        else:
            places = np.argwhere(free)
            if not len(places):
                return None
            # Twice the distances, so that they stay whole numbers.
            off = 2 * places + (w, d) - np.array(target)
            x, y = (int(v) for v in places[(off * off).sum(axis=1).argmin()])
        corners.append((x, y))
        reserved[max(x - 1, 0) : x + w + 1, max(y - 1, 0) : y + d + 1] = True
    return corners


def assemble(
    params: Params, parts: Sequence[Structure], target: Sequence[float], *, smooth: bool
) -> list[Box] | None:
    """Return a plan of parts near a target (twice its x and y), or None if there is no room.

    If smooth, it only builds where the ground is as it was at first; else places are made flat.
    """
    corners = place(parts, _reserved_columns(params, smooth=smooth), target)
    if corners is None:
        return None
    plan = []
    for part, (x, y) in zip(parts, corners, strict=True):
        if not smooth:
            u, v = x + part.width - 1, y + part.depth - 1
            plan.append(
                Box((x, y, params.rock_layers), (u, v, params.height - 1), "Air")
            )
            plan.append(Box((x, y, 0), (u, v, params.rock_layers - 1), "Rock"))
    for part, (x, y) in zip(parts, corners, strict=True):
        plan.extend(part.boxes(x, y))
    return plan


def targets(params: Params) -> list[tuple[float, float]]:
    """Return places to build at, doubled: where the rain falls, then the quarters of the world."""
    n = len(params.rain)
    rain = (
        2 * sum(x for x, _ in params.rain) // n + 1,
        2 * sum(y for _, y in params.rain) // n + 1,
    )
    quarters = [params.width // 2, params.width, 3 * params.width // 2]
    return [rain, *((x, y) for x in quarters for y in quarters)]


def plans_for(
    params: Params, choices: Sequence[Sequence[Structure]]
) -> Iterator[list[Box]]:
    """Yield plans of some choices of parts, the ones with fewest boxes first."""
    holes, everything = (undo_ground(params, holes_only=only) for only in (True, False))
    sensitive = isinstance(
        params.goal,
        goals.HiddenWater | goals.HiddenLakes | goals.WaterLevels | goals.ExactVolume,
    )
    before = [holes] if sensitive else [[]]
    if params.ground:
        before.append(everything)
    for flatten in before:
        for smooth in (True, False) if params.ground else (True,):
            for parts in choices:
                for target in targets(params):
                    plan = assemble(params, parts, target, smooth=smooth)
                    if plan is not None:
                        yield [*flatten, *plan]


def solve(params: Params, tries: int = 30) -> list[Box] | None:
    """Return the first plan that meets the goal in full, or None after ``tries`` simulations."""
    for i, plan in enumerate(plans_for(params, list(parts_for(params.goal, params)))):
        if i >= tries:
            return None
        if grade(params, as_answer(plan)).score == 1:
            return plan
    return None


def without_effect(params: Params, plan: Sequence[Box]) -> Mapping[str, JsonValue]:
    """Return answers that leave the ground as it was, so that they score what nothing scores."""
    width = params.width

    def rows(row: Callable[[Box], dict[str, JsonValue]]) -> JsonValue:
        return {"earthworks": [_earthwork(box) | row(box) for box in plan]}

    return {
        "nothing_done": {"earthworks": []},
        "boxes_that_leave_the_world": rows(
            lambda box: {"xyzMax": [width, *box.high[1:]]}
        ),
        "unknown_material": rows(lambda _: {"material": "Dirt"}),
        "coordinates_as_text": rows(lambda box: {"xyzMin": [str(v) for v in box.low]}),
        "booleans": rows(lambda _: {"xyzMax": [True, True, True]}),
        "corners_of_two_numbers": rows(lambda box: {"xyzMax": [*box.high[:2]]}),
        "older_format": {
            "voxels": [{"xyz": [*box.low], "material": "Dirt"} for box in plan]
        },
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


def _earthwork(box: Box) -> dict[str, JsonValue]:
    return {"xyzMin": [*box.low], "xyzMax": [*box.high], "material": box.material}


def _faulty_plans(
    params: Params, plan: Sequence[Box]
) -> Iterator[tuple[str, list[Box]]]:
    """Yield every faulty plan; some may happen to be right."""
    last = params.width - 1
    ground = params.rock_layers
    yield (
        "dug_through_to_the_bottom",
        [
            box._replace(low=(*box.low[:2], 0)) if box.material == "Air" else box
            for box in plan
        ],
    )
    yield "swapped_corners", [box._replace(low=box.high, high=box.low) for box in plan]
    yield (
        "pits_open_to_the_side",
        [
            box._replace(low=(0, *box.low[1:])) if box.material == "Air" else box
            for box in plan
        ],
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
    for name, parts in _short_parts(params):
        for target in targets(params):
            smooth = assemble(params, parts, target, smooth=True)
            if smooth is not None:
                yield name, smooth
                break
    if isinstance(params.goal, goals.HiddenWater | goals.HiddenLakes):
        yield "no_roof", [box for box in plan if box.material == "Air"]
        pillar = [
            box
            for box in plan
            if box.material == "Rock" and box.low[:2] == box.high[:2]
        ]
        yield "roof_without_pillar", [box for box in plan if box not in pillar]
    if isinstance(params.goal, goals.RingLake):
        yield from _broken_rings(plan)


def _short_parts(params: Params) -> Iterator[tuple[str, list[Structure]]]:
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
            yield "one_lake_short", next(parts_for(params.goal, params))[1:]
            yield "all_on_one_level", [basin(ground, 2, 2, top, top)] * n
        case goals.DeepWater(min_depth=n) if n > 1:
            yield "one_level_short", [well(ground, params.rain[0], n - 1)]
        case goals.LargeLakes(lakes=n, min_voxels=size):
            parts = [basin(ground, *near_square(-(-size // 2)), top - 1, top)] * (n - 1)
            yield "one_lake_short", parts
            if size > 1:
                yield "one_lake_too_small", [*parts, reservoir(ground, size - 1)]
        case goals.RingLake(dry_side=k) if k > 1:
            yield "narrow_island", [moat(ground, k - 1, 1)]
        case goals.WaterLevels(water_at=wet, dry_at=dry):
            yield "lowest_level_only", [basin(ground, 4, 4, wet[0], wet[0])]
            yield (
                "water_where_none_may_be",
                [basin(ground, 4, 4, z, z) for z in (*wet, *dry[:1])],
            )
        case goals.ExactVolume(voxels=n):
            yield "one_voxel_more", [reservoir(ground, n + 1)]
            if n > 1:
                yield "one_voxel_less", [reservoir(ground, n - 1)]
        case goals.HiddenLakes(lakes=n, min_voxels=size):
            yield "one_lake_of_all", [roofed(ground, 1, *near_square(n * size))]
            yield "visible", [basin(ground, *near_square(size), top, top)] * n


def _broken_rings(plan: Sequence[Box]) -> Iterator[tuple[str, list[Box]]]:
    *before, island = plan
    (x, y, z), (u, v, _) = island.low, island.high
    pond = ((x + u) // 2, (y + v) // 2, z)
    yield "pond_on_the_island", [*plan, Box(pond, pond, "Air")]
    outer = before[-1]
    yield (
        "bridge_to_the_island",
        [*plan, Box((outer.low[0], y, z), (x - 1, y, z), "Rock")],
    )
    yield "lake_without_island", before
