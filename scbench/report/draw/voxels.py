"""Solids of voxels for scenes, with as few triangles as possible.

Faces between two cells are left out, and faces side by side are joined to rectangles.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from scbench.report.draw.quads import Corner, Edge, Quad, quad_mesh
from scbench.report.draw.rectangles import Cells, Rectangle, Run, rectangles, runs_of
from scbench.report.draw.scene import Mesh, boxes

# The six directions of faces: along an axis, down or up.
_DIRECTIONS = list(product(range(3), (False, True)))


def roughness(cells: Cells) -> int:
    """Return a quick upper bound of the number of rectangles that `voxels` makes of cells."""
    total = 0
    for axis, up in _DIRECTIONS:
        bare = bare_faces(cells, cells, axis, up=up)
        # A rectangle begins at each face that has no face before it in its row.
        row_axis = 1 if axis == 2 else 2
        total += int(bare_faces(bare, bare, row_axis, up=False).sum())
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

    Faces against ``neighbours``, the cells of other meshes, are left out. With
    ``seams``, every cell is outlined and faces are not joined.
    """
    filled = cells if neighbours is None else cells | neighbours
    if seams:
        return cell_mesh(cells, filled, role, opacity, name)
    quads: list[Quad] = []
    edges: set[Edge] = set()
    for axis, up in _DIRECTIONS:
        layers = np.moveaxis(bare_faces(cells, filled, axis, up=up), axis, 0)
        for layer, mask in enumerate(layers):
            position = layer + up
            quads += [quad_of(axis, position, part, up=up) for part in rectangles(mask)]
            edges.update(layer_outline(mask, axis, position))
    return quad_mesh(quads, sorted(edges), role, opacity, name)


def cell_mesh(
    cells: Cells, filled: Cells, role: str, opacity: float, name: str
) -> Mesh:
    """Return cells face by face, each cell outlined."""
    quads = [np.zeros((0, 4, 3))]
    for axis, up in _DIRECTIONS:
        places = np.argwhere(bare_faces(cells, filled, axis, up=up))
        face = np.array(quad_of(axis, int(up), (0, 0, 1, 1), up=up))
        quads.append(places[:, None, :] + face)
    mesh = quad_mesh(np.concatenate(quads), (), role, opacity, name)
    low_corners = np.argwhere(cells)
    bounds = zip(low_corners.tolist(), (low_corners + 1).tolist(), strict=True)
    return replace(mesh, outline=boxes(bounds, role).outline)


def bare_faces(cells: Cells, filled: Cells, axis: int, *, up: bool) -> Cells:
    """Return the cells without a filled neighbour above them (or below) along an axis."""
    bare = cells.copy()
    ahead = np.moveaxis(filled, axis, 0)
    faces = np.moveaxis(bare, axis, 0)
    if up:
        faces[:-1] &= ~ahead[1:]
    else:
        faces[1:] &= ~ahead[:-1]
    return bare


def quad_of(axis: int, position: int, rectangle: Rectangle, *, up: bool) -> Quad:
    """Return the corners of a face at a position of its axis."""
    row, column, end_row, end_column = rectangle
    corners = [
        (row, column),
        (end_row, column),
        (end_row, end_column),
        (row, end_column),
    ]
    # The other two axes are in ascending order, which reverses the corners for y.
    if up == (axis == 1):
        corners.reverse()
    return [layer_point(axis, position, i, j) for i, j in corners]


def layer_outline(mask: Cells, axis: int, position: int) -> Iterator[Edge]:
    """Yield the edges of the faces of one layer, with edges in a row joined."""
    padded = np.pad(mask, 1)
    for row, start, end in edges_between_rows(padded):
        first = layer_point(axis, position, row, start)
        yield first, layer_point(axis, position, row, end)
    for column, start, end in edges_between_rows(padded.T):
        first = layer_point(axis, position, start, column)
        yield first, layer_point(axis, position, end, column)


def edges_between_rows(padded: Cells) -> list[Run]:
    """Return the runs of edges between a filled and an empty cell of neighbouring rows."""
    above = padded[:-1, 1:-1]
    below = padded[1:, 1:-1]
    return runs_of(above ^ below)


def layer_point(axis: int, position: float, i: float, j: float) -> Corner:
    """Return the point of a layer across an axis, its other two coordinates in order."""
    point = [i, j]
    point.insert(axis, position)
    return tuple(point)
