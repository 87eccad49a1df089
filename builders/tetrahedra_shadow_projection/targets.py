"""Draws flat targets for shadows: regular polygons, stars, blocks, slanted figures and bands."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import shapely
from shapely import Polygon

from scbench.base.seeding import Stream
from scbench.graders.tetrahedra_shadow_projection import polygons

XY = tuple[float, float]
Figure = Literal["regular", "star", "blocks", "slanted", "band"]
_DECIMALS = 3


def draw_target(
    figure: Figure, rng: Stream, *, area: float, sides: int, hole: bool
) -> tuple[str, Polygon]:
    """Draw a target somewhere near the origin.

    Args:
        figure: what kind of figure.
        rng: where the numbers come from.
        area: its area, before its corners are rounded to three decimals.
        sides: number of sides of a regular polygon, or of strokes of a band.
        hole: whether it has a square hole, 5 to 15 % as large as the figure.

    Returns:
        The target in a few words, and the polygon; it need not be valid.
    """
    if figure == "regular":
        title, points = f"a regular polygon with {sides} sides", _round(sides)
    elif figure == "band":
        title, points = f"a zigzag band of {sides} strokes", _band(sides, rng)
    else:
        title, points = _FIGURES[figure](rng)
    if figure != "blocks":
        points = _turn(points, *_direction(rng))
    holes: list[list[XY]] = []
    if hole:
        title += ", with a square hole"
        centre = shapely.centroid(Polygon(points))
        side = math.sqrt(rng.uniform(0.05, 0.15) * Polygon(points).area)
        square = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)]
        turned = square if figure == "blocks" else _turn(square, *_direction(rng))
        holes = [[(centre.x + side * x, centre.y + side * y) for x, y in turned]]
    scale = math.sqrt(area / Polygon(points, holes).area)
    x0, y0, x1, y1 = (scale * v for v in Polygon(points).bounds)
    move_x = rng.uniform(-1, 1) - (x0 + x1) / 2
    move_y = rng.uniform(-1, 1) - (y0 + y1) / 2

    def place(ring: Sequence[XY]) -> list[XY]:
        # Adding 0.0 makes minus zero plain zero.
        return [
            (round(scale * x + move_x, _DECIMALS) + 0.0, round(scale * y + move_y, _DECIMALS) + 0.0)
            for x, y in ring
        ]

    return title, Polygon(place(points), [place(ring) for ring in holes])


def smallest_corner(target: Polygon) -> float:
    """Return the smallest angle of a corner that points outwards, in degrees; 180 if none does."""
    angles = [180.0]
    for ring in (target.exterior, *target.interiors):
        points = shapely.get_coordinates(ring)[:-1].tolist()
        for i, (x, y) in enumerate(points):
            (px, py), (qx, qy) = points[i - 1], points[(i + 1) % len(points)]
            cross = (x - px) * (qy - y) - (y - py) * (qx - x)
            dot = (px - x) * (qx - x) + (py - y) * (qy - y)
            if cross > 0:
                angles.append(math.degrees(math.atan2(cross, dot)))
    return min(angles)


def is_wide(target: Polygon, width: float) -> bool:
    """Whether a disc of this diameter can reach every main part of a target without leaving it."""
    core = shapely.buffer(target, -width / 2, join_style="mitre")
    return len(polygons(core)) == 1


def _direction(rng: Stream) -> XY:
    """Return cosine and sine of a random angle, without asking a library for either."""
    t, quarter = rng.unit(), rng.below(4)
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    for _ in range(quarter):
        x, y = -y, x
    return x, y


def _turn(points: Sequence[XY], cosine: float, sine: float) -> list[XY]:
    return [(cosine * x - sine * y, sine * x + cosine * y) for x, y in points]


def _round(corners: int, radii: Sequence[float] = (1.0,)) -> list[XY]:
    """Return points around the origin at even angles, their radii taken in turn."""
    angles = (2 * math.pi * i / corners for i in range(corners))
    return [
        (radii[i % len(radii)] * math.cos(a), radii[i % len(radii)] * math.sin(a))
        for i, a in enumerate(angles)
    ]


def _star(rng: Stream) -> tuple[str, list[XY]]:
    tips = rng.between(4, 7)
    return f"a star with {tips} tips", _round(2 * tips, (1.0, rng.uniform(0.4, 0.65)))


def _blocks(rng: Stream) -> tuple[str, list[XY]]:
    """Return two to four upright blocks side by side, each meeting the next along a side."""
    left, low, high = 0.0, 0.0, rng.uniform(1.0, 3.0)
    lower, upper = [], []
    for _ in range(rng.between(2, 4)):
        right = left + rng.uniform(0.8, 1.6)
        lower += [(left, low), (right, low)]
        upper += [(left, high), (right, high)]
        left = right
        meet = rng.uniform(low, high)
        low, high = meet - rng.uniform(0.5, 2.0), meet + rng.uniform(0.5, 2.0)
    return "a figure with all sides parallel to the axes", [*lower, *reversed(upper)]


def _slanted(rng: Stream) -> tuple[str, list[XY]]:
    height, lean = rng.uniform(1.0, 2.0), rng.uniform(0.2, 1.2)
    match rng.below(4):
        case 0:
            return "a parallelogram", [(0, 0), (2, 0), (2 + lean, height), (lean, height)]
        case 1:
            return "a trapezoid", [(0, 0), (3, 0), (3 - lean, height), (lean / 2, height)]
        case 2:
            tip = 1 + lean
            return "a chevron", [(0, -1), (1, -1), (tip, 0), (1, 1), (0, 1), (tip - 1, 0)]
        case _:
            head = rng.uniform(1.2, 2.0)
            shaft = rng.uniform(0.4, 0.6)
            arrow = [(-2, -shaft), (0, -shaft), (0, -1), (head, 0), (0, 1), (0, shaft), (-2, shaft)]
            return "an arrow", [(float(x), float(y)) for x, y in arrow]


def _band(strokes: int, rng: Stream) -> list[XY]:
    """Return a zigzag strip of even width, whose strokes are 2 to 3 times as long as it is wide.

    Where two strokes meet, its sides are cut where they cross.
    """
    points, heading = [(0.0, 0.0)], (1.0, 0.0)
    headings: list[XY] = []
    for i in range(strokes):
        length, lean = rng.uniform(2.0, 3.0), rng.uniform(0.5, 0.75)
        # Half the turn to the next stroke, to either side in turn, as tangent of half an angle.
        cosine, sine = (1 - lean * lean) / (1 + lean * lean), 2 * lean / (1 + lean * lean)
        heading = (cosine, sine if i % 2 else -sine)
        headings.append(heading)
        x, y = points[-1]
        points.append((x + length * heading[0], y + length * heading[1]))
    sides: list[list[XY]] = [[], []]
    for i, (x, y) in enumerate(points):
        (ax, ay), (bx, by) = headings[max(0, i - 1)], headings[min(i, strokes - 1)]
        reach = 1 + ax * bx + ay * by
        for side, ring in zip((-0.5, 0.5), sides, strict=True):
            ring.append((x - side * (ay + by) / reach, y + side * (ax + bx) / reach))
    return [*sides[0], *reversed(sides[1])]


_FIGURES: Mapping[str, Callable[[Stream], tuple[str, list[XY]]]] = {
    "star": _star,
    "blocks": _blocks,
    "slanted": _slanted,
}
