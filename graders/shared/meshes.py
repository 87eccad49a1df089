"""Polygon meshes as plain arrays: planes, edges, shells, triangles, volumes.

Everything here takes meshes that may be wrong in any way, as long as every index names a vertex and
no face names one twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from manifold3d import Error, Manifold, Mesh64
from manifold3d import triangulate as cut_polygon
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Faces = tuple[tuple[int, ...], ...]
Edge = tuple[int, int]


_BLOCK = 256
_CHUNK = 20_000
_PIECES = 8
# Pieces of a difference that are named: the largest few, each at least this share of a
# whole.
_SHARE = 1e-3
_BOX_DECIMALS = 4
_VOLUME_DECIMALS = 6
_TRIES = 4
# Share of a mesh's extent that vertices are moved by in the second try; ten times as
# much in each further one. Manifold takes points for the same within 1e-12 of the
# extent.
_STIR = 1e-11


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
    terms = cross(mesh.points[rings.corner] - origin, mesh.points[rings.after] - origin)
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
    distances = np.abs(
        np.einsum("ij,ij->i", away, np.repeat(units, rings.size, axis=0))
    )
    worst: Array = np.maximum.reduceat(distances, rings.start)
    return np.where(rings.size > 3, worst, 0.0)


def cross(a: Array, b: Array) -> Array:
    """Return cross products (..., 3), bit for bit those of `numpy.cross`, in half its time."""
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


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
        _as_edges(directed[uses > 1]),
        _as_edges(edges[sides == 1]),
        _as_edges(edges[sides > 2]),
    )


def _as_edges(rows: Indices) -> list[Edge]:
    return [(a, b) for a, b in rows.tolist()]


def components(count: int, pairs: Indices) -> Indices:
    """Return a label (count,) for each thing, equal for those that pairs (p, 2) connect.

    Labels count from 0 in the order of the first things that have them.
    """
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


def shells(faces: Faces) -> Indices:
    """Return the shell (k,) of each face, numbered from 0 by its first face.

    Faces that share an edge belong to the same shell.
    """
    pairs: list[Edge] = []
    face_at: dict[Edge, int] = {}
    for i, face in enumerate(faces):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            pairs.append((face_at.setdefault((a, b) if a < b else (b, a), i), i))
    return components(len(faces), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def triangulate(mesh: PolygonMesh, normals: Array | None = None) -> Triangles:
    """Cut every face that has an area into triangles along its own diagonals.

    Faces need be neither flat nor simple. The normals are the mesh's `newell_normals`, if known.
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
            cut = [
                tuple(face[j] for j in three) for three in cut_polygon([flat]).tolist()
            ]
        corners.extend(cut)  # type: ignore[arg-type]
        owners += [i] * len(cut)
    return Triangles(
        np.array(corners, dtype=np.int64).reshape(-1, 3),
        np.array(owners, dtype=np.int64),
    )


def _flattened(points: Array, normal: Array) -> Array:
    """Return points (n, 2) seen along the axis nearest to a normal, counter-clockwise around it."""
    axis = int(np.argmax(np.abs(normal)))
    right, up = (axis + 1) % 3, (axis + 2) % 3
    return np.ascontiguousarray(
        points[:, [right, up] if normal[axis] > 0 else [up, right]]
    )


def signed_volumes(points: Array, triangles: Triangles, shell: Indices) -> Array:
    """Return the signed volume (s,) of each closed shell, negative where its faces point inwards.

    The points are the vertices (n, 3), ``shell`` (k,) is the shell of each face.
    """
    owner = shell[triangles.face]
    corner = points[triangles.corners]
    # Each shell is measured from a point of its own: far from the origin, sums would lose digits.
    origin = np.zeros((int(shell.max(initial=-1)) + 1, 3))
    origin[owner] = corner[:, 0]
    corner = corner - origin[owner][:, None]
    cones: Array = (
        np.einsum("ij,ij->i", cross(corner[:, 0], corner[:, 1]), corner[:, 2]) / 6
    )
    return np.bincount(owner, weights=cones, minlength=len(origin)).astype(np.float64)


def winding_number(point: Array, points: Array, corners: Indices) -> int:
    """Return how often closed triangles wind round a point (3,) that lies on none of them."""
    a, b, c = (points[corners[:, k]] - point for k in range(3))
    la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (a, b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", u, v) for u, v in ((a, b), (b, c), (c, a)))
    volume = np.einsum("ij,ij->i", cross(a, b), c)
    angles = 2 * np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
    return round(float(np.sum(angles)) / (4 * np.pi))


Mask = NDArray[np.bool_]


class Contacts(NamedTuple):
    """Pairs (., 2) of triangles, by position, the lower one first."""

    crossing: Indices
    """Cut through each other."""
    covering: Indices
    """Lie in one plane, one on the other."""


def close_pairs(corners: Array, margin: float, max_pairs: int) -> Indices | None:
    """Return the pairs (p, 2) of triangles whose boxes come within a margin of each other.

    Corners are of triangles (m, 3, 3), the margin is that along each axis. If there are more pairs
    than ``max_pairs``, None is returned instead.
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
        near: Mask = (columns[None, :] > rows[:, None]) & (
            columns[None, :] < ends[rows][:, None]
        )
        for axis in (1, 2):
            near &= low[None, columns, axis] <= high[rows, axis][:, None]
            near &= low[rows, axis][:, None] <= high[None, columns, axis]
        i, j = np.nonzero(near)
        count += len(i)
        if count > max_pairs:
            return None
        chunks.append(
            np.sort(np.stack([order[rows[i]], order[columns[j]]], axis=1), axis=1)
        )
    pairs = np.concatenate(chunks) if chunks else np.zeros((0, 2), dtype=np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def is_crowded(bodies: Sequence[Array], max_pairs: int, margin: float = 0.0) -> bool:
    """Whether triangles (m, 3, 3) of different bodies have more meeting boxes than ``max_pairs``.

    Also if to find that out takes a thousand times as many comparisons. What solid operations on
    bodies take grows with the number of these pairs. Boxes meet up to the margin along each axis.
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
    """Return which pairs of triangles (m, 3, 3) are in each other's way by more than a tolerance.

    Those nowhere wider than the tolerance are left out: what they cut is not longer than that. It
    is the depth that is free, and how far from one plane two may be to count as lying in it. The
    pairs are those of `close_pairs` with the tolerance as its margin.
    """
    normals = _unit_normals(corners)
    pairs = pairs[np.all((widths(corners) > tolerance)[pairs], axis=1)]
    crossing, covering = [], []
    for chunk in _pair_chunks(pairs):
        p, q = corners[chunk[:, 0]], corners[chunk[:, 1]]
        n, m = normals[chunk[:, 0]], normals[chunk[:, 1]]
        q_above = np.einsum("ijk,ik->ij", q - p[:, :1], n)
        p_above = np.einsum("ijk,ik->ij", p - q[:, :1], m)
        flat = (
            np.maximum(abs(q_above).max(axis=1), abs(p_above).max(axis=1)) <= tolerance
        )
        depth = np.minimum(
            np.minimum(q_above.max(axis=1), -q_above.min(axis=1)),
            np.minimum(p_above.max(axis=1), -p_above.min(axis=1)),
        )
        through = np.flatnonzero((depth > tolerance) & ~flat)
        deep = _overlap_depth(
            p[through], q[through], _crossed_edges(p[through], q[through])
        )
        crossing.append(chunk[through[deep > tolerance]])
        on = np.flatnonzero(flat)
        lines = np.concatenate(
            [_edge_normals(p[on], n[on]), _edge_normals(q[on], m[on])], axis=1
        )
        covering.append(chunk[on[_overlap_depth(p[on], q[on], lines) > tolerance]])
    none = np.zeros((0, 2), dtype=np.int64)
    return Contacts(
        np.concatenate([none, *crossing]), np.concatenate([none, *covering])
    )


def widths(corners: Array) -> Array:
    """Return each triangle's (m,) height over its longest side."""
    double = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    longest = np.sqrt(np.sum(_edges(corners) ** 2, axis=2)).max(axis=1)
    heights: Array = np.sqrt(np.sum(double**2, axis=1)) / np.where(
        longest > 0, longest, 1.0
    )
    return heights


def nearer_than(corners: Array, pairs: Indices, distance: float) -> Indices:
    """Return those of the pairs (p, 2) of triangles that are nearer to each other than that."""
    normals = _unit_normals(corners)
    chunks = [np.zeros((0, 2), dtype=np.int64)]
    for chunk in _pair_chunks(pairs):
        p, q = corners[chunk[:, 0]], corners[chunk[:, 1]]
        n, m = normals[chunk[:, 0]], normals[chunk[:, 1]]
        planes = [n[:, None], m[:, None], _edge_normals(p, n), _edge_normals(q, m)]
        lines = np.concatenate([*planes, _crossed_edges(p, q)], axis=1)
        # A negative depth is a gap, seen along some line and so never wider than the distance.
        depth = _overlap_depth(p, q, lines)
        gap = np.flatnonzero((depth < 0) & (depth > -distance))
        near = depth >= 0
        near[gap] = _squared_gap(p[gap], q[gap]) < distance * distance
        chunks.append(chunk[near])
    return np.concatenate(chunks)


def _pair_chunks(pairs: Indices) -> Iterator[Indices]:
    for first in range(0, len(pairs), _CHUNK):
        yield pairs[first : first + _CHUNK]


def _unit_normals(corners: Array) -> Array:
    return unit(cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def _edges(corners: Array) -> Array:
    edges: Array = corners[:, [1, 2, 0]] - corners
    return edges


def _crossed_edges(p: Array, q: Array) -> Array:
    """Return the unit vectors (m, 9, 3) square to an edge of each; zero for parallel edges."""
    crossed = cross(unit(_edges(p))[:, :, None], unit(_edges(q))[:, None, :]).reshape(
        -1, 9, 3
    )
    parallel = np.sum(crossed * crossed, axis=2, keepdims=True) < 1e-18
    return unit(np.where(parallel, 0.0, crossed))


def _edge_normals(corners: Array, normals: Array) -> Array:
    """Return the unit vectors (m, 3, 3) in each triangle's plane that are square to its edges."""
    return unit(cross(_edges(corners), normals[:, None]))


def _overlap_depth(p: Array, q: Array, lines: Array) -> Array:
    """Return the smallest overlap (m,) of the projections on lines (m, k, 3); zeros are no line."""
    on_p, on_q = (
        np.einsum("ijk,ilk->ilj", p, lines),
        np.einsum("ijk,ilk->ilj", q, lines),
    )
    overlap = np.minimum(
        on_p.max(axis=2) - on_q.min(axis=2), on_q.max(axis=2) - on_p.min(axis=2)
    )
    overlap = np.where(np.any(lines != 0, axis=2), overlap, np.inf)
    depth: Array = overlap.min(axis=1, initial=np.inf)
    return depth


def _squared_gap(p: Array, q: Array) -> Array:
    """Return the squared distance (m,) of triangles that do not meet."""
    best = np.full(len(p), np.inf)
    for i, j in product(range(3), range(3)):
        best = np.minimum(best, _edge_to_edge(p, i, q, j))
    for points, corners in ((p, q), (q, p)):
        best = np.minimum(best, _points_to_plane(points, corners))
    return best


def _edge_to_edge(p: Array, i: int, q: Array, j: int) -> Array:
    """Return the squared distance (m,) of side i of one triangle and side j of the other."""
    a, b = p[:, i], q[:, j]
    u, v, r = p[:, i - 2] - a, q[:, j - 2] - b, a - b
    uu, vv, uv = (np.einsum("ij,ij->i", x, y) for x, y in ((u, u), (v, v), (u, v)))
    ur, vr = np.einsum("ij,ij->i", u, r), np.einsum("ij,ij->i", v, r)
    denominator = uu * vv - uv * uv
    slanted = denominator > 1e-18 * uu * vv
    s = np.where(
        slanted, (uv * vr - vv * ur) / np.where(slanted, denominator, 1.0), 0.0
    )
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((uv * s + vr) / np.where(vv > 0, vv, 1.0), 0.0, 1.0)
    s = np.clip((uv * t - ur) / np.where(uu > 0, uu, 1.0), 0.0, 1.0)
    apart = r + s[:, None] * u - t[:, None] * v
    return np.einsum("ij,ij->i", apart, apart)  # type: ignore[no-any-return]


def _points_to_plane(points: Array, corners: Array) -> Array:
    """Return the least squared distance (m,) of three points (m, 3, 3) to a triangle's plane.

    Points beside the triangle do not count; it is infinite if all are.
    """
    normal = _unit_normals(corners)
    inward = cross(normal[:, None], _edges(corners))
    best = np.full(len(corners), np.inf)
    for point in (points[:, i] for i in range(3)):
        inside = np.all(
            np.einsum("ijk,ijk->ij", inward, point[:, None] - corners) >= 0, axis=1
        )
        inside &= np.any(normal != 0, axis=1)
        height = np.einsum("ij,ij->i", point - corners[:, 0], normal)
        best = np.minimum(best, np.where(inside, height * height, np.inf))
    return best


class Piece(NamedTuple):
    """A piece of a body: its volume, and the corners of its bounding box."""

    volume: float
    low: tuple[float, ...]
    high: tuple[float, ...]


def to_body(points: Array, corners: Indices) -> Manifold:
    """Return the body that closed triangles bound; a void is a shell that points inwards.

    Corners (m, 3) are indices of vertices (n, 3), counter-clockwise seen from outside.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    body = Manifold(
        Mesh64(
            np.ascontiguousarray(points, dtype=np.float64),
            np.ascontiguousarray(corners, dtype=np.uint64),
        )
    )
    if body.status() != Error.NoError:
        raise ValueError(f"no body is bounded by these triangles: {body.status().name}")
    return body


def unite(bodies: Iterable[Manifold]) -> Manifold:
    """Return the union of at least one body, united in the order given."""

    def both(a: Manifold, b: Manifold) -> Manifold:
        union = a + b
        union.num_tri()  # Manifold waits with its work until it is asked for a result
        return union

    return reduce(both, bodies)


def volume(body: Manifold) -> float:
    """Return a body's volume, rounded to 6 decimals because the last bits differ by machine."""
    return round(float(body.volume()), _VOLUME_DECIMALS) + 0.0


def differences(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[list[Piece], list[Piece]] | None:
    """Return the surplus pieces of a mesh and the missing ones.

    Arguments and errors are those of `difference_bodies`.
    """
    both = difference_bodies(points, corners, solid, surplus, missing)
    size = float(solid.volume())
    return (
        None
        if both is None
        else (_largest_pieces(both[0], size), _largest_pieces(both[1], size))
    )


def difference_bodies(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[Manifold, Manifold] | None:
    """Return the surplus of a mesh over the body that it should bound, and what is missing.

    The mesh is closed triangles (m, 3) of vertices (n, 3), each on some triangle,
    counter-clockwise seen from outside. None is returned if the bodies do not add up to the volumes
    known to be right, also not with vertices moved by a trifle.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    size = float(solid.volume())
    steps = np.arange(1, len(points) + 1)[:, None] * np.sqrt([2.0, 3.0, 5.0])
    stir = _STIR * float(np.max(np.abs(points))) * (2 * (steps % 1.0) - 1)
    for attempt in range(_TRIES):
        body = to_body(points + (10**attempt * stir if attempt else 0.0), corners)
        surplus_body, missing_body = body - solid, solid - body
        wrong = abs(surplus_body.volume() - surplus) + abs(
            missing_body.volume() - missing
        )
        if wrong <= _SHARE * size:
            return surplus_body, missing_body
    return None


def _largest_pieces(body: Manifold, size: float) -> list[Piece]:
    """Return a body's pieces, largest first, without those below a thousandth of a volume."""
    pieces = []
    for part in body.decompose():
        part_volume = part.volume()
        if part_volume >= _SHARE * size:
            box = [round(value, _BOX_DECIMALS) + 0.0 for value in part.bounding_box()]
            pieces.append(
                Piece(round(part_volume, _BOX_DECIMALS), tuple(box[:3]), tuple(box[3:]))
            )
    return sorted(pieces, key=lambda piece: (-piece.volume, piece.low, piece.high))[
        :_PIECES
    ]
