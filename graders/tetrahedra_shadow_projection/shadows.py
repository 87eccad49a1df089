"""How well a union of flat convex shapes covers a target: areas of the plane.

Overlays are those of GEOS in double precision; on shapes a few units wide the areas are right to
about 1e-12, and they are rounded to 9 digits, so that they do not depend on the GEOS version.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Geometry, Polygon

_DIGITS = 9


class Cover(NamedTuple):
    """What a union S of shapes makes of a target T.

    Attributes:
        covered: area of S and T.
        difference: area of (S or T) that is not in (S and T) grown by a square.
        spill: the part of ``difference`` that lies outside T.
        gaps: polygons of T outside S, largest first.
        spills: polygons of the part outside T, largest first.
    """

    covered: float
    difference: float
    spill: float
    gaps: list[Polygon]
    spills: list[Polygon]


def area(shape: Geometry) -> float:
    """Return the area of a shape, rounded to 9 digits."""
    return round(float(shapely.area(shape)), _DIGITS)


def cover(target: Polygon, shapes: NDArray[np.object_], slack: float) -> Cover:
    """Compare shapes with a target.

    Args:
        target: a polygon, holes allowed.
        shapes: array of polygons.
        slack: half the side of the square that grows the covered part in ``difference``.
    """
    union = shapely.union_all(shapes)
    covered = shapely.intersection(union, target)
    either = shapely.symmetric_difference(union, target)
    far = either
    sweeps = swept_edges(polygons(covered), slack)
    if len(sweeps):
        # Growing adds to a shape only what its boundary sweeps; only what meets the difference
        # matters.
        near = sweeps[shapely.STRtree(sweeps).query(either, predicate="intersects")]
        far = shapely.difference(either, shapely.union_all(near))
    outside = shapely.difference(far, target)
    return Cover(
        covered=area(covered),
        difference=area(far),
        spill=area(outside),
        gaps=polygons(shapely.difference(target, union)),
        spills=polygons(outside),
    )


def swept_edges(shapes: Iterable[Polygon], slack: float) -> NDArray[np.object_]:
    """Return, for every edge of polygons, what a square of half side ``slack`` sweeps along it."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * slack
    swept = []
    for shape in shapes:
        for ring in (shape.exterior, *shape.interiors):
            points = shapely.get_coordinates(ring)
            ends = points[:-1, None] + square, points[1:, None] + square
            swept.append(np.concatenate(ends, axis=1))
    if not swept:
        return np.array([], dtype=np.object_)
    return np.asarray(shapely.convex_hull(shapely.multipoints(np.concatenate(swept))))


def polygons(shape: Geometry) -> list[Polygon]:
    """Return the parts of a shape that have an area of 1e-9 or more, largest first."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, Polygon)]
    return sorted((p for p in parts if area(p) > 0), key=area, reverse=True)


def polygon_rings(shapes: Iterable[Polygon], points: int) -> list[dict[str, Any]]:
    """Return polygons as JSON values for a picture: rings of points rounded to 4 digits.

    Args:
        shapes: polygons; the first ones are taken.
        points: how many points there may be in all.
    """
    figures: list[dict[str, Any]] = []
    for shape in shapes:
        rings = [shapely.get_coordinates(r)[:-1] for r in (shape.exterior, *shape.interiors)]
        points -= sum(map(len, rings))
        if points < 0:
            break
        lists = [np.round(ring, 4).tolist() for ring in rings]
        figures.append({"exterior": lists[0], "holes": lists[1:]})
    return figures
