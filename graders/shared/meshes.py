"""Polygon meshes as plain arrays: planes, edges, shells, triangles, volumes.

Everything here takes meshes that may be wrong in any way, as long as every index names a vertex and
no face names one twice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manifold3d import triangulate as cut_polygon
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Faces = tuple[tuple[int, ...], ...]
Edge = tuple[int, int]


class PolygonMesh(NamedTuple):
    """Vertices (n, 3), and faces as indices of vertices, counter-clockwise seen from outside."""

    points: Array
    faces: Faces


class Triangles(NamedTuple):
    """What faces are cut into."""

    corners: Indices
    """(m, 3) indices of vertices."""
    face: Indices
    """(m,) position of the face that each comes from."""


class EdgeFaults(NamedTuple):
    """Edges that a closed, consistently wound surface would not have."""

    doubled: list[Edge]
    """Run through twice in this direction."""
    open: list[Edge]
    """On one face only."""
    crowded: list[Edge]
    """On more than two faces."""


class _Rings(NamedTuple):
    """The corners of all faces one after the other."""

    corner: Indices
    after: Indices
    """The next corner of the same face."""
    start: Indices
    size: Indices


def _rings(faces: Faces) -> _Rings:
    size = np.array([len(face) for face in faces], dtype=np.int64)
    start = np.cumsum(size) - size
    corner = np.fromiter((i for face in faces for i in face), dtype=np.int64)
    after = np.roll(corner, -1)
    after[start + size - 1] = corner[start]
    return _Rings(corner, after, start, size)


def newell_normals(mesh: PolygonMesh) -> Array:
    """Return each face's normal (k, 3) by Newell's rule, as long as twice its area."""
    if not mesh.faces:
        return np.zeros((0, 3))
    rings = _rings(mesh.faces)
    origin = np.repeat(mesh.points[rings.corner[rings.start]], rings.size, axis=0)
    terms = np.cross(mesh.points[rings.corner] - origin, mesh.points[rings.after] - origin)
    normals: Array = np.add.reduceat(terms, rings.start, axis=0)
    return normals


def unevenness(mesh: PolygonMesh, normals: Array) -> Array:
    """Return how far (k,) a corner of each face lies from its best plane, at most.

    The plane goes through the mean of the corners, square to `newell_normals`. 0 for triangles and
    for faces without area.
    """
    if not mesh.faces:
        return np.zeros(0)
    rings = _rings(mesh.faces)
    units = unit(normals)
    corners = mesh.points[rings.corner]
    means = np.add.reduceat(corners, rings.start, axis=0) / rings.size[:, None]
    away = corners - np.repeat(means, rings.size, axis=0)
    distances = np.abs(np.einsum("ij,ij->i", away, np.repeat(units, rings.size, axis=0)))
    worst: Array = np.maximum.reduceat(distances, rings.start)
    return np.where(rings.size > 3, worst, 0.0)


def unit(vectors: Array) -> Array:
    """Return vectors (..., 3) scaled to length 1, those of length 0 as they are."""
    length = np.sqrt(np.sum(vectors * vectors, axis=-1, keepdims=True))
    scaled: Array = vectors / np.where(length > 0, length, 1.0)
    return scaled


def edge_faults(faces: Faces) -> EdgeFaults:
    """Return the edges that keep the faces from bounding a solid, each list ascending."""
    if not faces:
        return EdgeFaults([], [], [])
    rings = _rings(faces)
    pairs = np.stack([rings.corner, rings.after], axis=1)
    directed, uses = np.unique(pairs, axis=0, return_counts=True)
    edges, sides = np.unique(np.sort(pairs, axis=1), axis=0, return_counts=True)
    return EdgeFaults(
        _as_edges(directed[uses > 1]), _as_edges(edges[sides == 1]), _as_edges(edges[sides > 2])
    )


def _as_edges(rows: Indices) -> list[Edge]:
    return [(a, b) for a, b in rows.tolist()]


def shells(faces: Faces) -> Indices:
    """Return the shell (k,) of each face, numbered from 0 by its first face.

    Faces that share an edge belong to the same shell.
    """
    parent = list(range(len(faces)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    face_at: dict[Edge, int] = {}
    for i, face in enumerate(faces):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            neighbour = face_at.setdefault((a, b) if a < b else (b, a), i)
            if neighbour != i:
                low, high = sorted((root(neighbour), root(i)))
                parent[high] = low
    numbers: dict[int, int] = {}
    return np.array(
        [numbers.setdefault(root(i), len(numbers)) for i in range(len(faces))], dtype=np.int64
    )


def triangulate(mesh: PolygonMesh, normals: Array | None = None) -> Triangles:
    """Cut every face that has an area into triangles along its own diagonals.

    Args:
        mesh: any mesh; faces need be neither flat nor simple.
        normals: its `newell_normals`, if known.
    """
    normals = newell_normals(mesh) if normals is None else normals
    corners: list[Sequence[Sequence[int]]] = []
    owners: list[int] = []
    areas = np.any(normals != 0, axis=1).tolist()
    for i, face in enumerate(mesh.faces):
        if not areas[i]:
            continue
        if len(face) == 3:
            cut: list[tuple[int, ...]] = [face]
        else:
            flat = _flattened(mesh.points[list(face)], normals[i])
            cut = [tuple(face[j] for j in three) for three in cut_polygon([flat]).tolist()]
        corners.extend(cut)  # type: ignore[arg-type]
        owners += [i] * len(cut)
    return Triangles(
        np.array(corners, dtype=np.int64).reshape(-1, 3), np.array(owners, dtype=np.int64)
    )


def _flattened(points: Array, normal: Array) -> Array:
    """Return points (n, 2) seen along the axis nearest to a normal, counter-clockwise around it."""
    axis = int(np.argmax(np.abs(normal)))
    right, up = (axis + 1) % 3, (axis + 2) % 3
    return np.ascontiguousarray(points[:, [right, up] if normal[axis] > 0 else [up, right]])


def signed_volumes(points: Array, triangles: Triangles, shell: Indices) -> Array:
    """Return the signed volume (s,) of each shell, negative where its faces point inwards.

    Args:
        points: (n, 3) vertices.
        triangles: all of them, of closed shells.
        shell: (k,) the shell of each face.
    """
    owner = shell[triangles.face]
    corner = points[triangles.corners]
    # Each shell is measured from a point of its own: far from the origin, sums would lose digits.
    origin = np.zeros((int(shell.max(initial=-1)) + 1, 3))
    origin[owner] = corner[:, 0]
    corner = corner - origin[owner][:, None]
    cones: Array = np.einsum("ij,ij->i", np.cross(corner[:, 0], corner[:, 1]), corner[:, 2]) / 6
    return np.bincount(owner, weights=cones, minlength=len(origin)).astype(np.float64)


def winding_number(point: Array, points: Array, corners: Indices) -> int:
    """Return how often closed triangles wind round a point (3,) that lies on none of them."""
    a, b, c = (points[corners[:, k]] - point for k in range(3))
    la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (a, b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a)))
    volume = np.einsum("ij,ij->i", np.cross(a, b), c)
    angles = 2 * np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
    return round(float(np.sum(angles)) / (4 * np.pi))
