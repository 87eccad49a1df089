"""Shadows as polygons, and measures of how well their union covers a target.

GEOS computes overlays in double precision; for shapes a few units wide, areas are
accurate to about 1e-12. Areas are rounded to 9 digits, so that no score depends on the
version of GEOS.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Geometry, Polygon

from scbench.graders.tetrahedra_shadow_projection.bodies import Floats

Shapes = NDArray[np.object_]
# A shape with a smaller share of its area on the target is a stray.
STRAY = 0.1
# Areas are rounded to this many digits.
_DIGITS = 9


class Cover(NamedTuple):
    """A union S of shapes compared with a target T, as areas and as polygons, largest first."""

    covered: float
    difference: float
    """(S or T) that is not in (S and T) grown by a square."""
    spill: float
    """The part of the difference outside T."""
    gaps: list[Polygon]
    """T outside S."""
    spills: list[Polygon]
    strays: float
    """Of the spill, the part that only strays cast."""
    stray: list[int]
    """Positions of shapes that are strays."""


def outlines(bodies: Floats) -> Shapes:
    """Return the shadow of every body, straight down the z axis, as an array of polygons."""
    return np.asarray(shapely.convex_hull(shapely.multipoints(bodies[:, :, :2])))


def cover(target: Polygon, shapes: Shapes, slack: float) -> Cover:
    """Compare polygons with a target polygon, holes allowed.

    ``slack`` is half the side of the square that grows the covered part in ``difference``.
    """
    union = shapely.union_all(shapes)
    covered = shapely.intersection(union, target)
    either = shapely.symmetric_difference(union, target)
    far = either
    sweeps = swept_edges(polygons(covered), slack)
    if len(sweeps):
        # Growing a shape adds only the area that its boundary sweeps, and only parts
        # that meet the difference matter.
        near = sweeps[shapely.STRtree(sweeps).query(either, predicate="intersects")]
        far = shapely.difference(either, shapely.union_all(near))
    outside = shapely.difference(far, target)
    on_target = shapely.area(shapely.intersection(shapes, target))
    stray = on_target < STRAY * shapely.area(shapes)
    of_strays: Geometry = Polygon()
    if stray.any():
        no_strays = shapely.union_all(shapes[~stray])
        of_strays = shapely.difference(outside, no_strays)
    return Cover(
        covered=area(covered),
        difference=area(far),
        spill=area(outside),
        gaps=polygons(shapely.difference(target, union)),
        spills=polygons(outside),
        strays=area(of_strays),
        stray=np.flatnonzero(stray).tolist(),
    )


def swept_edges(shapes: Iterable[Polygon], slack: float) -> Shapes:
    """Return, for every edge of polygons, the area that a square sweeps along it.

    ``slack`` is half the side of the square.
    """
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * slack
    swept = []
    for shape in shapes:
        for ring in (shape.exterior, *shape.interiors):
            corners = shapely.get_coordinates(ring)[:, None] + square
            swept.append(np.concatenate([corners[:-1], corners[1:]], axis=1))
    if not swept:
        return np.array([], dtype=np.object_)
    # A square that moves along an edge sweeps the hull of its corners at both ends.
    both_ends = shapely.multipoints(np.concatenate(swept))
    return np.asarray(shapely.convex_hull(both_ends))


def area(shape: Geometry) -> float:
    """Return the area of a shape, rounded to 9 digits."""
    return round(float(shapely.area(shape)), _DIGITS)


def polygons(shape: Geometry) -> list[Polygon]:
    """Return the parts of a shape that have an area of 1e-9 or more, largest first."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, Polygon)]
    visible = [part for part in parts if area(part) > 0]
    return sorted(visible, key=area, reverse=True)


def polygon_rings(shapes: Iterable[Polygon], points: int) -> list[dict[str, Any]]:
    """Return the first polygons as JSON values for a picture: rings of points rounded to 4 digits.

    The polygons that are returned have at most ``points`` points in total.
    """
    figures: list[dict[str, Any]] = []
    for shape in shapes:
        rings = []
        for ring in (shape.exterior, *shape.interiors):
            corners = shapely.get_coordinates(ring)[:-1]
            points -= len(corners)
            rings.append(np.round(corners, 4).tolist())
        if points < 0:
            break
        exterior, *holes = rings
        figures.append({"exterior": exterior, "holes": holes})
    return figures
