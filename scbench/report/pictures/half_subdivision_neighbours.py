"""A square or cube of halved boxes: the target, and the boxes that were named as its neighbours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scbench.graders.half_subdivision_neighbours import boxes as integer_boxes
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, boxes, wire
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Params

Interval = tuple[float, float]
Box = tuple[Interval, ...]
Ends = tuple[list[float], list[float]]
Frame = tuple[float, float, float, float]

# Labels are followed so far down; such boxes are far too small to be seen.
DEEPEST = 60

TARGET, RIGHT, MISSING, SURPLUS = "target", "right", "missing", "wrong"
# The parts that boxes can play, named like their colours, in the order they are
# painted.
ORDER = (RIGHT, "answer", MISSING, SURPLUS, TARGET)
_OPACITY = {TARGET: 0.85, RIGHT: 0.45, "answer": 0.4, SURPLUS: 0.3}
# Pixels of a letter of a label.
_LETTER = 6.2
# How far boxes are pulled apart, in sides of the target.
_GAP = 0.45


# A target with a shorter side than this gets a close view of its own.
_SMALL = 0.2
_WORDS = {
    TARGET: "the target",
    RIGHT: "named, and a neighbour",
    "answer": "named",
    MISSING: "a neighbour, but not named",
    SURPLUS: "named, but no neighbour",
}


class Sorted(NamedTuple):
    """Labels by the part they play; boxes that are no leaves; leaves that should be named less."""

    parts: Mapping[str, Sequence[str]]
    strangers: Sequence[str] = ()
    marked: Sequence[str] = ()


def unit_boxes(
    labels: Iterable[str], cycle: Sequence[str], axes: Sequence[str]
) -> dict[str, Box]:
    """Return the box of each label, followed `DEEPEST` bits down."""
    names = {label: label[:DEEPEST] for label in labels}
    unit = 1 << max(map(len, names.values()), default=0)
    integer = integer_boxes(names.values(), cycle, axes)
    return {
        label: tuple((low / unit, high / unit) for low, high in integer[name])
        for label, name in names.items()
    }


def plan(
    places: Mapping[str, Box], groups: Sorted, frame: Frame, size: float
) -> Drawing:
    """Return the square, or what a frame holds of it, with labels where they fit.

    Args:
        places: the box of every label, two intervals each.
        groups: which of them are the target, right, missing, and so on.
        frame: what to show: left, bottom, right, top.
        size: side of the drawing in pixels.
    """
    left_edge, bottom, right_edge, top = frame
    in_frame = {
        label: ((x0, y0), (x1, y1))
        for label, ((x0, x1), (y0, y1)) in places.items()
        if x1 >= left_edge and x0 <= right_edge and y1 >= bottom and y0 <= top
    }
    drawing = Drawing(frame, size=size, margin=8)
    leaves = [label for label in in_frame if label not in set(groups.strangers)]
    drawing.strokes((_box_ring(*in_frame[label]) for label in leaves), "faint")
    for part in ORDER:
        for label in groups.parts.get(part, ()):
            if label in in_frame:
                _paint(drawing, in_frame[label], part, label)
    for label in filter(in_frame.__contains__, groups.strangers):
        low, high = in_frame[label]
        tip = f"{label[:DEEPEST]} is no leaf"
        drawing.box(low, high, SURPLUS, hatched=True, edge=SURPLUS, width=3, tip=tip)
        drawing.ring(_box_middle(low, high), SURPLUS, radius=7)
    for label in filter(in_frame.__contains__, groups.marked):
        low, high = in_frame[label]
        drawing.line(_box_ring(low, high), SURPLUS, width=4, closed=True)
        if max(high[0] - low[0], high[1] - low[1]) * drawing.scale < 24:
            drawing.ring(_box_middle(low, high), SURPLUS, radius=14)
    _write_labels(drawing, {label: in_frame[label] for label in leaves}, groups, frame)
    return drawing


def _write_labels(
    drawing: Drawing,
    in_frame: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    groups: Sorted,
    frame: Frame,
) -> None:
    """Write labels where they fit: all of them, or if most do not, those that matter."""
    left_edge, bottom, right_edge, top = frame
    fitting: dict[str, tuple[float, float]] = {}
    for label, ((x0, y0), (x1, y1)) in in_frame.items():
        low, high = (
            (max(x0, left_edge), max(y0, bottom)),
            (min(x1, right_edge), min(y1, top)),
        )
        width, height = (
            (b - a) * drawing.scale for a, b in zip(low, high, strict=True)
        )
        if width > _LETTER * len(label) + 4 and height > 12:
            fitting[label] = _box_middle(low, high)
    if 2 * len(fitting) < len(in_frame):
        matter = {label for labels in groups.parts.values() for label in labels}
        fitting = {label: at for label, at in fitting.items() if label in matter}
    for label, at in fitting.items():
        drawing.text(at, label, bold=label in groups.parts.get(TARGET, ()), size=10.5)


def _box_ring(low: Sequence[float], high: Sequence[float]) -> list[tuple[float, float]]:
    return [*rectangle(low, high), (low[0], low[1])]


def _box_middle(low: Sequence[float], high: Sequence[float]) -> tuple[float, float]:
    return (low[0] + high[0]) / 2, (low[1] + high[1]) / 2


def _paint(
    drawing: Drawing,
    box: tuple[Sequence[float], Sequence[float]],
    part: str,
    label: str,
) -> None:
    low, high = box
    tip = f"{label}: {part}"
    if part == MISSING:
        drawing.box(
            low, high, part, hatched=True, edge=part, dashed=True, width=2.5, tip=tip
        )
        return
    width = 3 if part == SURPLUS else 1.5
    drawing.box(
        low, high, part, opacity=_OPACITY[part], edge=part, width=width, tip=tip
    )
    if part == SURPLUS:
        span = min(high[0] - low[0], high[1] - low[1]) * drawing.scale
        drawing.cross(_box_middle(low, high), part, radius=min(max(span * 0.4, 4), 12))


def around(box: Box, room: float) -> Frame:
    """Return the frame in the unit square that shows a box with room on all sides of it."""
    sides = max(high - low for low, high in box)
    (x0, x1), (y0, y1) = (
        (low - room * sides, high + room * sides) for low, high in box
    )
    return max(x0, -0.01), max(y0, -0.01), min(x1, 1.01), min(y1, 1.01)


def section(places: Mapping[str, Box], groups: Sorted, axis: int, at: float) -> Drawing:
    """Return the cut through a cube across an axis; the other two axes go right and up."""
    flat_axes = [i for i in range(3) if i != axis]
    cut = {
        label: tuple(box[i] for i in flat_axes)
        for label, box in places.items()
        if box[axis][0] <= at < box[axis][1]
    }
    return plan(cut, groups, (-0.01, -0.01, 1.01, 1.01), 220)


def cube(places: Mapping[str, Box], groups: Sorted) -> Scene:
    """Return the whole cube with the boxes that play a part."""
    parts: list[Shape] = [wire((0, 0, 0), (1, 1, 1), "quiet")]
    for part in ORDER:
        members = [
            places[label] for label in groups.parts.get(part, ()) if label in places
        ]
        parts += _boxes([_box_ends(box) for box in members], part)
    for labels, dashed in ((groups.strangers, True), (groups.marked, False)):
        outlined = [_box_ends(places[label]) for label in labels if label in places]
        parts += _box_edges(outlined, dashed)
    ends = np.array([(1.07, 0, 0), (0, 1.07, 0), (0, 0, 1.07)])
    parts.append(Marks(ends, "quiet", 0, ("x", "y", "z")))
    return Scene(tuple(parts))


def pulled_apart(places: Mapping[str, Box], groups: Sorted, target: str) -> Scene:
    """Return the target and the boxes near it, each moved away along the axes where it lies beside.

    What lies far from the target is left out, and large boxes are cut off.
    """
    centre = places[target]
    side = max(high - low for low, high in centre)
    near = [(low - 1.1 * side, high + 1.1 * side) for low, high in centre]

    def ends_after(labels: Iterable[str]) -> dict[str, Ends]:
        present = (label for label in labels if label in places)
        ends = {
            label: _moved_apart(places[label], centre, near, _GAP * side)
            for label in present
        }
        return {label: box for label, box in ends.items() if box is not None}

    parts: list[Shape] = []
    for part in ORDER:
        members = ends_after(groups.parts.get(part, ()))
        parts += _boxes(list(members.values()), part)
        if members:
            middles = np.array([np.mean(ends, axis=0) for ends in members.values()])
            parts.append(Marks(middles, "ink", 0, tuple(members)))
    for labels, dashed in ((groups.strangers, True), (groups.marked, False)):
        parts += _box_edges(list(ends_after(labels).values()), dashed)
    return Scene(tuple(parts))


def _moved_apart(
    box: Box, centre: Box, near: Sequence[Interval], gap: float
) -> Ends | None:
    low, high = [], []
    for (a, b), (c, d), (least, greatest) in zip(box, centre, near, strict=True):
        start, end = max(a, least), min(b, greatest)
        if end <= start:
            return None
        shift = gap * ((a >= d) - (b <= c))
        low.append(start + shift)
        high.append(end + shift)
    return low, high


def _box_ends(box: Box) -> Ends:
    return [low for low, _ in box], [high for _, high in box]


def _box_edges(ends: Sequence[Ends], dashed: bool) -> list[Lines]:
    """Return the edges alone, for boxes inside or around others that are drawn."""
    if not ends:
        return []
    name = "no leaf" if dashed else "named once too often"
    return [Lines(boxes(ends, SURPLUS).outline, SURPLUS, 3.5, dashed=dashed, name=name)]


def _boxes(ends: Sequence[Ends], part: str) -> Iterator[Mesh | Lines]:
    if not ends:
        return
    if part == MISSING:
        yield Lines(boxes(ends, part).outline, part, 3, dashed=True, name=part)
        yield boxes(ends, part, opacity=0.15, name=part, edges=False)
    else:
        opacity = 1.0 if part == TARGET else 0.45
        yield boxes(ends, part, opacity=opacity, name=part)


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target in its tree; with an answer its neighbours, right, missing and surplus."""
    axes = AXES[params.dimension]
    groups = _sort_labels(params, answer, verdicts)
    labels = dict.fromkeys((*params.leaves, *groups.strangers))
    places = unit_boxes(labels, params.axis_cycle, axes)
    caption = _caption(params, answer, groups, verdicts)
    panels = (_square_panels if len(axes) == 2 else _cube_panels)(
        params, places, groups, caption
    )
    legend = [(part, words) for part, words in _WORDS.items() if groups.parts.get(part)]
    if groups.strangers:
        legend.append((SURPLUS, "hatched or dashed: named, but no leaf of the tree"))
    if groups.marked:
        legend.append((SURPLUS, "thick edges: named twice, or the target itself"))
    return Picture(tuple(panels), caption, tuple(legend), _text(params, groups))


def _sort_labels(params: Params, answer: Answer | None, verdicts: Verdicts) -> Sorted:
    parts: dict[str, Sequence[str]] = {TARGET: (params.target,)}
    if answer is None:
        return Sorted(parts)
    metrics = verdicts.metrics
    leaves = set(params.leaves) - {params.target}
    answered = [label for label in dict.fromkeys(answer.neighbors) if label in leaves]
    if "surplus" not in metrics:
        return Sorted(parts | {"answer": answered})
    surplus = set(metrics["surplus"])
    failed = verdicts.failures
    parts[RIGHT] = [label for label in answered if label not in surplus]
    parts[MISSING] = list(metrics["missing"])
    parts[SURPLUS] = list(metrics["surplus"])
    strangers = (*failed.get("tree", ()), *failed.get("leaves", ()))
    marked = [label for label in failed.get("repeats", ()) if label in leaves]
    marked += [params.target] * ("target" in failed)
    return Sorted(parts, strangers, marked)


def _square_panels(
    params: Params, places: dict[str, Box], groups: Sorted, caption: str
) -> list[Panel]:
    target = places[params.target]
    square = plan(places, groups, (-0.01, -0.01, 1.01, 1.01), 340)
    panels = [Panel("the square", square, caption)]
    if min(high - low for low, high in target) < _SMALL:
        close = plan(places, groups, around(target, 1.6), 340)
        panels.append(
            Panel("close to the target", close, f"The same, larger. {caption}")
        )
    return panels


def _cube_panels(
    params: Params, places: dict[str, Box], groups: Sorted, caption: str
) -> list[Panel]:
    panels = [Panel("in the cube", cube(places, groups), caption)]
    if len(groups.parts) > 1:
        apart = pulled_apart(places, groups, params.target)
        panels.append(
            Panel("close to the target, pulled apart", apart, f"The same. {caption}")
        )
        return panels
    for axis, name in enumerate(AXES["3D"]):
        low, high = places[params.target][axis]
        cut = section(places, groups, axis, (low + high) / 2)
        right, up = (direction for direction in AXES["3D"] if direction != name)
        title = f"cut at {name} = {(low + high) / 2:.4g} ({right} right, {up} up)"
        panels.append(
            Panel(title, cut, f"The boxes in a cut through the target across {name}.")
        )
    return panels


def _caption(
    params: Params, answer: Answer | None, groups: Sorted, verdicts: Verdicts
) -> str:
    shape = "square" if params.dimension == "2D" else "cube"
    if answer is None:
        return (
            f"A {shape} halved into {len(params.leaves)} boxes (along {' '.join(params.axis_cycle)}"
            f", over and over): which share a {'side' if shape == 'square' else 'face'} with "
            f"{params.target}?"
        )
    if not verdicts:
        return f"{len(answer.neighbors)} boxes named."
    if not groups.parts.get(RIGHT) and "missing" not in verdicts.metrics:
        return (
            f"{len(answer.neighbors)} boxes named, far too many; {verdicts.fraction}."
        )
    right, missing, surplus = (
        len(groups.parts[part]) for part in (RIGHT, MISSING, SURPLUS)
    )
    parts = [f"{right} of {right + missing} neighbours named"]
    grazing = len(verdicts.metrics.get("grazing", ()))
    if surplus:
        touch = f" ({grazing} touch at a corner or edge only)" if grazing else ""
        parts.append(
            f"{surplus} that {'are' if surplus > 1 else 'is'} no neighbour{touch}"
        )
    words = texts("half_subdivision_neighbours.faults")
    for check in verdicts[0].failed:
        n = check.details.get("count", 0)
        if check.id in words:
            parts.append(words[check.id].split("|")[0 if n > 1 else -1].format(n=n))
    return f"{'; '.join(parts)}; {verdicts.fraction}."


def _text(params: Params, groups: Sorted) -> str:
    cycle = " ".join(params.axis_cycle)
    lines = [
        f"{params.dimension}, halved along {cycle}, over and over: {len(params.leaves)} leaves"
    ]
    rows = [(_WORDS[part], groups.parts.get(part, ())) for part in _WORDS]
    rows.append(("named, but no leaf", groups.strangers))
    for words, labels in rows:
        if labels:
            lines.append(f"{words}:")
            lines += [f"  {label}" for label in labels[:50]]
            lines += [f"  and {len(labels) - 50} more"] if len(labels) > 50 else []
    return "\n".join(lines)
