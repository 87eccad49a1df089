"""A loop of pipes in its room, with the constraints and every error marked."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scbench.base.wording import counted
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas import pipe_loop_fitting as schema
from scbench.schemas.pipe_loop_fitting import Answer, Params

# Maximum number of joints drawn.
MOST_JOINTS = 2_500
# Maximum number of wrong lengths or angles with a label.
MOST_LABELS = 12
# Maximum number of offenders that a check names.
MOST_NAMED = 50
# Distance outside the room within which joints are drawn, in sides of the room.
OUTSIDE = 1.2
# Larger rooms have no metre grid.
MOST_METRES = 60
# The constraints in words, by type.
CONSTRAINTS = {
    "angle_range": "angles of {0.min_deg:g} to {0.max_deg:g} degrees",
    "centroid_box": "mean of the joints in the box",
    "must_touch_boundary": "walls touched: at least {0.walls}",
    "min_turns": "turns: at least {0.turns}",
    "max_straight_run": "straight joints in a row: at most {0.joints}",
    "coverage_quadrants": "a joint in every quadrant",
    "avoid_margin": "at least {0.margin:g} m from the walls",
    "min_convex_hull_area": "convex hull of at least {0.area:g} m²",
    "fixed_start": "start in the circle",
    "min_point_separation": "joints at least {0.distance:g} m apart",
}
# Faults by check, for many offenders and for one. The note gives the number of marked
# ones.
FAULTS = {
    "inside": "{n} joints outside the room{note}|{n} joint outside the room",
    "length": "{n} pipes of a wrong length{note}|{n} pipe of a wrong length",
    "repeats": "{n} joints used twice{note}|{n} joint used twice",
    "touches": "{n} touches{note}|{n} touch",
    "hairpins": "{n} folds{note}|{n} fold",
    "angle_range": "{n} angles out of range{note}|{n} angle out of range",
    "avoid_margin": "{n} joints too near a wall{note}|{n} joint too near a wall",
    "min_point_separation": (
        "{n} pairs of joints too near each other{note}"
        "|{n} pair of joints too near each other"
    ),
    "crossings": "{n} crossings|{n} crossing",
    "coverage_quadrants": "{n} empty quadrants|{n} empty quadrant",
    "centroid_box": "mean of the joints outside its box",
    "must_touch_boundary": "too few walls touched",
    "min_turns": "too few turns",
    "max_straight_run": "straight run too long",
    "min_convex_hull_area": "convex hull too small",
    "fixed_start": "start in the wrong place",
    "resource_limit": "far too many joints",
}

XY = tuple[float, float]
# The ends of a pipe.
Pipe = tuple[XY, XY]


class Figure(NamedTuple):
    """A measure of a loop and its limit.

    Attributes:
        check_id: the check that compares them.
        name: what is measured.
        value: value of the answer.
        limit: limit of the task.
        sense: whether the limit is a minimum, a maximum, or the exact value.
        unit: the unit, shown after both values.
    """

    check_id: str
    name: str
    value: float
    limit: float
    sense: str = "at least"
    unit: str = ""

    @property
    def words(self) -> str:
        """The measure and its limit in words."""
        value = f"{self.value:.4g}{self.unit}"
        return f"{self.name}: {value} ({self.sense} {self.limit:.4g}{self.unit})"


class JointFault(NamedTuple):
    """A joint to be ringed.

    Attributes:
        joint: its position in the list.
        tip: the fault in words.
        label: written next to the joint; empty for none.
    """

    joint: int
    tip: str
    label: str = ""


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the room and the constraints; with an answer, also its loop with errors marked."""
    if answer is None:
        return square_picture(params)
    joints = [(point.x, point.y) for point in answer.points[:MOST_JOINTS]]
    drawing = square_drawing(params, joints)
    draw_constraints(drawing, params, verdicts)
    legend: Legend = []
    if joints:
        legend = draw_loop(drawing, params, joints, verdicts)
    caption = answer_caption(params, answer, verdicts)
    return Picture((Panel("the loop", drawing, caption),), caption, tuple(legend))


def square_picture(params: Params) -> Picture:
    """Return the picture of the task alone."""
    drawing = square_drawing(params, ())
    draw_constraints(drawing, params, Verdicts())
    words = asked_words(params)
    middle = (params.side / 2, params.side / 2)
    for i, line in enumerate(words):
        shift = (0, 18 * (i - (len(words) - 1) / 2))
        drawing.text(middle, line, size=12, shift=shift)
    task_words = f"{params.pipes} pipes of 1 m, one loop in a room with a side of {params.side} m"
    caption = "; ".join([task_words, *words]) + "."
    return Picture((Panel("the room", drawing, caption),), caption)


def asked_words(params: Params) -> list[str]:
    """Return the crossings and the constraints, in a few words each."""
    crossings = "no crossings"
    if params.crossings:
        crossings = counted(params.crossings, "crossing")
    words = [CONSTRAINTS[rule.type].format(rule) for rule in params.constraints]
    return [crossings, *words]


def square_drawing(params: Params, joints: Sequence[XY]) -> Drawing:
    """Return the square, with room for the joints of a loop."""
    side = params.side
    low = -OUTSIDE * side
    high = (1 + OUTSIDE) * side
    xs = [min(max(x, low), high) for x, _ in joints]
    ys = [min(max(y, low), high) for _, y in joints]
    pad = 0.03 * side
    left_edge = min(0.0, *xs, 0.0) - pad
    right_edge = max(side, *xs, side) + pad
    bottom = min(0.0, *ys, 0.0) - pad
    top = max(side, *ys, side) + pad
    # Larger squares need more room for their pipes.
    size = 680
    if side <= 8:
        size = 388
    elif side <= 16:
        size = 500
    drawing = Drawing((left_edge, bottom, right_edge, top), size=size)
    if side <= MOST_METRES:
        upright = [[(i, 0), (i, side)] for i in range(1, side)]
        level = [[(0, i), (side, i)] for i in range(1, side)]
        drawing.strokes(upright, "faint", width=0.6)
        drawing.strokes(level, "faint", width=0.6)
    drawing.outline((0, 0), (side, side), "given", width=5)
    drawing.text((0, 0), 0, "quiet", size=9, shift=(-7, 8))
    drawing.text((side, 0), f"{side} m", "quiet", size=9, shift=(-4, 10))
    return drawing


def draw_constraints(drawing: Drawing, params: Params, verdicts: Verdicts) -> None:
    """Draw the lines, boxes and walls of the constraints; violated ones are marked as wrong."""
    for constraint in params.constraints:
        role = "wrong" if verdicts.failed(constraint.type) else "note"
        match constraint:
            case schema.CoverQuadrants():
                draw_quadrants(drawing, params.side, verdicts)
            case schema.WallMargin():
                low = constraint.margin
                high = params.side - constraint.margin
                corners = rectangle((low, low), (high, high))
                drawing.line(corners, role, dashed=True, closed=True, tip="margin")
            case schema.CentroidBox():
                draw_centroid(drawing, constraint, verdicts)
            case schema.TouchWalls():
                draw_walls(drawing, params.side, verdicts)
            case schema.FixedStart():
                draw_start_circle(drawing, constraint, role)


def draw_quadrants(drawing: Drawing, side: int, verdicts: Verdicts) -> None:
    """Draw the borders of the quadrants, and hatch those without a joint."""
    half = side / 2
    drawing.line([(half, 0), (half, side)], "note", dashed=True)
    drawing.line([(0, half), (side, half)], "note", dashed=True)
    for name in verdicts.failures.get("coverage_quadrants", ()):
        x = half if "right" in name else 0.0
        y = half if "top" in name else 0.0
        low = (x, y)
        high = (x + half, y + half)
        tip = f"no joint in the {name} quadrant"
        drawing.box(low, high, "missing", hatched=True, opacity=0.5, tip=tip)


def draw_centroid(
    drawing: Drawing, constraint: schema.CentroidBox, verdicts: Verdicts
) -> None:
    """Draw the box for the mean of the joints, and the mean if a verdict has it."""
    low = (constraint.xmin, constraint.ymin)
    high = (constraint.xmax, constraint.ymax)
    tip = "where the mean must lie"
    drawing.box(low, high, "note", opacity=0.25, edge="note", tip=tip)
    check = verdicts.check(constraint.type)
    if check is None or "centroid" not in check.details:
        return
    role = "right" if check.passed else "wrong"
    place = check.details["centroid"]
    drawing.dot(place, role, radius=5, tip="mean of the joints")
    drawing.ring(place, role, radius=9, width=2.5)
    if not check.passed:
        middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
        drawing.line([place, middle], role, dashed=True, arrow=True)


def draw_walls(drawing: Drawing, side: int, verdicts: Verdicts) -> None:
    """Draw the touched walls and, if they are too few, also the others."""
    check = verdicts.check("must_touch_boundary")
    if check is None or "touched" not in check.details:
        return
    a, b, c, d = rectangle((0, 0), (side, side))
    walls = {"left": (a, d), "right": (b, c), "bottom": (a, b), "top": (d, c)}
    for name, line in walls.items():
        if name in check.details["touched"]:
            drawing.line(line, "right", width=4.5, tip=f"the {name} wall is touched")
        elif not check.passed:
            tip = f"the {name} wall is not touched"
            drawing.line(line, "wrong", width=4.5, dashed=True, tip=tip)


def draw_start_circle(
    drawing: Drawing, constraint: schema.FixedStart, role: str
) -> None:
    """Draw the circle in which the loop must start."""
    place = (constraint.x, constraint.y)
    radius = constraint.tolerance
    drawing.ring(place, role, radius=radius, units="task", dashed=True, tip="start")
    if role == "wrong":
        words = "start here"
        shift = (0, -16)
        drawing.text(place, words, "wrong", size=10, shift=shift, bold=True)


def draw_loop(
    drawing: Drawing, params: Params, joints: Sequence[XY], verdicts: Verdicts
) -> Legend:
    """Draw a loop of one joint or more and mark its faults; return the legend."""
    role = "right" if verdicts and verdicts[0].score == 1 else "answer"
    legend: Legend = [(role, "the loop, starting at the dot")]
    if any(isinstance(rule, schema.HullArea) for rule in params.constraints):
        corners = hull(joints)
        drawing.line(corners, "note", dashed=True, closed=True, width=1.5, tip="hull")
        legend.append(("note dashed", "convex hull of the joints"))
    width = loop_width(drawing)
    drawing.line(joints, role, width=width, closed=True)
    # In smaller drawings, the dots would hide the pipes.
    if drawing.scale > 9:
        for i, joint in enumerate(joints):
            drawing.dot(joint, role, radius=min(width + 0.5, 3), tip=f"joint {i}")
    wrong = {
        "pipes of a wrong length": mark_lengths(drawing, joints, verdicts),
        "crossings and touches": mark_meetings(drawing, joints, verdicts),
        "joints that break a rule": mark_joints(drawing, joints, verdicts),
    }
    legend += wrong_line(wrong, ", ")
    if params.crossings and verdicts.passed("crossings"):
        legend.append(("right", "ringed: the required crossings"))
    draw_start(drawing, params, joints, verdicts)
    return legend


def loop_width(drawing: Drawing) -> float:
    """Return the width of pipes in pixels."""
    return min(max(drawing.scale / 14, 1.2), 3)


def draw_start(
    drawing: Drawing, params: Params, joints: Sequence[XY], verdicts: Verdicts
) -> None:
    """Draw the first joint and the direction of the loop, and where it should start."""
    start = joints[0]
    if len(joints) > 1:
        ax, ay = start
        bx, by = joints[1]
        tip = (ax + 0.7 * (bx - ax), ay + 0.7 * (by - ay))
        # Thinner than the loop, so that the loop is visible on both sides.
        width = max(loop_width(drawing) * 0.7, 1.2)
        drawing.line([start, tip], "ink", width=width, arrow=True)
    drawing.dot(start, "ink", radius=5, tip="joint 0")
    for rule in params.constraints:
        if isinstance(rule, schema.FixedStart) and verdicts.failed(rule.type):
            words = "the start is in the wrong place"
            drawing.ring(start, "wrong", radius=9, width=3, tip=words)
            goal = (rule.x, rule.y)
            drawing.line([start, goal], "wrong", dashed=True, width=2, arrow=True)


def pipe_at(joints: Sequence[XY], i: int) -> Pipe:
    """Return the pipe from a joint to the next; the last one goes to the first joint."""
    return joints[i], joints[(i + 1) % len(joints)]


def mark_lengths(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    """Mark pipes of a wrong length, short ones dashed; return whether there are any."""
    wrong = verdicts.failures.get("length", ())
    width = min(max(drawing.scale / 8, 2.5), 5)
    for i in wrong:
        # The verdict covers all joints, including any that are not drawn.
        if i >= len(joints):
            continue
        a, b = pipe_at(joints, i)
        length = ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5
        words = f"{length:.2f} m"
        tip = f"pipe {i}: {words}"
        drawing.line((a, b), "wrong", width=width, dashed=length <= 1, tip=tip)
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        # A short line would hardly be seen.
        if drawing.scale < 20:
            drawing.ring(middle, "wrong", radius=9, width=2.5)
        if len(wrong) <= MOST_LABELS:
            drawing.text(middle, words, "wrong", size=10, shift=(0, -12), bold=True)
    return bool(wrong)


def mark_meetings(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    """Ring crossings and touches; return whether any of them is wrong."""
    any_wrong = False
    crossings_passed = verdicts.passed("crossings")
    for i, j in verdicts.details("crossings").get("pipes", ()):
        if max(i, j) < len(joints):
            place = crossing_point(pipe_at(joints, i), pipe_at(joints, j))
            tip = f"pipes {i} and {j} cross"
            if crossings_passed:
                drawing.ring(place, "right", radius=8, width=2, tip=tip)
            else:
                drawing.ring(place, "wrong", radius=8, width=3, tip=tip)
                any_wrong = True
    for i, j in verdicts.failures.get("touches", ()):
        if max(i, j) < len(joints):
            place = contact(pipe_at(joints, i), pipe_at(joints, j))
            tip = f"pipes {i} and {j} touch"
            drawing.ring(place, "wrong", radius=8, width=3, tip=tip)
            any_wrong = True
    return any_wrong


def mark_joints(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    """Mark joints that break a rule; return whether there are any."""
    faults = list(joint_faults(joints, verdicts))
    for fault in faults:
        if fault.joint < len(joints):
            place = drawing.nearest(joints[fault.joint])
            tip = f"joint {fault.joint}: {fault.tip}"
            drawing.ring(place, "wrong", radius=7, width=2.5, tip=tip)
            shift = (0, -15)
            if fault.label:
                drawing.text(
                    place, fault.label, "wrong", size=10, shift=shift, bold=True
                )
    pairs_marked = mark_near_pairs(drawing, joints, verdicts)
    run_marked = mark_straight_run(drawing, joints, verdicts)
    return bool(faults) or pairs_marked or run_marked


def joint_faults(joints: Sequence[XY], verdicts: Verdicts) -> Iterator[JointFault]:
    """Yield the joints that a verdict points at."""
    failed = verdicts.failures
    for i in failed.get("inside", ()):
        yield JointFault(i, "outside the room")
    for check_id in ("angle_range", "hairpins"):
        offenders = failed.get(check_id, ())
        for i in offenders:
            degrees = f"{angle(joints, i):.4g}°" if i < len(joints) else ""
            label = degrees if len(offenders) <= MOST_LABELS else ""
            yield JointFault(i, f"angle {degrees}", label)
    for i in failed.get("avoid_margin", ()):
        yield JointFault(i, "too near a wall")
    for i, j in failed.get("repeats", ()):
        yield JointFault(j, f"the same as joint {i}")


def mark_near_pairs(drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts) -> bool:
    """Join joints that are too near each other; return whether there are any."""
    any_near = False
    for i, j in verdicts.failures.get("min_point_separation", ()):
        if max(i, j) < len(joints):
            pair = [joints[i], joints[j]]
            drawing.line(pair, "wrong", width=4, tip="too near each other")
            drawing.ring(joints[i], "wrong", radius=6)
            drawing.ring(joints[j], "wrong", radius=6)
            any_near = True
    return any_near


def mark_straight_run(
    drawing: Drawing, joints: Sequence[XY], verdicts: Verdicts
) -> bool:
    """Mark runs of too many straight joints; return whether there are any."""
    if not verdicts.failed("max_straight_run"):
        return False
    straight = verdicts.details("max_straight_run").get("joints", ())
    run = [i for i in straight if i < len(joints)]
    if not run:
        return False
    # The pipes before and after are in line with these joints.
    numbers = [run[0] - 1, *run, run[-1] + 1]
    path = [joints[i % len(joints)] for i in numbers]
    tip = "straight run too long"
    drawing.line(path, "wrong", width=6, opacity=0.6, tip=tip)
    return True


def crossing_point(first: Pipe, second: Pipe) -> XY:
    """Return the crossing point of two segments that cross."""
    (ax, ay), (bx, by) = first
    (cx, cy), (dx, dy) = second
    bottom = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    # Parallel pieces overlap if they meet.
    if bottom == 0:
        return contact(first, second)
    share = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / bottom
    share = min(max(share, 0.0), 1.0)
    return ax + share * (bx - ax), ay + share * (by - ay)


def contact(first: Pipe, second: Pipe) -> XY:
    """Return the place where two segments that do not cross are closest."""
    # The closest point is an end of one of them.
    distances = [(distance_to_pipe(end, second), end) for end in first]
    distances += [(distance_to_pipe(end, first), end) for end in second]
    return min(distances)[1]


def distance_to_pipe(place: XY, pipe: Pipe) -> float:
    """Return the distance from a place to a segment."""
    (ax, ay), (bx, by) = pipe
    ux = bx - ax
    uy = by - ay
    square = ux * ux + uy * uy
    share = 0.0
    if square != 0:
        share = ((place[0] - ax) * ux + (place[1] - ay) * uy) / square
    share = min(max(share, 0.0), 1.0)
    x = place[0] - ax - share * ux
    y = place[1] - ay - share * uy
    return math.hypot(x, y)


def angle(points: Sequence[XY], i: int) -> float:
    """Return the angle inside a closed line at one of its points, in degrees."""
    ax, ay = points[i - 1]
    bx, by = points[i]
    cx, cy = points[(i + 1) % len(points)]
    turn = math.atan2(ay - by, ax - bx) - math.atan2(cy - by, cx - bx)
    return abs(math.degrees(math.remainder(turn, 2 * math.pi)))


def hull(points: Sequence[XY]) -> list[XY]:
    """Return the corners of the convex hull of points, counter-clockwise."""
    ordered = sorted(set(points))
    corners: list[XY] = []
    # The lower side from left to right, then the upper side back.
    for chain in (ordered, ordered[::-1]):
        base = len(corners)
        for x, y in chain:
            # Points at which the line does not turn left are not corners.
            while len(corners) >= base + 2:
                (ax, ay), (bx, by) = corners[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                corners.pop()
            corners.append((x, y))
        # The last corner of a chain is the first of the next.
        corners.pop()
    return corners


def figures(params: Params, verdicts: Verdicts) -> Iterator[Figure]:
    """Yield the figures of a verdict; crossings only if there are or should be any."""
    crossings = verdicts.details("crossings").get("count")
    if crossings is not None and (params.crossings or crossings):
        yield Figure("crossings", "crossings", crossings, params.crossings, "exactly")
    if verdicts.failed("length"):
        metrics = verdicts.metrics
        longest = metrics["longest"]
        upper = 1 + params.length_tolerance
        if longest > upper:
            yield Figure("length", "longest pipe", longest, upper, "at most", " m")
        shortest = metrics["shortest"]
        lower = 1 - params.length_tolerance
        if shortest < lower:
            yield Figure("length", "shortest pipe", shortest, lower, "at least", " m")
    for rule in params.constraints:
        details = verdicts.details(rule.type)
        match rule:
            case schema.TouchWalls() if "touched" in details:
                count = len(details["touched"])
                yield Figure(rule.type, "walls touched", count, rule.walls)
            case schema.MinTurns() if "turns" in details:
                yield Figure(rule.type, "turns", details["turns"], rule.turns)
            case schema.MaxStraightRun() if "length" in details:
                name = "longest straight run"
                length = details["length"]
                yield Figure(rule.type, name, length, rule.joints, "at most")
            case schema.HullArea() if "area" in details:
                area = details["area"]
                yield Figure(rule.type, "area of the hull", area, rule.area, unit=" m²")
            case schema.FixedStart() if "distance" in details:
                name = "distance of the start"
                distance = details["distance"]
                limit = rule.tolerance
                yield Figure(rule.type, name, distance, limit, "at most", " m")


def answer_caption(params: Params, answer: Answer, verdicts: Verdicts) -> str:
    """Return the number of joints, the faults in the order of the checks, figures and score."""
    n = len(answer.points)
    summary = counted(n, "joint")
    if n != params.pipes:
        summary = f"{n} of {params.pipes} joints"
    if n > MOST_JOINTS:
        summary += f", the first {MOST_JOINTS} drawn"
    if not verdicts:
        return f"{summary}."
    measures = list(figures(params, verdicts))
    ids_with_figure = {figure.check_id for figure in measures} - {"length"}
    faults = [
        fault_words(check.id, check.details.get("count", 0))
        for check in verdicts[0].checks
        if check.passed is False
        and check.id in FAULTS
        and check.id not in ids_with_figure
    ]
    words = [figure.words for figure in measures]
    return "; ".join([summary, *faults, *words, verdicts.fraction]) + "."


def fault_words(check_id: str, count: int) -> str:
    """Return a fault in words, given the number of offenders."""
    wordings = FAULTS[check_id].split("|")
    wording = wordings[-1] if count == 1 else wordings[0]
    note = f" ({MOST_NAMED} marked)" if count > MOST_NAMED else ""
    return wording.format(n=count, note=note)
