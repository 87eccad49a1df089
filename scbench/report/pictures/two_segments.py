"""A frame cut by two segments: its regions by number of sides, beside those that were asked for."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from scbench.report.draw.colours import series
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.two_segments import Answer, Params

KINDS = {"triangle": 3, "quadrilateral": 4, "pentagon": 5, "hexagon": 6}

_ROLES = {3: series(5), 4: series(4), 5: series(3), 6: series(2)}
# How far outside the frame ends are drawn, in sides of the frame.
_BEYOND = 1.5

XY = tuple[float, float]
Exact = tuple[Fraction, Fraction]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the frame; with an answer the segments, the regions they cut, and rejected ends."""
    targets = {sides: getattr(params.counts, kind) for kind, sides in KINDS.items()}
    target_words = _count_words(targets)
    if answer is None:
        caption = f"To be cut by two segments into {target_words}."
        frame = Panel("the frame", _frame_drawing(params, ()), caption)
        return Picture(
            (frame, Panel("asked for", _tally(targets, None), caption)), caption
        )
    observed = verdicts.metrics.get("observed")
    regions = {KINDS[kind]: n for kind, n in observed.items()} if observed else None
    legend: Legend = []
    drawing = _frame_drawing(
        params, [end for segment in answer.segments for end in segment]
    )
    if regions is not None:
        _draw_regions(drawing, params, verdicts.metrics["endpoints"])
    _draw_segments(drawing, params, answer, verdicts, legend)
    caption = _caption(target_words, regions, verdicts)
    title = "asked for" if regions is None else "asked for, and made"
    panels = (
        Panel("the cut", drawing, caption),
        Panel(title, _tally(targets, regions), caption),
    )
    if regions is not None:
        legend += [
            (_ROLES[n], f"{kind} ({n})")
            for kind, n in KINDS.items()
            if regions[n] or targets[n]
        ]
    return Picture(panels, caption, tuple(legend))


def _count_words(counts: Mapping[int, int]) -> str:
    kinds = {sides: kind for kind, sides in KINDS.items()}
    words = [f"{n} {kinds[sides]}{'s' * (n > 1)}" for sides, n in counts.items() if n]
    return ", ".join(words) or "nothing"


def _frame_drawing(params: Params, ends: Sequence[Sequence[float]]) -> Drawing:
    xs, ys = zip(*params.corners, strict=True)
    width = max(max(xs) - min(xs), max(ys) - min(ys))
    room = _BEYOND * width
    all_x = [*xs, *(min(max(x, min(xs) - room), max(xs) + room) for x, _ in ends)]
    all_y = [*ys, *(min(max(y, min(ys) - room), max(ys) + room) for _, y in ends)]
    pad = 0.1 * width
    frame = (min(all_x) - pad, min(all_y) - pad, max(all_x) + pad, max(all_y) + pad)
    drawing = Drawing(frame, size=340)
    for value in params.coordinate_grid or ():
        low, high = min(ys) - pad / 3, max(ys) + pad / 3
        drawing.line([(value, low), (value, high)], "faint", width=1)
        low, high = min(xs) - pad / 3, max(xs) + pad / 3
        drawing.line([(low, value), (high, value)], "faint", width=1)
    for value in params.coordinate_grid or ():
        drawing.text((value, min(ys) - pad * 0.7), f"{value:g}", "quiet", size=9)
        drawing.text((min(xs) - pad * 0.7, value), f"{value:g}", "quiet", size=9)
    drawing.line(params.corners, "ink", width=2.5, closed=True)
    for i, (x, y) in enumerate(params.corners):
        drawing.dot((x, y), "ink", radius=3.5, tip=f"corner {i} at {x:g}, {y:g}")
        if not params.coordinate_grid:
            words = f"({x:.4g}, {y:.4g})"
            at_left, above = 4 * x < sum(xs), 4 * y > sum(ys)
            shift = (-10 if at_left else 10, -13 if above else 13)
            anchor: Literal["start", "end"] = "start" if at_left else "end"
            drawing.text((x, y), words, "quiet", size=9, shift=shift, anchor=anchor)
    return drawing


def _on_frame(params: Params, position: float) -> Exact:
    """Return the place on the frame's boundary at a side's index plus the share of the side."""
    side, share = divmod(Fraction(position).limit_denominator(10**9), 1)
    a, b = params.corners[int(side) % 4], params.corners[(int(side) + 1) % 4]
    x, y = (
        Fraction(p) + share * (Fraction(q) - Fraction(p))
        for p, q in zip(a, b, strict=True)
    )
    return x, y


def pieces(params: Params, endpoints: Sequence[Mapping[str, Any]]) -> list[list[Exact]]:
    """Return the corners of the regions that the segments cut, as the grader placed their ends.

    Args:
        params: the instance.
        endpoints: of the verdict's metrics: four ends with a ``position`` each.
    """
    spots = [_on_frame(params, end["position"]) for end in endpoints]
    regions = [[(Fraction(x), Fraction(y)) for x, y in params.corners]]
    for a, b in (spots[:2], spots[2:]):
        regions = [half for region in regions for half in _halves(region, a, b)]
    return [_without_straight(region) for region in regions]


def _cross_product(a: Exact, b: Exact, p: Exact) -> Fraction:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def _halves(region: Sequence[Exact], a: Exact, b: Exact) -> list[list[Exact]]:
    values = [_cross_product(a, b, p) for p in region]
    halves: list[list[Exact]] = [[], []]
    for i, (p, value) in enumerate(zip(region, values, strict=True)):
        q, before = region[i - 1], values[i - 1]
        if value * before < 0:
            share = before / (before - value)
            x, y = q[0] + share * (p[0] - q[0]), q[1] + share * (p[1] - q[1])
            halves[0].append((x, y))
            halves[1].append((x, y))
        if value >= 0:
            halves[0].append(p)
        if value <= 0:
            halves[1].append(p)
    return [half for half in halves if len(_without_straight(half)) > 2]


def _without_straight(region: Sequence[Exact]) -> list[Exact]:
    n = len(region)
    return [
        p
        for i, p in enumerate(region)
        if _cross_product(region[i - 1], p, region[(i + 1) % n]) != 0
    ]


def _draw_regions(
    drawing: Drawing, params: Params, endpoints: Sequence[Mapping[str, Any]]
) -> None:
    for region in pieces(params, endpoints):
        corners = [(float(x), float(y)) for x, y in region]
        n = len(corners)
        drawing.area(corners, _ROLES.get(n, "quiet"), opacity=0.35)
        middle = (sum(x for x, _ in corners) / n, sum(y for _, y in corners) / n)
        drawing.text(middle, n, size=17, bold=True)


def _draw_segments(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts, legend: Legend
) -> None:
    failed = verdicts.failures
    bad = {i for check_id in ("length", "one_side") for i in failed.get(check_id, ())}
    same = verdicts.failed("distinct")
    for i, ends in enumerate(answer.segments):
        wrong = i in bad or (i == 1 and same)
        role = "wrong" if wrong else "answer"
        drawing.line(
            ends, role, width=4 if wrong else 3, dashed=wrong, tip=f"segment {i}"
        )
        for j, end in enumerate(ends):
            tip = f"end {j} of segment {i} at {end[0]:.6g}, {end[1]:.6g}"
            drawing.dot(end, role, radius=4, tip=tip)
    legend.append(("answer", "the two segments"))
    off = {(item["segment"], item["end"]): item for item in failed.get("boundary", ())}
    for end in verdicts.metrics.get("endpoints", ()):
        at = (end["segment"], end["end"])
        if at in off:
            place = drawing.nearest(answer.segments[at[0]][at[1]])
            _mark_off(drawing, params, place, end)
    for segment, j in failed.get("grid", ()):
        place = drawing.nearest(answer.segments[segment][j])
        drawing.ring(
            place, "wrong", radius=10, width=2.5, dashed=True, tip="not on the grid"
        )
    wrong_places = {
        "end off the frame, and how far": off,
        "dashed ring: end not on the grid": "grid" in failed,
        "dashed: segment that cuts nothing off": bad or same,
    }
    legend += wrong_line(wrong_places)
    for i in failed.get("length", ()):
        place = drawing.nearest(answer.segments[i][0])
        drawing.ring(place, "wrong", radius=10, width=2.5, tip="both ends at one place")


def _mark_off(
    drawing: Drawing, params: Params, place: XY, end: Mapping[str, Any]
) -> None:
    distance = end["distance"]
    if end["position"] is not None:
        x, y = _on_frame(params, end["position"])
        drawing.line([place, (float(x), float(y))], "wrong", width=2, dashed=True)
    drawing.ring(place, "wrong", radius=9, width=2.5, tip="not on the frame")
    words = "far away" if distance is None else f"{distance:.2g} off"
    right = drawing.at(place)[0] > drawing.width * 0.7
    anchor: Literal["start", "end"] = "end" if right else "start"
    shift = (-12 if right else 12, 10)
    drawing.text(place, words, "wrong", anchor=anchor, shift=shift, bold=True)


def _tally(targets: Mapping[int, int], regions: Mapping[int, int] | None) -> Drawing:
    """Return small polygons in columns: those asked for above those made."""
    columns: list[tuple[int, bool, bool]] = []
    for sides in targets:
        n, m = targets[sides], targets[sides] if regions is None else regions[sides]
        columns += [(sides, i < n, i < m) for i in range(max(n, m))]
    rows = 1 if regions is None else 2
    step = 46
    left_edge = 78 if regions is not None else 0
    frame = (left_edge + step * max(len(columns), 4), step * rows)
    drawing = Drawing((0, 0, *frame), size=max(frame), up=False, margin=6)
    if regions is not None:
        drawing.text((0, step / 2), "asked for", anchor="start", size=13)
        drawing.text((0, step * 1.5), "made", anchor="start", size=13)
    for i, (sides, expected, there) in enumerate(columns):
        x = left_edge + step * (i + 0.5)
        if regions is not None and not (expected and there):
            role = "missing" if expected else "wrong"
            drawing.box((x - 22, 1), (x + 22, 2 * step - 1), role, opacity=0.12)
        for row, solid in enumerate((expected, there)[:rows]):
            y = step * (row + 0.5)
            shape = _regular(sides, (x, y), 15)
            if solid:
                edge = "wrong" if row and not expected else "ink"
                drawing.area(
                    shape, _ROLES[sides], opacity=0.6, edge=edge, width=1.5 + row
                )
                drawing.text((x, y), sides, size=13, bold=True)
                if row and not expected:
                    drawing.cross((x + 15, y - 15), "wrong", radius=4, width=2.5)
            else:
                role = "missing" if row else "quiet"
                drawing.line(shape, role, closed=True, dashed=True, width=1 + 1.2 * row)
    return drawing


def _regular(sides: int, centre: XY, radius: float) -> list[XY]:
    turn = math.pi / 2 if sides % 2 else math.pi / sides
    angles = [turn + 2 * math.pi * i / sides for i in range(sides)]
    return [
        (centre[0] + radius * math.cos(a), centre[1] - radius * math.sin(a))
        for a in angles
    ]


def _caption(
    target_words: str, regions: Mapping[int, int] | None, verdicts: Verdicts
) -> str:
    if not verdicts:
        return f"Two segments; asked for: {target_words}."
    request = f"asked for: {target_words}"
    faults = verdicts.faults(
        {"grid": "{n} ends not on the grid|{n} end not on the grid"}
    )
    if regions is not None:
        return f"{'; '.join([f'Made: {_count_words(regions)}', request, *faults, verdicts.fraction])}."
    faults += verdicts.faults(texts("two_segments.faults"))
    summary = ", ".join(faults) or "The cut cannot be counted"
    return f"{summary[:1].upper()}{summary[1:]}; {request}; {verdicts.fraction}."
