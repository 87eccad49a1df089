"""A square or cube cut into boxes: the target, and the boxes that an answer lists."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scbench.base.wording import counted
from scbench.graders.half_subdivision_neighbours import boxes as integer_boxes
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, Shape, boxes, wire
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.schemas.half_subdivision_neighbours import AXES, Answer, Params

# Bits of a label that are drawn; deeper boxes are too small to be visible.
_DEEPEST = 60
TARGET = "target"
RIGHT = "right"
MISSING = "missing"
SURPLUS = "wrong"
# The parts that boxes can play, named by their colour roles and in drawing order.
_PARTS = (RIGHT, "answer", MISSING, SURPLUS, TARGET)
_OPACITY = {TARGET: 0.85, RIGHT: 0.45, "answer": 0.4, SURPLUS: 0.3}
_LEGEND = {
    TARGET: "the target",
    RIGHT: "listed, and a neighbour",
    "answer": "listed",
    MISSING: "a neighbour, but not listed",
    SURPLUS: "listed, but not a neighbour",
}
# Pixels of a letter of a label.
_LETTER = 6.2
# Pixels of a drawing of the square, and of a cut through the cube.
_SQUARE = 340
_CUT = 220
# How far boxes are pulled apart, in sides of the target.
_GAP = 0.45
# Distance from the target, in its sides, within which boxes are drawn when pulled
# apart.
_NEAR = 1.1
# A target with a shorter side than this gets a close-up, with this much margin in sides
# of the target.
_SMALL = 0.2
_CLOSE_ROOM = 1.6
# Maximum number of labels of a part printed in a terminal.
_MOST_LABELS = 50
# Faults in words, by check id, for one label and for several.
_FAULTS = {
    "tree": ("label that is not a leaf", "labels that are not leaves"),
    "leaves": ("label of a box that was cut", "labels of boxes that were cut"),
    "repeats": ("label listed twice", "labels listed twice"),
}

# Lowest and highest coordinate along each axis.
Box = tuple[tuple[float, float], ...]
XY = tuple[float, float]
# Left, bottom, right, top.
Frame = tuple[float, float, float, float]

_WHOLE: Frame = (-0.01, -0.01, 1.01, 1.01)


class Corners(NamedTuple):
    """Lowest and highest corner of a box in space."""

    low: Sequence[float]
    high: Sequence[float]


class Rectangle(NamedTuple):
    """Lowest and highest corner of a flat box."""

    low: XY
    high: XY

    @property
    def middle(self) -> XY:
        """Middle of the box."""
        return (self.low[0] + self.high[0]) / 2, (self.low[1] + self.high[1]) / 2

    @property
    def ring(self) -> list[XY]:
        """Corners of the box, the first one again at the end."""
        return [*rectangle(self.low, self.high), self.low]

    @property
    def sides(self) -> XY:
        """Width and height of the box."""
        return self.high[0] - self.low[0], self.high[1] - self.low[1]


class LabelledBoxes(NamedTuple):
    """The boxes of a tree and of an answer, and their labels grouped by part.

    Attributes:
        places: the box of each label.
        parts: labels of leaves for each part.
        strangers: labels that are not leaves.
        marked: leaves that are listed twice, and the target if it is listed.
    """

    places: Mapping[str, Box]
    parts: Mapping[str, Sequence[str]]
    strangers: Sequence[str]
    marked: Sequence[str]

    @property
    def target(self) -> Box:
        """The box of the target."""
        return self.places[self.parts[TARGET][0]]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target among the boxes; with an answer, also right, missing and wrong boxes."""
    tree = labelled_boxes(params, answer, verdicts)
    caption = question(params)
    if answer is not None:
        caption = answer_caption(answer, tree, verdicts)
    draw_panels = square_panels if params.dimension == "2D" else cube_panels
    panels = draw_panels(tree, caption)
    legend = [(part, words) for part, words in _LEGEND.items() if tree.parts.get(part)]
    if tree.strangers:
        look = "hatched" if params.dimension == "2D" else "dashed"
        legend.append((SURPLUS, f"{look}: listed, but not a leaf"))
    if tree.marked:
        legend.append((SURPLUS, "thick edges: listed twice, or the target itself"))
    return Picture(tuple(panels), caption, tuple(legend), tree_text(params, tree))


def labelled_boxes(
    params: Params, answer: Answer | None, verdicts: Verdicts
) -> LabelledBoxes:
    """Return the boxes of the tree and of an answer, grouped by part."""
    parts: dict[str, Sequence[str]] = {TARGET: (params.target,)}
    strangers: list[str] = []
    marked: list[str] = []
    if answer is not None:
        metrics = verdicts.metrics
        failed = verdicts.failures
        leaves = set(params.leaves) - {params.target}
        answered = [
            label for label in dict.fromkeys(answer.neighbors) if label in leaves
        ]
        if "surplus" in metrics:
            surplus = set(metrics["surplus"])
            parts[RIGHT] = [label for label in answered if label not in surplus]
            parts[MISSING] = metrics["missing"]
            parts[SURPLUS] = metrics["surplus"]
            strangers = [*failed.get("tree", ()), *failed.get("leaves", ())]
            marked = [label for label in failed.get("repeats", ()) if label in leaves]
            if "target" in failed:
                marked.append(params.target)
        else:
            parts["answer"] = answered
    places = unit_boxes(params, (*params.leaves, *strangers))
    return LabelledBoxes(places, parts, strangers, marked)


def unit_boxes(params: Params, labels: Iterable[str]) -> dict[str, Box]:
    """Return the box of each label in the unit square or cube, down to `_DEEPEST` bits."""
    names = {label: label[:_DEEPEST] for label in labels}
    unit = 1 << max(map(len, names.values()), default=0)
    axes = AXES[params.dimension]
    integer = integer_boxes(names.values(), params.axis_cycle, axes)
    places = {}
    for label, name in names.items():
        places[label] = tuple((low / unit, high / unit) for low, high in integer[name])
    return places


def square_panels(tree: LabelledBoxes, caption: str) -> list[Panel]:
    """Return the square, and a close view of a small target."""
    panels = [Panel("the square", plan(tree, _WHOLE, _SQUARE), caption)]
    if min(high - low for low, high in tree.target) < _SMALL:
        close = plan(tree, frame_around(tree.target), _SQUARE)
        alt = f"The same, larger. {caption}"
        panels.append(Panel("close to the target", close, alt))
    return panels


def frame_around(box: Box) -> Frame:
    """Return the frame in the unit square that shows a box with a margin on all sides."""
    room = _CLOSE_ROOM * max(high - low for low, high in box)
    (x0, x1), (y0, y1) = box
    left_edge, bottom, right, top = _WHOLE
    return (
        max(x0 - room, left_edge),
        max(y0 - room, bottom),
        min(x1 + room, right),
        min(y1 + room, top),
    )


def plan(tree: LabelledBoxes, frame: Frame, size: float) -> Drawing:
    """Return the square, or its part inside a frame, with labels where they fit.

    Args:
        tree: boxes of two intervals each.
        frame: what to show.
        size: side of the drawing in pixels.
    """
    left_edge, bottom, right, top = frame
    in_frame = {}
    for label, ((x0, x1), (y0, y1)) in tree.places.items():
        meets_x = x1 >= left_edge and x0 <= right
        meets_y = y1 >= bottom and y0 <= top
        if meets_x and meets_y:
            in_frame[label] = Rectangle((x0, y0), (x1, y1))
    drawing = Drawing(frame, size=size, margin=8)
    strangers = set(tree.strangers)
    leaves = {label: box for label, box in in_frame.items() if label not in strangers}
    drawing.strokes((box.ring for box in leaves.values()), "faint")
    for part in _PARTS:
        for label in tree.parts.get(part, ()):
            if label in in_frame:
                paint_box(drawing, in_frame[label], part, f"{label}: {part}")
    for label in tree.strangers:
        if label in in_frame:
            box = in_frame[label]
            tip = f"{label[:_DEEPEST]} is not a leaf"
            drawing.box(*box, SURPLUS, hatched=True, edge=SURPLUS, width=3, tip=tip)
            drawing.ring(box.middle, SURPLUS, radius=7)
    for label in tree.marked:
        if label in in_frame:
            box = in_frame[label]
            drawing.line(box.ring, SURPLUS, width=4, closed=True)
            # Thick edges of a small box look like a dot.
            if max(box.sides) * drawing.scale < 24:
                drawing.ring(box.middle, SURPLUS, radius=14)
    write_labels(drawing, leaves, tree, frame)
    return drawing


def paint_box(drawing: Drawing, box: Rectangle, part: str, tip: str) -> None:
    """Draw a box in the style of its part."""
    if part == MISSING:
        drawing.box(
            *box, part, hatched=True, edge=part, dashed=True, width=2.5, tip=tip
        )
        return
    width = 3 if part == SURPLUS else 1.5
    drawing.box(*box, part, opacity=_OPACITY[part], edge=part, width=width, tip=tip)
    if part == SURPLUS:
        span = min(box.sides) * drawing.scale
        drawing.cross(box.middle, part, radius=min(max(span * 0.4, 4), 12))


def write_labels(
    drawing: Drawing,
    leaves: Mapping[str, Rectangle],
    tree: LabelledBoxes,
    frame: Frame,
) -> None:
    """Write the labels that fit; if most do not, write only those of boxes that play a part."""
    left_edge, bottom, right, top = frame
    fitting: dict[str, XY] = {}
    for label, ((x0, y0), (x1, y1)) in leaves.items():
        box = Rectangle(
            (max(x0, left_edge), max(y0, bottom)), (min(x1, right), min(y1, top))
        )
        width, height = (side * drawing.scale for side in box.sides)
        if width > _LETTER * len(label) + 4 and height > 12:
            fitting[label] = box.middle
    if 2 * len(fitting) < len(leaves):
        matter = {label for labels in tree.parts.values() for label in labels}
        fitting = {label: at for label, at in fitting.items() if label in matter}
    for label, at in fitting.items():
        drawing.text(at, label, bold=label in tree.parts.get(TARGET, ()), size=10.5)


def cube_panels(tree: LabelledBoxes, caption: str) -> list[Panel]:
    """Return the cube and cuts through the target; for an answer, also an exploded view."""
    panels = [Panel("in the cube", cube(tree), caption)]
    if len(tree.parts) > 1:
        title = "the boxes around the target, pulled apart"
        return [*panels, Panel(title, pulled_apart(tree), f"The same. {caption}")]
    for axis, name in enumerate(AXES["3D"]):
        low, high = tree.target[axis]
        at = (low + high) / 2
        right, up = (direction for direction in AXES["3D"] if direction != name)
        title = f"cut at {name} = {at:.4g} ({right} right, {up} up)"
        alt = f"The boxes in a cut through the target, perpendicular to {name}."
        panels.append(Panel(title, section(tree, axis, at), alt))
    return panels


def section(tree: LabelledBoxes, axis: int, at: float) -> Drawing:
    """Return the cut through a cube across an axis; the other two axes go right and up."""
    cut = {}
    for label, box in tree.places.items():
        low, high = box[axis]
        if low <= at < high:
            cut[label] = (*box[:axis], *box[axis + 1 :])
    return plan(tree._replace(places=cut), _WHOLE, _CUT)


def cube(tree: LabelledBoxes) -> Scene:
    """Return the whole cube with the boxes that play a part."""

    def corners(labels: Iterable[str]) -> list[Corners]:
        return [box_corners(tree.places[label]) for label in labels]

    parts: list[Shape] = [wire((0, 0, 0), (1, 1, 1), "quiet")]
    for part in _PARTS:
        parts += part_shapes(corners(tree.parts.get(part, ())), part)
    parts += outlines(corners(tree.strangers), corners(tree.marked))
    ends = np.array([(1.07, 0, 0), (0, 1.07, 0), (0, 0, 1.07)])
    parts.append(Marks(ends, "quiet", 0, ("x", "y", "z")))
    return Scene(tuple(parts))


def box_corners(box: Box) -> Corners:
    """Return the corners of a box in space."""
    return Corners([low for low, _ in box], [high for _, high in box])


def pulled_apart(tree: LabelledBoxes) -> Scene:
    """Return the target and the boxes near it, each moved away from the target.

    Boxes far from the target are left out, and large boxes are cut off.
    """

    def corners(labels: Iterable[str]) -> dict[str, Corners]:
        boxes_near = {}
        for label in labels:
            box = moved_apart(tree.places[label], tree.target)
            if box is not None:
                boxes_near[label] = box
        return boxes_near

    parts: list[Shape] = []
    for part in _PARTS:
        members = corners(tree.parts.get(part, ()))
        parts += part_shapes(list(members.values()), part)
        if members:
            middles = np.array([np.mean(box, axis=0) for box in members.values()])
            parts.append(Marks(middles, "ink", 0, tuple(members)))
    strangers = corners(tree.strangers)
    marked = corners(tree.marked)
    parts += outlines(list(strangers.values()), list(marked.values()))
    return Scene(tuple(parts))


def moved_apart(box: Box, target: Box) -> Corners | None:
    """Return the part of a box near the target, moved away from the target; None if empty."""
    side = max(high - low for low, high in target)
    lows = []
    highs = []
    for (low, high), (target_low, target_high) in zip(box, target, strict=True):
        start = max(low, target_low - _NEAR * side)
        end = min(high, target_high + _NEAR * side)
        if end <= start:
            return None
        shift = 0.0
        if low >= target_high:
            shift = _GAP * side
        elif high <= target_low:
            shift = -_GAP * side
        lows.append(start + shift)
        highs.append(end + shift)
    return Corners(lows, highs)


def part_shapes(members: Sequence[Corners], part: str) -> list[Mesh | Lines]:
    """Return boxes in the style of their part."""
    if not members:
        return []
    if part == MISSING:
        edges = boxes(members, part).outline
        pale = boxes(members, part, opacity=0.15, name=part, edges=False)
        return [Lines(edges, part, 3, dashed=True, name=part), pale]
    opacity = 1.0 if part == TARGET else 0.45
    return [boxes(members, part, opacity=opacity, name=part)]


def outlines(strangers: Sequence[Corners], marked: Sequence[Corners]) -> list[Lines]:
    """Return only the edges of boxes that are inside or around other drawn boxes."""
    lines = []
    if strangers:
        edges = boxes(strangers, SURPLUS).outline
        lines.append(Lines(edges, SURPLUS, 3.5, dashed=True, name="not a leaf"))
    if marked:
        edges = boxes(marked, SURPLUS).outline
        lines.append(Lines(edges, SURPLUS, 3.5, name="listed twice, or the target"))
    return lines


def question(params: Params) -> str:
    """Return the caption of an instance."""
    shape, shared = ("square", "side") if params.dimension == "2D" else ("cube", "face")
    return (
        f"A {shape} is cut into {len(params.leaves)} boxes, along the axes "
        f"{' '.join(params.axis_cycle)} in a repeating cycle. Which boxes share a piece of a "
        f"{shared} with {params.target}?"
    )


def answer_caption(answer: Answer, tree: LabelledBoxes, verdicts: Verdicts) -> str:
    """Return how many right and wrong boxes an answer lists."""
    summary = f"{counted(len(answer.neighbors), 'label')} listed"
    if not verdicts:
        return f"{summary}."
    metrics = verdicts.metrics
    if "missing" not in metrics:
        return f"{summary}, which is more than the limit; {verdicts.fraction}."
    right = len(tree.parts[RIGHT])
    missing = len(tree.parts[MISSING])
    surplus = len(tree.parts[SURPLUS])
    parts = [f"{right} of {counted(right + missing, 'neighbour')} listed"]
    if surplus:
        finding = counted(
            surplus,
            "box that is not a neighbour",
            "boxes that are not neighbours",
        )
        grazing = len(metrics.get("grazing", ()))
        if grazing:
            touching = counted(grazing, "touches", "touch")
            finding += f" ({touching} only at a corner or edge)"
        parts.append(finding)
    for check in verdicts[0].failed:
        if check.id == "target":
            parts.append("the target itself listed")
        if check.id in _FAULTS:
            parts.append(counted(check.details.get("count", 0), *_FAULTS[check.id]))
    return f"{'; '.join(parts)}; {verdicts.fraction}."


def tree_text(params: Params, tree: LabelledBoxes) -> str:
    """Return the labels of each part as lines of text."""
    cycle = " ".join(params.axis_cycle)
    count = len(params.leaves)
    lines = [
        f"{params.dimension}, cut along {cycle} in a repeating cycle: {count} leaves"
    ]
    rows = {words: tree.parts.get(part, ()) for part, words in _LEGEND.items()}
    rows["listed, but not a leaf"] = tree.strangers
    for words, labels in rows.items():
        if not labels:
            continue
        lines.append(f"{words}:")
        lines += [f"  {label}" for label in labels[:_MOST_LABELS]]
        if len(labels) > _MOST_LABELS:
            lines.append(f"  and {len(labels) - _MOST_LABELS} more")
    return "\n".join(lines)
