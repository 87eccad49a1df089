"""Distances from the flat faces of a body to whatever is next: how thick bars are, how wide gaps.

Spec: interlocking_parts, "Verification" 7 and 8, sampled on a grid that does not depend on how
faces are cut into triangles.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from scbench.graders.interlocking_parts.ray_casting import Meter, TooManyRaysError, cast, grids_on
from scbench.graders.interlocking_parts.triangle_meshes import Shell, facets, triangles_of
from scbench.graders.shared.meshes import Array
from scbench.schemas.interlocking_parts import Survey

MOST_WORK = 2 * 10**8
"""Directions of rays times triangles."""
MOST_RAYS = 3 * 10**8
"""Comparisons of rays with triangles; all parts of a right cage take a twentieth together."""

_DECIMALS = 4


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

    Args:
        shell: the mesh.
        rules: which faces count and how they are sampled.
        way: whether rays go into the material or away from it.
        axes: those that a face's normal may lie along.
    """
    triangles = triangles_of(shell)
    groups: dict[tuple[float, ...], list[Array]] = {}
    for facet in facets(shell, rules.area):
        axis = int(np.argmax(np.abs(facet.normal)))
        upright = round(abs(float(facet.normal[axis])), 9) >= rules.upright
        if not upright or axis not in axes:
            continue
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
        values = _values(groups, triangles, rules, way)
    except TooManyRaysError:
        return None
    return _judged(sorted(values), rules)


def _values(
    groups: Mapping[tuple[float, ...], Sequence[Array]],
    triangles: Array,
    rules: Survey,
    way: Literal["in", "out"],
) -> list[float]:
    """Return the distances from faces, grouped by their normals.

    Raises:
        TooManyRaysError: they are too many.
    """
    meter = Meter(MOST_RAYS)
    values: list[float] = []
    for normal, faces in groups.items():
        grids = grids_on(faces, int(np.argmax(np.abs(normal))), rules.cell, rules.cells, meter)
        direction = np.array(normal) * (1.0 if way == "out" else -1.0)
        sizes = np.cumsum([len(grid) for grid in grids])[:-1]
        hits = cast(np.concatenate(grids) + rules.offset * direction, direction, triangles, meter)
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
        near = sum(round(abs(value - mode), _DECIMALS) <= rules.near for value in values)
    return Distances(tuple(values), mode, near / len(values))
