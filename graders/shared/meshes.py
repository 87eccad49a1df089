"""Polygon meshes as plain arrays: planes, triangles, volumes and winding numbers.

The functions accept meshes that may be wrong in any way, as long as all indices are
valid and no face repeats a vertex.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manifold3d import triangulate as cut_polygon

from scbench.graders.shared.mesh_topology import (
    Faces,
    face_rings,
)
from scbench.graders.shared.vectors import Array, Indices, cross, dot, unit


class PolygonMesh(NamedTuple):
    """Vertices, and the polygons between them."""

    points: Array
    """(n, 3) vertices."""
    faces: Faces
    """Indices of vertices, counter-clockwise seen from outside."""


class Triangles(NamedTuple):
    """The triangles that faces are cut into."""

    corners: Indices
    """(m, 3) indices of vertices."""
    face: Indices
    """(m,) position of the face that each comes from."""


def newell_normals(mesh: PolygonMesh) -> Array:
    """Return each face's normal (k, 3) by Newell's rule, as long as twice its area."""
    if not mesh.faces:
        return np.zeros((0, 3))
    rings = face_rings(mesh.faces)
    # Measured from the face's first corner, because products lose digits far from 0.
    origin = np.repeat(mesh.points[rings.corner[rings.start]], rings.size, axis=0)
    corners = mesh.points[rings.corner] - origin
    next_corners = mesh.points[rings.after] - origin
    normals: Array = np.add.reduceat(cross(corners, next_corners), rings.start, axis=0)
    return normals


def unevenness(mesh: PolygonMesh, normals: Array) -> Array:
    """Return the largest distance (k,) of a corner of each face from the face's best plane.

    The plane goes through the mean of the corners, perpendicular to `newell_normals`. The distance
    is 0 for triangles and for faces without area.
    """
    if not mesh.faces:
        return np.zeros(0)
    rings = face_rings(mesh.faces)
    corners = mesh.points[rings.corner]
    means = np.add.reduceat(corners, rings.start, axis=0) / rings.size[:, None]
    offsets = corners - np.repeat(means, rings.size, axis=0)
    corner_normals = np.repeat(unit(normals), rings.size, axis=0)
    distances = np.abs(dot(offsets, corner_normals))
    farthest: Array = np.maximum.reduceat(distances, rings.start)
    return np.where(rings.size > 3, farthest, 0.0)


def triangulate(mesh: PolygonMesh, normals: Array | None = None) -> Triangles:
    """Split every face with an area into triangles along its diagonals.

    Faces need not be flat or simple. The normals are the mesh's `newell_normals`, if known.
    """
    if normals is None:
        normals = newell_normals(mesh)
    has_area = np.any(normals != 0, axis=1).tolist()
    corners: list[Sequence[int]] = []
    owners: list[int] = []
    for i, face in enumerate(mesh.faces):
        if not has_area[i]:
            continue
        if len(face) == 3:
            corners.append(face)
            owners.append(i)
            continue
        outline = project_to_plane(mesh.points[list(face)], normals[i])
        for places in cut_polygon([outline]).tolist():
            corners.append([face[place] for place in places])
            owners.append(i)
    return Triangles(
        np.array(corners, dtype=np.int64).reshape(-1, 3),
        np.array(owners, dtype=np.int64),
    )


def project_to_plane(points: Array, normal: Array) -> Array:
    """Return points (n, 2) seen along the axis nearest to a normal, counter-clockwise around it."""
    axis = int(np.argmax(np.abs(normal)))
    across = [(axis + 1) % 3, (axis + 2) % 3]
    if normal[axis] <= 0:
        across.reverse()
    return np.ascontiguousarray(points[:, across])


def signed_volumes(points: Array, triangles: Triangles, shell: Indices) -> Array:
    """Return the signed volume (s,) of each closed shell, negative where its faces point inwards.

    The points are the vertices (n, 3), ``shell`` (k,) is the shell of each face.
    """
    owner = shell[triangles.face]
    corner = points[triangles.corners]
    # Each shell is measured from a separate point, because sums lose digits far from
    # the origin.
    origin = np.zeros((int(shell.max(initial=-1)) + 1, 3))
    origin[owner] = corner[:, 0]
    corner = corner - origin[owner][:, None]
    cones = dot(cross(corner[:, 0], corner[:, 1]), corner[:, 2]) / 6
    volumes = np.bincount(owner, weights=cones, minlength=len(origin))
    return volumes.astype(np.float64)


def winding_number(point: Array, points: Array, corners: Indices) -> int:
    """Return the winding number of closed triangles around a point (3,) that is on none of them.

    The solid angles of the triangles are summed, each by the formula of Van Oosterom and Strackee.
    """
    a = points[corners[:, 0]] - point
    b = points[corners[:, 1]] - point
    c = points[corners[:, 2]] - point
    length_a = np.sqrt(dot(a, a))
    length_b = np.sqrt(dot(b, b))
    length_c = np.sqrt(dot(c, c))
    ab = dot(a, b)
    bc = dot(b, c)
    ca = dot(c, a)
    numerator = dot(cross(a, b), c)
    lengths = length_a * length_b * length_c
    denominator = lengths + ab * length_c + bc * length_a + ca * length_b
    angles = 2 * np.arctan2(numerator, denominator)
    return round(float(np.sum(angles)) / (4 * np.pi))
