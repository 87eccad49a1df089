"""How well do the shadows of the given tetrahedra cover the target?

Plain areas of polygons, a real rotation, touching up to 0.001 deep allowed, the published divisors.
Areas and depths are rounded to 9 digits, so that no score depends on the version of GEOS.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.tetrahedra_shadow_projection.tetrahedra import (
    Cover,
    Floats,
    area,
    corners,
    cover,
    cuts,
    polygon_rings,
)
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params, Pose

VERSION = 1

CHECKS = {
    "reach": "No x, y or z is larger than 1,000,000 in absolute value.",
    "rotation": "Every quaternion has a direction.",
    "unit_quaternions": "Every quaternion has a squared length within 0.01 of 1.",
    "intersection": "No two tetrahedra reach more than 0.001 into each other.",
    "cover": "The shadow covers 99 % of the target, or enough for a full score.",
    "difference": "Spill and gaps beyond the slack are at most 2 % of the target's area, or little "
    "enough for a full score.",
}

MAX_TETRAHEDRA = 2000
REACH = 1e6
UNIT_TOLERANCE = Fraction(1, 100)
TOUCH = 0.001
SLACK = 0.05
NOT_UNIT_FACTOR = 0.25
CUT_FACTOR = 0.5
DIFFERENCE_WEIGHT = 0.5
FULL = 0.98

_CUTS_SHOWN = 200
_POINTS_DRAWN = 2000


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the share covered, less what lies outside, over the instance's divisor."""
    poses = answer.tetrahedrons
    checks = Checklist(CHECKS)
    if len(poses) > MAX_TETRAHEDRA:
        return checks.too_large(
            f"{len(poses)} tetrahedra are placed; at most {MAX_TETRAHEDRA} are judged."
        )
    far = [i for i, p in enumerate(poses) if max(abs(p.x), abs(p.y), abs(p.z)) > REACH]
    lost = [i for i, p in enumerate(poses) if p.q0 == p.q1 == p.q2 == p.q3 == 0]
    sound = checks.forbid("reach", far, lambda i: f"Tetrahedron {i} is farther out than that.")
    sound &= checks.forbid(
        "rotation", lost, lambda i: f"The quaternion of tetrahedron {i} is all zeros."
    )
    unit = checks.forbid(
        "unit_quaternions",
        [i for i, pose in enumerate(poses) if not _is_unit(pose)],
        lambda i: f"The quaternion of tetrahedron {i} is not of length 1.",
    )
    # What is out of reach or has no direction has no shadow; the others are still judged.
    used = sorted(set(range(len(poses))).difference(far, lost))
    bodies = corners(table([poses[i] for i in used]))
    clashes = cuts(bodies, TOUCH, _CUTS_SHOWN)
    pairs = [[used[i], used[j], depth] for i, j, depth in clashes.pairs]
    apart = checks.forbid(
        "intersection",
        pairs,
        lambda pair: (
            f"{'' if clashes.complete else 'At least '}{len(pairs)} pairs of tetrahedra cut each "
            f"other; the first is {pair[0]} and {pair[1]}, {pair[2]:.6f} deep."
        ),
    )
    target, target_area = _target_polygon(params)
    shadow = cover(target, outlines(bodies), SLACK)
    # Without a fault of the bodies, an answer below a full score fails at least one of the two.
    full = score_of(shadow, target_area, 1.0, params.divisor) == 1
    wrong = f"The shadow covers {shadow.covered / target_area:.2%} of the target."
    checks.expect("cover", full or shadow.covered >= 0.99 * target_area, wrong)
    wrong = (
        f"Spill and gaps beyond the slack are {shadow.difference / target_area:.2%} of the "
        f"target's area; {shadow.spill / target_area:.2%} is spill."
    )
    checks.expect("difference", full or shadow.difference <= 0.02 * target_area, wrong)
    factor = NOT_UNIT_FACTOR if not unit else 1.0 if apart else CUT_FACTOR
    return checks.partial(
        score_of(shadow, target_area, factor, params.divisor) if sound else 0.0,
        covered=shadow.covered / target_area,
        difference=shadow.difference / target_area,
        spill=shadow.spill / target_area,
        factor=factor,
        cutting_pairs=pairs[:_CUTS_SHOWN],
        all_cutting_pairs=clashes.complete,
        gaps=polygon_rings(shadow.gaps, _POINTS_DRAWN),
        spills=polygon_rings(shadow.spills, _POINTS_DRAWN),
    )


def table(poses: Sequence[Pose]) -> Floats:
    """Return poses as rows of seven numbers, see `corners`."""
    rows = [(p.x, p.y, p.z, p.q0, p.q1, p.q2, p.q3) for p in poses]
    return np.array(rows, dtype=np.float64).reshape(-1, 7)


def outlines(bodies: Floats) -> NDArray[np.object_]:
    """Return the shadow of every body, straight down the z axis, as an array of polygons."""
    return np.asarray(shapely.convex_hull(shapely.multipoints(bodies[:, :, :2])))


def score_of(shadow: Cover, target_area: float, factor: float, divisor: float) -> float:
    """Return the score of a cover; the factor is what faults of bodies leave of the share."""
    raw = (
        shadow.covered / target_area * factor - DIFFERENCE_WEIGHT * shadow.difference / target_area
    )
    score = round(min(max(raw / divisor, 0.0), 1.0), 9)
    return 1.0 if score >= FULL else score


@lru_cache(maxsize=256)
def _target_polygon(params: Params) -> tuple[Polygon, float]:
    target = Polygon(params.exterior, params.holes)
    if not target.is_valid:
        raise ValueError(f"{params.title}: the outline or a hole crosses itself or another")
    shapely.prepare(target)
    return target, area(target)


def _is_unit(pose: Pose) -> bool:
    """Whether the squared length is within the tolerance of 1, without rounding."""
    parts = (pose.q0, pose.q1, pose.q2, pose.q3)
    if max(map(abs, parts)) > 2:
        return False
    return abs(sum((Fraction(q) * Fraction(q) for q in parts), Fraction(-1))) <= UNIT_TOLERANCE
