"""Maps of heights for scenes: upright columns with the walls between them."""

import numpy as np
import numpy.typing as npt

from scbench.report.draw.quads import Edge, Quad, quad_mesh
from scbench.report.draw.rectangles import Cells
from scbench.report.draw.scene import Mesh

Heights = npt.NDArray[np.float64]


# For each step to a neighbouring column: left and right end of the wall between them,
# seen from the neighbour.
_WALLS = {
    (1, 0): ((1, 0), (1, 1)),
    (-1, 0): ((0, 1), (0, 0)),
    (0, 1): ((1, 1), (0, 1)),
    (0, -1): ((0, 0), (1, 0)),
}


def columns(
    heights: Heights,
    role: str,
    *,
    base: float = 0.0,
    only: Cells | None = None,
    opacity: float = 1.0,
    name: str = "",
) -> Mesh:
    """Return heights (n, m) as columns; the cell (x, y) fills x to x + 1 and y to y + 1.

    Columns and the walls at the sides of the map start at ``base``. ``only``
    selects the columns of this mesh; None selects all.
    """
    quads: list[Quad] = []
    edges: set[Edge] = set()
    width, depth = heights.shape
    mask = np.ones_like(heights, dtype=bool) if only is None else only
    for x, y in np.argwhere(mask).tolist():
        top = float(heights[x, y])
        roof: Quad = [
            (x, y, top),
            (x + 1, y, top),
            (x + 1, y + 1, top),
            (x, y + 1, top),
        ]
        quads.append(roof)
        for (dx, dy), (start, end) in _WALLS.items():
            bottom = base
            if 0 <= x + dx < width and 0 <= y + dy < depth:
                bottom = float(heights[x + dx, y + dy])
            if bottom >= top:
                continue
            left_x = x + start[0]
            left_y = y + start[1]
            right_x = x + end[0]
            right_y = y + end[1]
            upper_left = (left_x, left_y, top)
            upper_right = (right_x, right_y, top)
            quads.append(
                [
                    (left_x, left_y, bottom),
                    (right_x, right_y, bottom),
                    upper_right,
                    upper_left,
                ]
            )
            edges.add((upper_left, upper_right))
    return quad_mesh(quads, sorted(edges), role, opacity, name)
