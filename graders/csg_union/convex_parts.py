"""Volumes of unions of convex solids, and of the parts that they share with a mesh.

The interior of a closed mesh is the signed sum of the cones from any point to its triangles. If the
point is inside a convex solid, the part of a cone within the solid consists of smaller cones: one
over the part of the triangle inside the solid, and others over the parts of the solid's faces in
front of the triangle. These parts are convex polygons, cut along lines. Every step is continuous,
so slivers, coplanar faces and crossings at the scale of rounding change nothing, unlike with mesh
booleans. The volume of a union is the sum over the common parts of its solids, with alternating
signs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scbench.graders.csg_union.convex_cuts import clip, fans, pad_corners
from scbench.graders.shared.meshes import PolygonMesh, newell_normals, triangulate
from scbench.graders.shared.vectors import Array, Indices, Mask, cross, dot, unit

# Maximum number of pairs of a triangle and a face that a measurement may test.
MOST_PAIRS = 2_000_000
# Rounding can give solids that touch a tiny common part. Parts with less volume are ignored.
_EMPTY = 1e-6
# Maximum distance of a convex solid's vertex outside the solid's planes.
_CONVEX = 1e-6
# A face closer than this to another solid's plane lies in that plane.
_SAME = 1e-8
# Triangles, and pairs of a triangle and a face, that are measured together; this bounds memory.
TRIANGLE_BLOCK = 1_000
_PAIR_BLOCK = 4_000


class Convex(NamedTuple):
    """A convex solid: the points x with normals @ (x - centre) <= offsets."""

    centre: Array
    """(3,) centre of mass."""
    normals: Array
    """(p, 3), of length 1."""
    offsets: Array
    """(p,), all positive."""
    faces: Array
    """(p, w, 3) corners of its faces, counter-clockwise from outside, relative to the centre."""
    sizes: Indices
    """(p,) number of corners of each face."""

    def filled(self) -> Mask:
        """Return which entries (p, w) of the array of faces contain corners."""
        return np.arange(self.faces.shape[1]) < self.sizes[:, None]


class ConvexPart(NamedTuple):
    """A common part of some solids, with its sign in the sum for their union."""

    sign: int
    convex: Convex
    volume: float
    solids: tuple[int, ...]
    """Positions of the solids, ascending."""


class Measure(NamedTuple):
    """The common part of a convex solid and a mesh."""

    volume: float
    moment: Array
    """(3,) volume times centre of mass."""
    pairs: int
    """Number of pairs of a triangle and a face that were tested."""


def parts_of_union(solids: Sequence[PolygonMesh]) -> list[ConvexPart]:
    """Return the common parts of all sets of convex solids, except those without volume.

    Raises:
        ValueError: a solid is not convex, or has too many faces to be measured.
    """
    parts: list[ConvexPart] = []
    for place, mesh in enumerate(solids):
        corners = mesh.points[triangulate(mesh).corners]
        single = convex_part(mesh, corners, place)
        # Inclusion-exclusion: the solid's common part with an earlier part gets the opposite sign.
        for part in tuple(parts):
            common = measure_common(corners, part.convex, MOST_PAIRS)
            if common is None:
                raise ValueError("the solids of this instance have too many faces")
            if common.volume > _EMPTY:
                centre = common.moment / common.volume
                common_convex = intersection(part.convex, single.convex, centre)
                solid_places = (*part.solids, place)
                parts.append(
                    ConvexPart(-part.sign, common_convex, common.volume, solid_places)
                )
        parts.append(single)
    return parts


def union_volume(parts: Sequence[ConvexPart]) -> float:
    """Return the volume of the union of solids from its `parts_of_union`."""
    return float(sum(part.sign * part.volume for part in parts))


def common_volumes(parts: Sequence[ConvexPart], corners: Array) -> list[float] | None:
    """Return the volume that the inside of a mesh shares with each convex part.

    The parts come from `parts_of_union`. The corners are those of closed triangles (m, 3, 3),
    counter-clockwise seen from outside. Returns None if more than `MOST_PAIRS` pairs of a triangle
    and a part's face would have to be tested.
    """
    volumes = []
    budget = MOST_PAIRS
    for part in parts:
        measure = measure_common(corners, part.convex, budget)
        if measure is None:
            return None
        volumes.append(measure.volume)
        budget -= measure.pairs
    return volumes


def signed_sum(parts: Sequence[ConvexPart], volumes: Sequence[float]) -> float:
    """Return the volume of a mesh that lies in a union, given the volume that lies in each part."""
    total = 0.0
    for part, volume in zip(parts, volumes, strict=True):
        total += part.sign * volume
    return total


def convex_part(mesh: PolygonMesh, corners: Array, place: int) -> ConvexPart:
    """Return a solid as a part of a union, from its mesh and its triangles (m, 3, 3)."""
    middle = mesh.points.mean(axis=0)
    volume, moment = sum_of_cones(corners - middle)
    centre = middle + moment / volume
    sizes = np.array([len(face) for face in mesh.faces], dtype=np.int64)
    faces = np.zeros((len(sizes), int(sizes.max()), 3))
    for i, face in enumerate(mesh.faces):
        faces[i, : len(face)] = mesh.points[list(face)] - centre
    normals = unit(newell_normals(mesh))
    face_means = faces.sum(axis=1) / sizes[:, None]
    offsets = np.einsum("pk,pk->p", normals, face_means)
    if np.any((mesh.points - centre) @ normals.T > offsets + _CONVEX):
        raise ValueError("a solid of this instance is not convex")
    convex = Convex(centre, normals, offsets, faces, sizes)
    return ConvexPart(1, convex, volume, (place,))


def intersection(first: Convex, second: Convex, centre: Array) -> Convex:
    """Return the common part of two convex solids, given its centre of mass (3,)."""
    first_faces, first_sizes = faces_within(first, second, keep_flush=True)
    # Where both solids have a face in the same plane, it counts once.
    second_faces, second_sizes = faces_within(second, first, keep_flush=False)
    width = max(first_faces.shape[1], second_faces.shape[1])
    normals = np.concatenate([first.normals, second.normals])
    first_faces = pad_corners(first_faces - centre, width)
    second_faces = pad_corners(second_faces - centre, width)
    faces = np.concatenate([first_faces, second_faces])
    sizes = np.concatenate([first_sizes, second_sizes])
    remaining = np.flatnonzero(sizes > 2)
    normals = normals[remaining]
    faces = faces[remaining]
    sizes = sizes[remaining]
    offsets = np.einsum("pk,pk->p", normals, faces[:, 0])
    return Convex(centre, normals, offsets, faces, sizes)


def faces_within(
    side: Convex, rival: Convex, *, keep_flush: bool
) -> tuple[Array, Indices]:
    """Return the parts (p, w, 3) of a solid's faces inside another solid, and their sizes (p,).

    With ``keep_flush``, a face that lies in a plane of the other solid and faces the same way is
    not cut by that plane; otherwise the face is removed.
    """
    faces = side.faces + side.centre
    sizes = side.sizes
    for normal, offset in zip(rival.normals, rival.offsets, strict=True):
        below = offset - (faces - rival.centre) @ normal
        filled = np.arange(faces.shape[1]) < sizes[:, None]
        farthest = np.where(filled, np.abs(below), 0.0).max(axis=1, initial=0.0)
        is_flush = (farthest < _SAME) & (side.normals @ normal > 0)
        if not keep_flush:
            sizes = np.where(is_flush, 0, sizes)
        below[is_flush] = 0.0
        faces, sizes = clip(faces, sizes, below)
    return faces, sizes


def measure_common(corners: Array, convex: Convex, max_pairs: int) -> Measure | None:
    """Measure the common part of a convex solid and closed triangles (m, 3, 3).

    Returns None if too many pairs of a triangle and a face would have to be tested.
    """
    scaled_normals = convex.normals / convex.offsets[:, None]
    volume = 0.0
    moment = np.zeros(3)
    pairs = 0
    for first in range(0, len(corners), TRIANGLE_BLOCK):
        rays = corners[first : first + TRIANGLE_BLOCK] - convex.centre
        # Distance beyond each plane. Corners that are almost in a plane count as in it, so that a
        # triangle in the plane of a face is wholly in front of the face or wholly behind it.
        beyond = np.einsum("mvk,pk->mpv", rays, scaled_normals) - 1
        beyond[np.abs(beyond) < _SAME] = 0.0
        # For each plane, over the three corners of each triangle.
        high = beyond.max(axis=2)
        low = beyond.min(axis=2)
        is_inside = high.max(axis=1) <= 0
        may_cross = low.max(axis=1) <= 0
        # A plane that all rays cross after some other plane has no visible face.
        visible = (high > 0) & (high >= low.max(axis=1, keepdims=True))
        pairs += int(visible.sum())
        if pairs > max_pairs:
            return None
        # Cones over triangles, or over their parts within the solid.
        split = np.flatnonzero(~is_inside & may_cross)
        parts = triangles_within(rays[split], -beyond[split], high[split] > 0)
        for base in (rays[is_inside], *parts):
            cone, first_moment = sum_of_cones(base)
            volume = volume + cone
            moment = moment + first_moment
        # Cones over faces in front of triangles.
        for cone, first_moment in cones_over_faces(rays, convex, beyond, visible):
            volume = volume + cone
            moment = moment + first_moment
    return Measure(volume, moment + volume * convex.centre, pairs)


def sum_of_cones(base: Array) -> tuple[float, Array]:
    """Return the signed volume and the first moment (3,) of the cones from 0 to triangles."""
    volumes = dot(cross(base[:, 0], base[:, 1]), base[:, 2]) / 6
    return float(volumes.sum()), volumes @ base.sum(axis=1) / 4


def triangles_within(rays: Array, below: Array, cuts: Mask) -> Iterator[Array]:
    """Yield the parts of triangles (m, 3, 3) inside a convex solid, cut into triangles.

    ``below`` (m, p, 3) is the height of each plane above the corners, in an arbitrary unit;
    ``cuts`` (m, p) says whether any corner lies above the plane.
    """
    sizes = np.full(len(rays), 3)
    # In barycentric coordinates, functions stay linear after any number of cuts.
    shapes = np.broadcast_to(np.eye(3), (len(rays), 3, 3)).copy()
    # For each triangle, the planes that cut it come first.
    order = np.argsort(~cuts, axis=1, kind="stable")
    for k in range(int(cuts.sum(axis=1).max(initial=0))):
        is_cut = cuts[np.arange(len(rays)), order[:, k]]
        rows = np.flatnonzero(is_cut & (sizes > 2))
        heights = below[rows, order[rows, k]]
        values = np.einsum("nwv,nv->nw", shapes[rows], heights)
        cut, cut_sizes = clip(shapes[rows], sizes[rows], values)
        shapes = pad_corners(shapes, cut.shape[1])
        shapes[rows] = pad_corners(cut, shapes.shape[1])
        sizes[rows] = cut_sizes
    polygons = np.einsum("nwv,nvk->nwk", shapes, rays)
    yield from fans(polygons, sizes)


def cones_over_faces(
    rays: Array, convex: Convex, beyond: Array, visible: Mask
) -> Iterator[tuple[float, Array]]:
    """Yield the volumes and moments of the cones over the parts of faces in front of triangles.

    ``rays`` (m, 3, 3) are the corners of all triangles. ``beyond`` (m, p, 3) is their distance
    beyond each plane, in an arbitrary unit. ``visible`` (m, p) selects the pairs of a triangle and
    a face to use.
    """
    a = rays[:, 0]
    b = rays[:, 1]
    c = rays[:, 2]
    # The planes through the centre and each side of a triangle, all facing inwards.
    sides = np.stack([cross(b, c), cross(c, a), cross(a, b)], axis=1)
    sign = np.sign(dot(sides[:, 2], c))
    sides = sides * sign[:, None, None]
    triangle, face = np.nonzero(visible)
    # Triangles seen edge-on hide nothing.
    pairs = np.flatnonzero(sign[triangle] != 0)
    # Faces are grouped by size, so that small faces do not need rows as wide as those of large
    # ones.
    pairs = pairs[np.argsort(convex.sizes[face[pairs]], kind="stable")]
    for first in range(0, len(pairs), _PAIR_BLOCK):
        block = pairs[first : first + _PAIR_BLOCK]
        t = triangle[block]
        f = face[block]
        sizes = convex.sizes[f]
        polygons = convex.faces[f, : int(sizes.max())]
        # Distances from the sides, weighted by how far the corners are beyond the face, show on
        # which side of the triangle's plane a point of the face lies.
        triangle_plane = np.einsum("nv,nvk->nk", beyond[t, f], sides[t])
        planes = np.concatenate([sides[t], triangle_plane[:, None]], axis=1)
        for k in range(4):
            values = np.einsum("nwk,nk->nw", polygons, planes[:, k])
            polygons, sizes = clip(polygons, sizes, values)
            remaining = np.flatnonzero(sizes > 2)
            t = t[remaining]
            planes = planes[remaining]
            polygons = polygons[remaining]
            sizes = sizes[remaining]
        for part in (1, -1):
            rows = sign[t] == part
            for base in fans(polygons[rows], sizes[rows]):
                cone, moment = sum_of_cones(base)
                yield part * cone, part * moment
