"""Bodies as meshes for scenes, with the edges where their surfaces bend."""

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold

from scbench.report.draw.creases import creases
from scbench.report.draw.scene import XYZ, Mesh, Points, edges_of, faces_of_all
from scbench.report.draw.skins import without_skins

# Bodies of more triangles keep their skins: each triangle is compared with all planes.
_MOST_COMPARED = 4000
# Corners 0 to 3 of a prism are its floor, counter-clockwise seen from above; 4 to 7 are its
# ceiling.
_PRISM_FACES = np.array(
    [
        (0, 2, 1),
        (0, 3, 2),
        (4, 5, 6),
        (4, 6, 7),
        (0, 1, 4),
        (1, 5, 4),
        (1, 2, 5),
        (2, 6, 5),
        (2, 3, 6),
        (3, 7, 6),
        (3, 0, 7),
        (0, 4, 7),
    ]
)
_PRISM_EDGES = ((0, 1, 2, 3, 0), (4, 5, 6, 7, 4), (0, 4), (1, 5), (2, 6), (3, 7))


def body_mesh(
    body: Manifold,
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
    thickness: float = 0.0,
) -> Mesh:
    """Return a body as a mesh with its edges, without skins that are thinner than ``thickness``."""
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    faces = np.asarray(mesh.tri_verts).astype(np.int64)
    if thickness > 0 and len(faces) <= _MOST_COMPARED:
        bare = without_skins(points, faces, thickness)
        return Mesh(bare.points, bare.faces, role, opacity, name, bare.outline)
    return Mesh(points, faces, role, opacity, name, creases(points, faces))


def upright_prisms(
    plans: Points,
    low: Points,
    high: Points,
    role: str,
    *,
    opacity: float = 1.0,
    name: str = "",
) -> Mesh:
    """Return prisms over quadrangles (n, 4, 2), from z low (n,) to high (n,), as one mesh."""
    count = len(plans)
    levels = []
    for z in (low, high):
        heights = np.broadcast_to(z[:, None, None], (count, 4, 1))
        levels.append(np.concatenate([plans, heights], axis=2))
    points = np.concatenate(levels, axis=1)
    faces = faces_of_all(_PRISM_FACES, points)
    outline = edges_of(points, _PRISM_EDGES)
    return Mesh(points.reshape(-1, 3), faces, role, opacity, name, outline)


def pulled_in(
    points: Points, low: XYZ | Points, high: XYZ | Points
) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Return points clipped to a box, and a mask of the points that were moved."""
    lowest = np.asarray(low, np.float64)
    highest = np.asarray(high, np.float64)
    inside: Points = np.clip(points, lowest, highest)
    return inside, np.any(inside != points, axis=-1)


def box_around(points: Points, times: float) -> tuple[Points, Points]:
    """Return the corners of the bounding box of points, grown by ``times`` longest sides."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    margin = times * float(np.max(high - low))
    return low - margin, high + margin
