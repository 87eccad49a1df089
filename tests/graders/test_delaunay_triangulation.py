"""Delaunay: every right triangulation passes, and each fault is named by its own check."""

import json
from pathlib import Path

import pytest

from scbench.catalog import get_task
from scbench.graders.delaunay_triangulation import CHECKS, grade
from scbench.schemas.delaunay_triangulation import Answer, Params

DATA = Path(__file__).parent.parent / "data"
RESEARCH = json.loads((DATA / "delaunay_research_triangles.json").read_text())
PAPER = get_task("delaunay_triangulation").builder().paper()
# A unit square and its centre moved a little: one triangulation. Corners 0 to 3, inner point 4.
KITE = Params(points=((0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.4)), decimals=1)
FAN = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
SQUARE = Params(points=((0, 0), (1, 0), (1, 1), (0, 1)), decimals=0)


def verdict(params, triangles):
    return grade(params, Answer(triangles=triangles))


def failed(params, triangles):
    return {check.id for check in verdict(params, triangles).checks if not check.passed}


@pytest.mark.parametrize("diagonal", [[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
def test_four_points_on_a_circle_have_two_right_answers(diagonal):
    assert verdict(SQUARE, diagonal).score == 1


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


def test_a_point_on_a_hull_side_must_split_it():
    params = Params(points=((0, 0), (2, 0), (1, 2), (1, 0)), decimals=0)
    assert verdict(params, [[0, 3, 2], [3, 1, 2]]).score == 1
    assert failed(params, [[0, 1, 2]]) == {"all_points", "hull", "empty_circle"}
    assert {"area"} <= failed(params, [[0, 1, 2], [0, 1, 3]])


def test_a_wrong_answer_shows_all_its_faults_and_what_is_missing():
    bad = verdict(KITE, [FAN[0], FAN[0], [0, 1, 9], [0, 1, 2]])
    assert {check.id for check in bad.checks} == set(CHECKS)
    assert {check.id for check in bad.failed} >= {"indices", "repeats", "overlap", "hull"}
    assert bad.metrics["missing"] == [[0, 3, 4], [1, 2, 4], [2, 3, 4]]
    assert bad.metrics["surplus"] == [[0, 1, 2]]


def test_the_research_references_of_unsolvable_items_are_wrong_on_the_printed_points():
    assert sorted(map(int, RESEARCH)) == [11, 14, 15, 16, 19, 20, 21, 22, 24]
    for subtask, triangles in RESEARCH.items():
        assert verdict(PAPER[int(subtask)].params, triangles).score == 0


def test_flipping_any_edge_of_a_paper_instance_is_wrong():
    params = PAPER[3].params
    triangles = get_task("delaunay_triangulation").builder().reference(params).triangles
    flips = 0
    for one in triangles:
        for other in triangles:
            shared = set(one) & set(other)
            if one < other and len(shared) == 2:
                (a,), (b,) = set(one) - shared, set(other) - shared
                rest = [t for t in triangles if t not in {one, other}]
                assert verdict(params, [*rest, *([a, b, c] for c in shared)]).score == 0
                flips += 1
    assert flips > 20


def test_a_flood_of_triangles_is_not_gone_through():
    assert failed(KITE, [[0, 1, 2]] * 101) == {"resource_limit"}
    assert failed(KITE, [[0, 1, 2]] * 100) != {"resource_limit"}
