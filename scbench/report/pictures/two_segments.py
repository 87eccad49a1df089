"""A frame cut by two segments: its regions by number of sides, next to the targets."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, NamedTuple

from scbench.base.wording import counted
from scbench.report.draw.canvas import frame_around, pixel_canvas
from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas.two_segments import Answer, Params

KINDS = {"triangle": 3, "quadrilateral": 4, "pentagon": 5, "hexagon": 6}
# Colour of a region by its number of sides.
ROLES = {3: series(5), 4: series(4), 5: series(3), 6: series(2)}
# Distance outside the frame within which ends are drawn, in sides of the frame.
BEYOND = 1.5
# Pixels from polygon to polygon of the tally.
STEP = 46
GRID_FAULT = {
    "grid": "{n} endpoints not at allowed values|{n} endpoint not at allowed values"
}
FAULTS = {
    "boundary": "{n} endpoints off the boundary|{n} endpoint off the boundary",
    "length": "a segment of length 0",
    "one_side": "a segment along a side",
    "distinct": "two equal segments",
}

XY = tuple[float, float]
Exact = tuple[Fraction, Fraction]
# Number of regions, by number of sides.
Counts = Mapping[int, int]


class Column(NamedTuple):
    """A column of the tally: a polygon that is wanted, present, or both."""

    sides: int
    asked_for: bool
    present: bool


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the frame; with an answer, also the segments, the regions, and rejected ends."""
    targets = {sides: getattr(params.counts, kind) for kind, sides in KINDS.items()}
    if answer is None:
        caption = f"Two segments must cut the frame into {count_words(targets)}."
        frame = Panel("the frame", frame_drawing(params, ()), caption)
        wanted_regions = Panel("wanted regions", tally(targets, None), caption)
        return Picture((frame, wanted_regions), caption)
    regions = None
    observed = verdicts.metrics.get("observed")
    if observed:
        regions = {KINDS[kind]: n for kind, n in observed.items()}
    ends = list(chain.from_iterable(answer.segments))
    drawing = frame_drawing(params, ends)
    if regions is not None:
        draw_regions(drawing, params, verdicts.metrics["endpoints"])
    legend = draw_segments(drawing, answer, verdicts)
    legend += draw_end_faults(drawing, params, answer, verdicts)
    title = "wanted regions"
    if regions is not None:
        title = "wanted and actual regions"
        for kind, sides in KINDS.items():
            if regions[sides] or targets[sides]:
                legend.append((ROLES[sides], f"{kind} ({sides})"))
    caption = answer_caption(targets, regions, verdicts)
    panels = (
        Panel("the cut", drawing, caption),
        Panel(title, tally(targets, regions), caption),
    )
    return Picture(panels, caption, tuple(legend))


def frame_drawing(params: Params, ends: Sequence[Sequence[float]]) -> Drawing:
    """Return the frame with its coordinates, and room for the ends of segments."""
    xs, ys = zip(*params.corners, strict=True)
    low_x = min(xs)
    high_x = max(xs)
    low_y = min(ys)
    high_y = max(ys)
    width = max(high_x - low_x, high_y - low_y)
    room = BEYOND * width
    all_x = list(xs)
    all_y = list(ys)
    for x, y in ends:
        all_x.append(min(max(x, low_x - room), high_x + room))
        all_y.append(min(max(y, low_y - room), high_y + room))
    pad = 0.1 * width
    drawing = Drawing(frame_around(all_x, all_y, pad), size=340)
    grid = params.coordinate_grid or ()
    for value in grid:
        upright = [(value, low_y - pad / 3), (value, high_y + pad / 3)]
        drawing.line(upright, "faint", width=1)
        level = [(low_x - pad / 3, value), (high_x + pad / 3, value)]
        drawing.line(level, "faint", width=1)
    for value in grid:
        drawing.text((value, low_y - pad * 0.7), f"{value:g}", "quiet", size=9)
        drawing.text((low_x - pad * 0.7, value), f"{value:g}", "quiet", size=9)
    drawing.line(params.corners, "ink", width=2.5, closed=True)
    for i, (x, y) in enumerate(params.corners):
        drawing.dot((x, y), "ink", radius=3.5, tip=f"corner {i} at {x:g}, {y:g}")
        # Without a grid, coordinates are written at the corners.
        if not grid:
            words = f"({x:.4g}, {y:.4g})"
            at_left = 4 * x < sum(xs)
            above = 4 * y > sum(ys)
            shift = (-10 if at_left else 10, -13 if above else 13)
            anchor: Literal["start", "end"] = "start" if at_left else "end"
            drawing.text((x, y), words, "quiet", size=9, shift=shift, anchor=anchor)
    return drawing


def draw_regions(
    drawing: Drawing, params: Params, endpoints: Sequence[Mapping[str, Any]]
) -> None:
    """Fill the regions that the segments cut out, and write the number of sides in each."""
    for region in pieces(params, endpoints):
        corners = [(float(x), float(y)) for x, y in region]
        n = len(corners)
        drawing.area(corners, ROLES.get(n, "quiet"), opacity=0.35)
        xs, ys = zip(*corners, strict=True)
        middle = (sum(xs) / n, sum(ys) / n)
        drawing.text(middle, n, size=17, bold=True)


def pieces(params: Params, endpoints: Sequence[Mapping[str, Any]]) -> list[list[Exact]]:
    """Return the corners of the regions, with segment ends where the grader placed them.

    Args:
        params: the instance.
        endpoints: four ends from the verdict's metrics, each with a ``position``.
    """
    spots = [place_on_frame(params, end["position"]) for end in endpoints]
    regions = [[(Fraction(x), Fraction(y)) for x, y in params.corners]]
    for a, b in (spots[:2], spots[2:]):
        halves_of_all: list[list[Exact]] = []
        for region in regions:
            halves_of_all += halves(region, a, b)
        regions = halves_of_all
    return [proper_corners(region) for region in regions]


def place_on_frame(params: Params, position: float) -> Exact:
    """Return the place on the frame's boundary at a position (side index plus share of side)."""
    # Verdicts contain floats; a nearby simple fraction keeps exact arithmetic fast.
    side, share = divmod(Fraction(position).limit_denominator(10**9), 1)
    start = params.corners[int(side) % 4]
    end = params.corners[(int(side) + 1) % 4]
    x = Fraction(start[0]) + share * (Fraction(end[0]) - Fraction(start[0]))
    y = Fraction(start[1]) + share * (Fraction(end[1]) - Fraction(start[1]))
    return x, y


def halves(region: Sequence[Exact], a: Exact, b: Exact) -> list[list[Exact]]:
    """Return the two parts of a convex region cut by the line through a and b."""
    # Positive to the left of the line, 0 on it.
    sides = [cross_product(a, b, corner) for corner in region]
    to_left: list[Exact] = []
    to_right: list[Exact] = []
    for i, corner in enumerate(region):
        side = sides[i]
        side_before = sides[i - 1]
        # The line crosses this side of the outline.
        if side * side_before < 0:
            before = region[i - 1]
            share = side_before / (side_before - side)
            x = before[0] + share * (corner[0] - before[0])
            y = before[1] + share * (corner[1] - before[1])
            to_left.append((x, y))
            to_right.append((x, y))
        if side >= 0:
            to_left.append(corner)
        if side <= 0:
            to_right.append(corner)
    # A line that only touches the region cuts nothing off.
    return [half for half in (to_left, to_right) if len(proper_corners(half)) > 2]


def proper_corners(region: Sequence[Exact]) -> list[Exact]:
    """Return the points of an outline at which it turns."""
    corners = []
    for i, point in enumerate(region):
        following = region[(i + 1) % len(region)]
        if cross_product(region[i - 1], point, following) != 0:
            corners.append(point)
    return corners


def cross_product(a: Exact, b: Exact, p: Exact) -> Fraction:
    """Return twice the area of a triangle; negative if it turns clockwise."""
    bx = b[0] - a[0]
    by = b[1] - a[1]
    px = p[0] - a[0]
    py = p[1] - a[1]
    return bx * py - by * px


def draw_segments(drawing: Drawing, answer: Answer, verdicts: Verdicts) -> Legend:
    """Draw the segments and their ends; return their line of the legend."""
    void = void_segments(verdicts)
    for i, ends in enumerate(answer.segments):
        tip = f"segment {i}"
        if i in void:
            drawing.line(ends, "wrong", width=4, dashed=True, tip=tip)
        else:
            drawing.line(ends, "answer", width=3, tip=tip)
        for j, end in enumerate(ends):
            tip = f"end {j} of segment {i} at {end[0]:.6g}, {end[1]:.6g}"
            role = "wrong" if i in void else "answer"
            drawing.dot(end, role, radius=4, tip=tip)
    return [("answer", "the two segments")]


def void_segments(verdicts: Verdicts) -> set[int]:
    """Return the segments that do not cut the frame."""
    void = {
        *verdicts.failures.get("length", ()),
        *verdicts.failures.get("one_side", ()),
    }
    # If both segments are the same, the second adds nothing.
    if verdicts.failed("distinct"):
        void.add(1)
    return void


def draw_end_faults(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts
) -> Legend:
    """Mark ends that break a rule; return the faults for the legend."""
    failed = verdicts.failures
    off_frame = {(item["segment"], item["end"]) for item in failed.get("boundary", ())}
    # Ends out of view are marked at the nearest place in view.
    for end in verdicts.metrics.get("endpoints", ()):
        segment = end["segment"]
        j = end["end"]
        if (segment, j) in off_frame:
            place = drawing.nearest(answer.segments[segment][j])
            mark_off_frame(drawing, params, place, end)
    for segment, j in failed.get("grid", ()):
        place = drawing.nearest(answer.segments[segment][j])
        tip = "not an allowed value"
        drawing.ring(place, "wrong", radius=10, width=2.5, dashed=True, tip=tip)
    for i in failed.get("length", ()):
        place = drawing.nearest(answer.segments[i][0])
        drawing.ring(
            place, "wrong", radius=10, width=2.5, tip="both ends at the same point"
        )
    return wrong_line(
        {
            "endpoint off the boundary, with its distance": off_frame,
            "dashed ring: not an allowed value": "grid" in failed,
            "dashed: segment that does not cut the frame": void_segments(verdicts),
        }
    )


def mark_off_frame(
    drawing: Drawing, params: Params, place: XY, end: Mapping[str, Any]
) -> None:
    """Mark an end, and its distance from the frame.

    Args:
        drawing: drawing with the frame.
        params: the instance.
        place: place at which the end is drawn.
        end: the end in the verdict's metrics.
    """
    if end["position"] is not None:
        x, y = place_on_frame(params, end["position"])
        drawing.line([place, (float(x), float(y))], "wrong", width=2, dashed=True)
    drawing.ring(place, "wrong", radius=9, width=2.5, tip="not on the boundary")
    distance = end["distance"]
    words = "far away" if distance is None else f"{distance:.2g} off"
    # At the right rim, the words are written to the left of the end.
    if drawing.at(place)[0] > drawing.width * 0.7:
        drawing.text(place, words, "wrong", anchor="end", shift=(-12, 10), bold=True)
    else:
        drawing.text(place, words, "wrong", anchor="start", shift=(12, 10), bold=True)


def tally(targets: Counts, regions: Counts | None) -> Drawing:
    """Return small polygons in columns: the wanted ones above the actual ones."""
    # Without an answer there is one row, the wanted polygons.
    columns = list(tally_columns(targets, targets if regions is None else regions))
    row_count = 1 if regions is None else 2
    left_edge = 0 if regions is None else 78
    width = left_edge + STEP * max(len(columns), 4)
    height = STEP * row_count
    drawing = pixel_canvas(width, height, margin=6)
    if regions is not None:
        drawing.text((0, STEP / 2), "wanted", anchor="start", size=13)
        drawing.text((0, STEP * 1.5), "actual", anchor="start", size=13)
    for i, column in enumerate(columns):
        x = left_edge + STEP * (i + 0.5)
        if regions is not None and not (column.asked_for and column.present):
            role = "missing" if column.asked_for else "wrong"
            drawing.box((x - 22, 1), (x + 22, 2 * STEP - 1), role, opacity=0.12)
        draw_target(drawing, (x, STEP * 0.5), column)
        if regions is not None:
            draw_result(drawing, (x, STEP * 1.5), column)
    return drawing


def tally_columns(targets: Counts, regions: Counts) -> Iterator[Column]:
    """Yield the columns for each number of sides that both rows need."""
    for sides, n in targets.items():
        m = regions[sides]
        for i in range(max(n, m)):
            yield Column(sides, i < n, i < m)


def draw_target(drawing: Drawing, centre: XY, column: Column) -> None:
    """Draw a polygon of the first row, dashed if it is not wanted."""
    shape = regular_polygon(column.sides, centre, 15)
    if not column.asked_for:
        drawing.line(shape, "quiet", closed=True, dashed=True, width=1)
        return
    drawing.area(shape, ROLES[column.sides], opacity=0.6, edge="ink", width=1.5)
    drawing.text(centre, column.sides, size=13, bold=True)


def draw_result(drawing: Drawing, centre: XY, column: Column) -> None:
    """Draw a polygon of the second row, dashed if it is missing, crossed out if surplus."""
    shape = regular_polygon(column.sides, centre, 15)
    if not column.present:
        drawing.line(shape, "missing", closed=True, dashed=True, width=1 + 1.2)
        return
    edge = "ink" if column.asked_for else "wrong"
    drawing.area(shape, ROLES[column.sides], opacity=0.6, edge=edge, width=2.5)
    drawing.text(centre, column.sides, size=13, bold=True)
    if not column.asked_for:
        corner = (centre[0] + 15, centre[1] - 15)
        drawing.cross(corner, "wrong", radius=4, width=2.5)


def regular_polygon(sides: int, centre: XY, radius: float) -> list[XY]:
    """Return the corners of a regular polygon with a level lower side."""
    turn = math.pi / 2 if sides % 2 else math.pi / sides
    corners = []
    for i in range(sides):
        a = turn + 2 * math.pi * i / sides
        x = centre[0] + radius * math.cos(a)
        y = centre[1] - radius * math.sin(a)
        corners.append((x, y))
    return corners


def answer_caption(targets: Counts, regions: Counts | None, verdicts: Verdicts) -> str:
    """Return a sentence on the regions, or why they cannot be counted, and the targets."""
    request = f"wanted: {count_words(targets)}"
    if not verdicts:
        return f"Two segments; {request}."
    faults = verdicts.faults(GRID_FAULT)
    if regions is not None:
        parts = [f"Actual: {count_words(regions)}", request, *faults, verdicts.fraction]
        return f"{'; '.join(parts)}."
    faults += verdicts.faults(FAULTS)
    summary = ", ".join(faults) or "The regions cannot be counted"
    return f"{summary[:1].upper()}{summary[1:]}; {request}; {verdicts.fraction}."


def count_words(counts: Counts) -> str:
    """Return numbers of regions in words, such as "2 triangles, 1 pentagon"."""
    words = [
        counted(counts[sides], kind)
        for kind, sides in KINDS.items()
        if counts.get(sides)
    ]
    return ", ".join(words) or "nothing"
