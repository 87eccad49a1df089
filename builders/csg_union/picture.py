"""The solids in three views, and what they are, in words and numbers."""

from math import floor
from textwrap import wrap

import numpy as np

from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.builders.shared.canvas import (
    BLACK,
    BLUE,
    BROWN,
    GREEN,
    GREY,
    LIGHT,
    RED,
    VIOLET,
    Canvas,
    Point,
)
from scbench.graders.csg_union.solids import solid_body
from scbench.schemas.csg_union import Params

_VIEWS = (("from above", 0, 1), ("from the front", 0, 2), ("from the right", 1, 2))
_SIDE, _PITCH, _TOP = 360, 480, 40
_COLOURS = (BLUE, RED, GREEN, VIOLET, BROWN, BLACK)
_LETTERS, _LINE = 118, 20


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the edges of every solid in three views, and write below what each is."""
    from scbench.builders.csg_union import described  # noqa: PLC0415  (it is above)

    lines = [
        (colour, line)
        for i, (solid, colour) in enumerate(zip(params.solids, _COLOURS, strict=False), 1)
        for line in wrap(f"{i}. {described(solid)}", _LETTERS, subsequent_indent="   ")
    ]
    if len(params.solids) > len(_COLOURS):
        return ()
    meshes = [polygon_mesh(solid_body(solid)) for solid in params.solids]
    reach = float(np.abs(np.vstack([mesh.points for mesh in meshes])).max())
    half = 5 * (floor(reach / 5) + 1)
    unit = _SIDE // (2 * half)
    height = _TOP + 2 * half * unit + 50 + _LINE * len(lines) + 8
    canvas = Canvas(3 * _PITCH, height)
    for k, (name, across, up) in enumerate(_VIEWS):
        left = k * _PITCH + 60
        _ruled_plane(canvas, (left, _TOP), name, (across, up), (half, unit))

        def at(point: list[float], left: int = left, across: int = across, up: int = up) -> Point:
            # Rounded first to what no machine computes otherwise.
            x, y = (floor(round(point[axis] * unit, 4) + 0.5) for axis in (across, up))
            return left + half * unit + x, _TOP + half * unit - y

        for mesh, colour in zip(meshes, _COLOURS, strict=False):
            points = mesh.points.tolist()
            for face in mesh.faces:
                canvas.outline([at(points[i]) for i in face], colour)
    for i, (colour, line) in enumerate(lines):
        canvas.text(12, _TOP + 2 * half * unit + 50 + _LINE * i, line, 2, colour)
    return (canvas,)


def _ruled_plane(
    canvas: Canvas, corner: Point, name: str, axes: tuple[int, int], size: tuple[int, int]
) -> None:
    (left, top), (half, unit) = corner, size
    canvas.text(left, 8, f"{name}: {'xyz'[axes[0]]} and {'xyz'[axes[1]]}", 2, GREY)
    side = 2 * half * unit
    for number in range(-half, half + 1, 5):
        x, y = left + (half + number) * unit, top + (half - number) * unit
        canvas.fill(x, top, 1, side + 1, LIGHT)
        canvas.fill(left, y, side + 1, 1, LIGHT)
        canvas.text_in((x - 20, top + side + 6, 40, 7), str(number), 1, GREY)
        canvas.text_in((left - 34, y - 4, 30, 7), str(number), 1, GREY)
