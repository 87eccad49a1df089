"""Distances from the flat faces of a body to whatever is next: how thick bars are, how wide gaps.

Spec: interlocking_parts, "Verification" 7 and 8, sampled on a grid that does not depend on how
faces are cut into triangles.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from scbench.graders.interlocking_parts.print_checks import (
    Facet,
    Shell,
    facets,
    neighbours,
    triangles_of,
)
from scbench.graders.shared.meshes import (
    Array,
    Indices,
    close_pairs,
    components,
    nearer_than,
    unit,
)
from scbench.schemas.interlocking_parts import Survey

# Directions of rays times triangles.
MOST_WORK = 2 * 10**8
# Comparisons of rays with triangles; all parts of a right cage take a twentieth
# together.
MOST_RAYS = 3 * 10**8
# Parallel faces that are less than this apart, in mm, are one.
ONE_FACE = 1.0
_PARALLEL = 0.999
_MOST_PAIRS = 1_000_000
_DECIMALS = 4
_BLOCK = 256
# Rays along an edge of the grid between two triangles hit both.
_EDGE = 1e-7
# What a point within the bounds of a triangle costs, if one outside of them costs 1.
_NEAR = 20


class TooManyRaysError(Exception):
    """Points and triangles are too many, or too crowded, for all of them to be compared."""


class Meter:
    """Counts the work of casting rays, up to a budget: comparisons of points with triangles."""

    def __init__(self, budget: float) -> None:
        self._remaining = budget

    def spend(self, work: float) -> None:
        """Count work before it is done.

        Raises:
            TooManyRaysError: it is more than is left.
        """
        self._remaining -= work
        if self._remaining < 0:
            raise TooManyRaysError


def frame(direction: Array) -> Array:
    """Return three axes (3, 3) as columns, square to each other; the third is the direction.

    Along a coordinate axis all three are coordinate axes, so that no coordinate is rounded.
    """
    least = np.zeros(3)
    least[int(np.argmin(np.abs(direction)))] = 1.0
    first = unit(np.cross(least, direction))
    axes: Array = np.stack([first, np.cross(direction, first), direction], axis=1)
    return axes + 0.0


def grids_on(
    faces: Sequence[Array], axis: int, cell: float, max_cells: int, meter: Meter
) -> list[Array]:
    """Return, for each of some flat faces (m, 3, 3), the points (k, 3) of a grid that lie on it.

    The bounds of a face across an axis, to which none is parallel, are cut into equal cells, no
    wider than ``cell``, but at most ``max_cells`` along a side; a point is the middle of a cell,
    moved along the axis onto the face.

    Raises:
        TooManyRaysError: what the meter lets spend is not enough.
    """
    across = [i for i in range(3) if i != axis]
    points, triangles, apart = [], [], 0.0
    for face in faces:
        flat = face[:, :, [*across, axis]]
        low, high = flat[:, :, :2].min(axis=(0, 1)), flat[:, :, :2].max(axis=(0, 1))
        counts = [
            int(min(max_cells, max(1.0, math.ceil(round(length / cell, 6)))))
            for length in (high - low).tolist()
        ]
        u, v = ((np.arange(count) + 0.5) / count for count in counts)
        grid = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1).reshape(-1, 2)
        # All faces are laid side by side, so that one search serves them all.
        shift = np.array([apart, 0.0]) - low
        points.append(grid * (high - low) + (apart, 0.0))
        triangles.append(flat + np.append(shift, 0.0))
        apart += float(high[0] - low[0]) + 1.0
    where, _, height = _triangle_hits(
        np.concatenate(points), np.concatenate(triangles), meter
    )
    where, first = np.unique(where, return_index=True)
    ends = np.cumsum([len(grid) for grid in points])
    grids, apart = [], 0.0
    for face, grid, end in zip(faces, points, ends.tolist(), strict=True):
        here = (where >= end - len(grid)) & (where < end)
        on = np.empty((int(np.count_nonzero(here)), 3))
        low, high = (
            face[:, :, across].min(axis=(0, 1)),
            face[:, :, across].max(axis=(0, 1)),
        )
        on[:, across] = grid[where[here] - (end - len(grid))] + low - (apart, 0.0)
        on[:, axis] = height[first[here]]
        grids.append(on)
        apart += float(high[0] - low[0]) + 1.0
    return grids


def cast(origins: Array, direction: Array, corners: Array, meter: Meter) -> Array:
    """Return the distance (k,) from each origin (k, 3) to the first triangle ahead, or infinity.

    The direction (3,) is of length 1, the same for all rays; corners are of triangles (m, 3, 3).
    If the meter lets spend too little, `TooManyRaysError` is raised.
    """
    axes = frame(direction)
    start, turned = origins @ axes, corners @ axes
    ray, _, height = _triangle_hits(start[:, :2], turned, meter)
    distance = height - start[ray, 2]
    ahead = distance > 0
    nearest = np.full(len(origins), np.inf)
    np.minimum.at(nearest, ray[ahead], distance[ahead])
    return nearest


def _triangle_hits(
    points: Array, corners: Array, meter: Meter
) -> tuple[Indices, Indices, Array]:
    """Return which points (k, 2) lie below or above which triangles, and the heights there."""
    a, b, c = (corners[:, i, :2] for i in range(3))
    double = _cross_2d(b - a, c - a)
    facing = np.flatnonzero(np.abs(double) > 1e-9)  # the others are seen edge-on
    low = corners[facing, :, :2].min(axis=1) - _EDGE
    high = corners[facing, :, :2].max(axis=1) + _EDGE
    order = _in_patches(points)
    columns: list[tuple[Indices, Indices, Array]] = []
    for first in range(0, len(order), _BLOCK):
        rows = order[first : first + _BLOCK]
        p = points[rows]
        start, end = p.min(axis=0), p.max(axis=0)
        near = np.flatnonzero(
            (low[:, 0] <= end[0])
            & (low[:, 1] <= end[1])
            & (high[:, 0] >= start[0])
            & (high[:, 1] >= start[1])
        )
        meter.spend(len(rows) * len(near))
        x, y = p[:, :1], p[:, 1:]
        inside = (low[near, 0] <= x) & (high[near, 0] >= x)
        inside &= (low[near, 1] <= y) & (high[near, 1] >= y)
        i, j = np.nonzero(inside)
        meter.spend(_NEAR * len(i))
        tri = facing[near[j]]
        q = p[i]
        # Weights of the three corners; all positive inside.
        wa = _cross_2d(b[tri] - q, c[tri] - q) / double[tri]
        wb = _cross_2d(c[tri] - q, a[tri] - q) / double[tri]
        wc = 1 - wa - wb
        hit = (wa >= -_EDGE) & (wb >= -_EDGE) & (wc >= -_EDGE)
        z = corners[tri, :, 2]
        height = wa * z[:, 0] + wb * z[:, 1] + wc * z[:, 2]
        columns.append((rows[i[hit]], tri[hit], height[hit]))
    if not columns:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    hits, triangles, heights = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    return hits, triangles, heights


def _in_patches(points: Array) -> Indices:
    """Return the order of points (k, 2) in which neighbours in it are neighbours in the plane."""
    if len(points) == 0:
        return np.zeros(0, dtype=np.int64)
    span = float(np.ptp(points[:, 0]))
    strips = max(
        1.0, math.sqrt(len(points) / _BLOCK * span / max(np.ptp(points[:, 1]), 1e-9))
    )
    strip = np.floor((points[:, 0] - points[:, 0].min()) / max(span, 1e-9) * strips)
    return np.lexsort((points[:, 1], strip))


def _cross_2d(u: Array, v: Array) -> Array:
    product: Array = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return product


class Distances(NamedTuple):
    """What a survey found."""

    values: tuple[float, ...]
    """One distance for each face that has one, ascending."""
    mode: float | None
    """The median of the histogram's fullest bin; None without values."""
    share: float
    """The share of values near it."""


def survey(
    shell: Shell, rules: Survey, way: Literal["in", "out"], axes: tuple[int, ...]
) -> Distances | None:
    """Return the distances from the faces of a mesh; None if that is too much work.

    Rays go "in" to the material or "out" of it, from faces whose normals lie along one of the axes.
    """
    triangles = triangles_of(shell)
    groups: dict[tuple[float, ...], list[Array]] = {}

    def usable(facet: Facet) -> bool:
        axis = int(np.argmax(np.abs(facet.normal)))
        return (
            axis in axes and round(abs(float(facet.normal[axis])), 9) >= rules.upright
        )

    flat = joined_faces(shell, [f for f in facets(shell, rules.area) if usable(f)])
    if flat is None:
        return None
    for facet in flat:
        axis = int(np.argmax(np.abs(facet.normal)))
        corners = triangles[facet.triangles]
        bounds = corners.max(axis=(0, 1)) - corners.min(axis=(0, 1))
        spans = [round(float(bounds[i]), 6) for i in range(3) if i != axis]
        if min(spans) < rules.span or max(spans) <= rules.end:
            continue
        key = tuple((np.round(facet.normal, 9) + 0.0).tolist())
        groups.setdefault(key, []).append(corners)
    if len(groups) * len(triangles) > MOST_WORK:
        return None
    try:
        values = _face_distances(groups, triangles, rules, way)
    except TooManyRaysError:
        return None
    return _judged(sorted(values), rules)


def joined_faces(shell: Shell, flat: Sequence[Facet]) -> list[Facet] | None:
    """Return flat faces, those that are parallel and less than `ONE_FACE` apart as one of them.

    Starting from the largest, a face takes in those that look its way and that one gets to without
    going that far up or down from its plane, or across. None if that is too much work.
    """
    if not flat:
        return []
    triangles, edges = triangles_of(shell), neighbours(shell)
    members = np.concatenate([facet.triangles for facet in flat])
    starts = np.cumsum([0, *(len(facet.triangles) for facet in flat)])[:-1]
    normals = np.stack([facet.normal for facet in flat])
    regions: dict[tuple[float, ...], tuple[Array, Indices]] = {}
    free = np.ones(len(flat), dtype=bool)
    joined = []
    for k in sorted(range(len(flat)), key=lambda k: (-round(flat[k].area, 6), k)):
        if not free[k]:
            continue
        normal = flat[k].normal
        height = float(np.mean(triangles[flat[k].triangles] @ normal))
        key = (*np.round(normal, 9).tolist(), round(height, 6))
        if key not in regions:
            if (len(regions) + 1) * len(triangles) > MOST_WORK:
                return None
            within = np.all(np.abs(triangles @ normal - height) < ONE_FACE, axis=1)
            label = _regions(triangles, edges, np.flatnonzero(within))
            if label is None:
                return None
            regions[key] = (
                np.logical_and.reduceat(within[members], starts),
                label[members[starts]],
            )
        inside, label = regions[key]
        alike = free & inside & (label == label[k]) & (normals @ normal > _PARALLEL)
        alike[k] = True
        free &= ~alike
        parts = [flat[i] for i in np.flatnonzero(alike).tolist()]
        together = np.concatenate([part.triangles for part in parts])
        joined.append(Facet(together, normal, sum(part.area for part in parts)))
    return joined


def _regions(triangles: Array, edges: Indices, within: Indices) -> Indices | None:
    """Return labels (m,), alike for those of some triangles that hang together; None: too many."""
    place = np.full(len(triangles), -1)
    place[within] = np.arange(len(within))
    pairs = place[edges]
    pairs = pairs[np.all(pairs >= 0, axis=1)]
    label = components(len(within), pairs)
    if label.max(initial=0) > 0:
        near = close_pairs(triangles[within], ONE_FACE, _MOST_PAIRS)
        if near is None:
            return None
        strangers = near[label[near[:, 0]] != label[near[:, 1]]]
        touching = nearer_than(triangles[within], strangers, ONE_FACE)
        label = components(len(within), np.concatenate([pairs, touching]))
    labels = np.full(len(triangles), -1)
    labels[within] = label
    return labels


def _face_distances(
    groups: Mapping[tuple[float, ...], Sequence[Array]],
    triangles: Array,
    rules: Survey,
    way: Literal["in", "out"],
) -> list[float]:
    """Return the distances from faces, grouped by their normals; for errors see `cast`."""
    meter = Meter(MOST_RAYS)
    values: list[float] = []
    for normal, faces in groups.items():
        grids = grids_on(
            faces, int(np.argmax(np.abs(normal))), rules.cell, rules.cells, meter
        )
        direction = np.array(normal) * (1.0 if way == "out" else -1.0)
        sizes = np.cumsum([len(grid) for grid in grids])[:-1]
        hits = cast(
            np.concatenate(grids) + rules.offset * direction,
            direction,
            triangles,
            meter,
        )
        for distances in np.split(hits, sizes):
            rounded = np.round(distances, _DECIMALS)
            within = rounded[(rounded > rules.reach[0]) & (rounded < rules.reach[1])]
            if len(within):
                values.append(round(float(np.median(within)), _DECIMALS))
    return values


def _judged(values: list[float], rules: Survey) -> Distances:
    if not values:
        return Distances((), None, 0.0)
    bins: dict[int, list[float]] = {}
    for value in values:
        bins.setdefault(math.floor(round(value / rules.bin, 6)), []).append(value)
    fullest = max(bins, key=lambda index: (len(bins[index]), -index))
    mode = round(float(np.median(bins[fullest])), _DECIMALS)
    near = len(bins[fullest])
    if rules.near is not None:
        near = sum(
            round(abs(value - mode), _DECIMALS) <= rules.near for value in values
        )
    return Distances(tuple(values), mode, near / len(values))
