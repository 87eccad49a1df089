"""Tetrahedra shadows: the score and its limits, faults of the bodies, hostile answers."""

import math
import random

import pytest
from bounds import a_minute_of_work, peak
from shapely import Polygon

from scbench.catalog import get_task
from scbench.schemas.tetrahedra_shadow_projection import Params
from scbench.scoring.judge import judge

TASK = get_task("tetrahedra_shadow_projection")
ROOT = math.sqrt(3) / 2
# The target is exactly the shadow of the tetrahedron in its identity pose.
TRIANGLE = Params(
    title="a triangle", exterior=((0, 0), (1, 0), (0.5, ROOT)), holes=(), divisor=1.0
)
AREA = ROOT / 2
IDENTITY = (1, 0, 0, 0)
NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")
PAPER = [item.params for item in TASK.builder().paper()]
RNG = random.Random(1)
HUGE_ANSWERS = {
    "at_one_place": lambda: [pose()] * 2000,
    "stacked": lambda: [
        pose(RNG.uniform(-3, 3), RNG.uniform(-3, 3), 1.01 * i) for i in range(2000)
    ],
    "tiled": lambda: [
        pose(i % 20 - 10, i // 20 % 10 * ROOT, i // 200 * math.sqrt(2 / 3))
        for i in range(2000)
    ],
    "far_away": lambda: [
        pose(RNG.uniform(-1e6, 1e6), RNG.uniform(-1e6, 1e6)) for _ in range(2000)
    ],
    "huge": lambda: [pose(1e300, -1e300, 1.7e308, (1e300, 1.7e308, 1, 0))] * 2000,
    "one_above_the_limit": lambda: [pose()] * 2001,
    "seventy_thousand": lambda: [pose()] * 70_000,
}


def pose(x=0, y=0, z=0, quaternion=IDENTITY):
    return dict(zip(NAMES, (x, y, z, *quaternion), strict=True))


def verdict(poses, params=TRIANGLE):
    (only,) = judge(TASK, params, {"tetrahedrons": poses})
    return only


def failed(poses, params=TRIANGLE):
    return {check.id for check in verdict(poses, params).checks if not check.passed}


@pytest.mark.parametrize(
    ("subtask", "hair"), [(0, None), (4, 0.0), (9, 0.01), (11, 0.05)]
)
def test_copy_next_to_the_target_costs_its_shadow(subtask, hair):
    params = PAPER[subtask]
    right = list(TASK.builder().reference(params).model_dump()["tetrahedrons"])
    top = max(p["z"] for p in right) + 5
    target = Polygon(params.exterior, params.holes)
    x0, _, x1, y1 = target.bounds
    assert verdict(right, params).score == 1
    # The copy is far away, or its tip touches or slightly covers the rightmost corner.
    at, y = max(params.exterior)
    tip = at - hair if hair is not None else x1 + 50
    alone = verdict([*right, pose(tip, y, top)], params)
    check = next(check for check in alone.failed if check.id == "difference")
    assert check.details["strays"] == [len(right)]
    shadow_cost = 0.5 * AREA / target.area / params.divisor
    assert 1 - shadow_cost - 1e-6 <= alone.score < 1 - 0.6 * shadow_cost
    twice = verdict([*right, pose(tip, y, top), pose(x0 - 60, y1, top)], params)
    assert twice.score < alone.score - 0.9 * shadow_cost


def test_stray_costs_its_shadow_below_full_score():
    half = verdict([pose(), pose(5, 5)], TRIANGLE.model_copy(update={"divisor": 0.9}))
    assert half.score == pytest.approx(1 - 0.5 / 0.9)
    moved = verdict([pose(0.3), pose(5, 5)])
    assert moved.score == pytest.approx(max(0, verdict([pose(0.3)]).score - 0.5))
    assert verdict([pose(5, 5)]).score == 0


@pytest.mark.parametrize("subtask", [0, 3])
def test_copy_limit_matches_prompt(subtask):
    params = PAPER[subtask]
    area = round(Polygon(params.exterior, params.holes).area, 6)
    most = math.ceil(50 + 10 * area)
    prompt = " ".join(TASK.builder().prompt(params).split())
    assert f"There are at most {most:,} copies" in prompt
    right = list(TASK.builder().reference(params).model_dump()["tetrahedrons"])
    assert len(right) < most / 3
    pile = [dict(right[0], z=100 + 2 * i) for i in range(most - len(right))]
    assert verdict(right + pile, params).score == 1
    one_too_many = verdict([*right, *pile, pose(z=-9)], params)
    assert one_too_many.score == 0
    assert [check.id for check in one_too_many.failed] == ["count"]


@pytest.mark.parametrize(
    ("shift", "score"),
    [
        (0.0100, 1.0),
        (0.0102, (1 - 0.0102) ** 2),
        (0.03, (1 - 0.03) ** 2),
        (0.05, (1 - 0.05) ** 2),
    ],
)
def test_shift_within_slack_only_loses_coverage(shift, score):
    # Two equal triangles, moved by d along a side, share a triangle of side 1 - d.
    assert verdict([pose(x=shift)]).score == pytest.approx(score, abs=1e-8)


def test_spill_and_gaps_beyond_slack_cost_half():
    moved = verdict([pose(x=0.3)])
    covered, difference = moved.metrics["covered"], moved.metrics["difference"]
    assert covered == pytest.approx(0.49)
    assert 0 < difference < 2 * 0.51
    # Each triangle is the mirror image of the other, so spill and gaps are equal.
    assert moved.metrics["spill"] == pytest.approx(difference / 2)
    assert verdict([pose(x=0.06)]).metrics["difference"] > 0
    assert moved.score == pytest.approx(covered - difference / 2, abs=1e-8)
    assert verdict([pose(x=5)]).score == 0


def test_score_is_divided_and_98_percent_is_full():
    part = TRIANGLE.model_copy(update={"divisor": 0.95})
    assert verdict([pose(x=0.05)], part).score == pytest.approx(0.95, abs=1e-8)
    assert verdict([pose(x=0.03)], part).score == 1
    assert verdict([pose()], part).score == 1


def test_intersection_halves_and_wrong_length_quarters_the_score():
    assert verdict([pose(), pose()]).score == pytest.approx(0.5, abs=1e-8)
    long = pose(quaternion=(1.1, 0, 0, 0))
    assert verdict([long]).score == pytest.approx(0.25, abs=1e-8)
    both = verdict([long, pose()])
    assert both.score == pytest.approx(0.25, abs=1e-8), "only the smaller factor counts"
    assert failed([long, pose()]) == {"unit_quaternions", "intersection"}


def test_factor_is_applied_before_the_difference():
    two = [pose(x=0.1), pose(x=0.1)]
    shadow = verdict(two).metrics
    expected = 0.5 * shadow["covered"] - 0.5 * shadow["difference"]
    assert verdict(two).score == pytest.approx(max(expected, 0), abs=1e-8)
    assert 0 < expected < 0.5 * shadow["covered"]


@pytest.mark.parametrize(
    ("length", "unit"),
    [
        (0.995, True),
        (0.9949, False),
        (1.0049, True),
        (1.005, False),
        (-1, True),
        (0.5, False),
    ],
)
def test_squared_length_may_be_off_by_one_percent(length, unit):
    checks = failed([pose(quaternion=(length, 0, 0, 0))])
    assert ("unit_quaternions" not in checks) is unit


@pytest.mark.parametrize(
    ("shift", "cuts"), [(0.0014, False), (0.00142, True), (-0.1, False)]
)
def test_bodies_may_overlap_by_a_thousandth(shift, cuts):
    # For bodies next to each other along an edge, the depth is the shift / sqrt(2).
    poses = [pose(), pose(x=1 - shift)]
    assert ("intersection" in failed(poses)) is cuts


def test_hard_faults_score_0_and_other_checks_still_run():
    zero = pose(quaternion=(0, 0, 0, 0))
    assert verdict([pose(), zero]).score == 0
    assert failed([pose(), zero]) == {"rotation", "unit_quaternions"}
    assert failed([pose(), pose(x=1e6)]) == {"difference"}
    assert verdict([pose(), pose(x=1e6)]).score == pytest.approx(0.5, abs=1e-8)
    assert verdict([pose(), pose(y=-1.000001e6)]).score == 0
    assert failed([pose(), pose(y=-1.000001e6)]) == {"reach"}
    assert failed([zero, pose(z=1e7), pose(), pose(), pose(x=9)]) == {
        "rotation", "unit_quaternions", "reach", "intersection", "difference",
    }  # fmt: skip


@pytest.mark.parametrize("name", HUGE_ANSWERS)
def test_huge_answers_are_graded_or_rejected_quickly(name):
    poses = HUGE_ANSWERS[name]()
    before = peak()
    with a_minute_of_work():
        given = verdict(poses, PAPER[9])
    assert peak() - before < 2 * 1024 * 1024  # KiB
    assert given.score < 1
    is_rejected = {check.id for check in given.checks} == {"resource_limit"}
    assert is_rejected == (len(poses) > 2000)
    assert len(given.metrics.get("cutting_pairs", ())) <= 200
