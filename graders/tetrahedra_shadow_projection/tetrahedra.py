"""Unit tetrahedra in space: where their corners lie, and which of them cut each other.

Sums of products are written out, so that every machine rounds them alike.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BASE: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.5, math.sqrt(3) / 2, 0.0),
    (0.5, math.sqrt(3) / 6, math.sqrt(2 / 3)),
)
"""Corners of the tetrahedron that is turned and moved."""

_FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
_PARALLEL = 1e-10
_ROWS = 128
_CHUNK = 2000
_DIGITS = 9


class Cuts(NamedTuple):
    """Pairs of tetrahedra that cut each other.

    Attributes:
        pairs: index, higher index and depth of each pair, in order of the indices.
        complete: False if the search ended early because there are too many.
    """

    pairs: list[tuple[int, int, float]]
    complete: bool


def corners(poses: Floats) -> Floats:
    """Return where the corners lie.

    Args:
        poses: n x 7: move in x, y and z, then the quaternion, scalar part first, of any length but
            0; it is brought to length 1.

    Returns:
        n x 4 x 3.
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
    """Return the pairs that reach more than ``allowed`` into each other.

    The depth of a pair is the shortest move that parts it: the least overlap of the two along any
    of the 44 axes on which two tetrahedra can be parted (face normals, cross products of edges),
    rounded to 9 digits.

    Args:
        bodies: n x 4 x 3, corners of unit tetrahedra.
        allowed: largest depth that is no cut.
        enough: stop soon after this many pairs were found.
    """
    normals = _unit(np.stack([_face_normal(bodies, face) for face in _FACES], axis=1))[0]
    edges = np.stack([bodies[:, j] - bodies[:, i] for i, j in _EDGES], axis=1)
    pairs: list[tuple[int, int, float]] = []
    for first, second in _near(bodies):
        axes = _cross(edges[first][:, :, None], edges[second][:, None]).reshape(-1, 36, 3)
        crossed, usable = _unit(axes)
        usable = np.concatenate([np.ones((len(first), 8), bool), usable], axis=1)
        axes = np.concatenate([normals[first], normals[second], crossed], axis=1)
        a = _dot(axes[:, :, None], bodies[first][:, None])
        b = _dot(axes[:, :, None], bodies[second][:, None])
        overlap = np.minimum(a.max(2) - b.min(2), b.max(2) - a.min(2))
        depth = np.round(np.where(usable, overlap, np.inf).min(1), _DIGITS)
        hit = depth > allowed
        pairs += zip(first[hit].tolist(), second[hit].tolist(), depth[hit].tolist(), strict=True)
        if len(pairs) >= enough:
            return Cuts(pairs, complete=False)
    return Cuts(pairs, complete=True)


def _near(bodies: Floats) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
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


def _cross(a: Floats, b: Floats) -> Floats:
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _face_normal(bodies: Floats, face: tuple[int, int, int]) -> Floats:
    a, b, c = (bodies[:, i] for i in face)
    return _cross(b - a, c - a)


def _unit(vectors: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return vectors at length 1, and which of them are long enough to have a direction."""
    squares = _dot(vectors, vectors)
    usable = squares >= _PARALLEL
    return vectors / np.sqrt(np.where(usable, squares, 1.0))[..., None], usable
