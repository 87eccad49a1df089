"""Triangle meshes as files hold them: welding, what keeps them from being solids, flat faces.

Vectorised throughout, as parts for a printer may have tens of thousands of triangles.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.shared.meshes import Array, Indices, unit

WELD_DECIMALS = 6
"""Corners that agree in so many decimals are one vertex."""

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


def weld(triangles: Array) -> Shell:
    """Return triangles (m, 3, 3) as a mesh; those that shrink to a line or point are left out."""
    grid = np.round(triangles.reshape(-1, 3), WELD_DECIMALS) + 0.0
    order = np.lexsort(grid.T)
    ordered = grid[order]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    index = np.empty(len(ordered), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    corners = index.reshape(-1, 3)
    a, b, c = corners.T
    return Shell(ordered[new], corners[(a != b) & (b != c) & (c != a)])


def triangles_of(shell: Shell) -> Array:
    """Return the triangles (m, 3, 3) of a mesh."""
    triangles: Array = shell.points[shell.corners]
    return triangles


def count_edges(shell: Shell) -> EdgeCounts:
    """Count the edges that keep a mesh from bounding a solid."""
    ends, uses = _edges(shell)
    keys, first, count = np.unique(ends, return_index=True, return_counts=True)
    forward = np.bincount(np.searchsorted(keys, ends), weights=uses, minlength=len(keys))
    del first
    return EdgeCounts(
        int(np.count_nonzero(count == 1)),
        int(np.count_nonzero(count > 2)),
        int(np.count_nonzero((count == 2) & (forward != 1))),
    )


def _edges(shell: Shell) -> tuple[Indices, NDArray[np.bool_]]:
    """Return a number for each triangle's side (3 m,), and whether it runs from low to high."""
    start = shell.corners.reshape(-1)
    end = np.roll(shell.corners, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    return low * len(shell.points) + high, start < end


def neighbours(shell: Shell) -> Indices:
    """Return pairs (p, 2) of triangles that share an edge; of a crowded edge, a chain of them."""
    ends, _ = _edges(shell)
    order = np.argsort(ends, kind="stable")
    same = ends[order][1:] == ends[order][:-1]
    triangle = order // 3
    return np.stack([triangle[:-1][same], triangle[1:][same]], axis=1)


def components(count: int, pairs: Indices) -> Indices:
    """Return a label (count,) for each thing, from 0, equal for those that pairs connect."""
    label = np.arange(count)
    if len(pairs) == 0:
        return label
    while True:
        a, b = label[pairs[:, 0]], label[pairs[:, 1]]
        if np.array_equal(a, b):
            return np.unique(label, return_inverse=True)[1].reshape(-1)
        low = np.minimum(a, b)
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        while not np.array_equal(label, label[label]):
            label = label[label]


def signed_volume(shell: Shell) -> float:
    """Return the volume that a closed mesh bounds, negative if it is inside out."""
    corner = triangles_of(shell)
    corner = corner - corner.reshape(-1, 3).mean(axis=0)
    return float(np.sum(np.cross(corner[:, 0], corner[:, 1]) * corner[:, 2]) / 6)


def centroid(shell: Shell) -> Array:
    """Return the centre of mass (3,) of a closed mesh of even density."""
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
    return unit(double), np.sqrt(np.sum(double**2, axis=1)) / 2


def facets(shell: Shell, least: float) -> list[Facet]:
    """Return the flat pieces of a surface: triangles in one plane that hang together by edges.

    Args:
        shell: the mesh.
        least: area below which pieces are left out; above 0.
    """
    normals, areas = normals_and_areas(shell)
    pairs = neighbours(shell)
    a, b = pairs.T
    flat = np.einsum("ij,ij->i", normals[a], normals[b]) > _SAME_DIRECTION
    corner = triangles_of(shell)
    away = np.abs(np.einsum("ijk,ik->ij", corner[b] - corner[a][:, :1], normals[a]))
    label = components(
        len(normals),
        pairs[
            flat
            & (away[:, 0] < _SAME_PLANE)
            & (away[:, 1] < _SAME_PLANE)
            & (away[:, 2] < _SAME_PLANE)
        ],
    )
    total = np.bincount(label, weights=areas)
    weighted = areas[:, None] * normals
    lean = np.stack([np.bincount(label, weights=weighted[:, k]) for k in range(3)], axis=1)
    directions = unit(lean.astype(np.float64))
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label))
    return [
        Facet(order[0 if i == 0 else ends[i - 1] : ends[i]], directions[i], float(total[i]))
        for i in np.flatnonzero(np.round(total, 6) >= least).tolist()
    ]
