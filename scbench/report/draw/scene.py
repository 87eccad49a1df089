"""What a picture in three dimensions is made of: plain data, shown by a viewer or an image.

z points up. Nothing here is judged: what is red was found wrong by a verdict. The viewer is
``assets/viewer.js``; it takes a scene as compact data, see `scene_json`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scbench.report.draw.colours import ROLES

Points = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]
XYZ = Sequence[float]


_CORNERS = np.array(
    [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=np.float64
)
_SIDES = np.array(
    [
        *((0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6)),
        *((0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7)),
        *((0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)),
    ],
    dtype=np.int64,
)
_RIMS = ((0, 1, 3, 2, 0), (4, 5, 7, 6, 4), (0, 4), (1, 5), (2, 6), (3, 7))
# Coordinates are rounded to about this fraction of the scene's size.
_STEPS = 8000
_MOST_TRIANGLES = 40_000
_MOST_POINTS = 60_000
_MOST_LABELS = 500
_FARTHEST = 1e9


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles of one colour."""

    points: Points  #: corners, shape (n, 3).
    faces: Faces  #: three indices into `points` for each triangle, shape (m, 3).
    role: str  #: its colour, see `scbench.report.draw.colours`.
    opacity: float = 1.0  #: 1 is solid.
    name: str = ""  #: what it is, for the legend and for labels; empty for none.
    #: polylines drawn on it, such as the edges of boxes; each of shape (k, 3).
    outline: tuple[Points, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """Polylines of one colour."""

    paths: tuple[Points, ...]  #: each of shape (k, 3).
    role: str  #: their colour.
    width: float = 2.0  #: in pixels.
    dashed: bool = False  #: whether they are dashed.
    name: str = ""  #: what they are.


@dataclass(frozen=True, slots=True)
class Marks:
    """Dots, each with a label or none."""

    points: Points  #: shape (n, 3).
    role: str  #: their colour.
    size: float = 6.0  #: diameter in pixels; 0 for labels alone.
    labels: tuple[str, ...] = ()  #: one for each point, or none at all.
    name: str = ""  #: what they are.


Shape = Mesh | Lines | Marks


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture in three dimensions."""

    parts: tuple[Shape, ...]  #: what is in it.
    #: where the eye stands at first: degrees from the x axis towards the y axis.
    azimuth: float = -60.0
    elevation: float = 25.0  #: degrees above the horizon.
    #: lowest and highest corner of the axes box, if it is to be drawn.
    grid: tuple[XYZ, XYZ] | None = None


def boxes(
    corners: Iterable[tuple[XYZ, XYZ]],
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
    edges: bool = True,
) -> Mesh:
    """Return boxes along the axes, by their lowest and highest corners, as one mesh."""
    pairs = np.array([(low, high) for low, high in corners], dtype=np.float64).reshape(
        -1, 2, 3
    )
    low, size = pairs[:, 0], pairs[:, 1] - pairs[:, 0]
    points = low[:, None, :] + _CORNERS[None] * size[:, None, :]
    faces = _SIDES[None] + 8 * np.arange(len(pairs))[:, None, None]
    rims = tuple(box[list(rim)] for box in points for rim in _RIMS) if edges else ()
    return Mesh(points.reshape(-1, 3), faces.reshape(-1, 3), role, opacity, name, rims)


def wire(
    low: XYZ, high: XYZ, role: str, *, width: float = 1.0, name: str = ""
) -> Lines:
    """Return the twelve edges of a box as lines."""
    return Lines(boxes([(low, high)], role).outline, role, width, name=name)


def tame(points: Points) -> Points:
    """Return points with every coordinate finite and within reach: answers may be anything."""
    return np.clip(np.nan_to_num(points, nan=0.0), -_FARTHEST, _FARTHEST)


def scene_json(scene: Scene) -> dict[str, Any]:
    """Return a scene as plain data.

    Coordinates are three lists of rounded numbers; faces and paths point into them, with -1 where a
    path ends. What would be too slow for a browser is left out, and ``left_out`` counts it.
    """
    decimals = _decimals(scene)
    parts: list[dict[str, Any]] = []
    left_out = 0
    roles = {"ink", "quiet", "faint", "paper"}
    room = {"triangles": _MOST_TRIANGLES, "points": _MOST_POINTS}
    for part in scene.parts:
        roles.add(part.role)
        if isinstance(part, Mesh):
            faces = part.faces[: room["triangles"]]
            room["triangles"] -= len(faces)
            left_out += len(part.faces) - len(faces)
            entry = _mesh_data(part, faces, decimals, room)
        elif isinstance(part, Lines):
            entry = _lines_data(part, decimals, room)
        else:
            entry = _marks_data(part, decimals)
        parts.append({"role": part.role, "name": part.name} | entry)
    a, e = math.radians(scene.azimuth), math.radians(scene.elevation)
    eye = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
    return {
        "parts": parts,
        "eye": [round(value, 4) for value in eye],
        "grid": None
        if scene.grid is None
        else _rounded_columns(np.array(scene.grid), decimals),
        "colours": {role: list(ROLES[role]) for role in sorted(roles)},
        "left_out": left_out,
    }


def _mesh_data(
    mesh: Mesh, faces: np.ndarray[Any, Any], decimals: int, room: dict[str, int]
) -> dict[str, Any]:
    paths = _fitting(mesh.outline, room)
    points = np.concatenate([tame(mesh.points), *(tame(path) for path in paths)])
    # Corners of boxes are in the mesh and several times in the outline.
    distinct, place = np.unique(np.round(points, decimals), axis=0, return_inverse=True)
    place = place.ravel()
    return {
        "kind": "mesh",
        "xyz": _rounded_columns(distinct, decimals),
        "faces": place[faces].ravel().tolist(),
        "paths": _joined_paths(paths, place[len(mesh.points) :]),
        "opacity": mesh.opacity,
    }


def _lines_data(lines: Lines, decimals: int, room: dict[str, int]) -> dict[str, Any]:
    paths = _fitting(lines.paths, room)
    points = np.concatenate([np.zeros((0, 3)), *(tame(path) for path in paths)])
    distinct, place = np.unique(np.round(points, decimals), axis=0, return_inverse=True)
    return {
        "kind": "lines",
        "xyz": _rounded_columns(distinct, decimals),
        "paths": _joined_paths(paths, place.ravel()),
        "width": lines.width,
        "dashed": lines.dashed,
    }


def _marks_data(marks: Marks, decimals: int) -> dict[str, Any]:
    points = tame(marks.points)[:_MOST_POINTS]
    return {
        "kind": "marks",
        "xyz": _rounded_columns(points, decimals),
        "size": marks.size,
        "labels": list(marks.labels[:_MOST_LABELS]),
    }


def _fitting(paths: tuple[Points, ...], room: dict[str, int]) -> tuple[Points, ...]:
    """Return the first paths for which there is room, and take it."""
    ends = np.cumsum([0, *map(len, paths)])
    count = int(np.searchsorted(ends[1:], room["points"], side="right"))
    room["points"] -= int(ends[count])
    return paths[:count]


def _joined_paths(paths: Sequence[Points], places: Faces) -> list[int]:
    """Return the positions of all points of all paths, -1 after each path."""
    ends = np.cumsum([len(path) for path in paths], dtype=np.int64)
    joined: list[int] = np.insert(places, ends, -1).tolist()
    return joined


def all_points(scene: Scene) -> Points:
    """Return all points in a scene, shape (n, 3), the corners of its axes box among them."""
    points = [np.zeros((0, 3))]
    for part in scene.parts:
        points += part.paths if isinstance(part, Lines) else (part.points,)
    if scene.grid:
        low, high = np.array(scene.grid, dtype=np.float64)
        points += (low[None], high[None], _CORNERS * (high - low) + low)
    return np.concatenate(points)


def _decimals(scene: Scene) -> int:
    """Return how many decimals tell places in a scene apart."""
    points = tame(all_points(scene))
    if not len(points):
        return 0
    size = float(np.max(points.max(axis=0) - points.min(axis=0)))
    return min(max(math.ceil(-math.log10(max(size, 1e-12) / _STEPS)), 0), 12)


def _rounded_columns(points: Points, decimals: int) -> list[list[float]]:
    """Return x, y and z of points as lists, whole numbers as such."""
    return [
        [int(value) if value == int(value) else value for value in column]
        for column in (np.round(tame(points), decimals) + 0.0).T.tolist()
    ]
