"""The solids that instances are made of, and how much of the inside of a mesh lies in their union.

The inside of a closed mesh is the signed sum of cones from any point to its triangles. From a point
inside a convex solid, the part of such a cone within the solid is a cone over what of the triangle
lies in the solid, and cones over what of the solid's faces is seen before the triangle: convex
polygons, cut along lines. Every step is continuous: slivers, coplanar faces and crossings at the
scale of rounding change nothing, unlike with mesh booleans. A union is the sum over common parts
with alternating signs.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import shapely
from manifold3d import Manifold
from numpy.typing import NDArray

from scbench.graders.shared.meshes import (
    Array,
    Faces,
    Indices,
    PolygonMesh,
    cross,
    newell_normals,
    to_body,
    triangulate,
    unit,
    unite,
)
from scbench.schemas.csg_union import Box, Params, Polyhedron, Prism, Solid, UvSphere

# Vertices are rounded to so many decimals, because the last bits of sines differ by
# machine.
DECIMALS = 9
# Vertex 4 i + 2 j + k is the corner at end i of x, j of y and k of z.
_BOX: Faces = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)
# A common part of less volume is none: solids that touch have a little in common by
# rounding.
_EMPTY = 1e-6
# How far a vertex of a convex solid may lie outside its planes.
_CONVEX = 1e-6
# A face nearer to another solid's plane than this lies in it.
_SAME = 1e-8
_GRID = 1e-9
# A face this near to a plane lies in it.
_FLUSH = 1e-6
_TRIANGLES = 1_000
# Triangles, and pairs of a triangle and a face, that are looked at together.
_PAIRS = 4_000
# What of a mesh's surface is deeper than this in a solid is an inner wall.
DEEP = 0.1
# Pairs of a triangle and a face it hides, that a measurement may take before it is
# given up.
MOST_PAIRS = 2_000_000


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
        single = _convex_part(mesh, corners)._replace(solids=(place,))
        for part in tuple(parts):
            common = _measure_common(corners, part.convex, MOST_PAIRS)
            if common is None:
                raise ValueError("the solids of this instance have too many faces")
            if common.volume > _EMPTY:
                both = _intersection(
                    part.convex, single.convex, common.moment / common.volume
                )
                parts.append(
                    ConvexPart(-part.sign, both, common.volume, (*part.solids, place))
                )
        parts.append(single)
    return parts


def union_volume(parts: Sequence[ConvexPart]) -> float:
    """Return the volume of the union of solids from its `parts_of_union`."""
    return float(sum(part.sign * part.volume for part in parts))


@lru_cache(maxsize=64)
def void_area(params: Params) -> float:
    """Return the area of the walls of the voids in an instance's union."""
    shells = union_body(params).decompose()
    return float(sum(shell.surface_area() for shell in shells if shell.volume() < 0))


@lru_cache(maxsize=64)
def union_area(params: Params) -> float:
    """Return the area of the surface of an instance's union, walls of voids too.

    It is what of the solids' faces lies in no other solid; where two faces look the same way in one
    plane, the first counts, and where solids touch, neither.
    """
    solids = [part.convex for part in union_parts(params) if len(part.solids) == 1]
    total = 0.0
    for i, solid in enumerate(solids):
        faces = solid.faces + solid.centre
        covers = [
            _covered(faces, solid, other, earlier=j < i)
            for j, other in enumerate(solids)
            if i != j
        ]
        for f, (normal, size) in enumerate(
            zip(solid.normals, solid.sizes, strict=True)
        ):
            corner = faces[f, 0]
            first = unit((faces[f, 1] - corner)[None])[0]
            flat = np.stack([first, np.cross(normal, first)], axis=1)
            covered = [
                shapely.Polygon((pieces[f, : sizes[f]] - corner) @ flat)
                for pieces, sizes in covers
                if sizes[f] > 2
            ]
            whole = shapely.Polygon((faces[f, :size] - corner) @ flat)
            # On a grid: in full precision an overlay of nearly equal lines can lose a piece.
            united = shapely.union_all(covered, grid_size=_GRID)
            total += float(
                shapely.area(shapely.difference(whole, united, grid_size=_GRID))
            )
    return total


def inner_area(parts: Sequence[ConvexPart], corners: Array) -> float:
    """Return the area of triangles (m, 3, 3) that lies deep in some solid of a union."""
    total = 0.0
    for sign, solid, *_ in parts:
        for first in range(0, len(corners), _TRIANGLES):
            rays = corners[first : first + _TRIANGLES] - solid.centre
            below = (solid.offsets - DEEP)[:, None] - np.einsum(
                "mvk,pk->mpv", rays, solid.normals
            )
            meet = np.flatnonzero(np.all(below.max(axis=2) > 0, axis=1))
            cuts = below[meet].min(axis=2) < 0
            total += sign * sum(
                map(surface_area, _of_triangles(rays[meet], below[meet], cuts))
            )
    return total


def surface_area(corners: Array) -> float:
    """Return the area of triangles (m, 3, 3)."""
    a, b, c = np.moveaxis(corners, 1, 0)
    doubles = np.sqrt(np.sum(cross(b - a, c - a) ** 2, axis=1))
    return float(doubles.sum()) / 2


def _covered(
    faces: Array, owner: Convex, solid: Convex, *, earlier: bool
) -> tuple[Array, Indices]:
    """Return what a convex solid covers of another one's faces (p, w, 3), and how many corners."""
    below = solid.offsets - (faces - solid.centre) @ solid.normals.T
    filled = np.arange(faces.shape[1]) < owner.sizes[:, None]
    level = np.all((np.abs(below) <= _FLUSH) | ~filled[:, :, None], axis=1)
    same_way = level & (owner.normals @ solid.normals.T > 0)
    polygon, size = (
        faces,
        np.where(np.any(same_way, axis=1) & (not earlier), 0, owner.sizes),
    )
    for plane, (normal, offset) in enumerate(
        zip(solid.normals, solid.offsets, strict=True)
    ):
        value = offset - (polygon - solid.centre) @ normal
        value[level[:, plane]] = 0.0  # what lies in the plane is not cut by it
        polygon, size = _clip(polygon, size, value)
    return polygon, size


def common_volume(parts: Sequence[ConvexPart], corners: Array) -> float | None:
    """Return how much of the inside of a mesh lies in a union of convex solids, from its parts.

    The corners are those of closed triangles (m, 3, 3), counter-clockwise seen from outside. None
    is returned if it takes more than `MOST_PAIRS` pairs of a triangle and a part's face.
    """
    total, budget = 0.0, MOST_PAIRS
    for part in parts:
        measure = _measure_common(corners, part.convex, budget)
        if measure is None:
            return None
        total += part.sign * measure.volume
        budget -= measure.pairs
    return total


def _convex_part(mesh: PolygonMesh, corners: Array) -> ConvexPart:
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


def _intersection(first: Convex, second: Convex, centre: Array) -> Convex:
    """Return what two convex solids have in common, a face in one plane of both only once."""
    sides = []
    for side, rival, is_first in ((first, second, True), (second, first, False)):
        faces, sizes = side.faces + side.centre, side.sizes
        for normal, offset in zip(rival.normals, rival.offsets, strict=True):
            below = offset - (faces - rival.centre) @ normal
            filled = np.arange(faces.shape[1]) < sizes[:, None]
            away = np.where(filled, np.abs(below), 0.0).max(axis=1, initial=0.0)
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


def _measure_common(corners: Array, convex: Convex, max_pairs: int) -> _Measure | None:
    """Measure what lies in a convex solid and closed triangles (m, 3, 3); None if too much work."""
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
        bases = [
            rays[inside],
            *_of_triangles(rays[split], -values[split], high[split] > 0),
        ]
        for base in bases:
            cone, first_moment = _cones(base)
            volume, moment = volume + cone, moment + first_moment
        for cone, first_moment in _of_faces(rays, convex, values, visible):
            volume, moment = volume + cone, moment + first_moment
    return _Measure(volume, moment + volume * convex.centre, pairs)


def _cones(base: Array) -> tuple[float, Array]:
    """Return the signed volume and the first moment (3,) of the cones from 0 to triangles."""
    volumes = np.einsum("ij,ij->i", cross(base[:, 0], base[:, 1]), base[:, 2]) / 6
    return float(volumes.sum()), volumes @ base.sum(axis=1) / 4


def _of_triangles(
    rays: Array, below: Array, cuts: NDArray[np.bool_]
) -> Iterator[Array]:
    """Yield, cut into triangles, what of triangles with corners (m, 3, 3) lies in a convex solid.

    ``below`` (m, p, 3) is how far, in some scale, the corners lie below each plane; ``cuts`` (m, p)
    whether any corner lies above it.
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

    ``rays`` (m, 3, 3) are corners of all triangles, ``beyond`` (m, p, 3) how far, in some scale,
    they lie beyond each plane, ``visible`` (m, p) which pairs of a triangle and a face are to be
    looked at.
    """
    a, b, c = rays[:, 0], rays[:, 1], rays[:, 2]
    sides = np.stack([cross(b, c), cross(c, a), cross(a, b)], axis=1)
    sign = np.sign(np.einsum("ij,ij->i", sides[:, 2], c))
    sides = sides * sign[:, None, None]
    triangle, face = np.nonzero(visible)
    pairs = np.flatnonzero(sign[triangle] != 0)
    # Faces of like size together, so that small ones need not be as wide as large ones.
    pairs = pairs[np.argsort(convex.sizes[face[pairs]], kind="stable")]
    for first in range(0, len(pairs), _PAIRS):
        t, f = (
            triangle[pairs[first : first + _PAIRS]],
            face[pairs[first : first + _PAIRS]],
        )
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
            t, lines, polygon, sizes = (
                t[alive],
                lines[alive],
                polygon[alive],
                sizes[alive],
            )
        for part in (1, -1):
            which = sign[t] == part
            for base in _fans(polygon[which], sizes[which]):
                cone, moment = _cones(base)
                yield part * cone, part * moment


def _widened(polygon: Array, width: int) -> Array:
    """Return polygons (n, w, 3) with room for more corners."""
    extra = max(0, width - polygon.shape[1])
    return np.concatenate([polygon, np.zeros((len(polygon), extra, 3))], axis=1)


def _fans(polygon: Array, size: Indices) -> Iterator[Array]:
    """Yield convex polygons (n, w, 3) as triangles (., 3, 3)."""
    for w in range(1, polygon.shape[1] - 1):
        yield polygon[np.flatnonzero(size > w + 1)][:, [0, w, w + 1]]


def _clip(polygon: Array, size: Indices, value: Array) -> tuple[Array, Indices]:
    """Cut convex polygons (n, w, 3) of these sizes (n,) to where a linear function is not negative.

    ``value`` (n, w) is the function at the corners; those beyond the size are ignored. Polygons in
    the same form are returned, and their sizes.
    """
    n, width, _ = polygon.shape
    place, rows = np.arange(width), np.arange(n)[:, None]
    there = place < size[:, None]
    inside = (value >= 0) & there
    if np.array_equal(inside, there):
        return polygon, size
    after = np.where(place + 1 < size[:, None], place + 1, 0)
    # Corner by corner: whether it stays, and whether a new one comes before the next.
    keep = np.empty((n, 2 * width), dtype=np.bool_)
    keep[:, ::2] = inside
    keep[:, 1::2] = there & (inside != inside[rows, after])
    row, column = np.nonzero(keep[:, 1::2])
    end = after[row, column]
    here, start = value[row, column], polygon[row, column]
    share = here / (here - value[row, end])
    corners = np.repeat(polygon, 2, axis=1)
    corners[row, 2 * column + 1] = start + share[:, None] * (polygon[row, end] - start)
    sizes = keep.sum(axis=1)
    result = np.zeros((n, int(sizes.max(initial=0)), 3))
    row, slot = np.nonzero(keep)
    result[row, (np.cumsum(keep, axis=1) - 1)[row, slot]] = corners[row, slot]
    return result, sizes


def solid_mesh(solid: Solid) -> PolygonMesh:
    """Return a solid at its place, every coordinate rounded to 9 decimals."""
    match solid:
        case Box():
            points, faces = _box_faces(solid)
        case Prism():
            points, faces = _prism_faces(solid)
        case UvSphere():
            points, faces = _sphere_faces(solid)
        case Polyhedron():
            points, faces = np.array(solid.vertices, dtype=float), solid.faces
    turned = points @ _rotation(solid.rotation_deg_xyz).T + np.array(solid.translation)
    return PolygonMesh(np.round(turned, DECIMALS) + 0.0, faces)


def solid_body(solid: Solid) -> Manifold:
    """Return a solid at its place as a body.

    Raises:
        ValueError: it is a polyhedron whose faces do not close.
    """
    mesh = solid_mesh(solid)
    return to_body(mesh.points, triangulate(mesh).corners)


@lru_cache(maxsize=64)
def union_parts(params: Params) -> tuple[ConvexPart, ...]:
    """Return what the solids of an instance have in common, by which their union is measured.

    Raises:
        ValueError: a solid is not convex.
    """
    return tuple(parts_of_union([solid_mesh(solid) for solid in params.solids]))


@lru_cache(maxsize=64)
def union_body(params: Params) -> Manifold:
    """Return the union of an instance's solids."""
    return unite([solid_body(solid) for solid in params.solids])


def _box_faces(box: Box) -> tuple[Array, Faces]:
    ends = [(-length / 2, length / 2) for length in box.size]
    return np.array(
        [[x, y, z] for x in ends[0] for y in ends[1] for z in ends[2]]
    ), _BOX


def _circle_points(radius: float, z: float, segments: int) -> list[list[float]]:
    angles = [2 * math.pi * k / segments for k in range(segments)]
    return [[radius * math.cos(a), radius * math.sin(a), z] for a in angles]


def _prism_faces(prism: Prism) -> tuple[Array, Faces]:
    n = prism.segments
    low = -prism.height / 2 if prism.centred_z else 0.0
    points = _circle_points(prism.radius_bottom, low, n)
    sides = [(k, (k + 1) % n) for k in range(n)]
    floor = tuple(reversed(range(n)))
    if prism.radius_top == 0:
        faces: Faces = (floor, *((a, b, n) for a, b in sides))
        return np.array([*points, [0.0, 0.0, low + prism.height]]), faces
    points += _circle_points(prism.radius_top, low + prism.height, n)
    faces = (floor, tuple(range(n, 2 * n)), *((a, b, n + b, n + a) for a, b in sides))
    return np.array(points), faces


def _sphere_faces(sphere: UvSphere) -> tuple[Array, Faces]:
    n, rings = sphere.segments, sphere.segments // 2
    points: list[list[float]] = []
    for i in range(rings):
        polar = math.pi * (i + 0.5) / rings
        points += _circle_points(
            sphere.radius * math.sin(polar), sphere.radius * math.cos(polar), n
        )
    walls = [
        ((i + 1) * n + a, (i + 1) * n + (a + 1) % n, i * n + (a + 1) % n, i * n + a)
        for i in range(rings - 1)
        for a in range(n)
    ]
    bottom = tuple(reversed(range((rings - 1) * n, rings * n)))
    return np.array(points), (tuple(range(n)), bottom, *walls)


def _rotation(degrees: tuple[float, ...]) -> Array:
    """Return the matrix that turns about x, then y, then z."""
    (cx, sx), (cy, sy), (cz, sz) = (
        (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
        for angle in degrees
    )
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    turn: Array = about_z @ about_y @ about_x
    return turn
