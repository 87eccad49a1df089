"""Delaunay: every right triangulation passes, and each fault fails its own check."""

import pytest

from scbench.graders.delaunay_triangulation import grade
from scbench.schemas.delaunay_triangulation import Answer, Params

# A unit square (points 0 to 3) and a point near its centre (4): one triangulation.
KITE = Params(points=((0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.4)), decimals=1)
FAN = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]


def verdict(params, triangles):
    return grade(params, Answer(triangles=triangles))


def failed(params, triangles):
    return {check.id for check in verdict(params, triangles).checks if not check.passed}


@pytest.mark.parametrize(
    ("triangles", "checks"),
    [
        (FAN[1:], {"hull"}), ([*FAN, FAN[0]], {"repeats"}), ([*FAN, [4, 1, 0]], {"repeats"}),
        ([*FAN, [0, 1, 5]], {"indices"}), ([*FAN, [0, 0, 1]], {"indices"}),
        ([*FAN, [0, 1, 2]], {"overlap", "empty_circle"}),
        ([[0, 1, 2], [0, 2, 3]], {"all_points", "empty_circle"}), ([], {"all_points", "hull"}),
        ([[0, 1, 4], [1, 2, 4], [2, 3, 4]], {"hull"}), ([[0, 1, 3], [1, 2, 3]], {"all_points"}),
        ([[0, 1, 5], [0, 0, 0]], {"indices", "all_points", "hull"}),
    ],
)  # fmt: skip
def test_each_fault_fails_its_own_check(triangles, checks):
    assert checks <= failed(KITE, triangles)
    assert verdict(KITE, triangles).score == 0


def test_points_on_hull_sides_must_split_them():
    params = Params(points=((0, 0), (2, 0), (1, 2), (1, 0)), decimals=0)
    assert verdict(params, [[0, 3, 2], [3, 1, 2]]).score == 1
    assert failed(params, [[0, 1, 2]]) == {"all_points", "hull", "empty_circle"}
    assert {"area"} <= failed(params, [[0, 1, 2], [0, 1, 3]])


def test_too_many_triangles_are_rejected():
    assert failed(KITE, [[0, 1, 2]] * 101) == {"resource_limit"}
    assert failed(KITE, [[0, 1, 2]] * 100) != {"resource_limit"}
