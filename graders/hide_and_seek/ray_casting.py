"""Pictures of boxes as a camera sees them, with one ray through the centre of every pixel.

Rays use only sums, products, quotients and square roots of doubles, element by element,
so every machine gives the same pixels.
"""

import math
from collections.abc import Sequence
from itertools import product
from operator import sub
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
XYZ = tuple[float, float, float]
# For each of a box's eight corners: which end of the box it is at, along x, y and z.
_CORNERS = np.array(list(product((0, 1), repeat=3)))
# Value of a pixel without a box.
NOTHING = -1
# The last digits of a tangent differ between libraries.
_TANGENT_DIGITS = 12
# Tilts a ray parallel to a slab by a negligible amount, to avoid dividing by 0.
_TINY = 1e-300


class Camera(NamedTuple):
    """A pinhole camera with an upright picture and three directions of length 1."""

    eye: XYZ
    forward: XYZ
    right: XYZ
    up: XYZ
    tangent: float
    """The tangent of half the angle between the picture's top and bottom."""
    image: tuple[int, int]
    """Columns and rows."""

    @property
    def across(self) -> float:
        """The tangent of half the angle between the picture's left and right."""
        columns, rows = self.image
        return self.tangent * (columns / rows)


def camera(
    eye: Sequence[float], look_at: Sequence[float], angle: float, image: Sequence[int]
) -> Camera:
    """Return a camera at ``eye`` that looks at ``look_at``, which is not directly above or below.

    ``angle`` is the angle between top and bottom of the picture in degrees; ``image``
    has its columns and rows.
    """
    forward = _unit_vector(list(map(sub, look_at, eye)))
    fx, fy, fz = forward
    right = _unit_vector([fy, -fx, 0.0])
    rx, ry, _ = right
    up = (ry * fz, -rx * fz, rx * fy - ry * fx)
    tangent = round(math.tan(math.radians(angle / 2)), _TANGENT_DIGITS)
    return Camera(_as_point(eye), forward, right, up, tangent, (image[0], image[1]))


def fit_camera(
    view: Camera, low: Sequence[float] | Floats, high: Sequence[float] | Floats
) -> Camera:
    """Return a camera moved so that the sphere around a box just fits between top and bottom.

    It looks in the same direction, at the centre of the box: this is the paper's camera.
    """
    squares = [(b - a) ** 2 for a, b in zip(low, high, strict=True)]
    radius = math.sqrt(sum(squares)) / 2
    distance = radius * math.sqrt(1 + view.tangent**2) / view.tangent
    eye = []
    for a, b, ahead in zip(low, high, view.forward, strict=True):
        middle = (a + b) / 2
        eye.append(middle - distance * ahead)
    return view._replace(eye=_as_point(eye))


def _unit_vector(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def _as_point(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    return float(x), float(y), float(z)


def picture(view: Camera, low: Floats, high: Floats) -> NDArray[np.int32]:
    """Return the index of the nearest box in each pixel, or `NOTHING`; shape (rows, columns).

    If boxes are equally near, the first one is used. ``low`` and ``high`` (n, 3) are
    corners of the boxes with the smallest and the largest coordinates; every box lies
    completely in front of the camera.
    """
    columns, rows = view.image
    owner = np.full((rows, columns), NOTHING, dtype=np.int32)
    nearest = np.full((rows, columns), np.inf)
    sideways, upwards = _pixel_middles(view)
    windows = _windows(view, low, high).tolist()
    for i, (first, last, top, bottom) in enumerate(windows):
        if first >= last or top >= bottom:
            continue
        window = np.s_[top:bottom, first:last]
        entry, hit = _box_hits(
            view, sideways[first:last], upwards[top:bottom, None], low[i], high[i]
        )
        is_visible = hit & (entry < nearest[window])
        nearest[window][is_visible] = entry[is_visible]
        owner[window][is_visible] = i
    return owner


def pixels_of_box(view: Camera, low: Floats, high: Floats) -> int:
    """Return how many pixels of a picture of one box (1, 3) show it; faster than `picture`."""
    sideways, upwards = _pixel_middles(view)
    ((first, last, top, bottom),) = _windows(view, low, high).tolist()
    _, hit = _box_hits(
        view, sideways[first:last], upwards[top:bottom, None], low[0], high[0]
    )
    return int(hit.sum())


def _pixel_middles(view: Camera) -> tuple[Floats, Floats]:
    """Return how far the centres of columns and rows lie to the right and up, in tangents."""
    columns, rows = view.image
    sideways = (2 * (np.arange(columns) + 0.5) / columns - 1) * view.across
    upwards = (1 - 2 * (np.arange(rows) + 0.5) / rows) * view.tangent
    return sideways, upwards


def _box_hits(
    view: Camera, sideways: Floats, upwards: Floats, low: Floats, high: Floats
) -> tuple[Floats, Mask]:
    """Return the distance along the view at which rays enter a box, and a mask of those that do."""
    entry: Floats | float = 0.0
    leave: Floats | float = np.inf
    # The box is the intersection of three slabs.
    for axis in range(3):
        ray = view.forward[axis] + view.right[axis] * sideways
        ray = ray + view.up[axis] * upwards
        ray = np.where(ray == 0, _TINY, ray)
        with np.errstate(over="ignore"):
            near = (low[axis] - view.eye[axis]) / ray
            far = (high[axis] - view.eye[axis]) / ray
        entry = np.maximum(entry, np.minimum(near, far))
        leave = np.minimum(leave, np.maximum(near, far))
    return np.asarray(entry), np.asarray(entry <= leave)


def _windows(view: Camera, low: Floats, high: Floats) -> NDArray[np.int64]:
    """Return the ranges of columns and rows in which each box can be visible."""
    # For each axis, the coordinates (n, 8) of the eight corners, relative to the eye.
    offset = []
    for axis in range(3):
        ends = np.stack([low[:, axis], high[:, axis]], axis=1) - view.eye[axis]
        offset.append(ends[:, _CORNERS[:, axis]])
    ahead = _along(offset, view.forward)
    aside = _along(offset, view.right)
    above = _along(offset, view.up)
    columns, rows = view.image
    u = (aside / ahead / view.across + 1) * columns / 2
    v = (1 - above / ahead / view.tangent) * rows / 2
    # One more pixel on each side, so that rounding cannot lose any.
    bounds = []
    for places, most in ((u, columns), (v, rows)):
        first = np.floor(places.min(axis=1)) - 1
        last = np.ceil(places.max(axis=1)) + 1
        bounds += [np.clip(first, 0, most), np.clip(last, 0, most)]
    return np.stack(bounds, axis=1).astype(np.int64)


def _along(offset: Sequence[Floats], direction: XYZ) -> Floats:
    x, y, z = offset
    return x * direction[0] + y * direction[1] + z * direction[2]
