"""How much of the inside of a mesh lies in a union of convex solids, without cutting the mesh.

The inside of a closed mesh is the signed sum of cones from any point to its triangles. From a point
inside a convex solid, the part of such a cone within the solid is a cone over what of the triangle
lies in the solid, and cones over what of the solid's faces is seen before the triangle: convex
polygons, cut along lines. Every step is continuous: slivers, coplanar faces and crossings at the
scale of rounding change nothing, unlike with mesh booleans. A union is the sum over common parts
with alternating signs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.graders.shared.meshes import (
    Array,
    Indices,
    PolygonMesh,
    newell_normals,
    triangulate,
    unit,
)

_EMPTY = 1e-6
"""A common part of less volume is none: solids that touch have a little in common by rounding."""
_CONVEX = 1e-6
"""How far a vertex of a convex solid may lie outside its planes."""
_SAME = 1e-8
"""A face nearer to another solid's plane than this lies in it."""
_TRIANGLES = 1_000
_PAIRS = 4_000
"""Triangles, and pairs of a triangle and a face, that are looked at together."""
MOST_PAIRS = 2_000_000
"""Pairs of a triangle and a face it hides, that a measurement may take before it is given up."""


class Convex(NamedTuple):
    """A convex solid: the points x with normals @ (x - centre) <= offsets."""

    centre: Array
    """(3,), its centre of mass."""
    normals: Array
    """(p, 3), of length 1."""
    offsets: Array
    """(p,), all positive."""
    faces: Array
    """(p, w, 3) the corners of its faces, counter-clockwise from outside, less the centre."""
    sizes: Indices
    """(p,) how many of the corners each face has."""


class ConvexPart(NamedTuple):
    """A common part of some solids, with its sign in the sum for their union."""

    sign: int
    convex: Convex
    volume: float
    solids: tuple[int, ...]
    """Positions of the solids, ascending."""


class _Measure(NamedTuple):
    volume: float
    moment: Array
    """(3,) volume times centre of mass."""
    pairs: int
    """Pairs of a triangle and a face that had to be looked at."""


def parts_of_union(solids: Sequence[PolygonMesh]) -> list[ConvexPart]:
    """Return the common parts of all sets of convex solids, those of no volume left out.

    Raises:
        ValueError: a solid is not convex, or has too many faces to be measured.
    """
    parts: list[ConvexPart] = []
    for place, mesh in enumerate(solids):
        corners = mesh.points[triangulate(mesh).corners]
        single = _single(mesh, corners)._replace(solids=(place,))
        for part in tuple(parts):
            common = _measure(corners, part.convex, MOST_PAIRS)
            if common is None:
                raise ValueError("the solids of this instance have too many faces")
            if common.volume > _EMPTY:
                both = _together(part.convex, single.convex, common.moment / common.volume)
                parts.append(ConvexPart(-part.sign, both, common.volume, (*part.solids, place)))
        parts.append(single)
    return parts


def union_volume(parts: Sequence[ConvexPart]) -> float:
    """Return the volume of the union of solids from its `parts_of_union`."""
    return float(sum(part.sign * part.volume for part in parts))


def common_volume(parts: Sequence[ConvexPart], corners: Array) -> float | None:
    """Return how much of the inside of a mesh lies in a union of convex solids.

    None is returned if that takes more than `MOST_PAIRS` pairs of a triangle and a part's face.

    Args:
        parts: of the union, see `parts_of_union`.
        corners: (m, 3, 3) closed triangles, counter-clockwise seen from outside.
    """
    total, budget = 0.0, MOST_PAIRS
    for part in parts:
        measure = _measure(corners, part.convex, budget)
        if measure is None:
            return None
        total += part.sign * measure.volume
        budget -= measure.pairs
    return total


def _single(mesh: PolygonMesh, corners: Array) -> ConvexPart:
    inside = mesh.points.mean(axis=0)
    volume, moment = _cones(corners - inside)
    centre = inside + moment / volume
    sizes = np.array([len(face) for face in mesh.faces], dtype=np.int64)
    faces = np.zeros((len(sizes), int(sizes.max()), 3))
    for i, face in enumerate(mesh.faces):
        faces[i, : len(face)] = mesh.points[list(face)] - centre
    normals = unit(newell_normals(mesh))
    offsets = np.einsum("pk,pk->p", normals, faces.sum(axis=1) / sizes[:, None])
    if np.any((mesh.points - centre) @ normals.T > offsets + _CONVEX):
        raise ValueError("a solid of this instance is not convex")
    return ConvexPart(1, Convex(centre, normals, offsets, faces, sizes), volume, ())


def _together(first: Convex, second: Convex, centre: Array) -> Convex:
    """Return what two convex solids have in common, a face in one plane of both only once."""
    sides = []
    for side, rival, is_first in ((first, second, True), (second, first, False)):
        faces, sizes = side.faces + side.centre, side.sizes
        for normal, offset in zip(rival.normals, rival.offsets, strict=True):
            below = offset - (faces - rival.centre) @ normal
            away = np.where(_there(faces, sizes), np.abs(below), 0.0).max(axis=1, initial=0.0)
            flush = (away < _SAME) & (side.normals @ normal > 0)
            if not is_first:
                sizes = np.where(flush, 0, sizes)
            below[flush] = 0.0
            faces, sizes = _clip(faces, sizes, below)
        sides.append((side.normals, faces - centre, sizes))
    width = max(faces.shape[1] for _, faces, _ in sides)
    normals = np.concatenate([normals for normals, _, _ in sides])
    faces = np.concatenate([_widened(faces, width) for _, faces, _ in sides])
    sizes = np.concatenate([sizes for _, _, sizes in sides])
    there = np.flatnonzero(sizes > 2)
    offsets = np.einsum("pk,pk->p", normals[there], faces[there, 0])
    return Convex(centre, normals[there], offsets, faces[there], sizes[there])


def _measure(corners: Array, convex: Convex, max_pairs: int) -> _Measure | None:
    """Measure what lies both in a convex solid and inside closed triangles (m, 3, 3).

    None is returned if that takes more than the given number of pairs.
    """
    scaled = convex.normals / convex.offsets[:, None]
    volume, moment, pairs = 0.0, np.zeros(3), 0
    for first in range(0, len(corners), _TRIANGLES):
        rays = corners[first : first + _TRIANGLES] - convex.centre
        # How far beyond each plane; corners all but in a plane lie in it, so that a triangle in the
        # plane of a face is either before it or behind, not each in places.
        values = np.einsum("mvk,pk->mpv", rays, scaled) - 1
        values[np.abs(values) < _SAME] = 0.0
        high, low = values.max(axis=2), values.min(axis=2)
        inside = high.max(axis=1) <= 0
        # Where one plane is crossed early, those crossed later everywhere are not seen.
        visible = (high > 0) & (high >= low.max(axis=1, keepdims=True))
        pairs += int(visible.sum())
        if pairs > max_pairs:
            return None
        split = np.flatnonzero(~inside & (low.max(axis=1) <= 0))
        bases = [rays[inside], *_of_triangles(rays[split], -values[split], high[split] > 0)]
        for base in bases:
            cone, first_moment = _cones(base)
            volume, moment = volume + cone, moment + first_moment
        for cone, first_moment in _of_faces(rays, convex, values, visible):
            volume, moment = volume + cone, moment + first_moment
    return _Measure(volume, moment + volume * convex.centre, pairs)


def _cones(base: Array) -> tuple[float, Array]:
    """Return the signed volume and the first moment (3,) of the cones from 0 to triangles."""
    volumes = np.einsum("ij,ij->i", np.cross(base[:, 0], base[:, 1]), base[:, 2]) / 6
    return float(volumes.sum()), volumes @ base.sum(axis=1) / 4


def _of_triangles(rays: Array, below: Array, cuts: NDArray[np.bool_]) -> Iterator[Array]:
    """Yield, cut into triangles, what of triangles (m, 3, 3) lies in a convex solid.

    Args:
        rays: their corners.
        below: (m, p, 3) how far, in some scale, the corners lie below each plane.
        cuts: (m, p) whether any corner lies above it.
    """
    polygon, size = rays, np.full(len(rays), 3)
    # Barycentric coordinates, in which functions stay linear whatever has been cut before.
    shape = np.broadcast_to(np.eye(3), (len(rays), 3, 3)).copy()
    order = np.argsort(~cuts, axis=1, kind="stable")
    for k in range(int(cuts.sum(axis=1).max(initial=0))):
        rows = np.flatnonzero(cuts[np.arange(len(rays)), order[:, k]] & (size > 2))
        value = np.einsum("nwv,nv->nw", shape[rows], below[rows, order[rows, k]])
        cut, sizes = _clip(shape[rows], size[rows], value)
        shape = _widened(shape, cut.shape[1])
        shape[rows] = _widened(cut, shape.shape[1])
        size[rows] = sizes
    polygon = np.einsum("nwv,nvk->nwk", shape, rays)
    yield from _fans(polygon, size)


def _of_faces(
    rays: Array, convex: Convex, beyond: Array, visible: NDArray[np.bool_]
) -> Iterator[tuple[float, Array]]:
    """Yield the volumes and moments of the cones over what of faces is seen before triangles.

    Args:
        rays: (m, 3, 3) corners of all triangles.
        convex: the solid.
        beyond: (m, p, 3) how far, in some scale, the corners lie beyond each plane.
        visible: (m, p) which pairs of a triangle and a face are to be looked at.
    """
    a, b, c = rays[:, 0], rays[:, 1], rays[:, 2]
    sides = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    sign = np.sign(np.einsum("ij,ij->i", sides[:, 2], c))
    sides = sides * sign[:, None, None]
    triangle, face = np.nonzero(visible)
    pairs = np.flatnonzero(sign[triangle] != 0)
    # Faces of like size together, so that small ones need not be as wide as large ones.
    pairs = pairs[np.argsort(convex.sizes[face[pairs]], kind="stable")]
    for first in range(0, len(pairs), _PAIRS):
        t, f = triangle[pairs[first : first + _PAIRS]], face[pairs[first : first + _PAIRS]]
        sizes = convex.sizes[f]
        polygon = convex.faces[f, : int(sizes.max())]
        # Distances from the sides, weighted by how far the corners are beyond the face, tell on
        # which side of the triangle's own plane a point of the face lies.
        own_plane = np.einsum("nv,nvk->nk", beyond[t, f], sides[t])
        lines = np.concatenate([sides[t], own_plane[:, None]], axis=1)
        for k in range(4):
            value = np.einsum("nwk,nk->nw", polygon, lines[:, k])
            polygon, sizes = _clip(polygon, sizes, value)
            alive = np.flatnonzero(sizes > 2)
            t, lines, polygon, sizes = t[alive], lines[alive], polygon[alive], sizes[alive]
        for part in (1, -1):
            which = sign[t] == part
            for base in _fans(polygon[which], sizes[which]):
                cone, moment = _cones(base)
                yield part * cone, part * moment


def _there(polygon: Array, size: Indices) -> NDArray[np.bool_]:
    """Return which corners (n, w) of polygons of these sizes are there."""
    there: NDArray[np.bool_] = np.arange(polygon.shape[1]) < size[:, None]
    return there


def _widened(polygon: Array, width: int) -> Array:
    """Return polygons (n, w, 3) with room for more corners."""
    extra = max(0, width - polygon.shape[1])
    return np.concatenate([polygon, np.zeros((len(polygon), extra, 3))], axis=1)


def _fans(polygon: Array, size: Indices) -> Iterator[Array]:
    """Yield convex polygons (n, w, 3) as triangles (., 3, 3)."""
    for w in range(1, polygon.shape[1] - 1):
        yield polygon[np.flatnonzero(size > w + 1)][:, [0, w, w + 1]]


def _clip(polygon: Array, size: Indices, value: Array) -> tuple[Array, Indices]:
    """Cut convex polygons (n, w, 3) to where a linear function is not negative.

    Args:
        polygon: the corners; those beyond the size are ignored.
        size: (n,) numbers of corners.
        value: (n, w) the function at the corners.

    Returns:
        Polygons in the same form, and their sizes.
    """
    n, width, _ = polygon.shape
    place = np.arange(width)
    there = place < size[:, None]
    after = np.where(place + 1 < size[:, None], place + 1, 0)
    value_after = np.take_along_axis(value, after, axis=1)
    inside = value >= 0
    crossing = there & (inside != (value_after >= 0))
    keep = np.stack([there & inside, crossing], axis=2).reshape(n, 2 * width)
    row, column = np.nonzero(crossing)
    here, next_one = value[row, column], value_after[row, column]
    start, end = polygon[row, column], polygon[row, after[row, column]]
    corners = np.stack([polygon, polygon], axis=2)
    corners[row, column, 1] = start + (here / (here - next_one))[:, None] * (end - start)
    corners = corners.reshape(n, 2 * width, 3)
    sizes = keep.sum(axis=1)
    result = np.zeros((n, int(sizes.max(initial=0)), 3))
    row, slot = np.nonzero(keep)
    result[row, (np.cumsum(keep, axis=1) - 1)[row, slot]] = corners[row, slot]
    return result, sizes
