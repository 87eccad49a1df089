"""Meshes of quadrangles with outlines."""

from collections.abc import Iterable, Sequence

import numpy as np

from scbench.report.draw.scene import Mesh, Points

Corner = tuple[float, ...]
# Four corners, counter-clockwise as seen from outside.
Quad = list[Corner]
Edge = tuple[Corner, Corner]


def quad_mesh(
    quads: Sequence[Quad] | Points,
    edges: Iterable[Edge],
    role: str,
    opacity: float,
    name: str,
) -> Mesh:
    """Return quadrangles (n, 4, 3) as a mesh, two triangles for each."""
    points = np.array(quads, dtype=np.float64).reshape(-1, 3)
    starts = 4 * np.arange(len(quads), dtype=np.int64)[:, None, None]
    triangles = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)
    faces = (starts + triangles).reshape(-1, 3)
    outline = tuple(np.array(edge, dtype=np.float64) for edge in edges)
    return Mesh(points, faces, role, opacity, name, outline)
