"""Rays against triangles: points of a grid on flat faces, and distances to the next triangle."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scbench.graders.shared.vectors import Array, Indices, unit

# Points compared with triangles together; bounds memory and work, not results.
_BLOCK = 256
# Rays this close to an edge between two triangles hit both.
_EDGE = 1e-7
# Triangles of less than half this area count as seen edge-on.
_EDGE_ON = 1e-9
# Cost of a point within the bounds of a triangle, if a point outside costs 1.
_NEAR_COST = 20


class TooManyRaysError(Exception):
    """Points and triangles are too many, or too crowded, for all of them to be compared."""


class Meter:
    """Counts the work of casting rays, up to a budget: comparisons of points with triangles."""

    def __init__(self, budget: float) -> None:
        self._remaining = budget

    def spend(self, work: float) -> None:
        """Count work before it is done.

        Raises:
            TooManyRaysError: the work exceeds the remaining budget.
        """
        self._remaining -= work
        if self._remaining < 0:
            raise TooManyRaysError


class FaceGrid(NamedTuple):
    """A grid over a flat face, in a plane that all faces share without overlapping."""

    points: Array
    """(k, 2) in the shared plane."""
    triangles: Array
    """(m, 3, 3): two coordinates in the shared plane, then the height."""
    low: Array
    """(2,) lowest coordinates of the face across the axis."""
    shift: float
    """Place of the face along the first coordinate of the shared plane."""


class Hits(NamedTuple):
    """Pairs of a point and a triangle above or below it."""

    point: Indices
    """(k,) positions of the points."""
    height: Array
    """(k,) height of the triangle there."""


def cast(origins: Array, direction: Array, corners: Array, meter: Meter) -> Array:
    """Return the distance (k,) from each origin (k, 3) to the first triangle ahead, or infinity.

    The direction (3,) has length 1 and is the same for all rays; the corners are those of triangles
    (m, 3, 3). `TooManyRaysError` is raised if the meter's budget is too small.
    """
    axes = frame(direction)
    start = origins @ axes
    turned = corners @ axes
    hits = triangle_hits(start[:, :2], turned, meter)
    distance = hits.height - start[hits.point, 2]
    ahead = distance > 0
    nearest = np.full(len(origins), np.inf)
    np.minimum.at(nearest, hits.point[ahead], distance[ahead])
    return nearest


def frame(direction: Array) -> Array:
    """Return three perpendicular axes (3, 3) as columns; the third is the direction.

    If the direction is a coordinate axis, the other two axes are coordinate axes as well, so that
    no coordinate is rounded.
    """
    farthest_axis = np.zeros(3)
    farthest_axis[int(np.argmin(np.abs(direction)))] = 1.0
    first = unit(np.cross(farthest_axis, direction))
    axes: Array = np.stack([first, np.cross(direction, first), direction], axis=1)
    return axes + 0.0


def grids_on(
    faces: Sequence[Array], axis: int, cell: float, max_cells: int, meter: Meter
) -> list[Array]:
    """Return, for each flat face (m, 3, 3), the points (k, 3) of a grid that lie on it.

    No face is parallel to the axis. The bounds of a face across the axis are cut into equal cells,
    no wider than ``cell``, but at most ``max_cells`` along a side. A point is the centre of a cell,
    moved along the axis onto the face.

    Raises:
        TooManyRaysError: the meter's budget is too small.
    """
    across = [i for i in range(3) if i != axis]
    grids = []
    shift = 0.0
    # All faces are laid side by side, so that one search serves them all.
    for face in faces:
        grid = face_grid(face[:, :, [*across, axis]], cell, max_cells, shift)
        grids.append(grid)
        shift += float(np.ptp(face[:, :, across[0]])) + 1.0
    hits = triangle_hits(
        np.concatenate([grid.points for grid in grids]),
        np.concatenate([grid.triangles for grid in grids]),
        meter,
    )
    # For a point on the edge of two triangles, the first hit counts.
    point, first = np.unique(hits.point, return_index=True)
    height = hits.height[first]
    face_points = []
    start = 0
    for grid in grids:
        end = start + len(grid.points)
        in_grid = (point >= start) & (point < end)
        on = np.empty((int(np.count_nonzero(in_grid)), 3))
        flat = grid.points[point[in_grid] - start]
        on[:, across] = flat + grid.low - (grid.shift, 0.0)
        on[:, axis] = height[in_grid]
        face_points.append(on)
        start = end
    return face_points


def face_grid(flat: Array, cell: float, max_cells: int, shift: float) -> FaceGrid:
    """Return the grid over a face (m, 3, 3) whose third coordinate is the height."""
    low = flat[:, :, :2].min(axis=(0, 1))
    high = flat[:, :, :2].max(axis=(0, 1))
    sides = []
    for length in (high - low).tolist():
        count = max(1.0, math.ceil(round(length / cell, 6)))
        count = int(min(max_cells, count))
        sides.append((np.arange(count) + 0.5) / count)
    unit_grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    points = unit_grid * (high - low) + (shift, 0.0)
    offset = np.array([shift, 0.0]) - low
    return FaceGrid(points, flat + np.append(offset, 0.0), low, shift)


def triangle_hits(points: Array, corners: Array, meter: Meter) -> Hits:
    """Return which points (k, 2) lie below or above triangles (m, 3, 3), and the heights there."""
    a = corners[:, 0, :2]
    b = corners[:, 1, :2]
    c = corners[:, 2, :2]
    double = cross_2d(b - a, c - a)
    facing = np.flatnonzero(np.abs(double) > _EDGE_ON)
    low = corners[facing, :, :2].min(axis=1) - _EDGE
    high = corners[facing, :, :2].max(axis=1) + _EDGE
    hit_points = [np.zeros(0, dtype=np.int64)]
    hit_heights = [np.zeros(0)]
    order = order_in_patches(points)
    for first in range(0, len(order), _BLOCK):
        rows = order[first : first + _BLOCK]
        block = points[rows]
        # Triangles whose bounds meet those of the block, then those around single points.
        meets_block = (low <= block.max(axis=0)) & (high >= block.min(axis=0))
        near = np.flatnonzero(meets_block.all(axis=1))
        meter.spend(len(rows) * len(near))
        x = block[:, :1]
        y = block[:, 1:]
        inside = (low[near, 0] <= x) & (high[near, 0] >= x)
        inside &= (low[near, 1] <= y) & (high[near, 1] >= y)
        i, j = np.nonzero(inside)
        meter.spend(_NEAR_COST * len(i))
        t = facing[near[j]]
        p = block[i]
        # Weights of the three corners; all positive inside.
        wa = cross_2d(b[t] - p, c[t] - p) / double[t]
        wb = cross_2d(c[t] - p, a[t] - p) / double[t]
        wc = 1 - wa - wb
        is_hit = (wa >= -_EDGE) & (wb >= -_EDGE) & (wc >= -_EDGE)
        z = corners[t, :, 2]
        height = wa * z[:, 0] + wb * z[:, 1] + wc * z[:, 2]
        hit_points.append(rows[i[is_hit]])
        hit_heights.append(height[is_hit])
    return Hits(np.concatenate(hit_points), np.concatenate(hit_heights))


def order_in_patches(points: Array) -> Indices:
    """Return an order (k,) of points (k, 2) in which successive points are close in the plane."""
    if len(points) == 0:
        return np.zeros(0, dtype=np.int64)
    # Strips as wide as a block of points is long.
    span = float(np.ptp(points[:, 0]))
    blocks = len(points) / _BLOCK
    strips = max(1.0, math.sqrt(blocks * span / max(np.ptp(points[:, 1]), 1e-9)))
    strip = np.floor((points[:, 0] - points[:, 0].min()) / max(span, 1e-9) * strips)
    return np.lexsort((points[:, 1], strip))


def cross_2d(u: Array, v: Array) -> Array:
    """Return the cross products (k,) of vectors (k, 2)."""
    product: Array = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return product
