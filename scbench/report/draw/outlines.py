"""Shapes with holes for flat drawings."""

from collections.abc import Sequence

import shapely
from shapely import Geometry, Polygon
from shapely.geometry.polygon import orient

from scbench.report.draw.svg import Drawing

_SPECK = 0.05
"""Areas, in square pixels, that are too small to be seen."""


def fill(
    drawing: Drawing, shape: Geometry, role: str, *, opacity: float = 1, hatched: bool = False
) -> None:
    """Fill or hatch all polygons of a shape, in the task's coordinates; holes stay free."""
    for part in shapely.get_parts(shape):
        if isinstance(part, Polygon) and part.area * drawing.scale**2 > _SPECK:
            drawing.area(_without_holes(part), role, opacity=opacity, hatched=hatched)


def _without_holes(shape: Polygon) -> list[Sequence[float]]:
    """Return a polygon's outline, with its holes reached by cuts along which nothing shows.

    Holes run the other way round than the outline, so that any fill rule leaves them free.
    """
    turned = orient(shape)
    ring: list[Sequence[float]] = list(turned.exterior.coords)
    for hole in turned.interiors:
        ring = [ring[0], *hole.coords, *ring]
    return ring
