"""A plan of the ground, and the building as the camera sees it, with their measures."""

from itertools import product
from math import floor, hypot, radians, tan

from scbench.builders.shared.builder import plain
from scbench.builders.shared.canvas import BLACK, BLUE, GREY, LIGHT, RED, Canvas, Point
from scbench.graders.shared.plane_geometry import hull_corners
from scbench.schemas.hide_and_seek import Params

_SCALE, _MIDDLE = 8, (280, 330)
"""Pixels for a metre on the plan, and where the origin is."""
# Top left corner of the camera's view, which is drawn at half its size.
_VIEW = (600, 60)


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw plan and view beside each other, and the measures below."""
    wide, high = (n // 2 for n in params.image)
    canvas = Canvas(_VIEW[0] + 510, 620)
    _draw_plan(canvas, params)
    canvas.text(_VIEW[0], 16, "camera's view, at half its size", 2, GREY)
    canvas.frame(_VIEW[0] - 1, _VIEW[1] - 1, wide + 2, high + 2, BLACK)
    hull = hull_corners([_seen(params, corner) for corner in _corners(params)])
    corners = [(int(x), int(y)) for x, y in hull]
    canvas.polygon([corners], LIGHT)
    canvas.outline(corners, BLUE)
    x, y = _seen(params, params.look_at)
    canvas.line((x - 6, y), (x + 6, y), RED)
    canvas.line((x, y - 6), (x, y + 6), RED)
    for i, line in enumerate(_measures(params)):
        canvas.text(_VIEW[0], _VIEW[1] + high + 30 + 24 * i, line, 2)
    return (canvas,)


def _draw_plan(canvas: Canvas, params: Params) -> None:
    canvas.text(20, 16, "plan: x to the right, y upwards", 2, GREY)
    (left, top), radius = _MIDDLE, int(params.max_distance * _SCALE)
    rim = [floor((radius**2 - dx * dx) ** 0.5 + 0.5) for dx in range(radius + 1)]
    for (dx, dy), sx, sy in product(enumerate(rim), (-1, 1), (-1, 1)):
        for px, py in ((dx, dy), (dy, dx)):
            canvas.fill(left + sx * px, top + sy * py, 1, 1, BLACK)
    half_x, half_y = (int(size * _SCALE / 2) for size in params.building[:2])
    canvas.fill(left - half_x, top - half_y, 2 * half_x + 1, 2 * half_y + 1, LIGHT)
    canvas.frame(left - half_x, top - half_y, 2 * half_x + 1, 2 * half_y + 1, BLUE)
    for (wide, high), name in (((radius // 2, 0), "x"), ((0, radius // 2), "y")):
        canvas.line((left, top), (left + wide, top - high), GREY)
        canvas.text_in((left + wide - 8, top - high - 24, 16, 16), name, 2, GREY)
    x, y, _ = params.sniper
    away = hypot(x, y)
    end = (left + floor(x / away * radius + 0.5), top - floor(y / away * radius + 0.5))
    canvas.line(end, (left, top), RED, dash=6)
    canvas.text(min(end[0] + 8, _VIEW[0] - 130), end[1] - 20, "to the eye", 2, RED)
    canvas.text_in(
        (left - radius, top + radius + 8, 2 * radius, 16), "edge of the ground", 2, GREY
    )


def _measures(params: Params) -> list[str]:
    """Return the lines that say in numbers what is drawn."""
    building, person, eye, middle = (
        " ".join(
            f"{axis} {plain(value)}" for axis, value in zip("xyz", triple, strict=True)
        )
        for triple in (params.building, params.person, params.sniper, params.look_at)
    )
    columns, rows = params.image
    return [
        f"people to hide: {params.people}",
        f"building, size: {building} m",
        f"person, size: {person} m",
        f"edge of the ground: {plain(params.max_distance)} m from the origin",
        f"eye at: {eye} m",
        f"middle of the view: {middle} m",
        f"angle of the view: {plain(params.field_of_view)} degrees",
        f"pixels of the view: {columns} across, {rows} down",
    ]


def _corners(params: Params) -> list[tuple[float, float, float]]:
    x, y, z = params.building
    return [
        (sx * x / 2, sy * y / 2, h)
        for sx in (-1, 1)
        for sy in (-1, 1)
        for h in (0.0, z)
    ]


def _seen(params: Params, point: tuple[float, ...]) -> Point:
    """Return where the camera shows a point, in pixels of the canvas."""
    eye, aim = params.sniper, params.look_at
    forward = _unit(tuple(a - e for a, e in zip(aim, eye, strict=True)))
    right = _unit((forward[1], -forward[0], 0.0))
    up = (
        right[1] * forward[2] - right[2] * forward[1],
        right[2] * forward[0] - right[0] * forward[2],
        right[0] * forward[1] - right[1] * forward[0],
    )
    way = tuple(p - e for p, e in zip(point, eye, strict=True))
    depth, across, above = (
        sum(a * b for a, b in zip(way, axis, strict=True))
        for axis in (forward, right, up)
    )
    columns, rows = params.image
    pixels = rows / 4 / tan(radians(params.field_of_view / 2)) / depth
    # Rounded first to what no machine computes otherwise.
    x, y = (floor(round(v * pixels, 6) + 0.5) for v in (across, above))
    return _VIEW[0] + columns // 4 + x, _VIEW[1] + rows // 4 - y


def _unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    length = sum(v * v for v in vector) ** 0.5
    return tuple(v / length for v in vector)
