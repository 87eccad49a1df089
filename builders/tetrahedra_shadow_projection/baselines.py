"""Covers by a grid of square shadows."""

import math

import numpy as np
import shapely
from pydantic import JsonValue
from shapely import Polygon

from scbench.graders.tetrahedra_shadow_projection import corners
from scbench.schemas.tetrahedra_shadow_projection import Params

_SIDE = math.sqrt(0.5)
"""Of the square shadow of a tetrahedron with two level edges."""
_NAMES = ("x", "y", "z", "q0", "q1", "q2", "q3")
# About x until two edges are level, then an eighth of a turn about z.
_A, _B = math.atan(math.sqrt(2)) / 2, math.pi / 8
_TURN = (
    math.cos(_B) * math.cos(_A),
    math.cos(_B) * math.sin(_A),
    math.sin(_B) * math.sin(_A),
    math.sin(_B) * math.cos(_A),
)
_LOW = corners(np.array([[0.0, 0.0, 0.0, *_TURN]]))[0].min(axis=0).tolist()
"""Lowest x, y and z of the turned tetrahedron before it is moved."""
_WORTH = 0.25
"""Share of a square inside the target from which on it adds more than its spill takes away."""
_MOST = 2000


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return a grid of squares side by side, and grids stacked on each other, a third aside."""
    return {
        "grid of shadows": _grid(params, 1, _WORTH),
        "stacked grids of shadows": _grid(params, 3, 0.9),
    }


def _grid(params: Params, parts: int, least: float) -> JsonValue:
    """Return tetrahedra over the squares of which at least a share lies in the target.

    Squares begin at every ``parts``-th of their side; those that overlap stand at other heights.
    """
    target = Polygon(params.exterior, params.holes)
    low_x, low_y, high_x, high_y = target.bounds
    step = _SIDE / parts
    # Rounded, so that no square comes or goes with the last digit of a machine.
    columns, rows = (
        math.ceil(round((high - low) / step, 9)) for low, high in ((low_x, high_x), (low_y, high_y))
    )
    i, j = (v.ravel() for v in np.indices((columns, rows)))
    x, y = low_x + i * step, low_y + j * step
    squares = shapely.box(x, y, x + _SIDE, y + _SIDE)
    shares = shapely.area(shapely.intersection(target, squares)) / _SIDE**2
    floor = (i % parts) * parts + j % parts
    chosen = np.flatnonzero(shares.round(9) >= least)
    poses: list[JsonValue] = [_pose(float(x[k]), float(y[k]), float(floor[k])) for k in chosen]
    return {"tetrahedrons": poses[:_MOST]}


def _pose(x: float, y: float, floor: float) -> dict[str, JsonValue]:
    """Return the pose whose shadow is a square with this corner."""
    return dict(zip(_NAMES, (x - _LOW[0], y - _LOW[1], floor, *_TURN), strict=True))
