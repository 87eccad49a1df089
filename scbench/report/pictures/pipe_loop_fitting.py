"""A loop of pipes in its square: what is asked of it drawn around it, and every place it fails."""

import math
from collections.abc import Iterator, Sequence

from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas import pipe_loop_fitting as schema
from scbench.schemas.pipe_loop_fitting import Answer, Params

XY = tuple[float, float]
Piece = tuple[XY, XY]


# Joints drawn of a longer list.
_MOST_JOINTS = 2_500
# Up to so many wrong lengths or angles are written beside their place.
_LABELLED = 12
# How far outside the square joints are drawn, in sides of it.
_OUTSIDE = 1.2


def crossing(first: Piece, second: Piece) -> XY:
    """Return where two straight pieces that cross do so."""
    (ax, ay), (bx, by) = first
    (cx, cy), (dx, dy) = second
    bottom = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if bottom == 0:
        return contact(first, second)
    share = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / bottom
    share = min(max(share, 0.0), 1.0)
    return ax + share * (bx - ax), ay + share * (by - ay)


def contact(first: Piece, second: Piece) -> XY:
    """Return where two straight pieces that do not cross come nearest to each other."""
    tries = [(_piece_distance(p, second), p) for p in first] + [
        (_piece_distance(p, first), p) for p in second
    ]
    return min(tries)[1]


def _piece_distance(p: XY, piece: Piece) -> float:
    (ax, ay), (bx, by) = piece
    ux, uy = bx - ax, by - ay
    square = ux * ux + uy * uy
    share = 0.0 if square == 0 else ((p[0] - ax) * ux + (p[1] - ay) * uy) / square
    share = min(max(share, 0.0), 1.0)
    x, y = p[0] - ax - share * ux, p[1] - ay - share * uy
    return math.hypot(x, y)


def angle(points: Sequence[XY], i: int) -> float:
    """Return the angle inside a closed line at one of its points, in degrees."""
    (ax, ay), (bx, by), (cx, cy) = (
        points[i - 1],
        points[i],
        points[(i + 1) % len(points)],
    )
    turn = math.atan2(ay - by, ax - bx) - math.atan2(cy - by, cx - bx)
    return abs(math.degrees(math.remainder(turn, 2 * math.pi)))


def hull(points: Sequence[XY]) -> list[XY]:
    """Return the corners of the convex hull of points, counter-clockwise."""
    ordered = sorted(set(points))
    corners: list[XY] = []
    for chain in (ordered, ordered[::-1]):
        base = len(corners)
        for x, y in chain:
            while len(corners) >= base + 2:
                (ax, ay), (bx, by) = corners[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                corners.pop()
            corners.append((x, y))
        corners.pop()
    return corners


def asked_for(params: Params) -> list[str]:
    """Return what the loop must keep, in a few words each."""
    words = texts("pipe_loop_fitting.constraints")
    n = params.crossings
    crossings = f"{n} crossing{'s' * (n > 1)}" if n else "no crossing"
    return [crossings, *(words[type(c).__name__].format(c) for c in params.constraints)]


def draw_asked(drawing: Drawing, params: Params, verdicts: Verdicts) -> None:
    """Draw the lines, boxes and walls that constraints are about, those not kept as wrong."""
    for constraint in params.constraints:
        match constraint:
            case schema.CoverQuadrants():
                _quadrants(drawing, params.side, verdicts)
            case schema.WallMargin():
                low, high = constraint.margin, params.side - constraint.margin
                role = "wrong" if verdicts.failed(constraint.type) else "note"
                corners = rectangle((low, low), (high, high))
                drawing.line(corners, role, dashed=True, closed=True, tip="margin")
            case schema.CentroidBox():
                _centroid(drawing, constraint, verdicts)
            case schema.TouchWalls():
                _walls(drawing, params.side, verdicts)
            case schema.FixedStart():
                role = "wrong" if verdicts.failed(constraint.type) else "note"
                place, radius = (constraint.x, constraint.y), constraint.tolerance
                drawing.ring(
                    place, role, radius=radius, units="task", dashed=True, tip="start"
                )
                if role == "wrong":
                    drawing.text(
                        place, "start here", "wrong", size=10, shift=(0, -16), bold=True
                    )


def _quadrants(drawing: Drawing, side: int, verdicts: Verdicts) -> None:
    half = side / 2
    drawing.line([(half, 0), (half, side)], "note", dashed=True)
    drawing.line([(0, half), (side, half)], "note", dashed=True)
    for name in verdicts.failures.get("coverage_quadrants", ()):
        x = half if "right" in name else 0.0
        y = half if "top" in name else 0.0
        tip = f"no joint in the {name} quadrant"
        drawing.box(
            (x, y), (x + half, y + half), "missing", hatched=True, opacity=0.5, tip=tip
        )


def _centroid(
    drawing: Drawing, constraint: schema.CentroidBox, verdicts: Verdicts
) -> None:
    low, high = (constraint.xmin, constraint.ymin), (constraint.xmax, constraint.ymax)
    drawing.box(
        low, high, "note", opacity=0.25, edge="note", tip="where the mean must lie"
    )
    check = verdicts.check(constraint.type)
    if check is not None and "centroid" in check.details:
        role = "right" if check.passed else "wrong"
        place = check.details["centroid"]
        drawing.dot(place, role, radius=5, tip="mean of the joints")
        drawing.ring(place, role, radius=9, width=2.5)
        if not check.passed:
            middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
            drawing.line([place, middle], role, dashed=True, arrow=True)


def _walls(drawing: Drawing, side: int, verdicts: Verdicts) -> None:
    check = verdicts.check("must_touch_boundary")
    if check is None or "touched" not in check.details:
        return
    corners = rectangle((0, 0), (side, side))
    ends = {
        "left": (corners[0], corners[3]),
        "right": corners[1:3],
        "bottom": corners[:2],
        "top": (corners[3], corners[2]),
    }
    for wall, line in ends.items():
        if wall in check.details["touched"]:
            drawing.line(line, "right", width=4.5, tip=f"the {wall} wall is touched")
        elif not check.passed:
            tip = f"the {wall} wall is not touched"
            drawing.line(line, "wrong", width=4.5, dashed=True, tip=tip)


def gauges_of(params: Params, verdicts: Verdicts) -> Iterator[Gauge]:
    """Yield a bar for every constraint that is a figure, where the verdict has it."""
    for constraint in params.constraints:
        check = verdicts.check(constraint.type)
        if check is None:
            continue
        details, ok = check.details, check.passed
        match constraint:
            case schema.TouchWalls() if "touched" in details:
                yield Gauge(
                    "walls touched", len(details["touched"]), constraint.walls, ok
                )
            case schema.MinTurns() if "turns" in details:
                yield Gauge("turns", details["turns"], constraint.turns, ok)
            case schema.MaxStraightRun() if "length" in details:
                name = "straight joints in a row"
                yield Gauge(name, details["length"], constraint.joints, ok, "at most")
            case schema.HullArea() if "area" in details:
                yield Gauge("hull", details["area"], constraint.area, ok, unit=" m²")
            case schema.FixedStart() if "distance" in details:
                limit = constraint.tolerance
                yield Gauge(
                    "start off by", details["distance"], limit, ok, "at most", " m"
                )


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the square and what is asked; with an answer its loop, and where it breaks a rule."""
    words = asked_for(params)
    task_words = f"{params.pipes} pipes of 1 m, one loop in a square of {params.side} m"
    if answer is None:
        drawing = _square_drawing(params, ())
        draw_asked(drawing, params, Verdicts())
        for i, line in enumerate(words):
            shift = (0, 18 * (i - (len(words) - 1) / 2))
            drawing.text((params.side / 2, params.side / 2), line, size=12, shift=shift)
        caption = "; ".join((task_words, *words)) + "."
        return Picture((Panel("the square", drawing, caption),), caption)
    joints = [(point.x, point.y) for point in answer.points[:_MOST_JOINTS]]
    drawing = _square_drawing(params, joints)
    draw_asked(drawing, params, verdicts)
    legend: Legend = []
    _draw_loop(drawing, params, joints, verdicts, legend)
    caption = _caption(params, answer, verdicts)
    panels = [Panel("the loop", drawing, caption)]
    panels += gauge_panels(_gauges(params, answer, verdicts))
    return Picture(tuple(panels), caption, tuple(legend))


def _square_drawing(params: Params, joints: Sequence[XY]) -> Drawing:
    side = params.side
    low, high = -_OUTSIDE * side, (1 + _OUTSIDE) * side
    xs, ys = ([min(max(p[i], low), high) for p in joints] for i in range(2))
    pad = 0.03 * side
    left_edge, bottom = min(0.0, *xs, 0.0) - pad, min(0.0, *ys, 0.0) - pad
    frame = (left_edge, bottom, max(side, *xs, side) + pad, max(side, *ys, side) + pad)
    size = 360 if side <= 8 else 500 if side <= 16 else 680
    drawing = Drawing(frame, size=size)
    if side <= 60:
        drawing.strokes(
            [[(i, 0), (i, side)] for i in range(1, side)], "faint", width=0.6
        )
        drawing.strokes(
            [[(0, i), (side, i)] for i in range(1, side)], "faint", width=0.6
        )
    drawing.line(rectangle((0, 0), (side, side)), "given", closed=True, width=5)
    drawing.text((0, 0), 0, "quiet", size=9, shift=(-7, 8))
    drawing.text((side, 0), f"{side} m", "quiet", size=9, shift=(-4, 10))
    return drawing


def _draw_loop(
    drawing: Drawing,
    params: Params,
    joints: Sequence[XY],
    verdicts: Verdicts,
    legend: Legend,
) -> None:
    if not joints:
        return
    failed = verdicts.failures
    role = "right" if verdicts and verdicts[0].score == 1 else "answer"
    if any(
        isinstance(constraint, schema.HullArea) for constraint in params.constraints
    ):
        drawing.line(
            hull(joints), "note", dashed=True, closed=True, width=1.5, tip="hull"
        )
        legend.append(("note", "dashed: convex hull of the joints"))
    thick = min(max(drawing.scale / 14, 1.2), 3)
    drawing.line(joints, role, width=thick, closed=True)
    if drawing.scale > 9:
        for i, joint in enumerate(joints):
            drawing.dot(joint, role, radius=min(thick + 0.5, 3), tip=f"joint {i}")
    legend.insert(0, (role, "the loop, from the dot"))
    wrong = {
        "pipes of a wrong length": _mark_lengths(
            drawing, joints, failed.get("length", ())
        ),
        "crossings and touches": _mark_meetings(drawing, joints, verdicts),
        "joints that break a rule": _mark_joints(drawing, joints, verdicts),
    }
    legend += wrong_line(wrong, ", ")
    if params.crossings and verdicts.passed("crossings"):
        legend.append(("right", "ringed: crossings, as many as asked"))
    start = joints[0]
    if len(joints) > 1:
        (ax, ay), (bx, by) = start, joints[1]
        tip = (ax + 0.7 * (bx - ax), ay + 0.7 * (by - ay))
        drawing.line([start, tip], "ink", width=max(thick * 0.7, 1.2), arrow=True)
    drawing.dot(start, "ink", radius=5, tip="joint 0")
    for constraint in params.constraints:
        if isinstance(constraint, schema.FixedStart) and verdicts.failed(
            constraint.type
        ):
            drawing.ring(
                start, "wrong", radius=9, width=3, tip="the start is out of place"
            )
            goal = (constraint.x, constraint.y)
            drawing.line([start, goal], "wrong", dashed=True, width=2, arrow=True)


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
        drawing.line(
            (a, b), "wrong", width=thick, dashed=not long, tip=f"pipe {i}: {words}"
        )
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        if drawing.scale < 20:
            drawing.ring(middle, "wrong", radius=9, width=2.5)
        if len(wrong) <= _LABELLED:
            drawing.text(middle, words, "wrong", size=10, shift=(0, -12), bold=True)
    return bool(wrong)


def _mark_meetings(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    wrong, ok = False, verdicts.passed("crossings")
    role, width = ("right", 2) if ok else ("wrong", 3)
    for i, j in verdicts.details("crossings").get("pipes", ()):
        if max(i, j) < len(joints):
            place = crossing(_pipe(joints, i), _pipe(joints, j))
            drawing.ring(
                place, role, radius=8, width=width, tip=f"pipes {i} and {j} cross"
            )
            wrong = wrong or not ok
    for i, j in verdicts.failures.get("touches", ()):
        if max(i, j) < len(joints):
            place = contact(_pipe(joints, i), _pipe(joints, j))
            tip = f"pipes {i} and {j} touch"
            drawing.ring(place, "wrong", radius=8, width=3, tip=tip)
            wrong = True
    return wrong


def _mark_joints(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    failed = verdicts.failures
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
            drawing.line(
                [joints[i], joints[j]], "wrong", width=4, tip="too near each other"
            )
            drawing.ring(joints[i], "wrong", radius=6)
            drawing.ring(joints[j], "wrong", radius=6)
            marks.append((i, "", ""))
    run = (
        verdicts.details("max_straight_run")
        if verdicts.failed("max_straight_run")
        else {}
    )
    row = [i for i in run.get("joints", ()) if i < len(joints)]
    if row:
        n = len(joints)
        path = [
            joints[(row[0] - 1) % n],
            *(joints[i] for i in row),
            joints[(row[-1] + 1) % n],
        ]
        drawing.line(path, "wrong", width=6, opacity=0.6, tip="too long a straight run")
        marks.append((row[0], "", ""))
    return bool(marks)


def _gauges(params: Params, answer: Answer, verdicts: Verdicts) -> Iterator[Gauge]:
    if not verdicts:
        return
    if verdicts.failed("count") or verdicts.failed("resource_limit"):
        yield Gauge("joints", len(answer.points), params.pipes, False, "exactly")
    crossings = verdicts.details("crossings").get("count")
    if crossings is not None and (params.crossings or crossings):
        ok = verdicts.passed("crossings")
        yield Gauge("crossings", crossings, params.crossings, ok, "exactly")
    metrics = verdicts.metrics
    if verdicts.failed("length"):
        upper, lower = 1 + params.length_tolerance, 1 - params.length_tolerance
        longest, shortest = metrics["longest"], metrics["shortest"]
        if longest > upper:
            yield Gauge("longest pipe", longest, upper, False, "at most", " m")
        if shortest < lower:
            yield Gauge("shortest pipe", shortest, lower, False, "at least", " m")
    yield from gauges_of(params, verdicts)


def _caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    n = len(answer.points)
    summary = f"{n} of {params.pipes} joints" if n != params.pipes else f"{n} joints"
    if n > _MOST_JOINTS:
        summary += f", the first {_MOST_JOINTS} drawn"
    if not verdicts:
        return f"{summary}."
    words = texts("pipe_loop_fitting.faults")
    faults = []
    for check in verdicts[0].checks:
        if check.passed is False and check.id in words:
            n = check.details.get("count", 0)
            note = " (50 marked)" if n > 50 else ""
            faults.append(
                words[check.id].split("|")[-1 if n == 1 else 0].format(n=n, note=note)
            )
    return f"{'; '.join((summary, *faults))}; {verdicts.fraction}."
