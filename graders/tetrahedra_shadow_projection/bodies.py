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


class Overlaps(NamedTuple):
    """Pairs of bodies that overlap."""

    pairs: list[tuple[int, int, float]]
    """The indices of two bodies, and the depth of their overlap."""
    complete: bool
    """False if there are more."""


def pose_table(poses: Sequence[Pose]) -> Floats:
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
    lengths = np.sqrt(_dot(quaternions, quaternions))
    w, x, y, z = (quaternions / lengths[:, None]).T
    # The rows of the matrix that turns a point.
    rotation = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    # An array over poses for each corner and axis.
    turned = []
    for x_base, y_base, z_base in BASE:
        for by_x, by_y, by_z in rotation:
            turned.append(by_x * x_base + by_y * y_base + by_z * z_base)
    bodies = np.stack(turned, axis=1).reshape(-1, 4, 3)
    return bodies + poses[:, None, :3]


def find_overlaps(bodies: Floats, allowed: float, enough: int) -> Overlaps:
    """Return the pairs of unit tetrahedra (n, 4, 3) that overlap by more than ``allowed``.

    The depth of a pair is the shortest move that separates it: the smallest overlap
    along any of the 44 separating axes (face normals, cross products of edges), rounded
    to 9 digits. The search stops soon after ``enough`` pairs were found.
    """
    normals = _face_normals(bodies)
    starts, ends = np.transpose(_EDGES)
    edges = bodies[:, ends] - bodies[:, starts]
    pairs: list[tuple[int, int, float]] = []
    for first, second in _meeting_boxes(bodies):
        # Every edge of one body with every edge of its partner.
        products = _cross_products(edges[first][:, :, None], edges[second][:, None])
        crossed, has_direction = _unit_vectors(products.reshape(-1, 36, 3))
        axes = np.concatenate([normals[first], normals[second], crossed], axis=1)
        # The places of all corners along each axis.
        on_first = _dot(axes[:, :, None], bodies[first][:, None])
        on_second = _dot(axes[:, :, None], bodies[second][:, None])
        first_over_second = on_first.max(axis=2) - on_second.min(axis=2)
        second_over_first = on_second.max(axis=2) - on_first.min(axis=2)
        overlap = np.minimum(first_over_second, second_over_first)
        # Parallel edges give no axis. The 8 face normals come first; each is an axis.
        overlap[:, 8:][~has_direction] = np.inf
        depth = np.round(overlap.min(axis=1), _DIGITS)
        hit = np.flatnonzero(depth > allowed)
        columns = (first[hit].tolist(), second[hit].tolist(), depth[hit].tolist())
        pairs += zip(*columns, strict=True)
        if len(pairs) >= enough:
            return Overlaps(pairs, complete=False)
    return Overlaps(pairs, complete=True)


def _face_normals(bodies: Floats) -> Floats:
    """Return the unit normals (n, 4, 3) of the faces of bodies."""
    i, j, k = np.transpose(_FACES)
    along = bodies[:, j] - bodies[:, i]
    across = bodies[:, k] - bodies[:, i]
    normals, _ = _unit_vectors(_cross_products(along, across))
    return normals


def _meeting_boxes(bodies: Floats) -> Iterator[tuple[Positions, Positions]]:
    """Yield pairs whose bounding boxes meet, in order, at most ``_CHUNK`` at a time."""
    low = bodies.min(axis=1)
    high = bodies.max(axis=1)
    places = np.arange(len(bodies))
    for start in range(0, len(bodies), _ROWS):
        rows = slice(start, start + _ROWS)
        # Each pair once: the second body comes later.
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
    ax, ay, az = np.moveaxis(a, -1, 0)
    bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _unit_vectors(vectors: Floats) -> tuple[Floats, Mask]:
    """Return vectors scaled to length 1, and a mask of those long enough to have a direction."""
    squares = _dot(vectors, vectors)
    has_direction = squares >= _PARALLEL
    lengths = np.sqrt(np.where(has_direction, squares, 1.0))
    return vectors / lengths[..., None], has_direction
