"""Bodies as meshes a person would write: few polygons without holes, and no needless vertices."""

from collections import defaultdict

import numpy as np
from manifold3d import Manifold

from scbench.graders.shared.meshes import Array, Edge, Indices, PolygonMesh, unit

DECIMALS = 6
"""Coordinates are rounded to so many decimals."""
_FLAT = 1e-6
"""How far from one plane two triangles may be that become one face."""
Ring = list[int]


def polygon_mesh(body: Manifold) -> PolygonMesh:
    """Return the surface of a body, with coplanar triangles merged into simple polygons."""
    mesh = body.as_original().simplify(_FLAT).to_mesh64()
    points = np.round(np.asarray(mesh.vert_properties)[:, :3], DECIMALS) + 0.0
    triangles = np.asarray(mesh.tri_verts).astype(np.int64)
    rings = _merge_rings(
        [list(three) for three in triangles.tolist()], _inner_edges(points, triangles)
    )
    _drop_straight(rings, points)
    used = sorted({i for ring in rings for i in ring})
    number = {old: new for new, old in enumerate(used)}
    return PolygonMesh(points[used], tuple(tuple(number[i] for i in ring) for ring in rings))


def _inner_edges(points: Array, triangles: Indices) -> list[Edge]:
    """Return the edges, ascending, whose two triangles lie in one plane."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = unit(np.cross(b - a, c - a))
    owner: dict[Edge, int] = {}
    for i, (p, q, r) in enumerate(triangles.tolist()):
        owner[p, q] = owner[q, r] = owner[r, p] = i
    inner = []
    for (p, q), i in owner.items():
        j = owner[q, p]
        if p < q and normals[i] @ normals[j] > 0:
            gaps = (points[triangles[j]] - points[p]) @ normals[i]
            back = (points[triangles[i]] - points[p]) @ normals[j]
            if max(np.abs(gaps).max(), np.abs(back).max()) < _FLAT * 10:
                inner.append((p, q))
    return sorted(inner)


def _merge_rings(rings: list[Ring], inner: list[Edge]) -> list[Ring]:
    """Join rings across inner edges wherever the result is again one ring without repeats."""
    owner: dict[Edge, int] = {}
    for i, ring in enumerate(rings):
        owner.update(dict.fromkeys(zip(ring, ring[1:] + ring[:1], strict=True), i))
    alive = dict(enumerate(rings))
    again = True
    while again:
        again = False
        for p, q in inner:
            if (p, q) not in owner or owner[p, q] == owner[q, p]:
                continue
            i, j = owner[p, q], owner[q, p]
            joined = _joined(alive[i], alive[j], (p, q))
            if joined is None:
                continue
            for ring in (alive[i], alive.pop(j)):
                for edge in zip(ring, ring[1:] + ring[:1], strict=True):
                    del owner[edge]
            alive[i] = joined
            owner.update(dict.fromkeys(zip(joined, joined[1:] + joined[:1], strict=True), i))
            again = True
    return list(alive.values())


def _joined(first: Ring, second: Ring, edge: Edge) -> Ring | None:
    """Return two rings as one; None if they share more than a single chain of edges.

    Args:
        first: runs along the edge.
        second: runs along it backwards.
        edge: an edge of both.
    """
    start = first.index(edge[1])
    ahead = first[start:] + first[:start]  # from the edge's end round to its start
    start = second.index(edge[0])
    back = second[start:] + second[:start]
    while len(ahead) > 1 and len(back) > 1 and ahead[1] == back[-2]:
        ahead, back = ahead[1:], back[:-1]
    while len(ahead) > 1 and len(back) > 1 and ahead[-2] == back[1]:
        ahead, back = ahead[:-1], back[1:]
    ring = ahead + back[1:-1]
    return ring if len(set(ring)) == len(ring) >= 3 else None


def _drop_straight(rings: list[Ring], points: Array) -> None:
    """Remove the vertices of two rings only that lie on a straight line in both."""
    of_vertex: dict[int, list[Ring]] = defaultdict(list)
    for ring in rings:
        for i in ring:
            of_vertex[i].append(ring)
    for i, both in sorted(of_vertex.items()):
        if len(both) == 2 and min(map(len, both)) > 3 and _straight(both[0], i, points):
            for ring in both:
                ring.remove(i)


def _straight(ring: Ring, i: int, points: Array) -> bool:
    k = ring.index(i)
    before, after = points[ring[k - 1]], points[ring[(k + 1) % len(ring)]]
    along = unit(after - before)
    return bool(np.abs(np.cross(points[i] - before, along)).max() < _FLAT)
