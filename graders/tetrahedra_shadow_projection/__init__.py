"""Grades how well the shadows of tetrahedra cover the target.

It uses plain polygon areas, true rotations and the published divisors, and permits
overlaps up to 0.001 deep. The modules `bodies` and `shadows` compute the measures; all
areas and depths are rounded to 9 digits.
"""

import math
from fractions import Fraction
from functools import lru_cache

import shapely
from shapely import Polygon

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.sentences import with_total
from scbench.graders.tetrahedra_shadow_projection.bodies import (
    BASE,
    Floats,
    corners,
    find_overlaps,
    pose_table,
)
from scbench.graders.tetrahedra_shadow_projection.shadows import (
    STRAY,
    Cover,
    area,
    cover,
    outlines,
    polygon_rings,
    polygons,
    swept_edges,
)
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params, Pose

# Builders use the modules' names to draw and solve.
__all__ = [
    "BASE",
    "CHECKS",
    "STRAY",
    "VERSION",
    "Floats",
    "area",
    "corners",
    "cover",
    "find_overlaps",
    "grade",
    "outlines",
    "polygons",
    "pose_table",
    "swept_edges",
]

VERSION = 2

CHECKS = {
    "count": "There are at most 50 copies, plus 10 for each unit of the target's area.",
    "reach": "No x, y or z is larger than 1,000,000 in absolute value.",
    "rotation": "No quaternion is all zeros.",
    "unit_quaternions": "Every quaternion has a squared length within 0.01 of 1.",
    "intersection": "No two copies overlap by more than 0.001 in depth.",
    "cover": "The shadow covers at least 99 % of the target, or enough for a full score.",
    "difference": (
        "Spill and gaps away from the covered part add up to at most 2 % of the target's area. "
        "No spill comes from copies that almost miss the target. A total that is small enough "
        "for a full score is also accepted."
    ),
}

# Answers with more copies are not graded: time grows with the square of their number.
MAX_TETRAHEDRA = 2000
COPIES = 50
COPIES_PER_AREA = 10
# Largest x, y or z, because doubles are too coarse farther out.
REACH = 1e6
# Tolerance of a squared length of 1.
UNIT_TOLERANCE = Fraction(1, 100)
# Maximum depth of an intersection of two tetrahedra.
TOUCH = 0.001
# Half the side of the square that grows the covered part; nothing this close to it
# counts as difference.
SLACK = 0.05
# Factors for the covered share: if a quaternion is not of length 1, or else if tetrahedra
# intersect.
NOT_UNIT_FACTOR = 0.25
CUT_FACTOR = 0.5
# Weight of the difference against the covered share.
DIFFERENCE_WEIGHT = 0.5
# Scores from here on count as full.
FULL = 0.98
# Maximum length of a list in the metrics.
_OVERLAPS_SHOWN = 200
_POINTS_DRAWN = 2000


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the covered share minus a penalty for spill and gaps, over the divisor."""
    poses = answer.tetrahedrons
    checks = Checklist(CHECKS)
    if len(poses) > MAX_TETRAHEDRA:
        return checks.too_large(
            f"The answer places {len(poses)} copies; at most {MAX_TETRAHEDRA} are graded."
        )
    far = []
    for i, pose in enumerate(poses):
        reach = max(abs(pose.x), abs(pose.y), abs(pose.z))
        if reach > REACH:
            far.append(i)
    lost = [i for i, p in enumerate(poses) if p.q0 == p.q1 == p.q2 == p.q3 == 0]
    sound = checks.forbid(
        "reach",
        far,
        lambda i: with_total(
            f"x, y or z of copy {i} is beyond 1,000,000", len(far), "copies"
        ),
    )
    sound &= checks.forbid(
        "rotation",
        lost,
        lambda i: with_total(
            f"The quaternion of copy {i} is all zeros", len(lost), "copies"
        ),
    )
    not_unit = [i for i, pose in enumerate(poses) if not is_unit(pose)]
    unit = checks.forbid(
        "unit_quaternions",
        not_unit,
        lambda i: with_total(
            f"The quaternion of copy {i} is not of length 1", len(not_unit), "copies"
        ),
    )
    most = most_copies(params)
    wrong = f"There are {len(poses)} copies; at most {most} are allowed."
    sound &= checks.expect("count", len(poses) <= most, wrong, count=len(poses))

    # Copies that are out of reach or have a zero quaternion have no shadow; the others
    # are still graded.
    used = sorted(set(range(len(poses))).difference(far, lost))
    bodies = corners(pose_table([poses[i] for i in used]))
    clashes = find_overlaps(bodies, TOUCH, _OVERLAPS_SHOWN)
    pairs = [[used[i], used[j], depth] for i, j, depth in clashes.pairs]
    apart = checks.forbid(
        "intersection",
        pairs,
        lambda pair: with_total(
            f"Copies {pair[0]} and {pair[1]} reach {pair[2]:.6f} into each other",
            len(pairs),
            "pairs" if clashes.complete else "pairs at least",
        ),
    )
    factor = 1.0
    if not unit:
        factor = NOT_UNIT_FACTOR
    elif not apart:
        factor = CUT_FACTOR

    target, target_area = target_polygon(params)
    shadow = cover(target, outlines(bodies), SLACK)
    # If the bodies have no fault, an answer below a full score fails at least one of these two.
    full = score_of(shadow, target_area, 1.0, params.divisor) == 1
    wrong = f"The shadow covers {shadow.covered / target_area:.2%} of the target."
    checks.expect("cover", full or shadow.covered >= 0.99 * target_area, wrong)
    small = not shadow.strays and shadow.difference <= 0.02 * target_area
    wrong = (
        "Spill and gaps away from the covered part add up to "
        f"{shadow.difference / target_area:.2%} of the target's area; spill alone is "
        f"{shadow.spill / target_area:.2%}."
    )
    strays = [used[i] for i in shadow.stray]
    checks.expect("difference", full or small, wrong, strays=strays)
    return checks.partial(
        score_of(shadow, target_area, factor, params.divisor) if sound else 0.0,
        covered=shadow.covered / target_area,
        difference=shadow.difference / target_area,
        spill=shadow.spill / target_area,
        factor=factor,
        cutting_pairs=pairs[:_OVERLAPS_SHOWN],
        all_cutting_pairs=clashes.complete,
        gaps=polygon_rings(shadow.gaps, _POINTS_DRAWN),
        spills=polygon_rings(shadow.spills, _POINTS_DRAWN),
    )


def score_of(shadow: Cover, target_area: float, factor: float, divisor: float) -> float:
    """Return the score of a cover; the factor reduces the covered share for faults of bodies."""
    near = shadow.difference - shadow.strays
    raw = shadow.covered / target_area * factor - DIFFERENCE_WEIGHT * near / target_area
    score = round(min(raw / divisor, 1.0), 9)
    if score >= FULL:
        score = 1.0
    # The shadow that strays cast is subtracted from a full score, too.
    lost = DIFFERENCE_WEIGHT * shadow.strays / target_area / divisor
    return max(0.0, round(score - lost, 9))


def most_copies(params: Params) -> int:
    """Return the maximum number of copies on an instance's target."""
    _, target_area = target_polygon(params)
    return math.ceil(round(COPIES + COPIES_PER_AREA * target_area, 6))


@lru_cache(maxsize=256)
def target_polygon(params: Params) -> tuple[Polygon, float]:
    """Return the target of an instance and its area.

    Raises:
        ValueError: a ring crosses itself or another.
    """
    target = Polygon(params.exterior, params.holes)
    if not target.is_valid:
        raise ValueError(
            f"{params.title}: the outline or a hole crosses itself or another ring"
        )
    shapely.prepare(target)
    return target, area(target)


def is_unit(pose: Pose) -> bool:
    """Whether the squared length of a quaternion is near enough to 1, without rounding."""
    parts = (pose.q0, pose.q1, pose.q2, pose.q3)
    # Fractions of huge numbers would take long.
    if max(map(abs, parts)) > 2:
        return False
    excess = sum((Fraction(q) * Fraction(q) for q in parts), Fraction(-1))
    return abs(excess) <= UNIT_TOLERANCE
