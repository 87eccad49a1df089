"""Bodies for scenes: triangles, and those edges at which a surface bends."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold

from scbench.report.draw.scene import XYZ, Faces, Mesh, Points
from scbench.report.draw.slivers import without_skins

_ALIKE = 0.9999
"""Cosine of the angle between faces that lie in one plane for the eye."""
_MOST_COMPARED = 4000
"""Triangles looked at for skins."""


def body_mesh(
    body: Manifold, role: str, *, opacity: float = 1.0, name: str = "", thickness: float = 0.0
) -> Mesh:
    """Return a body as a mesh with its edges.

    Args:
        body: the body.
        role: its colour.
        opacity: 1 is solid.
        name: what it is.
        thickness: skins thinner than this are left out.
    """
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3]
    faces = np.asarray(mesh.tri_verts).astype(np.int64)
    if thickness > 0 and len(faces) <= _MOST_COMPARED:
        bare = without_skins(points, faces, thickness)
        return Mesh(bare.points, bare.faces, role, opacity, name, bare.outline)
    return Mesh(points, faces, role, opacity, name, creases(points, faces))


def upright_prisms(
    plans: Points, low: Points, high: Points, role: str, *, opacity: float = 1.0, name: str = ""
) -> Mesh:
    """Return prisms over quadrangles as one mesh.

    Args:
        plans: corners in x and y, shape (n, 4, 2).
        low: z of the bottoms, shape (n,).
        high: z of the tops, shape (n,).
        role: their colour.
        opacity: 1 is solid.
        name: what they are.
    """
    ends = [
        np.concatenate([plans, np.broadcast_to(z[:, None, None], (len(plans), 4, 1))], axis=2)
        for z in (low, high)
    ]
    points = np.concatenate(ends, axis=1)
    sides = [((k, (k + 1) % 4, 4 + k), ((k + 1) % 4, 4 + (k + 1) % 4, 4 + k)) for k in range(4)]
    faces = np.array(
        [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), *(f for side in sides for f in side)]
    )
    all_faces = faces[None] + 8 * np.arange(len(plans))[:, None, None]
    rims = ((0, 1, 2, 3, 0), (4, 5, 6, 7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
    outline = tuple(prism[list(rim)] for prism in points for rim in rims)
    return Mesh(points.reshape(-1, 3), all_faces.reshape(-1, 3), role, opacity, name, outline)


class _Edges(NamedTuple):
    """Edges of triangles, each once."""

    at: Faces
    """Indices of their ends, shape (k, 2)."""
    uses: npt.NDArray[np.int64]
    """On how many triangles each is."""
    owner: npt.NDArray[np.int64]
    """The first of these, and the second or again the first, shape (k, 2)."""


def _edges(points: Points, faces: Faces) -> _Edges:
    # Vertices at one place are one: booleans and answers may have several there.
    _, same = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    sides = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ends = np.sort(same.ravel()[sides], axis=1)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, sides, owner = ends[order], sides[order], owner[order]
    start = np.flatnonzero(np.r_[True, np.any(ends[1:] != ends[:-1], axis=1)])
    count = np.diff(np.r_[start, len(ends)])
    owners = np.stack([owner[start], owner[start + (count > 1)]], axis=1)
    proper = ends[start, 0] != ends[start, 1]
    return _Edges(sides[start][proper], count[proper], owners[proper])


def creases(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return the edges (2, 3) of triangles that end a surface or at which it bends.

    Args:
        points: shape (n, 3).
        faces: indices into points, shape (m, 3).
    """
    if not len(faces):
        return ()
    edges = _edges(points, faces)
    normal = _units(points, faces)
    bend = np.einsum("ij,ij->i", normal[edges.owner[:, 0]], normal[edges.owner[:, 1]])
    return tuple(points[edges.at[(edges.uses != 2) | (np.abs(bend) < _ALIKE)]])


def loose_edges(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return the edges (2, 3) that are not on two triangles."""
    if not len(faces):
        return ()
    edges = _edges(points, faces)
    return tuple(points[edges.at[edges.uses != 2]])


def _units(points: Points, faces: Faces) -> Points:
    """Return the normals of triangles, scaled to length 1 or 0."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt(np.sum(normal**2, axis=1, keepdims=True))
    units: Points = normal / np.maximum(length, 1e-300)
    return units


def pulled_in(
    points: Points, low: XYZ | Points, high: XYZ | Points
) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Return points moved into a box, and which of them were: answers may point anywhere."""
    inside: Points = np.clip(points, np.asarray(low, np.float64), np.asarray(high, np.float64))
    return inside, np.any(inside != points, axis=-1)


def box_around(points: Points, times: float) -> tuple[Points, Points]:
    """Return the corners of the bounding box of points, grown by ``times`` longest sides."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = times * float(np.max(high - low))
    return low - margin, high + margin
