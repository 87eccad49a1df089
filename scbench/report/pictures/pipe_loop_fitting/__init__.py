"""A loop of pipes in its square: what is asked of it drawn around it, and every place it fails."""

from collections.abc import Iterator, Sequence
from typing import Any

from scbench.base.model import Verdict
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, failures, fraction
from scbench.report.pictures.pipe_loop_fitting.loop_overlays import asked_for, draw_asked, gauges_of
from scbench.report.pictures.pipe_loop_fitting.plane import XY, angle, contact, crossing, hull
from scbench.report.pictures.shared.gauges import Gauge, check_of, gauge_panels, passed
from scbench.schemas.pipe_loop_fitting import Answer, FixedStart, HullArea, Params

_MOST_JOINTS = 2_500
"""Joints drawn of a longer list."""
_LABELLED = 12
"""Up to so many wrong lengths or angles are written beside their place."""
_OUTSIDE = 1.2
"""How far outside the square joints are drawn, in sides of it."""


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """Draw the square and what is asked; with an answer its loop, and where it breaks a rule."""
    words = asked_for(params)
    task_words = f"{params.pipes} pipes of 1 m, one loop in a square of {params.side} m"
    if answer is None:
        drawing = _square(params, ())
        draw_asked(drawing, params, ())
        for i, line in enumerate(words):
            shift = (0, 18 * (i - (len(words) - 1) / 2))
            drawing.text((params.side / 2, params.side / 2), line, size=12, shift=shift)
        caption = "; ".join((task_words, *words)) + "."
        return Picture((Panel("the square", drawing, caption),), caption)
    joints = [(point.x, point.y) for point in answer.points[:_MOST_JOINTS]]
    drawing = _square(params, joints)
    draw_asked(drawing, params, verdicts)
    legend: list[tuple[str, str]] = []
    _draw_loop(drawing, params, joints, verdicts, legend)
    caption = _caption(params, answer, verdicts)
    panels = [Panel("the loop", drawing, caption)]
    panels += gauge_panels(_gauges(params, answer, verdicts))
    return Picture(tuple(panels), caption, tuple(legend))


def _square(params: Params, joints: Sequence[XY]) -> Drawing:
    side = params.side
    low, high = -_OUTSIDE * side, (1 + _OUTSIDE) * side
    xs, ys = ([min(max(p[i], low), high) for p in joints] for i in range(2))
    pad = 0.03 * side
    frame = (
        min(0.0, *xs, 0.0) - pad,
        min(0.0, *ys, 0.0) - pad,
        max(side, *xs, side) + pad,
        max(side, *ys, side) + pad,
    )
    size = 360 if side <= 8 else 500 if side <= 16 else 680
    drawing = Drawing(frame, size=size)
    if side <= 60:
        drawing.strokes([[(i, 0), (i, side)] for i in range(1, side)], "faint", width=0.6)
        drawing.strokes([[(0, i), (side, i)] for i in range(1, side)], "faint", width=0.6)
    drawing.line([(0, 0), (side, 0), (side, side), (0, side)], "given", closed=True, width=5)
    drawing.text((0, 0), 0, "quiet", size=9, shift=(-7, 8))
    drawing.text((side, 0), f"{side} m", "quiet", size=9, shift=(-4, 10))
    return drawing


def _draw_loop(
    drawing: Drawing,
    params: Params,
    joints: Sequence[XY],
    verdicts: Sequence[Verdict],
    legend: list[tuple[str, str]],
) -> None:
    if not joints:
        return
    failed = failures(verdicts)
    role = "right" if verdicts and verdicts[0].score == 1 else "answer"
    if any(isinstance(constraint, HullArea) for constraint in params.constraints):
        drawing.line(hull(joints), "note", dashed=True, closed=True, width=1.5, tip="hull")
        legend.append(("note", "dashed: convex hull of the joints"))
    thick = min(max(drawing.scale / 14, 1.2), 3)
    drawing.line(joints, role, width=thick, closed=True)
    if drawing.scale > 9:
        for i, joint in enumerate(joints):
            drawing.dot(joint, role, radius=min(thick + 0.5, 3), tip=f"joint {i}")
    legend.insert(0, (role, "the loop, from the dot"))
    kinds = {
        "pipes of a wrong length": _mark_lengths(drawing, joints, failed.get("length", ())),
        "crossings and touches": _mark_meetings(drawing, joints, verdicts),
        "joints that break a rule": _mark_joints(drawing, joints, verdicts),
    }
    words = [name for name, there in kinds.items() if there]
    if words:
        legend.append(("wrong", ", ".join(words)))
    if params.crossings and passed(verdicts, "crossings"):
        legend.append(("right", "ringed: crossings, as many as asked"))
    start = joints[0]
    if len(joints) > 1:
        (ax, ay), (bx, by) = start, joints[1]
        tip = (ax + 0.7 * (bx - ax), ay + 0.7 * (by - ay))
        drawing.line([start, tip], "ink", width=max(thick * 0.7, 1.2), arrow=True)
    drawing.dot(start, "ink", radius=5, tip="joint 0")
    for constraint in params.constraints:
        if isinstance(constraint, FixedStart) and passed(verdicts, constraint.type) is False:
            drawing.ring(start, "wrong", radius=9, width=3, tip="the start is out of place")
            drawing.line(
                [start, (constraint.x, constraint.y)], "wrong", dashed=True, width=2, arrow=True
            )


def _pipe(joints: Sequence[XY], i: int) -> tuple[XY, XY]:
    return joints[i], joints[(i + 1) % len(joints)]


def _mark_lengths(drawing: Drawing, joints: Sequence[XY], wrong: Sequence[int]) -> bool:
    thick = min(max(drawing.scale / 8, 2.5), 5)
    for i in wrong:
        if i >= len(joints):
            continue
        a, b = _pipe(joints, i)
        length = ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5
        long = length > 1
        words = f"{length:.2f} m"
        drawing.line((a, b), "wrong", width=thick, dashed=not long, tip=f"pipe {i}: {words}")
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        if drawing.scale < 20:
            drawing.ring(middle, "wrong", radius=9, width=2.5)
        if len(wrong) <= _LABELLED:
            drawing.text(middle, words, "wrong", size=10, shift=(0, -12), bold=True)
    return bool(wrong)


def _mark_meetings(drawing: Drawing, joints: Sequence[XY], verdicts: Sequence[Verdict]) -> bool:
    crossings = check_of(verdicts, "crossings")
    wrong = False
    if crossings is not None:
        ok = crossings.passed
        for i, j in crossings.details.get("pipes", ()):
            if max(i, j) < len(joints):
                place = crossing(_pipe(joints, i), _pipe(joints, j))
                role = "right" if ok else "wrong"
                tip = f"pipes {i} and {j} cross"
                drawing.ring(place, role, radius=8, width=2 if ok else 3, tip=tip)
                wrong = wrong or not ok
    for i, j in failures(verdicts).get("touches", ()):
        if max(i, j) < len(joints):
            place = contact(_pipe(joints, i), _pipe(joints, j))
            tip = f"pipes {i} and {j} touch"
            drawing.ring(place, "wrong", radius=8, width=3, tip=tip)
            wrong = True
    return wrong


def _mark_joints(drawing: Drawing, joints: Sequence[XY], verdicts: Sequence[Verdict]) -> bool:
    """Ring the joints that verdicts point at, and write what is wrong with them."""
    failed = failures(verdicts)
    marks: list[tuple[int, str, str]] = []
    marks += [(i, "outside", "") for i in failed.get("inside", ())]
    for kind in ("angle_range", "hairpins"):
        labelled = len(failed.get(kind, ())) <= _LABELLED
        for i in failed.get(kind, ()):
            degrees = f"{angle(joints, i):.4g}°" if i < len(joints) else ""
            marks.append((i, f"angle {degrees}", degrees if labelled else ""))
    marks += [(i, "too near a wall", "") for i in failed.get("avoid_margin", ())]
    marks += [(j, f"the same as joint {i}", "") for i, j in failed.get("repeats", ())]
    for i, tip, words in marks:
        if i < len(joints):
            place = drawing.nearest(joints[i])
            drawing.ring(place, "wrong", radius=7, width=2.5, tip=f"joint {i}: {tip}")
            if words:
                drawing.text(place, words, "wrong", size=10, shift=(0, -15), bold=True)
    for i, j in failed.get("min_point_separation", ()):
        if max(i, j) < len(joints):
            drawing.line([joints[i], joints[j]], "wrong", width=4, tip="too near each other")
            drawing.ring(joints[i], "wrong", radius=6)
            drawing.ring(joints[j], "wrong", radius=6)
            marks.append((i, "", ""))
    run = check_of(verdicts, "max_straight_run")
    if run is not None and run.passed is False:
        row = [i for i in run.details.get("joints", ()) if i < len(joints)]
        if row:
            n = len(joints)
            path = [joints[(row[0] - 1) % n], *(joints[i] for i in row), joints[(row[-1] + 1) % n]]
            drawing.line(path, "wrong", width=6, opacity=0.6, tip="too long a straight run")
            marks.append((row[0], "", ""))
    return bool(marks)


def _gauges(params: Params, answer: Answer, verdicts: Sequence[Verdict]) -> Iterator[Gauge]:
    if not verdicts:
        return
    n = len(answer.points)
    count = passed(verdicts, "count")
    if count is False or passed(verdicts, "resource_limit") is False:
        yield Gauge("joints", n, params.pipes, False, "exactly")
    crossings = check_of(verdicts, "crossings")
    if crossings is not None and "count" in crossings.details:
        count_crossings = crossings.details["count"]
        if params.crossings or count_crossings:
            yield Gauge("crossings", count_crossings, params.crossings, crossings.passed, "exactly")
    metrics = verdicts[0].metrics
    if passed(verdicts, "length") is False:
        upper = 1 + params.length_tolerance
        lower = 1 - params.length_tolerance
        if metrics["longest"] > upper:
            yield Gauge("longest pipe", metrics["longest"], upper, False, "at most", " m")
        if metrics["shortest"] < lower:
            yield Gauge("shortest pipe", metrics["shortest"], lower, False, "at least", " m")
    yield from gauges_of(params, verdicts)


def _caption(params: Params, answer: Answer, verdicts: Sequence[Verdict]) -> str:
    n = len(answer.points)
    summary = f"{n} of {params.pipes} joints" if n != params.pipes else f"{n} joints"
    if n > _MOST_JOINTS:
        summary += f", the first {_MOST_JOINTS} drawn"
    if not verdicts:
        return f"{summary}."
    faults: list[str] = []
    words: dict[str, str] = {
        "inside": "outside the square",
        "length": "pipes of a wrong length",
        "repeats": "joints used twice",
        "touches": "touches",
        "hairpins": "hairpins",
        "angle_range": "angles out of range",
        "avoid_margin": "joints too near a wall",
        "min_point_separation": "pairs of joints too near each other",
    }
    for check in verdicts[0].checks:
        if check.passed is not False:
            continue
        count: Any = check.details.get("count", 0)
        if check.id in words:
            limit_note = " (50 marked)" if count > 50 else ""
            noun = words[check.id] if count != 1 else _singular(words[check.id])
            faults.append(f"{count} {noun}{limit_note}")
        elif check.id == "crossings":
            faults.append(f"{count} crossing{'s' * (count != 1)}")
        elif check.id == "coverage_quadrants":
            faults.append(f"{count} empty quadrant{'s' * (count > 1)}")
        elif check.id in _UNCOUNTED:
            faults.append(_UNCOUNTED[check.id])
    return f"{'; '.join((summary, *faults))}; {fraction(verdicts)}."


_UNCOUNTED = {
    "centroid_box": "the mean of the joints out of its box",
    "must_touch_boundary": "too few walls touched",
    "min_turns": "too few turns",
    "max_straight_run": "too long a straight run",
    "min_convex_hull_area": "too small a hull",
    "fixed_start": "a start out of place",
    "resource_limit": "far too many",
}


def _singular(words: str) -> str:
    head, _, tail = words.partition(" ")
    return (
        f"{head.removesuffix('es') if head == 'touches' else head.removesuffix('s')} {tail}".strip()
    )
