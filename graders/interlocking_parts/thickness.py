"""Distances from the flat faces of a body to the next surface: thickness of bars, width of gaps.

Spec: interlocking_parts, "Verification" 7 and 8, sampled on a grid that does not depend on how
faces are cut into triangles.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from scbench.graders.interlocking_parts.part_meshes import (
    Facet,
    Shell,
    facets,
    neighbours,
    triangles_of,
)
from scbench.graders.interlocking_parts.rays import (
    Meter,
    TooManyRaysError,
    cast,
    grids_on,
)
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.triangle_contacts import nearer_than
from scbench.graders.shared.triangle_pairs import close_pairs
from scbench.graders.shared.vectors import Array, Indices
from scbench.schemas.interlocking_parts import Survey

# Maximum number of ray directions times triangles.
MOST_WORK = 2 * 10**8
# Maximum comparisons of rays with triangles; all parts of a correct cage take a twentieth of it.
MOST_RAYS = 3 * 10**8
# Parallel faces that are less than this apart, in mm, count as one.
ONE_FACE = 1.0
# Minimum cosine between normals of parallel faces.
_PARALLEL = 0.999
# Maximum number of pairs of triangles that are close to each other.
_MAX_PAIRS = 1_000_000
_DECIMALS = 4


class Distances(NamedTuple):
    """The distances that a survey measured."""

    values: tuple[float, ...]
    """One distance for each face that has one, ascending."""
    mode: float | None
    """The median of the histogram's fullest bin; None without values."""
    share: float
    """The share of values near the mode."""


class NearPlane(NamedTuple):
    """The faces of a survey, as seen from one plane."""

    is_near: Array
    """(n,) mask of the faces near the plane."""
    region: Indices
    """(n,) number of the connected region near the plane to which each face belongs."""


def survey(
    shell: Shell, rules: Survey, way: Literal["in", "out"], axes: tuple[int, ...]
) -> Distances | None:
    """Return the distances from the faces of a mesh; None if that is too much work.

    Rays go "in" to the material or "out" of it, from faces whose normals lie along one of the axes.
    """
    upright = [
        facet
        for facet in facets(shell, rules.area)
        if nearest_axis(facet.normal) in axes and is_upright(facet.normal, rules)
    ]
    faces = joined_faces(shell, upright)
    if faces is None:
        return None
    triangles = triangles_of(shell)
    groups: dict[tuple[float, ...], list[Array]] = {}
    for facet in faces:
        corners = triangles[facet.triangles]
        bounds = np.ptp(corners, axis=(0, 1)).tolist()
        del bounds[nearest_axis(facet.normal)]
        short, long = sorted(round(length, 6) for length in bounds)
        if short < rules.span or long <= rules.end:
            continue
        key = tuple((np.round(facet.normal, 9) + 0.0).tolist())
        groups.setdefault(key, []).append(corners)
    if len(groups) * len(triangles) > MOST_WORK:
        return None
    try:
        values = face_distances(groups, triangles, rules, way)
    except TooManyRaysError:
        return None
    return with_mode(sorted(values), rules)


def nearest_axis(normal: Array) -> int:
    """Return the axis that a vector (3,) is nearest to: 0, 1 or 2."""
    return int(np.argmax(np.abs(normal)))


def is_upright(normal: Array, rules: Survey) -> bool:
    """Whether a normal lies along the axis that it is nearest to."""
    cosine = abs(float(normal[nearest_axis(normal)]))
    return round(cosine, 9) >= rules.upright


def joined_faces(shell: Shell, flat: Sequence[Facet]) -> list[Facet] | None:
    """Return flat faces; parallel ones that are less than `ONE_FACE` apart are joined.

    Starting from the largest, a face is joined with those that face the same way and can be reached
    from it by a path that stays within `ONE_FACE` of its plane and crosses no gap of `ONE_FACE` or
    more. None if this is too much work.
    """
    if not flat:
        return []
    triangles = triangles_of(shell)
    edges = neighbours(shell)
    # The triangles of all faces, face after face, so that one call serves all faces.
    members = np.concatenate([facet.triangles for facet in flat])
    sizes = [len(facet.triangles) for facet in flat]
    starts = np.cumsum([0, *sizes])[:-1]
    normals = np.stack([facet.normal for facet in flat])
    planes: dict[tuple[float, ...], NearPlane] = {}
    is_free = np.ones(len(flat), dtype=bool)
    joined = []
    for k in sorted(range(len(flat)), key=lambda k: (-round(flat[k].area, 6), k)):
        if not is_free[k]:
            continue
        normal = flat[k].normal
        height = float(np.mean(triangles[flat[k].triangles] @ normal))
        key = (*np.round(normal, 9).tolist(), round(height, 6))
        if key not in planes:
            if (len(planes) + 1) * len(triangles) > MOST_WORK:
                return None
            is_near = np.all(np.abs(triangles @ normal - height) < ONE_FACE, axis=1)
            region = regions(triangles, edges, np.flatnonzero(is_near))
            if region is None:
                return None
            # A face is near the plane if all its triangles are; they are in one region.
            face_is_near = np.logical_and.reduceat(is_near[members], starts)
            planes[key] = NearPlane(face_is_near, region[members[starts]])
        plane = planes[key]
        is_reachable = plane.is_near & (plane.region == plane.region[k])
        is_joined = is_free & is_reachable & (normals @ normal > _PARALLEL)
        is_joined[k] = True
        is_free &= ~is_joined
        parts = [flat[i] for i in np.flatnonzero(is_joined).tolist()]
        all_triangles = np.concatenate([part.triangles for part in parts])
        joined.append(Facet(all_triangles, normal, sum(part.area for part in parts)))
    return joined


def regions(triangles: Array, edges: Indices, within: Indices) -> Indices | None:
    """Return labels (m,), equal for connected triangles; None if there are too many.

    ``edges`` (p, 2) are pairs of triangles with a common edge, ``within`` (k,) the positions of the
    triangles; the others have the label -1.
    """
    place = np.full(len(triangles), -1)
    place[within] = np.arange(len(within))
    pairs = place[edges]
    pairs = pairs[np.all(pairs >= 0, axis=1)]
    label = components(len(within), pairs)
    if label.max(initial=0) > 0:
        # Several pieces: those near each other are one region.
        near = close_pairs(triangles[within], ONE_FACE, _MAX_PAIRS)
        if near is None:
            return None
        is_separate = label[near[:, 0]] != label[near[:, 1]]
        touching = nearer_than(triangles[within], near[is_separate], ONE_FACE)
        label = components(len(within), np.concatenate([pairs, touching]))
    labels = np.full(len(triangles), -1)
    labels[within] = label
    return labels


def face_distances(
    groups: Mapping[tuple[float, ...], Sequence[Array]],
    triangles: Array,
    rules: Survey,
    way: Literal["in", "out"],
) -> list[float]:
    """Return the distances from faces, grouped by their normals; for errors see `cast`."""
    meter = Meter(MOST_RAYS)
    values: list[float] = []
    for key, faces in groups.items():
        normal = np.array(key)
        axis = nearest_axis(normal)
        grids = grids_on(faces, axis, rules.cell, rules.cells, meter)
        direction = normal * (1.0 if way == "out" else -1.0)
        # Rays start a little away from the face, so that they do not hit it; that is added back.
        origins = np.concatenate(grids) + rules.offset * direction
        hits = cast(origins, direction, triangles, meter)
        ends = np.cumsum([len(grid) for grid in grids])
        for distances in np.split(hits, ends[:-1]):
            rounded = np.round(distances + rules.offset, _DECIMALS)
            in_reach = (rounded > rules.reach[0]) & (rounded < rules.reach[1])
            if in_reach.any():
                median = float(np.median(rounded[in_reach]))
                values.append(round(median, _DECIMALS))
    return values


def with_mode(values: list[float], rules: Survey) -> Distances:
    """Return the distances, still ascending, and the median of the histogram's fullest bin."""
    if not values:
        return Distances((), None, 0.0)
    bins: dict[int, list[float]] = {}
    for value in values:
        index = math.floor(round(value / rules.bin, 6))
        bins.setdefault(index, []).append(value)
    # If several bins are equally full, the lowest counts.
    fullest = max(bins, key=lambda index: (len(bins[index]), -index))
    mode = round(float(np.median(bins[fullest])), _DECIMALS)
    near_values = bins[fullest]
    if rules.near is not None:
        near_values = [
            value
            for value in values
            if round(abs(value - mode), _DECIMALS) <= rules.near
        ]
    return Distances(tuple(values), mode, len(near_values) / len(values))
