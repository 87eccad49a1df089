"""The construction of a cage of any size: two plates, and storeys of four panels between them.

The plates are the floor and the roof. The panels of a storey are equal and are printed lying flat.
The bar at a corner is split along its height between the two panels that meet there. Where a panel
has the corner bar, its horizontal bars extend to that corner. So a rod in the corner goes through
both panels.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import NamedTuple, TypeVar

from scbench.schemas.interlocking_parts import Params

ContentsT = TypeVar("ContentsT")
# Number of sides of the outline of a hole that is printed on its side.
DROP_SIDES = 24
# Difference between the radius of a hole and that of the rod.
CLEARANCE = 0.2
# Lowest x, y, z, then highest.
Box = tuple[float, float, float, float, float, float]
# A 4 x 4 matrix, row by row.
Matrix = tuple[float, ...]


class Layout(NamedTuple):
    """The places of the bars of a cage. Lengths are in mm.

    Attributes:
        reach: largest |x| and |y| of the axes of bars.
        gaps: number of gaps along x and along y.
        pitch: distance from bar to bar along x and y.
        rings: number of gaps along z.
        rise: distance from ring to ring.
        floors: ring at which each storey begins, then the ring at which the last one ends.
    """

    reach: float
    gaps: int
    pitch: float
    rings: int
    rise: float
    floors: tuple[int, ...]


class Piece(NamedTuple):
    """A part as it is printed: the union of boxes, less holes.

    Attributes:
        boxes: the bars.
        holes: x and y of upright holes, x and z of those along y.
        radius: radius of the circle that fits into a hole.
        upright: whether the holes are upright.
    """

    boxes: tuple[Box, ...]
    holes: tuple[tuple[float, float], ...]
    radius: float
    upright: bool


def layout(params: Params) -> Layout | None:
    """Return the places of the bars; None if the construction does not fit."""
    bar = params.bar
    low, high = params.gap
    width, depth, inner_height = params.inner
    storeys, remainder = divmod(params.parts - 2, 4)
    if width != depth or remainder or storeys < 1:
        return None
    side = width + bar
    height = inner_height + bar
    # Gaps are slightly wider than the minimum.
    least = low + 0.2 * (high - low) + bar
    count = int(side // least)
    rings = int(height // least)
    floors = tuple(round(i * rings / storeys) for i in range(storeys + 1))
    # The roof replaces the upper bars of the last storey.
    ends = (*floors[1:-1], rings - 1)
    bars = [end - start for start, end in zip(floors, ends, strict=False)]
    if count < 3 or min(bars) < 2:
        return None
    widest = max(side / count, height / rings) - bar
    # The tip of a teardrop must stay inside the bar.
    radius = params.rods.free / 2 + CLEARANCE
    drop = radius / math.cos(math.pi / DROP_SIDES) * math.sqrt(2)
    if widest > high or drop > bar / 2 - 0.2:
        return None
    bed_x, bed_y, bed_z = params.printing.bed
    tallest = max(b - a for a, b in pairwise(floors)) * height / rings
    if max(side + bar, tallest) > min(bed_x, bed_y) or bar > bed_z:
        return None
    return Layout(side / 2, count, side / count, rings, height / rings, floors)


def parts_of(
    params: Params, plan: Layout, write: Callable[[Piece], ContentsT]
) -> list[tuple[ContentsT, Matrix]]:
    """Return the contents and transform of every part of the cage."""
    floor = write(plate(params, plan))
    parts = [(floor, lifted(0.0)), (floor, lifted(plan.rings * plan.rise))]
    for storey in range(len(plan.floors) - 1):
        wall = write(panel(params, plan, storey))
        parts += [(wall, panel_place(params, plan, storey, k)) for k in range(4)]
    return parts


def plate(params: Params, plan: Layout) -> Piece:
    """Return the floor, which is also the roof."""
    bar = params.bar
    half = bar / 2
    edge = plan.reach + half
    boxes: list[Box] = []
    for i in range(plan.gaps + 1):
        at = i * plan.pitch - plan.reach
        boxes.append((at - half, -edge, 0, at + half, edge, bar))
        boxes.append((-edge, at - half, 0, edge, at + half, bar))
    ends = (-plan.reach, plan.reach)
    corners = tuple(product(ends, ends))
    return Piece(tuple(boxes), corners, params.rods.free / 2 + CLEARANCE, upright=True)


def rim_of(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars at the rim of a plate."""
    rim = []
    for box in boxes:
        x0, y0, _, x1, y1, _ = box
        # Compare twice |x| or |y| of the middle, with a tolerance.
        if max(abs(x0 + x1), abs(y0 + y1)) > 2 * reach - 1:
            rim.append(box)
    return rim


def thicken_bars(boxes: Sequence[Box], reach: float) -> list[Box]:
    """Return the bars of a plate, with inner bars 2 mm wider in its plane."""
    rim = set(rim_of(boxes, reach))
    bars = []
    for box in boxes:
        x0, y0, z0, x1, y1, z1 = box
        if box in rim:
            bars.append(box)
        elif x1 - x0 < y1 - y0:
            bars.append((x0 - 1.0, y0, z0, x1 + 1.0, y1, z1))
        else:
            bars.append((x0, y0 - 1.0, z0, x1, y1 + 1.0, z1))
    return bars


def storey_ends(params: Params, plan: Layout, storey: int) -> tuple[float, float]:
    """Return the lowest and highest z of a storey's panels."""
    bottom = plan.floors[storey] * plan.rise + params.bar
    top = plan.floors[storey + 1] * plan.rise
    is_last = storey == len(plan.floors) - 2
    return bottom, top if is_last else top + params.bar


def panel(params: Params, plan: Layout, storey: int) -> Piece:
    """Return a wall of a storey as printed: x along the wall, y upwards, z outwards."""
    bar = params.bar
    half = bar / 2
    reach = plan.reach
    bottom, top = storey_ends(params, plan, storey)
    middle = (bottom + top) / 2
    low = bottom - middle
    high = top - middle
    rings = range(plan.floors[storey] + 1, plan.floors[storey + 1] + 1)
    if storey == len(plan.floors) - 2:
        rings = rings[:-1]
    # Lower edges of the horizontal bars.
    edges = [ring * plan.rise - middle for ring in rings]
    # The owner of a corner changes twice, or once if there are only two horizontal bars.
    turns = [1]
    if len(edges) > 2:
        turns = [len(edges) // 3, 2 * len(edges) // 3]
    cuts = [(edges[i - 1] + bar + edges[i]) / 2 for i in turns]
    boxes: list[Box] = []
    for i in range(1, plan.gaps):
        at = i * plan.pitch - reach
        boxes.append((at - half, low, 0, at + half, high, bar))
    side = 1
    for start, end in pairwise([low, *cuts, high]):
        # Between two cuts, the panel owns the corner on alternating sides.
        at = side * reach
        boxes.append((at - half, start, 0, at + half, end, bar))
        outer = at + side * half
        left, right = sorted((outer, -(at - side * half)))
        boxes += [(left, y, 0, right, y + bar, bar) for y in edges if start < y < end]
        side = -side
    holes = ((-reach, half), (reach, half))
    return Piece(tuple(boxes), holes, params.rods.free / 2 + CLEARANCE, upright=False)


def panel_place(params: Params, plan: Layout, storey: int, wall: int) -> Matrix:
    """Return the transform of a panel: set upright, then turned about z by quarter turns."""
    middle = sum(storey_ends(params, plan, storey)) / 2
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[wall]
    inside = plan.reach - params.bar / 2
    rows = (
        (cos, 0, sin, sin * inside),
        (sin, 0, -cos, -cos * inside),
        (0, 1, 0, middle),
        (0, 0, 0, 1),
    )
    # Adding 0 turns -0 into 0.
    return tuple(float(value) + 0.0 for row in rows for value in row)


def lifted(z: float) -> Matrix:
    """Return the transform that moves a part up by z."""
    matrix = [0.0] * 16
    for diagonal in (0, 5, 10, 15):
        matrix[diagonal] = 1.0
    # The last column of the third row.
    matrix[11] = z
    return tuple(matrix)


def teardrop(radius: float) -> list[tuple[float, float]]:
    """Return the outline of a hole that is printed on its side: a circle under a 45-degree roof."""
    # The circle lies inside the outline.
    around = radius / math.cos(math.pi / DROP_SIDES)
    points = []
    for i in range(DROP_SIDES):
        t = 2 * math.pi * i / DROP_SIDES
        points.append((around * math.cos(t), around * math.sin(t)))
    # Between 45 and 135 degrees, the tip of the roof replaces the circle.
    start = DROP_SIDES // 8 + 1
    end = 3 * DROP_SIDES // 8
    points[start:end] = [(0.0, around * math.sqrt(2))]
    return [(round(x, 4) + 0.0, round(y, 4) + 0.0) for x, y in points]
