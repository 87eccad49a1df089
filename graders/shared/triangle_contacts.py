"""Triangles that cut, cover or nearly touch each other.

Two triangles are compared by their projections on lines: the normals of both, the directions in
their planes perpendicular to their edges, and the cross products of their edges. They are separate
exactly if their projections on one of these lines are separate (separating axes).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from scbench.graders.shared.vectors import Array, Indices, cross, dot, unit

# Pairs compared together; bounds memory, not results.
_CHUNK = 20_000
# Squared sines below this belong to edges that count as parallel.
_PARALLEL = 1e-18


class Contacts(NamedTuple):
    """Pairs (., 2) of triangles, by position, the lower one first."""

    crossing: Indices
    """Pairs that cut through each other."""
    covering: Indices
    """Pairs that lie in one plane, one on the other."""


def find_contacts(corners: Array, pairs: Indices, tolerance: float) -> Contacts:
    """Return the pairs of triangles (m, 3, 3) that overlap by more than a tolerance.

    Triangles that are nowhere wider than the tolerance are left out: their
    intersections are no longer than that. The tolerance is the permitted depth, and the
    largest distance from a plane at which two triangles count as lying in it. The pairs
    come from `close_pairs` with the tolerance as its margin.
    """
    normals = triangle_normals(corners)
    is_wide = widths(corners) > tolerance
    pairs = pairs[np.all(is_wide[pairs], axis=1)]
    crossing = [np.zeros((0, 2), dtype=np.int64)]
    covering = [np.zeros((0, 2), dtype=np.int64)]
    for chunk in pair_chunks(pairs):
        p = corners[chunk[:, 0]]
        q = corners[chunk[:, 1]]
        p_normal = normals[chunk[:, 0]]
        q_normal = normals[chunk[:, 1]]
        # Heights of each triangle's corners above the plane of its partner.
        q_heights = np.einsum("ijk,ik->ij", q - p[:, :1], p_normal)
        p_heights = np.einsum("ijk,ik->ij", p - q[:, :1], q_normal)
        q_farthest = np.abs(q_heights).max(axis=1)
        p_farthest = np.abs(p_heights).max(axis=1)
        is_flat = np.maximum(q_farthest, p_farthest) <= tolerance

        # Crossing: each reaches to both sides of the other's plane, and no line
        # separates them.
        q_depth = np.minimum(q_heights.max(axis=1), -q_heights.min(axis=1))
        p_depth = np.minimum(p_heights.max(axis=1), -p_heights.min(axis=1))
        is_deep = np.minimum(q_depth, p_depth) > tolerance
        rows = np.flatnonzero(is_deep & ~is_flat)
        lines = crossed_edges(p[rows], q[rows])
        depth = overlap_depth(p[rows], q[rows], lines)
        crossing_rows = rows[depth > tolerance]
        crossing.append(chunk[crossing_rows])

        # Covering: in one plane, only lines in that plane can separate them.
        rows = np.flatnonzero(is_flat)
        p_lines = edge_normals(p[rows], p_normal[rows])
        q_lines = edge_normals(q[rows], q_normal[rows])
        lines = np.concatenate([p_lines, q_lines], axis=1)
        depth = overlap_depth(p[rows], q[rows], lines)
        covering_rows = rows[depth > tolerance]
        covering.append(chunk[covering_rows])
    return Contacts(np.concatenate(crossing), np.concatenate(covering))


def nearer_than(corners: Array, pairs: Indices, distance: float) -> Indices:
    """Return the pairs (p, 2) of triangles that are closer to each other than a given distance."""
    normals = triangle_normals(corners)
    near_pairs = [np.zeros((0, 2), dtype=np.int64)]
    for chunk in pair_chunks(pairs):
        p = corners[chunk[:, 0]]
        q = corners[chunk[:, 1]]
        p_normal = normals[chunk[:, 0]]
        q_normal = normals[chunk[:, 1]]
        lines = np.concatenate(
            [
                p_normal[:, None],
                q_normal[:, None],
                edge_normals(p, p_normal),
                edge_normals(q, q_normal),
                crossed_edges(p, q),
            ],
            axis=1,
        )
        # A negative depth is a gap along some line. The triangles may be farther apart than
        # this gap, but not nearer, so only small gaps need the slower test.
        depth = overlap_depth(p, q, lines)
        is_near = depth >= 0
        rows = np.flatnonzero((depth < 0) & (depth > -distance))
        gap = squared_gap(p[rows], q[rows])
        is_near[rows] = gap < distance * distance
        near_pairs.append(chunk[is_near])
    return np.concatenate(near_pairs)


def widths(corners: Array) -> Array:
    """Return each triangle's (m,) height over its longest side."""
    # The length of this product is twice the area.
    product = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double_areas = np.sqrt(np.sum(product**2, axis=1))
    side_lengths = np.sqrt(np.sum(triangle_edges(corners) ** 2, axis=2))
    longest = side_lengths.max(axis=1)
    heights: Array = double_areas / np.where(longest > 0, longest, 1.0)
    return heights


def pair_chunks(pairs: Indices) -> Iterator[Indices]:
    """Yield pairs (p, 2) in order, a few thousand at a time."""
    for first in range(0, len(pairs), _CHUNK):
        yield pairs[first : first + _CHUNK]


def triangle_normals(corners: Array) -> Array:
    """Return the unit normals (m, 3) of triangles, 0 for those without area."""
    return unit(cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def triangle_edges(corners: Array) -> Array:
    """Return the sides (m, 3, 3) of triangles, side i from corner i to the next."""
    edges: Array = corners[:, [1, 2, 0]] - corners
    return edges


def crossed_edges(p: Array, q: Array) -> Array:
    """Return the unit vectors (m, 9, 3) perpendicular to an edge of each; 0 for parallel edges."""
    p_edges = unit(triangle_edges(p))
    q_edges = unit(triangle_edges(q))
    crossed = cross(p_edges[:, :, None], q_edges[:, None, :]).reshape(-1, 9, 3)
    squares = np.sum(crossed * crossed, axis=2, keepdims=True)
    return unit(np.where(squares < _PARALLEL, 0.0, crossed))


def edge_normals(corners: Array, normals: Array) -> Array:
    """Return the unit vectors (m, 3, 3) in each triangle's plane, perpendicular to its edges."""
    return unit(cross(triangle_edges(corners), normals[:, None]))


def overlap_depth(p: Array, q: Array, lines: Array) -> Array:
    """Return the smallest overlap (m,) of the projections on lines (m, k, 3), ignoring zeros."""
    on_p = np.einsum("ijk,ilk->ilj", p, lines)
    on_q = np.einsum("ijk,ilk->ilj", q, lines)
    p_over_q = on_p.max(axis=2) - on_q.min(axis=2)
    q_over_p = on_q.max(axis=2) - on_p.min(axis=2)
    overlap = np.minimum(p_over_q, q_over_p)
    is_line = np.any(lines != 0, axis=2)
    overlap = np.where(is_line, overlap, np.inf)
    depth: Array = overlap.min(axis=1, initial=np.inf)
    return depth


def squared_gap(p: Array, q: Array) -> Array:
    """Return the squared distance (m,) between triangles that do not meet.

    It is reached between two sides, or between a corner of one and the inside of the other.
    """
    gap: Array = np.full(len(p), np.inf)
    for i in range(3):
        for j in range(3):
            gap = np.minimum(gap, squared_side_distance(p, i, q, j))
    for points, corners in ((p, q), (q, p)):
        gap = np.minimum(gap, squared_height(points, corners))
    return gap


def squared_side_distance(p: Array, i: int, q: Array, j: int) -> Array:
    """Return the squared distance (m,) between side i of one triangle and side j of the other."""
    p_start = p[:, i]
    q_start = q[:, j]
    u = p[:, (i + 1) % 3] - p_start
    v = q[:, (j + 1) % 3] - q_start
    r = p_start - q_start
    uu = dot(u, u)
    vv = dot(v, v)
    uv = dot(u, v)
    ur = dot(u, r)
    vr = dot(v, r)
    # The nearest points are p_start + s u and q_start + t v. First s is that of the two lines,
    # moved onto its side; t is the best for this s, and the final s the best for this t.
    denominator = uu * vv - uv * uv
    is_slanted = denominator > _PARALLEL * uu * vv
    quotient = (uv * vr - vv * ur) / np.where(is_slanted, denominator, 1.0)
    s = np.clip(np.where(is_slanted, quotient, 0.0), 0.0, 1.0)
    t = np.clip((uv * s + vr) / np.where(vv > 0, vv, 1.0), 0.0, 1.0)
    s = np.clip((uv * t - ur) / np.where(uu > 0, uu, 1.0), 0.0, 1.0)
    apart = r + s[:, None] * u - t[:, None] * v
    return dot(apart, apart)


def squared_height(points: Array, corners: Array) -> Array:
    """Return the smallest squared distance (m,) of three points (m, 3, 3) to a triangle's plane.

    Points that are not above or below the triangle do not count; if there are no others, the
    distance is infinite.
    """
    normal = triangle_normals(corners)
    inward = cross(normal[:, None], triangle_edges(corners))
    has_area = np.any(normal != 0, axis=1)
    least = np.full(len(corners), np.inf)
    for k in range(3):
        point = points[:, k]
        # Positive on the inner side of each edge.
        from_edges = np.einsum("ijk,ijk->ij", inward, point[:, None] - corners)
        is_inside = np.all(from_edges >= 0, axis=1) & has_area
        height = dot(point - corners[:, 0], normal)
        least = np.minimum(least, np.where(is_inside, height * height, np.inf))
    return least
