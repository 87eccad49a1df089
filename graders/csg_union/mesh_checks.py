"""Checks that a mesh bounds one clean solid, made before its volume counts.

These are the checks that the paper makes, and those that it promises: for faces that cut each
other, and for shells that overlap or touch. Positions in messages and details refer to the answer's
lists.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.mesh_topology import Edge, Faces, edge_faults, shells
from scbench.graders.shared.meshes import (
    PolygonMesh,
    Triangles,
    newell_normals,
    signed_volumes,
    triangulate,
    unevenness,
    winding_number,
)
from scbench.graders.shared.triangle_contacts import find_contacts, nearer_than, widths
from scbench.graders.shared.triangle_pairs import close_pairs
from scbench.graders.shared.vectors import Array, Indices, cross, dot

MESH_CHECKS = {
    "not_empty": "There are vertices and faces.",
    "coordinates": "No coordinate exceeds 1,000,000 in absolute value.",
    "indices": "The vertices of every face are different and exist.",
    "duplicate_vertices": "No two vertices are the same after rounding to six decimals.",
    "outliers": "No vertex lies far away from all the others.",
    "degenerate_faces": "Every face has an area.",
    "planar_faces": "Every face is flat to within 0.01.",
    "winding": "Faces that share an edge run along it in opposite directions.",
    "watertight": "Every edge is shared by two faces; none is open.",
    "edge_manifold": "No edge belongs to more than two faces.",
    "simple_faces": "No face crosses or overlaps itself.",
    "self_intersection": "No two faces cut through each other.",
    "touching": "No face lies on another, and separate shells keep at least 0.01 apart.",
    "zero_volume": "Every shell encloses a volume.",
    "nesting": (
        "Outer shells lie outside all material; shells of voids lie inside material and point "
        "inwards."
    ),
}

# Maximum number of vertices, and of triangles that the faces are cut into.
_MAX_TRIANGLES = 10_000
# Maximum number of pairs of triangles that are close to each other.
_MAX_PAIRS = 400_000
_LARGEST_COORDINATE = 1e6
# Vertices that agree to this many decimals are the same.
_SAME_DECIMALS = 6
# A vertex is an outlier if it is farther from the mean of all vertices than this distance, and than
# this multiple of the average distance.
_FAR = 100
_FAR_TIMES = 10
# Twice the minimum area of a face, and the minimum volume of a shell.
_NOTHING = 1e-10
# How uneven a face may be, how deep faces may cut, and how close shells may come.
TOLERANCE = 0.01
# Rounding error of a distance that is exactly the tolerance.
_ROUNDING = 1e-9

# Checks that are skipped together.
_PLACE_CHECKS = ("duplicate_vertices", "outliers", "degenerate_faces", "planar_faces")
_EDGE_CHECKS = ("winding", "watertight", "edge_manifold")
_PAIR_CHECKS = ("simple_faces", "self_intersection", "touching")
_SHELL_CHECKS = ("zero_volume", "nesting")


class ClosedSurface(NamedTuple):
    """Triangles that bound a solid."""

    points: Array
    """(n, 3) vertices, each on some triangle."""
    corners: Indices
    """(m, 3) indices of vertices, counter-clockwise seen from outside."""
    volume: float
    bodies: int
    """Number of separate bodies."""


class MeshVerdict(NamedTuple):
    """The result of checking a mesh."""

    surface: ClosedSurface | None
    """None if the mesh bounds no solid. There can be a surface although a check failed."""
    notes: tuple[str, ...]


class Surface(NamedTuple):
    """The faces that name usable vertices."""

    mesh: PolygonMesh
    at: list[int]
    """Position of each face in the answer's list."""
    normals: Array
    """(k, 3) normal of each face, as long as twice its area."""
    triangles: Triangles
    shell: Indices
    """(k,) the shell of each face."""

    def triangle_shells(self) -> Indices:
        """Return the shell (m,) of each triangle."""
        shell: Indices = self.shell[self.triangles.face]
        return shell

    def first_faces(self, shell_numbers: Indices) -> list[int]:
        """Return, for each of these shells, the position of its first face in the answer's list."""
        firsts = []
        for number in shell_numbers:
            position = int(np.argmax(self.shell == number))
            firsts.append(self.at[position])
        return firsts


def judge_mesh(
    checks: Checklist, vertices: Sequence[Sequence[float]], faces: Faces
) -> MeshVerdict:
    """Make the checks in `MESH_CHECKS`; those that cannot be made are skipped.

    A mesh that is too large fails only ``resource_limit``. A mesh that is completely inside out is
    reversed, and a note says so. Each vertex has three finite numbers, each face three or more
    indices, none of them negative.
    """
    triangle_count = sum(len(face) - 2 for face in faces)
    if max(len(vertices), triangle_count) > _MAX_TRIANGLES:
        wrong = (
            f"The mesh has {counted(len(vertices), 'vertex', 'vertices')}, and its faces make "
            f"{counted(triangle_count, 'triangle')}. The limit is {_MAX_TRIANGLES} for each."
        )
        checks.expect("resource_limit", False, wrong)
        return MeshVerdict(None, ())
    not_empty = bool(vertices and faces)
    if not checks.expect(
        "not_empty", not_empty, "The list of vertices or of faces is empty."
    ):
        checks.skip(list(MESH_CHECKS)[1:], "The mesh is empty.")
        return MeshVerdict(None, ())

    points = np.array(vertices, dtype=np.float64)
    too_large = np.any(np.abs(points) > _LARGEST_COORDINATE, axis=1)
    in_range = checks.forbid(
        "coordinates",
        np.flatnonzero(too_large).tolist(),
        lambda i: f"A coordinate of vertex {i} is beyond 1,000,000.",
    )
    at = judge_indices(checks, len(points), faces)
    usable = tuple(faces[i] for i in at)
    unused = sorted(set(range(len(points))).difference(*usable))
    notes: tuple[str, ...] = ()
    if unused:
        notes = (f"vertices on no face: {len(unused)}, the first is {unused[0]}",)
    if not (in_range and usable):
        why = "Coordinates are too large." if usable else "No face has usable vertices."
        checks.skip(_PLACE_CHECKS, why)
        judge_edges(checks, usable)
        checks.skip((*_PAIR_CHECKS, *_SHELL_CHECKS), why)
        return MeshVerdict(None, notes)

    mesh = PolygonMesh(points, usable)
    normals = newell_normals(mesh)
    surface = Surface(mesh, at, normals, triangulate(mesh, normals), shells(usable))
    have_areas = judge_places(checks, surface)
    closed = judge_edges(checks, usable) and len(at) == len(faces)
    are_apart = judge_pairs(checks, surface, closed=closed)
    if not closed:
        checks.skip(_SHELL_CHECKS, "The faces do not form closed surfaces.")
        return MeshVerdict(None, notes)
    bounding, shell_notes = judge_shells(
        checks, surface, clean=have_areas and are_apart
    )
    return MeshVerdict(bounding, (*notes, *shell_notes))


def judge_indices(checks: Checklist, n: int, faces: Faces) -> list[int]:
    """Check the faces' indices; return the positions of the faces that can be used."""
    good: list[int] = []
    bad: list[int] = []
    for i, face in enumerate(faces):
        if max(face) < n and len(set(face)) == len(face):
            good.append(i)
        else:
            bad.append(i)
    checks.forbid(
        "indices",
        bad,
        lambda i: (
            f"Faces that refer to a vertex twice, or to one outside 0..{n - 1}: {len(bad)}. The "
            f"first is face {i}."
        ),
    )
    return good


def judge_places(checks: Checklist, surface: Surface) -> bool:
    """Check vertices and faces one by one; return whether every face has an area."""
    points = surface.mesh.points
    at = surface.at
    groups = duplicates(points)
    checks.forbid(
        "duplicate_vertices",
        groups,
        lambda group: (
            f"Vertices {group[0]} and {group[1]} are the same. Points with several vertices: "
            f"{len(groups)}."
        ),
    )

    from_mean = points - points.mean(axis=0)
    distances = np.sqrt(np.sum(from_mean**2, axis=1))
    outliers = (distances > _FAR_TIMES * distances.mean()) & (distances > _FAR)
    checks.forbid(
        "outliers",
        np.flatnonzero(outliers).tolist(),
        lambda i: f"Vertex {i} is {distances[i]:.6g} from the mean of all vertices.",
    )

    double_areas = np.sqrt(np.sum(surface.normals**2, axis=1))
    have_areas = checks.forbid(
        "degenerate_faces",
        [at[i] for i in np.flatnonzero(double_areas < _NOTHING).tolist()],
        lambda i: f"Face {i} has no area.",
    )

    uneven = unevenness(surface.mesh, surface.normals)
    bent = np.flatnonzero(uneven > TOLERANCE + _ROUNDING).tolist()
    checks.forbid(
        "planar_faces",
        [at[i] for i in bent],
        lambda i: (
            f"Faces that are not flat: {len(bent)}. A vertex of face {i} is {uneven[bent[0]]:.4g} "
            "from its best-fitting plane."
        ),
    )
    return have_areas


def duplicates(points: Array) -> list[list[int]]:
    """Return the groups of vertices that are the same after rounding, each ascending."""
    # Adding 0 turns -0 into 0.
    rounded = np.round(points, _SAME_DECIMALS) + 0.0
    _, group = np.unique(rounded, axis=0, return_inverse=True)
    members: dict[int, list[int]] = {}
    for i, number in enumerate(group.reshape(-1).tolist()):
        members.setdefault(number, []).append(i)
    return sorted(indices for indices in members.values() if len(indices) > 1)


def judge_edges(checks: Checklist, faces: Faces) -> bool:
    """Check that the faces close up and are wound consistently; return whether they do."""
    if not faces:
        checks.skip(_EDGE_CHECKS, "No face has usable vertices.")
        return False

    def forbid(check_id: str, edges: list[Edge], fault: str) -> bool:
        return checks.forbid(
            check_id,
            edges,
            lambda edge: (
                f"Edges {fault}: {len(edges)}. The first joins vertices {edge[0]} and {edge[1]}."
            ),
        )

    faults = edge_faults(faces)
    is_consistent = forbid(
        "winding", faults.doubled, "that several faces run along in the same direction"
    )
    is_tight = forbid("watertight", faults.open, "on only one face")
    is_manifold = forbid("edge_manifold", faults.crowded, "on more than two faces")
    return is_consistent and is_tight and is_manifold


def judge_pairs(checks: Checklist, surface: Surface, *, closed: bool) -> bool:
    """Check that faces do not cut or touch each other; return whether all of them pass."""
    triangles = surface.triangles
    corners = surface.mesh.points[triangles.corners]
    pairs = close_pairs(corners, TOLERANCE, _MAX_PAIRS)
    if pairs is None:
        wrong = f"More than {_MAX_PAIRS} pairs of triangles are close to each other."
        checks.expect("resource_limit", False, wrong)
        checks.skip(_PAIR_CHECKS, wrong)
        return False
    contacts = find_contacts(corners, pairs, TOLERANCE)
    face = np.array(surface.at, dtype=np.int64)[triangles.face]

    # A face that crosses itself is cut into triangles that meet, or that face the other way.
    meeting = face[np.concatenate([contacts.crossing, contacts.covering])]
    twisted = meeting[meeting[:, 0] == meeting[:, 1], 0]
    products = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_backwards = dot(products, surface.normals[triangles.face]) < 0
    is_wide = widths(corners) > TOLERANCE
    reversed_faces = face[is_backwards & is_wide]
    is_simple = checks.forbid(
        "simple_faces",
        np.union1d(twisted, reversed_faces).tolist(),
        lambda i: f"The outline of face {i} crosses or overlaps itself.",
    )
    is_apart = checks.forbid(
        "self_intersection",
        pairs_of_faces(contacts.crossing, face),
        lambda pair: f"Faces {pair[0]} and {pair[1]} cut through each other.",
    )

    separate_pairs = pairs[:0]
    if closed:
        shell = surface.triangle_shells()
        is_separate = shell[pairs[:, 0]] != shell[pairs[:, 1]]
        separate_pairs = pairs[is_separate]
    near_pairs = nearer_than(corners, separate_pairs, TOLERANCE)
    touching = pairs_of_faces(np.concatenate([contacts.covering, near_pairs]), face)
    if not closed and not touching:
        checks.skip(
            "touching",
            (
                "The faces do not form closed shells, so distances between shells cannot be "
                "checked."
            ),
        )
        return False
    is_spaced = checks.forbid(
        "touching",
        touching,
        lambda pair: (
            f"Faces {pair[0]} and {pair[1]} lie on each other, or their shells are too close to "
            "each other."
        ),
    )
    return is_simple and is_apart and is_spaced


def pairs_of_faces(pairs: Indices, face: Indices) -> list[list[int]]:
    """Return the pairs of different faces to which pairs of triangles belong, ascending."""
    faces = np.sort(face[pairs], axis=1)
    different = faces[faces[:, 0] < faces[:, 1]]
    rows: list[list[int]] = np.unique(different, axis=0).tolist()
    return rows


def judge_shells(
    checks: Checklist, surface: Surface, *, clean: bool
) -> tuple[ClosedSurface | None, tuple[str, ...]]:
    """Check that closed shells bound one solid; return it, and a note if it was inside out."""
    points = surface.mesh.points
    corners = surface.triangles.corners
    volumes = signed_volumes(points, surface.triangles, surface.shell)
    notes: tuple[str, ...] = ()
    if volumes.sum() < 0:
        volumes = -volumes
        corners = corners[:, ::-1]
        notes = ("the mesh was inside out and has been reversed",)
    hollow_shells = np.flatnonzero(np.abs(volumes) < _NOTHING)
    enclose_volume = checks.forbid(
        "zero_volume",
        surface.first_faces(hollow_shells),
        lambda i: (
            f"Shells that enclose no volume: {len(hollow_shells)}. The first contains face {i}."
        ),
    )
    if not (clean and enclose_volume):
        checks.skip("nesting", "Earlier checks of faces or shells failed.")
        return None, notes

    shell = surface.triangle_shells()
    depths = winding_depths(points, corners, shell)
    is_void = volumes <= 0
    # Outer shells are inside no other shell; voids are in the material of one other shell.
    wrong_shells = np.flatnonzero(depths != is_void)
    is_nested = checks.forbid(
        "nesting",
        surface.first_faces(wrong_shells),
        lambda i: (
            "Shells that lie inside material without being voids, or point the wrong way: "
            f"{len(wrong_shells)}. The first contains face {i}."
        ),
    )
    if not is_nested:
        return None, notes
    vertices, renumbered = np.unique(corners, return_inverse=True)
    bounding = ClosedSurface(
        points[vertices],
        renumbered.reshape(-1, 3),
        float(volumes.sum()),
        int((~is_void).sum()),
    )
    return bounding, notes


def winding_depths(points: Array, corners: Indices, shell: Indices) -> Indices:
    """Return how often the other shells wind around each shell (s,); no two shells meet.

    ``shell`` (m,) is the shell of each triangle.
    """
    count = int(shell.max()) + 1
    low = np.full((count, 3), np.inf)
    high = np.full((count, 3), -np.inf)
    np.minimum.at(low, shell, points[corners].min(axis=1))
    np.maximum.at(high, shell, points[corners].max(axis=1))
    # One point represents its whole shell, because shells do not meet.
    shell_points = np.zeros((count, 3))
    shell_points[shell] = points[corners[:, 0]]
    depths = np.zeros(count, dtype=np.int64)
    for s, point in enumerate(shell_points):
        # A shell does not wind around a point outside its box.
        may_enclose = np.all((low < point) & (point < high), axis=1)
        may_enclose[s] = False
        if may_enclose.any():
            depths[s] = winding_number(point, points, corners[may_enclose[shell]])
    return depths
