"""Triangles painted into pixels: solid ones, translucent ones, then hidden lines.

All stages work on fragments. A fragment is one pixel of one triangle. Its depth is rounded to an
integer, so that comparisons of depths give the same picture on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.runs import expand_runs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Number of fragments computed together, which bounds the memory.
_CHUNK = 2_000_000
# Maximum number of translucent layers blended in a pixel: the nearest ones, because
# layers behind them are hardly visible.
_LAYERS = 12
# Depths and indices of triangles are below these. A depth is packed into 63 bits with the index of
# a triangle, or with that of a pixel, which therefore has to be below 2^33.
_DEPTHS = 1 << 30
_MAX_TRIANGLES = 1 << 21
# Triangles of at most this doubled area, in square pixels, are seen edge on and not painted.
_EDGE_ON = 1e-9
# Triangles of at most this doubled area, in square pixels, are painted at one depth.
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
        depth: from 1, the farthest, to `_DEPTHS` - 1, shape (n,).
    """

    triangle: Ints
    pixel: Ints
    depth: Ints

    def where(self, mask: Flags) -> "Fragments":
        """Return the fragments selected by a mask."""
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
        level: steps of depth at the centre of the first pixel.
    """

    slope_x: Floats
    slope_y: Floats
    level: Floats


def paint(triangles: Triangles, width: int, height: int) -> Floats:
    """Return the picture, shape (height, width, 4): colours times opacity, and opacity.

    At equal depth the last triangle shows. There must be fewer than `_MAX_TRIANGLES`.
    """
    corners = triangles.corners
    # `initial` is for a picture without triangles.
    farthest = float(corners[..., 2].min(initial=0.0))
    nearest = float(corners[..., 2].max(initial=0.0))
    # Depths begin at 1, because 0 means a pixel without a triangle.
    steps = (_DEPTHS - 2) / max(nearest - farthest, 1e-9)
    screen = Screen(width, height, farthest, steps)
    is_solid = triangles.opacity >= 1
    image = np.zeros((height * width, 4))
    front = solid_fronts(corners, np.flatnonzero(is_solid), screen)
    covered = np.flatnonzero(front)
    nearest_triangle = front[covered] % _MAX_TRIANGLES
    image[covered, :3] = triangles.colours[nearest_triangle]
    image[covered, 3] = 1
    # Depth of the solid triangle in each pixel, 0 without one.
    wall = front // _MAX_TRIANGLES
    glass = all_fragments(corners, np.flatnonzero(~is_solid), screen)
    in_sight = glass.where(glass.depth > wall[glass.pixel])
    lay_over(image, in_sight, triangles.colours, triangles.opacity)
    lights = all_fragments(corners, np.flatnonzero(triangles.glow > 0), screen)
    hidden = lights.where(lights.depth < wall[lights.pixel])
    lay_over(image, hidden, triangles.colours, triangles.glow)
    return image.reshape(height, width, 4)


def solid_fronts(corners: Floats, indices: Ints, screen: Screen) -> Ints:
    """Return the nearest of the chosen triangles in each pixel; 0 for none.

    Depth and index of the triangle are in one number, whose maximum is the nearest triangle, and
    the last one at equal depth.
    """
    front = np.zeros(screen.height * screen.width, dtype=np.int64)
    for chunk in fragments(corners, indices, screen):
        depth_and_triangle = chunk.depth * _MAX_TRIANGLES + chunk.triangle
        np.maximum.at(front, chunk.pixel, depth_and_triangle)
    return front


def lay_over(
    image: Floats, layers: Fragments, colours: Floats, opacity: Floats
) -> None:
    """Lay translucent fragments over the picture, the farthest first."""
    if not len(layers.pixel):
        return
    # By pixel, then from far to near. The sort is stable, so fragments of equal depth stay in the
    # order of triangles.
    order = np.argsort(layers.pixel * _DEPTHS + layers.depth, kind="stable")
    triangle = layers.triangle[order]
    pixel = layers.pixel[order]
    # The fragments of a pixel follow one another: their first position and their
    # number.
    first = np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]])
    count = np.diff(np.r_[first, len(pixel)])
    paint_of_triangle = np.concatenate(
        [colours * opacity[:, None], opacity[:, None]], axis=1
    )
    # Layer 1 is the nearest. From the farthest layer on, each layer skips the pixels that have
    # fewer layers: a pixel of three layers takes part in layers 3, 2 and 1.
    for layer in range(min(_LAYERS, int(count.max())), 0, -1):
        has_layer = count >= layer
        position = first[has_layer] + count[has_layer] - layer
        layer_triangle = triangle[position]
        layer_pixel = pixel[position]
        blend = image[layer_pixel]
        blend *= 1 - opacity[layer_triangle, None]
        blend += paint_of_triangle[layer_triangle]
        image[layer_pixel] = blend


def all_fragments(corners: Floats, indices: Ints, screen: Screen) -> Fragments:
    """Return the pixels whose centres are on the chosen triangles, all together."""
    none = np.zeros(0, dtype=np.int64)
    chunks = [Fragments(none, none, none), *fragments(corners, indices, screen)]
    return Fragments(
        np.concatenate([chunk.triangle for chunk in chunks]),
        np.concatenate([chunk.pixel for chunk in chunks]),
        np.concatenate([chunk.depth for chunk in chunks]),
    )


def fragments(corners: Floats, indices: Ints, screen: Screen) -> Iterator[Fragments]:
    """Yield the pixels whose centres are on the chosen triangles, in chunks."""
    indices = indices[np.abs(double_areas(corners[indices])) > _EDGE_ON]
    corners = corners[indices]
    planes = depth_planes(corners, screen)
    # Each triangle becomes rows of pixels, and each row a run of columns. Arrays from `owner` to
    # `count` have one element for each row of each triangle.
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
    for part in chunks_of(count):
        run, column = expand_runs(begin[part], stop[part])
        depth = level[part][run] + slope[part][run] * column
        yield Fragments(
            triangle[part][run],
            row_start[part][run] + column,
            np.clip(depth, 0, _DEPTHS - 2).astype(np.int64) + 1,
        )


def double_areas(corners: Floats) -> Floats:
    """Return twice the signed areas of triangles (n, 3, 2 or 3), seen along the third axis."""
    edge_1 = corners[:, 1] - corners[:, 0]
    edge_2 = corners[:, 2] - corners[:, 0]
    areas: Floats = edge_1[:, 0] * edge_2[:, 1] - edge_1[:, 1] * edge_2[:, 0]
    return areas


def depth_planes(corners: Floats, screen: Screen) -> DepthPlanes:
    """Return the depths of triangles (n, 3, 3), none of them seen edge on."""
    first = corners[:, 0]
    edge_1 = corners[:, 1] - first
    edge_2 = corners[:, 2] - first
    double_area = double_areas(corners)
    # The slopes of slivers are unstable, so slivers have the depth of their first corner
    # everywhere.
    is_sliver = np.abs(double_area) <= _SLIVER
    # Cramer's rule for the slopes of the plane through the three corners.
    rise_x = edge_1[:, 2] * edge_2[:, 1] - edge_2[:, 2] * edge_1[:, 1]
    rise_y = edge_2[:, 2] * edge_1[:, 0] - edge_1[:, 2] * edge_2[:, 0]
    slope_x = np.where(is_sliver, 0.0, rise_x) / double_area * screen.steps
    slope_y = np.where(is_sliver, 0.0, rise_y) / double_area * screen.steps
    depth = (first[:, 2] - screen.farthest) * screen.steps
    # Pixels are sampled at their centres.
    level = depth - slope_x * (first[:, 0] - 0.5) - slope_y * (first[:, 1] - 0.5)
    return DepthPlanes(slope_x, slope_y, level)


def first_middle(edge: Floats, limit: int) -> Ints:
    """Return the first pixel whose centre is not before an edge, from 0 to a limit."""
    return np.clip(np.ceil(edge - 0.5), 0, limit).astype(np.int64)


def spans(
    corners: Floats, owner: Ints, y: npt.NDArray[np.floating]
) -> tuple[Floats, Floats]:
    """Return where horizontal lines at y enter and leave their triangles, both 0 if they miss."""
    left_edge = np.full(len(owner), np.inf)
    right_edge = np.full(len(owner), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        start_x, start_y, _ = corners[:, i].T
        end_x, end_y, _ = corners[:, j].T
        rise = end_y - start_y
        # A level side crosses no line, so its slope does not matter.
        divisor = np.where(rise == 0, 1, rise)
        slope = (end_x - start_x) / divisor
        x_at_zero = start_x - slope * start_y
        x = x_at_zero[owner] + slope[owner] * y
        # Half open, so that a corner that two sides share counts once.
        starts_above = start_y[owner] <= y
        ends_above = end_y[owner] <= y
        crosses = starts_above != ends_above
        np.minimum(left_edge, x, out=left_edge, where=crosses)
        np.maximum(right_edge, x, out=right_edge, where=crosses)
    misses = left_edge > right_edge
    return np.where(misses, 0, left_edge), np.where(misses, 0, right_edge)


def chunks_of(count: Ints) -> Iterator[slice]:
    """Yield slices of runs that have about `_CHUNK` numbers in total."""
    total = np.cumsum(count)
    limits = np.arange(_CHUNK, int(count.sum()), _CHUNK)
    cuts = np.searchsorted(total, limits)
    # A run longer than a chunk gives the same cut several times.
    edges = np.unique(np.r_[0, cuts, len(count)])
    for start, stop in pairwise(edges.tolist()):
        yield slice(start, stop)
