"""Triangles to pixels, with a depth buffer.

Screen coordinates are pixels, x to the right and y down, with the depth in the same unit and larger
nearer to the eye. Everything is numpy on whole arrays; the same triangles give the same pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CHUNK = 2_000_000
"""Fragments made at a time, which bounds the memory."""
_LAYERS = 12
"""Translucent triangles over one pixel that are mixed; those behind them hardly show."""
_DEPTHS = 1 << 30
_SLIVER = 0.05
"""Twice the area, in square pixels, of triangles that are as good as lines."""
_NAMES = 1 << 21


@dataclass(frozen=True, slots=True)
class Triangles:
    """Triangles on the screen.

    Attributes:
        corners: x, y and depth, shape (n, 3, 3).
        colours: red, green and blue from 0 to 1, shape (n, 3).
        opacity: shape (n,); 1 is solid.
        glow: how strongly what is hidden behind solid triangles shines through them, shape (n,).
    """

    corners: Floats
    colours: Floats
    opacity: Floats
    glow: Floats


class _Fragments(NamedTuple):
    triangle: Ints
    pixel: Ints
    depth: Ints


def paint(triangles: Triangles, width: int, height: int) -> Floats:
    """Return the picture, shape (height, width, 4): colours times opacity, and opacity.

    Args:
        triangles: what to paint, fewer than two million; of those at one depth the last one shows.
        width: in pixels.
        height: in pixels.
    """
    image = np.zeros((height * width, 4))
    low = float(triangles.corners[..., 2].min(initial=0.0))
    high = float(triangles.corners[..., 2].max(initial=0.0))
    unit = (_DEPTHS - 2) / max(high - low, 1e-9)
    solid = triangles.opacity >= 1
    front = np.zeros(height * width, dtype=np.int64)
    for part in _fragments(triangles.corners, np.flatnonzero(solid), width, height, low, unit):
        np.maximum.at(front, part.pixel, part.depth * _NAMES + part.triangle)
    hit = np.flatnonzero(front)
    image[hit, :3] = triangles.colours[front[hit] % _NAMES]
    image[hit, 3] = 1
    wall = front // _NAMES
    glass = list(_fragments(triangles.corners, np.flatnonzero(~solid), width, height, low, unit))
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
    triangle, pixel, depth = (np.concatenate(column) for column in zip(*parts, strict=True))
    visible = np.flatnonzero(depth < wall[pixel] if behind else depth > wall[pixel])
    triangle, pixel, depth = triangle[visible], pixel[visible], depth[visible]
    # Fragments come in the order of triangles, which decides at one depth.
    order = np.argsort(pixel * _DEPTHS + depth, kind="stable")
    triangle, pixel = triangle[order], pixel[order]
    first = np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]]) if len(pixel) else pixel
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
    slope_x = np.where(firm, ab[:, 2] * ac[:, 1] - ac[:, 2] * ab[:, 1], 0.0) / twice * unit
    slope_y = np.where(firm, ac[:, 2] * ab[:, 0] - ab[:, 2] * ac[:, 0], 0.0) / twice * unit
    level = (a[:, 2] - low) * unit - slope_x * (a[:, 0] - 0.5) - slope_y * (a[:, 1] - 0.5)
    top = np.clip(np.ceil(xy[..., 1].min(axis=1) - 0.5), 0, height).astype(np.int64)
    end = np.clip(np.ceil(xy[..., 1].max(axis=1) - 0.5), 0, height).astype(np.int64)
    which, row = _runs(top, end)
    left_edge, right_edge = _spans(xy, which, row + 0.5)
    begin = np.clip(np.ceil(left_edge - 0.5), 0, width).astype(np.int64)
    stop = np.clip(np.ceil(right_edge - 0.5), 0, width).astype(np.int64)
    count = np.maximum(stop - begin, 0)
    level = level[which] + slope_y[which] * row
    slope, name, start = slope_x[which], indices[which], row * width
    for some in _chunks(count):
        times = count[some]
        _, x = _runs(begin[some], stop[some])
        depth = np.repeat(level[some], times) + np.repeat(slope[some], times) * x
        yield _Fragments(
            np.repeat(name[some], times),
            np.repeat(start[some], times) + x,
            np.clip(depth, 0, _DEPTHS - 2).astype(np.int64) + 1,
        )


def _spans(xy: Floats, which: Ints, y: npt.NDArray[np.floating]) -> tuple[Floats, Floats]:
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


def _runs(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return for all whole numbers of many runs: which run, and the number."""
    count = np.maximum(end - begin, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + begin[which]


def _chunks(count: Ints) -> Iterator[slice]:
    """Yield slices of runs that together hold about as many numbers as fit in a chunk."""
    total = np.cumsum(np.maximum(count, 0))
    cuts = np.searchsorted(total, np.arange(_CHUNK, int(total[-1]) if len(total) else 0, _CHUNK))
    edges = np.unique(np.r_[0, cuts, len(count)])
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(start, stop)
