"""A plan of the ground, and the building as the camera sees it, with dimensions."""

from collections.abc import Sequence
from itertools import product
from math import floor, hypot, radians, tan

from scbench.builders.hide_and_seek.views import difference, dot
from scbench.builders.shared.builder import plain
from scbench.builders.shared.canvas import BLACK, BLUE, GREY, RED, Canvas, Point
from scbench.graders.shared.plane_geometry import hull_corners
from scbench.schemas.hide_and_seek import Params

# Pixels per metre on the plan, and the place of the origin.
_SCALE = 8
_MIDDLE = (280, 330)
# Top left corner of the camera's view, which is drawn at half its size.
_VIEW = (600, 60)


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw plan and view side by side, with the dimensions below."""
    left, top = _VIEW
    canvas = Canvas(left + 510, 620)
    draw_plan(canvas, params)
    draw_view(canvas, params)
    _, rows = params.image
    below = top + rows // 2 + 30
    for i, line in enumerate(measures(params)):
        canvas.text(left, below + 24 * i, line, 2)
    return (canvas,)


def draw_plan(canvas: Canvas, params: Params) -> None:
    """Draw the ground from above: its edge, the building, the axes and the line to the eye."""
    canvas.text(20, 16, "plan: x to the right, y upwards", 2, GREY)
    left, top = _MIDDLE
    radius = int(params.max_distance * _SCALE)
    draw_circle(canvas, _MIDDLE, radius)
    width, depth, _ = params.building
    half_x = int(width * _SCALE / 2)
    half_y = int(depth * _SCALE / 2)
    walls = (left - half_x, top - half_y, 2 * half_x + 1, 2 * half_y + 1)
    canvas.fill(*walls, BLUE)
    length = radius // 2
    for x, y, name in ((length, 0, "x"), (0, length, "y")):
        canvas.line((left, top), (left + x, top - y), GREY)
        canvas.text_in((left + x - 8, top - y - 24, 16, 16), name, 2, GREY)
    sniper_x, sniper_y, _ = params.sniper
    distance = hypot(sniper_x, sniper_y)
    end_x = left + floor(sniper_x / distance * radius + 0.5)
    end_y = top - floor(sniper_y / distance * radius + 0.5)
    canvas.line((end_x, end_y), (left, top), RED, dash=6)
    canvas.text(min(end_x + 8, _VIEW[0] - 130), end_y - 20, "to the eye", 2, RED)
    edge = (left - radius, top + radius + 8, 2 * radius, 16)
    canvas.text_in(edge, "edge of the ground", 2, GREY)


def draw_circle(canvas: Canvas, middle: Point, radius: int) -> None:
    """Draw a circle, one pixel wide."""
    left, top = middle
    for dx in range(radius + 1):
        dy = floor((radius**2 - dx * dx) ** 0.5 + 0.5)
        # Where the circle is steep, it rises several pixels per column; swapping dx and dy fills
        # the gaps.
        for across, up in ((dx, dy), (dy, dx)):
            for x, y in product((-across, across), (-up, up)):
                canvas.fill(left + x, top + y, 1, 1, BLACK)


def draw_view(canvas: Canvas, params: Params) -> None:
    """Draw the building as the camera sees it, and a cross in the middle of the view."""
    columns, rows = params.image
    left, top = _VIEW
    canvas.text(left, 16, "camera's view, at half its size", 2, GREY)
    canvas.frame(left - 1, top - 1, columns // 2 + 2, rows // 2 + 2, BLACK)
    x, y, z = params.building
    corners = product((-x / 2, x / 2), (-y / 2, y / 2), (0.0, z))
    hull = hull_corners([pixel_of(params, corner) for corner in corners])
    outline = [(int(x), int(y)) for x, y in hull]
    canvas.polygon([outline], BLUE)
    canvas.outline(outline, BLUE)
    middle_x, middle_y = pixel_of(params, params.look_at)
    canvas.line((middle_x - 6, middle_y), (middle_x + 6, middle_y), RED)
    canvas.line((middle_x, middle_y - 6), (middle_x, middle_y + 6), RED)


def measures(params: Params) -> list[str]:
    """Return the lines that state the dimensions of the drawing."""
    columns, rows = params.image
    return [
        f"people to hide: {params.people}",
        f"building, size: {by_axis(params.building)} m",
        f"person, size: {by_axis(params.person)} m",
        f"edge of the ground: {plain(params.max_distance)} m from the origin",
        f"eye at: {by_axis(params.sniper)} m",
        f"middle of the view: {by_axis(params.look_at)} m",
        f"angle of the view: {plain(params.field_of_view)} degrees",
        f"pixels of the view: {columns} across, {rows} down",
    ]


def by_axis(triple: Sequence[float]) -> str:
    """Return three numbers, each after the name of its axis."""
    axes = zip("xyz", triple, strict=True)
    return " ".join(f"{axis} {plain(value)}" for axis, value in axes)


def pixel_of(params: Params, point: Sequence[float]) -> Point:
    """Return where the camera shows a point, in pixels of the canvas."""
    forward = unit(difference(params.look_at, params.sniper))
    right = unit((forward[1], -forward[0], 0.0))
    up = (
        right[1] * forward[2] - right[2] * forward[1],
        right[2] * forward[0] - right[0] * forward[2],
        right[0] * forward[1] - right[1] * forward[0],
    )
    line = difference(point, params.sniper)
    columns, rows = params.image
    tangent = tan(radians(params.field_of_view / 2))
    # Pixels per unit across the view, at the distance of the point. The view is drawn at half
    # its size, so a quarter of its rows lie between its middle and its top.
    pixels = rows / 4 / tangent / dot(line, forward)
    # Rounded first, so that every machine gets the same pixel.
    x = floor(round(dot(line, right) * pixels, 6) + 0.5)
    y = floor(round(dot(line, up) * pixels, 6) + 0.5)
    left, top = _VIEW
    return left + columns // 4 + x, top + rows // 4 - y


def unit(vector: Sequence[float]) -> list[float]:
    """Return a vector scaled to length 1."""
    length = dot(vector, vector) ** 0.5
    return [v / length for v in vector]
