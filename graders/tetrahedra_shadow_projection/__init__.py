"""How well do the shadows of the given tetrahedra cover the target?

Plain areas of polygons, a real rotation, touching up to 0.001 deep allowed, the published divisors.
Sums of products are written out, so that every machine rounds them alike. Overlays are those of
GEOS in double precision; on shapes a few units wide the areas are right to about 1e-12. Areas and
depths are rounded to 9 digits, so that no score depends on the version of GEOS.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Geometry, Polygon

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params, Pose

VERSION = 2

CHECKS = {
    "count": "There are at most 50 copies and 10 more for each unit of the target's area.",
    "reach": "No x, y or z is larger than 1,000,000 in absolute value.",
    "rotation": "Every quaternion has a direction.",
    "unit_quaternions": "Every quaternion has a squared length within 0.01 of 1.",
    "intersection": "No two tetrahedra reach more than 0.001 into each other.",
    "cover": "The shadow covers 99 % of the target, or enough for a full score.",
    "difference": "Spill and gaps beyond the slack are at most 2 % of the target's area, none "
    "of it cast by copies beside the target, or little enough for a full score.",
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
# A copy with a smaller share of its shadow on the target is a stray.
STRAY = 0.1
COPIES, COPIES_PER_AREA = 50, 10
_CUTS_SHOWN = 200
_POINTS_DRAWN = 2000
Floats = NDArray[np.float64]

# Corners of the tetrahedron that is turned and moved.
BASE: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.5, math.sqrt(3) / 2, 0.0),
    (0.5, math.sqrt(3) / 6, math.sqrt(2 / 3)),
)

_FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
_PARALLEL = 1e-10
_ROWS = 128
_CHUNK = 2000
_DIGITS = 9


class Cover(NamedTuple):
    """What a union S of shapes makes of a target T, as areas and as polygons, largest first.

    The difference is (S or T) that is not in (S and T) grown by a square; the spill is the part of
    it outside T. The gaps are T outside S.
    """

    covered: float
    difference: float
    spill: float
    gaps: list[Polygon]
    spills: list[Polygon]
    strays: float
    """Of the spill, what only strays cast."""
    stray: list[int]
    """Positions of shapes that are strays."""


def area(shape: Geometry) -> float:
    """Return the area of a shape, rounded to 9 digits."""
    return round(float(shapely.area(shape)), _DIGITS)


def cover(target: Polygon, shapes: NDArray[np.object_], slack: float) -> Cover:
    """Compare polygons with a target polygon, holes allowed.

    ``slack`` is half the side of the square that grows the covered part in ``difference``.
    """
    union = shapely.union_all(shapes)
    covered = shapely.intersection(union, target)
    either = shapely.symmetric_difference(union, target)
    far = either
    sweeps = swept_edges(polygons(covered), slack)
    if len(sweeps):
        # Growing adds to a shape only what its boundary sweeps; only what meets the difference
        # matters.
        near = sweeps[shapely.STRtree(sweeps).query(either, predicate="intersects")]
        far = shapely.difference(either, shapely.union_all(near))
    outside = shapely.difference(far, target)
    stray = shapely.area(shapely.intersection(shapes, target)) < STRAY * shapely.area(
        shapes
    )
    of_strays: Geometry = Polygon()
    if stray.any():
        others = shapely.union_all(shapes[~stray])
        of_strays = shapely.difference(outside, others)
    return Cover(
        covered=area(covered),
        difference=area(far),
        spill=area(outside),
        gaps=polygons(shapely.difference(target, union)),
        spills=polygons(outside),
        strays=area(of_strays),
        stray=np.flatnonzero(stray).tolist(),
    )


def swept_edges(shapes: Iterable[Polygon], slack: float) -> NDArray[np.object_]:
    """Return, for every edge of polygons, what a square of half side ``slack`` sweeps along it."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * slack
    swept = []
    for shape in shapes:
        for ring in (shape.exterior, *shape.interiors):
            points = shapely.get_coordinates(ring)
            ends = points[:-1, None] + square, points[1:, None] + square
            swept.append(np.concatenate(ends, axis=1))
    if not swept:
        return np.array([], dtype=np.object_)
    return np.asarray(shapely.convex_hull(shapely.multipoints(np.concatenate(swept))))


def polygons(shape: Geometry) -> list[Polygon]:
    """Return the parts of a shape that have an area of 1e-9 or more, largest first."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, Polygon)]
    return sorted((p for p in parts if area(p) > 0), key=area, reverse=True)


def polygon_rings(shapes: Iterable[Polygon], points: int) -> list[dict[str, Any]]:
    """Return the first polygons as JSON values for a picture: rings of points rounded to 4 digits.

    There are as many as have no more ``points`` together.
    """
    figures: list[dict[str, Any]] = []
    for shape in shapes:
        rings = [
            shapely.get_coordinates(r)[:-1] for r in (shape.exterior, *shape.interiors)
        ]
        points -= sum(map(len, rings))
        if points < 0:
            break
        lists = [np.round(ring, 4).tolist() for ring in rings]
        figures.append({"exterior": lists[0], "holes": lists[1:]})
    return figures


class Cuts(NamedTuple):
    """Indices and depth of pairs that cut each other, complete unless there are too many."""

    pairs: list[tuple[int, int, float]]
    complete: bool


def corners(poses: Floats) -> Floats:
    """Return where the corners (n, 4, 3) lie.

    Poses (n, 7) are moves in x, y and z, then the quaternion, scalar part first, of any length but
    0; it is brought to length 1.
    """
    quaternions = poses[:, 3:] / np.abs(poses[:, 3:]).max(axis=1, keepdims=True)
    w, x, y, z = (quaternions / np.sqrt(_dot(quaternions, quaternions))[:, None]).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    turned = [[a * p + b * q + c * r for a, b, c in rows] for p, q, r in BASE]
    return np.array(turned).transpose(2, 0, 1) + poses[:, None, :3]


def cuts(bodies: Floats, allowed: float, enough: int) -> Cuts:
    """Return the pairs of unit tetrahedra (n, 4, 3) that reach more than ``allowed`` into another.

    The depth of a pair is the shortest move that parts it: the least overlap of the two along any
    of the 44 axes on which two tetrahedra can be parted (face normals, cross products of edges),
    rounded to 9 digits. The search stops soon after ``enough`` pairs were found.
    """
    normals = _unit_vectors(
        np.stack([_face_normal(bodies, face) for face in _FACES], axis=1)
    )[0]
    edges = np.stack([bodies[:, j] - bodies[:, i] for i, j in _EDGES], axis=1)
    pairs: list[tuple[int, int, float]] = []
    for first, second in _meeting_boxes(bodies):
        axes = _cross_products(
            edges[first][:, :, None], edges[second][:, None]
        ).reshape(-1, 36, 3)
        crossed, usable = _unit_vectors(axes)
        usable = np.concatenate([np.ones((len(first), 8), bool), usable], axis=1)
        axes = np.concatenate([normals[first], normals[second], crossed], axis=1)
        a = _dot(axes[:, :, None], bodies[first][:, None])
        b = _dot(axes[:, :, None], bodies[second][:, None])
        overlap = np.minimum(a.max(2) - b.min(2), b.max(2) - a.min(2))
        depth = np.round(np.where(usable, overlap, np.inf).min(1), _DIGITS)
        hit = depth > allowed
        pairs += zip(
            first[hit].tolist(), second[hit].tolist(), depth[hit].tolist(), strict=True
        )
        if len(pairs) >= enough:
            return Cuts(pairs, complete=False)
    return Cuts(pairs, complete=True)


def _meeting_boxes(
    bodies: Floats,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield pairs whose bounding boxes meet, in order, at most ``_CHUNK`` at a time."""
    low, high = bodies.min(1), bodies.max(1)
    places = np.arange(len(bodies))
    for start in range(0, len(bodies), _ROWS):
        rows = slice(start, start + _ROWS)
        meet = places[rows, None] < places
        for axis in range(3):
            meet &= low[rows, None, axis] <= high[:, axis]
            meet &= low[:, axis] <= high[rows, None, axis]
        first, second = np.nonzero(meet)
        for i in range(0, len(first), _CHUNK):
            yield first[i : i + _CHUNK] + start, second[i : i + _CHUNK]


def _dot(a: Floats, b: Floats) -> Floats:
    product = a * b
    total: Floats = product[..., 0] + product[..., 1] + product[..., 2]
    return total if product.shape[-1] == 3 else total + product[..., 3]


def _cross_products(a: Floats, b: Floats) -> Floats:
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _face_normal(bodies: Floats, face: tuple[int, int, int]) -> Floats:
    a, b, c = (bodies[:, i] for i in face)
    return _cross_products(b - a, c - a)


def _unit_vectors(vectors: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return vectors at length 1, and which of them are long enough to have a direction."""
    squares = _dot(vectors, vectors)
    usable = squares >= _PARALLEL
    return vectors / np.sqrt(np.where(usable, squares, 1.0))[..., None], usable


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
    sound = checks.forbid(
        "reach", far, lambda i: f"Tetrahedron {i} is farther out than that."
    )
    sound &= checks.forbid(
        "rotation", lost, lambda i: f"The quaternion of tetrahedron {i} is all zeros."
    )
    unit = checks.forbid(
        "unit_quaternions",
        [i for i, pose in enumerate(poses) if not _is_unit(pose)],
        lambda i: f"The quaternion of tetrahedron {i} is not of length 1.",
    )
    target, target_area = _target_polygon(params)
    most = most_copies(params)
    wrong = f"There are {len(poses)} copies; at most {most} are allowed."
    sound &= checks.expect("count", len(poses) <= most, wrong, count=len(poses))
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
    shadow = cover(target, outlines(bodies), SLACK)
    # Without a fault of the bodies, an answer below a full score fails at least one of the two.
    full = score_of(shadow, target_area, 1.0, params.divisor) == 1
    wrong = f"The shadow covers {shadow.covered / target_area:.2%} of the target."
    checks.expect("cover", full or shadow.covered >= 0.99 * target_area, wrong)
    wrong = (
        f"Spill and gaps beyond the slack are {shadow.difference / target_area:.2%} of the "
        f"target's area; {shadow.spill / target_area:.2%} is spill."
    )
    small = not shadow.strays and shadow.difference <= 0.02 * target_area
    strays = [used[i] for i in shadow.stray]
    checks.expect("difference", full or small, wrong, strays=strays)
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
    near = shadow.difference - shadow.strays
    raw = shadow.covered / target_area * factor - DIFFERENCE_WEIGHT * near / target_area
    score = round(min(raw / divisor, 1.0), 9)
    # What strays cast is taken off a full score, too, whatever may be missing from that.
    lost = DIFFERENCE_WEIGHT * shadow.strays / target_area / divisor
    return max(0.0, round((1.0 if score >= FULL else score) - lost, 9))


def most_copies(params: Params) -> int:
    """Return how many copies may be placed on an instance's target."""
    return math.ceil(round(COPIES + COPIES_PER_AREA * _target_polygon(params)[1], 6))


@lru_cache(maxsize=256)
def _target_polygon(params: Params) -> tuple[Polygon, float]:
    target = Polygon(params.exterior, params.holes)
    if not target.is_valid:
        raise ValueError(
            f"{params.title}: the outline or a hole crosses itself or another"
        )
    shapely.prepare(target)
    return target, area(target)


def _is_unit(pose: Pose) -> bool:
    """Whether the squared length is within the tolerance of 1, without rounding."""
    parts = (pose.q0, pose.q1, pose.q2, pose.q3)
    if max(map(abs, parts)) > 2:
        return False
    return (
        abs(sum((Fraction(q) * Fraction(q) for q in parts), Fraction(-1)))
        <= UNIT_TOLERANCE
    )
