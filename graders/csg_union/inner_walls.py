"""Inner walls of a mesh: surface that faces a gap within the union, such as a crack.

A point of the surface is on an inner wall if the ray along its outward normal meets the mesh again
before it leaves the union. So a crack between two pieces has inner walls, and so does a void that
is not in the union. A place where material is missing at the surface of the union has no inner
walls, unless it is a slot.

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

# Number of points on an area as large as the union's. A larger area gets up to twice as many. Every
# triangle smaller than the area of a point adds one point.
_POINTS_ON_UNION = 5_000
_MOST_POINTS = 2 * _POINTS_ON_UNION
# Maximum number of pairs of a ray and a triangle. If there are more, the points are thinned out.
_MOST_PAIRS = 4_000_000
# A ray leaves a solid this far beyond its planes, so that it does not stop where solids touch.
_SEAM = 1e-6
# A ray misses triangles closer than this: its own, and those that continue its own.
_START = 1e-5
# A ray this close to the edge of a triangle, in barycentric coordinates, meets the triangle.
_EDGE = 1e-9
# Pairs that are tested together; this bounds memory.
_PAIR_BLOCK = 200_000


class Rays(NamedTuple):
    """Rays from points of a surface."""

    start: Array
    """(n, 3) the points."""
    direction: Array
    """(n, 3) of length 1."""

    def chosen(self, rows: Indices | Mask | slice) -> "Rays":
        """Return some of the rays."""
        return Rays(self.start[rows], self.direction[rows])


class Points(NamedTuple):
    """Sample points of a surface, each representing a part of its area."""

    place: Array
    """(n, 3)"""
    normal: Array
    """(n, 3) of length 1, outward."""
    area: Array
    """(n,) area that each point represents."""

    def chosen(self, rows: Indices | Mask) -> "Points":
        """Return some of the points."""
        return Points(self.place[rows], self.normal[rows], self.area[rows])

    def rays(self) -> Rays:
        """Return the ray from each point along its normal."""
        return Rays(self.place, self.normal)


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
    exits = union_exits(solids, points.rays())
    # The other points lie outside the union, or their normals point out of it.
    points = thin_out(points.chosen(exits > _START), len(corners))
    rays = points.rays()
    exits = union_exits(solids, rays)
    is_inner = meets_mesh(corners, rays, exits)
    return float(points.area[is_inner].sum())


def faces_into(solids: Sequence[Convex], corners: Array) -> Indices:
    """Return the triangles that reach into one of the solids, or lie on it and face inwards.

    Only these can be inner walls. A correct mesh has none.
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
            # One plane with the whole triangle outside is enough to exclude it.
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
    # In units of a third of a part's side.
    thirds = []
    for i in range(k):
        for j in range(k - i):
            thirds.append((3 * i + 1, 3 * j + 1))
            # Each part has an upside-down part next to it, except in the last row.
            if i + j < k - 1:
                thirds.append((3 * i + 2, 3 * j + 2))
    first, second = np.array(thirds).T / (3 * k)
    return np.stack([first, second, 1 - first - second], axis=1)


def thin_out(points: Points, triangle_count: int) -> Points:
    """Return every nth point with n times its area, so that few enough pairs remain."""
    step = max(1, math.ceil(len(points.area) * triangle_count / _MOST_PAIRS))
    kept_points = points.chosen(np.arange(0, len(points.area), step))
    return kept_points._replace(area=kept_points.area * step)


def union_exits(solids: Sequence[Convex], rays: Rays) -> Array:
    """Return the distance (n,) at which each ray leaves the union; 0 if it starts outside."""
    count = len(rays.start)
    enter = np.zeros((len(solids), count))
    leave = np.zeros((len(solids), count))
    for s, solid in enumerate(solids):
        block = max(1, _PAIR_BLOCK // len(solid.offsets))
        for first in range(0, count, block):
            rows = slice(first, first + block)
            enter[s, rows], leave[s, rows] = passage(solid, rays.chosen(rows))
    exits = np.zeros(count)
    # Each round extends every ray through one more solid, if there is one.
    for _ in solids:
        reached = np.where(enter <= exits, leave, 0.0)
        exits = np.maximum(exits, reached.max(axis=0))
    return exits


def passage(solid: Convex, rays: Rays) -> tuple[Array, Array]:
    """Return where (n,) rays enter and leave a solid; both are 0 for rays that miss it."""
    below = solid.offsets + _SEAM - (rays.start - solid.centre) @ solid.normals.T
    speed = rays.direction @ solid.normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = below / speed
    enter = np.where(speed < 0, crossing, 0.0).max(axis=1)
    leave = np.where(speed > 0, crossing, np.inf).min(axis=1)
    # A ray parallel to a plane never gets below it.
    stays_above = np.any((speed == 0) & (below < 0), axis=1)
    missed = (leave <= enter) | stays_above
    return np.where(missed, 0.0, enter), np.where(missed, 0.0, leave)


def meets_mesh(corners: Array, rays: Rays, exits: Array) -> Mask:
    """Return which rays (n,) meet one of the triangles (m, 3, 3) before their exits (n,)."""
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
        start, direction = rays.chosen(rows)
        # Directions parallel to a triangle give infinities and NaN, which compare as false.
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = dot(first_corner, normals) - start @ normals.T
            distance = gap / (direction @ normals.T)
            # The coordinates where the ray crosses the plane: those of its start, plus the change.
            second = start @ second_gradient.T - dot(first_corner, second_gradient)
            second = second + distance * (direction @ second_gradient.T)
            third = start @ third_gradient.T - dot(first_corner, third_gradient)
            third = third + distance * (direction @ third_gradient.T)
            is_ahead = distance > _START
            is_before_exit = distance < exits[rows, None] - _START
            is_before_last = second + third <= 1 + _EDGE
            is_inside = (second >= -_EDGE) & (third >= -_EDGE) & is_before_last
        meets[rows] = (is_ahead & is_before_exit & is_inside).any(axis=1)
    return meets
