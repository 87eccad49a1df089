"""How much there is to find out about a union: a count for the ladder."""

from itertools import combinations

import numpy as np
from manifold3d import Manifold

from scbench.builders.csg_union.polygon_faces import polygon_mesh
from scbench.graders.csg_union.solids import solid_body, union_body
from scbench.graders.shared.meshes import Array
from scbench.schemas.csg_union import Params

_SAME = 1e-4
"""Coordinates that differ by less are equal; bodies that do not meet are drawn far more apart."""


def work(params: Params) -> int:
    """Return how much there is to find out before the union can be written down.

    The sum of the pairs of solids that meet, the corners of solids that are no corners of the
    union, and the corners of the union. Those that belong to a turned solid count twice, and those
    where surfaces cross as well, plus two for each coordinate that no face square to an axis gives.
    """
    bodies = [solid_body(solid) for solid in params.solids]
    corners = [polygon_mesh(body).points for body in bodies]
    turned = [any(solid.rotation_deg_xyz) for solid in params.solids]
    union = polygon_mesh(union_body(params)).points
    meeting = sum(_meet(a, b) for a, b in combinations(bodies, 2))
    gone = sum(int((~_among(points, union)).sum()) for points in corners)
    straight_corners = np.zeros(len(union), dtype=bool)
    turned_corners = np.zeros(len(union), dtype=bool)
    for points, is_turned in zip(corners, turned, strict=True):
        matches = _among(union, points)
        turned_corners |= matches & is_turned
        straight_corners |= matches & (not is_turned)
    crossings = union[~(turned_corners | straight_corners)]
    square_levels = _levels(
        [body for body, is_turned in zip(bodies, turned, strict=True) if not is_turned]
    )
    computed = sum(
        int((~_among(crossings[:, [axis]], levels)).sum())
        for axis, levels in enumerate(square_levels)
    )
    return meeting + gone + len(union) + int(turned_corners.sum()) + len(crossings) + 2 * computed


def _meet(first: Manifold, second: Manifold) -> bool:
    """Whether two bodies share a point, to within `_SAME`."""
    return bool(first.min_gap(second, 2 * _SAME) < _SAME)


def _among(points: Array, candidates: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which points are among others."""
    if not len(candidates):
        return np.zeros(len(points), dtype=bool)
    gaps = np.abs(points[:, None] - candidates[None]).max(axis=2)
    return np.asarray(gaps.min(axis=1) < _SAME)


def _levels(bodies: list[Manifold]) -> list[Array]:
    """Return, for each axis, where flat faces of bodies lie square to it, as a column."""
    levels: list[list[float]] = [[], [], []]
    for body in bodies:
        mesh = polygon_mesh(body)
        for face in mesh.faces:
            points = mesh.points[list(face)]
            for axis in np.flatnonzero(np.ptp(points, axis=0) < _SAME):
                levels[axis].append(float(points[0, axis]))
    return [np.array(values).reshape(-1, 1) for values in levels]
