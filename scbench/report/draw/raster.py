"""Scenes as still pictures: painted in pixels, with their labels as text on top.

The eye is infinitely far away, so parallel edges stay parallel and lengths along one direction can
be compared. The background is transparent, and colours are readable on white and on black.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.report.draw.colours import ROLES
from scbench.report.draw.png import few_colours
from scbench.report.draw.scene import Lines, Marks, Mesh, Scene, all_points, tame
from scbench.report.draw.svg import Drawing

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Fragments made at a time, which bounds the memory.
_CHUNK = 2_000_000
# Translucent triangles over one pixel that are mixed; those behind them hardly show.
_LAYERS = 12
_DEPTHS = 1 << 30
# Twice the area, in square pixels, of triangles that are as good as lines.
_SLIVER = 0.05
_NAMES = 1 << 21


_MARGIN = 14.0
_AXES_MARGIN = 30.0
_MOST_DASHES = 200
_SIDES = 14
_LABEL = 11.0
_MOST_LABELS = 150
# More, edges and dots counted, are not painted.
MOST_TRIANGLES = 400_000

_SHADES = 20
_DARKEST = 0.66
# How dark the edges of a mesh are, compared with its faces.
_EDGE = 0.5
# How strongly lines and dots shine through what hides them, but for plain ones.
_GLOW = 0.3
_QUIET = ("ink", "quiet", "faint", "given")
# Pixels are the mean of so many times so many.
_SMOOTH = 2
# Pixels of the image for a pixel of the page, of which a report has hundreds.
_DENSITY = 1.5
_ON_ANY_PAPER = {"ink": "#6b7076", "paper": "#ffffff", "faint": "#b3b8be"}


@dataclass(frozen=True, slots=True)
class Triangles:
    """Triangles on the screen."""

    corners: Floats  #: x, y and depth, shape (n, 3, 3).
    colours: Floats  #: red, green and blue from 0 to 1, shape (n, 3).
    opacity: Floats  #: shape (n,); 1 is solid.
    #: how strongly what is hidden behind solid triangles shines through them, shape (n,).
    glow: Floats


class _Fragments(NamedTuple):
    triangle: Ints
    pixel: Ints
    depth: Ints


def paint(triangles: Triangles, width: int, height: int) -> Floats:
    """Return the picture, shape (height, width, 4): colours times opacity, and opacity.

    Of triangles (fewer than two million) at one depth the last one shows.
    """
    image = np.zeros((height * width, 4))
    low = float(triangles.corners[..., 2].min(initial=0.0))
    high = float(triangles.corners[..., 2].max(initial=0.0))
    unit = (_DEPTHS - 2) / max(high - low, 1e-9)
    solid = triangles.opacity >= 1
    front = np.zeros(height * width, dtype=np.int64)
    for part in _fragments(
        triangles.corners, np.flatnonzero(solid), width, height, low, unit
    ):
        np.maximum.at(front, part.pixel, part.depth * _NAMES + part.triangle)
    hit = np.flatnonzero(front)
    image[hit, :3] = triangles.colours[front[hit] % _NAMES]
    image[hit, 3] = 1
    wall = front // _NAMES
    glass = list(
        _fragments(triangles.corners, np.flatnonzero(~solid), width, height, low, unit)
    )
    _mix(image, glass, wall, triangles.colours, triangles.opacity, behind=False)
    shining = np.flatnonzero(triangles.glow > 0)
    lights = list(_fragments(triangles.corners, shining, width, height, low, unit))
    _mix(image, lights, wall, triangles.colours, triangles.glow, behind=True)
    return image.reshape(height, width, 4)


def _mix(
    image: Floats,
    parts: list[_Fragments],
    wall: Ints,
    colours: Floats,
    opacity: Floats,
    *,
    behind: bool,
) -> None:
    """Lay translucent fragments over the picture, the farthest first."""
    if not parts:
        return
    triangle, pixel, depth = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    visible = np.flatnonzero(depth < wall[pixel] if behind else depth > wall[pixel])
    triangle, pixel, depth = triangle[visible], pixel[visible], depth[visible]
    # Fragments come in the order of triangles, which decides at one depth.
    order = np.argsort(pixel * _DEPTHS + depth, kind="stable")
    triangle, pixel = triangle[order], pixel[order]
    first = (
        np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]]) if len(pixel) else pixel
    )
    count = np.diff(np.r_[first, len(pixel)])
    paint = np.concatenate([colours * opacity[:, None], opacity[:, None]], axis=1)
    for layer in range(min(_LAYERS, int(count.max(initial=0))), 0, -1):
        at = (first + count - layer)[count >= layer]
        name, place = triangle[at], pixel[at]
        under = image[place]
        under *= 1 - opacity[name, None]
        under += paint[name]
        image[place] = under


def _fragments(
    corners: Floats, indices: Ints, width: int, height: int, low: float, unit: float
) -> Iterator[_Fragments]:
    """Yield the pixels whose middles are on the chosen triangles."""
    xy = corners[indices]
    a, ab, ac = xy[:, 0], xy[:, 1] - xy[:, 0], xy[:, 2] - xy[:, 0]
    twice = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    facing = np.abs(twice) > 1e-9  # others are seen edge on
    indices, xy, a = indices[facing], xy[facing], a[facing]
    ab, ac, twice = ab[facing], ac[facing], twice[facing]
    # Slivers, whose slopes are beyond reason, are as near as their first corner.
    firm = np.abs(twice) > _SLIVER
    slope_x = (
        np.where(firm, ab[:, 2] * ac[:, 1] - ac[:, 2] * ab[:, 1], 0.0) / twice * unit
    )
    slope_y = (
        np.where(firm, ac[:, 2] * ab[:, 0] - ab[:, 2] * ac[:, 0], 0.0) / twice * unit
    )
    level = (
        (a[:, 2] - low) * unit - slope_x * (a[:, 0] - 0.5) - slope_y * (a[:, 1] - 0.5)
    )
    top = np.clip(np.ceil(xy[..., 1].min(axis=1) - 0.5), 0, height).astype(np.int64)
    end = np.clip(np.ceil(xy[..., 1].max(axis=1) - 0.5), 0, height).astype(np.int64)
    which, row = _run_numbers(top, end)
    left_edge, right_edge = _spans(xy, which, row + 0.5)
    begin = np.clip(np.ceil(left_edge - 0.5), 0, width).astype(np.int64)
    stop = np.clip(np.ceil(right_edge - 0.5), 0, width).astype(np.int64)
    count = np.maximum(stop - begin, 0)
    level = level[which] + slope_y[which] * row
    slope, name, start = slope_x[which], indices[which], row * width
    for some in _run_chunks(count):
        times = count[some]
        _, x = _run_numbers(begin[some], stop[some])
        depth = np.repeat(level[some], times) + np.repeat(slope[some], times) * x
        yield _Fragments(
            np.repeat(name[some], times),
            np.repeat(start[some], times) + x,
            np.clip(depth, 0, _DEPTHS - 2).astype(np.int64) + 1,
        )


def _spans(
    xy: Floats, which: Ints, y: npt.NDArray[np.floating]
) -> tuple[Floats, Floats]:
    """Return where horizontal lines enter and leave triangles."""
    left_edge, right_edge = np.full(len(which), np.inf), np.full(len(which), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        p, q = xy[:, i], xy[:, j]
        rise = q[:, 1] - p[:, 1]
        slope = (q[:, 0] - p[:, 0]) / np.where(rise == 0, 1, rise)
        x = (p[:, 0] - slope * p[:, 1])[which] + slope[which] * y
        crosses = (p[:, 1][which] <= y) != (q[:, 1][which] <= y)
        np.minimum(left_edge, x, out=left_edge, where=crosses)
        np.maximum(right_edge, x, out=right_edge, where=crosses)
    outside = left_edge > right_edge
    return np.where(outside, 0, left_edge), np.where(outside, 0, right_edge)


def _run_numbers(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return for all whole numbers of many runs: which run, and the number."""
    count = np.maximum(end - begin, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(
        np.cumsum(count) - count, count
    ) + begin[which]


def _run_chunks(count: Ints) -> Iterator[slice]:
    """Yield slices of runs that together hold about as many numbers as fit in a chunk."""
    total = np.cumsum(np.maximum(count, 0))
    cuts = np.searchsorted(
        total, np.arange(_CHUNK, int(total[-1]) if len(total) else 0, _CHUNK)
    )
    edges = np.unique(np.r_[0, cuts, len(count)])
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(start, stop)


# Triangles, shape (n, 3, 3).
Strokes = Floats


_DASH, _PAUSE = 6.0, 4.0


@dataclass(frozen=True, slots=True)
class Camera:
    """An eye infinitely far away."""

    turn: Floats  #: rows are the directions to the right, down and towards the eye, shape (3, 3).
    scale: float  #: pixels per unit of the scene.
    shift: Floats  #: added in pixels, shape (3,).
    width: float  #: of the screen in pixels.
    height: float  #: of the screen in pixels.
    axes: tuple[Lines, ...]  #: edges of the axes box, if the scene has one.

    def project(self, points: Floats) -> Floats:
        """Return points (n, 3) as x, y and depth in pixels."""
        return tame(points) @ self.turn.T * self.scale + self.shift


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
    points = all_points(scene)
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
    count = np.clip(
        np.round((length + pause) / (_DASH + pause)), 1, _MOST_DASHES
    ).astype(int)
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
    ahead[:, :2], side[:, 0], side[:, 1] = (
        unit * half,
        -unit[:, 1] * half,
        unit[:, 0] * half,
    )
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
            label = (
                _free_label(x, y, words, part, rooms, camera.width) if words else None
            )
            if label and len(labels) < _MOST_LABELS:
                labels.append(label)
                rooms.append(_label_room(label))
    return labels


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
        label = Label(x + dx, y + dy, words, part.role, _LABEL, anchor)
        # It is moved to the side if the frame would cut it.
        left_edge, _, right_edge, _ = _label_room(label)
        label = label._replace(
            x=label.x + max(2 - left_edge, 0) - max(right_edge - width + 2, 0)
        )
        left_edge, top, right_edge, bottom = _label_room(label)
        if not any(
            left_edge < r and l < right_edge and top < b and t < bottom
            for l, t, r, b in rooms
        ):
            return label
    return None


def _label_room(label: Label) -> tuple[float, float, float, float]:
    width = 0.58 * label.size * len(label.words)
    left_edge = (
        label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    )
    return (
        left_edge,
        label.y - label.size / 2,
        left_edge + width,
        label.y + label.size / 2,
    )


def _axis_labels(scene: Scene, camera: Camera) -> list[Label]:
    if scene.grid is None:
        return []
    low, high = np.array(scene.grid, dtype=np.float64)
    near = np.where(camera.turn[2] > 0, high, low)
    floor = low[2] if camera.turn[2][2] > 0 else high[2]
    # The upright edge at the left rim of the picture.
    rims = [
        (near[0], low[1] + high[1] - near[1]),
        (low[0] + high[0] - near[0], near[1]),
    ]
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


def scene_svg(
    scene: Scene,
    label: str,
    *,
    width: float = 360,
    height: float = 300,
    dark: bool | None = None,
    density: float = _DENSITY,
) -> str:
    """Return a scene as an SVG element: an image, and text over it; its size is in pixels.

    The image has ``density`` pixels for one of the page. Its colours are for a dark page or a light
    one; if ``dark`` is None, they are readable on both.
    """
    camera = camera_of(scene, width, height)
    size = (camera.width, camera.height)
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=0)
    drawing.image((0, 0), size, few_colours(scene_pixels(scene, camera, density, dark)))
    for text in labels_of(scene, camera):
        place = (text.x, text.y)
        drawing.text(place, text.words, text.role, size=text.size, anchor=text.anchor)
    return drawing.render(label)


def scene_pixels(
    scene: Scene, camera: Camera, density: float, dark: bool | None
) -> Floats:
    """Return a scene without its labels: red, green, blue and opacity, 0 to 255, (h, w, 4)."""
    width, height = round(camera.width * density), round(camera.height * density)
    triangles = _triangles(scene, camera, density * _SMOOTH, dark)
    fine = paint(triangles, width * _SMOOTH, height * _SMOOTH)
    image = fine.reshape(height, _SMOOTH, width, _SMOOTH, 4).mean(axis=(1, 3))
    # Colours come multiplied by their opacity.
    opacity = np.round(image[..., 3:] * 15) / 15
    plain = image[..., :3] / np.maximum(image[..., 3:], 1e-6)
    pixels = np.round(np.concatenate([plain, opacity], axis=2) * 255)
    return np.where(opacity == 0, 0, np.clip(pixels, 0, 255))


class _Batch(NamedTuple):
    corners: Floats
    colour: Floats
    opacity: float
    glow: float


def _triangles(
    scene: Scene, camera: Camera, zoom: float, dark: bool | None
) -> Triangles:
    """Return everything as triangles: faces, then edges, then lines and dots, which stay on top."""
    batches: list[_Batch] = []
    meshes = [part for part in scene.parts if isinstance(part, Mesh)]
    for mesh in meshes:
        corners = camera.project(mesh.points)[mesh.faces] * zoom
        colour = _shaded(camera, mesh, _colour(mesh.role, dark))
        batches.append(_Batch(corners, colour, min(max(mesh.opacity, 0.0), 1.0), 0.0))
    for mesh in meshes:
        if mesh.outline:
            edges = Lines(mesh.outline, mesh.role, 1.0)
            batches.append(
                _flat_batch(strokes_of(edges, camera), zoom, mesh.role, dark, _EDGE)
            )
    for part in (*scene.parts, *camera.axes):
        if not isinstance(part, Mesh):
            glow = 0.0 if part.role in _QUIET else _GLOW
            batches.append(
                _flat_batch(strokes_of(part, camera), zoom, part.role, dark, 1.0, glow)
            )
    count = np.array([len(batch.corners) for batch in batches], dtype=np.int64)
    within_limit = slice(0, MOST_TRIANGLES)
    return Triangles(
        np.concatenate([np.zeros((0, 3, 3)), *(batch.corners for batch in batches)])[
            within_limit
        ],
        np.concatenate([np.zeros((0, 3)), *(batch.colour for batch in batches)])[
            within_limit
        ],
        np.repeat(np.array([batch.opacity for batch in batches]), count)[within_limit],
        np.repeat(np.array([batch.glow for batch in batches]), count)[within_limit],
    )


def _flat_batch(
    strokes: Strokes,
    zoom: float,
    role: str,
    dark: bool | None,
    shade: float,
    glow: float = 0.0,
) -> _Batch:
    colour = np.broadcast_to(_colour(role, dark) * shade, (len(strokes), 3))
    return _Batch(strokes * zoom, colour, 1.0, glow)


def _colour(role: str, dark: bool | None) -> Floats:
    code = (
        ROLES[role][bool(dark)]
        if dark is not None
        else _ON_ANY_PAPER.get(role, ROLES[role][0])
    )
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def _shaded(camera: Camera, mesh: Mesh, colour: Floats) -> Floats:
    """Return a colour for each face, by how it lies to a light over the eye's left shoulder."""
    a, b, c = (camera.project(mesh.points)[mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    # Faces are lit from both sides: an answer's mesh may be open or inside out.
    normal *= np.where(normal[:, 2] < 0, -1.0, 1.0)[:, None]
    length = np.sqrt(np.sum(normal**2, axis=1))
    light = np.array([-0.4, -0.65, 0.65])
    lit = (normal @ light) / np.maximum(length, 1e-12)
    share = _DARKEST + (1.1 - _DARKEST) * np.clip(lit, 0, 1)
    share = np.round(share * _SHADES) / _SHADES
    dimmed = colour * np.minimum(share, 1)[:, None]
    bright: Floats = dimmed + (1 - dimmed) * np.maximum(share - 1, 0)[:, None] * 2
    return bright
