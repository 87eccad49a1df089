"""The target on a ruled plane, with the coordinates of its numbered corners beside it."""

from collections.abc import Sequence
from math import ceil, floor, fsum, isqrt

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

_PLANE, _LEFT, _TOP, _LINE = 480, 52, 40, 19
_MOST_LINES = 34


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the target once for the outline, and once for each hole."""
    rings = [params.exterior, *params.holes]
    names = ["outline, counter-clockwise", *["hole, clockwise"] * len(params.holes)]
    return tuple(
        _ring_picture(params, ring, name)
        for ring, name in zip(rings, names, strict=True)
    )


def _ring_picture(
    params: Params, ring: Sequence[tuple[float, ...]], name: str
) -> Canvas:
    half = ceil(
        max(
            abs(value)
            for r in (params.exterior, *params.holes)
            for p in r
            for value in p
        )
    )
    unit = _PLANE // (2 * half)
    lines = [f"{i} ({', '.join(map(plain, corner))})" for i, corner in enumerate(ring)]
    columns = -(-len(lines) // _MOST_LINES)
    wide = max(text_size(line, 2)[0] for line in lines) + 24
    table = _LEFT + 2 * half * unit + 40
    title = f"target: {params.title}"
    texts = (
        table + columns * wide,
        table + text_size(name, 2)[0] + 8,
        text_size(title, 2)[0] + 16,
    )
    width = max(texts)
    canvas = Canvas(
        width, _TOP + 24 + max(_MOST_LINES * _LINE, 2 * half * unit + 40) + 20
    )
    canvas.text(8, 8, title, 2)

    def at(corner: Sequence[float]) -> Point:
        x, y = (floor(value * unit + 0.5) for value in corner)
        return _LEFT + half * unit + x, _TOP + half * unit - y

    canvas.polygon(
        [[at(p) for p in r] for r in (params.exterior, *params.holes)], LIGHT
    )
    for number in range(-half, half + 1):
        (x, y), text = at((number, number)), str(number)
        canvas.fill(x, _TOP, 1, 2 * half * unit + 1, GREY)
        canvas.fill(_LEFT, y, 2 * half * unit + 1, 1, GREY)
        canvas.text_in((x - 20, _TOP + 2 * half * unit + 6, 40, 14), text, 2)
        canvas.text_in((4, y - 7, _LEFT - 10, 14), text, 2)
    for i, corner in enumerate(ring):
        canvas.line(at(corner), at(ring[(i + 1) % len(ring)]), BLUE)
    middle = at(
        [round(fsum(values) / len(ring), 6) for values in zip(*ring, strict=True)]
    )
    every = next(k for k in (1, 5, 10) if len(ring) <= 12 * k)
    for i, corner in enumerate(ring):
        x, y = at(corner)
        canvas.fill(x - 2, y - 2, 5, 5, BLUE)
        if i % every == 0:
            canvas.text_in(_beside((x, y), middle), str(i), 2, RED)
    canvas.text(
        _LEFT, _TOP + 2 * half * unit + 32, "x to the right, y upwards", 2, GREY
    )
    canvas.text(table, _TOP, name, 2, BLUE)
    for i, line in enumerate(lines):
        place = (table + i // _MOST_LINES * wide, _TOP + _LINE * (i % _MOST_LINES) + 24)
        canvas.text(*place, line, 2, BLACK)
    return canvas


def _beside(corner: Point, middle: Point) -> tuple[int, int, int, int]:
    """Return the box for a corner's number: towards the middle of the ring, off its sides."""
    dx, dy = middle[0] - corner[0], middle[1] - corner[1]
    away = max(1, isqrt(dx * dx + dy * dy))
    return corner[0] + 22 * dx // away, corner[1] + 18 * dy // away, 1, 1
