"""Scenes as compact data for the viewer in the page, ``assets/viewer.js``."""

import math
from typing import Any

import numpy as np

from scbench.report.draw.colours import ROLES
from scbench.report.draw.raster import tame
from scbench.report.draw.scene import Lines, Marks, Mesh, Points, Scene

_STEPS = 8000
"""Coordinates are rounded to about this fraction of the scene's size."""
_MOST_TRIANGLES = 40_000
_MOST_POINTS = 60_000
_MOST_LABELS = 500


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
        "grid": None if scene.grid is None else _rounded_columns(np.array(scene.grid), decimals),
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
        "paths": _joined_paths(paths, place[len(mesh.points) :].tolist()),
        "opacity": mesh.opacity,
    }


def _lines_data(lines: Lines, decimals: int, room: dict[str, int]) -> dict[str, Any]:
    paths = _fitting(lines.paths, room)
    points = np.concatenate([np.zeros((0, 3)), *(tame(path) for path in paths)])
    distinct, place = np.unique(np.round(points, decimals), axis=0, return_inverse=True)
    return {
        "kind": "lines",
        "xyz": _rounded_columns(distinct, decimals),
        "paths": _joined_paths(paths, place.ravel().tolist()),
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


def _fitting(paths: tuple[Points, ...], room: dict[str, int]) -> list[Points]:
    """Return the first paths for which there is room, and take it."""
    fitting = []
    for path in paths:
        if len(path) > room["points"]:
            break
        room["points"] -= len(path)
        fitting.append(path)
    return fitting


def _joined_paths(paths: list[Points], places: list[int]) -> list[int]:
    """Return the positions of all points of all paths, -1 after each path."""
    joined: list[int] = []
    start = 0
    for path in paths:
        joined += places[start : start + len(path)]
        joined.append(-1)
        start += len(path)
    return joined


def _decimals(scene: Scene) -> int:
    """Return how many decimals tell places in a scene apart."""
    corners = [np.array(scene.grid, dtype=np.float64)] if scene.grid else []
    for part in scene.parts:
        corners += part.paths if isinstance(part, Lines) else (part.points,)
    points = np.concatenate([np.zeros((0, 3)), *(tame(corner) for corner in corners)])
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
