"""Measures of closed loops of pipes, and the further constraints that a loop can be asked to keep.

Only sums, differences, products, quotients and square roots of doubles decide anything here; they
are rounded alike on every machine, which cosines and arc cosines of a system's library are not.
Every measure is compared with its limit after granting `SLACK`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.plane_geometry import XY, hull_corners, orient
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

# What is granted at every limit, in metres, square metres, or units of a cosine.
SLACK = 1e-9
# What is granted at every limit of an angle, in degrees.
ANGLE_SLACK = Fraction(1, 10**6)
# Interior angles above this are straight, in degrees.
STRAIGHT = 175
WALLS = ("left", "right", "bottom", "top")

# Requirement of each type of constraint.
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

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Marks = npt.NDArray[np.bool_]
Pair = tuple[int, int]
# Pieces nearer than this touch, in the unit of the coordinates.
TOUCH = 1e-9
# Distances are computed with errors far below this, for coordinates up to 10**5.
_DOUBT = 1e-10
# Relative error of an orientation, a little more than it can be.
_ROUNDING = 4 * 2.0**-53
_EXACT_PAIRS = 100
_PI = Fraction(3141592653589793238462643383279502884197, 10**39)


@lru_cache(maxsize=256)
def cosine(degrees: Fraction) -> float:
    """Return the cosine of an angle from 0 to 180 degrees, rounded once from 39 right digits."""
    if degrees > 90:
        return -cosine(180 - degrees)
    square = (degrees * _PI / 180) ** 2
    # 25 terms leave less than 1e-50. Rounding each to 60 digits keeps the numbers short.
    total = term = Fraction(1)
    for k in range(1, 25):
        term = Fraction(round(-term * square / (2 * k * (2 * k - 1)) * 10**60), 10**60)
        total += term
    return float(total)


def _successors(points: Floats) -> Floats:
    """Return what comes after each point of a ring."""
    return np.concatenate((points[1:], points[:1]))


def lengths(points: Floats) -> Floats:
    """Return the length of every piece; piece i leads from point i (n, 2) to the next."""
    along = _successors(points) - points
    result: Floats = np.sqrt(along[:, 0] * along[:, 0] + along[:, 1] * along[:, 1])
    return result


def angle_cosines(points: Floats, length: Floats) -> Floats:
    """Return the cosine (n,) of the angle inside every point: -1 is straight on, 1 is a fold.

    It is NaN where one of the two pieces, whose lengths (n,) are given, has none.
    """
    along = _successors(points) - points
    back = np.concatenate((along[-1:], along[:-1]))
    dot = along[:, 0] * back[:, 0] + along[:, 1] * back[:, 1]
    product = length * np.concatenate((length[-1:], length[:-1]))
    result: Floats = np.full(len(points), np.nan)
    np.divide(-dot, product, out=result, where=product > 0)
    return result


def longest_run(marks: Sequence[bool]) -> list[int]:
    """Return the positions of the longest run of marks in a ring, in order; the first of equals."""
    n = len(marks)
    if all(marks):
        return list(range(n))
    best: list[int] = []
    run: list[int] = []
    start = marks.index(False)
    for k in range(start, start + n + 1):
        if marks[k % n]:
            run.append(k % n)
        else:
            best = max(best, run, key=len)
            run = []
    return best


def hull_area(points: Sequence[tuple[float, float]]) -> float:
    """Return the area of the convex hull of points."""
    hull = hull_corners(points)
    if len(hull) < 3:
        return 0.0
    ox, oy = hull[0]
    return 0.5 * math.fsum(
        (ax - ox) * (by - oy) - (ay - oy) * (bx - ox)
        for (ax, ay), (bx, by) in pairwise(hull[1:])
    )


class Contacts(NamedTuple):
    """Pairs of pieces that are not neighbours and meet, smaller position first, in order."""

    crossings: list[Pair]
    """The ends of each lie strictly on opposite sides of the line through the other."""
    touches: list[Pair]
    """They do not cross, but are less than `TOUCH` apart."""


def contacts(points: Floats) -> Contacts:
    """Find every pair of pieces of a loop (n, 2) that cross or touch; no point is beyond 10**5.

    Decided as if in exact arithmetic on the doubles given. Only where more than 100 pairs need long
    integers, those beyond that are in contact count as touches, whether they cross or not.
    """
    start, end = points, _successors(points)
    first, second = _close_pieces(
        np.minimum(start, end) - TOUCH, np.maximum(start, end) + TOUCH
    )
    if not first.size:
        return Contacts([], [])
    crosses, apart = _piece_sides(start[first], end[first], start[second], end[second])
    crossing = _index_pairs(first[crosses], second[crosses])
    first, second, apart = first[~crosses], second[~crosses], apart[~crosses]
    # Pieces that do not cross are nearest at an end of one of them.
    a, b, c, d = start[first], end[first], start[second], end[second]
    gap = np.minimum(
        np.minimum(_piece_distances(c, a, b), _piece_distances(d, a, b)),
        np.minimum(_piece_distances(a, c, d), _piece_distances(b, c, d)),
    )
    close = gap < TOUCH + _DOUBT
    touches = apart & (gap < TOUCH - _DOUBT)
    beyond = np.nonzero(close & ~touches)[0][_EXACT_PAIRS:]
    touches[beyond] = gap[beyond] < TOUCH / 2
    touching = _index_pairs(first[touches], second[touches])
    doubtful = close & ~touches
    for i, j in _index_pairs(first[doubtful], second[doubtful]):
        crossed, touched = _exactly(points, i, j)
        if crossed:
            crossing.append((i, j))
        elif touched:
            touching.append((i, j))
    return Contacts(sorted(crossing), sorted(touching))


def _close_pieces(low: Floats, high: Floats) -> tuple[Positions, Positions]:
    """Return the pairs of pieces with these least and largest coordinates (n, 2) that may meet."""
    n = len(low)
    # Each piece meets, along x, a run of those that begin after it.
    order = np.argsort(low[:, 0], kind="stable")
    begin, end = low[order, 0], high[order, 0]
    at = np.arange(n)
    run = np.searchsorted(begin, end, side="right") - at - 1
    left_piece = np.repeat(at, run)
    right_piece = (
        left_piece
        + 1
        + np.arange(len(left_piece))
        - np.repeat(np.cumsum(run) - run, run)
    )
    i, j = order[left_piece], order[right_piece]
    meet = (low[i, 1] <= high[j, 1]) & (low[j, 1] <= high[i, 1])
    i, j = i[meet], j[meet]
    first, second = np.minimum(i, j), np.maximum(i, j)
    strangers = (second - first > 1) & (second - first < n - 1)
    first, second = first[strangers], second[strangers]
    ordered = np.lexsort((second, first))
    return first[ordered], second[ordered]


def _index_pairs(first: Positions, second: Positions) -> list[Pair]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _piece_sides(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[Marks, Marks]:
    """Return which pieces a-b and c-d, all (m, 2), surely cross, and which surely do not."""
    across_ab = _side(a, b, c) * _side(a, b, d)
    across_cd = _side(c, d, a) * _side(c, d, b)
    return (across_ab < 0) & (across_cd < 0), (across_ab > 0) | (across_cd > 0)


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return on which side of a-b each c, (m, 2), lies: 1, -1, or 0 if doubles cannot say."""
    minuend = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    subtrahend = (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    value = minuend - subtrahend
    # The last term covers products too small for a double.
    certain = (
        np.abs(value) > _ROUNDING * (np.abs(minuend) + np.abs(subtrahend)) + 1e-290
    )
    return np.sign(value) * certain


def _piece_distances(p: Floats, a: Floats, b: Floats) -> Floats:
    """Return the distance of each p from the piece from a to b; each is (m, 2)."""
    along, to = b - a, p - a
    square = along[:, 0] * along[:, 0] + along[:, 1] * along[:, 1]
    dot = along[:, 0] * to[:, 0] + along[:, 1] * to[:, 1]
    share = np.zeros(len(p))
    np.divide(dot, square, out=share, where=square > 0)
    away = to - np.clip(share, 0.0, 1.0)[:, None] * along
    result: Floats = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1])
    return result


def _exactly(points: Floats, i: int, j: int) -> tuple[bool, bool]:
    """Return whether two pieces cross, and whether an end of one is near the other, in integers."""
    n = len(points)
    ends_of_both: list[list[float]] = points[[i, (i + 1) % n, j, (j + 1) % n]].tolist()
    ratios = [[v.as_integer_ratio() for v in point] for point in ends_of_both]
    scale = max(
        down for point in ratios for _, down in point
    )  # powers of two, all of them
    a, b, c, d = ((x[0] * (scale // x[1]), y[0] * (scale // y[1])) for x, y in ratios)
    crossed = _opposite(orient(a, b, c), orient(a, b, d)) and _opposite(
        orient(c, d, a), orient(c, d, b)
    )
    limit = (scale * Fraction(TOUCH).limit_denominator(10**9)) ** 2
    ends = ((c, a, b), (d, a, b), (a, c, d), (b, c, d))
    return crossed, any(_square_distance(*end) < limit for end in ends)


def _opposite(first: int, second: int) -> bool:
    return first < 0 < second or second < 0 < first


def _square_distance(p: XY, a: XY, b: XY) -> Fraction:
    (px, py), (ux, uy) = (p[0] - a[0], p[1] - a[1]), (b[0] - a[0], b[1] - a[1])
    dot, square = px * ux + py * uy, ux * ux + uy * uy
    if dot <= 0:
        return Fraction(px * px + py * py)
    if dot >= square:
        return Fraction((px - ux) ** 2 + (py - uy) ** 2)
    return Fraction((px * uy - py * ux) ** 2, square)


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

    ``bad`` (n,) says which joints break it, and is False where the angle is unknown; ``wrong``
    makes the sentence for the first of them.
    """
    offenders = np.nonzero(bad)[0].tolist()
    if offenders or not np.isnan(loop.cosines).any():
        checks.forbid(check_id, offenders, wrong)
    else:
        checks.skip(
            check_id, "A pipe has no length, so the angles at its ends are unknown."
        )


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


def _max_straight_run(
    checks: Checklist, _: int, limits: MaxStraightRun, loop: Loop
) -> None:
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
    checks.expect(
        "must_touch_boundary", len(touched) >= limits.walls, wrong, touched=touched
    )


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
    checks.expect(
        "fixed_start", distance <= limits.tolerance + SLACK, wrong, distance=distance
    )


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
        lambda pair: (
            f"are {pair[0]} and {pair[1]}, {away[pair[0], pair[1]]:.6f} m apart"
        ),
    )


# By type: called with where to record, the side of the square, the constraint, and the
# loop.
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
