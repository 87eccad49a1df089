"""A cage of square bars, divided into plates and wall panels that interlock at the corners.

The construction works for any size. Two plates are floor and roof. Between them stand storeys of
four equal panels, which lie flat when they are printed. Two neighbouring panels share the bar at
their corner in turns: a panel owns it where its horizontal bars run out to that end, and elsewhere
leaves it to its neighbour, so that a rod in the corner goes through both.
"""

import base64
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.interlocking_parts import Params

PLATE_SIDES = 48
DROP_SIDES = 24
CLEARANCE = 0.2
"""By how much the radius of a hole exceeds the rod's."""

Box = tuple[float, float, float, float, float, float]
"""Lowest x, y, z, then highest."""
Matrix = tuple[float, ...]


class Piece(NamedTuple):
    """A part as it is printed: boxes united, holes cut."""

    boxes: tuple[Box, ...]
    holes: tuple[tuple[float, float], ...]
    """Where holes go through: x and y of upright ones, x and z of those along y."""
    radius: float
    """Of the circle that fits into a hole."""
    upright: bool


class Layout(NamedTuple):
    """Where the bars of a cage are."""

    reach: float
    """Largest |x| and |y| of the axes of bars."""
    gaps: int
    """Gaps along x and along y."""
    pitch: float
    rings: int
    """Gaps along z."""
    rise: float
    """From ring to ring."""
    floors: tuple[int, ...]
    """Ring at which each storey begins, and the last ends."""


def layout(params: Params) -> Layout | None:
    """Return where to put the bars; None if the construction does not fit."""
    bar, storeys = params.bar, (params.parts - 2) // 4
    side, height = params.inner[0] + bar, params.inner[2] + bar
    least = params.gap[0] + 0.2 * (params.gap[1] - params.gap[0]) + bar
    count, rings = int(side // least), int(height // least)
    if params.inner[0] != params.inner[1] or params.parts != 2 + 4 * storeys or storeys < 1:
        return None
    floors = tuple(round(i * rings / storeys) for i in range(storeys + 1))
    bars = [b - a for a, b in zip(floors, (*floors[1:-1], rings - 1), strict=False)]
    if count < 3 or min(bars) < 2:
        return None
    widest = max(side / count, height / rings) - bar
    drop = (params.rods.free / 2 + CLEARANCE) / math.cos(math.pi / DROP_SIDES) * math.sqrt(2)
    tallest = max(b - a for a, b in pairwise(floors)) * height / rings
    bed = params.printing.bed
    if widest > params.gap[1] or drop > bar / 2 - 0.2 or side + bar > min(bed[:2]):
        return None
    if tallest > min(bed[:2]) or bar > bed[2]:
        return None
    return Layout(side / 2, count, side / count, rings, height / rings, floors)


def plate(params: Params, plan: Layout) -> Piece:
    """Return the floor, which is also the roof."""
    half, out = params.bar / 2, plan.reach + params.bar / 2
    boxes: list[Box] = []
    for i in range(plan.gaps + 1):
        at = i * plan.pitch - plan.reach
        boxes.append((at - half, -out, 0, at + half, out, params.bar))
        boxes.append((-out, at - half, 0, out, at + half, params.bar))
    corners = tuple((x, y) for x in (-plan.reach, plan.reach) for y in (-plan.reach, plan.reach))
    return Piece(tuple(boxes), corners, params.rods.free / 2 + CLEARANCE, upright=True)


def storey_ends(params: Params, plan: Layout, storey: int) -> tuple[float, float]:
    """Return the lowest and highest z of a storey's panels."""
    last = storey == len(plan.floors) - 2
    bottom = plan.floors[storey] * plan.rise + params.bar
    return bottom, plan.floors[storey + 1] * plan.rise + (0 if last else params.bar)


def panel(params: Params, plan: Layout, storey: int) -> Piece:
    """Return a wall of a storey as printed: x along it, y its height, z its thickness outwards."""
    half, bar = params.bar / 2, params.bar
    bottom, top = storey_ends(params, plan, storey)
    middle = (bottom + top) / 2
    low, high = bottom - middle, top - middle
    last = storey == len(plan.floors) - 2
    rings = range(plan.floors[storey] + 1, plan.floors[storey + 1] + (0 if last else 1))
    edges = [ring * plan.rise - middle for ring in rings]
    # The corners change hands twice, or once where there are only two horizontal bars.
    turns = [len(edges) // 3, 2 * len(edges) // 3] if len(edges) > 2 else [1]
    cuts = [(edges[i - 1] + bar + edges[i]) / 2 for i in turns]
    boxes: list[Box] = []
    for i in range(1, plan.gaps):
        at = i * plan.pitch - plan.reach
        boxes.append((at - half, low, 0, at + half, high, bar))
    for k, (start, end) in enumerate(zip([low, *cuts], [*cuts, high], strict=True)):
        side = 1 if k % 2 == 0 else -1
        at = side * plan.reach
        boxes.append((at - half, start, 0, at + half, end, bar))
        for y in edges:
            if start < y < end:
                ends = sorted((at + side * half, -(at - side * half)))
                boxes.append((ends[0], y, 0, ends[1], y + bar, bar))
    sides = ((-plan.reach, half), (plan.reach, half))
    return Piece(tuple(boxes), sides, params.rods.free / 2 + CLEARANCE, upright=False)


def panel_place(params: Params, plan: Layout, storey: int, wall: int) -> Matrix:
    """Return the transform of a panel: stood up, then turned about z by quarter turns."""
    middle = sum(storey_ends(params, plan, storey)) / 2
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[wall]
    inside = plan.reach - params.bar / 2
    rows = ((cos, 0, sin, sin * inside), (sin, 0, -cos, -cos * inside), (0, 1, 0, middle))
    return tuple(float(value) + 0.0 for row in (*rows, (0, 0, 0, 1)) for value in row)


def lifted(z: float) -> Matrix:
    """Return the transform that only lifts."""
    return (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, z, 0.0, 0.0, 0.0, 1.0)


def teardrop(radius: float) -> list[tuple[float, float]]:
    """Return the outline of a hole that prints lying: a circle under a roof of 45 degrees."""
    around = radius / math.cos(math.pi / DROP_SIDES)
    turns = [2 * math.pi * i / DROP_SIDES for i in range(DROP_SIDES)]
    upper = DROP_SIDES // 8, 3 * DROP_SIDES // 8
    circle = [(around * math.cos(t), around * math.sin(t)) for t in turns]
    roof = [(0.0, around * math.sqrt(2))]
    points = [*circle[: upper[0] + 1], *roof, *circle[upper[1] :]]
    return [(round(x, 4) + 0.0, round(y, 4) + 0.0) for x, y in points]


def to_openscad(piece: Piece, shift: float = 0.0) -> str:
    """Return OpenSCAD source that draws a piece, lifted by ``shift``."""
    rows = ",\n  ".join("[" + ", ".join(f"{v:.9g}" for v in box) + "]" for box in piece.boxes)
    places = ", ".join(f"[{a:.9g}, {b:.9g}]" for a, b in piece.holes)
    if piece.upright:
        hole = (
            f"translate([h[0], h[1], -1]) cylinder(h = {piece.boxes[0][5] + 2:g}, "
            f"r = {piece.radius:g} / cos(180 / {PLATE_SIDES}), $fn = {PLATE_SIDES});"
        )
    else:
        outline = ", ".join(f"[{x:g}, {y:g}]" for x, y in teardrop(piece.radius))
        length = 2 * max(box[4] for box in piece.boxes) + 2
        hole = (
            "translate([h[0], 0, h[1]]) rotate([90, 0, 0])\n"
            f"    linear_extrude(height = {length:.9g}, center = true) polygon([{outline}]);"
        )
    return (
        f"// Boxes: lowest x, y, z, highest x, y, z.\nboxes = [\n  {rows}\n];\n"
        f"translate([0, 0, {shift:g}]) difference() {{\n"
        "  union() for (b = boxes)\n"
        "    translate([b[0], b[1], b[2]]) cube([b[3] - b[0], b[4] - b[1], b[5] - b[2]]);\n"
        f"  for (h = [{places}])\n    {hole}\n}}\n"
    )


def to_triangles(piece: Piece, shift: float = 0.0) -> NDArray[np.float64]:
    """Return the triangles (m, 3, 3) of a piece, lifted by ``shift``."""
    from manifold3d import CrossSection, Manifold  # noqa: PLC0415  (only for parts as STL)

    body = Manifold()
    for x0, y0, z0, x1, y1, z1 in piece.boxes:
        body += Manifold.cube((x1 - x0, y1 - y0, z1 - z0)).translate((x0, y0, z0))
    for a, b in piece.holes:
        if piece.upright:
            around = piece.radius / math.cos(math.pi / PLATE_SIDES)
            tool = Manifold.cylinder(1000, around, around, PLATE_SIDES, True).translate((a, b, 0))
        else:
            outline = CrossSection([np.array(teardrop(piece.radius))])
            tool = Manifold.extrude(outline, 2000).translate((0, 0, -1000))
            tool = tool.rotate((90, 0, 0)).translate((a, 0, b))
        body -= tool
    mesh = body.as_original().simplify(1e-5).translate((0, 0, shift)).to_mesh64()
    triangles: NDArray[np.float64] = np.asarray(mesh.vert_properties)[:, :3][mesh.tri_verts]
    return triangles


def to_binary_stl(piece: Piece, shift: float = 0.0) -> str:
    """Return a piece as a binary STL file in base64."""
    corners = to_triangles(piece, shift)
    rows = np.zeros((len(corners), 50), dtype=np.uint8)
    rows[:, 12:48] = np.ascontiguousarray(corners.reshape(-1, 9), dtype="<f4").view(np.uint8)
    data = b"\0" * 80 + len(corners).to_bytes(4, "little") + rows.tobytes()
    return base64.b64encode(data).decode()


def to_ascii_stl(corners: Sequence[Sequence[Sequence[float]]]) -> str:
    """Return triangles as STL text."""
    lines = ["solid part"]
    for triangle in corners:
        lines.append("facet normal 0 0 0\nouter loop")
        lines += (f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in triangle)
        lines.append("endloop\nendfacet")
    return "\n".join([*lines, "endsolid part\n"])


def parts_of(
    params: Params, plan: Layout, write: Callable[[Piece], str]
) -> list[tuple[str, Matrix]]:
    """Return the contents and transform of every part of the cage."""
    floor = write(plate(params, plan))
    parts = [(floor, lifted(0.0)), (floor, lifted(plan.rings * plan.rise))]
    for storey in range(len(plan.floors) - 1):
        wall = write(panel(params, plan, storey))
        parts += [(wall, panel_place(params, plan, storey, k)) for k in range(4)]
    return parts
