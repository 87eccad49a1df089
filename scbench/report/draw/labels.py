"""Labels of a still picture: words next to marks and axes that do not overlap."""

from typing import Literal, NamedTuple

import numpy as np

from scbench.report.draw.camera import Camera
from scbench.report.draw.painter import Floats
from scbench.report.draw.scene import Marks, Scene
from scbench.report.draw.text_boxes import TextBox

Anchor = Literal["start", "middle", "end"]

# Letter heights in pixels.
_MARK_SIZE = 11.0
_AXIS_SIZE = 10.0
_MOST_LABELS = 150
# Mean width of a letter, in parts of its height.
_LETTER = 0.58
# Share of a label's width that is to the left of its x.
_SHARE_BEFORE: dict[Anchor, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}
# Pixels between a label and the sides of the picture.
_FRAME = 2
# Pixels between an axis and its labels.
_AXIS_GAP = 13
# Minimum distance in pixels between labels of two neighbouring axes.
_AXIS_SPACE = 8
# An axis shorter than this, in pixels, is seen end on and gets no labels.
_SHORTEST_AXIS = 20


class Label(NamedTuple):
    """Words on the screen; x and y of their middle or end, in pixels."""

    x: float
    y: float
    words: str
    role: str
    size: float
    anchor: Anchor

    def widened_box(self, by: float) -> TextBox:
        """Return the rectangle of the words, padded by this many pixels at both ends."""
        box = self.box
        return box._replace(x_min=box.x_min - by, x_max=box.x_max + by)

    @property
    def box(self) -> TextBox:
        """Estimated bounding rectangle of the words."""
        width = _LETTER * self.size * len(self.words)
        left_edge = self.x - width * _SHARE_BEFORE[self.anchor]
        top = self.y - self.size / 2
        bottom = self.y + self.size / 2
        return TextBox(left_edge, top, left_edge + width, bottom)


def labels_of(scene: Scene, camera: Camera) -> list[Label]:
    """Return the labels of marks and axes that do not overlap each other."""
    labels = axis_labels(scene, camera)
    boxes = [label.box for label in labels]
    marks = [part for part in scene.parts if isinstance(part, Marks) and part.labels]
    # Errors are labelled first.
    for part in sorted(marks, key=lambda part: part.role != "wrong"):
        dots = camera.project(part.points)[:, :2].tolist()
        for (x, y), words in zip(dots, part.labels, strict=True):
            if not words or len(labels) >= _MOST_LABELS:
                continue
            for label in labels_next_to(x, y, words, part):
                inside = moved_inside(label, camera.width)
                if not inside.box.overlaps(boxes):
                    labels.append(inside)
                    boxes.append(inside.box)
                    break
    return labels


def labels_next_to(x: float, y: float, words: str, part: Marks) -> list[Label]:
    """Return the possible labels of a dot at x and y in pixels, the best place first."""
    gap = part.size / 2 + 3
    offsets: list[tuple[float, float, Anchor]] = [
        (gap, -6, "start"),
        (-gap, -6, "end"),
        (gap, 7, "start"),
        (-gap, 7, "end"),
    ]
    # Words without a dot are centred at its place.
    if part.size <= 0:
        offsets = [(0, 0, "middle")]
    return [
        Label(x + dx, y + dy, words, part.role, _MARK_SIZE, anchor)
        for dx, dy, anchor in offsets
    ]


def moved_inside(label: Label, width: float) -> Label:
    """Return a label moved sideways so that the picture does not cut it off."""
    box = label.box
    cut_left = max(_FRAME - box.x_min, 0)
    cut_right = max(box.x_max - width + _FRAME, 0)
    return label._replace(x=label.x + cut_left - cut_right)


def axis_labels(scene: Scene, camera: Camera) -> list[Label]:
    """Return the names of the axes and the numbers at their ends."""
    if scene.grid is None:
        return []
    low, high = np.array(scene.grid, dtype=np.float64)
    middle = camera.project((low + high)[None] / 2)[0, :2]
    labels: list[Label] = []
    for axis, edge in enumerate(labelled_edges(low, high, camera)):
        start, end = camera.project(edge)[:, :2]
        along = end - start
        if np.hypot(*along) < _SHORTEST_AXIS:
            continue
        outwards = np.array([along[1], -along[0]]) / np.hypot(*along)
        if outwards @ (np.mean([start, end], axis=0) - middle) < 0:
            outwards *= -1
        # The ends are labelled slightly inside the axis, away from labels of other
        # axes.
        places = {
            0.08: f"{edge[0, axis]:.4g}",
            0.5: "xyz"[axis],
            0.92: f"{edge[1, axis]:.4g}",
        }
        for share, words in places.items():
            x, y = start + along * share + outwards * _AXIS_GAP
            label = Label(float(x), float(y), words, "quiet", _AXIS_SIZE, "middle")
            # Numbers of two axes that end in one corner must not run together.
            if label.widened_box(_AXIS_SPACE).overlaps(
                [earlier.box for earlier in labels]
            ):
                label = label._replace(y=label.y + _AXIS_SIZE + _FRAME)
            labels.append(label)
    return labels


def labelled_edges(low: Floats, high: Floats, camera: Camera) -> Floats:
    """Return the edges of a box along x, y and z at the rim of the picture, shape (3, 2, 3)."""
    towards_eye = camera.turn[2] > 0
    near = np.where(towards_eye, high, low)
    far = low + high - near
    base = np.where(towards_eye, low, high)[2]
    # The upright edge is at the left rim of the picture.
    one_side = [near[0], far[1], base]
    other_side = [far[0], near[1], base]
    sides = np.array([one_side, other_side])
    leftmost = int(np.argmin(camera.project(sides)[:, 0]))
    x, y, _ = sides[leftmost]
    along_x = [[low[0], near[1], base], [high[0], near[1], base]]
    along_y = [[near[0], low[1], base], [near[0], high[1], base]]
    along_z = [[x, y, low[2]], [x, y, high[2]]]
    return np.array([along_x, along_y, along_z])
