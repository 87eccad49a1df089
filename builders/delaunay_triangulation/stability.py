"""A test of whether misreading points by a few pixels can change their triangulation.

It uses interval arithmetic on integers: every quantity has a lower and an upper bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scbench.graders.shared.plane_geometry import (
    XY,
    in_circle,
    third_corners,
    triangulate,
)


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from a lower to an upper bound."""

    low: int
    high: int

    def __add__(self, addend: "Interval") -> "Interval":
        return Interval(self.low + addend.low, self.high + addend.high)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, subtrahend: "Interval") -> "Interval":
        return self + -subtrahend

    def __mul__(self, factor: "Interval") -> "Interval":
        products = (
            self.low * factor.low,
            self.low * factor.high,
            self.high * factor.low,
            self.high * factor.high,
        )
        return Interval(min(products), max(products))

    def square(self) -> "Interval":
        """Return bounds of the square; unlike a product with itself, it is never negative."""
        low, high = sorted((self.low**2, self.high**2))
        if self.low <= 0 <= self.high:
            low = 0
        return Interval(low, high)


class Vector(NamedTuple):
    """Bounds of a difference of two points."""

    x: Interval
    y: Interval

    def cross(self, second: "Vector") -> Interval:
        """Return bounds of the cross product with a second vector."""
        return self.x * second.y - self.y * second.x

    def square(self) -> Interval:
        """Return bounds of the square of the length."""
        return self.x.square() + self.y.square()


def is_stable(points: Sequence[XY], shift: int) -> bool:
    """Return whether the triangulation stays the same when the points move.

    Each point may move by up to the shift along either axis. Interval arithmetic checks that every
    triangle keeps its orientation, and that the corner beyond each of its sides stays outside its
    circle. True is certain; False means unknown.
    """
    triangles, _ = triangulate(points)
    third = third_corners(points, triangles)
    for (a, b), c in third.items():
        if not turns_left(points[a], points[b], points[c], shift):
            return False
        d = third.get((b, a))
        if d is not None:
            corners = (points[a], points[b], points[c])
            if circle_bounds(corners, points[d], shift).high >= 0:
                return False
    # There is no triangle beyond a side of the hull. The hull must stay convex.
    next_on_hull = {a: b for a, b in third if (b, a) not in third}
    for a, b in next_on_hull.items():
        if not turns_left(points[a], points[b], points[next_on_hull[b]], shift):
            return False
    return True


def turns_left(a: XY, b: XY, c: XY, shift: int) -> bool:
    """Return whether the path from a via b to c turns left wherever the points move."""
    way_to_b = way_between(a, b, shift)
    way_to_c = way_between(a, c, shift)
    return way_to_b.cross(way_to_c).low > 0


def way_between(start: XY, end: XY, shift: int) -> Vector:
    """Return bounds of the vector between two points that may move by the shift along each axis."""
    x = end[0] - start[0]
    y = end[1] - start[1]
    # Both ends may move, in opposite directions.
    reach = 2 * shift
    return Vector(Interval(x - reach, x + reach), Interval(y - reach, y + reach))


def circle_bounds(corners: tuple[XY, XY, XY], beyond: XY, shift: int) -> Interval:
    """Return bounds of a determinant that is negative if the point beyond is outside the circle.

    The bounds are the determinant at the given points, plus or minus its largest possible change,
    which follows from the bounds of its slopes.
    """
    ways = [way_between(beyond, corner, shift) for corner in corners]
    slopes: list[Interval] = []
    two = Interval(2, 2)
    # Moving all four points together changes nothing, so the slopes along an axis add up to 0.
    total_x = Interval(0, 0)
    total_y = Interval(0, 0)
    for i, p in enumerate(ways):
        q = ways[(i + 1) % 3]
        r = ways[(i + 2) % 3]
        turn = q.cross(r)
        slope_x = q.y * r.square() - r.y * q.square() + two * (p.x * turn)
        slope_y = r.x * q.square() - q.x * r.square() + two * (p.y * turn)
        slopes += [slope_x, slope_y]
        total_x += slope_x
        total_y += slope_y
    slopes += [-total_x, -total_y]
    steepest = [max(abs(slope.low), abs(slope.high)) for slope in slopes]
    change = shift * sum(steepest)
    value = in_circle(*corners, beyond)
    return Interval(value - change, value + change)
