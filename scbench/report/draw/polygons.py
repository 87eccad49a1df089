"""Polygons with holes in flat drawings."""

from collections.abc import Sequence

import shapely
from shapely import Geometry, Polygon
from shapely.geometry.polygon import orient

from scbench.report.draw.svg import Drawing

# Areas, in square pixels, that are too small to be seen.
_SPECK = 0.05


def fill(
    drawing: Drawing,
    shape: Geometry,
    role: str,
    *,
    opacity: float = 1,
    hatched: bool = False,
) -> None:
    """Fill or hatch all polygons of a shape, in the task's coordinates; holes stay free."""
    for part in shapely.get_parts(shape):
        if isinstance(part, Polygon) and part.area * drawing.scale**2 > _SPECK:
            drawing.area(outline_of(part), role, opacity=opacity, hatched=hatched)


def outline_of(polygon: Polygon) -> list[Sequence[float]]:
    """Return a polygon as one ring, with its holes reached by cuts along which nothing shows."""
    # Holes run the other way round than the outline, so that any fill rule leaves them free.
    turned = orient(polygon)
    ring: list[Sequence[float]] = list(turned.exterior.coords)
    for hole in turned.interiors:
        ring = [ring[0], *hole.coords, *ring]
    return ring
