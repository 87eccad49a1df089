"""Finds places behind a building that cannot be seen from a point.

The places hidden by a convex body are a convex set, so a box is hidden if its corners are: if the
line of sight to each of them meets the building.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.hide_and_seek import Params

Floats = NDArray[np.float64]

SPACE = 0.1
"""Free space between neighbours, and between the first row and the walls."""
_MARGIN = 0.05
_DECIMALS = 3


def hiding_places(params: Params, eye: Sequence[float] | None = None) -> Floats:
    """Return places where a person is hidden, those nearest to the eye first.

    They lie on a grid that starts at the walls turned away from the eye. Each is hidden with 5 cm
    to spare, and at least 10 cm inside the allowed distance.

    Args:
        params: the instance.
        eye: where to hide from; the sniper's eye if left out.

    Returns:
        n x 2; no two of the places overlap.
    """
    eye = params.sniper if eye is None else eye
    away = [-1 if e > 0 else 1 for e in eye[:2]]
    axes = []
    for axis in (0, 1):
        start = (params.building[axis] + params.person[axis]) / 2 + SPACE
        pitch = params.person[axis] + SPACE
        back, front = ((params.max_distance + sign * start) / pitch for sign in (-1, 1))
        steps = np.arange(-int(front), int(back) + 1)
        axes.append(away[axis] * (start + pitch * steps))
    grid = np.round(np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2), _DECIMALS) + 0.0
    x, y = grid.T
    near = x * x + y * y <= (params.max_distance - SPACE) ** 2
    reach = [(b + p) / 2 + SPACE / 2 for b, p in zip(params.building, params.person, strict=True)]
    apart = (np.abs(grid) > reach[:2]).any(axis=1)
    grid = grid[near & apart]
    grid = grid[hidden(params, grid, eye)]
    order = np.lexsort((grid[:, 0], -(grid[:, 0] * eye[0] + grid[:, 1] * eye[1])))
    places: Floats = grid[order]
    return places


def hidden(params: Params, xy: Floats, eye: Sequence[float]) -> NDArray[np.bool_]:
    """Return which people the building hides completely from an eye, with 5 cm to spare."""
    hides = np.ones(len(xy), dtype=bool)
    half_x, half_y = (size / 2 + _MARGIN for size in params.person[:2])
    for dx in (-half_x, half_x):
        for dy in (-half_y, half_y):
            for z in (0.0, params.person[2] + _MARGIN):
                corner = (xy[:, 0] + dx, xy[:, 1] + dy, np.full(len(xy), z))
                hides &= blocked(params, eye, corner)
    return hides


def blocked(
    params: Params, eye: Sequence[float], point: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Return which lines of sight to points meet the building."""
    wall_x, wall_y, roof = params.building
    slabs = ((-wall_x / 2, wall_x / 2), (-wall_y / 2, wall_y / 2), (0.0, roof))
    enter, leave = np.zeros(len(point[0])), np.ones(len(point[0]))
    for axis, (low, high) in enumerate(slabs):
        way = point[axis] - eye[axis]
        way = np.where(way == 0, 1e-300, way)
        with np.errstate(over="ignore"):
            first, second = (low - eye[axis]) / way, (high - eye[axis]) / way
        enter = np.maximum(enter, np.minimum(first, second))
        leave = np.minimum(leave, np.maximum(first, second))
    blocked: NDArray[np.bool_] = enter <= leave
    return blocked
