"""The solids in three views with their measures, and what they are, in words and numbers."""

from collections.abc import Sequence
from math import floor
from textwrap import wrap

import numpy as np

from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.builders.shared.builder import plain
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
    text_size,
)
from scbench.graders.csg_union.solids import solid_body
from scbench.schemas.csg_union import Params

_VIEWS = (("from above", 0, 1), ("from the front", 0, 2), ("from the right", 1, 2))
_SIDE, _PITCH, _LEFT, _TOP = 360, 470, 60, 40
_COLOURS = (BLUE, RED, GREEN, VIOLET, BROWN, BLACK)
_LETTERS, _LINE = 126, 20
_BARS, _BESIDE, _END = 38, 180, 4
"""Pixels from a view to the measures below it, all beside it, and half the end of a measure."""
# The least and the greatest coordinate of a solid along an axis.
Reach = tuple[float, float]


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the edges of every solid in three views, and write below what each is."""
    from scbench.builders.csg_union import described  # noqa: PLC0415  (it is above)

    lines = [
        (colour, line)
        for i, (solid, colour) in enumerate(
            zip(params.solids, _COLOURS, strict=False), 1
        )
        for line in wrap(f"{i}. {described(solid)}", _LETTERS, subsequent_indent="   ")
    ]
    if len(params.solids) > len(_COLOURS):
        return ()
    meshes = [polygon_mesh(solid_body(solid)) for solid in params.solids]
    reach = float(np.abs(np.vstack([mesh.points for mesh in meshes])).max())
    half = 5 * (floor(reach / 5) + 1)
    unit = _SIDE // (2 * half)
    below = _TOP + 2 * half * unit + _BARS
    words = below + _LINE * len(meshes) + 8
    canvas = Canvas(
        2 * _PITCH + _LEFT + _SIDE + _BESIDE, words + _LINE * len(lines) + 8
    )
    for k, (name, across, up) in enumerate(_VIEWS):
        left = k * _PITCH + _LEFT
        _ruled_plane(canvas, (left, _TOP), name, (across, up), (half, unit))
        middle = (left + half * unit, _TOP + half * unit)
        for mesh, colour in zip(meshes, _COLOURS, strict=False):
            at = [
                (_place(p[across], unit), _place(p[up], unit))
                for p in mesh.points.tolist()
            ]
            for face in mesh.faces:
                corners = [(middle[0] + at[i][0], middle[1] - at[i][1]) for i in face]
                canvas.outline(corners, colour)
    reaches = [
        [(float(p.min()), float(p.max())) for p in mesh.points.T] for mesh in meshes
    ]
    for k in (0, 2):  # each length once
        middle_x = k * _PITCH + _LEFT + half * unit
        _measure_across(
            canvas, (middle_x, below), unit, [r[_VIEWS[k][1]] for r in reaches]
        )
    beside = 2 * _PITCH + _LEFT + 2 * half * unit
    _measure_up(canvas, (beside, _TOP + half * unit), unit, [r[2] for r in reaches])
    for i, (colour, line) in enumerate(lines):
        canvas.text(12, words + _LINE * i, line, 2, colour)
    return (canvas,)


def _place(value: float, unit: int) -> int:
    # Rounded first to what no machine computes otherwise.
    return floor(round(value * unit, 4) + 0.5)


def _length(reach: Reach) -> str:
    return plain(round(reach[1] - reach[0], 2))


def _measure_across(
    canvas: Canvas, corner: Point, unit: int, reaches: Sequence[Reach]
) -> None:
    """Draw how far each solid reaches from left to right, and write it at the end."""
    for i, (reach, colour) in enumerate(zip(reaches, _COLOURS, strict=False)):
        (start, end), y = (
            (corner[0] + _place(v, unit) for v in reach),
            corner[1] + _LINE * i,
        )
        canvas.fill(start, y, end - start + 1, 1, colour)
        for x in (start, end):
            canvas.fill(x, y - _END, 1, 2 * _END + 1, colour)
        canvas.text(end + 8, y - 7, _length(reach), 2, colour)


def _measure_up(
    canvas: Canvas, corner: Point, unit: int, reaches: Sequence[Reach]
) -> None:
    """Draw how far each solid reaches upwards, and write it over the end."""
    step = min(76, (_BESIDE - 8) // len(reaches))
    fits = all(text_size(_length(reach), 2)[0] < step for reach in reaches)
    for i, (reach, colour) in enumerate(zip(reaches, _COLOURS, strict=False)):
        (end, start), x = (
            (corner[1] - _place(v, unit) for v in reach),
            corner[0] + i * step,
        )
        x += step // 2 + 4
        canvas.fill(x, start, 1, end - start + 1, colour)
        for y in (start, end):
            canvas.fill(x - _END, y, 2 * _END + 1, 1, colour)
        canvas.text_in((x - 8, start - 22, 16, 16), _length(reach), 1 + fits, colour)


def _ruled_plane(
    canvas: Canvas,
    corner: Point,
    name: str,
    axes: tuple[int, int],
    size: tuple[int, int],
) -> None:
    (left, top), (half, unit) = corner, size
    across, up = ("xyz"[axis] for axis in axes)
    canvas.text(left, 8, f"{name}: {across} right, {up} up, cm", 2, GREY)
    side = 2 * half * unit
    step = 5 if 5 * unit > text_size(str(-half), 2)[0] + 6 else 10
    for number in range(-half, half + 1, 5):
        x, y = left + (half + number) * unit, top + (half - number) * unit
        canvas.fill(x, top, 1, side + 1, LIGHT)
        canvas.fill(left, y, side + 1, 1, LIGHT)
        if number % step == 0:
            wide = text_size(str(number), 2)[0]
            canvas.text(x - wide // 2, top + side + 10, str(number), 2, GREY)
            canvas.text(left - wide - 6, y - 7, str(number), 2, GREY)
