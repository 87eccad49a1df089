"""Inner walls of a mesh: surface that looks into a gap within the union, such as a crack.

A point of the surface is on an inner wall if the straight line out of it, along its outward normal,
meets the mesh again before it leaves the union. So a crack between two pieces has inner walls, and
so has a void that the union does not have. A place where material is missing at the surface of the
union has none, unless it is a slot.

The area is measured by a fixed sample. Each triangle is cut into k * k equal ones, and the centre
of each represents its area. The result is accurate to within 0.002 of the union's area, or 0.05 for
meshes of thousands of triangles.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scbench.graders.csg_union.convex_parts import Convex
from scbench.graders.shared.vectors import Array, Indices, Mask, cross, dot, unit

# So many points are spread over an area like that of the union, and twice as many over a larger
# one. Triangles smaller than the area of a point add one each.
_POINTS_ON_UNION = 5_000
_MOST_POINTS = 2 * _POINTS_ON_UNION
# Maximum number of pairs of a way out and a triangle. If there are more, the points are thinned
# out.
_MOST_PAIRS = 4_000_000
# A way leaves a solid so far beyond its planes, so that it does not stop where solids touch.
_SEAM = 1e-6
# A way meets no triangle nearer than this: not its own, and none that continues its own.
_START = 1e-5
# A way this near to the edge of a triangle, in barycentric coordinates, meets the triangle.
_EDGE = 1e-9
# Bound of memory: pairs that are tested together.
_PAIR_BLOCK = 200_000


class Ways(NamedTuple):
    """Straight lines out of points of a surface."""

    start: Array
    """(n, 3) the points."""
    direction: Array
    """(n, 3) of length 1."""

    def chosen(self, rows: Indices | Mask | slice) -> "Ways":
        """Return some of the ways."""
        return Ways(self.start[rows], self.direction[rows])


class Points(NamedTuple):
    """Sample points of a surface, each representing a part of its area."""

    place: Array
    """(n, 3)"""
    normal: Array
    """(n, 3) of length 1, outward."""
    area: Array
    """(n,) that each point stands for."""

    def chosen(self, rows: Indices | Mask) -> "Points":
        """Return some of the points."""
        return Points(self.place[rows], self.normal[rows], self.area[rows])

    def ways(self) -> Ways:
        """Return the way out of each point, along its normal."""
        return Ways(self.place, self.normal)


def inner_wall_area(
    solids: Sequence[Convex], corners: Array, union_area: float
) -> float:
    """Return the area of the inner walls of a mesh.

    The corners are those of closed triangles (m, 3, 3), counter-clockwise seen from outside. The
    solids are those of the union, and ``union_area`` is the area of its surface.
    """
    triangles = faces_into(solids, corners)
    if not len(triangles):
        return 0.0
    points = sample(corners[triangles], union_area)
    exits = union_exits(solids, points.ways())
    # The other points lie outside the union, or their normals leave it here.
    points = thinned(points.chosen(exits > _START), len(corners))
    ways = points.ways()
    exits = union_exits(solids, ways)
    is_inner = meets_mesh(corners, ways, exits)
    return float(points.area[is_inner].sum())


def faces_into(solids: Sequence[Convex], corners: Array) -> Indices:
    """Return the triangles that reach into one of the solids, or lie on it and look into it.

    No others are inner walls. A right mesh has none.
    """
    normals = triangle_normals(corners)
    reaches = np.zeros(len(corners), dtype=np.bool_)
    for solid in solids:
        block = max(1, _PAIR_BLOCK // len(solid.offsets))
        for first in range(0, len(corners), block):
            rows = slice(first, first + block)
            from_centre = corners[rows] - solid.centre
            # How far each corner is beyond each plane of the solid.
            beyond = np.einsum("mvk,pk->mvp", from_centre, solid.normals)
            nearest = (beyond - solid.offsets).min(axis=1)
            is_beyond = nearest > _START
            is_on_plane = nearest > -_START
            looks_away = normals[rows] @ solid.normals.T > -_START
            # One plane with the whole triangle outside is enough.
            is_outside = is_beyond | (is_on_plane & looks_away)
            reaches[rows] |= ~is_outside.any(axis=1)
    return np.flatnonzero(reaches)


def triangle_normals(corners: Array) -> Array:
    """Return the outward normal (m, 3) of each triangle, of length 1."""
    along = unit(corners[:, 1] - corners[:, 0])
    return unit(cross(along, corners[:, 2] - corners[:, 0]))


def sample(corners: Array, union_area: float) -> Points:
    """Return points spread evenly over triangles (m, 3, 3)."""
    products = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.sqrt(dot(products, products)) / 2
    cell = max(union_area / _POINTS_ON_UNION, float(areas.sum()) / _MOST_POINTS)
    # Each side of a triangle is divided into this many parts.
    divisions = np.maximum(1, np.ceil(np.sqrt(areas / cell))).astype(np.int64)
    places = [np.zeros((0, 3))]
    owners = [np.zeros(0, dtype=np.int64)]
    for k in np.unique(divisions).tolist():
        rows = np.flatnonzero(divisions == k)
        centres = cell_centres(k)
        cell_places = np.einsum("cv,mvx->mcx", centres, corners[rows])
        places.append(cell_places.reshape(-1, 3))
        owners.append(np.repeat(rows, len(centres)))
    owner = np.concatenate(owners)
    normals = triangle_normals(corners)
    cell_areas = areas / divisions**2
    return Points(np.concatenate(places), normals[owner], cell_areas[owner])


def cell_centres(k: int) -> Array:
    """Return the centres (k * k, 3) of equal parts of a triangle, in barycentric coordinates."""
    # In thirds of a part's side.
    thirds = []
    for i in range(k):
        for j in range(k - i):
            thirds.append((3 * i + 1, 3 * j + 1))
            # Next to each part, except in the last row, is one that is upside down.
            if i + j < k - 1:
                thirds.append((3 * i + 2, 3 * j + 2))
    first, second = np.array(thirds).T / (3 * k)
    return np.stack([first, second, 1 - first - second], axis=1)


def thinned(points: Points, triangle_count: int) -> Points:
    """Return every nth point, for n times its area, so that there are few enough pairs."""
    step = max(1, math.ceil(len(points.area) * triangle_count / _MOST_PAIRS))
    few = points.chosen(np.arange(0, len(points.area), step))
    return few._replace(area=few.area * step)


def union_exits(solids: Sequence[Convex], ways: Ways) -> Array:
    """Return how far (n,) each way goes before it leaves the union; 0 if it starts outside."""
    count = len(ways.start)
    enter = np.zeros((len(solids), count))
    leave = np.zeros((len(solids), count))
    for s, solid in enumerate(solids):
        block = max(1, _PAIR_BLOCK // len(solid.offsets))
        for first in range(0, count, block):
            rows = slice(first, first + block)
            enter[s, rows], leave[s, rows] = passage(solid, ways.chosen(rows))
    exits = np.zeros(count)
    # Each round takes every way through one more solid, as long as there is one.
    for _ in solids:
        reached = np.where(enter <= exits, leave, 0.0)
        exits = np.maximum(exits, reached.max(axis=0))
    return exits


def passage(solid: Convex, ways: Ways) -> tuple[Array, Array]:
    """Return where (n,) ways enter a solid and leave it; both are 0 for those that miss it."""
    below = solid.offsets + _SEAM - (ways.start - solid.centre) @ solid.normals.T
    speed = ways.direction @ solid.normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = below / speed
    enter = np.where(speed < 0, crossing, 0.0).max(axis=1)
    leave = np.where(speed > 0, crossing, np.inf).min(axis=1)
    # A way along a plane never gets below it.
    stays_above = np.any((speed == 0) & (below < 0), axis=1)
    missed = (leave <= enter) | stays_above
    return np.where(missed, 0.0, enter), np.where(missed, 0.0, leave)


def meets_mesh(corners: Array, ways: Ways, exits: Array) -> Mask:
    """Return which ways (n,) meet one of the triangles (m, 3, 3) before their exits (n,)."""
    first_corner = corners[:, 0]
    first_side = corners[:, 1] - first_corner
    last_side = corners[:, 2] - first_corner
    normals = cross(first_side, last_side)
    squares = np.maximum(dot(normals, normals), np.finfo(np.float64).tiny)[:, None]
    # The gradients of two of the three barycentric coordinates, which are linear in space.
    second_gradient = cross(last_side, normals) / squares
    third_gradient = cross(normals, first_side) / squares
    meets = np.zeros(len(exits), dtype=np.bool_)
    block = max(1, _PAIR_BLOCK // len(corners))
    for first in range(0, len(meets), block):
        rows = slice(first, first + block)
        start, direction = ways.chosen(rows)
        # Directions along a triangle give infinities and NaN, which compare as false.
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = dot(first_corner, normals) - start @ normals.T
            distance = gap / (direction @ normals.T)
            # The coordinates where the way crosses the plane: those of its start, and the change.
            second = start @ second_gradient.T - dot(first_corner, second_gradient)
            second = second + distance * (direction @ second_gradient.T)
            third = start @ third_gradient.T - dot(first_corner, third_gradient)
            third = third + distance * (direction @ third_gradient.T)
            is_ahead = distance > _START
            is_before_exit = distance < exits[rows, None] - _START
            is_inside = (second >= -_EDGE) & (third >= -_EDGE)
            is_inside &= second + third <= 1 + _EDGE
        meets[rows] = (is_ahead & is_before_exit & is_inside).any(axis=1)
    return meets
