"""From a scene to the screen: where the eye stands, lines and dots as triangles, labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from scbench.report.draw.scene import Lines, Marks, Scene
from scbench.report.draw.zbuffer import Floats

Strokes = Floats
"""Triangles, shape (n, 3, 3)."""

_FARTHEST = 1e9
_MARGIN = 14.0
_AXES_MARGIN = 30.0
_DASH, _PAUSE = 6.0, 4.0
_MOST_DASHES = 200
_SIDES = 14
_LABEL = 11.0
_MOST_LABELS = 150


@dataclass(frozen=True, slots=True)
class Camera:
    """An eye infinitely far away.

    Attributes:
        turn: rows are the directions to the right, down and towards the eye, shape (3, 3).
        scale: pixels per unit of the scene.
        shift: added in pixels, shape (3,).
        width: of the screen in pixels.
        height: of the screen in pixels.
        axes: edges of the axes box, if the scene has one.
    """

    turn: Floats
    scale: float
    shift: Floats
    width: float
    height: float
    axes: tuple[Lines, ...]

    def project(self, points: Floats) -> Floats:
        """Return points (n, 3) as x, y and depth in pixels."""
        return tame(points) @ self.turn.T * self.scale + self.shift


def tame(points: Floats) -> Floats:
    """Return points with every coordinate finite and within reach: answers may be anything."""
    return np.clip(np.nan_to_num(points, nan=0.0), -_FARTHEST, _FARTHEST)


def camera_of(scene: Scene, width: float, height: float) -> Camera:
    """Return the camera that has all of a scene in view."""
    a, e = np.radians(scene.azimuth), np.radians(scene.elevation)
    turn = np.array(
        [
            [-np.sin(a), np.cos(a), 0.0],
            [np.sin(e) * np.cos(a), np.sin(e) * np.sin(a), -np.cos(e)],
            [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)],
        ]
    )
    points = np.concatenate([np.zeros((0, 3)), *_points(scene)])
    if not len(points):
        points = np.zeros((1, 3))
    projected = tame(points) @ turn.T
    low, high = projected.min(axis=0), projected.max(axis=0)
    margin = _AXES_MARGIN if scene.grid else _MARGIN
    size = np.maximum(high - low, 1e-9)
    scale = min((width - 2 * margin) / size[0], (height - 2 * margin) / size[1], 1e6)
    middle = (low + high) / 2
    shift = np.array([width / 2, height / 2, 0.0]) - middle * scale
    return Camera(turn, float(scale), shift, width, height, _axes(scene, turn[2]))


def _points(scene: Scene) -> Iterator[Floats]:
    for part in scene.parts:
        if isinstance(part, Lines):
            yield from part.paths
        else:
            yield part.points
    if scene.grid:
        yield np.array(scene.grid, dtype=np.float64)
        low, high = np.array(scene.grid, dtype=np.float64)
        yield (
            np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (high - low)
            + low
        )


def _axes(scene: Scene, eye: Floats) -> tuple[Lines, ...]:
    """Return the edges of the three sides of the axes box that lie behind everything."""
    if scene.grid is None:
        return ()
    box = np.array(scene.grid, dtype=np.float64)
    back = np.where(eye > 0, 0, 1)
    paths = []
    for axis in range(3):
        for ends in np.ndindex(2, 2):
            corner = np.insert(np.array(ends), axis, 0)
            across = [i for i in range(3) if i != axis]
            if not any(corner[i] == back[i] for i in across):
                continue  # an edge before the scene
            edge = np.stack([corner, corner])
            edge[1, axis] = 1
            paths.append(np.take_along_axis(box, edge, axis=0))
    return (Lines(tuple(paths), "faint", 1.0),)


def strokes_of(part: Lines | Marks, camera: Camera) -> Strokes:
    """Return lines or dots as triangles that face the eye, a little nearer than they are."""
    if isinstance(part, Marks):
        return _discs(camera.project(part.points), part.size / 2)
    paths = [path for path in part.paths if len(path) > 1]
    if not paths:
        return np.zeros((0, 3, 3))
    points = camera.project(np.concatenate(paths))
    # A line goes from each point to the next, but not from the last of a path.
    last = np.cumsum([len(path) for path in paths]) - 1
    first = np.delete(np.arange(len(points)), last)
    starts, ends = points[first], points[first + 1]
    if part.dashed:
        starts, ends = _dashes(starts, ends, part.width)
    return _ribbons(starts, ends, part.width)


def _dashes(starts: Floats, ends: Floats, width: float) -> tuple[Floats, Floats]:
    """Cut lines into dashes, with one at each end."""
    pause = _PAUSE + width  # each dash is longer by its width in the end
    length = np.hypot(*(ends - starts)[:, :2].T)
    count = np.clip(np.round((length + pause) / (_DASH + pause)), 1, _MOST_DASHES).astype(int)
    which = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    share = _DASH / (_DASH + pause)
    period = 1 / (count - 1 + share)
    begin = number * period[which]
    stop = np.minimum(begin + period[which] * share, 1.0)
    along = (ends - starts)[which]
    return starts[which] + along * begin[:, None], starts[which] + along * stop[:, None]


def _ribbons(starts: Floats, ends: Floats, width: float) -> Strokes:
    along = ends - starts
    length = np.hypot(along[:, 0], along[:, 1])
    unit = along[:, :2] / np.maximum(length, 1e-9)[:, None]
    half = width / 2
    # Ends stick out by half the width, so that corners close.
    ahead, side = np.zeros_like(starts), np.zeros_like(starts)
    ahead[:, :2], side[:, 0], side[:, 1] = unit * half, -unit[:, 1] * half, unit[:, 0] * half
    lift = np.array([0.0, 0.0, 1.0 + width])
    p, q = starts - ahead + lift, ends + ahead + lift
    a, b, c, d = p + side, q + side, q - side, p - side
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _discs(centres: Floats, radius: float) -> Strokes:
    if radius <= 0 or not len(centres):
        return np.zeros((0, 3, 3))
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(_SIDES)], axis=1) * radius
    middle = centres[:, None, :] + np.array([0.0, 0.0, radius + 1])
    fans = [np.broadcast_to(middle, (len(centres), _SIDES, 3))]
    fans += [middle + rim, middle + np.roll(rim, -1, axis=0)]
    return np.stack(fans, axis=2).reshape(-1, 3, 3)


class Label(NamedTuple):
    """Words on the screen; x and y of their middle or end, in pixels."""

    x: float
    y: float
    words: str
    role: str
    size: float
    anchor: Literal["start", "middle", "end"]


def labels_of(scene: Scene, camera: Camera) -> list[Label]:
    """Return the labels of marks and axes, without those that would overlap others."""
    labels = _axis_labels(scene, camera)
    rooms = [_label_room(label) for label in labels]
    marks = [part for part in scene.parts if isinstance(part, Marks) and part.labels]
    # What is wrong is named first.
    for part in sorted(marks, key=lambda part: part.role != "wrong"):
        places = camera.project(part.points)
        for (x, y, _), words in zip(places.tolist(), part.labels, strict=True):
            label = _free_label(x, y, words, part, rooms, camera.width) if words else None
            if label and len(labels) < _MOST_LABELS:
                labels.append(label)
                rooms.append(_label_room(label))
    return labels


def _inside_frame(label: Label, width: float) -> Label:
    """Return a label moved to the side if the frame would cut it."""
    left_edge, _, right_edge, _ = _label_room(label)
    return label._replace(x=label.x + max(2 - left_edge, 0) - max(right_edge - width + 2, 0))


def _free_label(
    x: float,
    y: float,
    words: str,
    part: Marks,
    rooms: list[tuple[float, float, float, float]],
    width: float,
) -> Label | None:
    """Return a label at a free place beside its dot, if there is one."""
    r = part.size / 2 + 3
    tries: list[tuple[float, float, Literal["start", "middle", "end"]]] = (
        [(0, 0, "middle")]
        if part.size <= 0
        else [(r, -6, "start"), (-r, -6, "end"), (r, 7, "start"), (-r, 7, "end")]
    )
    for dx, dy, anchor in tries:
        label = _inside_frame(Label(x + dx, y + dy, words, part.role, _LABEL, anchor), width)
        left_edge, top, right_edge, bottom = _label_room(label)
        if not any(
            left_edge < r and l < right_edge and top < b and t < bottom for l, t, r, b in rooms
        ):
            return label
    return None


def _label_room(label: Label) -> tuple[float, float, float, float]:
    width = 0.58 * label.size * len(label.words)
    left_edge = label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    return left_edge, label.y - label.size / 2, left_edge + width, label.y + label.size / 2


def _axis_labels(scene: Scene, camera: Camera) -> list[Label]:
    """Return names and ends of the axes, along the edges at the front and the side."""
    if scene.grid is None:
        return []
    low, high = np.array(scene.grid, dtype=np.float64)
    near = np.where(camera.turn[2] > 0, high, low)
    floor = low[2] if camera.turn[2][2] > 0 else high[2]
    # The upright edge at the left rim of the picture.
    rims = [(near[0], low[1] + high[1] - near[1]), (low[0] + high[0] - near[0], near[1])]
    rim = min(rims, key=lambda c: float(camera.project(np.array([[*c, floor]]))[0, 0]))
    lines = (
        ("x", np.array([[low[0], near[1], floor], [high[0], near[1], floor]])),
        ("y", np.array([[near[0], low[1], floor], [near[0], high[1], floor]])),
        ("z", np.array([[*rim, low[2]], [*rim, high[2]]])),
    )
    middle = camera.project((low + high)[None] / 2)[0, :2]
    labels = []
    for axis, (name, ends) in enumerate(lines):
        screen = camera.project(ends)[:, :2]
        along = screen[1] - screen[0]
        if np.hypot(*along) < 20:
            continue  # seen end on
        out = np.array([along[1], -along[0]]) / np.hypot(*along)
        out *= 1 if out @ (screen.mean(axis=0) - middle) >= 0 else -1
        # Ends of an axis are written a little inside, where those of another are not.
        for share, words in (
            (0.08, f"{ends[0, axis]:.4g}"),
            (0.5, name),
            (0.92, f"{ends[1, axis]:.4g}"),
        ):
            x, y = screen[0] + along * share + out * 13
            labels.append(Label(float(x), float(y), words, "quiet", 10.0, "middle"))
    return labels
