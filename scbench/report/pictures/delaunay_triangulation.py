"""Points, the triangles of an answer with their faults, and the triangles that are missing."""

from collections.abc import Sequence
from typing import NamedTuple

from scbench.base.wording import counted
from scbench.report.draw.canvas import frame_around
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas.delaunay_triangulation import Answer, Params

# Maximum number of triangles drawn.
_MOST_TRIANGLES = 400
# Maximum number of missing triangles with thick outlines.
_MOST_OUTLINES = 12
# Maximum number of circles, and of other marks of one kind.
_MOST_CIRCLES = 8
_MOST_MARKS = 50
# How faults are marked, by check id.
_MARKED = {
    "empty_circle": "dashed: a circumcircle with a point inside (ringed)",
    "repeats": "thick: a triangle listed twice",
    "overlap": "thick: an edge where triangles overlap",
    "all_points": "ringed: a point in no triangle",
}
# Faults of the list in words, by check id.
_FORM = {"indices": "{n} with invalid indices", "repeats": "{n} repeated"}


class Circle(NamedTuple):
    """A circle in the task's coordinates."""

    centre: tuple[float, float]
    radius: float


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the points; with an answer, its triangles and the circles of wrong ones."""
    xs, ys = zip(*params.points, strict=True)
    pad = 0.06 * max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    drawing = Drawing(frame_around(xs, ys, pad), size=380)
    legend: Legend = []
    count = len(params.points)
    caption = f"{count} points. Which triangles between them have empty circumcircles?"
    if answer is not None:
        draw_triangles(drawing, params, answer, verdicts)
        mark_faults(drawing, params, verdicts)
        legend = [
            ("right", "listed, and right" if verdicts else "listed"),
            ("surplus", "listed, but wrong"),
            ("missing", "in a right answer, but not listed"),
        ]
        failed = verdicts.failures
        legend += wrong_line(
            {words: failed.get(check_id) for check_id, words in _MARKED.items()}
        )
        caption = answer_caption(answer, verdicts)
    # Points come last, so that no triangle hides one.
    for i, point in enumerate(params.points):
        tip = f"point {i} at {point[0]:g}, {point[1]:g}"
        drawing.dot(point, "ink", radius=2.5, tip=tip)
        drawing.name(point, i)
    panel = Panel("points and triangles", drawing, caption)
    return Picture((panel,), caption, tuple(legend))


def draw_triangles(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts
) -> None:
    """Draw the triangles of an answer and those that are missing."""
    points = params.points
    metrics = verdicts.metrics
    surplus = {tuple(triangle) for triangle in metrics.get("surplus", ())}
    missing = metrics.get("missing", ())[:_MOST_TRIANGLES]
    for triangle in missing:
        corners = [points[i] for i in triangle]
        drawing.area(corners, "missing", hatched=True, opacity=0.5)
    drawable = [
        triangle
        for triangle in answer.triangles
        if max(triangle) < len(points) and len(set(triangle)) == 3
    ]
    for triangle in drawable[:_MOST_TRIANGLES]:
        corners = [points[i] for i in triangle]
        role = "right"
        opacity = 0.12
        width = 1.5
        if tuple(sorted(triangle)) in surplus:
            role = "surplus"
            opacity = 0.3
            width = 2
        tip = f"triangle {list(triangle)}"
        drawing.area(corners, role, opacity=opacity, edge=role, width=width, tip=tip)
    # Outlines are drawn again on top, because nothing else of a sliver is visible.
    width = 2.5 if len(missing) <= _MOST_OUTLINES else 1
    for triangle in missing:
        corners = [points[i] for i in triangle]
        tip = f"triangle {list(triangle)} is missing"
        drawing.line(corners, "missing", closed=True, dashed=True, width=width, tip=tip)


def mark_faults(drawing: Drawing, params: Params, verdicts: Verdicts) -> None:
    """Mark the circles, triangles, edges and points that failed checks name."""
    points = params.points
    failed = verdicts.failures
    for a, b, c, inside in failed.get("empty_circle", ())[:_MOST_CIRCLES]:
        circle = circumcircle(points[a], points[b], points[c])
        if circle:
            drawing.ring(
                circle.centre,
                "wrong",
                radius=circle.radius,
                units="task",
                width=1,
                dashed=True,
            )
        ring_point(drawing, points[inside], f"point {inside} is inside")
    for triangle in failed.get("repeats", ())[:_MOST_MARKS]:
        corners = [points[i] for i in triangle]
        tip = f"triangle {triangle} is listed more than once"
        drawing.line(corners, "wrong", closed=True, width=3.5, tip=tip)
    for edge in failed.get("overlap", ())[:_MOST_MARKS]:
        drawing.line([points[i] for i in edge], "wrong", width=3.5)
    for i in failed.get("all_points", ())[:_MOST_MARKS]:
        ring_point(drawing, points[i], f"point {i} is in no triangle")


def ring_point(drawing: Drawing, point: Sequence[float], tip: str) -> None:
    """Draw a ring around a point that breaks a rule."""
    drawing.ring(point, "wrong", radius=8, width=2.5, tip=tip)


def answer_caption(answer: Answer, verdicts: Verdicts) -> str:
    """Return the caption of an answer."""
    summary = f"{counted(len(answer.triangles), 'triangle')} listed"
    if not verdicts:
        return f"{summary}."
    missing = len(verdicts.metrics.get("missing", ()))
    surplus = len(verdicts.metrics.get("surplus", ()))
    faults = verdicts.faults(_FORM)
    if surplus:
        faults.append(f"{surplus} wrong")
    if missing:
        faults.append(f"{missing} missing")
    return f"{'; '.join([summary, *faults, verdicts.fraction])}."


def circumcircle(
    a: Sequence[float], b: Sequence[float], c: Sequence[float]
) -> Circle | None:
    """Return the circle through three points; None if they are collinear."""
    # Coordinates relative to a; d is four times the area of the triangle.
    bx = b[0] - a[0]
    by = b[1] - a[1]
    cx = c[0] - a[0]
    cy = c[1] - a[1]
    d = 2 * (bx * cy - by * cx)
    if d == 0:
        return None
    b_square = bx * bx + by * by
    c_square = cx * cx + cy * cy
    ux = (cy * b_square - by * c_square) / d
    uy = (bx * c_square - cx * b_square) / d
    radius = (ux * ux + uy * uy) ** 0.5
    return Circle((a[0] + ux, a[1] + uy), radius)
