"""Triangles painted into pixels: solid ones, then glass, then a glow of hidden lines.

All stages work on fragments. A fragment is one pixel of one triangle, with its depth as a whole
number, so that the result does not depend on rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Fragments computed at a time, which bounds the memory.
_CHUNK = 2_000_000
# Translucent triangles over one pixel that are mixed; those behind them hardly show.
_LAYERS = 12
# Steps of depth, and numbers of triangles: the product of both fits into 63 bits.
_DEPTHS = 1 << 30
_NAMES = 1 << 21
# Twice the area, in square pixels, of triangles that are seen edge on.
_EDGE_ON = 1e-9
# Twice the area, in square pixels, of triangles that are as good as lines.
_SLIVER = 0.05


@dataclass(frozen=True, slots=True)
class Triangles:
    """Triangles on the screen.

    Attributes:
        corners: x, y and depth in pixels, shape (n, 3, 3).
        colours: red, green and blue from 0 to 1, shape (n, 3).
        opacity: shape (n,); 1 is solid.
        glow: opacity of the parts that are hidden behind solid triangles, shape (n,).
    """

    corners: Floats
    colours: Floats
    opacity: Floats
    glow: Floats


class Fragments(NamedTuple):
    """Pixels of triangles, in the order of triangles.

    Attributes:
        triangle: index of the triangle, shape (n,).
        pixel: index of the pixel, row by row, shape (n,).
        depth: from 1, the farthest, to `_DEPTHS`, shape (n,).
    """

    triangle: Ints
    pixel: Ints
    depth: Ints

    def where(self, mask: Flags) -> "Fragments":
        """Return the fragments for which a mask is true."""
        return Fragments(self.triangle[mask], self.pixel[mask], self.depth[mask])


class Screen(NamedTuple):
    """The pixels to paint on, and the scale of depths.

    Attributes:
        width: in pixels.
        height: in pixels.
        farthest: smallest depth of all corners, in pixels.
        steps: steps of depth for each pixel of depth.
    """

    width: int
    height: int
    farthest: float
    steps: float


class DepthPlanes(NamedTuple):
    """Depths of triangles as linear functions of column and row, each of shape (n,).

    Attributes:
        slope_x: steps of depth for each column.
        slope_y: steps of depth for each row.
        level: steps of depth at the middle of the first pixel.
    """

    slope_x: Floats
    slope_y: Floats
    level: Floats


def paint(triangles: Triangles, width: int, height: int) -> Floats:
    """Return the picture, shape (height, width, 4): colours times opacity, and opacity.

    Of triangles (fewer than two million) at one depth the last one shows.
    """
    corners = triangles.corners
    farthest = float(corners[..., 2].min(initial=0.0))
    nearest = float(corners[..., 2].max(initial=0.0))
    steps = (_DEPTHS - 2) / max(nearest - farthest, 1e-9)
    screen = Screen(width, height, farthest, steps)
    solid = triangles.opacity >= 1
    image = np.zeros((height * width, 4))
    # Depth and index in one number: the largest is the nearest triangle, of several the last.
    front = np.zeros(height * width, dtype=np.int64)
    for chunk in fragments(corners, np.flatnonzero(solid), screen):
        np.maximum.at(front, chunk.pixel, chunk.depth * _NAMES + chunk.triangle)
    covered = np.flatnonzero(front)
    image[covered, :3] = triangles.colours[front[covered] % _NAMES]
    image[covered, 3] = 1
    wall = front // _NAMES
    glass = all_fragments(corners, np.flatnonzero(~solid), screen)
    in_sight = glass.where(glass.depth > wall[glass.pixel])
    lay_over(image, in_sight, triangles.colours, triangles.opacity)
    lights = all_fragments(corners, np.flatnonzero(triangles.glow > 0), screen)
    hidden = lights.where(lights.depth < wall[lights.pixel])
    lay_over(image, hidden, triangles.colours, triangles.glow)
    return image.reshape(height, width, 4)


def lay_over(
    image: Floats, layers: Fragments, colours: Floats, opacity: Floats
) -> None:
    """Lay translucent fragments over the picture, the farthest first."""
    if not len(layers.pixel):
        return
    # Fragments come in the order of triangles, which decides at one depth.
    order = np.argsort(layers.pixel * _DEPTHS + layers.depth, kind="stable")
    triangle, pixel = layers.triangle[order], layers.pixel[order]
    first = np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]])
    count = np.diff(np.r_[first, len(pixel)])
    paint_of_triangle = np.concatenate(
        [colours * opacity[:, None], opacity[:, None]], axis=1
    )
    # Layers are counted from the eye, so pixels with fewer of them join later.
    for layer in range(min(_LAYERS, int(count.max())), 0, -1):
        position = (first + count - layer)[count >= layer]
        name, place = triangle[position], pixel[position]
        blend = image[place]
        blend *= 1 - opacity[name, None]
        blend += paint_of_triangle[name]
        image[place] = blend


def all_fragments(corners: Floats, indices: Ints, screen: Screen) -> Fragments:
    """Return the pixels whose middles are on the chosen triangles, all at once."""
    none = np.zeros(0, dtype=np.int64)
    chunks = [Fragments(none, none, none), *fragments(corners, indices, screen)]
    return Fragments(
        np.concatenate([chunk.triangle for chunk in chunks]),
        np.concatenate([chunk.pixel for chunk in chunks]),
        np.concatenate([chunk.depth for chunk in chunks]),
    )


def fragments(corners: Floats, indices: Ints, screen: Screen) -> Iterator[Fragments]:
    """Yield the pixels whose middles are on the chosen triangles, in chunks."""
    indices = indices[np.abs(double_areas(corners[indices])) > _EDGE_ON]
    corners = corners[indices]
    planes = depth_planes(corners, screen)
    # Each triangle becomes rows, and each row a run of columns.
    top = first_middle(corners[..., 1].min(axis=1), screen.height)
    bottom = first_middle(corners[..., 1].max(axis=1), screen.height)
    owner, row = expand_runs(top, bottom)
    left_edge, right_edge = spans(corners, owner, row + 0.5)
    begin = first_middle(left_edge, screen.width)
    stop = first_middle(right_edge, screen.width)
    level = planes.level[owner] + planes.slope_y[owner] * row
    slope = planes.slope_x[owner]
    triangle = indices[owner]
    row_start = row * screen.width
    count = np.maximum(stop - begin, 0)
    for rows in chunks_of(count):
        times = count[rows]
        _, column = expand_runs(begin[rows], stop[rows])
        depth = np.repeat(level[rows], times) + np.repeat(slope[rows], times) * column
        yield Fragments(
            np.repeat(triangle[rows], times),
            np.repeat(row_start[rows], times) + column,
            np.clip(depth, 0, _DEPTHS - 2).astype(np.int64) + 1,
        )


def double_areas(corners: Floats) -> Floats:
    """Return twice the signed areas of triangles (n, 3, 3) on the screen."""
    second = corners[:, 1] - corners[:, 0]
    third = corners[:, 2] - corners[:, 0]
    areas: Floats = second[:, 0] * third[:, 1] - second[:, 1] * third[:, 0]
    return areas


def depth_planes(corners: Floats, screen: Screen) -> DepthPlanes:
    """Return the depths of triangles (n, 3, 3), none of them seen edge on."""
    first = corners[:, 0]
    second = corners[:, 1] - first
    third = corners[:, 2] - first
    twice = double_areas(corners)
    # Slivers, whose slopes are beyond reason, are as near as their first corner.
    firm = np.abs(twice) > _SLIVER
    rise_x = second[:, 2] * third[:, 1] - third[:, 2] * second[:, 1]
    rise_y = third[:, 2] * second[:, 0] - second[:, 2] * third[:, 0]
    slope_x = np.where(firm, rise_x, 0.0) / twice * screen.steps
    slope_y = np.where(firm, rise_y, 0.0) / twice * screen.steps
    depth = (first[:, 2] - screen.farthest) * screen.steps
    # Pixels are sampled at their middles.
    level = depth - slope_x * (first[:, 0] - 0.5) - slope_y * (first[:, 1] - 0.5)
    return DepthPlanes(slope_x, slope_y, level)


def first_middle(edge: Floats, limit: int) -> Ints:
    """Return the first pixel whose middle is not before an edge, from 0 to a limit."""
    return np.clip(np.ceil(edge - 0.5), 0, limit).astype(np.int64)


def spans(
    corners: Floats, owner: Ints, y: npt.NDArray[np.floating]
) -> tuple[Floats, Floats]:
    """Return where horizontal lines at y enter and leave their triangles, both 0 if they miss."""
    left_edge = np.full(len(owner), np.inf)
    right_edge = np.full(len(owner), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        start, end = corners[:, i], corners[:, j]
        rise = end[:, 1] - start[:, 1]
        # A level side crosses no line, so that its slope does not matter.
        slope = (end[:, 0] - start[:, 0]) / np.where(rise == 0, 1, rise)
        x = (start[:, 0] - slope * start[:, 1])[owner] + slope[owner] * y
        crosses = (start[:, 1][owner] <= y) != (end[:, 1][owner] <= y)
        np.minimum(left_edge, x, out=left_edge, where=crosses)
        np.maximum(right_edge, x, out=right_edge, where=crosses)
    misses = left_edge > right_edge
    return np.where(misses, 0, left_edge), np.where(misses, 0, right_edge)


def expand_runs(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return for all whole numbers of many runs: the index of the run, and the number."""
    count = np.maximum(end - begin, 0)
    run = np.repeat(np.arange(len(count)), count)
    first_of_run = np.repeat(np.cumsum(count) - count, count)
    return run, np.arange(len(run)) - first_of_run + begin[run]


def chunks_of(count: Ints) -> Iterator[slice]:
    """Yield slices of runs that have about as many numbers as fit in a chunk."""
    total = np.cumsum(count)
    whole = int(count.sum())
    cuts = np.searchsorted(total, np.arange(_CHUNK, whole, _CHUNK))
    edges = np.unique(np.r_[0, cuts, len(count)])
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(start, stop)
