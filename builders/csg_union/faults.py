"""Wrong meshes with one fault each: mistakes of models, and mistakes that older graders missed."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import xor
from typing import NamedTuple

import numpy as np
from manifold3d import Manifold
from pydantic import JsonValue

from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.graders.csg_union import TOLERANCE
from scbench.graders.csg_union.solids import solid_body, solid_mesh, union_body
from scbench.graders.shared import meshes
from scbench.graders.shared.mesh_bodies import unite
from scbench.graders.shared.mesh_topology import shells
from scbench.graders.shared.meshes import PolygonMesh
from scbench.graders.shared.vectors import unit
from scbench.schemas.csg_union import Params

# A body and one inside it are wrong answers for each other only if the smaller one has less
# than this share of the larger one's volume.
_SHARE = 0.9
# Distance by which a corner is lifted to measure how a face bends.
_LIFT = 0.1
# Distances between the halves of a body that is cut in two; shells may be this near each other.
_GAPS = (0.02, 0.1, 0.5)
# With at least this many vertices, one that is far from the others moves their mean little
# enough.
_MANY = 20


class Bend(NamedTuple):
    """The effect of lifting a corner of a face: unevenness of the face per unit of lift."""

    unevenness: float
    face: int
    corner: int


def counterexamples(params: Params) -> dict[str, JsonValue]:
    """Return answers that must score below 1, keyed by their fault."""
    union = union_body(params)
    mesh = polygon_mesh(union)
    bodies = [solid_body(solid) for solid in params.solids]
    wrong = faulty_meshes(mesh)
    wrong |= unmerged_meshes(params, bodies)
    for name, body in other_bodies(union, bodies).items():
        wrong[name] = polygon_mesh(body)
    for gap in _GAPS:
        wrong[f"cut_in_two_{gap:g}_apart"] = polygon_mesh(cut_in_two(union, gap))
    if len(mesh.points) >= _MANY:
        # A misplaced decimal point: one vertex that is far away and on no face.
        far = np.concatenate([mesh.points, [[1e5, 0.0, 0.0]]])
        wrong["far_vertex"] = mesh._replace(points=far)
    bent = bent_face(mesh)
    if bent is not None:
        wrong["bent_face"] = bent
    turned = turned_voids(mesh)
    if turned is not None:
        wrong["void_points_outwards"] = turned
    answers = {name: as_answer(faulty) for name, faulty in wrong.items()}
    return answers | malformed_answers(mesh)


def as_answer(mesh: PolygonMesh) -> dict[str, JsonValue]:
    """Return a mesh in the form of the answer schema."""
    return answer_of(
        [{"xyz": point} for point in mesh.points.tolist()],
        [{"vertex": list(face)} for face in mesh.faces],
    )


def answer_of(
    vertices: list[JsonValue], faces: list[JsonValue]
) -> dict[str, JsonValue]:
    """Return an answer with these entries; they need not be valid."""
    return {"polyhedron": {"vertex": vertices, "faces": faces}}


def faulty_meshes(mesh: PolygonMesh) -> dict[str, PolygonMesh]:
    """Return meshes with a fault that every union can have."""
    points, faces = mesh
    first, *other_faces = faces
    n = len(points)
    counted_from_one = [tuple(i + 1 for i in face) for face in faces]
    # One face has a separate vertex where the others meet.
    doubled = np.concatenate([points, points[[first[0]]]])
    return {
        "face_missing": PolygonMesh(points, tuple(other_faces)),
        "face_turned": PolygonMesh(points, (first[::-1], *other_faces)),
        "face_twice": PolygonMesh(points, (*faces, first)),
        # A sheet without thickness: every edge is used in both directions, but four times in all.
        "both_sides_of_a_face": PolygonMesh(points, (*faces, first, first[::-1])),
        "flat_shell": flat_shell(mesh),
        "index_past_the_end": PolygonMesh(points, ((*first[:-1], n), *other_faces)),
        "index_repeated": PolygonMesh(points, ((*first, first[0]), *other_faces)),
        "counted_from_one": PolygonMesh(points, tuple(counted_from_one)),
        "corner_doubled": PolygonMesh(doubled, ((n, *first[1:]), *other_faces)),
        "all_corners_doubled": separate_faces(mesh),
        "degenerate_face": degenerate_face(mesh),
        "edge_split_on_one_side": half_split_edge(mesh),
        "overlapping_copy": combined([mesh, shifted(mesh, 0.05)]),
        "half_its_size_away": shifted(mesh, 0.5),
        "ten_percent_larger": PolygonMesh(points * 1.1, faces),
    }


def flat_shell(mesh: PolygonMesh) -> PolygonMesh:
    """Add a sheet of two triangles, well away from the rest."""
    low = mesh.points.min(axis=0)
    high = mesh.points.max(axis=0)
    corner = high + (high - low)
    sheet = corner + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    return combined([mesh, PolygonMesh(sheet, ((0, 1, 2), (0, 2, 1)))])


def separate_faces(mesh: PolygonMesh) -> PolygonMesh:
    """Give every face vertices that no other face has."""
    parts = []
    for face in mesh.faces:
        corners = tuple(range(len(face)))
        parts.append(PolygonMesh(mesh.points[list(face)], (corners,)))
    return combined(parts)


def degenerate_face(mesh: PolygonMesh) -> PolygonMesh:
    """Split an edge for one of its faces, and fill the gap with a face without area."""
    first, *other_faces = mesh.faces
    a, b, *_ = first
    n = len(mesh.points)
    middle = (mesh.points[a] + mesh.points[b]) / 2
    points = np.concatenate([mesh.points, [middle]])
    split_face = (a, n, *first[1:])
    return PolygonMesh(points, (split_face, *other_faces, (a, b, n)))


def half_split_edge(mesh: PolygonMesh) -> PolygonMesh:
    """Split an edge for only one of its faces."""
    first, *other_faces = mesh.faces
    a, b, *_ = first
    middle = mesh.points[[a, b]].mean(axis=0)
    points = np.concatenate([mesh.points, [middle]])
    split_face = (a, len(mesh.points), *first[1:])
    return PolygonMesh(points, (split_face, *other_faces))


def shifted(mesh: PolygonMesh, share: float) -> PolygonMesh:
    """Move a mesh by a share of its size along each axis."""
    shift = share * (mesh.points.max(axis=0) - mesh.points.min(axis=0))
    return PolygonMesh(mesh.points + shift, mesh.faces)


def combined(parts: Sequence[PolygonMesh]) -> PolygonMesh:
    """Return several meshes as one."""
    faces: list[tuple[int, ...]] = []
    start = 0
    for mesh in parts:
        faces += [tuple(start + i for i in face) for face in mesh.faces]
        start += len(mesh.points)
    points = np.concatenate([mesh.points for mesh in parts])
    return PolygonMesh(points, tuple(faces))


def bent_face(mesh: PolygonMesh) -> PolygonMesh | None:
    """Lift a corner of a face off its plane, at the corner that needs the smallest lift.

    Returns:
        None if no face can be bent, because all are triangles.
    """
    normals = unit(meshes.newell_normals(mesh))
    # The corner with the greatest unevenness per unit of lift; of equal ones, the last.
    best = Bend(0.0, 0, 0)
    for k, face in enumerate(mesh.faces):
        if len(face) == 3:
            continue
        for i in face:
            lifted = PolygonMesh(mesh.points.copy(), (face,))
            lifted.points[i] += _LIFT * normals[k]
            unevenness = meshes.unevenness(lifted, meshes.newell_normals(lifted))
            best = max(best, Bend(float(unevenness[0]) / _LIFT, k, i))
    if best.unevenness == 0:
        return None
    points = mesh.points.copy()
    # Five times as uneven as the grader tolerates.
    lift = 5 * TOLERANCE / best.unevenness
    points[best.corner] += normals[best.face] * lift
    return PolygonMesh(points, mesh.faces)


def turned_voids(mesh: PolygonMesh) -> PolygonMesh | None:
    """Turn the walls of all voids inside out; None if there is no void."""
    shell = shells(mesh.faces)
    volumes = meshes.signed_volumes(mesh.points, meshes.triangulate(mesh), shell)
    if volumes.min() >= 0:
        return None
    faces = []
    for face, number in zip(mesh.faces, shell, strict=True):
        faces.append(face if volumes[number] > 0 else face[::-1])
    return PolygonMesh(mesh.points, tuple(faces))


def unmerged_meshes(
    params: Params, bodies: Sequence[Manifold]
) -> dict[str, PolygonMesh]:
    """Return one mesh of the unmerged solids, unless they are all separate."""
    gaps = [a.min_gap(b, 2 * TOLERANCE) for a, b in combinations(bodies, 2)]
    if all(gap >= TOLERANCE for gap in gaps):
        return {}
    solids = [solid_mesh(solid) for solid in params.solids]
    unmerged = combined(solids)
    wrong = {
        "unmerged_solids": unmerged,
        "unmerged_solids_a_hair_apart": combined([shrunk(mesh) for mesh in solids]),
    }
    rounded = np.round(unmerged.points, 6)
    places, inverse = np.unique(rounded, axis=0, return_inverse=True)
    if len(places) < len(unmerged.points):
        # Solids in contact can have vertices in common.
        number = inverse.reshape(-1).tolist()
        faces = [tuple(number[i] for i in face) for face in unmerged.faces]
        common = PolygonMesh(places, tuple(faces))
        wrong["unmerged_solids_with_common_vertices"] = common
    return wrong


def shrunk(mesh: PolygonMesh) -> PolygonMesh:
    """Return a mesh whose faces have moved inwards by at most 0.001."""
    low = mesh.points.min(axis=0)
    high = mesh.points.max(axis=0)
    middle = (low + high) / 2
    factor = 1 - 0.002 / float(np.max(high - low))
    return PolygonMesh(middle + factor * (mesh.points - middle), mesh.faces)


def cut_in_two(union: Manifold, gap: float) -> Manifold:
    """Return a union whose largest body is cut in two, across its longest side."""
    largest = max(union.decompose(), key=lambda part: part.volume())
    low, high = np.array(largest.bounding_box()).reshape(2, 3)
    across = np.eye(3)[int(np.argmax(high - low))]
    middle = float(across @ (low + high)) / 2
    upper = union.trim_by_plane(across, middle + gap / 2)
    lower = union.trim_by_plane(-across, gap / 2 - middle)
    return upper + lower


def other_bodies(union: Manifold, bodies: Sequence[Manifold]) -> dict[str, Manifold]:
    """Return bodies inside or around the union that differ enough from it to lose points."""
    size = union.volume()
    low, high = np.array(union.bounding_box()).reshape(2, 3)
    box = Manifold.cube(tuple((high - low).tolist())).translate(tuple(low.tolist()))
    # Parts of negative volume are voids.
    solid_parts = [part for part in union.decompose() if part.volume() > 0]
    around = {
        "convex_hull": union.hull(),
        "bounding_box": box,
        "void_filled": unite(solid_parts),
    }
    inside = {
        "largest_solid_only": max(bodies, key=lambda body: body.volume()),
        "last_solid_missing": Manifold(),
        "first_solid_missing": Manifold(),
        # `^` is the intersection of bodies.
        "common_part": reduce(xor, bodies),
    }
    if len(bodies) > 1:
        inside["last_solid_missing"] = unite(bodies[:-1])
        inside["first_solid_missing"] = unite(bodies[1:])
    larger = {
        name: body for name, body in around.items() if size < _SHARE * body.volume()
    }
    smaller = {
        name: body for name, body in inside.items() if 0 < body.volume() < _SHARE * size
    }
    return larger | smaller


def malformed_answers(mesh: PolygonMesh) -> dict[str, JsonValue]:
    """Return answers that are not in the form of the schema, or empty."""
    points = mesh.points.tolist()
    vertices: list[JsonValue] = [{"xyz": point} for point in points]
    faces: list[JsonValue] = [{"vertex": list(face)} for face in mesh.faces]
    first = mesh.faces[0]
    texts: list[JsonValue] = [str(value) for value in points[0]]
    edge: list[JsonValue] = list(first[:2])
    halves: list[JsonValue] = [i + 0.5 for i in first]
    from_end: list[JsonValue] = [i - len(points) for i in first]

    def first_vertex(xyz: list[JsonValue]) -> JsonValue:
        return answer_of([{"xyz": xyz}, *vertices[1:]], faces)

    def first_face(indices: list[JsonValue]) -> JsonValue:
        return answer_of(vertices, [{"vertex": indices}, *faces[1:]])

    return {
        "nothing": {},
        "empty": answer_of([], []),
        "no_faces": answer_of(vertices, []),
        "no_vertices": answer_of([], faces),
        "two_coordinates": first_vertex(points[0][:2]),
        "strings": first_vertex(texts),
        "booleans": first_vertex([True, False, True]),
        "beyond_all_bounds": first_vertex([1e300, 0, 0]),
        "face_of_two": answer_of(vertices, [*faces, {"vertex": edge}]),
        "fraction": first_face(halves),
        "counted_from_the_end": first_face(from_end),
        "bare_lists": answer_of(points, [list(face) for face in mesh.faces]),
    }
