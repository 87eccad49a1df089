"""Surfaces of differences without the skins that rounding leaves.

Where faces of two bodies should lie in one plane but differ in the last digits, their difference
has a skin there, as thin as that: two sheets turned away from each other. Triangles of a skin and
of the body proper may be one, so sheets are taken from each other as areas of their plane.
"""

from typing import NamedTuple

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from scbench.report.draw.scene import Faces, Points

_ALIKE = 0.9999
"""Cosine of the angle between triangles of one plane."""
_GRID = 1e-3
"""Areas are computed on a grid of this share of the thickness."""


class Surface(NamedTuple):
    """Triangles, and the outlines (k, 3) of the flat areas that they make."""

    points: Points
    faces: Faces
    outline: tuple[Points, ...]


class _Plane(NamedTuple):
    normal: Points
    offset: float
    members: list[int]
    """Triangles that face the same way."""
    turned: list[int]
    """Triangles that face the other way."""


def without_skins(points: Points, faces: Faces, thickness: float) -> Surface:
    """Return a closed surface without its thinner parts.

    Args:
        points: shape (n, 3).
        faces: indices into points, shape (m, 3).
        thickness: also the width of triangles that are left out.
    """
    corners = points[faces]
    places: list[Points] = [np.zeros((0, 3))]
    outline: list[Points] = []
    for plane in _planes(corners, thickness):
        keep = _Flat.along(plane)
        grid = _GRID * thickness
        facing, opposing = (_area(keep.flat(corners[list(side)]), grid) for side in plane[2:])
        for shape, turned in (
            (shapely.difference(facing, opposing, grid_size=grid), False),
            (shapely.difference(opposing, facing, grid_size=grid), True),
        ):
            for part in shapely.get_parts(shape):
                # What a line of this width could cover is left of a skin's rim.
                if not isinstance(part, Polygon) or part.area <= thickness * part.length / 2:
                    continue
                rings = (part.exterior, *part.interiors)
                outline.extend(keep.lifted(np.array(ring.coords)) for ring in rings)
                # Each has three corners, the first of them twice.
                pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(part))
                flat = shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3]
                (ux, uy), (vx, vy) = (flat[:, 1] - flat[:, 0]).T, (flat[:, 2] - flat[:, 0]).T
                against = (ux * vy > uy * vx) == (turned != keep.mirrored)
                flat[against] = flat[against, ::-1]
                places.append(keep.lifted(flat.reshape(-1, 2)))
    corners_left = np.concatenate(places)
    return Surface(corners_left, np.arange(len(corners_left)).reshape(-1, 3), tuple(outline))


def _planes(corners: Points, thickness: float) -> list[_Plane]:
    """Return the planes of triangles, found from the largest ones; slivers have none."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.sqrt(np.sum(cross**2, axis=1))
    longest = np.sqrt(np.sum((corners - np.roll(corners, 1, axis=1)) ** 2, axis=2)).max(axis=1)
    unit = cross / np.maximum(double, 1e-300)[:, None]
    planes: list[_Plane] = []
    normals, offsets = np.zeros((len(corners), 3)), np.zeros(len(corners))
    for i in np.argsort(-double, kind="stable").tolist():
        if double[i] < thickness * longest[i]:
            continue
        n = len(planes)
        alike = normals[:n] @ unit[i]
        apart = np.abs(corners[i] @ normals[:n].T - offsets[:n]).max(axis=0)
        same = np.flatnonzero((np.abs(alike) > _ALIKE) & (apart < thickness))
        if len(same):
            plane = planes[int(same[0])]
            (plane.members if alike[same[0]] > 0 else plane.turned).append(i)
            continue
        normals[n], offsets[n] = unit[i], unit[i] @ corners[i].mean(axis=0)
        planes.append(_Plane(unit[i], float(offsets[n]), [i], []))
    return planes


class _Flat(NamedTuple):
    """A plane seen along the axis that it faces most."""

    normal: Points
    offset: float
    axis: int
    flat_axes: list[int]
    mirrored: bool
    """Whether what goes round against the clock, so seen, faces away from the normal."""

    @classmethod
    def along(cls, plane: _Plane) -> "_Flat":
        axis = int(np.argmax(np.abs(plane.normal)))
        flat_axes = [i for i in range(3) if i != axis]
        mirrored = bool((plane.normal[axis] > 0) == (axis == 1))
        return cls(plane.normal, plane.offset, axis, flat_axes, mirrored)

    def flat(self, corners: Points) -> Points:
        """Return points (..., 3) as they are seen, (..., 2)."""
        view: Points = corners[..., self.flat_axes]
        return view

    def lifted(self, view: Points) -> Points:
        """Return the points (k, 3) of the plane that are seen at these places (k, 2)."""
        points = np.zeros((len(view), 3))
        points[:, self.flat_axes] = view
        offset = self.offset - view @ self.normal[self.flat_axes]
        points[:, self.axis] = offset / self.normal[self.axis]
        return points


def _area(triangles: Points, grid: float) -> BaseGeometry:
    if not len(triangles):
        return Polygon()
    return shapely.union_all(shapely.polygons(triangles), grid_size=grid)
