"""Polygons with holes in flat drawings."""

from collections.abc import Sequence

import shapely
from shapely import Geometry, Polygon
from shapely.geometry.polygon import orient

from scbench.report.draw.svg import Drawing

# Areas up to this one, in square pixels, are too small to be seen.
_SPECK = 0.05


def fill(
    drawing: Drawing,
    shape: Geometry,
    role: str,
    *,
    opacity: float = 1,
    hatched: bool = False,
) -> None:
    """Fill or hatch all polygons of a shape, in the task's coordinates; holes stay empty."""
    for part in shapely.get_parts(shape):
        if isinstance(part, Polygon) and part.area * drawing.scale**2 > _SPECK:
            drawing.area(outline_of(part), role, opacity=opacity, hatched=hatched)


def outline_of(polygon: Polygon) -> list[Sequence[float]]:
    """Return a polygon as one ring, with invisible cuts to its holes."""
    # Holes run in the opposite direction to the outline, so that any fill rule leaves
    # them empty.
    turned = orient(polygon)
    ring: list[Sequence[float]] = list(turned.exterior.coords)
    for hole in turned.interiors:
        ring = [ring[0], *hole.coords, *ring]
    return ring
