"""Places that the building hides from an eye.

The places hidden by a convex body are a convex set, so a box is hidden if its corners are: if the
line of sight to each of them meets the building.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from scbench.schemas.hide_and_seek import Params

# Free space between neighbours, and between the first row and the walls, in metres.
SPACE = 0.1
# By how much people count as larger than they are, so that no pixel shows their edge.
_MARGIN = 0.05
_DECIMALS = 3
Floats = NDArray[np.float64]


def far_side(eye: Sequence[float]) -> tuple[int, int]:
    """Return the signs of x and y on the side of the building that is turned away from an eye."""
    x_sign = -1 if eye[0] > 0 else 1
    y_sign = -1 if eye[1] > 0 else 1
    return x_sign, y_sign


@lru_cache(maxsize=64)
def places_of(params: Params) -> Floats:
    """Return the places that are hidden from the sniper, computed once for each instance."""
    return hiding_places(params)


def hiding_places(params: Params, eye: Sequence[float] | None = None) -> Floats:
    """Return places (n, 2) where a person is hidden from the sniper or another eye, nearest first.

    They lie on a grid that starts at the walls turned away from the eye, and do not overlap. Each
    is hidden with 5 cm to spare, and at least 10 cm inside the allowed distance.
    """
    if eye is None:
        eye = params.sniper
    axes = []
    reach = []
    for wall, size, sign in zip(
        params.building[:2], params.person[:2], far_side(eye), strict=True
    ):
        touching = (wall + size) / 2
        reach.append(touching + SPACE / 2)
        start = touching + SPACE
        pitch = size + SPACE
        # From the first row behind the wall to the rim behind it, and to the one in front.
        behind = int((params.max_distance - start) / pitch)
        in_front = int((params.max_distance + start) / pitch)
        steps = np.arange(-in_front, behind + 1)
        axes.append(sign * (start + pitch * steps))
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    # Adding 0 makes 0 of -0.
    grid = np.round(grid, _DECIMALS) + 0.0
    x, y = grid.T
    is_near = x * x + y * y <= (params.max_distance - SPACE) ** 2
    is_outdoors = (np.abs(grid) > reach).any(axis=1)
    grid = grid[is_near & is_outdoors]
    grid = grid[hidden(params, grid, eye)]
    x, y = grid.T
    # The product grows towards the eye. Equal ones are ordered by x.
    towards_eye = x * eye[0] + y * eye[1]
    places: Floats = grid[np.lexsort((x, -towards_eye))]
    return places


def hidden(params: Params, xy: Floats, eye: Sequence[float]) -> NDArray[np.bool_]:
    """Return which people, at places (n, 2), the building hides completely from an eye.

    They are hidden with 5 cm to spare.
    """
    n = len(xy)
    x, y = xy.T
    width, depth, height = params.person
    half_x = width / 2 + _MARGIN
    half_y = depth / 2 + _MARGIN
    hides = np.ones(n, dtype=bool)
    for dx, dy, z in product(
        (-half_x, half_x), (-half_y, half_y), (0.0, height + _MARGIN)
    ):
        hides &= blocked(params, eye, (x + dx, y + dy, np.full(n, z)))
    return hides


def blocked(
    params: Params, eye: Sequence[float], point: tuple[Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Return which lines of sight to points, given as their x, y and z, meet the building."""
    wall_x, wall_y, roof = params.building
    slabs = ((-wall_x / 2, wall_x / 2), (-wall_y / 2, wall_y / 2), (0.0, roof))
    # Shares of the way at which it has entered all slabs, and at which it leaves the first.
    enter = np.zeros(len(point[0]))
    leave = np.ones(len(point[0]))
    for axis, (low, high) in enumerate(slabs):
        way = point[axis] - eye[axis]
        # A line along a slab meets its sides at infinity.
        way = np.where(way == 0, 1e-300, way)
        with np.errstate(over="ignore"):
            at_low = (low - eye[axis]) / way
            at_high = (high - eye[axis]) / way
        enter = np.maximum(enter, np.minimum(at_low, at_high))
        leave = np.minimum(leave, np.maximum(at_low, at_high))
    meets: NDArray[np.bool_] = enter <= leave
    return meets
