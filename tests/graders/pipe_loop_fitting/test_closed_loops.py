"""Measures of closed loops, checked with slow or independent methods."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.pipe_loop_fitting.contacts import contacts
from scbench.graders.pipe_loop_fitting.loop_constraints import (
    cosine,
    hull_area,
    longest_run,
)

# On a coarse grid most loops have contacts of every kind; tiny shifts put them just off.
coordinate = st.integers(0, 4).map(float) | st.builds(
    lambda v, shift: v / 2 + shift,
    st.integers(0, 8),
    st.sampled_from(
        [0.0, 1e-9, -1e-9, 9e-10, 1.1e-9, 1e-10, 1e-15, 1e-300, 0.1, 1 / 3]
    ),
)


def pieces(points):
    exact = [(Fraction(x), Fraction(y)) for x, y in points]
    return list(zip(exact, [*exact[1:], exact[0]], strict=True))


def meeting(one, other):
    """Return the parameters where the lines through two pieces meet; None if parallel."""
    ((ax, ay), (bx, by)), ((cx, cy), (dx, dy)) = one, other
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    det = ux * vy - uy * vx
    if det == 0:
        return None
    wx, wy = cx - ax, cy - ay
    return (wx * vy - wy * vx) / det, (wx * uy - wy * ux) / det


def square_gap(p, piece):
    (ax, ay), (bx, by) = piece
    ux, uy = bx - ax, by - ay
    square = ux * ux + uy * uy
    t = ((p[0] - ax) * ux + (p[1] - ay) * uy) / square if square else Fraction(0)
    t = min(max(t, Fraction(0)), Fraction(1))
    return (ax + t * ux - p[0]) ** 2 + (ay + t * uy - p[1]) ** 2


def slow_contacts(points):
    """Compare every pair of pieces in rational arithmetic."""
    all_pieces, n = pieces(points), len(points)
    crossings, touches = [], []
    for i, j in combinations(range(n), 2):
        if j == i + 1 or (i, j) == (0, n - 1):
            continue  # neighbours share a joint
        one, other = all_pieces[i], all_pieces[j]
        at = meeting(one, other)
        if at is not None and 0 < at[0] < 1 and 0 < at[1] < 1:
            crossings.append((i, j))
            continue
        gaps = [square_gap(p, other) for p in one] + [square_gap(p, one) for p in other]
        if min(gaps) < Fraction(1, 10**18):
            touches.append((i, j))
    return crossings, touches


@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=14))
def test_contacts_match_rational_arithmetic(points):
    result = contacts(np.array(points))
    assert (result.crossings, result.touches) == slow_contacts(points)


def test_contacts_are_exact_where_doubles_round():
    # (0.3, x) is off the line through (0, 0) and (0.5, 0.5) by less than a rounding error.
    x = np.nextafter(0.3, 1)
    points = [(0.0, 0.0), (0.5, 0.5), (0.5, 0.9), (0.3, x), (0.3, 0.2), (0.9, -1.0)]
    result = contacts(np.array(points))
    assert (result.crossings, result.touches) == slow_contacts(points)
    assert (0, 3) in result.crossings


def test_cosines_of_known_angles():
    assert [cosine(Fraction(d)) for d in (0, 60, 120, 180)] == [1.0, 0.5, -0.5, -1.0]
    assert abs(cosine(Fraction(90))) < 1e-39
    for tenth in range(0, 1801, 7):
        assert cosine(Fraction(tenth, 10)) == pytest.approx(
            math.cos(math.radians(tenth / 10)), abs=1e-15
        )


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_longest_run_wraps_around(marks):
    run = longest_run(marks)
    n = len(marks)
    assert all(marks[i] for i in run)
    assert all((a + 1) % n == b for a, b in pairwise(run))
    if all(marks):
        assert len(run) == n
        return
    text = "".join("x" if mark else " " for mark in marks)
    # Written twice, runs over the end are in one piece.
    assert len(run) == max(map(len, (text + text).split()), default=0)


@given(
    st.lists(
        st.tuples(st.integers(0, 9).map(float), st.integers(0, 9).map(float)),
        min_size=1,
        max_size=30,
    )
)
def test_hull_area_matches_shapely(points):
    assert hull_area(points) == pytest.approx(
        shapely.MultiPoint(points).convex_hull.area
    )
