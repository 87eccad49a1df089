"""Covers a flat target with shadows of unit tetrahedra, chosen greedily from many candidates.

The gain of a candidate is counted on a grid of sample points in integers, so that every
machine finds the same cover.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from scbench.builders.tetrahedra_shadow_projection.candidates import (
    XY,
    Candidate,
    flat_candidates,
    shadow_candidates,
    templates,
    turned_quaternion,
)
from scbench.graders.tetrahedra_shadow_projection import Floats, corners, swept_edges

# The worth of a sample point: a gap costs 1.5 times its area, spill half of it.
_WORTH_INSIDE = 3
_WORTH_OUTSIDE = -1
# Spill within this distance of the target costs nothing.
_SLACK = 0.05
# Width of the ground beyond the target's bounds that also has sample points.
_MARGIN = 0.6
# Vertical gap between tetrahedra.
_GAP = 0.01
_DECIMALS = 6


class Effort(NamedTuple):
    """How fine a search is.

    Attributes:
        step: distance between sample points.
        pitch: distance between candidates inside the target.
        limit: maximum number of bodies to place.
    """

    step: float
    pitch: float
    limit: int


class Sheet(NamedTuple):
    """Sample points: the worth of each as an array [x, y], the first corner, and the step."""

    worth: NDArray[np.int8]
    origin: XY
    step: float


class Stamps(NamedTuple):
    """The sample points that each candidate covers, in a window around it.

    Attributes:
        first: n x 2, column and row of the window's first sample point.
        mask: n x window x window; -1 (all bits set) for covered points, otherwise 0.
        candidate: n, the numbers of the candidates.
    """

    first: NDArray[np.intp]
    mask: NDArray[np.int8]
    candidate: NDArray[np.intp]

    def at(self, positions: NDArray[Any]) -> "Stamps":
        """Return the entries at these positions."""
        return Stamps(
            self.first[positions], self.mask[positions], self.candidate[positions]
        )


def find_cover(target: Polygon, effort: Effort) -> list[tuple[float, ...]]:
    """Return poses of tetrahedra whose shadows cover a target as well as the search can.

    The poses have the format of `stack_poses`.
    """
    target = shapely.orient_polygons(target)
    return stack_poses(target, shadow_candidates(target, effort.pitch), effort)


def find_flat_cover(target: Polygon, effort: Effort) -> list[tuple[float, ...]]:
    """Return poses of tetrahedra that are not tilted and do not follow the rim."""
    target = shapely.orient_polygons(target)
    return stack_poses(target, flat_candidates(target, effort.pitch), effort)


def stack_poses(
    target: Polygon, candidates: Sequence[Candidate], effort: Effort
) -> list[tuple[float, ...]]:
    """Return the poses of chosen candidates.

    Every tetrahedron has its own level, so none intersects another. A pose is x, y and z, rounded
    to 6 digits, and the quaternion, scalar part first.
    """
    poses: list[tuple[float, ...]] = []
    level = 0.0
    for i in choose(target, candidates, effort):
        shadow = candidates[i]
        x = round(shadow.x, _DECIMALS)
        y = round(shadow.y, _DECIMALS)
        template = templates()[shadow.template]
        quaternion = turned_quaternion(template.quaternion, shadow.cosine, shadow.sine)
        heights = corners(np.array([(x, y, 0.0, *quaternion)]))[0, :, 2]
        low = float(heights.min())
        high = float(heights.max())
        poses.append((x, y, round(level - low, _DECIMALS), *quaternion))
        level += high - low + _GAP
    return poses


def choose(
    target: Polygon, candidates: Sequence[Candidate], effort: Effort
) -> list[int]:
    """Repeatedly choose the candidate that gains most; then drop those that are not needed."""
    sheet = sample_grid(target, effort.step)
    worth = sheet.worth
    inside = worth.ravel() > 0
    stamps = stamps_of(candidates, sheet)
    gain = gains(worth, stamps)
    has_gain = gain > 0
    stamps = stamps.at(has_gain)
    gain = gain[has_gain]
    window = stamps.mask.shape[1]
    selection: dict[int, NDArray[np.intp]] = {}
    while len(selection) < effort.limit and len(gain):
        best = int(gain.argmax())
        # Two more covered sample points are not worth a tetrahedron.
        if gain[best] <= 2 * _WORTH_INSIDE:
            break
        column, row = stamps.first[best]
        columns, rows = stamps.mask[best].nonzero()
        samples = (column + columns) * worth.shape[1] + row + rows
        selection[best] = samples
        worth.ravel()[samples] = 0
        # Only candidates whose windows overlap have lost gain.
        overlaps = np.abs(stamps.first - stamps.first[best]) < window
        near = np.flatnonzero(overlaps.all(axis=1))
        gain[near] = gains(worth, stamps.at(near))
    return [int(stamps.candidate[i]) for i in without_redundant(selection, inside)]


def sample_grid(target: Polygon, step: float) -> Sheet:
    """Lay sample points over a target and its surroundings."""
    x0, y0, x1, y1 = target.bounds
    origin = (x0 - _MARGIN, y0 - _MARGIN)
    axes = []
    for low, high in zip(origin, (x1, y1), strict=True):
        # There is room for a whole shadow beyond the far side.
        n = int((high - low + _MARGIN + 1.2) / step) + 1
        axes.append(low + step * (np.arange(n) + 0.5))
    grid = np.meshgrid(*axes, indexing="ij")
    with_slack = shapely.union_all([target, *swept_edges([target], _SLACK)])
    is_near = shapely.contains_xy(with_slack, *grid)
    is_inside = shapely.contains_xy(target, *grid)
    worth_outside = np.where(is_near, 0, _WORTH_OUTSIDE)
    worth = np.where(is_inside, _WORTH_INSIDE, worth_outside)
    return Sheet(worth.astype(np.int8), origin, step)


def stamps_of(candidates: Sequence[Candidate], sheet: Sheet) -> Stamps:
    """Return the sample points that each candidate covers, for candidates on the sheet."""
    table = np.array(candidates)
    outlines = np.stack([template.outline for template in templates()])
    points = outlines[table[:, 0].astype(np.intp)]
    cosine, sine, move_x, move_y = (table[:, i, None] for i in range(1, 5))
    # Each candidate's corners, n x 4.
    x = cosine * points[..., 0] - sine * points[..., 1] + move_x
    y = sine * points[..., 0] + cosine * points[..., 1] + move_y
    step = sheet.step
    column = np.floor((x.min(axis=1) - sheet.origin[0]) / step).astype(np.intp)
    row = np.floor((y.min(axis=1) - sheet.origin[1]) / step).astype(np.intp)
    # Number of sample points that the widest shadow, of width 1, can span.
    window = int(1 / step) + 2
    columns, rows = sheet.worth.shape
    in_columns = (column >= 0) & (column + window <= columns)
    in_rows = (row >= 0) & (row + window <= rows)
    keep = np.flatnonzero(in_columns & in_rows)
    column = column[keep]
    row = row[keep]
    span = np.arange(window)
    sample_x = sheet.origin[0] + step * (column[:, None] + span + 0.5)
    sample_y = sheet.origin[1] + step * (row[:, None] + span + 0.5)
    mask = covered_samples(x[keep], y[keep], sample_x, sample_y)
    return Stamps(np.stack([column, row], axis=1), -mask.view(np.int8), keep)


def covered_samples(
    x: Floats, y: Floats, sample_x: Floats, sample_y: Floats
) -> NDArray[np.bool_]:
    """Return which sample points each shadow covers: n x window x window.

    Args:
        x: n x 4, x of the corners of each shadow, counter-clockwise.
        y: y of the corners.
        sample_x: n x window, x of the sample points around each shadow.
        sample_y: y of the sample points.
    """
    count, window = sample_x.shape
    is_covered = np.ones((count, window, window), dtype=bool)
    for i in range(4):
        ax = x[:, i - 1, None]
        ay = y[:, i - 1, None]
        bx = x[:, i, None]
        by = y[:, i, None]
        # A covered point is on the left of every side.
        rise = ((bx - ax) * (sample_y - ay))[:, None, :]
        run = ((by - ay) * (sample_x - ax))[:, :, None]
        is_covered &= rise >= run
    return is_covered


def gains(worth: NDArray[np.int8], stamps: Stamps) -> NDArray[np.int32]:
    """Return the worth of all sample points that each candidate covers."""
    window = stamps.mask.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(worth, (window, window))
    values = windows[stamps.first[:, 0], stamps.first[:, 1]]
    # All bits of -1 are 1: covered points keep their worth, and others get 0.
    values &= stamps.mask
    total: NDArray[np.int32] = values.sum(axis=(1, 2), dtype=np.int32)
    return total


def without_redundant(
    selection: Mapping[int, NDArray[np.intp]], inside: NDArray[np.bool_]
) -> list[int]:
    """Return the chosen candidates, except those whose inside points are all covered by others."""
    depth = np.zeros(inside.size, dtype=np.intp)
    for samples in selection.values():
        depth[samples] += 1
    needed = []
    for i, samples in selection.items():
        inside_samples = samples[inside[samples]]
        is_redundant = (depth[inside_samples] > 1).all()
        if is_redundant:
            depth[samples] -= 1
        else:
            needed.append(i)
    return needed
