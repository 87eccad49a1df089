"""Numbered points on a ruled plane, with one pixel for each unit of the last printed decimal."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from scbench.builders.delaunay_triangulation.stability import is_stable
from scbench.builders.shared.canvas import BLACK, LIGHT, RED, Canvas, text_size
from scbench.graders.shared.plane_geometry import XY, to_integers
from scbench.schemas.delaunay_triangulation import Params

# Pixels of the unit square, and of the margins around it.
_SIDE = 1000
_LEFT = 42
_TOP = 10
_RIGHT = 10
_BOTTOM = 24
# Pixels from one grey line to the next.
_STEP = 100
# Pixels by which every point may be misread along x and y without changing the triangulation.
_SHIFT = 2
# Pixels from the middle of a mark to its edge.
_MARK = 3


class Rectangle(NamedTuple):
    """A rectangle of pixels."""

    left: int
    top: int
    wide: int
    high: int


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the points, if misreading them by two pixels cannot change the triangulation."""
    points = to_integers(params.points, params.decimals)
    inside = all(min(point) >= 0 and max(point) <= _SIDE for point in points)
    # One pixel must be one unit of the last decimal.
    if 10**params.decimals != _SIDE or not inside or not is_stable(points, _SHIFT):
        return ()
    canvas = Canvas(_LEFT + _SIDE + 1 + _RIGHT, _TOP + _SIDE + 1 + _BOTTOM)
    draw_ruling(canvas)
    marks = [(_LEFT + x, _TOP + _SIDE - y) for x, y in points]
    for x, y in marks:
        canvas.fill(x - _MARK, y - _MARK, 2 * _MARK + 1, 2 * _MARK + 1, RED)
        canvas.fill(x, y, 1, 1, BLACK)
    labels: list[Rectangle] = []
    for i, mark in enumerate(marks):
        label = label_place(mark, str(i), marks, labels)
        if label is None:
            return ()
        labels.append(label)
        # A white background keeps grey lines out of the number.
        canvas.fill(*label, 0)
        canvas.text(label.left + 1, label.top + 1, str(i), 2)
    return (canvas,)


def draw_ruling(canvas: Canvas) -> None:
    """Draw the grey lines, 0.1 apart, with their values, and the names of the axes."""
    bottom = _TOP + _SIDE
    for distance in range(0, _SIDE + 1, _STEP):
        x = _LEFT + distance
        y = bottom - distance
        text = f"{distance / _SIDE:.1f}"
        canvas.fill(x, _TOP, 1, _SIDE + 1, LIGHT)
        canvas.fill(_LEFT, y, _SIDE + 1, 1, LIGHT)
        # Without a limit, the last value would cross the right edge, and the highest the top edge.
        canvas.text(min(x - 17, _LEFT + _SIDE + _RIGHT - 35), bottom + 8, text, 2)
        canvas.text(2, max(0, y - 7), text, 2)
    canvas.text(_LEFT + _SIDE - 55, bottom + 8, "x", 2)
    canvas.text(14, _TOP + 43, "y", 2)


def label_place(
    mark: XY, text: str, marks: Sequence[XY], labels: Sequence[Rectangle]
) -> Rectangle | None:
    """Return a place for a number next to its mark, away from other marks and numbers."""
    x, y = mark
    text_wide, text_high = text_size(text, 2)
    wide = text_wide + 2
    high = text_high + 2
    on_the_mark = (x - wide // 2, y - high // 2)
    columns = (x + 5, x - wide - 4, on_the_mark[0])
    rows = (on_the_mark[1], y - high - 4, y + 5)
    # The order is right of the mark, left of it, then above and below.
    for left, top in product(columns, rows):
        if (left, top) == on_the_mark:
            continue
        box = Rectangle(left, top, wide, high)
        fits_across = _LEFT < left < _LEFT + _SIDE - wide
        fits_down = _TOP < top < _TOP + _SIDE - high
        if not fits_across or not fits_down:
            continue
        pixels = [Rectangle(*point, 1, 1) for point in marks if point != mark]
        is_apart = all(gap(box, pixel) > 12 for pixel in pixels)
        if is_apart and all(gap(box, label) > 4 for label in labels):
            return box
    return None


def gap(a: Rectangle, b: Rectangle) -> int:
    """Return the distance between two rectangles along the axis where it is larger."""
    across = max(a.left - b.left - b.wide, b.left - a.left - a.wide)
    down = max(a.top - b.top - b.high, b.top - a.top - a.high)
    return max(across, down)
