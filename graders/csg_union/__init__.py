"""Is this mesh one clean solid, and how much of it is the union of the printed solids?

The mesh must pass every check before its volume counts: those that the paper makes of a mesh, and
those it promises, of faces that cut each other, and shells that overlap or touch. Positions in
messages and details are those of the answer's lists. Bodies are not grown before they are compared,
and D is the plain symmetric difference. Volumes are sums over cones that no sliver or coplanar face
can upset, and are rounded before anything is made of them, so that a score has the same bytes on
every machine.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from scbench.base.model import Verdict
from scbench.graders.csg_union.solids import (
    common_volume,
    inner_area,
    surface_area,
    union_area,
    union_body,
    union_parts,
    union_volume,
    void_area,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import (
    Array,
    Faces,
    Indices,
    PolygonMesh,
    Triangles,
    close_pairs,
    differences,
    edge_faults,
    find_contacts,
    nearer_than,
    newell_normals,
    shells,
    signed_volumes,
    triangulate,
    unevenness,
    widths,
    winding_number,
)
from scbench.schemas.csg_union import Answer, Params

VERSION = 4

MESH_CHECKS = {
    "not_empty": "There are vertices and faces.",
    "coordinates": "No coordinate is beyond 1,000,000.",
    "indices": "Every face names different vertices of the list.",
    "duplicate_vertices": "No two vertices are the same after rounding to six decimals.",
    "outliers": "No vertex lies far away from all the others.",
    "degenerate_faces": "Every face has an area.",
    "planar_faces": "Every face is flat to within 0.01.",
    "winding": "Faces that share an edge run along it in opposite directions.",
    "watertight": "Every edge is shared by two faces; none is open.",
    "edge_manifold": "No edge belongs to more than two faces.",
    "simple_faces": "No face crosses or covers itself.",
    "self_intersection": "No two faces cut through each other.",
    "touching": "No face lies on another, and separate shells keep at least 0.01 apart.",
    "zero_volume": "Every shell encloses a volume.",
    "nesting": "Outer shells lie outside all material, and voids point inwards within it.",
}

CHECKS = MESH_CHECKS | {
    "area": "The mesh has at most 1.1 times the surface area of the union, voids included.",
    "inner_walls": "At most a tenth of that area is deep in solids, or walls of further voids.",
    "union": "The body is the union: its score by volume is above 0.95.",
}

_FULL_MARKS_ABOVE = 0.95
_DIFFERENCE_WEIGHT = 0.5
_MOST_AREA = 1.1
# How many times the surface area of the union a mesh may have, and what one with more
# keeps.
_LARGE = 0.5
_MOST_INSIDE = 0.1
# What share of that area inner walls may have, and what a mesh with more scores at
# most.
_WALLED = 0.25
_VOLUME_DECIMALS = 6
_SCORE_DECIMALS = 9
# Differences of less than this share of the union are no more than rounding.
_LEAST_DIFFERENCE = 1e-3
# How uneven a face may be, how deep faces may cut, and how near shells may come.
TOLERANCE = 0.01
# What a double may add to a distance that is exactly the tolerance.
_ROUNDING = 1e-9
_LARGEST = 1e6
_SAME_DECIMALS = 6
# Twice the least area of a face, and the least volume of a shell.
_NOTHING = 1e-10
_FAR, _FAR_TIMES = 100, 10
"""A vertex is an outlier if it is farther from the mean than this, and than so many times as far as
vertices are on average."""
# Vertices, and triangles that the faces are cut into.
_MAX_TRIANGLES = 10_000
# Pairs of triangles near each other.
_MAX_PAIRS = 400_000
_OF_PLACE = ("duplicate_vertices", "outliers", "degenerate_faces", "planar_faces")
_OF_EDGES = ("winding", "watertight", "edge_manifold")
_OF_PAIRS = ("simple_faces", "self_intersection", "touching")
_OF_SHELLS = ("zero_volume", "nesting")
_LAST = ("area", "inner_walls", "union")


class ClosedSurface(NamedTuple):
    """Triangles that bound a solid."""

    points: Array
    """(n, 3) vertices, each on some triangle."""
    corners: Indices
    """(m, 3) indices of vertices, counter-clockwise seen from outside."""
    volume: float
    void_area: float
    """Of the walls of its voids."""


class MeshVerdict(NamedTuple):
    """What is known of a mesh after it was checked."""

    surface: ClosedSurface | None
    """None if the mesh bounds no solid; it may be there although some check failed."""
    notes: tuple[str, ...]


class _Surface(NamedTuple):
    """The faces that name usable vertices."""

    mesh: PolygonMesh
    at: list[int]
    """Position of each face in the answer's list."""
    normals: Array
    triangles: Triangles
    shell: Indices
    """The shell of each face."""

    def first_face(self, shell: int) -> int:
        """Return the position in the answer's list of a shell's first face."""
        return self.at[int(np.argmax(self.shell == shell))]


def judge_mesh(
    checks: Checklist, vertices: Sequence[Sequence[float]], faces: Faces
) -> MeshVerdict:
    """Make every check of `MESH_CHECKS` that can be made; those that cannot are skipped.

    A mesh that is too large fails ``resource_limit`` alone. One that is inside out as a whole is
    turned round, which the notes say. Vertices are three finite numbers each, faces three or more
    indices, none negative.
    """
    cut = sum(len(face) - 2 for face in faces)
    if max(len(vertices), cut) > _MAX_TRIANGLES:
        wrong = (
            f"There are {len(vertices)} vertices, and faces that make {cut} triangles; more than "
            f"{_MAX_TRIANGLES} are not looked at."
        )
        checks.expect("resource_limit", False, wrong)
        return MeshVerdict(None, ())
    if not checks.expect(
        "not_empty", bool(vertices and faces), "Vertices or faces are missing."
    ):
        checks.skip(list(MESH_CHECKS)[1:], "There is nothing to look at.")
        return MeshVerdict(None, ())
    points = np.array(vertices, dtype=np.float64)
    in_range = checks.forbid(
        "coordinates",
        np.flatnonzero(np.any(np.abs(points) > _LARGEST, axis=1)).tolist(),
        lambda i: f"A coordinate of vertex {i} is beyond 1,000,000.",
    )
    at = _judge_indices(checks, len(points), faces)
    usable = tuple(faces[i] for i in at)
    unused = sorted(set(range(len(points))).difference(*usable))
    notes = (
        (f"{len(unused)} vertices are on no face, first {unused[0]}",) if unused else ()
    )
    if not (in_range and usable):
        why = (
            "Coordinates are too large." if usable else "No face names usable vertices."
        )
        checks.skip(_OF_PLACE, why)
        _judge_edges(checks, usable)
        checks.skip((*_OF_PAIRS, *_OF_SHELLS), why)
        return MeshVerdict(None, notes)
    mesh = PolygonMesh(points, usable)
    normals = newell_normals(mesh)
    surface = _Surface(mesh, at, normals, triangulate(mesh, normals), shells(usable))
    areas = _judge_places(checks, surface)
    closed = _judge_edges(checks, usable) and len(at) == len(faces)
    free = _judge_pairs(checks, surface, closed=closed)
    if not closed:
        checks.skip(_OF_SHELLS, "The faces do not close.")
        return MeshVerdict(None, notes)
    bounding, turned = _judge_shells(checks, surface, clean=areas and free)
    return MeshVerdict(bounding, (*notes, *turned))


def _judge_indices(checks: Checklist, n: int, faces: Faces) -> list[int]:
    """Check the faces' indices; return the positions of the faces that can be used."""
    good: list[int] = []
    bad: list[int] = []
    for i, face in enumerate(faces):
        (good if max(face) < n and len(set(face)) == len(face) else bad).append(i)
    fault = f"faces name a vertex twice or one outside 0..{n - 1}"
    checks.forbid_many("indices", bad, fault, lambda i: f"is face {i}")
    return good


def _judge_places(checks: Checklist, surface: _Surface) -> bool:
    """Check vertices and faces one by one; return whether every face has an area."""
    mesh, at = surface.mesh, surface.at
    rounded = np.round(mesh.points, _SAME_DECIMALS) + 0.0
    _, group = np.unique(rounded, axis=0, return_inverse=True)
    members: dict[int, list[int]] = {}
    for i, g in enumerate(group.reshape(-1).tolist()):
        members.setdefault(g, []).append(i)
    same = sorted(indices for indices in members.values() if len(indices) > 1)
    checks.forbid(
        "duplicate_vertices",
        same,
        lambda group: (
            f"Vertices {group[0]} and {group[1]} are the same; {len(same)} places are."
        ),
    )
    away = np.sqrt(np.sum((mesh.points - mesh.points.mean(axis=0)) ** 2, axis=1))
    checks.forbid(
        "outliers",
        np.flatnonzero((away > _FAR_TIMES * away.mean()) & (away > _FAR)).tolist(),
        lambda i: f"Vertex {i} is {away[i]:.6g} from the mean of all vertices.",
    )
    doubles = np.sqrt(np.sum(surface.normals**2, axis=1))
    areas = checks.forbid(
        "degenerate_faces",
        [at[i] for i in np.flatnonzero(doubles < _NOTHING).tolist()],
        lambda i: f"Face {i} has no area.",
    )
    uneven = unevenness(mesh, surface.normals)
    bent = np.flatnonzero(uneven > TOLERANCE + _ROUNDING).tolist()
    checks.forbid(
        "planar_faces",
        [at[i] for i in bent],
        lambda i: (
            f"{len(bent)} faces are not flat; a vertex of face {i} is {uneven[bent[0]]:.4g} from "
            "the best plane."
        ),
    )
    return areas


def _judge_edges(checks: Checklist, faces: Faces) -> bool:
    """Check that the faces close up, wound alike; return whether they do."""
    if not faces:
        checks.skip(_OF_EDGES, "No face names usable vertices.")
        return False
    faults = edge_faults(faces)
    offenders = (faults.doubled, faults.open, faults.crowded)
    wrong = ("run through twice in one direction", "open", "on more than two faces")
    passed = [
        checks.forbid_many(
            check_id,
            edges,
            f"edges are {how}",
            lambda edge: "joins vertices {} and {}".format(*edge),
        )
        for check_id, edges, how in zip(_OF_EDGES, offenders, wrong, strict=True)
    ]
    return all(passed)


def _judge_pairs(checks: Checklist, surface: _Surface, *, closed: bool) -> bool:
    """Check that faces keep out of each other's way; return whether all of them do."""
    corners = surface.mesh.points[surface.triangles.corners]
    pairs = close_pairs(corners, TOLERANCE, _MAX_PAIRS)
    if pairs is None:
        wrong = f"More than {_MAX_PAIRS} pairs of triangles are near each other."
        checks.expect("resource_limit", False, wrong)
        checks.skip(_OF_PAIRS, wrong)
        return False
    crossing, covering = find_contacts(corners, pairs, TOLERANCE)
    at = np.array(surface.at, dtype=np.int64)
    face = at[surface.triangles.face]
    turned = np.einsum(
        "ij,ij->i",
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        surface.normals[surface.triangles.face],
    )
    against = face[(turned < 0) & (widths(corners) > TOLERANCE)]
    twisted = {
        i for i, j in face[np.concatenate([crossing, covering])].tolist() if i == j
    }
    simple = checks.forbid(
        "simple_faces",
        sorted(twisted.union(against.tolist())),
        lambda i: f"The outline of face {i} crosses or covers itself.",
    )
    apart = checks.forbid(
        "self_intersection",
        _faces_of(crossing, face),
        lambda both: f"Faces {both[0]} and {both[1]} cut through each other.",
    )
    shell = surface.shell[surface.triangles.face]
    strangers = pairs[shell[pairs[:, 0]] != shell[pairs[:, 1]]] if closed else pairs[:0]
    near = nearer_than(corners, strangers, TOLERANCE)
    touching = _faces_of(np.concatenate([covering, near]), face)
    if not closed and not touching:
        checks.skip(
            "touching", "The faces do not close, so there are no shells to keep apart."
        )
        return False
    spaced = checks.forbid(
        "touching",
        touching,
        lambda both: (
            f"Faces {both[0]} and {both[1]} lie on each other or come too near."
        ),
    )
    return simple and apart and spaced


def _faces_of(pairs: Indices, face: Indices) -> list[list[int]]:
    """Return the pairs of different faces that pairs of triangles come from, ascending."""
    joint = np.sort(face[pairs], axis=1)
    different: list[list[int]] = np.unique(
        joint[joint[:, 0] < joint[:, 1]], axis=0
    ).tolist()
    return different


def _judge_shells(
    checks: Checklist, surface: _Surface, *, clean: bool
) -> tuple[ClosedSurface | None, tuple[str, ...]]:
    """Check that closed shells bound one solid; return it, and a note if they were inside out."""
    points, corners = surface.mesh.points, surface.triangles.corners
    volumes = signed_volumes(points, surface.triangles, surface.shell)
    notes: tuple[str, ...] = ()
    if volumes.sum() < 0:
        volumes, corners = -volumes, corners[:, ::-1]
        notes = ("the mesh is inside out; it was turned round",)
    hollow = [
        surface.first_face(s)
        for s in np.flatnonzero(np.abs(volumes) < _NOTHING).tolist()
    ]
    fault = "shells enclose no volume"
    clean &= checks.forbid_many(
        "zero_volume", hollow, fault, lambda i: f"is that of face {i}"
    )
    if not clean:
        checks.skip("nesting", "Faces or shells have failed before.")
        return None, notes
    shell = surface.shell[surface.triangles.face]
    depths = _winding_depths(points, corners, shell)
    outer = volumes > 0
    wrong = [
        surface.first_face(s)
        for s in np.flatnonzero(depths != np.where(outer, 0, 1)).tolist()
    ]
    fault = "shells lie inside material without being voids, or point the wrong way"
    nested = checks.forbid_many(
        "nesting", wrong, fault, lambda i: f"is that of face {i}"
    )
    if not nested:
        return None, notes
    used, renumbered = np.unique(corners, return_inverse=True)
    voids = surface_area(points[corners[~outer[shell]]])
    bounding = ClosedSurface(
        points[used], renumbered.reshape(-1, 3), float(volumes.sum()), voids
    )
    return bounding, notes


def _winding_depths(points: Array, corners: Indices, shell: Indices) -> Indices:
    """Return how often the other shells wind round each shell (s,), none of which meet."""
    count = int(shell.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, shell, points[corners].min(axis=1))
    np.maximum.at(high, shell, points[corners].max(axis=1))
    inside = np.zeros((count, 3))
    inside[shell] = points[corners[:, 0]]
    depths = np.zeros(count, dtype=np.int64)
    for s in range(count):
        # A shell does not wind round a point outside its box.
        around = np.all((low < inside[s]) & (inside[s] < high), axis=1)
        around[s] = False
        if around.any():
            depths[s] = winding_number(inside[s], points, corners[around[shell]])
    return depths


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the score by volume if the mesh is clean, less with false walls; else 0."""
    checks = Checklist(CHECKS)
    vertices = [vertex.xyz for vertex in answer.polyhedron.vertex]
    faces = tuple(face.vertex for face in answer.polyhedron.faces)
    surface, notes = judge_mesh(checks, vertices, faces)
    if surface is None:
        checks.skip(_LAST, "The mesh bounds no solid.")
        return replace(checks.binary(), notes=notes)
    clean = checks.all_passed
    parts = union_parts(params)
    common = common_volume(parts, surface.points[surface.corners])
    if common is None:
        wrong = (
            "Too many planes of the solids lie behind too many triangles of the mesh."
        )
        checks.expect("resource_limit", False, wrong)
        checks.skip(_LAST, wrong)
        return replace(checks.binary(), notes=notes)
    share, most = _judge_walls(checks, params, surface)
    # Volumes of what lies in both, in the union, in the answer, in one of the two only.
    i, r, v = (
        round(x, _VOLUME_DECIMALS)
        for x in (common, union_volume(parts), surface.volume)
    )
    d = max(0.0, round(r + v - 2 * i, _VOLUME_DECIMALS))
    raw = round(min(i, v) / r - _DIFFERENCE_WEIGHT * d / r, _SCORE_DECIMALS)
    wrong = (
        f"The union has volume {r:.6g}, the body {v:.6g}, their common part {i:.6g}."
    )
    full = checks.expect("union", raw > _FULL_MARKS_ABOVE, wrong)
    score = min(most, (1.0 if full else max(0.0, raw)) * share)
    surplus: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    if d > _LEAST_DIFFERENCE * r:
        both = differences(
            surface.points, surface.corners, union_body(params), v - i, r - i
        )
        surplus, missing = (
            [piece._asdict() for piece in side] for side in both or ((), ())
        )
    verdict = checks.partial(
        score if clean else 0.0,
        volume_common=i,
        volume_union=r,
        volume_answer=v,
        volume_difference=d,
        score_by_volume=raw,
        surplus=surplus,
        missing=missing,
    )
    return replace(verdict, notes=notes)


def _judge_walls(
    checks: Checklist, params: Params, surface: ClosedSurface
) -> tuple[float, float]:
    """Check that a mesh has hardly any walls that the union does not have.

    What it keeps of its score is returned, and what it scores at most.
    """
    corners, voids = surface.points[surface.corners], void_area(params)
    inside = inner_area(union_parts(params), corners) + max(
        0.0, surface.void_area - voids
    )
    figures = (surface_area(corners), inside, union_area(params))
    area, inside, wanted = (round(value, _VOLUME_DECIMALS) for value in figures)
    small = checks.expect(
        "area",
        area <= round(_MOST_AREA * wanted, _VOLUME_DECIMALS),
        f"The mesh has a surface area of {area:.6g}, the union of {wanted:.6g}; that halves the "
        "score.",
        area=area,
        union=wanted,
    )
    plain = checks.expect(
        "inner_walls",
        inside <= round(_MOST_INSIDE * wanted, _VOLUME_DECIMALS),
        f"The mesh has inner walls with an area of {inside:.6g}, where the union has a surface of "
        f"{wanted:.6g}; that leaves a quarter of a point at most.",
        area=inside,
        union=wanted,
    )
    return 1.0 if small else _LARGE, 1.0 if plain else _WALLED
