"""Scenes as compact data for the viewer in a page, ``assets/viewer.js``."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scbench.report.draw.colours import ROLES
from scbench.report.draw.scene import (
    Faces,
    Lines,
    Marks,
    Mesh,
    Points,
    Scene,
    all_points,
    finite_points,
)

# Coordinates are rounded to about this fraction of the scene's size.
_STEPS = 8000
_MOST_DECIMALS = 12
# More would be too slow for a browser.
_MOST_TRIANGLES = 40_000
_MOST_POINTS = 60_000
_MOST_LABELS = 500
# Roles that the viewer itself needs.
_VIEWER_ROLES = ("ink", "quiet", "faint", "paper")

Entry = dict[str, Any]


class Encoder:
    """Parts of one scene as plain data, up to the size limit.

    Attributes:
        left_out: number of triangles that exceed the limit.
    """

    def __init__(self, decimals: int) -> None:
        self.left_out = 0
        self._decimals = decimals
        self._triangle_room = _MOST_TRIANGLES
        self._point_room = _MOST_POINTS

    def mesh(self, mesh: Mesh) -> Entry:
        """Return a mesh, limited to the triangles and outlines that fit."""
        faces = mesh.faces[: self._triangle_room]
        self._triangle_room -= len(faces)
        self.left_out += len(mesh.faces) - len(faces)
        paths = self._fitting(mesh.outline)
        outline = [finite_points(path) for path in paths]
        points = np.concatenate([finite_points(mesh.points), *outline])
        # Corners of boxes are in the mesh and several times in the outline.
        columns, positions = self._distinct(points)
        return {
            "kind": "mesh",
            "xyz": columns,
            "faces": positions[faces].ravel().tolist(),
            "paths": joined_paths(paths, positions[len(mesh.points) :]),
            "opacity": mesh.opacity,
        }

    def lines(self, lines: Lines) -> Entry:
        """Return lines, limited to the paths that fit."""
        paths = self._fitting(lines.paths)
        points = [finite_points(path) for path in paths]
        columns, positions = self._distinct(np.concatenate([np.zeros((0, 3)), *points]))
        return {
            "kind": "lines",
            "xyz": columns,
            "paths": joined_paths(paths, positions),
            "width": lines.width,
            "dashed": lines.dashed,
        }

    def marks(self, marks: Marks) -> Entry:
        """Return dots and their labels."""
        points = finite_points(marks.points)[:_MOST_POINTS]
        return {
            "kind": "marks",
            "xyz": rounded_columns(points, self._decimals),
            "size": marks.size,
            "labels": list(marks.labels[:_MOST_LABELS]),
        }

    def _fitting(self, paths: tuple[Points, ...]) -> tuple[Points, ...]:
        """Return the first paths that fit, and reduce the remaining limit."""
        ends = np.cumsum([0, *map(len, paths)])
        count = int(np.searchsorted(ends[1:], self._point_room, side="right"))
        self._point_room -= int(ends[count])
        return paths[:count]

    def _distinct(self, points: Points) -> tuple[list[list[float]], Faces]:
        """Return x, y and z of distinct points, and the position of each point among them."""
        rounded = np.round(points, self._decimals)
        distinct, positions = np.unique(rounded, axis=0, return_inverse=True)
        return rounded_columns(distinct, self._decimals), positions.ravel()


def scene_json(scene: Scene) -> dict[str, Any]:
    """Return a scene as plain data.

    Coordinates are three lists of rounded numbers; faces and paths point into them, with -1 where a
    path ends. ``left_out`` counts the triangles left out because a browser would be too
    slow.
    """
    decimals = decimals_for(scene)
    encoder = Encoder(decimals)
    parts = []
    for part in scene.parts:
        if isinstance(part, Mesh):
            entry = encoder.mesh(part)
        elif isinstance(part, Lines):
            entry = encoder.lines(part)
        else:
            entry = encoder.marks(part)
        parts.append({"role": part.role, "name": part.name} | entry)
    grid = None
    if scene.grid is not None:
        grid = rounded_columns(np.array(scene.grid), decimals)
    roles = {part.role for part in scene.parts}.union(_VIEWER_ROLES)
    return {
        "parts": parts,
        "eye": eye_direction(scene),
        "grid": grid,
        "colours": {role: list(ROLES[role]) for role in sorted(roles)},
        "left_out": encoder.left_out,
    }


def eye_direction(scene: Scene) -> list[float]:
    """Return the direction from the scene to the eye, of length 1."""
    azimuth = math.radians(scene.azimuth)
    elevation = math.radians(scene.elevation)
    x = math.cos(elevation) * math.cos(azimuth)
    y = math.cos(elevation) * math.sin(azimuth)
    return [round(value, 4) for value in (x, y, math.sin(elevation))]


def decimals_for(scene: Scene) -> int:
    """Return the number of decimals needed to distinguish the points of a scene."""
    points = finite_points(all_points(scene))
    if not len(points):
        return 0
    size = float(np.max(points.max(axis=0) - points.min(axis=0)))
    decimals = math.ceil(-math.log10(max(size, 1e-12) / _STEPS))
    return min(max(decimals, 0), _MOST_DECIMALS)


def joined_paths(paths: Sequence[Points], positions: Faces) -> list[int]:
    """Return the positions of all points of all paths, -1 after each path."""
    ends = np.cumsum([len(path) for path in paths], dtype=np.int64)
    joined: list[int] = np.insert(positions, ends, -1).tolist()
    return joined


def rounded_columns(points: Points, decimals: int) -> list[list[float]]:
    """Return x, y and z of points (n, 3) as lists, with whole numbers as integers."""
    # Adding 0 turns -0 into 0.
    columns = (np.round(finite_points(points), decimals) + 0.0).T.tolist()
    return [list(map(as_written, column)) for column in columns]


def as_written(value: float) -> float:
    """Return a whole number as an integer, which takes fewer characters."""
    return int(value) if value.is_integer() else value
