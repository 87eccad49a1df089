"""Bodies as meshes a person would write, and wrong meshes with one fault each.

The former have few polygons without holes, and no needless vertices; the latter are what models
write, and what older graders let pass.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations
from operator import xor

import numpy as np
from manifold3d import Manifold
from pydantic import JsonValue

from scbench.graders.csg_union import TOLERANCE
from scbench.graders.csg_union.solids import solid_body, solid_mesh, union_body
from scbench.graders.shared import meshes
from scbench.graders.shared.meshes import Array, Edge, Indices, PolygonMesh, unit, unite
from scbench.schemas.csg_union import Params

# Coordinates are rounded to so many decimals.
DECIMALS = 6
# How far from one plane two triangles may be that become one face.
_FLAT = 1e-6
Ring = list[int]
# Of two bodies, one inside the other, the smaller must have less than this share of the
# larger for the one to be a wrong answer for the other.
_SHARE = 0.9
_LIFT = 0.1
_GAPS = (0.02, 0.1, 0.5)
# Bodies whose walls add less to the area of the union are no counterexamples: they may
# count.
_WALLED = 1.11
"""Between the halves of a body that is cut in two: shells may be so near each other."""
# From so many vertices on, one that is far from the others moves their mean little
# enough.
_MANY = 20


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
    return PolygonMesh(
        points[used], tuple(tuple(number[i] for i in ring) for ring in rings)
    )


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
            owner.update(
                dict.fromkeys(zip(joined, joined[1:] + joined[:1], strict=True), i)
            )
            again = True
    return list(alive.values())


def _joined(first: Ring, second: Ring, edge: Edge) -> Ring | None:
    """Return rings along an edge and back as one; None if they share more than one chain."""
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


def counterexamples(params: Params) -> dict[str, JsonValue]:
    """Return answers that must score below 1, by what is wrong with them."""
    union = union_body(params)
    mesh = polygon_mesh(union)
    bodies = [solid_body(solid) for solid in params.solids]
    wrong = {name: make(mesh) for name, make in _FAULTS.items()}
    wrong |= _unmerged(params, bodies)
    wrong |= {
        name: polygon_mesh(body) for name, body in _other_bodies(union, bodies).items()
    }
    for gap in _GAPS:
        halves = _cut_in_two(union, gap)
        if halves.surface_area() > _WALLED * union.surface_area():
            wrong[f"cut_in_two_{gap:g}_apart"] = polygon_mesh(halves)
    if len(mesh.points) >= _MANY:
        wrong["far_vertex"] = _far_vertex(mesh)
    bent = _bent_face(mesh)
    if bent is not None:
        wrong["bent_face"] = bent
    shell = meshes.shells(mesh.faces)
    volumes = meshes.signed_volumes(mesh.points, meshes.triangulate(mesh), shell)
    if volumes.min() < 0:
        turned = (
            f if volumes[s] > 0 else f[::-1]
            for f, s in zip(mesh.faces, shell, strict=True)
        )
        wrong["void_points_outwards"] = PolygonMesh(mesh.points, tuple(turned))
    return {name: as_answer(faulty) for name, faulty in wrong.items()} | _malformed(
        mesh
    )


def as_answer(mesh: PolygonMesh) -> dict[str, JsonValue]:
    """Return a mesh in the form of the answer schema."""
    return {
        "polyhedron": {
            "vertex": [{"xyz": point} for point in mesh.points.tolist()],
            "faces": [{"vertex": list(face)} for face in mesh.faces],
        }
    }


def _flat_shell(mesh: PolygonMesh) -> PolygonMesh:
    """A sheet of its own vertices, well away from the rest."""
    n = len(mesh.points)
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    corner = high + (high - low)
    sheet = corner + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    faces = ((n, n + 1, n + 2), (n, n + 2, n + 1))
    return PolygonMesh(np.concatenate([mesh.points, sheet]), (*mesh.faces, *faces))


def _corner_doubled(mesh: PolygonMesh) -> PolygonMesh:
    """One face has a vertex of its own where the others meet."""
    first, *faces = mesh.faces
    points = np.concatenate([mesh.points, mesh.points[[first[0]]]])
    return PolygonMesh(points, ((len(mesh.points), *first[1:]), *faces))


def _all_corners_doubled(mesh: PolygonMesh) -> PolygonMesh:
    """Every face has all its vertices to itself."""
    flat = [i for face in mesh.faces for i in face]
    ends = np.cumsum([len(face) for face in mesh.faces]).tolist()
    faces = [
        tuple(range(end - len(face), end))
        for end, face in zip(ends, mesh.faces, strict=True)
    ]
    return PolygonMesh(mesh.points[flat], tuple(faces))


def _far_vertex(mesh: PolygonMesh) -> PolygonMesh:
    """A misplaced decimal point: one vertex, on no face, that is far away."""
    return PolygonMesh(np.concatenate([mesh.points, [[1e5, 0.0, 0.0]]]), mesh.faces)


def _degenerate_face(mesh: PolygonMesh) -> PolygonMesh:
    """The middle of an edge is a vertex of one of its faces; a face without area fills the gap."""
    first, *faces = mesh.faces
    a, b = first[0], first[1]
    n = len(mesh.points)
    points = np.concatenate([mesh.points, [(mesh.points[a] + mesh.points[b]) / 2]])
    return PolygonMesh(points, ((a, n, *first[1:]), *faces, (a, b, n)))


def _edge_split_on_one_side(mesh: PolygonMesh) -> PolygonMesh:
    first, *faces = mesh.faces
    points = np.concatenate(
        [mesh.points, [mesh.points[[first[0], first[1]]].mean(axis=0)]]
    )
    return PolygonMesh(points, ((first[0], len(mesh.points), *first[1:]), *faces))


def _aside(mesh: PolygonMesh, share: float) -> PolygonMesh:
    """The mesh moved by a share of its size along each axis."""
    shift = share * (mesh.points.max(axis=0) - mesh.points.min(axis=0))
    return PolygonMesh(mesh.points + shift, mesh.faces)


def _bent_face(mesh: PolygonMesh) -> PolygonMesh | None:
    """A corner of a face is lifted off its plane, where that takes the least; None if nowhere."""
    normals = meshes.newell_normals(mesh)
    units = meshes.unit(normals)
    best, where = 0.0, (0, 0)
    for k, face in enumerate(mesh.faces):
        for i in face if len(face) > 3 else ():
            lifted = PolygonMesh(mesh.points.copy(), (face,))
            lifted.points[i] += _LIFT * units[k]
            bend = (
                float(meshes.unevenness(lifted, meshes.newell_normals(lifted))[0])
                / _LIFT
            )
            best, where = max((best, where), (bend, (k, i)))
    if best == 0:
        return None
    points = mesh.points.copy()
    points[where[1]] += units[where[0]] * 5 * TOLERANCE / best
    return PolygonMesh(points, mesh.faces)


def _unmerged(params: Params, bodies: Sequence[Manifold]) -> dict[str, PolygonMesh]:
    """Return the solids as they are in one mesh, unless they are all apart."""
    pairs = combinations(bodies, 2)
    if all(
        first.min_gap(second, 2 * TOLERANCE) >= TOLERANCE for first, second in pairs
    ):
        return {}
    meshes = [solid_mesh(solid) for solid in params.solids]
    variants = {
        "unmerged_solids": _joined_mesh(meshes),
        "unmerged_solids_a_hair_apart": _joined_mesh(
            [_shrunk(mesh) for mesh in meshes]
        ),
    }
    together = variants["unmerged_solids"]
    places, number = np.unique(
        np.round(together.points, 6), axis=0, return_inverse=True
    )
    if len(places) < len(together.points):
        renumbered = number.reshape(-1).tolist()
        faces = tuple(tuple(renumbered[i] for i in face) for face in together.faces)
        variants["unmerged_solids_with_common_vertices"] = PolygonMesh(places, faces)
    return variants


def _cut_in_two(union: Manifold, gap: float) -> Manifold:
    """Return a union whose largest body is cut in two, across its longest side."""
    largest = max(union.decompose(), key=lambda part: part.volume())
    low, high = np.array(largest.bounding_box()).reshape(2, 3)
    across = np.eye(3)[int(np.argmax(high - low))]
    middle = float(across @ (low + high)) / 2
    return union.trim_by_plane(across, middle + gap / 2) + union.trim_by_plane(
        -across, gap / 2 - middle
    )


def _joined_mesh(meshes: Sequence[PolygonMesh]) -> PolygonMesh:
    faces: list[tuple[int, ...]] = []
    start = 0
    for mesh in meshes:
        faces += [tuple(start + i for i in face) for face in mesh.faces]
        start += len(mesh.points)
    return PolygonMesh(np.concatenate([mesh.points for mesh in meshes]), tuple(faces))


def _shrunk(mesh: PolygonMesh) -> PolygonMesh:
    """Return a mesh whose faces have moved inwards by at most 0.001."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    middle = (low + high) / 2
    factor = 1 - 0.002 / float(np.max(high - low))
    return PolygonMesh(middle + factor * (mesh.points - middle), mesh.faces)


def _other_bodies(union: Manifold, bodies: Sequence[Manifold]) -> dict[str, Manifold]:
    """Return bodies inside or around the union that differ enough from it to lose points."""
    size = union.volume()
    low, high = np.array(union.bounding_box()).reshape(2, 3)
    around = {
        "convex_hull": union.hull(),
        "bounding_box": Manifold.cube(tuple((high - low).tolist())).translate(
            tuple(low.tolist())
        ),
        "void_filled": unite([part for part in union.decompose() if part.volume() > 0]),
    }
    inside = {
        "largest_solid_only": max(bodies, key=lambda body: body.volume()),
        "last_solid_missing": unite(bodies[:-1]) if len(bodies) > 1 else Manifold(),
        "first_solid_missing": unite(bodies[1:]) if len(bodies) > 1 else Manifold(),
        "common_part": reduce(xor, bodies),
    }
    larger = {
        name: body for name, body in around.items() if size < _SHARE * body.volume()
    }
    smaller = {
        name: body for name, body in inside.items() if 0 < body.volume() < _SHARE * size
    }
    return larger | smaller


def _malformed(mesh: PolygonMesh) -> dict[str, JsonValue]:
    points = mesh.points.tolist()
    faces: list[JsonValue] = [{"vertex": list[JsonValue](face)} for face in mesh.faces]
    vertices: list[JsonValue] = [{"xyz": point} for point in points]

    def answer(vertex: list[JsonValue], face: list[JsonValue]) -> JsonValue:
        return {"polyhedron": {"vertex": vertex, "faces": face}}

    ring = mesh.faces[0]
    edge: list[JsonValue] = list(ring[:2])
    return {
        "nothing": {},
        "empty": answer([], []),
        "no_faces": answer(vertices, []),
        "no_vertices": answer([], faces),
        "two_coordinates": answer([{"xyz": points[0][:2]}, *vertices[1:]], faces),
        "strings": answer([{"xyz": [str(v) for v in points[0]]}, *vertices[1:]], faces),
        "booleans": answer([{"xyz": [True, False, True]}, *vertices[1:]], faces),
        "beyond_all_bounds": answer([{"xyz": [1e300, 0, 0]}, *vertices[1:]], faces),
        "face_of_two": answer(vertices, [*faces, {"vertex": edge}]),
        "fraction": answer(vertices, [{"vertex": [i + 0.5 for i in ring]}, *faces[1:]]),
        "counted_from_the_end": answer(
            vertices, [{"vertex": [i - len(points) for i in ring]}, *faces[1:]]
        ),
        "bare_lists": answer(list(points), [list(face) for face in mesh.faces]),
    }


def _with_first(
    change: Callable[[tuple[int, ...], int], Sequence[tuple[int, ...]]],
) -> Callable[[PolygonMesh], PolygonMesh]:
    """Return what puts other faces for the first, made of it and the number of vertices."""
    return lambda mesh: PolygonMesh(
        mesh.points, (*change(mesh.faces[0], len(mesh.points)), *mesh.faces[1:])
    )


_FAULTS: dict[str, Callable[[PolygonMesh], PolygonMesh]] = {
    "face_missing": _with_first(lambda _first, _n: ()),
    "face_turned": _with_first(lambda first, _: (first[::-1],)),
    "face_twice": lambda mesh: PolygonMesh(mesh.points, (*mesh.faces, mesh.faces[0])),
    # A sheet without thickness: every edge is used in both directions, but four times.
    "both_sides_of_a_face": lambda mesh: PolygonMesh(
        mesh.points, (*mesh.faces, mesh.faces[0], mesh.faces[0][::-1])
    ),
    "flat_shell": _flat_shell,
    "index_past_the_end": _with_first(lambda first, n: ((*first[:-1], n),)),
    "index_repeated": _with_first(lambda first, _: ((*first, first[0]),)),
    "counted_from_one": lambda mesh: PolygonMesh(
        mesh.points, tuple(tuple(i + 1 for i in face) for face in mesh.faces)
    ),
    "corner_doubled": _corner_doubled,
    "all_corners_doubled": _all_corners_doubled,
    "degenerate_face": _degenerate_face,
    "edge_split_on_one_side": _edge_split_on_one_side,
    "overlapping_copy": lambda mesh: _joined_mesh([mesh, _aside(mesh, 0.05)]),
    "half_its_size_away": lambda mesh: _aside(mesh, 0.5),
    "ten_percent_larger": lambda mesh: PolygonMesh(mesh.points * 1.1, mesh.faces),
}
