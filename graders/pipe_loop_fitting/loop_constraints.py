"""The further constraints that a loop of pipes can be asked to keep, and how each is measured.

Every measure is compared with its limit after granting `SLACK`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.graders.pipe_loop_fitting.closed_loops import (
    Floats,
    angle_cosines,
    cosine,
    hull_area,
    lengths,
    longest_run,
)
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.pipe_loop_fitting import (
    AngleRange,
    CentroidBox,
    FixedStart,
    HullArea,
    JointSeparation,
    MaxStraightRun,
    MinTurns,
    TouchWalls,
    WallMargin,
)

SLACK = 1e-9
"""What is granted at every limit, in metres, square metres, or units of a cosine."""
ANGLE_SLACK = Fraction(1, 10**6)
"""What is granted at every limit of an angle, in degrees."""
STRAIGHT = 175
"""Interior angles above this are straight, in degrees."""
WALLS = ("left", "right", "bottom", "top")

CONSTRAINT_CHECKS = {
    "angle_range": "Every interior angle lies in the asked-for range.",
    "centroid_box": "The mean of the joints lies in the asked-for box.",
    "must_touch_boundary": "Joints touch the asked-for number of walls.",
    "min_turns": "Enough joints are not straight.",
    "max_straight_run": "No run of straight joints is too long.",
    "coverage_quadrants": "Every quadrant of the square has a joint inside.",
    "avoid_margin": "Every joint keeps the asked-for distance from the walls.",
    "min_convex_hull_area": "The convex hull of the joints has the asked-for area.",
    "fixed_start": "The first joint lies near the asked-for place.",
    "min_point_separation": "Joints that no pipe connects keep the asked-for distance.",
}
"""Requirement of each type of constraint."""


class Loop(NamedTuple):
    """Measures of a loop, taken once."""

    points: Floats
    """(n, 2), metres."""
    length: Floats
    """(n,), metres."""
    cosines: Floats
    """(n,), of the interior angles; NaN beside a pipe without length."""


def measure(points: Sequence[Sequence[float]]) -> Loop:
    """Measure a loop of at least three joints."""
    array = np.array(points, dtype=np.float64)
    length = lengths(array)
    return Loop(array, length, angle_cosines(array, length))


def judge_joints(
    checks: Checklist,
    check_id: str,
    loop: Loop,
    bad: npt.NDArray[np.bool_],
    wrong: Callable[[int], str],
) -> None:
    """Check something of every joint that needs its angle.

    Args:
        checks: where the check is recorded.
        check_id: its id.
        loop: the loop.
        bad: (n,), which joints break it; False where the angle is unknown.
        wrong: makes the sentence for the first of them.
    """
    offenders = np.nonzero(bad)[0].tolist()
    if offenders or not np.isnan(loop.cosines).any():
        checks.forbid(check_id, offenders, wrong)
    else:
        checks.skip(check_id, "A pipe has no length, so the angles at its ends are unknown.")


def _degrees(loop: Loop, i: int) -> float:
    # Only for reading: it is rounded, and nothing is compared with it.
    return round(float(np.degrees(np.arccos(np.clip(loop.cosines[i], -1, 1)))), 3)


def _angle_range(checks: Checklist, _: int, limits: AngleRange, loop: Loop) -> None:
    largest = cosine(Fraction(str(limits.min_deg)) - ANGLE_SLACK)
    smallest = cosine(Fraction(str(limits.max_deg)) + ANGLE_SLACK)
    judge_joints(
        checks,
        "angle_range",
        loop,
        (loop.cosines > largest) | (loop.cosines < smallest),
        lambda i: (
            f"The interior angle at joint {i} is {_degrees(loop, i)} degrees, outside "
            f"{limits.min_deg:g} to {limits.max_deg:g}."
        ),
    )


def straight_joints(loop: Loop) -> list[bool]:
    """Return for every joint whether it is straight; False where the angle is unknown."""
    straight: list[bool] = (loop.cosines < cosine(STRAIGHT + ANGLE_SLACK)).tolist()
    return straight


def _min_turns(checks: Checklist, _: int, limits: MinTurns, loop: Loop) -> None:
    angles = int(np.count_nonzero(~np.isnan(loop.cosines)))
    turns = angles - sum(straight_joints(loop))
    wrong = f"{turns} joints are not straight; at least {limits.turns} are asked for."
    checks.expect("min_turns", turns >= limits.turns, wrong, turns=turns)


def _max_straight_run(checks: Checklist, _: int, limits: MaxStraightRun, loop: Loop) -> None:
    run = longest_run(straight_joints(loop))
    if len(run) <= limits.joints and np.isnan(loop.cosines).any():
        checks.skip("max_straight_run", "A pipe has no length, so angles are unknown.")
        return
    checks.expect(
        "max_straight_run",
        len(run) <= limits.joints,
        f"{len(run)} straight joints follow each other; at most {limits.joints} may.",
        joints=run[:50],
        length=len(run),
    )


def centroid(loop: Loop) -> tuple[float, float]:
    """Return the mean of the joints."""
    n = len(loop.points)
    return math.fsum(loop.points[:, 0]) / n, math.fsum(loop.points[:, 1]) / n


def _centroid_box(checks: Checklist, _: int, limits: CentroidBox, loop: Loop) -> None:
    x, y = centroid(loop)
    inside = (
        limits.xmin - SLACK <= x <= limits.xmax + SLACK
        and limits.ymin - SLACK <= y <= limits.ymax + SLACK
    )
    wrong = f"The mean of the joints, ({x:.6f}, {y:.6f}), lies outside the box."
    checks.expect("centroid_box", inside, wrong, centroid=[x, y])


def wall_distances(side: int, loop: Loop) -> Floats:
    """Return the distances of every joint from the left, right, bottom and top wall, (n, 4)."""
    x, y = loop.points[:, 0], loop.points[:, 1]
    return np.stack([x, side - x, y, side - y], axis=1)


def _touch_walls(checks: Checklist, side: int, limits: TouchWalls, loop: Loop) -> None:
    near = np.abs(wall_distances(side, loop)).min(axis=0) <= limits.tolerance + SLACK
    touched = [wall for wall, hit in zip(WALLS, near, strict=True) if hit]
    wrong = f"Joints touch {len(touched)} walls; at least {limits.walls} are asked for."
    checks.expect("must_touch_boundary", len(touched) >= limits.walls, wrong, touched=touched)


def _cover_quadrants(checks: Checklist, side: int, _: Any, loop: Loop) -> None:  # noqa: ANN401
    middle = side / 2
    east, above = (loop.points > middle + SLACK).T
    west, below = (loop.points < middle - SLACK).T
    quadrants: Mapping[str, Any] = {
        "bottom left": west & below,
        "bottom right": east & below,
        "top left": west & above,
        "top right": east & above,
    }
    checks.forbid(
        "coverage_quadrants",
        [name for name, there in quadrants.items() if not there.any()],
        lambda name: f"No joint lies strictly inside the {name} quadrant.",
    )


def _wall_margin(checks: Checklist, side: int, limits: WallMargin, loop: Loop) -> None:
    nearest = wall_distances(side, loop).min(axis=1)
    checks.forbid(
        "avoid_margin",
        np.nonzero(nearest < limits.margin - SLACK)[0].tolist(),
        lambda i: (
            f"Joint {i} is {nearest[i]:.6f} m from a wall; {limits.margin:g} m are asked for."
        ),
    )


def _hull_area(checks: Checklist, _: int, limits: HullArea, loop: Loop) -> None:
    area = hull_area(list(map(tuple, loop.points.tolist())))
    wrong = f"The convex hull has {area:.6f} square metres; at least {limits.area:g} are asked for."
    checks.expect("min_convex_hull_area", area >= limits.area - SLACK, wrong, area=area)


def _fixed_start(checks: Checklist, _: int, limits: FixedStart, loop: Loop) -> None:
    dx, dy = float(loop.points[0, 0]) - limits.x, float(loop.points[0, 1]) - limits.y
    distance = float(np.sqrt(dx * dx + dy * dy))
    wrong = (
        f"The first joint is {distance:.6f} m from ({limits.x:g}, {limits.y:g}); at most "
        f"{limits.tolerance:g} m are allowed."
    )
    checks.expect("fixed_start", distance <= limits.tolerance + SLACK, wrong, distance=distance)


def joint_distances(loop: Loop) -> Floats:
    """Return the distances of all joints, (n, n); infinite for a joint and those next to it."""
    x, y = loop.points[:, 0], loop.points[:, 1]
    dx, dy = x[:, None] - x, y[:, None] - y
    away: Floats = np.sqrt(dx * dx + dy * dy)
    at = np.arange(len(x))
    for step in (-1, 0, 1):
        away[at, (at + step) % len(x)] = np.inf
    return away


def _separation(checks: Checklist, _: int, limits: JointSeparation, loop: Loop) -> None:
    away = joint_distances(loop)
    close = np.argwhere(np.triu(away < limits.distance - SLACK)).tolist()
    fault = "pairs of joints are too close"
    checks.forbid_many(
        "min_point_separation",
        close,
        fault,
        lambda pair: f"are {pair[0]} and {pair[1]}, {away[pair[0], pair[1]]:.6f} m apart",
    )


JUDGES: Mapping[str, Callable[[Checklist, int, Any, Loop], None]] = {
    "angle_range": _angle_range,
    "centroid_box": _centroid_box,
    "must_touch_boundary": _touch_walls,
    "min_turns": _min_turns,
    "max_straight_run": _max_straight_run,
    "coverage_quadrants": _cover_quadrants,
    "avoid_margin": _wall_margin,
    "min_convex_hull_area": _hull_area,
    "fixed_start": _fixed_start,
    "min_point_separation": _separation,
}
"""By type: called with where to record, the side of the square, the constraint, and the loop."""
