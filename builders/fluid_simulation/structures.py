"""Parts that hold water: pits, walled basins, roofed pits, moats and wells.

A part is built on flat ground, needs a free rectangle of columns, and works if rain falls on it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from scbench.schemas.fluid_simulation import Answer, Earthwork, Material

# x, y and z.
Corner = tuple[int, ...]


class Box(NamedTuple):
    """One earthwork."""

    low: Corner
    high: Corner
    material: Material


class Structure(NamedTuple):
    """A part that holds water, on a rectangle of columns that includes its rim.

    Attributes:
        width: number of columns of the rectangle along x.
        depth: number of columns along y.
        plan: the boxes of the part, with the low corner of the rectangle at x = y = 0.
        at: the low corner of a part with a fixed place; None for other parts.
    """

    width: int
    depth: int
    plan: list[Box]
    at: tuple[int, int] | None = None

    def boxes(self, x: int, y: int) -> list[Box]:
        """Return the boxes of the part, placed at this low corner."""
        boxes = []
        for (x0, y0, z0), (x1, y1, z1), material in self.plan:
            low = (x + x0, y + y0, z0)
            boxes.append(Box(low, (x + x1, y + y1, z1), material))
        return boxes


def as_answer(plan: Sequence[Box]) -> Answer:
    """Return a plan in the form of an answer."""
    earthworks = [
        Earthwork(xyzMin=box.low, xyzMax=box.high, material=box.material)
        for box in plan
    ]
    return Answer(earthworks=tuple(earthworks))


def as_json(plan: Sequence[Box]) -> JsonValue:
    """Return a plan as the JSON values of an answer."""
    return as_answer(plan).model_dump(mode="json")


def near_square(cells: int) -> tuple[int, int]:
    """Return the sides of a rectangle with at least this many cells, as square as possible."""
    side = math.isqrt(cells - 1) + 1
    return side, -(-cells // side)


def basin(ground: int, width: int, depth: int, low: int, high: int) -> Structure:
    """Return a basin of this size from z = low to z = high, with walls where it is above ground."""
    walls = Box((0, 0, ground), (width + 1, depth + 1, high), "Rock")
    inside = Box((1, 1, low), (width, depth, high), "Air")
    # The walls are a solid block that is then hollowed out.
    plan = [walls, inside] if high >= ground else [inside]
    return Structure(width + 2, depth + 2, plan)


def roofed_pits(ground: int, lakes: int, width: int, depth: int) -> Structure:
    """Return pits side by side under one roof on a pillar, so that surplus rain runs off."""
    columns, rows = near_square(lakes)
    # Every pit has a rim of one column.
    pitch_x = width + 1
    pitch_y = depth + 1
    whole_width = columns * pitch_x + 1
    whole_depth = rows * pitch_y + 1
    top = ground - 1
    roof = ground + 2
    plan = []
    for i in range(lakes):
        x = 1 + i % columns * pitch_x
        y = 1 + i // columns * pitch_y
        plan.append(Box((x, y, top), (x + width - 1, y + depth - 1, top), "Air"))
    plan.append(Box((0, 0, ground), (0, 0, roof - 1), "Rock"))
    plan.append(Box((0, 0, roof), (whole_width - 1, whole_depth - 1, roof), "Rock"))
    return Structure(whole_width, whole_depth, plan)


def moat(ground: int, island: int, width: int) -> Structure:
    """Return a moat of this width around a square island."""
    outer = island + 2 * width
    near = 1 + width
    far = width + island
    top = ground - 1
    # The whole square is dug out, and the island is filled in again.
    pit = Box((1, 1, top), (outer, outer, top), "Air")
    dry = Box((near, near, top), (far, far, top), "Rock")
    return Structure(outer + 2, outer + 2, [pit, dry])


def reservoir(ground: int, voxels: int, levels: int = 1) -> Structure:
    """Return a pit of exactly this many cells, ``levels`` deep except for a ledge on one side."""
    width, _ = near_square(-(-voxels // levels))
    rows, ledge = divmod(voxels, levels * width)
    top = ground - 1
    plan = []
    if rows:
        plan.append(Box((1, 1, ground - levels), (width, rows, top), "Air"))
    # Cells that do not fill a whole row on every level are in the top level.
    while ledge:
        length = min(ledge, width)
        rows += 1
        plan.append(Box((1, rows, top), (length, rows, top), "Air"))
        ledge -= length
    return Structure(width + 2, rows + 2, plan)


def shaft(ground: int, column: Sequence[int], depth: int) -> Structure:
    """Return a shaft, one column wide, that catches the drops of a rain column."""
    x, y = column
    # Water would drain at z = 0, so a shaft deeper than the rock begins above it and has walls.
    low = ground - depth if depth < ground else 1
    return basin(ground, 1, 1, low, low + depth - 1)._replace(at=(x - 1, y - 1))
