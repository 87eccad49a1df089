"""Points and triangles: what was listed, what is wrong with it, what is missing."""

from collections.abc import Sequence

from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.delaunay_triangulation import Answer, Params

# Triangles drawn of an answer that lists more.
_MOST_TRIANGLES = 400
# Missing triangles up to which each has a thick outline.
_MOST_OUTLINES = 12


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the points; with an answer its triangles, wrong ones shaded with their circles."""
    points = params.points
    n = len(points)
    xs, ys = zip(*points, strict=True)
    pad = 0.06 * max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    drawing = Drawing(
        (min(xs) - pad, min(ys) - pad, max(xs) + pad, max(ys) + pad), size=380
    )
    legend: Legend = []
    caption = f"{n} points to be joined into triangles with empty circumcircles."
    if answer is not None:
        caption = _draw_answer(drawing, params, answer, verdicts, legend)
    for i, point in enumerate(points):
        drawing.dot(
            point, "ink", radius=2.5, tip=f"point {i} at {point[0]:g}, {point[1]:g}"
        )
        drawing.name(point, i)
    return Picture(
        (Panel("points and triangles", drawing, caption),), caption, tuple(legend)
    )


def _draw_answer(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts, legend: Legend
) -> str:
    points = params.points
    n = len(points)
    drawable = [t for t in answer.triangles if max(t) < n and len(set(t)) == 3][
        :_MOST_TRIANGLES
    ]
    failed = verdicts.failures
    metrics = verdicts.metrics
    surplus = {tuple(t) for t in metrics.get("surplus", ())}
    missing = [tuple(t) for t in metrics.get("missing", ())][:_MOST_TRIANGLES]
    for triangle in missing:
        drawing.area(
            [points[i] for i in triangle], "missing", hatched=True, opacity=0.5
        )
    for triangle in drawable:
        corners = [points[i] for i in triangle]
        wrong = tuple(sorted(triangle)) in surplus
        role, opacity, width = ("surplus", 0.3, 2) if wrong else ("right", 0.12, 1.5)
        tip = f"triangle {list(triangle)}"
        drawing.area(corners, role, opacity=opacity, edge=role, width=width, tip=tip)
    for triangle in missing:  # on top: a sliver shows by its outline alone
        corners = [points[i] for i in triangle]
        width = 2.5 if len(missing) <= _MOST_OUTLINES else 1
        tip = f"triangle {list(triangle)} is missing"
        drawing.line(corners, "missing", closed=True, dashed=True, width=width, tip=tip)
    for a, b, c, inside in failed.get("empty_circle", ())[:8]:
        circle = _circle(points[a], points[b], points[c])
        if circle:
            drawing.ring(
                circle[0], "wrong", radius=circle[1], units="task", width=1, dashed=True
            )
        drawing.ring(
            points[inside],
            "wrong",
            radius=8,
            width=2.5,
            tip=f"point {inside} is inside",
        )
    for triangle in failed.get("repeats", ())[:50]:
        tip = f"triangle {triangle} is listed more than once"
        drawing.line(
            [points[i] for i in triangle], "wrong", closed=True, width=3.5, tip=tip
        )
    for edge in failed.get("overlap", ())[:50]:
        drawing.line([points[i] for i in edge], "wrong", width=3.5)
    for i in failed.get("all_points", ())[:50]:
        drawing.ring(
            points[i], "wrong", radius=8, width=2.5, tip=f"point {i} is in no triangle"
        )
    legend += [
        ("right", "listed, and right" if verdicts else "listed"),
        ("surplus", "listed, but wrong"),
        ("missing", "of a right answer, not listed"),
    ]
    marked = texts("delaunay_triangulation.marked")
    legend += wrong_line(
        {words: failed.get(check_id) for check_id, words in marked.items()}
    )
    summary = f"{len(answer.triangles)} triangles listed"
    if not verdicts:
        return f"{summary}."
    if not missing and not surplus and not failed:
        return f"{summary}; {verdicts.fraction}."
    lost = len(metrics.get("missing", ()))
    return f"{summary}; {lost} missing, {len(surplus)} that do not belong; {verdicts.fraction}."


def _circle(
    a: Sequence[float], b: Sequence[float], c: Sequence[float]
) -> tuple[tuple[float, float], float] | None:
    """Return centre and radius of the circle through three points; None if they are in line."""
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    d = 2 * (bx * cy - by * cx)
    if d == 0:
        return None
    ux = (cy * (bx * bx + by * by) - by * (cx * cx + cy * cy)) / d
    uy = (bx * (cx * cx + cy * cy) - cx * (bx * bx + by * by)) / d
    return (a[0] + ux, a[1] + uy), (ux * ux + uy * uy) ** 0.5
