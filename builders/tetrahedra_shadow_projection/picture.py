"""The target on a ruled plane, next to the coordinates of its numbered corners."""

from collections.abc import Sequence
from itertools import chain
from math import ceil, floor, fsum, isqrt
from typing import NamedTuple

from scbench.builders.shared.builder import plain
from scbench.builders.shared.canvas import (
    BLACK,
    BLUE,
    GREY,
    LIGHT,
    RED,
    Canvas,
    Point,
    text_size,
)
from scbench.schemas.tetrahedra_shadow_projection import Params

# Pixels: the longest side of the plane, its place, and the distance between lines of text.
_PLANE = 480
_LEFT = 52
_TOP = 40
_LINE = 19
# Maximum number of lines in a column of coordinates.
_MOST_LINES = 34

Ring = Sequence[tuple[float, ...]]


class Plane(NamedTuple):
    """The ruled plane, from ``-half`` to ``half`` in x and y, with ``unit`` pixels per unit."""

    half: int
    unit: int

    @property
    def size(self) -> int:
        """Return the length of a side in pixels."""
        return 2 * self.half * self.unit

    def at(self, corner: Sequence[float]) -> Point:
        """Return the pixel of a point; y runs upwards."""
        x, y = (floor(value * self.unit + 0.5) for value in corner)
        middle = self.half * self.unit
        return _LEFT + middle + x, _TOP + middle - y


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the target once for the outline, and once for each hole."""
    outline = _ring_picture(params, params.exterior, "outline, counter-clockwise")
    holes = [_ring_picture(params, hole, "hole, clockwise") for hole in params.holes]
    return (outline, *holes)


def _ring_picture(params: Params, ring: Ring, name: str) -> Canvas:
    """Draw the target, and number and list the corners of one of its rings."""
    rings = [params.exterior, *params.holes]
    corners = chain.from_iterable(rings)
    half = ceil(max(abs(value) for corner in corners for value in corner))
    plane = Plane(half, _PLANE // (2 * half))
    title = f"target: {params.title}"
    lines = [f"{i} ({', '.join(map(plain, corner))})" for i, corner in enumerate(ring)]
    columns = ceil(len(lines) / _MOST_LINES)
    column_width = max(map(_text_width, lines)) + 24
    table_left = _LEFT + plane.size + 40
    width = max(
        table_left + columns * column_width,
        table_left + _text_width(name) + 8,
        _text_width(title) + 16,
    )
    height = _TOP + 24 + max(_MOST_LINES * _LINE, plane.size + 40) + 20
    canvas = Canvas(width, height)
    canvas.text(8, 8, title, 2)
    canvas.polygon([[plane.at(corner) for corner in r] for r in rings], LIGHT)
    _rule(canvas, plane)
    _draw_ring(canvas, plane, ring)
    canvas.text(table_left, _TOP, name, 2, BLUE)
    for i, line in enumerate(lines):
        column, row = divmod(i, _MOST_LINES)
        x = table_left + column * column_width
        canvas.text(x, _TOP + _LINE * row + 24, line, 2, BLACK)
    return canvas


def _text_width(text: str) -> int:
    width, _ = text_size(text, 2)
    return width


def _rule(canvas: Canvas, plane: Plane) -> None:
    """Draw a grey line at every integer, with its number."""
    bottom = _TOP + plane.size
    for number in range(-plane.half, plane.half + 1):
        x, y = plane.at((number, number))
        canvas.fill(x, _TOP, 1, plane.size + 1, GREY)
        canvas.fill(_LEFT, y, plane.size + 1, 1, GREY)
        canvas.text_in((x - 20, bottom + 6, 40, 14), str(number), 2)
        canvas.text_in((4, y - 7, _LEFT - 10, 14), str(number), 2)
    canvas.text(_LEFT, bottom + 32, "x to the right, y upwards", 2, GREY)


def _draw_ring(canvas: Canvas, plane: Plane, ring: Ring) -> None:
    """Draw the sides and corners of a ring, and numbers at its corners."""
    spots = [plane.at(corner) for corner in ring]
    canvas.outline(spots, BLUE)
    means = [fsum(values) / len(ring) for values in zip(*ring, strict=True)]
    # Rounded, so that no pixel depends on the last digit.
    middle = plane.at([round(mean, 6) for mean in means])
    every = 1
    if len(ring) > 12:
        # If there are many corners, only some have room for a number.
        every = 5 if len(ring) <= 60 else 10
    for i, (x, y) in enumerate(spots):
        canvas.fill(x - 2, y - 2, 5, 5, BLUE)
        if i % every == 0:
            canvas.text_in(_beside((x, y), middle), str(i), 2, RED)


def _beside(corner: Point, middle: Point) -> tuple[int, int, int, int]:
    """Return the box for a corner's number: towards the middle of the ring, off its sides."""
    dx = middle[0] - corner[0]
    dy = middle[1] - corner[1]
    away = max(1, isqrt(dx * dx + dy * dy))
    return corner[0] + 22 * dx // away, corner[1] + 18 * dy // away, 1, 1
