"""Covers a flat target with shadows of unit tetrahedra: candidates by the thousand, then greedy.

A candidate is a shadow laid with one side along a side of the target, or anywhere inside it. How
much it gains is counted on a grid of sample points in whole numbers, and angles are carried as
cosine and sine, so that every machine finds the same cover.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from scbench.base.seeding import Stream
from scbench.graders.tetrahedra_shadow_projection import BASE, corners, swept_edges

Floats = NDArray[np.float64]
XY = tuple[float, float]
_SLACK = 0.05
# How far a shadow laid along a side sticks out: less than the slack, so that it costs
# nothing.
_OUT = 0.03
# How far it may stick out past the end of the side.
_PAST = 0.045
# Step along a side.
_SLIDE = 0.12
_WORTH_INSIDE, _WORTH_OUTSIDE = 3, -1
"""What a sample point is worth: a gap costs 1.5 times its area, spill half of it."""
_MARGIN = 0.6
_EDGES = 50
_TURNED = 12
_GAP = 0.01
_DECIMALS = 6


class Effort(NamedTuple):
    """How fine sample points and candidates inside lie, and how many bodies to place at most."""

    step: float
    pitch: float
    limit: int


class _Template(NamedTuple):
    """An orientation and its shadow: 4 points counter-clockwise, the last of a triangle twice."""

    quaternion: tuple[float, float, float, float]
    outline: Floats
    sides: int


class _Stamps(NamedTuple):
    """Sample points that candidates cover, in a window around each; one entry each.

    The mask is -1 for points that are covered, all bits of which are 1, and 0 for others.
    """

    first: NDArray[np.intp]
    mask: NDArray[np.int8]
    candidate: NDArray[np.intp]

    def of(self, these: NDArray[Any]) -> "_Stamps":
        """Return some of them."""
        return _Stamps(self.first[these], self.mask[these], self.candidate[these])


class _Candidates(NamedTuple):
    """Shadows: template, cosine and sine of the turn, move in x and y; one entry each."""

    template: NDArray[np.intp]
    turn: Floats
    move: Floats


def find_cover(target: Polygon, effort: Effort) -> list[tuple[float, ...]]:
    """Return poses of tetrahedra whose shadows cover a target as well as the search can.

    Every tetrahedron has its own level, so that none cuts another. Each has x, y and z, rounded to
    6 digits, and the quaternion, scalar part first.
    """
    target = shapely.orient_polygons(target)
    candidates = _shadow_candidates(target, effort.pitch)
    selection = _choose(target, candidates, effort)
    poses: list[tuple[float, ...]] = []
    level = 0.0
    for i in selection:
        x, y = (round(float(v), _DECIMALS) for v in candidates.move[i])
        quaternion = _turned_quaternion(
            _templates()[candidates.template[i]].quaternion, *candidates.turn[i]
        )
        heights = corners(np.array([(x, y, 0.0, *quaternion)]))[0, :, 2]
        poses.append(
            (x, y, round(level - float(heights.min()), _DECIMALS), *quaternion)
        )
        level += float(heights.max() - heights.min()) + _GAP
    return poses


@cache
def _templates() -> list[_Template]:
    """Return the square shadow, the triangular one, and a dozen others."""
    # The line between the middles of two opposite edges, turned to z: the shadow is a square.
    rng = Stream("shadow templates")
    quaternions = [
        _upright_quaternion(
            [(c + d - a - b) / 2 for a, b, c, d in zip(*BASE, strict=True)]
        ),
        (1, 0, 0, 0),
    ]
    while len(quaternions) < 2 + _TURNED:
        parts = [rng.between(-50, 50) for _ in range(4)]
        if 100 < sum(q * q for q in parts) <= 2500:
            quaternions.append((parts[0], parts[1], parts[2], parts[3]))
    templates = []
    for quaternion in quaternions:
        length = math.sqrt(sum(q * q for q in quaternion))
        w, x, y, z = (round(q / length, 12) for q in quaternion)
        points = corners(np.array([(0.0, 0.0, 0.0, w, x, y, z)]))[0, :, :2]
        hull = shapely.orient_polygons(shapely.convex_hull(shapely.multipoints(points)))
        outline = shapely.get_coordinates(hull)[:-1]
        padded = outline if len(outline) == 4 else np.vstack([outline, outline[-1:]])
        templates.append(_Template((w, x, y, z), padded, len(outline)))
    return templates


def _upright_quaternion(axis: Sequence[float]) -> tuple[float, float, float, float]:
    """Return a quaternion that turns an axis to z."""
    x, y, z = axis
    return math.sqrt(x * x + y * y + z * z) + z, y, -x, 0.0


def _turned_quaternion(
    quaternion: tuple[float, float, float, float], cosine: float, sine: float
) -> tuple[float, ...]:
    """Return a quaternion followed by a turn about z."""
    c = math.sqrt(max(0.0, (1 + cosine) / 2))
    s = math.copysign(math.sqrt(max(0.0, (1 - cosine) / 2)), sine)
    w, x, y, z = quaternion
    return tuple(
        round(float(q), 9)
        for q in (c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w)
    )


def _shadow_candidates(target: Polygon, pitch: float) -> _Candidates:
    sides = list(_target_sides(target))
    sides = sides[:: max(1, -(-len(sides) // _EDGES))]
    rows = [*_side_candidates(sides), *_inside_candidates(target, sides, pitch)]
    table = np.array(rows)
    return _Candidates(table[:, 0].astype(np.intp), table[:, 1:3], table[:, 3:])


def _target_sides(target: Polygon) -> Iterator[tuple[XY, XY, float]]:
    """Yield start, direction and length of every side, the inside on its left."""
    for ring in (target.exterior, *target.interiors):
        points = shapely.get_coordinates(ring).tolist()
        for (ax, ay), (bx, by) in pairwise(points):
            length = math.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
            yield (ax, ay), ((bx - ax) / length, (by - ay) / length), length


def _side_candidates(
    sides: Sequence[tuple[XY, XY, float]],
) -> Iterator[tuple[float, ...]]:
    """Yield shadows with one side along a side of the target, at steps from end to end."""
    for (ax, ay), (dx, dy), length in sides:
        for k, template in enumerate(_templates()):
            for i in range(template.sides):
                px, py = template.outline[i].tolist()
                qx, qy = template.outline[(i + 1) % template.sides].tolist()
                side = math.sqrt((qx - px) ** 2 + (qy - py) ** 2)
                ex, ey = (qx - px) / side, (qy - py) / side
                cosine, sine = ex * dx + ey * dy, ex * dy - ey * dx
                low, high = -_PAST, length - side + _PAST
                steps = int(max(high - low, 0.0) / _SLIDE) + 1 if high >= low else 2
                for j in range(steps + 1):
                    t = low + (high - low) * (j / steps)
                    x = ax + t * dx + _OUT * dy - (cosine * px - sine * py)
                    y = ay + t * dy - _OUT * dx - (sine * px + cosine * py)
                    yield k, cosine, sine, x, y


def _inside_candidates(
    target: Polygon, sides: Sequence[tuple[XY, XY, float]], pitch: float
) -> Iterator[tuple[float, ...]]:
    """Yield squares and triangles, parallel to up to three sides, centred on a grid."""
    directions: list[XY] = []
    for _, (dx, dy), _ in sides:
        if all(
            abs(dx * ex + dy * ey) < 0.99 > abs(dx * ey - dy * ex)
            for ex, ey in directions
        ):
            directions.append((dx, dy))
    x0, y0, x1, y1 = target.bounds
    xs = x0 + pitch * np.arange(int((x1 - x0) / pitch) + 1)
    ys = y0 + pitch * np.arange(int((y1 - y0) / pitch) + 1)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    grid = grid[shapely.contains_xy(target, grid)]
    for k, template in enumerate(_templates()[:2]):
        outline = template.outline[: template.sides].tolist()
        px, py = (sum(axis) / template.sides for axis in zip(*outline, strict=True))
        for dx, dy in directions[:3]:
            for sign in (1, -1)[: 1 + k]:  # a square turned by half a turn is the same
                cosine, sine = sign * dx, sign * dy
                turned_x, turned_y = cosine * px - sine * py, sine * px + cosine * py
                for x, y in grid.tolist():
                    yield k, cosine, sine, x - turned_x, y - turned_y


def _choose(target: Polygon, candidates: _Candidates, effort: Effort) -> list[int]:
    """Take the candidate that gains most, again and again; then drop those that were not needed."""
    worth, origin = _sample_grid(target, effort.step)
    inside = worth.ravel() > 0
    stamps = _stamps(candidates, worth.shape, origin, effort.step)
    gain = _gains(worth, stamps)
    stamps, gain = stamps.of(gain > 0), gain[gain > 0]
    window = stamps.mask.shape[1]
    selection: dict[int, NDArray[np.intp]] = {}
    while len(selection) < effort.limit and len(gain):
        best = int(gain.argmax())
        if gain[best] <= 2 * _WORTH_INSIDE:
            break
        at = stamps.mask[best].nonzero() + stamps.first[best][:, None]
        selection[best] = at[0] * worth.shape[1] + at[1]
        worth.ravel()[selection[best]] = 0
        near = (
            (np.abs(stamps.first - stamps.first[best]) < window)
            .all(axis=1)
            .nonzero()[0]
        )
        gain[near] = _gains(worth, stamps.of(near))
    return [int(stamps.candidate[i]) for i in _indispensable(selection, inside)]


def _gains(worth: NDArray[np.int8], stamps: _Stamps) -> NDArray[np.int32]:
    """Return what the sample points that each candidate covers are worth."""
    window = stamps.mask.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(worth, (window, window))
    values = windows[stamps.first[:, 0], stamps.first[:, 1]]
    values &= stamps.mask
    total: NDArray[np.int32] = values.reshape(len(values), -1).sum(
        axis=1, dtype=np.int32
    )
    return total


def _indispensable(
    selection: Mapping[int, NDArray[np.intp]], inside: NDArray[np.bool_]
) -> list[int]:
    """Return the chosen candidates without those whose inside points all lie under others."""
    depth = np.zeros(inside.size, dtype=np.intp)
    for stamp in selection.values():
        depth[stamp] += 1
    needed = []
    for i, stamp in selection.items():
        samples = stamp[inside[stamp]]
        if (depth[samples] > 1).all():
            depth[stamp] -= 1
        else:
            needed.append(i)
    return needed


def _sample_grid(target: Polygon, step: float) -> tuple[NDArray[np.int8], XY]:
    """Return what every sample point is worth, and the corner that the grid starts from."""
    x0, y0, x1, y1 = target.bounds
    x0, y0 = x0 - _MARGIN, y0 - _MARGIN
    shape = [
        int((high - low + _MARGIN + 1.2) / step) + 1
        for low, high in ((x0, x1), (y0, y1))
    ]
    x, y = (
        low + step * (np.arange(n) + 0.5)
        for low, n in zip((x0, y0), shape, strict=True)
    )
    grid = np.meshgrid(x, y, indexing="ij")
    grown = shapely.union_all([target, *swept_edges([target], _SLACK)])
    inside, free = (shapely.contains_xy(region, *grid) for region in (target, grown))
    worth = np.where(inside, _WORTH_INSIDE, np.where(free, 0, _WORTH_OUTSIDE))
    return worth.astype(np.int8), (x0, y0)


def _stamps(
    candidates: _Candidates, shape: tuple[int, ...], origin: XY, step: float
) -> _Stamps:
    """Return the sample points that each candidate covers, of those that lie on the sheet."""
    outlines = np.stack([template.outline for template in _templates()])[
        candidates.template
    ]
    x, y = outlines[..., 0], outlines[..., 1]
    cosine, sine = candidates.turn[:, :1], candidates.turn[:, 1:]
    x, y = (
        cosine * x - sine * y + candidates.move[:, :1],
        sine * x + cosine * y + candidates.move[:, 1:],
    )
    column = np.floor((x.min(axis=1) - origin[0]) / step).astype(np.intp)
    row = np.floor((y.min(axis=1) - origin[1]) / step).astype(np.intp)
    window = (
        int(1 / step) + 2
    )  # sample points that the widest shadow, of width 1, can span
    on_sheet = (column >= 0) & (row >= 0)
    on_sheet &= (column + window <= shape[0]) & (row + window <= shape[1])
    keep = np.nonzero(on_sheet)[0]
    x, y, column, row = x[keep], y[keep], column[keep], row[keep]
    span = np.arange(window)
    sample_x = origin[0] + step * (column[:, None] + span + 0.5)
    sample_y = origin[1] + step * (row[:, None] + span + 0.5)
    mask = np.ones((len(keep), window, window), dtype=bool)
    for i in range(4):
        ax, ay = x[:, i, None], y[:, i, None]
        bx, by = x[:, (i + 1) % 4, None], y[:, (i + 1) % 4, None]
        side_of = ((bx - ax) * (sample_y - ay))[:, None, :]
        mask &= side_of >= ((by - ay) * (sample_x - ax))[:, :, None]
    return _Stamps(np.stack([column, row], axis=1), -mask.view(np.int8), keep)
