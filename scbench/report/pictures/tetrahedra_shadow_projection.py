"""Tetrahedra and their shadow: what of the target is covered, gaps, spill, bodies that cut."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from scbench.graders.tetrahedra_shadow_projection import Floats, corners
from scbench.report.draw.scene import Faces, Lines, Marks, Mesh, Scene, Shape
from scbench.report.draw.solids import fill
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params, Pose

# Tetrahedra drawn of an answer that places more.
_MOST_BODIES = 400
# How far beyond the target, in times its size, tetrahedra are drawn where they are.
_RIM = 1.0
# Heights may differ by so much for each tetrahedron; others are pulled in.
_LAYER = 1.5
# A stack so many times as high as wide is squeezed in space, and lies on its side
# beside that.
_SLIM = 1.3
_MOST_MARKS = 12

_FACES: Faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
_EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


class _Arrangement(NamedTuple):
    """What is drawn of the tetrahedra."""

    bodies: Floats
    """Corners (n, 4, 3), those far away pulled in to the rim."""
    at: list[int]
    """Position of each in the answer's list."""
    wrong: dict[int, str]
    """Why, for each position that a check points at."""
    far: int
    """How many were pulled in."""


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target; with an answer the shadow on it, a view from the side, and the bodies."""
    target = Polygon(params.exterior, params.holes)
    if answer is None:
        caption = (
            f"The target: {params.title}. Unit tetrahedra are to cast this shadow."
        )
        drawing = Drawing(_frame_around(target, 0.06))
        fill(drawing, target, "target", opacity=0.3)
        _draw_rings(drawing, target)
        panel = Panel("the target from above", drawing, caption)
        return Picture((panel,), caption, (("target", "the target"),))
    arrangement = _arrangement(answer, target, verdicts)
    caption = _caption(answer, arrangement, verdicts)
    metrics = verdicts.metrics
    words = texts("tetrahedra_shadow_projection.legend").items()
    legend = [line for line in words if line[0] != "surplus" or metrics.get("spills")]
    panels = (
        Panel("from above", _plan(arrangement, target, metrics), caption),
        Panel(*_bodies_in_space(arrangement, target), caption),
        Panel(*_side_view(arrangement, target), caption),
    )
    return Picture(panels, caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the tetrahedra where they stand, to be written as a file."""
    if answer is None:
        return []
    bodies = _arrangement(
        answer, Polygon(params.exterior, params.holes), Verdicts()
    ).bodies
    return [Mesh(bodies.reshape(-1, 3), _faces(bodies), "answer", name="tetrahedra")]


def _faces(bodies: Floats) -> Faces:
    return (_FACES[None] + 4 * np.arange(len(bodies))[:, None, None]).reshape(-1, 3)


def _frame_around(
    target: BaseGeometry, share: float
) -> tuple[float, float, float, float]:
    x, y, u, v = target.bounds
    margin = share * max(u - x, v - y)
    return x - margin, y - margin, u + margin, v + margin


def _arrangement(answer: Answer, target: Polygon, verdicts: Verdicts) -> _Arrangement:
    poses = answer.tetrahedrons[:_MOST_BODIES]
    at = [
        i for i, pose in enumerate(poses) if any((pose.q0, pose.q1, pose.q2, pose.q3))
    ]
    x, y, u, v = _frame_around(target, _RIM)
    tall = 2 * (u - x) + _LAYER * len(at)
    # Only differences of heights matter, so a stack may be anywhere.
    heights = np.sort([poses[i].z for i in at])
    options = [0.0, *heights[len(heights) // 2 : len(heights) // 2 + 1].tolist()]
    middle = max(options, key=lambda m: int(np.sum(np.abs(heights - m) <= tall)))
    low, high = np.array([x, y, middle - tall]), np.array([u, v, middle + tall])
    places = np.array([(p.x, p.y, p.z) for p in (poses[i] for i in at)]).reshape(-1, 3)
    pulled = np.clip(places, low, high)
    rows = [
        (*place, *_quaternion(poses[i]))
        for place, i in zip(pulled.tolist(), at, strict=True)
    ]
    bodies = corners(np.array(rows, dtype=np.float64).reshape(-1, 7))
    far = int(np.sum(np.any(pulled != places, axis=1)))
    return _Arrangement(bodies, at, _wrong(verdicts), far)


def _quaternion(pose: Pose) -> tuple[float, ...]:
    """Return a pose's quaternion with entries that can be squared."""
    parts = (pose.q0, pose.q1, pose.q2, pose.q3)
    largest = max(map(abs, parts))
    return tuple(part / largest for part in parts)


def _wrong(verdicts: Verdicts) -> dict[int, str]:
    faults: dict[int, str] = {}
    for i in verdicts.failures.get("reach", ()):
        faults.setdefault(i, "out of reach")
    for i in verdicts.failures.get("unit_quaternions", ()):
        faults.setdefault(i, "quaternion not of length 1")
    for pair in verdicts.metrics.get("cutting_pairs", ()):
        for i, partner in ((pair[0], pair[1]), (pair[1], pair[0])):
            faults.setdefault(i, f"cuts {partner}")
    return faults


def _plan(
    arrangement: _Arrangement, target: Polygon, metrics: Mapping[str, Any]
) -> Drawing:
    hulls = [
        shapely.MultiPoint(body).convex_hull
        for body in arrangement.bodies[:, :, :2].tolist()
    ]
    # All of the shadow is in view, unless it is absurdly far away.
    extent = shapely.union_all([target, *hulls])
    drawing = Drawing(_frame_around(extent, 0.06))
    shadow = shapely.union_all(hulls)
    fill(drawing, target.intersection(shadow), "right", opacity=0.35)
    fill(drawing, shadow.difference(target), "surplus", opacity=0.2)
    for spill in metrics.get("spills", ()):
        fill(drawing, _polygon(spill), "surplus", opacity=0.6)
    for gap in metrics.get("gaps", ()):
        shape = _polygon(gap)
        fill(drawing, shape, "missing", hatched=True)
        _draw_rings(drawing, shape, "missing", width=1)
    order = sorted(
        range(len(arrangement.at)), key=lambda k: arrangement.at[k] in arrangement.wrong
    )
    for k in order:
        i = arrangement.at[k]
        bad = i in arrangement.wrong
        tip = f"tetrahedron {i}" + (f": {arrangement.wrong[i]}" if bad else "")
        outline = shapely.get_coordinates(hulls[k])[:-1].tolist()
        role, width = ("wrong", 2.2) if bad else ("quiet", 0.7)
        drawing.line(outline, role, closed=True, width=width, tip=tip)
    _draw_rings(drawing, target)
    return drawing


def _polygon(shape: Mapping[str, Any]) -> Polygon:
    return Polygon(shape["exterior"], shape["holes"])


def _draw_rings(
    drawing: Drawing, shape: Polygon, role: str = "target", width: float = 2
) -> None:
    for ring in (shape.exterior, *shape.interiors):
        drawing.line(ring.coords[:-1], role, closed=True, width=width)


def _side_view(arrangement: _Arrangement, target: Polygon) -> tuple[str, Drawing]:
    """Draw the edges of the bodies as seen along y, and say how; a tall stack lies on its side."""
    spots = np.array([[target.bounds[0], 0.0], [target.bounds[2], 0.0]])
    flat = arrangement.bodies[:, :, [0, 2]]
    points = np.concatenate([spots, flat.reshape(-1, 2)])
    low, high = points.min(axis=0), points.max(axis=0)
    lying = float(high[1] - low[1]) > _SLIM * float(high[0] - low[0])
    if lying:
        flat, spots, low, high = flat[..., ::-1], spots[:, ::-1], low[::-1], high[::-1]
    margin = 0.04 * float(np.max(high - low))
    frame = (*(low - margin).tolist(), *(high + margin).tolist())
    drawing = Drawing(frame, size=680 if lying else 340)
    edges: dict[bool, list[list[list[float]]]] = {False: [], True: []}
    for body, i in zip(flat.tolist(), arrangement.at, strict=True):
        edges[i in arrangement.wrong] += [[body[a], body[b]] for a, b in _EDGES]
    drawing.strokes(edges[False], "answer", width=0.8)
    drawing.strokes(edges[True], "wrong", width=1.8)
    drawing.line(spots.tolist(), "target", width=4, tip="the target, edge on")
    return (
        f"from the side: {'z to the right, x up' if lying else 'x to the right, z up'}",
        drawing,
    )


def _squeezed(arrangement: _Arrangement, target: Polygon) -> tuple[bool, Floats]:
    """Return whether the bodies are so high a stack that it is squeezed, and them as drawn."""
    x, _, u, _ = target.bounds
    middles = arrangement.bodies[:, :, 2].mean(axis=1)
    if not len(middles) or float(np.ptp(middles)) <= _SLIM * (u - x):
        return False, arrangement.bodies
    low = float(middles.min())
    bodies = arrangement.bodies.copy()
    shift = (middles - low) * (1 - _SLIM * (u - x) / float(np.ptp(middles)))
    bodies[:, :, 2] -= shift[:, None]
    return True, bodies


def _bodies_in_space(arrangement: _Arrangement, target: Polygon) -> tuple[str, Scene]:
    """Show the bodies above the target and their shadows on it, and say how."""
    squeezed, bodies = _squeezed(arrangement, target)
    arrangement = arrangement._replace(bodies=bodies)
    bad = np.array([i in arrangement.wrong for i in arrangement.at], dtype=bool)
    floor = min(0.0, float(arrangement.bodies[:, :, 2].min(initial=0.0))) - 0.3
    parts: list[Shape] = []
    for mask, role, opacity in ((~bad, "answer", 0.75), (bad, "wrong", 0.9)):
        bodies = arrangement.bodies[mask]
        if len(bodies):
            rims = tuple(body[[a, b]] for body in bodies for a, b in _EDGES)
            name = "tetrahedra" if role == "answer" else "faulty tetrahedra"
            parts.append(
                Mesh(bodies.reshape(-1, 3), _faces(bodies), role, opacity, name, rims)
            )
    if len(arrangement.bodies):
        parts.append(_shadow_mesh(arrangement.bodies, floor - 0.01))
    rings = [
        np.array([(x, y, floor) for x, y, *_ in ring.coords])
        for ring in (target.exterior, *target.interiors)
    ]
    parts.append(Lines(tuple(rings), "target", 3, name="target"))
    faulty = [k for k, i in enumerate(arrangement.at) if i in arrangement.wrong][
        :_MOST_MARKS
    ]
    if faulty and len(arrangement.wrong) <= _MOST_MARKS:
        at, wrong = arrangement.at, arrangement.wrong
        labels = tuple(f"{at[k]} {wrong[at[k]]}" for k in faulty)
        parts.append(Marks(arrangement.bodies[faulty].mean(axis=1), "wrong", 0, labels))
    title = "in space, heights squeezed" if squeezed else "in space"
    # Along no side of a square or of an equilateral triangle, which would look cut off.
    return title, Scene(tuple(parts), azimuth=-40, elevation=30)


def _shadow_mesh(bodies: Floats, floor: float) -> Mesh:
    """Return the shadows as flat triangles: those of all four faces together."""
    flat = bodies.copy()
    flat[:, :, 2] = floor
    return Mesh(flat.reshape(-1, 3), _faces(bodies), "faint", name="shadow")


def _caption(answer: Answer, arrangement: _Arrangement, verdicts: Verdicts) -> str:
    count = len(answer.tetrahedrons)
    findings = [f"{count} tetrahedra" if count != 1 else "1 tetrahedron"]
    if count > _MOST_BODIES:
        findings.append(f"the first {_MOST_BODIES} are drawn")
    if arrangement.far:
        findings.append(f"{arrangement.far} far away are drawn at the rim")
    for verdict in verdicts:
        metrics = verdict.metrics
        if "covered" in metrics:
            findings.append(f"the shadow covers {metrics['covered']:.1%} of the target")
            findings.append(f"{metrics['spill']:.1%} is spill")
        findings += verdicts.faults(texts("tetrahedra_shadow_projection.faults"))
        findings.append(verdicts.fraction)
    return "; ".join(findings) + "."
