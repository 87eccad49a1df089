"""Removal of skins: parts of a body so thin that only rounding produced them."""

from typing import NamedTuple

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from scbench.report.draw.painter import double_areas
from scbench.report.draw.scene import Faces, Points

# Cosine of the angle up to which two faces seem to lie in one plane.
SAME_DIRECTION = 0.9999
# Areas are computed on a grid of this share of the thickness.
_GRID = 1e-3


class Surface(NamedTuple):
    """Triangles, and the outlines (k, 3) of the flat areas that they form."""

    points: Points
    faces: Faces
    outline: tuple[Points, ...]


class Plane(NamedTuple):
    """A plane as seen along the axis that it faces most, and the triangles in it.

    Attributes:
        normal: normal of length 1, shape (3,).
        offset: offset of the plane along its normal.
        members: triangles that face along the normal.
        turned: triangles that face the other way.
    """

    normal: Points
    offset: float
    members: list[int]
    turned: list[int]

    @property
    def axis(self) -> int:
        """The axis along which the plane is seen."""
        return int(np.argmax(np.abs(self.normal)))

    @property
    def flat_axes(self) -> list[int]:
        """The axes that remain, in order."""
        return [i for i in range(3) if i != self.axis]

    @property
    def mirrored(self) -> bool:
        """Whether a ring that is counter-clockwise in this view faces away from the normal."""
        return bool((self.normal[self.axis] > 0) == (self.axis == 1))

    def lifted(self, view: Points) -> Points:
        """Return the points (k, 3) of the plane that appear at these places (k, 2)."""
        points = np.zeros((len(view), 3))
        points[:, self.flat_axes] = view
        offset = self.offset - view @ self.normal[self.flat_axes]
        points[:, self.axis] = offset / self.normal[self.axis]
        return points


def without_skins(points: Points, faces: Faces, thickness: float) -> Surface:
    """Return a closed surface, points (n, 3) and faces (m, 3), without parts thinner than this.

    Narrower triangles are also left out.
    """
    corners = points[faces]
    grid = _GRID * thickness
    triangles: list[Points] = [np.zeros((0, 3))]
    outline: list[Points] = []
    for plane in planes_of(corners, thickness):
        view = corners[..., plane.flat_axes]
        facing = area_of(view[plane.members], grid)
        opposing = area_of(view[plane.turned], grid)
        # Where the two overlap, there is a skin between them.
        front = shapely.difference(facing, opposing, grid_size=grid)
        back = shapely.difference(opposing, facing, grid_size=grid)
        parts = [(part, False) for part in thick_polygons(front, thickness)]
        parts += [(part, True) for part in thick_polygons(back, thickness)]
        for part, is_turned in parts:
            rings = (part.exterior, *part.interiors)
            outline += [plane.lifted(np.array(ring.coords)) for ring in rings]
            flat = triangulate(part, clockwise=is_turned != plane.mirrored)
            triangles.append(plane.lifted(flat.reshape(-1, 2)))
    # Triangles share no points here, so the points are numbered in order.
    bare = np.concatenate(triangles)
    bare_faces = np.arange(len(bare)).reshape(-1, 3)
    return Surface(bare, bare_faces, tuple(outline))


def planes_of(corners: Points, thickness: float) -> list[Plane]:
    """Return the planes of triangles (n, 3, 3), largest first; slivers are skipped."""
    edge_1 = corners[:, 1] - corners[:, 0]
    edge_2 = corners[:, 2] - corners[:, 0]
    cross = np.cross(edge_1, edge_2)
    double_area = np.sqrt(np.sum(cross**2, axis=1))
    unit = cross / np.maximum(double_area, 1e-300)[:, None]
    sides = corners - np.roll(corners, 1, axis=1)
    longest_side = np.sqrt(np.sum(sides**2, axis=2)).max(axis=1)
    # A triangle of less height than the thickness is a sliver.
    is_sliver = double_area < thickness * longest_side
    planes: list[Plane] = []
    # Normals and offsets of the planes in arrays, to compare all of them together.
    normals = np.zeros((len(corners), 3))
    offsets = np.zeros(len(corners))
    # Large triangles give the most exact normals.
    for i in np.argsort(-double_area, kind="stable").tolist():
        if is_sliver[i]:
            continue
        count = len(planes)
        cosines = normals[:count] @ unit[i]
        heights = corners[i] @ normals[:count].T - offsets[:count]
        distances = np.abs(heights).max(axis=0)
        is_parallel = np.abs(cosines) > SAME_DIRECTION
        matches = np.flatnonzero(is_parallel & (distances < thickness))
        if not len(matches):
            offset = unit[i] @ corners[i].mean(axis=0)
            normals[count] = unit[i]
            offsets[count] = offset
            planes.append(Plane(unit[i], float(offset), [i], []))
            continue
        first_match = int(matches[0])
        if cosines[first_match] > 0:
            planes[first_match].members.append(i)
        else:
            planes[first_match].turned.append(i)
    return planes


def area_of(triangles: Points, grid: float) -> BaseGeometry:
    """Return the union of triangles (n, 3, 2) as a shape on a grid."""
    if not len(triangles):
        return Polygon()
    return shapely.union_all(shapely.polygons(triangles), grid_size=grid)


def thick_polygons(shape: BaseGeometry, thickness: float) -> list[Polygon]:
    """Return the polygons of a shape without the strips left at the rim of a skin."""
    parts = shapely.get_parts(shape)
    polygons = [part for part in parts if isinstance(part, Polygon)]
    # A strip of this thickness has at most this area.
    return [part for part in polygons if part.area > thickness * part.length / 2]


def triangulate(polygon: Polygon, *, clockwise: bool) -> Points:
    """Return triangles (n, 3, 2) that fill a polygon, all with the same orientation."""
    pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(polygon))
    # Each ring has four points, the last of them the first again.
    flat = shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3]
    wrong_way = (double_areas(flat) > 0) == clockwise
    flat[wrong_way] = flat[wrong_way, ::-1]
    triangles: Points = flat
    return triangles
