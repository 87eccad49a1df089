"""Bodies as meshes that a person would write: few polygons, no holes, no needless vertices.

For example, a cube comes as 12 triangles and becomes 6 squares. Coplanar triangles are merged one
by one, as long as the result is a simple ring of vertices.
"""

from collections import defaultdict
from itertools import pairwise

import numpy as np
from manifold3d import Manifold

from scbench.graders.shared.mesh_topology import Edge
from scbench.graders.shared.meshes import PolygonMesh
from scbench.graders.shared.vectors import Array, Indices, unit

# Coordinates are rounded to this many decimals.
DECIMALS = 6
# How far from one plane two triangles may be to become one face.
_FLAT = 1e-6
Ring = list[int]


def polygon_mesh(body: Manifold) -> PolygonMesh:
    """Return the surface of a body, with coplanar triangles merged into simple polygons."""
    mesh = body.as_original().simplify(_FLAT).to_mesh64()
    # Adding 0.0 turns -0.0 into 0.0.
    points = np.round(np.asarray(mesh.vert_properties)[:, :3], DECIMALS) + 0.0
    triangles = np.asarray(mesh.tri_verts).astype(np.int64)
    rings = merged_rings(triangles.tolist(), inner_edges(points, triangles))
    drop_straight(rings, points)
    # Merging leaves points that are on no face.
    vertices = sorted(set().union(*rings))
    number = {vertex: i for i, vertex in enumerate(vertices)}
    faces = [tuple(number[vertex] for vertex in ring) for ring in rings]
    return PolygonMesh(points[vertices], tuple(faces))


def inner_edges(points: Array, triangles: Indices) -> list[Edge]:
    """Return the edges, in ascending order, whose two triangles lie in one plane."""
    corners = points[triangles]
    first = corners[:, 0]
    normals = unit(np.cross(corners[:, 1] - first, corners[:, 2] - first))
    # The triangle on the left of each directed edge.
    owner: dict[Edge, int] = {}
    for i, (p, q, r) in enumerate(triangles.tolist()):
        owner[p, q] = i
        owner[q, r] = i
        owner[r, p] = i
    inner = []
    for (p, q), i in owner.items():
        j = owner[q, p]
        # Every edge occurs in both directions.
        if p > q or normals[i] @ normals[j] <= 0:
            continue
        # Distances of each triangle's corners from the plane of the other.
        j_heights = (corners[j] - points[p]) @ normals[i]
        i_heights = (corners[i] - points[p]) @ normals[j]
        if max(np.abs(j_heights).max(), np.abs(i_heights).max()) < _FLAT * 10:
            inner.append((p, q))
    return sorted(inner)


def merged_rings(rings: list[Ring], inner: list[Edge]) -> list[Ring]:
    """Join rings across inner edges wherever the result is again one ring without repeats."""
    ring_of = dict(enumerate(rings))
    # The ring on the left of each directed edge.
    owner: dict[Edge, int] = {}
    for i, ring in ring_of.items():
        owner.update(dict.fromkeys(edges_of(ring), i))
    # Two rings that cannot be joined now may be joined later, when one of them has grown.
    has_changed = True
    while has_changed:
        has_changed = False
        for p, q in inner:
            if (p, q) not in owner or owner[p, q] == owner[q, p]:
                continue
            i = owner[p, q]
            j = owner[q, p]
            union = joined_ring(ring_of[i], ring_of[j], (p, q))
            if union is None:
                continue
            for edge in edges_of(ring_of[i]) + edges_of(ring_of[j]):
                del owner[edge]
            del ring_of[j]
            ring_of[i] = union
            owner.update(dict.fromkeys(edges_of(union), i))
            has_changed = True
    return list(ring_of.values())


def edges_of(ring: Ring) -> list[Edge]:
    """Return the directed edges of a ring."""
    return list(pairwise([*ring, ring[0]]))


def joined_ring(first: Ring, second: Ring, edge: Edge) -> Ring | None:
    """Return two rings that share an edge as one; None if they share more than one chain."""
    # The first ring runs from the edge's end to its start, the second from its start to its end.
    begin, end = edge
    start = first.index(end)
    ahead = first[start:] + first[:start]
    start = second.index(begin)
    back = second[start:] + second[:start]
    # The shared chain can be longer than the edge, on either side.
    while len(ahead) > 1 and len(back) > 1 and ahead[1] == back[-2]:
        del ahead[0], back[-1]
    while len(ahead) > 1 and len(back) > 1 and ahead[-2] == back[1]:
        del ahead[-1], back[0]
    ring = ahead + back[1:-1]
    has_repeats = len(set(ring)) < len(ring)
    return None if has_repeats or len(ring) < 3 else ring


def drop_straight(rings: list[Ring], points: Array) -> None:
    """Remove, in place, vertices that are in only two rings and on a straight line in both."""
    rings_at: dict[int, list[Ring]] = defaultdict(list)
    for ring in rings:
        for i in ring:
            rings_at[i].append(ring)
    for i, neighbours in sorted(rings_at.items()):
        if len(neighbours) != 2 or min(len(ring) for ring in neighbours) == 3:
            continue
        if is_straight(neighbours[0], i, points):
            for ring in neighbours:
                ring.remove(i)


def is_straight(ring: Ring, i: int, points: Array) -> bool:
    """Return whether a vertex lies on the line between its neighbours in a ring."""
    at = ring.index(i)
    before = points[ring[at - 1]]
    after = points[ring[(at + 1) % len(ring)]]
    along = unit(after - before)
    return bool(np.abs(np.cross(points[i] - before, along)).max() < _FLAT)
