"""What a camera sees of axis-parallel boxes: one ray through the middle of every pixel.

Only sums, products, quotients and square roots of doubles, one array element at a time, so that
every machine decides every pixel alike.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
XYZ = tuple[float, float, float]

NOTHING = -1
_TANGENT_DIGITS = 12
_TINY = 1e-300


class Camera(NamedTuple):
    """A pinhole camera, its picture upright.

    Attributes:
        eye: where it is.
        forward, right, up: directions of length 1, at right angles.
        tangent: of half the angle between the picture's top and bottom.
        image: columns and rows of the picture.
    """

    eye: XYZ
    forward: XYZ
    right: XYZ
    up: XYZ
    tangent: float
    image: tuple[int, int]


def camera(
    eye: Sequence[float], look_at: Sequence[float], angle: float, image: Sequence[int]
) -> Camera:
    """Return a camera.

    Args:
        eye: where it is.
        look_at: what is in the middle of its picture; not straight above or below the eye.
        angle: between top and bottom of the picture, in degrees.
        image: columns and rows.
    """
    fx, fy, fz = forward = _unit([t - e for t, e in zip(look_at, eye, strict=True)])
    rx, ry, _ = right = _unit([fy, -fx, 0.0])
    up = (ry * fz, -rx * fz, rx * fy - ry * fx)
    # The last digits of a tangent differ between libraries.
    tangent = round(math.tan(math.radians(angle / 2)), _TANGENT_DIGITS)
    return Camera(_triple(eye), forward, right, up, tangent, (image[0], image[1]))


def fitted(view: Camera, low: Sequence[float] | Floats, high: Sequence[float] | Floats) -> Camera:
    """Return a camera moved so that the sphere around a box just fits between top and bottom.

    It looks in the same direction, at the middle of the box: this is the paper's camera.
    """
    diagonal = math.sqrt(sum((b - a) ** 2 for a, b in zip(low, high, strict=True)))
    distance = diagonal / 2 * math.sqrt(1 + view.tangent**2) / view.tangent
    eye = [(a + b) / 2 - distance * f for a, b, f in zip(low, high, view.forward, strict=True)]
    return view._replace(eye=_triple(eye))


def picture(view: Camera, low: Floats, high: Floats) -> NDArray[np.int32]:
    """Return which box each pixel shows.

    Args:
        view: the camera.
        low: n x 3, corners of the boxes with the smallest coordinates. Every box must lie
            completely in front of the camera.
        high: n x 3, the opposite corners.

    Returns:
        rows x columns: the index of the nearest box, or `NOTHING`. Where boxes are equally near,
        the first.
    """
    columns, rows = view.image
    owner = np.full((rows, columns), NOTHING, dtype=np.int32)
    nearest = np.full((rows, columns), np.inf)
    across = view.tangent * (columns / rows)
    sideways = (2 * (np.arange(columns) + 0.5) / columns - 1) * across
    upwards = (1 - 2 * (np.arange(rows) + 0.5) / rows) * view.tangent
    windows = _windows(view, low, high).tolist()
    for i, (first, last, top, bottom) in enumerate(windows):
        if first >= last or top >= bottom:
            continue
        window = np.s_[top:bottom, first:last]
        entry, hit = _hits(view, sideways[first:last], upwards[top:bottom, None], low[i], high[i])
        hit &= entry < nearest[window]
        nearest[window][hit] = entry[hit]
        owner[window][hit] = i
    return owner


def _hits(
    view: Camera, sideways: Floats, upwards: Floats, low: Floats, high: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return where rays enter a box, in units of the distance along the view, and which do."""
    entry: Floats | float = 0.0
    leave: Floats | float = np.inf
    for axis in range(3):
        ray = (view.forward[axis] + view.right[axis] * sideways) + view.up[axis] * upwards
        # A ray along a slab is bent by less than any digit, instead of dividing by 0.
        ray = np.where(ray == 0, _TINY, ray)
        with np.errstate(over="ignore"):
            near, far = (low[axis] - view.eye[axis]) / ray, (high[axis] - view.eye[axis]) / ray
        entry = np.maximum(entry, np.minimum(near, far))
        leave = np.minimum(leave, np.maximum(near, far))
    return np.asarray(entry), np.asarray(entry <= leave)


def _windows(view: Camera, low: Floats, high: Floats) -> NDArray[np.int64]:
    """Return the part of the picture that each box can show in: columns and rows, from and to."""
    corners = np.stack(
        [
            np.stack([(low, high)[a][:, 0], (low, high)[b][:, 1], (low, high)[c][:, 2]], axis=-1)
            for a in (0, 1)
            for b in (0, 1)
            for c in (0, 1)
        ],
        axis=1,
    )
    x, y, z = (corners[..., axis] - view.eye[axis] for axis in range(3))
    ahead, aside, above = (
        x * d[0] + y * d[1] + z * d[2] for d in (view.forward, view.right, view.up)
    )
    columns, rows = view.image
    u = (aside / ahead / (view.tangent * (columns / rows)) + 1) * columns / 2
    v = (1 - above / ahead / view.tangent) * rows / 2
    # A pixel more on each side than needed, so that rounding cannot lose one.
    bounds = [
        np.clip(np.floor(u.min(1)) - 1, 0, columns),
        np.clip(np.ceil(u.max(1)) + 1, 0, columns),
        np.clip(np.floor(v.min(1)) - 1, 0, rows),
        np.clip(np.ceil(v.max(1)) + 1, 0, rows),
    ]
    return np.stack(bounds, axis=1).astype(np.int64)


def _unit(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def _triple(vector: Sequence[float]) -> XYZ:
    x, y, z = vector
    return float(x), float(y), float(z)
