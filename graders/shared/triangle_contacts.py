"""Where triangles of a surface cut, cover or nearly touch each other.

Depths are distances that one of two triangles would have to be moved for the two to be apart. For
triangles in different planes it is the smallest overlap of their projections on eleven lines: their
two normals, and the nine square to an edge of each. In one plane, the lines are the six in the
plane square to an edge.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.shared.meshes import Array, Indices, unit

Mask = NDArray[np.bool_]

_BLOCK = 256
_CHUNK = 20_000


class Contacts(NamedTuple):
    """Pairs (., 2) of triangles, by position, the lower one first."""

    crossing: Indices
    """Cut through each other."""
    covering: Indices
    """Lie in one plane, one on the other."""


def close_pairs(corners: Array, margin: float, max_pairs: int) -> Indices | None:
    """Return the pairs (p, 2) of triangles whose boxes come within a margin of each other.

    Args:
        corners: (m, 3, 3) triangles.
        margin: the distance along each axis.
        max_pairs: if there are more pairs, None is returned instead.
    """
    low, high = corners.min(axis=1), corners.max(axis=1) + margin
    order = np.argsort(low[:, 0], kind="stable")
    low, high = low[order], high[order]
    ends = np.searchsorted(low[:, 0], high[:, 0], side="right")
    chunks: list[Indices] = []
    count = 0
    for first in range(0, len(order), _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, len(order)))
        columns = np.arange(first, int(ends[rows].max(initial=0)))
        near: Mask = (columns[None, :] > rows[:, None]) & (columns[None, :] < ends[rows][:, None])
        for axis in (1, 2):
            near &= low[None, columns, axis] <= high[rows, axis][:, None]
            near &= low[rows, axis][:, None] <= high[None, columns, axis]
        i, j = np.nonzero(near)
        count += len(i)
        if count > max_pairs:
            return None
        chunks.append(np.sort(np.stack([order[rows[i]], order[columns[j]]], axis=1), axis=1))
    pairs = np.concatenate(chunks) if chunks else np.zeros((0, 2), dtype=np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def is_crowded(bodies: Sequence[Array], max_pairs: int, margin: float = 0.0) -> bool:
    """Whether triangles of different bodies have more meeting boxes than ``max_pairs``.

    Also if to find that out takes a thousand times as many comparisons. What solid operations on
    bodies take grows with the number of these pairs.

    Args:
        bodies: (m, 3, 3) triangles of each.
        max_pairs: pairs that are not many.
        margin: distance along each axis up to which boxes meet.
    """
    ends = [(body.min(axis=1), body.max(axis=1) + margin) for body in bodies]
    pairs = compared = 0
    for (a_low, a_high), (b_low, b_high) in combinations(ends, 2):
        start = np.maximum(a_low.min(axis=0), b_low.min(axis=0))
        end = np.minimum(a_high.max(axis=0), b_high.max(axis=0))
        if np.any(start > end):
            continue
        a, b = (
            np.flatnonzero(np.all((low <= end) & (high >= start), axis=1))
            for low, high in ((a_low, a_high), (b_low, b_high))
        )
        for first in range(0, len(a), _BLOCK):
            rows = a[first : first + _BLOCK]
            compared += len(rows) * len(b)
            if compared > 1000 * max_pairs:
                return True
            meet: Mask = np.ones((len(rows), len(b)), dtype=bool)
            for axis in range(3):
                meet &= a_low[rows, None, axis] <= b_high[None, b, axis]
                meet &= b_low[None, b, axis] <= a_high[rows, None, axis]
            pairs += int(np.count_nonzero(meet))
            if pairs > max_pairs:
                return True
    return False


def find_contacts(corners: Array, pairs: Indices, tolerance: float) -> Contacts:
    """Return which pairs are in each other's way by more than a tolerance.

    Triangles nowhere wider than the tolerance are left out: what they cut is not longer than that.

    Args:
        corners: (m, 3, 3) triangles.
        pairs: those to look at, from `close_pairs` with the tolerance as its margin.
        tolerance: the depth that is free; and how far from one plane two triangles may be to count
            as lying in it.
    """
    normals = _unit_normals(corners)
    pairs = pairs[np.all((widths(corners) > tolerance)[pairs], axis=1)]
    crossing, covering = [], []
    for chunk in _chunks(pairs):
        p, q = corners[chunk[:, 0]], corners[chunk[:, 1]]
        n, m = normals[chunk[:, 0]], normals[chunk[:, 1]]
        q_above = np.einsum("ijk,ik->ij", q - p[:, :1], n)
        p_above = np.einsum("ijk,ik->ij", p - q[:, :1], m)
        flat = np.maximum(abs(q_above).max(axis=1), abs(p_above).max(axis=1)) <= tolerance
        depth = np.minimum(
            np.minimum(q_above.max(axis=1), -q_above.min(axis=1)),
            np.minimum(p_above.max(axis=1), -p_above.min(axis=1)),
        )
        through = np.flatnonzero((depth > tolerance) & ~flat)
        deep = _depth(p[through], q[through], _crossed_edges(p[through], q[through]))
        crossing.append(chunk[through[deep > tolerance]])
        on = np.flatnonzero(flat)
        lines = np.concatenate([_edge_lines(p[on], n[on]), _edge_lines(q[on], m[on])], axis=1)
        covering.append(chunk[on[_depth(p[on], q[on], lines) > tolerance]])
    none = np.zeros((0, 2), dtype=np.int64)
    return Contacts(np.concatenate([none, *crossing]), np.concatenate([none, *covering]))


def widths(corners: Array) -> Array:
    """Return each triangle's (m,) height over its longest side."""
    double = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    longest = np.sqrt(np.sum(_edges(corners) ** 2, axis=2)).max(axis=1)
    heights: Array = np.sqrt(np.sum(double**2, axis=1)) / np.where(longest > 0, longest, 1.0)
    return heights


def nearer_than(corners: Array, pairs: Indices, distance: float) -> Indices:
    """Return those of the pairs (p, 2) of triangles that are nearer to each other than that."""
    normals = _unit_normals(corners)
    chunks = [np.zeros((0, 2), dtype=np.int64)]
    for chunk in _chunks(pairs):
        p, q = corners[chunk[:, 0]], corners[chunk[:, 1]]
        n, m = normals[chunk[:, 0]], normals[chunk[:, 1]]
        planes = [n[:, None], m[:, None], _edge_lines(p, n), _edge_lines(q, m)]
        lines = np.concatenate([*planes, _crossed_edges(p, q)], axis=1)
        # A negative depth is a gap, seen along some line and so never wider than the distance.
        depth = _depth(p, q, lines)
        gap = np.flatnonzero((depth < 0) & (depth > -distance))
        near = depth >= 0
        near[gap] = _squared_gap(p[gap], q[gap]) < distance * distance
        chunks.append(chunk[near])
    return np.concatenate(chunks)


def _chunks(pairs: Indices) -> Iterator[Indices]:
    for first in range(0, len(pairs), _CHUNK):
        yield pairs[first : first + _CHUNK]


def _unit_normals(corners: Array) -> Array:
    return unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def _edges(corners: Array) -> Array:
    edges: Array = np.roll(corners, -1, axis=1) - corners
    return edges


def _crossed_edges(p: Array, q: Array) -> Array:
    """Return the unit vectors (m, 9, 3) square to an edge of each; zero for parallel edges."""
    crossed = np.cross(unit(_edges(p))[:, :, None], unit(_edges(q))[:, None, :]).reshape(-1, 9, 3)
    parallel = np.sum(crossed * crossed, axis=2, keepdims=True) < 1e-18
    return unit(np.where(parallel, 0.0, crossed))


def _edge_lines(corners: Array, normals: Array) -> Array:
    """Return the unit vectors (m, 3, 3) in each triangle's plane that are square to its edges."""
    return unit(np.cross(_edges(corners), normals[:, None]))


def _depth(p: Array, q: Array, lines: Array) -> Array:
    """Return the smallest overlap (m,) of the projections on lines (m, k, 3); zeros are no line."""
    on_p, on_q = np.einsum("ijk,ilk->ilj", p, lines), np.einsum("ijk,ilk->ilj", q, lines)
    overlap = np.minimum(on_p.max(axis=2) - on_q.min(axis=2), on_q.max(axis=2) - on_p.min(axis=2))
    overlap = np.where(np.any(lines != 0, axis=2), overlap, np.inf)
    depth: Array = overlap.min(axis=1, initial=np.inf)
    return depth


def _squared_gap(p: Array, q: Array) -> Array:
    """Return the squared distance (m,) of triangles that do not meet."""
    best = np.full(len(p), np.inf)
    for i, j in product(range(3), range(3)):
        best = np.minimum(best, _edge_to_edge(p, i, q, j))
    for i in range(3):
        best = np.minimum(best, _point_to_plane(p[:, i], q))
        best = np.minimum(best, _point_to_plane(q[:, i], p))
    return best


def _edge_to_edge(p: Array, i: int, q: Array, j: int) -> Array:
    """Return the squared distance (m,) of side i of one triangle and side j of the other."""
    a, b = p[:, i], q[:, j]
    u, v, r = p[:, i - 2] - a, q[:, j - 2] - b, a - b
    uu, vv, uv = (np.einsum("ij,ij->i", x, y) for x, y in ((u, u), (v, v), (u, v)))
    ur, vr = np.einsum("ij,ij->i", u, r), np.einsum("ij,ij->i", v, r)
    denominator = uu * vv - uv * uv
    slanted = denominator > 1e-18 * uu * vv
    s = np.where(slanted, (uv * vr - vv * ur) / np.where(slanted, denominator, 1.0), 0.0)
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((uv * s + vr) / np.where(vv > 0, vv, 1.0), 0.0, 1.0)
    s = np.clip((uv * t - ur) / np.where(uu > 0, uu, 1.0), 0.0, 1.0)
    apart = r + s[:, None] * u - t[:, None] * v
    return np.einsum("ij,ij->i", apart, apart)  # type: ignore[no-any-return]


def _point_to_plane(point: Array, corners: Array) -> Array:
    """Return the squared distance (m,) to a triangle's plane; infinite beside the triangle."""
    normal = _unit_normals(corners)
    inward = np.cross(normal[:, None], _edges(corners))
    inside = np.all(np.einsum("ijk,ijk->ij", inward, point[:, None] - corners) >= 0, axis=1)
    inside &= np.any(normal != 0, axis=1)
    height = np.einsum("ij,ij->i", point - corners[:, 0], normal)
    return np.where(inside, height * height, np.inf)
