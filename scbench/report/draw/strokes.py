"""Lines and dots of a scene as triangles that face the eye.

Points here are on the screen: x, y and depth in pixels, shape (n, 3). Triangles have the shape
(n, 3, 3).
"""

import numpy as np

from scbench.base.runs import expand_runs
from scbench.report.draw.camera import Camera
from scbench.report.draw.painter import Floats
from scbench.report.draw.scene import Lines, Marks

# Pixels of a dash, and of the pause after it.
_DASH = 6.0
_PAUSE = 4.0
_MOST_DASHES = 200
# Corners of the polygon that approximates a disc.
_DISC_CORNERS = 14


def strokes_of(part: Lines | Marks, camera: Camera) -> Floats:
    """Return lines or dots as triangles, moved a little towards the eye."""
    if isinstance(part, Marks):
        return discs(camera.project(part.points), part.size / 2)
    paths = [path for path in part.paths if len(path) > 1]
    if not paths:
        return np.zeros((0, 3, 3))
    points = camera.project(np.concatenate(paths))
    # A line goes from each point to the next, except from the last point of a path.
    last_of_path = np.cumsum([len(path) for path in paths]) - 1
    first = np.delete(np.arange(len(points)), last_of_path)
    starts = points[first]
    ends = points[first + 1]
    if part.dashed:
        starts, ends = dashes(starts, ends, part.width)
    return ribbons(starts, ends, part.width)


def dashes(starts: Floats, ends: Floats, width: float) -> tuple[Floats, Floats]:
    """Cut lines into dashes, with one at each end."""
    # `ribbons` makes each dash longer by its width.
    pause = _PAUSE + width
    path = ends - starts
    length = np.hypot(path[:, 0], path[:, 1])
    fitting = np.round((length + pause) / (_DASH + pause))
    count = np.clip(fitting, 1, _MOST_DASHES).astype(np.int64)
    line, number = expand_runs(np.zeros_like(count), count)
    # A period is a dash and a pause, as a share of the line. The line ends with a dash.
    dash_share = _DASH / (_DASH + pause)
    period = 1 / (count - 1 + dash_share)
    begin = number * period[line]
    stop = np.minimum(begin + period[line] * dash_share, 1.0)
    origin = starts[line]
    along = path[line]
    return origin + along * begin[:, None], origin + along * stop[:, None]


def ribbons(starts: Floats, ends: Floats, width: float) -> Floats:
    """Return lines as rectangles, two triangles for each; the width is in pixels."""
    along = ends - starts
    length = np.hypot(along[:, 0], along[:, 1])
    unit = along[:, :2] / np.maximum(length, 1e-9)[:, None]
    half_width = width / 2
    # Ends stick out by half the width, so that corners close.
    ahead = np.zeros_like(starts)
    ahead[:, :2] = unit * half_width
    # The direction across the line is the one along it, turned by a right angle.
    side = np.zeros_like(starts)
    side[:, 0] = -unit[:, 1] * half_width
    side[:, 1] = unit[:, 0] * half_width
    lift = np.array([0.0, 0.0, 1.0 + width])
    back = starts - ahead + lift
    front = ends + ahead + lift
    a = back + side
    b = front + side
    c = front - side
    d = back - side
    first_halves = np.stack([a, b, c], axis=1)
    second_halves = np.stack([a, c, d], axis=1)
    return np.concatenate([first_halves, second_halves])


def discs(centres: Floats, radius: float) -> Floats:
    """Return discs of a radius in pixels, each a fan of triangles; none if it is 0."""
    if radius <= 0 or not len(centres):
        return np.zeros((0, 3, 3))
    angles = 2 * np.pi * np.arange(_DISC_CORNERS) / _DISC_CORNERS
    level = np.zeros(_DISC_CORNERS)
    rim = np.stack([np.cos(angles), np.sin(angles), level], axis=1) * radius
    # Dots are nearer to the eye than lines through them.
    middle = centres[:, None, :] + np.array([0.0, 0.0, radius + 1])
    hubs = np.broadcast_to(middle, (len(centres), _DISC_CORNERS, 3))
    corners = middle + rim
    next_corners = middle + np.roll(rim, -1, axis=0)
    fans = np.stack([hubs, corners, next_corners], axis=2)
    return fans.reshape(-1, 3, 3)
