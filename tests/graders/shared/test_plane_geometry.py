"""Exact plane geometry, checked by brute force."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scbench.base.errors import GenerationError
from scbench.graders.shared.plane_geometry import (
    first_inside,
    in_circle,
    orient,
    third_corners,
    to_integers,
    triangulate,
)

coordinates = st.integers(-6, 6)
point_sets = st.lists(
    st.tuples(coordinates, coordinates), min_size=3, max_size=11, unique=True
)


def circle(a, b, c):
    """Return centre and squared radius of the circle through three points."""
    (ax, ay), (bx, by), (cx, cy) = a, b, c
    aa, bb, cc = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    d = Fraction(2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by)))
    x = (aa * (by - cy) + bb * (cy - ay) + cc * (ay - by)) / d
    y = (aa * (cx - bx) + bb * (ax - cx) + cc * (bx - ax)) / d
    return (x, y), (ax - x) ** 2 + (ay - y) ** 2


def first_by_in_circle(points, triangle):
    """Return the first point inside the circle of a triangle, in any orientation."""
    a, b, c = (points[i] for i in triangle)
    turn = orient(a, b, c)
    if turn == 0:
        return None
    if turn < 0:
        b, c = c, b
    inside = [i for i, p in enumerate(points) if in_circle(a, b, c, p) > 0]
    return min(inside, default=None)


@given(*[st.tuples(coordinates, coordinates)] * 4)
def test_in_circle_agrees_with_distances(a, b, c, d):
    assume(orient(a, b, c) > 0)
    centre, radius = circle(a, b, c)
    distance = (d[0] - centre[0]) ** 2 + (d[1] - centre[1]) ** 2
    assert (in_circle(a, b, c, d) > 0) == (distance < radius)
    assert (in_circle(a, b, c, d) == 0) == (distance == radius)


@given(point_sets)
def test_first_inside_agrees_with_in_circle(points):
    for triangle in combinations(range(len(points)), 3):
        expected = first_by_in_circle(points, triangle)
        assert first_inside(points, triangle) == expected
        assert first_inside(points, triangle[::-1]) == expected


def hull_area(points):
    """Return twice the area of the convex hull, by gift wrapping over all pairs."""
    total = 0
    for a in points:
        for b in points:
            turns = [orient(a, b, p) for p in points]
            # Take the longest edge of each hull side: no point is to its right, none is beyond b.
            if a != b and min(turns) >= 0 and not any(beyond(a, b, p) for p in points):
                total += a[0] * b[1] - a[1] * b[0]
    return total


def beyond(a, b, p):
    """Return whether p lies on the line through a and b but not between them."""
    if orient(a, b, p) or p in {a, b}:
        return False
    return not (min(a, b) <= p <= max(a, b))


@given(point_sets)
def test_triangulations_cover_the_hull_once_with_empty_circles(points):
    if all(orient(points[0], points[1], p) == 0 for p in points):
        with pytest.raises(GenerationError, match="one line"):
            triangulate(points)
        return
    triangles, hull = triangulate(points)
    area, used = 0, set()
    for triangle in triangles:
        a, b, c = (points[i] for i in triangle)
        turn = orient(a, b, c)
        if turn < 0:
            b, c = c, b
        assert turn != 0
        assert all(in_circle(a, b, c, p) <= 0 for p in points)
        area += abs(turn)
        used.update(triangle)
    assert area == hull_area(points)
    assert used == set(range(len(points)))
    third = third_corners(points, triangles)
    assert len(third) == 3 * len(triangles), "no edge is used twice on one side"
    outline = {edge for edge in third if edge[::-1] not in third}
    assert outline == set(zip(hull, hull[1:] + hull[:1], strict=True))


def test_equal_points_are_rejected():
    with pytest.raises(GenerationError, match="equal"):
        triangulate([(0, 0), (1, 0), (0, 1), (1, 0)])


def test_printed_decimals_become_exact_integers():
    thousandths = [(i / 1000, (1000 - i) / 1000) for i in range(1001)]
    assert to_integers(thousandths, 3) == tuple((i, 1000 - i) for i in range(1001))
