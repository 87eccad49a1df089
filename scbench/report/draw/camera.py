"""The camera of a still picture, placed so that the whole scene is in view.

The eye is infinitely far away, so parallel edges stay parallel and lengths along one direction can
be compared.
"""

from dataclasses import dataclass

import numpy as np

from scbench.report.draw.painter import Floats
from scbench.report.draw.scene import Lines, Scene, all_points, finite_points

# Pixels around a scene, without and with labels at its axes.
_MARGIN = 14.0
_AXES_MARGIN = 30.0
# Pixels per unit of a scene that is no larger than a point.
_LARGEST_SCALE = 1e6


@dataclass(frozen=True, slots=True)
class Camera:
    """An eye infinitely far away.

    Attributes:
        turn: directions to the right, down and towards the eye, as rows, shape (3, 3).
        scale: pixels per unit of the scene.
        shift: offset in pixels, added after scaling, shape (3,).
        width: width of the screen in pixels.
        height: height of the screen in pixels.
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
        return finite_points(points) @ self.turn.T * self.scale + self.shift


def camera_of(scene: Scene, width: float, height: float) -> Camera:
    """Return the camera that has the whole scene in view."""
    turn = rotation(scene.azimuth, scene.elevation)
    points = all_points(scene)
    if not len(points):
        points = np.zeros((1, 3))
    projected = finite_points(points) @ turn.T
    low = projected.min(axis=0)
    high = projected.max(axis=0)
    size = np.maximum(high - low, 1e-9)
    margin = _AXES_MARGIN if scene.grid else _MARGIN
    scale_x = (width - 2 * margin) / size[0]
    scale_y = (height - 2 * margin) / size[1]
    scale = min(scale_x, scale_y, _LARGEST_SCALE)
    middle = (low + high) / 2
    shift = np.array([width / 2, height / 2, 0.0]) - middle * scale
    axes = axes_behind(scene, turn[2])
    return Camera(turn, float(scale), shift, width, height, axes)


def rotation(azimuth: float, elevation: float) -> Floats:
    """Return the directions to the right, down and towards an eye; angles are in degrees."""
    turn = np.radians(azimuth)
    rise = np.radians(elevation)
    ahead = np.cos(turn)
    aside = np.sin(turn)
    level = np.cos(rise)
    above = np.sin(rise)
    right = [-aside, ahead, 0.0]
    down = [above * ahead, above * aside, -level]
    towards_eye = [level * ahead, level * aside, above]
    return np.array([right, down, towards_eye])


def axes_behind(scene: Scene, eye: Floats) -> tuple[Lines, ...]:
    """Return the edges of the three sides of the axes box that lie behind everything."""
    if scene.grid is None:
        return ()
    box = np.array(scene.grid, dtype=np.float64)
    # For each axis, the end of the box that is away from the eye.
    back = np.where(eye > 0, 0, 1)
    paths = []
    for axis in range(3):
        across = [i for i in range(3) if i != axis]
        for ends in np.ndindex(2, 2):
            edge = np.zeros((2, 3), dtype=np.int64)
            edge[:, across] = ends
            edge[1, axis] = 1
            # An edge on none of the sides behind the scene would be in front of it.
            if np.any(edge[0, across] == back[across]):
                paths.append(np.take_along_axis(box, edge, axis=0))
    return (Lines(tuple(paths), "faint", 1.0),)
