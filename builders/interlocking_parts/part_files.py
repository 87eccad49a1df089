"""Files of parts: OpenSCAD source, and STL as text or in base64."""

import base64
import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from scbench.builders.interlocking_parts.cage import Piece, teardrop
from scbench.builders.shared.builder import prompt_template

# Number of sides of an upright hole.
PLATE_SIDES = 48
# A block of 40 x 40 x 10, and the corners of its sides.
_CORNERS = list(product((0.0, 40.0), (0.0, 40.0), (0.0, 10.0)))
_SIDES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]
Triangle = Sequence[Sequence[float]]


def to_openscad(piece: Piece) -> str:
    """Return OpenSCAD source that draws a piece."""
    rows = ",\n  ".join(map(vector_source, piece.boxes))
    places = ", ".join(map(vector_source, piece.holes))
    if piece.upright:
        # The circle is inside the hole, which starts and ends 1 mm outside the piece.
        height = piece.boxes[0][5] + 2
        hole = (
            f"translate([h[0], h[1], -1]) cylinder(h = {height:g}, "
            f"r = {piece.radius:g} / cos(180 / {PLATE_SIDES}), $fn = {PLATE_SIDES});"
        )
    else:
        outline = ", ".join(f"[{x:g}, {y:g}]" for x, y in teardrop(piece.radius))
        length = 2 * max(box[4] for box in piece.boxes) + 2
        hole = (
            "translate([h[0], 0, h[1]]) rotate([90, 0, 0])\n"
            f"    linear_extrude(height = {length:.9g}, center = true) polygon([{outline}]);"
        )
    template = prompt_template(__package__, "piece_scad.txt")
    return template.format(rows=rows, places=places, hole=hole)


def vector_source(values: Sequence[float]) -> str:
    """Return numbers as an OpenSCAD vector."""
    return f"[{', '.join(f'{value:.9g}' for value in values)}]"


def to_triangles(piece: Piece, shift: float = 0.0) -> NDArray[np.float64]:
    """Return the triangles (m, 3, 3) of a piece, lifted by ``shift``."""
    from manifold3d import CrossSection, Manifold  # noqa: PLC0415  (only for parts as STL)

    body = Manifold()
    for x0, y0, z0, x1, y1, z1 in piece.boxes:
        body += Manifold.cube((x1 - x0, y1 - y0, z1 - z0)).translate((x0, y0, z0))
    for a, b in piece.holes:
        if piece.upright:
            around = piece.radius / math.cos(math.pi / PLATE_SIDES)
            drill = Manifold.cylinder(1000, around, around, PLATE_SIDES, True)
            body -= drill.translate((a, b, 0))
        else:
            outline = CrossSection([np.array(teardrop(piece.radius))])
            # Extrude along z, then turn to lie along y.
            drill = Manifold.extrude(outline, 2000).translate((0, 0, -1000))
            body -= drill.rotate((90, 0, 0)).translate((a, 0, b))
    mesh = body.as_original().simplify(1e-5).translate((0, 0, shift)).to_mesh64()
    vertices = np.asarray(mesh.vert_properties)[:, :3]
    triangles: NDArray[np.float64] = vertices[mesh.tri_verts]
    return triangles


def to_binary_stl(piece: Piece, shift: float = 0.0) -> str:
    """Return a piece as a binary STL file in base64."""
    triangles = to_triangles(piece, shift)
    coordinates = np.ascontiguousarray(triangles.reshape(-1, 9), dtype="<f4")
    # A facet has 50 bytes: 12 for the normal, left at 0; 36 for three corners; and 2 unused ones.
    facets = np.zeros((len(triangles), 50), dtype=np.uint8)
    facets[:, 12:48] = coordinates.view(np.uint8)
    header = b"\0" * 80 + len(triangles).to_bytes(4, "little")
    return base64.b64encode(header + facets.tobytes()).decode()


def to_ascii_stl(triangles: Sequence[Triangle]) -> str:
    """Return triangles as STL text."""
    lines = ["solid part"]
    for triangle in triangles:
        lines.append("facet normal 0 0 0\nouter loop")
        lines += (f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in triangle)
        lines.append("endloop\nendfacet")
    return "\n".join([*lines, "endsolid part\n"])


def open_block() -> str:
    """Return a block with one facet left out."""
    return to_ascii_stl(block_triangles(_CORNERS)[1:])


def crossed_block() -> str:
    """Return a block with one of its lower corners pushed out through its top."""
    return to_ascii_stl(block_triangles([(20.0, 20.0, 15.0), *_CORNERS[1:]]))


def block_triangles(corners: Sequence[Sequence[float]]) -> list[Triangle]:
    """Return the triangles of a block, two for each side."""
    halves = [(a, b, c) for a, b, c, _ in _SIDES] + [(a, c, d) for a, _, c, d in _SIDES]
    return [[corners[i] for i in half] for half in halves]
