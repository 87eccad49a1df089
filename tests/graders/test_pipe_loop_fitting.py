"""Pipe loops: each fault fails its own check, limits from both sides, and rounding."""

import math

import pytest
from judging import judging

from scbench.graders.pipe_loop_fitting.actions import Ask, Play
from scbench.schemas.pipe_loop_fitting import (
    AngleRange,
    CentroidBox,
    CoverQuadrants,
    FixedStart,
    HullArea,
    JointSeparation,
    MaxStraightRun,
    MinTurns,
    Params,
    TouchWalls,
    WallMargin,
)

verdict, failed, check = judging(
    "pipe_loop_fitting",
    lambda points: {"points": [{"x": x, "y": y} for x, y in points]},
)


# 12 pipes around a square of 3 m, in a room of 4 m.
RING = [
    *((i, 0) for i in range(3)),
    *((3, i) for i in range(3)),
    *((3 - i, 3) for i in range(3)),
    *((0, 3 - i) for i in range(3)),
]


def room(pipes, side=4, crossings=0, *constraints, tolerance=0.05):
    return Params(
        pipes=pipes,
        side=side,
        length_tolerance=tolerance,
        crossings=crossings,
        constraints=constraints,
    )


def shifted(points, dx, dy):
    return [(x + dx, y + dy) for x, y in points]


def changed(points, at, point):
    return [*points[:at], point, *points[at + 1 :]]


@pytest.mark.parametrize(
    ("length", "right"),
    [(1.05, True), (0.95, True), (1.0500001, False), (0.9499999, False)],
)
def test_length_limits_are_inclusive(length, right):
    square = [(0, 0), (length, 0), (length, length), (0, length)]
    assert ("length" not in failed(room(4), square)) == right


@pytest.mark.parametrize(("x", "right"), [(0, True), (-5e-10, True), (-2e-9, False)])
def test_walls_count_as_inside(x, right):
    assert ("inside" not in failed(room(12, 3), shifted(RING, x, 0))) == right
    assert ("inside" not in failed(room(12, 3), shifted(RING, -x, -x))) == right


def test_joints_with_six_equal_decimals_are_repeats():
    # Two unit squares joined at a corner; the loop visits it twice, a little apart.
    def eight(gap):
        near, far = (1 + gap, 1 - gap), (1 - gap, 1 + gap)
        return [(0, 0), (1, 0), near, (2, 1), (2, 2), (1, 2), far, (0, 1)]

    assert failed(room(8), eight(1e-7)) == {"repeats"}
    assert failed(room(8), eight(0)) == {"repeats", "touches"}
    assert failed(room(8), eight(2e-6)) == set()


def test_folds_are_detected_by_cosine():
    def fold(degrees):
        turn = math.radians(degrees)
        return [(2, 2), (3, 2), (2 + 1 - math.cos(turn), 2 + math.sin(turn))]

    limit = math.degrees(math.acos(0.99))
    assert limit == pytest.approx(8.11, abs=0.001)
    assert "hairpins" in failed(room(3), fold(limit - 0.001))
    assert "hairpins" not in failed(room(3), fold(limit + 0.001))
    # By rounding, the cosines of these loops at joint 0 are beyond 1 and -1.
    bounded = room(3, 4, 0, AngleRange(min_deg=20, max_deg=179))
    for loop, angle in (
        ([(0, 0), (0.3, 0.9), (0.15, 0.45)], 0),
        ([(0.025, 0.15), (0.1, 0.6), (0, 0)], 180),
    ):
        message = check(bounded, loop, "angle_range").message
        assert f"joint 0 is {angle:.1f} degrees" in message


def star(k):
    """Return a regular star of k points: a loop of 1 m pipes that crosses itself."""
    radius = 0.5 / math.sin(math.pi * 2 / k)
    points = []
    for i in range(k):
        angle = 4 * math.pi * i / k
        points.append((2 + radius * math.cos(angle), 2 + radius * math.sin(angle)))
    return points


@pytest.mark.parametrize("points", [5, 7, 9])
def test_crossings_are_counted_exactly(points):
    for target in range(points + 3):
        expected = set() if target == points else {"crossings"}
        assert failed(room(points, 4, target), star(points)) == expected


@pytest.mark.parametrize(
    ("constraint", "points", "right"),
    [
        (CentroidBox(xmin=1.5, xmax=2, ymin=1, ymax=1.5), RING, True),
        (CentroidBox(xmin=1.5001, xmax=2, ymin=1, ymax=2), RING, False),
        (CentroidBox(xmin=1, xmax=2, ymin=1, ymax=1.4999), RING, False),
        (TouchWalls(walls=2, tolerance=0.004), RING, True),
        (TouchWalls(walls=3, tolerance=0.004), RING, False),
        (TouchWalls(walls=2, tolerance=0.004), shifted(RING, 0.004, 0.004), True),
        (
            TouchWalls(walls=2, tolerance=0.004),
            shifted(RING, 1 - 0.004, 1 - 0.004),
            True,
        ),
        (TouchWalls(walls=1, tolerance=0.004), shifted(RING, 0.0041, 0.0041), False),
        (MinTurns(turns=4), RING, True),
        (MinTurns(turns=5), RING, False),
        (MaxStraightRun(joints=2), RING, True),
        (MaxStraightRun(joints=1), RING, False),
        (CoverQuadrants(), RING, True),
        (CoverQuadrants(), [(0, 0), (1, 0), (1, 1), (0, 1)], False),
        (WallMargin(margin=0.5), shifted(RING, 0.5, 0.5), True),
        (WallMargin(margin=0.3), shifted(RING, 0.3, 0.7), True),
        (WallMargin(margin=0.31), shifted(RING, 0.3, 0.7), False),
        (HullArea(area=9), RING, True),
        (HullArea(area=9.001), RING, False),
        (FixedStart(x=0, y=0.25, tolerance=0.25), RING, True),
        (FixedStart(x=0.2, y=0.2, tolerance=0.25), RING, False),
        (FixedStart(x=1, y=0, tolerance=0.25), RING, False),
        (JointSeparation(distance=math.sqrt(2)), RING, True),
        (JointSeparation(distance=1.4143), RING, False),
    ],
    ids=repr,
)
def test_constraints_at_their_limits(constraint, points, right):
    params = room(len(points), 4, 0, constraint)
    assert failed(params, points) == (set() if right else {constraint.type})
    assert check(params, points, constraint.type).passed == right


@pytest.mark.parametrize(
    ("tall", "least", "right"),
    [
        (math.sqrt(3) / 2, 60, True),
        (0.866025, 60, True),
        (0.866, 60, True),
        (0.8659, 60, False),
        (0.8659, 59.9, True),
    ],
)
def test_rounded_sixty_degrees_pass(tall, least, right):
    rhombus = [(0, 0), (1, 0), (1.5, tall), (0.5, tall)]
    params = room(4, 4, 0, AngleRange(min_deg=least, max_deg=120.1))
    assert (verdict(params, rhombus).score == 1) == right


@pytest.mark.parametrize(("bend", "straight"), [(4.9, True), (5, False), (5.1, False)])
def test_joints_above_175_degrees_are_straight(bend, straight):
    turn = math.radians(bend)
    # Joint 1 of this loop bends by this angle; the tolerance of the other lengths closes it.
    u = (1 + math.cos(turn), math.sin(turn))
    loop = [(0, 0), (1, 0), u, (u[0] - 0.1, u[1] + 1), (1, 1.05), (0, 1)]
    params = room(6, 4, 0, MaxStraightRun(joints=0), tolerance=0.1)
    assert (1 in check(params, loop, "max_straight_run").details["joints"]) == straight


def test_joint_on_a_midline_is_in_no_quadrant():
    square = [(2, 2), (3, 2), (3, 3), (2, 3)]
    result = check(room(4, 4, 0, CoverQuadrants()), square, "coverage_quadrants")
    offenders = result.details["offenders"]
    assert offenders == ["bottom left", "bottom right", "top left"]


def test_checks_are_skipped_without_a_loop():
    every = room(12, 4, 0, CoverQuadrants())
    for points in ([], [(0, 0)], [(0, 0), (1, 0)], changed(RING, 3, (1e200, 0))):
        given = verdict(every, points)
        skipped = {check.id for check in given.checks if check.passed is None}
        assert skipped == {
            "length", "repeats", "crossings", "touches", "hairpins", "coverage_quadrants",
        }  # fmt: skip
        assert given.score == 0


def test_angles_at_a_zero_length_pipe_are_unknown():
    constraints = (
        AngleRange(min_deg=20, max_deg=179),
        MaxStraightRun(joints=9),
        MinTurns(turns=1),
    )
    points = [(0, 0), (0, 0), (1, 0), (1, 1), (0, 1)]
    given = verdict(room(5, 4, 0, *constraints), points)
    skipped = {check.id for check in given.checks if check.passed is None}
    assert skipped == {"hairpins", "angle_range", "max_straight_run"}
    wrong = {check.id for check in given.checks if check.passed is False}
    assert wrong == {"length", "repeats", "touches"}


def test_too_many_joints_are_rejected():
    assert failed(room(12), RING * 4) == {"resource_limit"}
    assert failed(room(12), RING * 3) != {"resource_limit"}


def test_players_see_the_angles_of_their_loop():
    play = Play(room(4))
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    joints = [{"x": x, "y": y} for x, y in corners]
    assert play.step(Ask(action="ask", joints=joints))["angles"] == [90.0] * 4
    # A pipe without length has no direction.
    joints[1] = joints[0]
    assert play.step(Ask(action="ask", joints=joints))["angles"][:2] == [None, None]
