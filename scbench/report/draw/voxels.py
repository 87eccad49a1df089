"""Solids of cells for scenes: voxels and columns, as few triangles as show them.

Faces between two cells are left out, and faces side by side are joined to rectangles.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scbench.report.draw.scene import Faces, Mesh, Points, boxes

Cells = npt.NDArray[np.bool_]
Heights = npt.NDArray[np.float64]

# The ends of a cell's sides by where they face, from left to right for who looks at
# them.
_CELL_SIDES = {
    (1, 0): ((1, 0), (1, 1)),
    (-1, 0): ((0, 1), (0, 0)),
    (0, 1): ((1, 1), (0, 1)),
    (0, -1): ((0, 0), (1, 0)),
}
_DIRECTIONS = [(axis, up) for axis in range(3) for up in (False, True)]

Rectangle = tuple[int, int, int, int]
Edge = tuple[tuple[float, ...], tuple[float, ...]]


def rectangles(mask: Cells) -> list[Rectangle]:
    """Cut a set of cells, shape (rows, columns), into few rectangles.

    Returns:
        First row, first column, and the row and the column after the last, of each.
    """
    done: list[Rectangle] = []
    growing: dict[tuple[int, int], tuple[int, int]] = {}
    for i, start, end in _mask_runs(mask):
        first, last = growing.get((start, end), (i, i - 1))
        if last < i - 1:
            done.append((first, start, last + 1, end))
            first = i
        growing[start, end] = (first, i)
    done += [
        (first, start, last + 1, end) for (start, end), (first, last) in growing.items()
    ]
    return sorted(done)


def _mask_runs(mask: Cells) -> list[tuple[int, int, int]]:
    """Return the row, the first position, and the one after the last, of each run of cells."""
    steps = np.diff(mask.astype(np.int8), axis=1, prepend=0, append=0)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    return list(zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True))


def roughness(cells: Cells) -> int:
    """Return a quick upper bound of the rectangles that `voxels` makes of cells."""
    total = 0
    for axis, up in _DIRECTIONS:
        bare = cells & ~_shifted(cells, axis, up=up)
        total += int((bare & ~_shifted(bare, 1 if axis == 2 else 2, up=False)).sum())
    return total


def voxels(
    cells: Cells,
    role: str,
    *,
    neighbours: Cells | None = None,
    opacity: float = 1.0,
    name: str = "",
    seams: bool = False,
) -> Mesh:
    """Return cells (n, m, k) as one mesh; the cell (x, y, z) fills x to x + 1 and so on.

    Faces against ``neighbours``, the cells of other meshes, are left out. With ``seams`` every
    cell is outlined, rather than the whole; then faces are not joined.
    """
    filled = cells if neighbours is None else cells | neighbours
    if seams:
        return _cell_mesh(cells, filled, role, opacity, name)
    quads: list[list[tuple[float, ...]]] = []
    edges: set[Edge] = set()
    for axis, up in _DIRECTIONS:
        bare = cells & ~_shifted(filled, axis, up=up)
        for layer in np.nonzero(bare.any(axis=tuple({0, 1, 2} - {axis})))[0].tolist():
            mask = np.take(bare, [layer], axis=axis).squeeze(axis)
            quads += (
                _quad(axis, layer + up, rectangle, up=up)
                for rectangle in rectangles(mask)
            )
            edges.update(_layer_outline(mask, axis, layer + up))
    return _quad_mesh(quads, sorted(edges), role, opacity, name)


def _quad(
    axis: int, at: int, rectangle: Rectangle, *, up: bool
) -> list[tuple[float, ...]]:
    """Return the corners of a face, against the clock as seen from outside."""
    a, b, c, d = rectangle
    corners = [(a, b), (c, b), (c, d), (a, d)]
    order = corners if up == (axis != 1) else corners[::-1]
    return [_layer_point(axis, at, i, j) for i, j in order]


def _cell_mesh(
    cells: Cells, filled: Cells, role: str, opacity: float, name: str
) -> Mesh:
    """Return cells face by face, each cell outlined."""
    quads = [np.zeros((0, 4, 3))]
    for axis, up in _DIRECTIONS:
        places = np.argwhere(cells & ~_shifted(filled, axis, up=up))
        quads.append(
            places[:, None, :] + np.array(_quad(axis, int(up), (0, 0, 1, 1), up=up))
        )
    low = np.argwhere(cells).tolist()
    rims = boxes([(cell, [c + 1 for c in cell]) for cell in low], role).outline
    mesh = _quad_mesh(np.concatenate(quads), (), role, opacity, name)
    return replace(mesh, outline=rims)


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

    Columns begin at ``base``; walls at the sides of the map reach down to it. ``only`` says which
    belong to this mesh; all if None.
    """
    quads: list[list[tuple[float, ...]]] = []
    edges: set[Edge] = set()
    width, depth = heights.shape
    mine = np.ones_like(heights, dtype=bool) if only is None else only
    for x, y in np.argwhere(mine).tolist():
        top = float(heights[x, y])
        quads.append(
            [(x, y, top), (x + 1, y, top), (x + 1, y + 1, top), (x, y + 1, top)]
        )
        for (dx, dy), ((i, j), (m, n)) in _CELL_SIDES.items():
            u, v = x + dx, y + dy
            below = float(heights[u, v]) if 0 <= u < width and 0 <= v < depth else base
            if below < top:
                ax, ay, bx, by = x + i, y + j, x + m, y + n
                quads.append(
                    [(ax, ay, below), (bx, by, below), (bx, by, top), (ax, ay, top)]
                )
                edges.add(((ax, ay, top), (bx, by, top)))
    return _quad_mesh(quads, sorted(edges), role, opacity, name)


def _shifted(cells: Cells, axis: int, *, up: bool) -> Cells:
    """Return for each cell whether the next one above it, or below it, along an axis is there."""
    shifted = np.zeros_like(cells)
    here, there = [slice(None)] * 3, [slice(None)] * 3
    here[axis], there[axis] = (slice(None, -1), slice(1, None))[:: 1 if up else -1]
    shifted[tuple(here)] = cells[tuple(there)]
    return shifted


def _layer_outline(mask: Cells, axis: int, at: int) -> Iterator[Edge]:
    """Yield the edges of the faces of one layer, those in a row joined."""
    padded = np.pad(mask, 1)
    for rows_first in (True, False):
        table = padded if rows_first else padded.T
        for i, start, end in _mask_runs(table[:-1, 1:-1] ^ table[1:, 1:-1]):
            ends = ((i, start), (i, end)) if rows_first else ((start, i), (end, i))
            first, second = (_layer_point(axis, at, a, b) for a, b in ends)
            yield first, second


def _layer_point(axis: int, at: float, i: float, j: float) -> tuple[float, ...]:
    """Return the point of a layer across an axis, its other two coordinates in order."""
    point = [i, j]
    point.insert(axis, at)
    return tuple(point)


def _quad_mesh(
    quads: list[list[tuple[float, ...]]] | Points,
    edges: Iterable[Edge],
    role: str,
    opacity: float,
    name: str,
) -> Mesh:
    points: Points = np.array(quads, dtype=np.float64).reshape(-1, 3)
    starts = 4 * np.arange(len(quads), dtype=np.int64)[:, None, None]
    faces: Faces = (starts + np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)).reshape(
        -1, 3
    )
    outline = tuple(np.array(edge, dtype=np.float64) for edge in edges)
    return Mesh(points, faces, role, opacity, name, outline)
