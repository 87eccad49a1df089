"""Solids and the mesh of their union: broken edges and faces, missing and surplus volume."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold

from scbench.graders.csg_union.solids import solid_body, union_body
from scbench.graders.shared import meshes
from scbench.graders.shared.meshes import PolygonMesh, triangulate
from scbench.report.draw.colours import series
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene, Shape
from scbench.report.draw.solids import body_mesh, box_around, pulled_in
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.schemas.csg_union import Answer, Params

# Corners of faces drawn of an answer; of one face, a tenth.
_MOST_CORNERS = 12_000
_MOST_MARKS = 50
# How far beyond the union, in times its size, vertices are drawn where they are.
_VIEW = 0.9
_ROUNDING = 1e-3
# Edges so near each other are the same for the eye.
_NEAR = 0.02

_ON_EDGES = ("winding", "watertight", "edge_manifold")
_ON_FACES = ("indices", "degenerate_faces", "planar_faces", "simple_faces")
_ON_PAIRS = ("self_intersection", "touching")
_ON_SHELLS = ("zero_volume", "nesting")
_ON_VERTICES = ("coordinates", "duplicate_vertices", "outliers")


class _Mesh(NamedTuple):
    """What can be drawn of an answer."""

    points: Points
    faces: meshes.Faces
    at: list[int]
    """Position of each face in the answer's list."""
    left_out: int


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the solids; with an answer its mesh on the union, then what is missing and surplus."""
    if answer is None:
        return _instance(params)
    union = union_body(params)
    metrics = verdicts.metrics
    mesh, pulled = _usable(answer, union)
    caption = _caption(mesh, verdicts, pulled)
    legend: Legend = []
    panels = [
        Panel("the answer", _answer_scene(mesh, union, verdicts, legend), caption)
    ]
    unequal = metrics.get("surplus") or metrics.get("missing")
    if volumes := _difference_bodies(mesh, union, metrics) if unequal else None:
        scene = _volume_scene(union, volumes, metrics, legend)
        panels.append(Panel("missing and surplus volume", scene, caption))
    if "volume_answer" in metrics and not mesh.left_out and _hollow(union):
        panels.append(
            Panel("the front half taken away", _cut_scene(mesh, union), caption)
        )
    return Picture(tuple(panels), caption, tuple(legend), _volume_table(metrics))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the solids, or the answer's mesh, to be written as a file."""
    if answer is None:
        return _solids(params, 1.0)
    mesh, _ = _usable(answer, union_body(params))
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    return [Mesh(mesh.points, cut.corners, "answer", name="the answer")]


def _solids(params: Params, opacity: float) -> list[Mesh]:
    return [
        body_mesh(
            solid_body(solid), series(i), opacity=opacity, name=f"{i + 1}: {solid.kind}"
        )
        for i, solid in enumerate(params.solids)
    ]


def _instance(params: Params) -> Picture:
    middles = [
        [(a + b) / 2 for a, b in zip(*_body_bounds(solid_body(s)), strict=True)]
        for s in params.solids
    ]
    names = tuple(str(i + 1) for i in range(len(middles)))
    parts: tuple[Shape, ...] = (
        *_solids(params, 0.55),
        Marks(np.array(middles), "ink", 0, names),
    )
    many = len(params.solids)
    caption = (
        f"{many} solid{'s' * (many > 1)} whose union is to be given as one closed mesh."
    )
    scene = Scene(parts, grid=_body_bounds(union_body(params)))
    return Picture((Panel("the solids", scene, caption),), caption)


def _body_bounds(body: Manifold) -> tuple[tuple[float, ...], tuple[float, ...]]:
    box = body.bounding_box()
    return tuple(box[:3]), tuple(box[3:])


def _usable(answer: Answer, union: Manifold) -> tuple[_Mesh, int]:
    """Return what can be drawn of an answer, and how many vertices had to be pulled in."""
    points = np.array(
        [v.xyz for v in answer.polyhedron.vertex], dtype=np.float64
    ).reshape(-1, 3)
    near, far = pulled_in(points, *box_around(np.array(_body_bounds(union)), _VIEW))
    room, faces, at, left_out = _MOST_CORNERS, [], [], 0
    for i, face in enumerate(answer.polyhedron.faces):
        corners = face.vertex
        if max(corners) >= len(points) or len(set(corners)) < len(corners):
            continue
        if len(corners) > min(room, _MOST_CORNERS // 10):
            left_out += 1
            continue
        room -= len(corners)
        faces.append(corners)
        at.append(i)
    return _Mesh(near, tuple(faces), at, left_out), int(np.sum(far))


def _answer_scene(
    mesh: _Mesh, union: Manifold, verdicts: Verdicts, legend: Legend
) -> Scene:
    failed = verdicts.failures
    bad = _bad_faces(mesh, failed)
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    wrong = np.isin(cut.face, sorted(bad))
    right = bool(verdicts) and verdicts[0].score == 1
    role = "right" if right else "answer"
    parts: list[Shape] = []
    if len(cut.corners):
        rims = _face_rims(mesh, [f for f in range(len(mesh.faces)) if f not in bad])
        opacity = 0.9 if right else 0.55 if failed.keys() - {"union"} else 0.75
        parts.append(
            Mesh(mesh.points, cut.corners[~wrong], role, opacity, "the answer", rims)
        )
        legend.append(
            (role, "the answer, which is the union" if right else "the answer")
        )
    if bad:
        rims = _face_rims(mesh, sorted(bad))
        parts.append(
            Mesh(mesh.points, cut.corners[wrong], "wrong", 0.85, "wrong faces", rims)
        )
    if not right:
        rims = _face_rims(mesh, range(len(mesh.faces)))
        edges = _missing_edges(body_mesh(union, "target").outline, rims)
        if edges:
            parts.append(
                Lines(edges, "target", 1.5, dashed=True, name="edges of the union")
            )
            legend.append(
                ("target", "edges of the union that the answer does not have (dashed)")
            )
    parts += _fault_marks(mesh, failed)
    legend.append(
        ("wrong", "edges, faces and vertices that are wrong (thick, filled, dots)")
    )
    return Scene(tuple(parts), grid=_body_bounds(union))


def _bad_faces(mesh: _Mesh, failed: Mapping[str, Sequence[Any]]) -> set[int]:
    """Return the faces, as positions among those drawn, that checks point at."""
    offenders = {i for check in _ON_FACES for i in failed.get(check, ())}
    offenders |= {
        i for check in _ON_PAIRS for pair in failed.get(check, ()) for i in pair
    }
    place = {i: k for k, i in enumerate(mesh.at)}
    bad = {place[i] for i in offenders if i in place}
    firsts = {place[i] for c in _ON_SHELLS for i in failed.get(c, ()) if i in place}
    if firsts:
        shell = meshes.shells(mesh.faces)
        bad |= set(np.flatnonzero(np.isin(shell, shell[sorted(firsts)])).tolist())
    return bad


def _face_rims(mesh: _Mesh, members: Sequence[int]) -> tuple[Points, ...]:
    edges = {
        (min(a, b), max(a, b))
        for f in members
        for a, b in zip(
            mesh.faces[f], mesh.faces[f][1:] + mesh.faces[f][:1], strict=True
        )
    }
    return tuple(mesh.points[list(edge)] for edge in sorted(edges))


def _missing_edges(
    edges: Sequence[Points], present: Sequence[Points]
) -> tuple[Points, ...]:
    """Return the edges that do not run along one of a mesh's own edges."""
    if not present:
        return tuple(edges)
    start = np.array([edge[0] for edge in present])
    along = np.array([edge[1] - edge[0] for edge in present])
    length = np.maximum(np.einsum("ij,ij->i", along, along), 1e-12)

    def near(point: Points) -> npt.NDArray[np.bool_]:
        share = np.clip(np.einsum("ij,ij->i", point - start, along) / length, 0, 1)
        away = start + share[:, None] * along - point
        close: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", away, away) < _NEAR**2
        return close

    return tuple(edge for edge in edges if not np.any(near(edge[0]) & near(edge[1])))


def _fault_marks(
    mesh: _Mesh, failed: Mapping[str, Sequence[Any]]
) -> list[Lines | Marks]:
    parts: list[Lines | Marks] = []
    for check in _ON_EDGES:
        paths = tuple(
            mesh.points[list(edge)] for edge in failed.get(check, ())[:_MOST_MARKS]
        )
        if paths:
            width = {"winding": 3.0, "watertight": 4.0}.get(check, 6.0)
            dashed = check == "winding"
            parts.append(Lines(paths, "wrong", width, dashed, check.replace("_", " ")))
    entries = [
        entry for check in _ON_VERTICES for entry in failed.get(check, ())[:_MOST_MARKS]
    ]
    vertices = [i for e in entries for i in ([e] if isinstance(e, int) else e[:2])]
    vertices = [i for i in dict.fromkeys(vertices) if i < len(mesh.points)][
        :_MOST_MARKS
    ]
    if vertices:
        labels = tuple(str(i) for i in vertices)
        parts.append(Marks(mesh.points[vertices], "wrong", 8, labels, "wrong vertices"))
    return parts


def _body(mesh: _Mesh) -> tuple[Points, npt.NDArray[np.int64]]:
    """Return points, each on a triangle, and triangles that face outwards."""
    cut = triangulate(PolygonMesh(mesh.points, mesh.faces))
    used, corners = np.unique(cut.corners, return_inverse=True)
    points, corners = mesh.points[used], corners.reshape(-1, 3)
    a, b, c = (points[corners[:, k]] - points[0] for k in range(3))
    if np.sum(np.cross(a, b) * c) < 0:
        corners = corners[:, ::-1]
    return points, corners


def _difference_bodies(
    mesh: _Mesh, union: Manifold, metrics: Mapping[str, Any]
) -> tuple[Manifold, Manifold] | None:
    """Return the bodies that are surplus and missing, if they agree with the verdict's volumes."""
    r, v, i = (metrics[f"volume_{name}"] for name in ("union", "answer", "common"))
    try:
        return meshes.difference_bodies(*_body(mesh), union, v - i, r - i)
    except ValueError:
        return None  # not all of the mesh is drawn


def _volume_scene(
    union: Manifold,
    volumes: tuple[Manifold, Manifold],
    metrics: Mapping[str, Any],
    legend: Legend,
) -> Scene:
    parts: list[Shape] = [body_mesh(union, "given", opacity=0.12)]
    # Slivers that rounding leaves would look like faults; shells of voids are negative.
    thin = _ROUNDING * float(np.max(np.subtract(*_body_bounds(union)[::-1])))
    for role, body, words in (
        ("surplus", volumes[0], "surplus: in the answer, but not in the union"),
        ("missing", volumes[1], "missing: in the union, but not in the answer"),
    ):
        pieces = metrics.get(role, ())
        if not pieces:
            continue
        parts.extend(
            body_mesh(part, role, opacity=0.8, thickness=thin)
            for part in body.decompose()
            if abs(part.volume()) >= _ROUNDING * metrics["volume_union"]
        )
        places = np.array([[*piece["low"], *piece["high"]] for piece in pieces])
        labels = tuple(f"{role} {piece['volume']:.4g}" for piece in pieces)
        parts.append(Marks((places[:, :3] + places[:, 3:]) / 2, "ink", 0, labels))
        legend.append((role, words))
    return Scene(tuple(parts), grid=_body_bounds(union))


def _hollow(union: Manifold) -> bool:
    return any(part.volume() < 0 for part in union.decompose())


def _cut_scene(mesh: _Mesh, union: Manifold) -> Scene:
    """Show the back half of the answer, for what the outside hides."""
    low, high = _body_bounds(union)
    middle = (low[1] + high[1]) / 2
    # What is kept lies on the side that the normal points to.
    half = meshes.to_body(*_body(mesh)).trim_by_plane((0.0, 1.0, 0.0), middle)
    edges = body_mesh(union.trim_by_plane((0.0, 1.0, 0.0), middle), "target").outline
    outline = Lines(edges, "target", 1.5, dashed=True, name="edges of the union")
    parts = (body_mesh(half, "answer", name="the answer"), outline)
    return Scene(parts, elevation=35, grid=(low, high))


def _caption(mesh: _Mesh, verdicts: Verdicts, pulled: int) -> str:
    many = f"A mesh of {len(mesh.points)} vertices and {len(mesh.faces)} faces"
    if not verdicts:
        return f"{many}."
    metrics = verdicts.metrics
    findings = verdicts.faults(texts("csg_union.faults"))[:3]
    if "volume_answer" in metrics and (
        metrics.get("missing") or metrics.get("surplus")
    ):
        r, v, i = (metrics[f"volume_{name}"] for name in ("union", "answer", "common"))
        words = f"{(r - i) / r:.1%} of the union's volume is missing, {(v - i) / r:.1%} surplus"
        findings.append(words)
    if mesh.left_out:
        findings.append(f"{mesh.left_out} large faces are not drawn")
    if pulled:
        findings.append(f"{pulled} vertices far outside are drawn at the rim")
    return f"{many}{': ' if findings else '; '}{'; '.join([*findings, verdicts.fraction])}."


def _volume_table(metrics: Mapping[str, Any]) -> str | None:
    if "volume_answer" not in metrics:
        return None
    r, v, i = (metrics[f"volume_{name}"] for name in ("union", "answer", "common"))
    rows = (
        ("union", r),
        ("answer", v),
        ("common", i),
        ("missing", r - i),
        ("surplus", v - i),
    )
    return "\n".join(
        f"{name:8}{value + 0.0:14.3f}{value / r:9.1%}" for name, value in rows
    )
