"""The solids in three views with their dimensions, and their descriptions below.

Each view is a plane ruled every 5 cm. Bars below and on the right of the views show the length of
each solid along x, y and z.
"""

from collections.abc import Sequence
from math import floor
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from scbench.builders.csg_union.descriptions import description_in_own_frame
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
from scbench.graders.shared.meshes import PolygonMesh
from scbench.schemas.csg_union import Params

# One for each solid.
_COLOURS = (BLUE, RED, GREEN, VIOLET, BROWN, BLACK)
# Maximum side of a view, and the distance from one view to the next.
_SIDE = 360
_PITCH = 470
# Corner of the first view.
_LEFT = 60
_TOP = 40
# Maximum number of letters in a line of text, and the height of a line.
_LETTERS = 126
_LINE = 20
# Pixels between a view and the bars below it, all pixels on its right, and half a bar's end mark.
_BARS = 38
_BESIDE = 180
_END = 4


class View(NamedTuple):
    """A view, with the axes that run to the right and up."""

    name: str
    across: int
    up: int


class Plane(NamedTuple):
    """The place of a view: left, top, pixels per centimetre, and half its side in centimetres."""

    left: int
    top: int
    unit: int
    half: int

    def middle(self) -> Point:
        """Return the pixel of the origin."""
        return self.left + self.half * self.unit, self.top + self.half * self.unit


class Reach(NamedTuple):
    """The smallest and the largest coordinate of a solid along an axis."""

    low: float
    high: float

    def length(self) -> str:
        """Return the length as text, in centimetres."""
        return plain(round(self.high - self.low, 2))


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the edges of every solid in three views, and write the descriptions below."""
    if len(params.solids) > len(_COLOURS):
        return ()
    lines: list[tuple[int, str]] = []
    for i, solid in enumerate(params.solids):
        text = f"{i + 1}. {description_in_own_frame(solid)}"
        for line in wrap(text, _LETTERS, subsequent_indent="   "):
            lines.append((_COLOURS[i], line))  # noqa: PERF401
    meshes = [polygon_mesh(solid_body(solid)) for solid in params.solids]
    farthest = float(np.abs(np.vstack([mesh.points for mesh in meshes])).max())
    half = 5 * (floor(farthest / 5) + 1)
    unit = _SIDE // (2 * half)
    bars_top = _TOP + 2 * half * unit + _BARS
    text_top = bars_top + _LINE * len(meshes) + 8
    canvas = Canvas(
        2 * _PITCH + _LEFT + _SIDE + _BESIDE, text_top + _LINE * len(lines) + 8
    )

    planes = [Plane(k * _PITCH + _LEFT, _TOP, unit, half) for k in range(3)]
    views = (
        View("from above", 0, 1),
        View("from the front", 0, 2),
        View("from the right", 1, 2),
    )
    for view, plane in zip(views, planes, strict=True):
        rule_plane(canvas, plane, view)
        for mesh, colour in zip(meshes, _COLOURS, strict=False):
            draw_edges(canvas, plane, view, mesh, colour)

    # The first view has the lengths along x below it, the last those along y, and z on its right.
    x_reaches, y_reaches, z_reaches = (reaches_along(axis, meshes) for axis in range(3))
    draw_bars_across(canvas, (planes[0].middle()[0], bars_top), unit, x_reaches)
    draw_bars_across(canvas, (planes[2].middle()[0], bars_top), unit, y_reaches)
    right = planes[2].left + 2 * half * unit
    draw_bars_up(canvas, (right, planes[2].middle()[1]), unit, z_reaches)
    for i, (colour, line) in enumerate(lines):
        canvas.text(12, text_top + _LINE * i, line, 2, colour)
    return (canvas,)


def rule_plane(canvas: Canvas, plane: Plane, view: View) -> None:
    """Draw the lines of a plane every 5 cm, and number them."""
    across = "xyz"[view.across]
    up = "xyz"[view.up]
    title = f"{view.name}: {across} right, {up} up, cm"
    canvas.text(plane.left, 8, title, 2, GREY)
    side = 2 * plane.half * plane.unit
    # If numbers would touch, only every second line has one.
    widest, _ = text_size(str(-plane.half), 2)
    step = 5 if 5 * plane.unit > widest + 6 else 10
    for number in range(-plane.half, plane.half + 1, 5):
        x = plane.left + (plane.half + number) * plane.unit
        y = plane.top + (plane.half - number) * plane.unit
        canvas.fill(x, plane.top, 1, side + 1, LIGHT)
        canvas.fill(plane.left, y, side + 1, 1, LIGHT)
        if number % step == 0:
            width, _ = text_size(str(number), 2)
            below = plane.top + side + 10
            canvas.text(x - width // 2, below, str(number), 2, GREY)
            canvas.text(plane.left - width - 6, y - 7, str(number), 2, GREY)


def draw_edges(
    canvas: Canvas, plane: Plane, view: View, mesh: PolygonMesh, colour: int
) -> None:
    """Draw all edges of a solid in a view, including hidden ones."""
    middle_x, middle_y = plane.middle()
    places = []
    for point in mesh.points.tolist():
        x = middle_x + pixels(point[view.across], plane.unit)
        y = middle_y - pixels(point[view.up], plane.unit)
        places.append((x, y))
    for face in mesh.faces:
        canvas.outline([places[i] for i in face], colour)


def pixels(length: float, unit: int) -> int:
    """Return a length in whole pixels."""
    # Machines differ in the last digits; rounding to four decimals first hides that.
    return floor(round(length * unit, 4) + 0.5)


def reaches_along(axis: int, meshes: Sequence[PolygonMesh]) -> list[Reach]:
    """Return the reach of each solid along an axis."""
    columns = [mesh.points[:, axis] for mesh in meshes]
    return [Reach(float(column.min()), float(column.max())) for column in columns]


def draw_bars_across(
    canvas: Canvas, corner: Point, unit: int, reaches: Sequence[Reach]
) -> None:
    """Draw how far each solid reaches from left to right, with the length at the end."""
    middle_x, top = corner
    for i, reach in enumerate(reaches):
        colour = _COLOURS[i]
        start = middle_x + pixels(reach.low, unit)
        end = middle_x + pixels(reach.high, unit)
        y = top + _LINE * i
        canvas.fill(start, y, end - start + 1, 1, colour)
        for x in (start, end):
            canvas.fill(x, y - _END, 1, 2 * _END + 1, colour)
        canvas.text(end + 8, y - 7, reach.length(), 2, colour)


def draw_bars_up(
    canvas: Canvas, corner: Point, unit: int, reaches: Sequence[Reach]
) -> None:
    """Draw how far each solid reaches upwards, with the length over the end."""
    left, middle_y = corner
    step = min(76, (_BESIDE - 8) // len(reaches))
    widest = max(text_size(reach.length(), 2)[0] for reach in reaches)
    scale = 2 if widest < step else 1
    for i, reach in enumerate(reaches):
        colour = _COLOURS[i]
        bottom = middle_y - pixels(reach.low, unit)
        top = middle_y - pixels(reach.high, unit)
        x = left + i * step + step // 2 + 4
        canvas.fill(x, top, 1, bottom - top + 1, colour)
        for y in (bottom, top):
            canvas.fill(x - _END, y, 2 * _END + 1, 1, colour)
        canvas.text_in((x - 8, top - 22, 16, 16), reach.length(), scale, colour)
