"""Tetrahedra in space: their corners, and the depth of intersections.

Sums of products are written out, so that every machine rounds them in the same way.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.tetrahedra_shadow_projection import Pose

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]

# Corners of the tetrahedron before it is turned and moved.
BASE: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.5, math.sqrt(3) / 2, 0.0),
    (0.5, math.sqrt(3) / 6, math.sqrt(2 / 3)),
)

_FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# Squared length below which the cross product of two edges has no direction: they are parallel.
_PARALLEL = 1e-10
# Depths are rounded to this many digits.
_DIGITS = 9
# Bodies whose boxes are compared with all others at a time, and pairs that are measured at a time:
# both bound the memory.
_ROWS = 128
_CHUNK = 2000


class Cuts(NamedTuple):
    """Pairs of intersecting bodies."""

    pairs: list[tuple[int, int, float]]
    """Both indices and the depth."""
    complete: bool
    """False if there are more."""


def table(poses: Sequence[Pose]) -> Floats:
    """Return poses as rows of seven numbers, see `corners`."""
    rows = [(p.x, p.y, p.z, p.q0, p.q1, p.q2, p.q3) for p in poses]
    return np.array(rows, dtype=np.float64).reshape(-1, 7)


def corners(poses: Floats) -> Floats:
    """Return the corners (n, 4, 3).

    Poses (n, 7) are moves in x, y and z, then the quaternion, scalar part first, of any length but
    0; it is brought to length 1.
    """
    # Divided by the largest component first, so that no square overflows or underflows.
    quaternions = poses[:, 3:] / np.abs(poses[:, 3:]).max(axis=1, keepdims=True)
    w, x, y, z = (quaternions / np.sqrt(_dot(quaternions, quaternions))[:, None]).T
    rotation = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    turned = [[a * p + b * q + c * r for a, b, c in rotation] for p, q, r in BASE]
    return np.array(turned).transpose(2, 0, 1) + poses[:, None, :3]


def cuts(bodies: Floats, allowed: float, enough: int) -> Cuts:
    """Return the pairs of unit tetrahedra (n, 4, 3) that reach more than ``allowed`` into another.

    The depth of a pair is the shortest move that separates it: the smallest overlap
    along any of the 44 separating axes (face normals, cross products of edges), rounded
    to 9 digits. The search stops soon after ``enough`` pairs were found.
    """
    face_normals = []
    for i, j, k in _FACES:
        along, across = bodies[:, j] - bodies[:, i], bodies[:, k] - bodies[:, i]
        face_normals.append(_cross_products(along, across))
    normals, _ = _unit_vectors(np.stack(face_normals, axis=1))
    edges = np.stack([bodies[:, j] - bodies[:, i] for i, j in _EDGES], axis=1)
    pairs: list[tuple[int, int, float]] = []
    for first, second in _meeting_boxes(bodies):
        products = _cross_products(edges[first][:, :, None], edges[second][:, None])
        crossed, usable = _unit_vectors(products.reshape(-1, 36, 3))
        # All 8 face normals have a direction.
        usable = np.concatenate([np.ones((len(first), 8), bool), usable], axis=1)
        axes = np.concatenate([normals[first], normals[second], crossed], axis=1)
        a = _dot(axes[:, :, None], bodies[first][:, None])
        b = _dot(axes[:, :, None], bodies[second][:, None])
        overlap = np.minimum(a.max(2) - b.min(2), b.max(2) - a.min(2))
        depth = np.round(np.where(usable, overlap, np.inf).min(1), _DIGITS)
        hit = depth > allowed
        columns = (first[hit].tolist(), second[hit].tolist(), depth[hit].tolist())
        pairs += zip(*columns, strict=True)
        if len(pairs) >= enough:
            return Cuts(pairs, complete=False)
    return Cuts(pairs, complete=True)


def _meeting_boxes(bodies: Floats) -> Iterator[tuple[Positions, Positions]]:
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
    """Return the dot products along the last axis, of length 3 or 4."""
    product = a * b
    total: Floats = product[..., 0] + product[..., 1] + product[..., 2]
    return total if product.shape[-1] == 3 else total + product[..., 3]


def _cross_products(a: Floats, b: Floats) -> Floats:
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _unit_vectors(vectors: Floats) -> tuple[Floats, Mask]:
    """Return vectors scaled to length 1, and a mask of those long enough to have a direction."""
    squares = _dot(vectors, vectors)
    usable = squares >= _PARALLEL
    return vectors / np.sqrt(np.where(usable, squares, 1.0))[..., None], usable
