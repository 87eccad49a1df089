"""Tetrahedra and their shadow: covered target, gaps, spill, and intersecting bodies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from scbench.base.wording import counted
from scbench.graders.tetrahedra_shadow_projection import Floats, corners
from scbench.report.draw.polygons import fill
from scbench.report.draw.scene import Faces, Lines, Marks, Mesh, Scene, Shape, edges_of
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.schemas.tetrahedra_shadow_projection import Answer, Params, Pose

# Maximum number of tetrahedra drawn.
MOST_BODIES = 400
# Tetrahedra further from the target than this multiple of its size are moved closer.
RIM = 1.0
# Heights may differ by this much for each tetrahedron; larger differences are clipped.
LAYER = 1.5
# A stack that is this many times as high as wide is squeezed in the 3D view and lies on its side in
# the side view.
SLIM = 1.3
# Maximum number of labelled faults.
MOST_MARKS = 12
# Margin around a flat drawing, as a share of its size.
MARGIN = 0.06
LEGEND = (
    ("target", "outline of the target"),
    ("missing", "gaps: target without shadow (hatched)"),
    ("surplus", "spill: shadow outside the target"),
    ("right", "shadow on the target"),
    ("wrong", "thick: tetrahedra that intersect or have another fault"),
)
FAULTS = {
    "reach": "{n} out of reach",
    "rotation": "{n} with a quaternion of zeros",
    "unit_quaternions": "{n} quaternions not of length 1|{n} quaternion not of length 1",
    "intersection": "{n} intersecting pairs|{n} intersecting pair",
    "resource_limit": "too many to grade",
}

# Faces and edges of a tetrahedron, as indices of its corners.
FACES: Faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


class Arrangement(NamedTuple):
    """The tetrahedra that are drawn.

    Attributes:
        bodies: corners (n, 4, 3); far bodies are moved to the rim.
        positions: position of each in the answer's list.
        faults: fault of each position that a check names.
        far: number of bodies moved to the rim.
    """

    bodies: Floats
    positions: list[int]
    faults: dict[int, str]
    far: int

    @property
    def faulty(self) -> npt.NDArray[np.bool_]:
        """Whether each of the bodies has a fault."""
        return np.array([i in self.faults for i in self.positions], dtype=bool)


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target; with an answer, also the shadow, a side view, and the bodies."""
    target = Polygon(params.exterior, params.holes)
    if answer is None:
        return target_picture(params, target)
    metrics = verdicts.metrics
    arrangement = drawn_tetrahedra(answer, target, verdicts)
    caption = answer_caption(answer, arrangement, verdicts)
    legend = list(LEGEND)
    # Without spill, this colour marks shadow outside that the grader tolerates.
    if not metrics.get("spills"):
        legend = [line for line in LEGEND if line[0] != "surplus"]
    panels = (
        Panel("from above", shadow_plan(arrangement, target, metrics), caption),
        Panel(*bodies_in_space(arrangement, target), caption),
        Panel(*side_view(arrangement, target), caption),
    )
    return Picture(panels, caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the tetrahedra at their original places for a file."""
    if answer is None:
        return []
    target = Polygon(params.exterior, params.holes)
    bodies = drawn_tetrahedra(answer, target, Verdicts()).bodies
    return [body_mesh(bodies, "answer", name="tetrahedra")]


def target_picture(params: Params, target: Polygon) -> Picture:
    """Return the picture of a target alone."""
    caption = f"The target: {params.title}. Unit tetrahedra must cast this shadow."
    drawing = Drawing(frame_around(target, MARGIN))
    fill(drawing, target, "target", opacity=0.3)
    draw_rings(drawing, target)
    panel = Panel("the target from above", drawing, caption)
    return Picture((panel,), caption, (("target", "the target"),))


def frame_around(
    shape: BaseGeometry, share: float
) -> tuple[float, float, float, float]:
    """Return the bounds of a shape with a margin, relative to its longer side."""
    x, y, u, v = shape.bounds
    margin = share * max(u - x, v - y)
    return x - margin, y - margin, u + margin, v + margin


def drawn_tetrahedra(
    answer: Answer, target: Polygon, verdicts: Verdicts
) -> Arrangement:
    """Return the drawn tetrahedra of an answer; those with a zero quaternion are left out."""
    poses = answer.tetrahedrons[:MOST_BODIES]
    positions = [i for i, pose in enumerate(poses) if any(quaternion_of(pose))]
    places = np.array([(poses[i].x, poses[i].y, poses[i].z) for i in positions])
    places = places.reshape(-1, 3)
    x, y, u, v = frame_around(target, RIM)
    tall = 2 * (u - x) + LAYER * len(positions)
    middle = middle_height(places[:, 2], tall)
    low = np.array([x, y, middle - tall])
    high = np.array([u, v, middle + tall])
    pulled = np.clip(places, low, high)
    rows = []
    for place, i in zip(pulled.tolist(), positions, strict=True):
        quaternion = quaternion_of(poses[i])
        # Scaled, so that its entries can be squared.
        largest = max(map(abs, quaternion))
        rows.append((*place, *(entry / largest for entry in quaternion)))
    bodies = corners(np.array(rows, dtype=np.float64).reshape(-1, 7))
    far = int(np.sum(np.any(pulled != places, axis=1)))
    return Arrangement(bodies, positions, body_faults(verdicts), far)


def quaternion_of(pose: Pose) -> tuple[float, float, float, float]:
    """Return the rotation of a pose."""
    return pose.q0, pose.q1, pose.q2, pose.q3


def middle_height(heights: Floats, reach: float) -> float:
    """Return the ground or the median height, whichever is near more bodies."""
    # Only differences of heights matter, so a stack may be anywhere.
    ordered = np.sort(heights)
    half = len(ordered) // 2
    options: list[float] = [0.0, *ordered[half : half + 1].tolist()]
    near = [int(np.sum(np.abs(ordered - middle) <= reach)) for middle in options]
    return options[near.index(max(near))]


def body_faults(verdicts: Verdicts) -> dict[int, str]:
    """Return the first fault of each tetrahedron that a verdict points at."""
    faults: dict[int, str] = {}
    for i in verdicts.failures.get("reach", ()):
        faults.setdefault(i, "out of reach")
    for i in verdicts.failures.get("unit_quaternions", ()):
        faults.setdefault(i, "quaternion not of length 1")
    for a, b, *_ in verdicts.metrics.get("cutting_pairs", ()):
        faults.setdefault(a, f"cuts {b}")
        faults.setdefault(b, f"cuts {a}")
    return faults


def shadow_plan(
    arrangement: Arrangement, target: Polygon, metrics: Mapping[str, Any]
) -> Drawing:
    """Return the target from above with the shadow, gaps, spill and outlines of the bodies."""
    hulls = [
        shapely.MultiPoint(body).convex_hull
        for body in arrangement.bodies[:, :, :2].tolist()
    ]
    # The whole shadow is in view, unless it is extremely far away.
    extent = shapely.union_all([target, *hulls])
    drawing = Drawing(frame_around(extent, MARGIN))
    shadow = shapely.union_all(hulls)
    fill(drawing, target.intersection(shadow), "right", opacity=0.35)
    fill(drawing, shadow.difference(target), "surplus", opacity=0.2)
    for spill in metrics.get("spills", ()):
        fill(drawing, polygon_of(spill), "surplus", opacity=0.6)
    for gap in metrics.get("gaps", ()):
        shape = polygon_of(gap)
        fill(drawing, shape, "missing", hatched=True)
        draw_rings(drawing, shape, "missing", width=1)
    draw_outlines(drawing, arrangement, hulls)
    draw_rings(drawing, target)
    return drawing


def polygon_of(shape: Mapping[str, Any]) -> Polygon:
    """Return an area of the verdict's metrics."""
    return Polygon(shape["exterior"], shape["holes"])


def draw_outlines(
    drawing: Drawing, arrangement: Arrangement, hulls: Sequence[BaseGeometry]
) -> None:
    """Draw the outline of each body from above; faulty ones are on top."""
    faulty = arrangement.faulty.tolist()
    for k in sorted(range(len(hulls)), key=lambda k: bool(faulty[k])):
        i = arrangement.positions[k]
        outline = shapely.get_coordinates(hulls[k])[:-1].tolist()
        tip = f"tetrahedron {i}"
        if faulty[k]:
            tip = f"{tip}: {arrangement.faults[i]}"
            drawing.line(outline, "wrong", closed=True, width=2.2, tip=tip)
        else:
            drawing.line(outline, "quiet", closed=True, width=0.7, tip=tip)


def draw_rings(
    drawing: Drawing, shape: Polygon, role: str = "target", width: float = 2
) -> None:
    """Draw the outline of a polygon and those of its holes."""
    for ring in (shape.exterior, *shape.interiors):
        drawing.line(ring.coords[:-1], role, closed=True, width=width)


def bodies_in_space(arrangement: Arrangement, target: Polygon) -> tuple[str, Scene]:
    """Return a title, and the bodies above the target with their shadows on it."""
    title = "in space"
    bodies = squeezed_stack(arrangement.bodies, target)
    if bodies is None:
        bodies = arrangement.bodies
    else:
        title = "in 3D, heights squeezed"
    faulty = arrangement.faulty
    floor = min(0.0, float(bodies[:, :, 2].min(initial=0.0))) - 0.3
    parts: list[Shape] = []
    for mask, role, opacity, name in (
        (~faulty, "answer", 0.75, "tetrahedra"),
        (faulty, "wrong", 0.9, "faulty tetrahedra"),
    ):
        if mask.any():
            rims = edges_of(bodies[mask], EDGES)
            mesh = body_mesh(
                bodies[mask], role, opacity=opacity, name=name, outline=rims
            )
            parts.append(mesh)
    if len(bodies):
        # The shadow of a body is that of its four faces.
        flat = bodies.copy()
        flat[:, :, 2] = floor - 0.01
        parts.append(body_mesh(flat, "faint", name="shadow"))
    rings = []
    for ring in (target.exterior, *target.interiors):
        corners = shapely.get_coordinates(ring)
        rings.append(np.insert(corners, 2, floor, axis=1))
    parts.append(Lines(tuple(rings), "target", 3, name="target"))
    parts += fault_labels(arrangement, bodies)
    # The view is not along a side of a square or an equilateral triangle, which would look cut off.
    return title, Scene(tuple(parts), azimuth=-40, elevation=30)


def squeezed_stack(bodies: Floats, target: Polygon) -> Floats | None:
    """Return the bodies of a high stack squeezed together; None for other arrangements."""
    x, _, u, _ = target.bounds
    limit = SLIM * (u - x)
    middles = bodies[:, :, 2].mean(axis=1)
    if not len(middles) or float(np.ptp(middles)) <= limit:
        return None
    low = float(middles.min())
    shift = (middles - low) * (1 - limit / float(np.ptp(middles)))
    squeezed = bodies.copy()
    squeezed[:, :, 2] -= shift[:, None]
    return squeezed


def body_mesh(
    bodies: Floats,
    role: str,
    *,
    opacity: float = 1.0,
    name: str,
    outline: tuple[Floats, ...] = (),
) -> Mesh:
    """Return tetrahedra, by their corners (n, 4, 3), as one mesh."""
    faces = FACES[None] + 4 * np.arange(len(bodies))[:, None, None]
    points = bodies.reshape(-1, 3)
    return Mesh(points, faces.reshape(-1, 3), role, opacity, name, outline)


def fault_labels(arrangement: Arrangement, bodies: Floats) -> list[Marks]:
    """Return a label in each faulty body, unless there are too many to read."""
    faulty = np.flatnonzero(arrangement.faulty).tolist()[:MOST_MARKS]
    if not faulty or len(arrangement.faults) > MOST_MARKS:
        return []
    labels = []
    for k in faulty:
        i = arrangement.positions[k]
        labels.append(f"{i} {arrangement.faults[i]}")
    return [Marks(bodies[faulty].mean(axis=1), "wrong", 0, tuple(labels))]


def side_view(arrangement: Arrangement, target: Polygon) -> tuple[str, Drawing]:
    """Return a title and the bodies' edges seen along y; a tall stack lies on its side."""
    ends = np.array([[target.bounds[0], 0.0], [target.bounds[2], 0.0]])
    flat = arrangement.bodies[:, :, [0, 2]]
    points = np.concatenate([ends, flat.reshape(-1, 2)])
    low = points.min(axis=0)
    high = points.max(axis=0)
    title = "from the side: x to the right, z up"
    size = 340
    if float(high[1] - low[1]) > SLIM * float(high[0] - low[0]):
        title = "from the side: z to the right, x up"
        size = 680
        flat = flat[..., ::-1]
        ends = ends[:, ::-1]
        low = low[::-1]
        high = high[::-1]
    margin = 0.04 * float(np.max(high - low))
    frame = (*(low - margin).tolist(), *(high + margin).tolist())
    drawing = Drawing(frame, size=size)
    right_edges = []
    wrong_edges = []
    for body, i in zip(flat.tolist(), arrangement.positions, strict=True):
        edges = [[body[a], body[b]] for a, b in EDGES]
        if i in arrangement.faults:
            wrong_edges += edges
        else:
            right_edges += edges
    drawing.strokes(right_edges, "answer", width=0.8)
    drawing.strokes(wrong_edges, "wrong", width=1.8)
    drawing.line(ends.tolist(), "target", width=4, tip="the target, edge on")
    return title, drawing


def answer_caption(answer: Answer, arrangement: Arrangement, verdicts: Verdicts) -> str:
    """Return the figures of an answer."""
    count = len(answer.tetrahedrons)
    parts = [counted(count, "tetrahedron", "tetrahedra")]
    if count > MOST_BODIES:
        parts.append(f"the first {MOST_BODIES} are drawn")
    if arrangement.far:
        parts.append(f"{arrangement.far} far outside the picture, drawn at its edge")
    if verdicts:
        metrics = verdicts.metrics
        if "covered" in metrics:
            parts.append(f"the shadow covers {metrics['covered']:.1%} of the target")
            parts.append(f"{metrics['spill']:.1%} is spill")
        parts += verdicts.faults(FAULTS)
        parts.append(verdicts.fraction)
    return "; ".join(parts) + "."
