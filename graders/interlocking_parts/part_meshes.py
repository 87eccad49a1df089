"""Triangle meshes of printed parts: welding, faults of edges, volume, flat faces.

Everything is vectorised, because parts may have tens of thousands of triangles.
"""

from typing import NamedTuple

import numpy as np
from manifold3d import Manifold

from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.vectors import Array, Indices, Mask, dot, unit

# Corners that agree to this many decimals are one vertex.
WELD_DECIMALS = 6
# Triangles are in one plane if the cosine between their normals is at least the first number, and
# no corner is farther from the plane than the second.
_SAME_DIRECTION = 1 - 1e-6
_SAME_PLANE = 1e-3


class Shell(NamedTuple):
    """A mesh of triangles."""

    points: Array
    """(n, 3) vertices."""
    corners: Indices
    """(m, 3) indices of vertices, counter-clockwise seen from outside."""


class EdgeCounts(NamedTuple):
    """Edges that a closed, consistently wound surface would not have."""

    open: int
    """On one triangle only."""
    crowded: int
    """On more than two triangles."""
    unwound: int
    """On two triangles that run along it in the same direction."""


class Facet(NamedTuple):
    """A flat, connected piece of a surface."""

    triangles: Indices
    """(k,) positions of its triangles."""
    normal: Array
    """(3,) outwards, of length 1."""
    area: float


class TriangleSides(NamedTuple):
    """The three sides of each triangle, triangle after triangle."""

    edge: Indices
    """(3 m,) number of each side's edge, equal for sides that share an edge."""
    forward: Mask
    """(3 m,) whether the side runs from the lower vertex to the higher."""


def weld(triangles: Array) -> Shell:
    """Return triangles (m, 3, 3) as a mesh; those that shrink to a line or point are left out."""
    # Adding 0 turns -0 into 0.
    rounded = np.round(triangles.reshape(-1, 3), WELD_DECIMALS) + 0.0
    order = np.lexsort(rounded.T)
    ordered = rounded[order]
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    vertex = np.empty(len(ordered), dtype=np.int64)
    vertex[order] = np.cumsum(is_new) - 1
    corners = vertex.reshape(-1, 3)
    a, b, c = corners.T
    return Shell(ordered[is_new], corners[(a != b) & (b != c) & (c != a)])


def shell_of(body: Manifold) -> Shell:
    """Return the surface of a body as a mesh."""
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties)[:, :3]
    return Shell(points, np.asarray(mesh.tri_verts).astype(np.int64))


def triangles_of(shell: Shell) -> Array:
    """Return the triangles (m, 3, 3) of a mesh."""
    triangles: Array = shell.points[shell.corners]
    return triangles


def count_edges(shell: Shell) -> EdgeCounts:
    """Count the edges that keep a mesh from bounding a solid."""
    sides = triangle_sides(shell)
    edges, uses = np.unique(sides.edge, return_counts=True)
    position = np.searchsorted(edges, sides.edge)
    forward = np.bincount(position, weights=sides.forward, minlength=len(edges))
    return EdgeCounts(
        open=int(np.count_nonzero(uses == 1)),
        crowded=int(np.count_nonzero(uses > 2)),
        unwound=int(np.count_nonzero((uses == 2) & (forward != 1))),
    )


def neighbours(shell: Shell) -> Indices:
    """Return pairs (p, 2) of triangles that share an edge; a crowded edge gives a chain of them."""
    edge = triangle_sides(shell).edge
    order = np.argsort(edge, kind="stable")
    is_same = edge[order][1:] == edge[order][:-1]
    triangle = order // 3
    return np.stack([triangle[:-1][is_same], triangle[1:][is_same]], axis=1)


def triangle_sides(shell: Shell) -> TriangleSides:
    """Return the sides of a mesh's triangles."""
    start = shell.corners.reshape(-1)
    end = np.roll(shell.corners, -1, axis=1).reshape(-1)
    low = np.minimum(start, end)
    high = np.maximum(start, end)
    return TriangleSides(low * len(shell.points) + high, start < end)


def signed_volume(shell: Shell) -> float:
    """Return the volume that a closed mesh bounds, negative if it is inside out."""
    corner = triangles_of(shell)
    # Cones from the centre: far from 0, sums would lose digits.
    corner = corner - corner.reshape(-1, 3).mean(axis=0)
    return float(np.sum(np.cross(corner[:, 0], corner[:, 1]) * corner[:, 2]) / 6)


def centroid(shell: Shell) -> Array:
    """Return the centre of mass (3,) of a closed mesh with uniform density."""
    corner = triangles_of(shell)
    middle = corner.reshape(-1, 3).mean(axis=0)
    corner = corner - middle
    cones = np.sum(np.cross(corner[:, 0], corner[:, 1]) * corner[:, 2], axis=1)
    centre: Array = middle + cones @ corner.sum(axis=1) / (4 * np.sum(cones))
    return centre


def normals_and_areas(shell: Shell) -> tuple[Array, Array]:
    """Return the unit normal (m, 3) and area (m,) of each triangle."""
    corner = triangles_of(shell)
    double = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    areas = np.sqrt(np.sum(double**2, axis=1)) / 2
    return unit(double), areas


def facets(shell: Shell, least: float) -> list[Facet]:
    """Return the flat pieces of a surface: triangles in one plane, connected by edges.

    Pieces with an area below ``least``, which is above 0, are left out.
    """
    normals, areas = normals_and_areas(shell)
    pairs = neighbours(shell)
    a, b = pairs.T
    corner = triangles_of(shell)
    heights = np.einsum("ijk,ik->ij", corner[b] - corner[a][:, :1], normals[a])
    same_plane = np.all(np.abs(heights) < _SAME_PLANE, axis=1)
    same_direction = dot(normals[a], normals[b]) > _SAME_DIRECTION
    label = components(len(normals), pairs[same_direction & same_plane])
    piece_areas = np.bincount(label, weights=areas)
    # The direction of a piece is the mean of its normals, weighted by area.
    weighted = areas[:, None] * normals
    sums = [np.bincount(label, weights=weighted[:, axis]) for axis in range(3)]
    directions = unit(np.stack(sums, axis=1).astype(np.float64))
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label)).tolist()
    starts = [0, *ends]
    return [
        Facet(order[starts[i] : ends[i]], directions[i], float(piece_areas[i]))
        for i in np.flatnonzero(np.round(piece_areas, 6) >= least).tolist()
    ]
