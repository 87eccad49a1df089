"""Solids and the mesh of their union: broken edges and faces, missing and surplus volume."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold

from scbench.base.wording import counted
from scbench.graders.csg_union.solids import solid_body, union_body
from scbench.graders.shared.mesh_bodies import difference_bodies, to_body
from scbench.graders.shared.mesh_topology import Faces, shells
from scbench.graders.shared.meshes import PolygonMesh, triangulate
from scbench.report.draw.colours import series
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene, Shape
from scbench.report.draw.solids import body_mesh, box_around, pulled_in
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.schemas.csg_union import Answer, Params

# Maximum number of face corners drawn for an answer; a tenth of that for one face.
_MOST_CORNERS = 12_000
_MOST_MARKS = 50
# Maximum number of faults named in a caption.
_MOST_FAULTS = 3
# Vertices further outside the union than this many times its size are moved closer.
_VIEW = 0.9
# Shares of the union's size and volume below which a body is a sliver left by rounding.
_ROUNDING = 1e-3
# Edges this close together look like one.
_NEAR = 0.02

# Checks grouped by the kind of their offenders: edges, faces, pairs of faces, first
# faces of shells, and vertices or pairs of vertices.
_ON_EDGES = ("winding", "watertight", "edge_manifold")
_ON_FACES = ("indices", "degenerate_faces", "planar_faces", "simple_faces")
_ON_PAIRS = ("self_intersection", "touching")
_ON_SHELLS = ("zero_volume", "nesting")
_ON_VERTICES = ("coordinates", "duplicate_vertices", "outliers")
# Pixels of wrong edges; open ones are wider than edges that are merely reversed.
_EDGE_WIDTHS = {"winding": 3.0, "watertight": 4.0, "edge_manifold": 6.0}

# Faults in words, by check id: for many offenders and for one.
_FAULTS = {
    "not_empty": "there are no faces",
    "coordinates": "{n} vertices are too far away|{n} vertex is too far away",
    "indices": "{n} faces refer to missing vertices, or to a vertex twice"
    "|{n} face refers to missing vertices, or to a vertex twice",
    "duplicate_vertices": "{n} points have several vertices|{n} point has several vertices",
    "outliers": "{n} vertices lie far away from all others"
    "|{n} vertex lies far away from all others",
    "degenerate_faces": "{n} faces have no area|{n} face has no area",
    "planar_faces": "{n} faces are not flat|{n} face is not flat",
    "winding": "{n} edges join faces that disagree about which side is outside"
    "|{n} edge joins faces that disagree about which side is outside",
    "watertight": "{n} edges are open|{n} edge is open",
    "edge_manifold": "{n} edges are on more than two faces"
    "|{n} edge is on more than two faces",
    "simple_faces": "{n} faces cross themselves|{n} face crosses itself",
    "self_intersection": "{n} pairs of faces cut through each other"
    "|{n} pair of faces cuts through each other",
    "touching": "{n} pairs of faces touch|{n} pair of faces touches",
    "zero_volume": "{n} shells enclose no volume|{n} shell encloses no volume",
    "nesting": "{n} shells lie inside material or point the wrong way"
    "|{n} shell lies inside material or points the wrong way",
    "inner_walls": "it has inner walls",
    "bodies": "it has too many separate bodies",
    "resource_limit": "it is too large to be graded",
}

# Failed checks, and the offenders of each.
Failures = Mapping[str, Sequence[Any]]


class DrawnMesh(NamedTuple):
    """The part of an answer that is drawn.

    Attributes:
        points: vertices, shape (n, 3).
        faces: indices of vertices.
        positions: position of each face in the answer's list.
        left_out: how many faces are too large to be drawn.
        pulled: how many vertices were moved to the rim.
    """

    points: Points
    faces: Faces
    positions: list[int]
    left_out: int
    pulled: int


class Volumes(NamedTuple):
    """Volumes of the union, of the answer, and of both together."""

    union: float
    answer: float
    common: float

    @property
    def missing(self) -> float:
        """Volume of the union outside the answer."""
        return self.union - self.common

    @property
    def surplus(self) -> float:
        """Volume of the answer outside the union."""
        return self.answer - self.common


class Triangles(NamedTuple):
    """Points (n, 3), each on a triangle, and triangles (m, 3) that face outwards."""

    points: Points
    corners: npt.NDArray[np.int64]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the solids; with an answer, its mesh on the union, and missing and surplus volume."""
    if answer is None:
        return instance_picture(params)
    union = union_body(params)
    mesh = drawn_mesh(answer, union)
    metrics = verdicts.metrics
    volumes = judged_volumes(metrics)
    caption = answer_caption(mesh, verdicts, volumes)
    legend: Legend = []
    scene = answer_scene(mesh, union, verdicts, legend)
    panels = [Panel("the answer", scene, caption)]
    if volumes and (metrics.get("surplus") or metrics.get("missing")):
        bodies = bodies_in_difference(mesh, union, volumes)
        if bodies:
            scene = volume_scene(union, bodies, metrics, legend)
            panels.append(Panel("missing and surplus volume", scene, caption))
    # Inner shells of a union cannot be seen from outside.
    hollow = any(part.volume() < 0 for part in union.decompose())
    if volumes and not mesh.left_out and hollow:
        scene = cut_scene(mesh, union)
        panels.append(Panel("the front half removed", scene, caption))
    text = volume_table(volumes) if volumes else None
    return Picture(tuple(panels), caption, tuple(legend), text)


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the solids, or the answer's mesh, for export to a file."""
    if answer is None:
        return solid_meshes(params, 1.0)
    mesh = drawn_mesh(answer, union_body(params))
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    return [Mesh(mesh.points, cut.corners, "answer", name="the answer")]


def solid_meshes(params: Params, opacity: float) -> list[Mesh]:
    """Return the solids of an item, each in a different colour."""
    parts = []
    for i, solid in enumerate(params.solids):
        body = solid_body(solid)
        name = f"{i + 1}: {solid.kind}"
        parts.append(body_mesh(body, series(i), opacity=opacity, name=name))
    return parts


def instance_picture(params: Params) -> Picture:
    """Return the solids, numbered, inside the bounds of their union."""
    middles = []
    for solid in params.solids:
        low, high = body_bounds(solid_body(solid))
        middles.append([(a + b) / 2 for a, b in zip(low, high, strict=True)])
    names = tuple(str(i + 1) for i in range(len(middles)))
    parts: list[Shape] = [*solid_meshes(params, 0.55)]
    parts.append(Marks(np.array(middles), "ink", 0, names))
    count = counted(len(middles), "solid")
    caption = f"{count}; give their union as one closed mesh."
    scene = Scene(tuple(parts), grid=body_bounds(union_body(params)))
    return Picture((Panel("the solids", scene, caption),), caption)


def body_bounds(body: Manifold) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the lowest and the highest corner of a body."""
    box = body.bounding_box()
    return tuple(box[:3]), tuple(box[3:])


def drawn_mesh(answer: Answer, union: Manifold) -> DrawnMesh:
    """Return the part of an answer that can be drawn, its vertices pulled near the union."""
    vertices = [vertex.xyz for vertex in answer.polyhedron.vertex]
    points = np.array(vertices, dtype=np.float64).reshape(-1, 3)
    near, far = pulled_in(points, *box_around(np.array(body_bounds(union)), _VIEW))
    room = _MOST_CORNERS
    faces = []
    positions = []
    left_out = 0
    for i, face in enumerate(answer.polyhedron.faces):
        corners = face.vertex
        if max(corners) >= len(points) or len(set(corners)) < len(corners):
            continue
        if len(corners) > min(room, _MOST_CORNERS // 10):
            left_out += 1
            continue
        room -= len(corners)
        faces.append(corners)
        positions.append(i)
    return DrawnMesh(near, tuple(faces), positions, left_out, int(np.sum(far)))


def judged_volumes(metrics: Mapping[str, Any]) -> Volumes | None:
    """Return the volumes of a verdict; None if the answer bounds no body."""
    if "volume_answer" not in metrics:
        return None
    names = ("volume_union", "volume_answer", "volume_common")
    return Volumes(*(metrics[name] for name in names))


def answer_scene(
    mesh: DrawnMesh, union: Manifold, verdicts: Verdicts, legend: Legend
) -> Scene:
    """Return the answer with its faults marked, over the edges of the union; add to the legend."""
    failed = verdicts.failures
    bad = bad_faces(mesh, failed)
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    wrong = np.isin(cut.face, sorted(bad))
    right = bool(verdicts) and verdicts[0].score == 1
    role = "answer"
    opacity = 0.75
    words = "the answer"
    if right:
        role = "right"
        opacity = 0.9
        words = "the answer, which equals the union"
    elif failed.keys() - {"union"}:
        # Marks of faults must be visible through faces in front of them.
        opacity = 0.55
    parts: list[Shape] = []
    if len(cut.corners):
        rims = face_rims(mesh, [f for f in range(len(mesh.faces)) if f not in bad])
        corners = cut.corners[~wrong]
        parts.append(Mesh(mesh.points, corners, role, opacity, "the answer", rims))
        legend.append((role, words))
    if bad:
        rims = face_rims(mesh, bad)
        corners = cut.corners[wrong]
        parts.append(Mesh(mesh.points, corners, "wrong", 0.85, "wrong faces", rims))
    if not right:
        rims = face_rims(mesh, range(len(mesh.faces)))
        edges = missing_edges(body_mesh(union, "target").outline, rims)
        if edges:
            parts.append(union_edges(edges))
            legend.append(
                (
                    "target",
                    "edges of the union that are missing from the answer (dashed)",
                )
            )
    parts += edge_marks(mesh, failed)
    parts += vertex_marks(mesh, failed)
    legend.append(
        ("wrong", "edges, faces and vertices that are wrong (thick, filled, dots)")
    )
    return Scene(tuple(parts), grid=body_bounds(union))


def union_edges(edges: tuple[Points, ...]) -> Lines:
    """Return edges of the union as dashed lines."""
    return Lines(edges, "target", 1.5, dashed=True, name="edges of the union")


def bad_faces(mesh: DrawnMesh, failed: Failures) -> set[int]:
    """Return the faces named by checks, as positions in the drawn list."""
    offenders: set[int] = set()
    for check_id in _ON_FACES:
        offenders.update(failed.get(check_id, ()))
    for check_id in _ON_PAIRS:
        for pair in failed.get(check_id, ()):
            offenders.update(pair)
    place = {i: k for k, i in enumerate(mesh.positions)}
    bad = {place[i] for i in offenders if i in place}
    first_faces: set[int] = set()
    for check_id in _ON_SHELLS:
        first_faces.update(failed.get(check_id, ()))
    firsts = sorted(place[i] for i in first_faces if i in place)
    if firsts:
        shell = shells(mesh.faces)
        bad |= set(np.flatnonzero(np.isin(shell, shell[firsts])).tolist())
    return bad


def face_rims(mesh: DrawnMesh, members: Iterable[int]) -> tuple[Points, ...]:
    """Return the edges (2, 3) of some faces, each once."""
    edges = set()
    for i in members:
        face = mesh.faces[i]
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            edges.add((min(a, b), max(a, b)))
    return tuple(mesh.points[list(edge)] for edge in sorted(edges))


def missing_edges(
    edges: Sequence[Points], present: Sequence[Points]
) -> tuple[Points, ...]:
    """Return the edges (2, 3) that do not run along any present edge."""
    if not present:
        return tuple(edges)
    start = np.array([edge[0] for edge in present])
    along = np.array([edge[1] - edge[0] for edge in present])
    length = np.maximum(np.einsum("ij,ij->i", along, along), 1e-12)

    def near(point: Points) -> npt.NDArray[np.bool_]:
        """Return a mask of the present edges that pass near a point."""
        share = np.clip(np.einsum("ij,ij->i", point - start, along) / length, 0, 1)
        away = start + share[:, None] * along - point
        close: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", away, away) < _NEAR**2
        return close

    return tuple(edge for edge in edges if not np.any(near(edge[0]) & near(edge[1])))


def edge_marks(mesh: DrawnMesh, failed: Failures) -> list[Lines]:
    """Return the edges that checks name, by check."""
    parts = []
    for check_id in _ON_EDGES:
        edges = failed.get(check_id, ())[:_MOST_MARKS]
        if edges:
            paths = tuple(mesh.points[list(edge)] for edge in edges)
            width = _EDGE_WIDTHS[check_id]
            name = check_id.replace("_", " ")
            parts.append(Lines(paths, "wrong", width, check_id == "winding", name))
    return parts


def vertex_marks(mesh: DrawnMesh, failed: Failures) -> list[Marks]:
    """Return the vertices that checks name, numbered, if there are any."""
    vertices: list[int] = []
    for check_id in _ON_VERTICES:
        for entry in failed.get(check_id, ())[:_MOST_MARKS]:
            vertices += [entry] if isinstance(entry, int) else entry[:2]
    vertices = [i for i in dict.fromkeys(vertices) if i < len(mesh.points)]
    del vertices[_MOST_MARKS:]
    if not vertices:
        return []
    labels = tuple(map(str, vertices))
    return [Marks(mesh.points[vertices], "wrong", 8, labels, "wrong vertices")]


def outward_triangles(mesh: DrawnMesh) -> Triangles:
    """Return the triangles of a mesh, oriented so that its volume is not negative."""
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    used, corners = np.unique(cut.corners, return_inverse=True)
    points = mesh.points[used]
    corners = corners.reshape(-1, 3)
    # Six times the volume is the sum of the triple products of all triangles.
    a, b, c = (points[corners[:, k]] - points[0] for k in range(3))
    if np.sum(np.cross(a, b) * c) < 0:
        corners = corners[:, ::-1]
    return Triangles(points, corners)


def bodies_in_difference(
    mesh: DrawnMesh, union: Manifold, volumes: Volumes
) -> tuple[Manifold, Manifold] | None:
    """Return the surplus and missing bodies if they agree with the verdict's volumes."""
    points, corners = outward_triangles(mesh)
    try:
        return difference_bodies(
            points, corners, union, volumes.surplus, volumes.missing
        )
    except ValueError:
        # Not all of the mesh is drawn, so it is not closed.
        return None


def volume_scene(
    union: Manifold,
    bodies: tuple[Manifold, Manifold],
    metrics: Mapping[str, Any],
    legend: Legend,
) -> Scene:
    """Return the surplus and the missing bodies in the pale union; add to the legend."""
    parts: list[Shape] = [body_mesh(union, "given", opacity=0.12)]
    low, high = body_bounds(union)
    # Slivers that rounding leaves would look like faults; shells of voids are negative.
    thin = _ROUNDING * float(np.max(np.subtract(high, low)))
    least = _ROUNDING * metrics["volume_union"]
    words = {
        "surplus": "surplus: in the answer, but not in the union",
        "missing": "missing: in the union, but not in the answer",
    }
    for role, body in zip(words, bodies, strict=True):
        pieces = metrics.get(role, ())
        if not pieces:
            continue
        parts += [
            body_mesh(part, role, opacity=0.8, thickness=thin)
            for part in body.decompose()
            if abs(part.volume()) >= least
        ]
        lows = np.array([piece["low"] for piece in pieces])
        highs = np.array([piece["high"] for piece in pieces])
        labels = tuple(f"{role} {piece['volume']:.4g}" for piece in pieces)
        parts.append(Marks((lows + highs) / 2, "ink", 0, labels))
        legend.append((role, words[role]))
    return Scene(tuple(parts), grid=(low, high))


def cut_scene(mesh: DrawnMesh, union: Manifold) -> Scene:
    """Return the back half of the answer, with the surfaces that the outside hides."""
    low, high = body_bounds(union)
    middle = (low[1] + high[1]) / 2
    # The remaining half is on the side that the normal points to.
    normal = (0.0, 1.0, 0.0)
    half = to_body(*outward_triangles(mesh)).trim_by_plane(normal, middle)
    edges = body_mesh(union.trim_by_plane(normal, middle), "target").outline
    parts = (body_mesh(half, "answer", name="the answer"), union_edges(edges))
    return Scene(parts, elevation=35, grid=(low, high))


def answer_caption(mesh: DrawnMesh, verdicts: Verdicts, volumes: Volumes | None) -> str:
    """Return the size of the mesh, its first faults, and the shares of missing and extra volume."""
    vertices = counted(len(mesh.points), "vertex", "vertices")
    size = f"A mesh of {vertices} and {counted(len(mesh.faces), 'face')}"
    if not verdicts:
        return f"{size}."
    metrics = verdicts.metrics
    findings = verdicts.faults(_FAULTS)[:_MOST_FAULTS]
    if volumes and (metrics.get("missing") or metrics.get("surplus")):
        missing = volumes.missing / volumes.union
        surplus = volumes.surplus / volumes.union
        findings.append(
            f"{missing:.1%} of the union's volume is missing, {surplus:.1%} is surplus"
        )
    if mesh.left_out:
        findings.append(f"{counted(mesh.left_out, 'large face')} not drawn")
    if mesh.pulled:
        pulled = counted(mesh.pulled, "vertex", "vertices")
        findings.append(f"{pulled} far outside the picture, drawn at its edge")
    colon = ": " if findings else "; "
    return f"{size}{colon}{'; '.join([*findings, verdicts.fraction])}."


def volume_table(volumes: Volumes) -> str:
    """Return the volumes as a table, with their shares of the union."""
    rows = volumes._asdict()
    rows |= {"missing": volumes.missing, "surplus": volumes.surplus}
    lines = []
    for name, value in rows.items():
        # Adding 0.0 makes a negative zero positive.
        lines.append(f"{name:8}{value + 0.0:14.3f}{value / volumes.union:9.1%}")
    return "\n".join(lines)
