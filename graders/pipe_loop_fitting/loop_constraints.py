"""Measures of closed loops of pipes, and the constraints of single rooms.

Verdicts depend only on sums, differences, products, quotients and square roots of doubles, which
every machine rounds in the same way. Cosines and arc cosines of system libraries are not used.
Every limit has a tolerance of `SLACK`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scbench.base.wording import counted
from scbench.graders.pipe_loop_fitting.contacts import Floats, Marks, successors
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.plane_geometry import hull_corners
from scbench.graders.shared.sentences import with_total
from scbench.schemas.pipe_loop_fitting import (
    AngleRange,
    CentroidBox,
    Constraint,
    CoverQuadrants,
    FixedStart,
    HullArea,
    JointSeparation,
    MaxStraightRun,
    MinTurns,
    TouchWalls,
    WallMargin,
)

# Tolerance of every limit, in metres, square metres, or units of a cosine.
SLACK = 1e-9
# Tolerance of every limit of an angle, in degrees.
ANGLE_SLACK = Fraction(1, 10**3)
# Interior angles above this are straight, in degrees.
STRAIGHT = 175
WALLS = ("left", "right", "bottom", "top")
# Maximum length of a list in the details of a check.
MAX_ENTRIES = 50

# The requirement of each type of constraint.
CONSTRAINT_CHECKS = {
    "angle_range": "Every interior angle is in the required range.",
    "centroid_box": "The mean of the joints lies in the required box.",
    "must_touch_boundary": "Joints touch the required number of walls.",
    "min_turns": "The loop has enough turns.",
    "max_straight_run": "No run of straight joints is too long.",
    "coverage_quadrants": "Every quadrant of the room has a joint inside.",
    "avoid_margin": "Every joint keeps the required distance from the walls.",
    "min_convex_hull_area": "The convex hull of the joints has the required area.",
    "fixed_start": "Joint 0 is close enough to the required point.",
    "min_point_separation": "Joints that no pipe connects keep the required distance.",
}

_PI = Fraction(3141592653589793238462643383279502884197, 10**39)


class Loop(NamedTuple):
    """Measures of a loop, computed once."""

    points: Floats
    """(n, 2), metres."""
    length: Floats
    """(n,), metres."""
    cosines: Floats
    """(n,) cosines of the interior angles; NaN at the ends of a pipe without length."""


# Measures.


def measure(points: Sequence[Sequence[float]]) -> Loop:
    """Measure a loop of at least three joints; pipe i leads from joint i to the next one.

    The cosine of the angle inside a joint is -1 if both pipes go straight on, 1 if they fold.
    """
    array = np.array(points, dtype=np.float64)
    along = successors(array) - array
    length = np.sqrt(along[:, 0] * along[:, 0] + along[:, 1] * along[:, 1])
    back = np.concatenate((along[-1:], along[:-1]))
    dot = along[:, 0] * back[:, 0] + along[:, 1] * back[:, 1]
    product = length * np.concatenate((length[-1:], length[:-1]))
    cosines = np.full(len(array), np.nan)
    np.divide(-dot, product, out=cosines, where=product > 0)
    return Loop(array, length, cosines)


@lru_cache(maxsize=256)
def cosine(degrees: Fraction) -> float:
    """Return the cosine of an angle from 0 to 180 degrees, rounded once from 39 correct digits."""
    if degrees > 90:
        return -cosine(180 - degrees)
    square = (degrees * _PI / 180) ** 2
    # 25 terms leave less than 1e-50. Rounding each to 60 digits keeps the numbers short.
    term = Fraction(1)
    total = term
    for k in range(1, 25):
        term = -term * square / (2 * k * (2 * k - 1))
        term = Fraction(round(term * 10**60), 10**60)
        total += term
    return float(total)


def straight_joints(loop: Loop) -> list[bool]:
    """Return for every joint whether it is straight; False where the angle is unknown."""
    straight: list[bool] = (loop.cosines < cosine(STRAIGHT + ANGLE_SLACK)).tolist()
    return straight


def longest_run(marks: Sequence[bool]) -> list[int]:
    """Return the positions of the longest run of marks in a ring (the first one in a tie)."""
    n = len(marks)
    if all(marks):
        return list(range(n))
    best: list[int] = []
    run: list[int] = []
    # Once around, from a gap to the same gap, so that no run is split.
    start = marks.index(False)
    for k in range(start, start + n + 1):
        if marks[k % n]:
            run.append(k % n)
        else:
            best = max(best, run, key=len)
            run = []
    return best


def centroid(loop: Loop) -> tuple[float, float]:
    """Return the mean of the joints."""
    n = len(loop.points)
    return math.fsum(loop.points[:, 0]) / n, math.fsum(loop.points[:, 1]) / n


def wall_distances(side: int, loop: Loop) -> Floats:
    """Return the distances of every joint from the left, right, bottom and top wall, (n, 4)."""
    x = loop.points[:, 0]
    y = loop.points[:, 1]
    return np.stack([x, side - x, y, side - y], axis=1)


def hull_area(points: Sequence[tuple[float, float]]) -> float:
    """Return the area of the convex hull of points."""
    hull = hull_corners(points)
    if len(hull) < 3:
        return 0.0
    ox, oy = hull[0]
    # Twice the areas of the triangles from the first corner.
    doubles = []
    for (ax, ay), (bx, by) in pairwise(hull[1:]):
        double = (ax - ox) * (by - oy) - (ay - oy) * (bx - ox)
        doubles.append(double)
    return 0.5 * math.fsum(doubles)


def joint_distances(loop: Loop) -> Floats:
    """Return the distances of joints, (n, n); infinite for a joint with itself or a neighbour."""
    x = loop.points[:, 0]
    y = loop.points[:, 1]
    dx = x[:, None] - x
    dy = y[:, None] - y
    distances: Floats = np.sqrt(dx * dx + dy * dy)
    joints = np.arange(len(x))
    for step in (-1, 0, 1):
        distances[joints, (joints + step) % len(x)] = np.inf
    return distances


# Checks: each is called with the checklist, the side of the square, the constraint, and the loop.


def judge_joints(
    checks: Checklist,
    check_id: str,
    loop: Loop,
    bad: Marks,
    wrong: Callable[[int], str],
) -> None:
    """Record a check on the angles at joints.

    Args:
        checks: records the check.
        check_id: the check.
        loop: the measures of the loop.
        bad: (n,), mask of joints that break the rule; False where the angle is unknown.
        wrong: returns the message about the first of them.
    """
    offenders = np.nonzero(bad)[0].tolist()
    if offenders or not np.isnan(loop.cosines).any():
        checks.forbid(check_id, offenders, wrong)
    else:
        checks.skip(
            check_id, "A pipe has length 0, so the angles at its ends are undefined."
        )


def judge_angles(checks: Checklist, limits: AngleRange, loop: Loop) -> None:
    """Check every interior angle against a range."""
    largest = cosine(Fraction(str(limits.min_deg)) - ANGLE_SLACK)
    smallest = cosine(Fraction(str(limits.max_deg)) + ANGLE_SLACK)

    def wrong(i: int) -> str:
        # Only for the message: it is rounded, and nothing is compared with it.
        angle = np.degrees(np.arccos(np.clip(loop.cosines[i], -1, 1)))
        return (
            f"The interior angle at joint {i} is {round(float(angle), 3)} degrees, outside "
            f"the range {limits.min_deg:g} to {limits.max_deg:g}."
        )

    bad = (loop.cosines > largest) | (loop.cosines < smallest)
    judge_joints(checks, "angle_range", loop, bad, wrong)


def judge_centroid(checks: Checklist, limits: CentroidBox, loop: Loop) -> None:
    """Check that the mean of the joints is in a box."""
    x, y = centroid(loop)
    inside_x = limits.xmin - SLACK <= x <= limits.xmax + SLACK
    inside_y = limits.ymin - SLACK <= y <= limits.ymax + SLACK
    wrong = (
        f"The mean of the joints, ({x:.6f}, {y:.6f}), lies outside the required box."
    )
    checks.expect("centroid_box", inside_x and inside_y, wrong, centroid=[x, y])


def judge_walls(checks: Checklist, side: int, limits: TouchWalls, loop: Loop) -> None:
    """Check that joints touch enough walls."""
    near = np.abs(wall_distances(side, loop)).min(axis=0) <= limits.tolerance + SLACK
    touched = [wall for wall, hit in zip(WALLS, near, strict=True) if hit]
    wrong = f"Joints touch {counted(len(touched), 'wall')}; at least {limits.walls} are required."
    checks.expect(
        "must_touch_boundary", len(touched) >= limits.walls, wrong, touched=touched
    )


def judge_turns(checks: Checklist, limits: MinTurns, loop: Loop) -> None:
    """Check that the loop has enough turns."""
    angles = int(np.count_nonzero(~np.isnan(loop.cosines)))
    turns = angles - sum(straight_joints(loop))
    wrong = (
        f"The loop has {counted(turns, 'turn')}; at least {limits.turns} are required."
    )
    checks.expect("min_turns", turns >= limits.turns, wrong, turns=turns)


def judge_run(checks: Checklist, limits: MaxStraightRun, loop: Loop) -> None:
    """Check that no run of straight joints is too long."""
    run = longest_run(straight_joints(loop))
    if len(run) <= limits.joints and np.isnan(loop.cosines).any():
        checks.skip(
            "max_straight_run",
            "A pipe has length 0, so the angles at its ends are undefined.",
        )
        return
    checks.expect(
        "max_straight_run",
        len(run) <= limits.joints,
        f"The longest straight run has {counted(len(run), 'joint')}; at most "
        f"{limits.joints} are allowed.",
        joints=run[:MAX_ENTRIES],
        length=len(run),
    )


def judge_quadrants(checks: Checklist, side: int, loop: Loop) -> None:
    """Check that every quadrant of the square has a joint inside."""
    middle = side / 2
    east, above = (loop.points > middle + SLACK).T
    west, below = (loop.points < middle - SLACK).T
    quadrants: Mapping[str, Marks] = {
        "bottom left": west & below,
        "bottom right": east & below,
        "top left": west & above,
        "top right": east & above,
    }
    checks.forbid(
        "coverage_quadrants",
        [name for name, inside in quadrants.items() if not inside.any()],
        lambda name: f"No joint lies inside the {name} quadrant.",
    )


def judge_margin(checks: Checklist, side: int, limits: WallMargin, loop: Loop) -> None:
    """Check the distance of every joint from the walls."""
    nearest = wall_distances(side, loop).min(axis=1)
    checks.forbid(
        "avoid_margin",
        np.nonzero(nearest < limits.margin - SLACK)[0].tolist(),
        lambda i: (
            f"Joint {i} is {nearest[i]:.6f} m from a wall; at least {limits.margin:g} m is "
            "required."
        ),
    )


def judge_hull(checks: Checklist, limits: HullArea, loop: Loop) -> None:
    """Check the area of the convex hull."""
    area = hull_area([(x, y) for x, y in loop.points.tolist()])
    wrong = (
        f"The convex hull has an area of {area:.6f} square metres; at least "
        f"{limits.area:g} is required."
    )
    checks.expect("min_convex_hull_area", area >= limits.area - SLACK, wrong, area=area)


def judge_start(checks: Checklist, limits: FixedStart, loop: Loop) -> None:
    """Check the place of the first joint."""
    dx = float(loop.points[0, 0]) - limits.x
    dy = float(loop.points[0, 1]) - limits.y
    distance = float(np.sqrt(dx * dx + dy * dy))
    wrong = (
        f"Joint 0 is {distance:.6f} m from ({limits.x:g}, {limits.y:g}); at most "
        f"{limits.tolerance:g} m is allowed."
    )
    checks.expect(
        "fixed_start", distance <= limits.tolerance + SLACK, wrong, distance=distance
    )


def judge_separation(checks: Checklist, limits: JointSeparation, loop: Loop) -> None:
    """Check the distances of joints that no pipe connects."""
    distances = joint_distances(loop)
    pairs = np.argwhere(np.triu(distances < limits.distance - SLACK)).tolist()
    checks.forbid(
        "min_point_separation",
        pairs,
        lambda pair: with_total(
            f"Joints {pair[0]} and {pair[1]} are {distances[pair[0], pair[1]]:.6f} m apart; at "
            f"least {limits.distance:g} m is required",
            len(pairs),
            "pairs",
        ),
    )


def judge_constraint(
    checks: Checklist, side: int, constraint: Constraint, loop: Loop
) -> None:
    """Check a constraint of a room of this side."""
    match constraint:
        case AngleRange():
            judge_angles(checks, constraint, loop)
        case CentroidBox():
            judge_centroid(checks, constraint, loop)
        case TouchWalls():
            judge_walls(checks, side, constraint, loop)
        case MinTurns():
            judge_turns(checks, constraint, loop)
        case MaxStraightRun():
            judge_run(checks, constraint, loop)
        case CoverQuadrants():
            judge_quadrants(checks, side, loop)
        case WallMargin():
            judge_margin(checks, side, constraint, loop)
        case HullArea():
            judge_hull(checks, constraint, loop)
        case FixedStart():
            judge_start(checks, constraint, loop)
        case JointSeparation():
            judge_separation(checks, constraint, loop)
