"""Targets: regular polygons, stars, blocks, slanted figures and zigzag bands, some with a hole."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import shapely
from shapely import Polygon

from scbench.base.seeding import Stream
from scbench.builders.shared.builder import draw_direction
from scbench.graders.tetrahedra_shadow_projection import polygons

XY = tuple[float, float]
Figure = Literal["regular", "star", "blocks", "slanted", "band"]
_DECIMALS = 3
# The hole, before it is turned and enlarged; clockwise.
_SQUARE = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)]


class Outline(NamedTuple):
    """A figure of any size: its name, and its corners counter-clockwise."""

    title: str
    points: list[XY]


def draw_target(
    figure: Figure, rng: Stream, *, area: float, sides: int, hole: bool
) -> tuple[str, Polygon]:
    """Draw a target near the origin; return its title and its polygon, which may be invalid.

    Args:
        figure: kind of figure.
        rng: the source of the draws.
        area: area before the corners are rounded to three decimals.
        sides: sides of a regular polygon, or strokes of a band.
        hole: whether there is a square hole; it has 5 to 15 % of the figure's area.
    """
    title, points = draw_outline(figure, sides, rng)
    # Blocks and their holes are parallel to the axes.
    is_turned = figure != "blocks"
    if is_turned:
        points = turn_points(points, *draw_direction(rng))
    shape = Polygon(points)
    holes: list[list[XY]] = []
    if hole:
        title += ", with a square hole"
        centre = shapely.centroid(shape)
        side = math.sqrt(rng.uniform(0.05, 0.15) * shape.area)
        square = turn_points(_SQUARE, *draw_direction(rng)) if is_turned else _SQUARE
        holes = [[(centre.x + side * x, centre.y + side * y) for x, y in square]]
    scale = math.sqrt(area / Polygon(points, holes).area)
    x0, y0, x1, y1 = (scale * v for v in shape.bounds)
    move_x = rng.uniform(-1, 1) - (x0 + x1) / 2
    move_y = rng.uniform(-1, 1) - (y0 + y1) / 2
    move = (move_x, move_y)
    exterior = placed_ring(points, scale, move)
    return title, Polygon(exterior, [placed_ring(ring, scale, move) for ring in holes])


def placed_ring(ring: Sequence[XY], scale: float, move: XY) -> list[XY]:
    """Return a ring that is first scaled and then moved, rounded to three decimals."""
    corners = []
    for x, y in ring:
        placed_x = round(scale * x + move[0], _DECIMALS)
        placed_y = round(scale * y + move[1], _DECIMALS)
        # Adding 0.0 turns -0.0 into 0.0.
        corners.append((placed_x + 0.0, placed_y + 0.0))
    return corners


def draw_outline(figure: Figure, sides: int, rng: Stream) -> Outline:
    """Draw a figure of any size."""
    match figure:
        case "regular":
            return Outline(
                f"a regular polygon with {sides} sides", regular_points(sides)
            )
        case "band":
            return Outline(
                f"a zigzag band with {sides} segments", band_points(sides, rng)
            )
        case "star":
            tips = rng.between(4, 7)
            inner = rng.uniform(0.4, 0.65)
            return Outline(f"a star with {tips} tips", regular_points(2 * tips, inner))
        case "blocks":
            title = "a figure with all sides parallel to the axes"
            return Outline(title, block_points(rng))
        case "slanted":
            return draw_slanted(rng)


def regular_points(corners: int, inner: float = 1.0) -> list[XY]:
    """Return points at equal angles around the origin, every second one at the inner radius."""
    points = []
    for i in range(corners):
        radius = inner if i % 2 else 1.0
        angle = 2 * math.pi * i / corners
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    return points


def block_points(rng: Stream) -> list[XY]:
    """Draw two to four upright blocks side by side, each meeting the next along a side."""
    x0 = 0.0
    low = 0.0
    high = rng.uniform(1.0, 3.0)
    lower: list[XY] = []
    upper: list[XY] = []
    for _ in range(rng.between(2, 4)):
        x1 = x0 + rng.uniform(0.8, 1.6)
        lower += [(x0, low), (x1, low)]
        upper += [(x0, high), (x1, high)]
        x0 = x1
        # A height that this block and the next one share.
        meet = rng.uniform(low, high)
        low = meet - rng.uniform(0.5, 2.0)
        high = meet + rng.uniform(0.5, 2.0)
    return [*lower, *reversed(upper)]


def draw_slanted(rng: Stream) -> Outline:
    """Draw a parallelogram, a trapezoid, a chevron or an arrow."""
    top = rng.uniform(1.0, 2.0)
    lean = rng.uniform(0.2, 1.2)
    match rng.below(4):
        case 0:
            points: list[XY] = [(0, 0), (2, 0), (2 + lean, top), (lean, top)]
            return Outline("a parallelogram", points)
        case 1:
            points = [(0, 0), (3, 0), (3 - lean, top), (lean / 2, top)]
            return Outline("a trapezoid", points)
        case 2:
            tip = 1 + lean
            points = [(0, -1), (1, -1), (tip, 0), (1, 1), (0, 1), (tip - 1, 0)]
            return Outline("a chevron", points)
        case _:
            head = rng.uniform(1.2, 2.0)
            shaft = rng.uniform(0.4, 0.6)
            lower = [(-2, -shaft), (0, -shaft), (0, -1)]
            upper = [(0, 1), (0, shaft), (-2, shaft)]
            return Outline("an arrow", [*lower, (head, 0), *upper])


def band_points(strokes: int, rng: Stream) -> list[XY]:
    """Draw a zigzag strip of even width; its strokes are 2 to 3 times as long as it is wide."""
    middles = [(0.0, 0.0)]
    headings: list[XY] = []
    for i in range(strokes):
        length = rng.uniform(2.0, 3.0)
        # Angle of the stroke to the axis, alternately to either side; `lean` is the tangent of half
        # the angle.
        lean = rng.uniform(0.5, 0.75)
        cosine = (1 - lean * lean) / (1 + lean * lean)
        sine = 2 * lean / (1 + lean * lean)
        heading = (cosine, sine if i % 2 else -sine)
        headings.append(heading)
        x, y = middles[-1]
        middles.append((x + length * heading[0], y + length * heading[1]))
    right: list[XY] = []
    left: list[XY] = []
    for i, (x, y) in enumerate(middles):
        # The headings before and after; at the ends of the band, they are equal.
        ax, ay = headings[max(0, i - 1)]
        bx, by = headings[min(i, strokes - 1)]
        # A corner is half the band's width away from the middle lines of both strokes.
        reach = 1 + ax * bx + ay * by
        for side, ring in ((-0.5, right), (0.5, left)):
            ring.append((x - side * (ay + by) / reach, y + side * (ax + bx) / reach))
    return [*right, *reversed(left)]


def turn_points(points: Sequence[XY], cosine: float, sine: float) -> list[XY]:
    """Return points turned about the origin."""
    return [(cosine * x - sine * y, sine * x + cosine * y) for x, y in points]


def smallest_corner(target: Polygon) -> float:
    """Return the smallest angle of the corners that point outwards, in degrees; 180 if none do."""
    smallest = 180.0
    for ring in (target.exterior, *target.interiors):
        points = shapely.get_coordinates(ring)[:-1].tolist()
        following = [*points[1:], points[0]]
        for i, ((x, y), (qx, qy)) in enumerate(zip(points, following, strict=True)):
            px, py = points[i - 1]
            cross = (x - px) * (qy - y) - (y - py) * (qx - x)
            dot = (px - x) * (qx - x) + (py - y) * (qy - y)
            if cross > 0:
                smallest = min(smallest, math.degrees(math.atan2(cross, dot)))
    return smallest


def is_wide(target: Polygon, width: float) -> bool:
    """Return whether a disc of this diameter can reach every main part of a target from inside."""
    core = shapely.buffer(target, -width / 2, join_style="mitre")
    return len(polygons(core)) == 1
