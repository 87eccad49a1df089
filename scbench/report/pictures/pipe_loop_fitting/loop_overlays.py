"""What is asked of a loop of pipes besides being one: in words, in the drawing, and as bars."""

from collections.abc import Iterator, Sequence

from scbench.base.model import Verdict
from scbench.report.draw.svg import Drawing
from scbench.report.picture import failures
from scbench.report.pictures.pipe_loop_fitting.plane import XY
from scbench.report.pictures.shared.gauges import Gauge, check_of, passed
from scbench.schemas.pipe_loop_fitting import (
    AngleRange,
    CentroidBox,
    Constraint,
    CoverQuadrants,
    FixedStart,
    HullArea,
    JointSeparation,
    MaxStraightRun,
    MinTurns,
    Params,
    TouchWalls,
    WallMargin,
)


def asked_for(params: Params) -> list[str]:
    """Return what the loop must keep, in a few words each."""
    n = params.crossings
    crossings = f"{n} crossing{'s' * (n > 1)}" if n else "no crossing"
    return [crossings, *map(_words, params.constraints)]


def _words(constraint: Constraint) -> str:
    match constraint:
        case AngleRange():
            return f"angles of {constraint.min_deg:g} to {constraint.max_deg:g} degrees"
        case CentroidBox():
            return "mean of the joints in the box"
        case TouchWalls():
            return f"touching {constraint.walls} walls"
        case MinTurns():
            return f"{constraint.turns} turns or more"
        case MaxStraightRun():
            return f"at most {constraint.joints} straight joints in a row"
        case CoverQuadrants():
            return "a joint in every quadrant"
        case WallMargin():
            return f"{constraint.margin:g} m away from the walls"
        case HullArea():
            return f"hull of {constraint.area:g} square metres or more"
        case FixedStart():
            return "start in the circle"
        case JointSeparation():
            return f"joints {constraint.distance:g} m apart"


def draw_asked(drawing: Drawing, params: Params, verdicts: Sequence[Verdict]) -> None:
    """Draw the lines, boxes and walls that constraints are about, those not kept as wrong."""
    for constraint in params.constraints:
        match constraint:
            case CoverQuadrants():
                _quadrants(drawing, params.side, verdicts)
            case WallMargin():
                m, far = constraint.margin, params.side - constraint.margin
                fulfilled = passed(verdicts, constraint.type) is not False
                corners = [(m, m), (far, m), (far, far), (m, far)]
                role = "note" if fulfilled else "wrong"
                drawing.line(corners, role, dashed=True, closed=True, tip="margin")
            case CentroidBox():
                _centroid(drawing, constraint, verdicts)
            case TouchWalls():
                _walls(drawing, params.side, verdicts)
            case FixedStart():
                fulfilled = passed(verdicts, constraint.type) is not False
                role, radius = ("note" if fulfilled else "wrong"), constraint.tolerance
                place = (constraint.x, constraint.y)
                drawing.ring(place, role, radius=radius, units="task", dashed=True, tip="start")
                if not fulfilled:
                    drawing.text(place, "start here", "wrong", size=10, shift=(0, -16), bold=True)


def _quadrants(drawing: Drawing, side: int, verdicts: Sequence[Verdict]) -> None:
    half = side / 2
    drawing.line([(half, 0), (half, side)], "note", dashed=True)
    drawing.line([(0, half), (side, half)], "note", dashed=True)
    for name in failures(verdicts).get("coverage_quadrants", ()):
        x = half if "right" in name else 0.0
        y = half if "top" in name else 0.0
        tip = f"no joint in the {name} quadrant"
        drawing.box((x, y), (x + half, y + half), "missing", hatched=True, opacity=0.5, tip=tip)


def _centroid(drawing: Drawing, constraint: CentroidBox, verdicts: Sequence[Verdict]) -> None:
    low, high = (constraint.xmin, constraint.ymin), (constraint.xmax, constraint.ymax)
    drawing.box(low, high, "note", opacity=0.25, edge="note", tip="where the mean must lie")
    check = check_of(verdicts, constraint.type)
    if check is not None and "centroid" in check.details:
        role = "right" if check.passed else "wrong"
        place = check.details["centroid"]
        drawing.dot(place, role, radius=5, tip="mean of the joints")
        drawing.ring(place, role, radius=9, width=2.5)
        if not check.passed:
            middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
            drawing.line([place, middle], role, dashed=True, arrow=True)


def _walls(drawing: Drawing, side: int, verdicts: Sequence[Verdict]) -> None:
    check = check_of(verdicts, "must_touch_boundary")
    if check is None or "touched" not in check.details:
        return
    ends: dict[str, tuple[XY, XY]] = {
        "left": ((0, 0), (0, side)),
        "right": ((side, 0), (side, side)),
        "bottom": ((0, 0), (side, 0)),
        "top": ((0, side), (side, side)),
    }
    for wall, line in ends.items():
        if wall in check.details["touched"]:
            drawing.line(line, "right", width=4.5, tip=f"the {wall} wall is touched")
        elif not check.passed:
            tip = f"the {wall} wall is not touched"
            drawing.line(line, "wrong", width=4.5, dashed=True, tip=tip)


def gauges_of(params: Params, verdicts: Sequence[Verdict]) -> Iterator[Gauge]:
    """Yield a bar for every constraint that is a figure, where the verdict has it."""
    for constraint in params.constraints:
        check = check_of(verdicts, constraint.type)
        if check is None:
            continue
        details, ok = check.details, check.passed
        match constraint:
            case TouchWalls() if "touched" in details:
                yield Gauge("walls touched", len(details["touched"]), constraint.walls, ok)
            case MinTurns() if "turns" in details:
                yield Gauge("turns", details["turns"], constraint.turns, ok)
            case MaxStraightRun() if "length" in details:
                name = "straight joints in a row"
                yield Gauge(name, details["length"], constraint.joints, ok, "at most")
            case HullArea() if "area" in details:
                yield Gauge("hull", details["area"], constraint.area, ok, unit=" m²")
            case FixedStart() if "distance" in details:
                limit = constraint.tolerance
                yield Gauge("start off by", details["distance"], limit, ok, "at most", " m")
