"""Candidates for a cover: shadows of unit tetrahedra, along the sides of a target and inside it.

Angles are stored as cosine and sine, so that they are the same on every machine.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely
from shapely import Polygon

from scbench.base.seeding import Stream
from scbench.graders.tetrahedra_shadow_projection import BASE, Floats, corners

XY = tuple[float, float]
Quaternion = tuple[float, float, float, float]
# How far a shadow along a side sticks out: less than the slack, so that it costs nothing.
_OUT = 0.03
# How far it may stick out past the end of the side.
_PAST = 0.045
# Maximum step along a side.
_SLIDE = 0.12
# Maximum number of sides along which shadows are laid.
_MOST_SIDES = 50
# Number of orientations in addition to the square and the triangle.
_TURNED = 12
# The numbers of two templates: the square, and the triangle of a tetrahedron that is not tilted.
_SQUARE = 0
_FLAT = 1
# Directions with at least this cosine count as parallel.
_PARALLEL = 0.99


class Side(NamedTuple):
    """A side of a ring: its start, its direction as a unit vector, and its length."""

    start: XY
    direction: XY
    length: float


class Template(NamedTuple):
    """An orientation and its shadow.

    Attributes:
        quaternion: the orientation, scalar part first.
        outline: 4 x 2, the corners counter-clockwise; the last corner of a triangle occurs twice.
        sides: the three or four sides of the shadow, in the same order.
    """

    quaternion: Quaternion
    outline: Floats
    sides: list[Side]


class Candidate(NamedTuple):
    """A shadow: the number of its template, cosine and sine of its turn, and its move."""

    template: int
    cosine: float
    sine: float
    x: float
    y: float


def shadow_candidates(target: Polygon, pitch: float) -> list[Candidate]:
    """Return the candidates for a target; those inside are ``pitch`` apart."""
    sides = sides_of_target(target)
    return [*side_candidates(sides), *inside_candidates(target, sides, pitch)]


def flat_candidates(target: Polygon, pitch: float) -> list[Candidate]:
    """Return the candidates inside that are not tilted, and none along a side."""
    inside = inside_candidates(target, sides_of_target(target), pitch)
    return [shadow for shadow in inside if shadow.template == _FLAT]


def sides_of_target(target: Polygon) -> list[Side]:
    """Return the sides of a target and its holes; only some of them if there are many."""
    sides: list[Side] = []
    for ring in (target.exterior, *target.interiors):
        sides += sides_of(shapely.get_coordinates(ring))
    # A curved outline has many sides; some of them are enough.
    return sides[:: math.ceil(len(sides) / _MOST_SIDES)]


def sides_of(ring: Floats) -> list[Side]:
    """Return the sides of a closed ring of n x 2 coordinates."""
    sides = []
    for (ax, ay), (bx, by) in pairwise(ring.tolist()):
        length = math.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
        direction = ((bx - ax) / length, (by - ay) / length)
        sides.append(Side((ax, ay), direction, length))
    return sides


@cache
def templates() -> list[Template]:
    """Return the square shadow, the triangular one, and a dozen others."""
    # The line between the middles of two opposite edges, turned to z: the shadow is a square.
    a, b, c, d = np.array(BASE).tolist()
    x, y, z = ((c[i] + d[i] - a[i] - b[i]) / 2 for i in range(3))
    square: Quaternion = (math.sqrt(x * x + y * y + z * z) + z, y, -x, 0.0)
    quaternions: list[Quaternion] = [square, (1, 0, 0, 0)]
    rng = Stream("shadow templates")
    while len(quaternions) < 2 + _TURNED:
        q0, q1, q2, q3 = (rng.between(-50, 50) for _ in range(4))
        # Only integer points in a ball are used, so that all directions are equally likely.
        if 100 < q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3 <= 2500:
            quaternions.append((q0, q1, q2, q3))
    return [_template(quaternion) for quaternion in quaternions]


def _template(quaternion: Quaternion) -> Template:
    length = math.sqrt(sum(q * q for q in quaternion))
    q0, q1, q2, q3 = (round(q / length, 12) for q in quaternion)
    points = corners(np.array([(0.0, 0.0, 0.0, q0, q1, q2, q3)]))[0, :, :2]
    hull = shapely.orient_polygons(shapely.convex_hull(shapely.multipoints(points)))
    ring = shapely.get_coordinates(hull)
    outline = ring[:-1]
    if len(outline) == 3:
        outline = np.vstack([outline, outline[-1:]])
    return Template((q0, q1, q2, q3), outline, sides_of(ring))


def turned_quaternion(
    quaternion: Quaternion, cosine: float, sine: float
) -> tuple[float, ...]:
    """Return the quaternion of a rotation followed by a turn about z, rounded."""
    # Cosine and sine of half the angle.
    c = math.sqrt(max(0.0, (1 + cosine) / 2))
    s = math.copysign(math.sqrt(max(0.0, (1 - cosine) / 2)), sine)
    w, x, y, z = quaternion
    turned = (c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w)
    return tuple(round(float(q), 9) for q in turned)


def side_candidates(sides: Sequence[Side]) -> Iterator[Candidate]:
    """Yield shadows with one side along a side of the target."""
    for side in sides:
        for k, template in enumerate(templates()):
            for edge in template.sides:
                yield from slide_along(side, k, edge)


def slide_along(side: Side, template: int, edge: Side) -> Iterator[Candidate]:
    """Yield a shadow with one edge along a side of the target, moved in steps from end to end."""
    (ax, ay), (dx, dy), _ = side
    (px, py), (ex, ey), _ = edge
    cosine = ex * dx + ey * dy
    sine = ex * dy - ey * dx
    first = -_PAST
    last = side.length - edge.length + _PAST
    # An edge that is longer than the side gets three places.
    steps = int((last - first) / _SLIDE) + 1 if last >= first else 2
    for j in range(steps + 1):
        t = first + (last - first) * (j / steps)
        x = ax + t * dx + _OUT * dy - (cosine * px - sine * py)
        y = ay + t * dy - _OUT * dx - (sine * px + cosine * py)
        yield Candidate(template, cosine, sine, x, y)


def inside_candidates(
    target: Polygon, sides: Sequence[Side], pitch: float
) -> Iterator[Candidate]:
    """Yield squares and triangles, parallel to up to three sides, centred on a grid."""
    x0, y0, x1, y1 = target.bounds
    xs = x0 + pitch * np.arange(int((x1 - x0) / pitch) + 1)
    ys = y0 + pitch * np.arange(int((y1 - y0) / pitch) + 1)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    centres = grid[shapely.contains_xy(target, grid)].tolist()
    for k, template in enumerate(templates()[:2]):
        starts = [edge.start for edge in template.sides]
        px, py = (sum(axis) / len(starts) for axis in zip(*starts, strict=True))
        # A square turned by half a turn is the same.
        signs = (1,) if k == _SQUARE else (1, -1)
        for dx, dy in main_directions(sides):
            for sign in signs:
                cosine = sign * dx
                sine = sign * dy
                turned_x = cosine * px - sine * py
                turned_y = sine * px + cosine * py
                for x, y in centres:
                    yield Candidate(k, cosine, sine, x - turned_x, y - turned_y)


def main_directions(sides: Sequence[Side]) -> list[XY]:
    """Return the first three directions of sides that are not parallel or at right angles."""
    directions: list[XY] = []
    for side in sides:
        if all(are_slanted(side.direction, known) for known in directions):
            directions.append(side.direction)
    return directions[:3]


def are_slanted(first: XY, second: XY) -> bool:
    """Return whether two directions are neither parallel nor at right angles."""
    dot = first[0] * second[0] + first[1] * second[1]
    cross = first[0] * second[1] - first[1] * second[0]
    return abs(dot) < _PARALLEL and abs(cross) < _PARALLEL
