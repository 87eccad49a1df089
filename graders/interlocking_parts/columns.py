"""Room for upright square columns next to a part, seen from above.

Spec: interlocking_parts, "Verification" 2, in its correct form.
"""

from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, FillRule, Manifold

from scbench.graders.interlocking_parts.print_checks import rounded_values
from scbench.graders.shared.vectors import Array
from scbench.schemas.interlocking_parts import Spacing

# Maximum number of corners of a shadow's outline: growing a longer one takes too long.
MAX_OUTLINE = 20_000
# Side of a square that contains every section, in mm.
_FAR = 1e5


class Openings(NamedTuple):
    """Where square columns of two sizes would miss a part."""

    free: float
    """Area of the places of the small column's centre where the column misses the part."""
    unblocked: float
    """Area of the places of the large column's centre where the column misses the part."""
    place: list[float] | None
    """A place for the large column: the centre of its largest such area."""


def openings(body: Manifold, core: Manifold, rules: Spacing) -> Openings | None:
    """Return where columns miss a part, centred on the bed; None if it is too complex.

    A square column with side s, upright and aligned with the axes, misses the part if its centre
    lies outside the part's shadow grown by s / 2 on all four sides. Only the core stops the large
    column.
    """
    shadow = layer_shadow(body, rules.height)
    core_shadow = layer_shadow(core, rules.height)
    if max(shadow.num_vert(), core_shadow.num_vert()) > MAX_OUTLINE:
        return None
    west, south, _, east, north, _ = body.bounding_box()
    to_middle = (-(west + east) / 2, -(south + north) / 2)
    shadow = shadow.translate(to_middle)
    core_shadow = core_shadow.translate(to_middle)
    size = (east - west, north - south)
    free = free_places(shadow, rules.free, rules.free_reach, size)
    unblocked = free_places(core_shadow, rules.blocked, rules.blocked_reach, size)
    # Adding 0.0 turns -0.0 into 0.0.
    free_area = round(free.area(), 3) + 0.0
    unblocked_area = round(unblocked.area(), 3) + 0.0
    return Openings(free_area, unblocked_area, centre_of_largest(unblocked))


def centre_of_largest(areas: CrossSection) -> list[float] | None:
    """Return the centre of the bounds of the largest connected area; None if there is no area."""
    # Areas that differ only by rounding errors count as equal, and the first one is taken.
    largest = max(
        areas.decompose(), key=lambda piece: round(piece.area(), 3), default=None
    )
    if largest is None:
        return None
    west, south, east, north = largest.bounds()
    return rounded_values(np.array([west + east, south + north]) / 2, 3)


def layer_shadow(body: Manifold, height: float) -> CrossSection:
    """Return the shadow along z of the part of a body between -height and height."""
    above = body.trim_by_plane((0, 0, 1), -height)
    return above.trim_by_plane((0, 0, -1), -height).project()


def free_places(
    shadow: CrossSection, side: float, reach: float, size: tuple[float, float]
) -> CrossSection:
    """Return the places of a column's centre where the column does not touch a shadow.

    They are at most ``reach`` from 0 in x and y. The column stays within the bounding box of the
    part, which has this size.
    """
    width, depth = (min(2 * reach, length - side) for length in size)
    if min(width, depth) <= 0:
        return CrossSection()
    places = CrossSection.square((width, depth), center=True)
    return places - dilate(shadow, side / 2)


def dilate(shape: CrossSection, by: float) -> CrossSection:
    """Return the Minkowski sum of a shape and a square, from -by to by along both axes."""
    outlines = [np.asarray(outline, np.float64) for outline in shape.to_polygons()]
    if not outlines:
        return shape
    # The sum is the shape itself and the area that the square sweeps along the outlines. All
    # their sides are swept together: a shape may have hundreds of outlines.
    starts = np.concatenate(outlines)
    ends = np.concatenate([np.roll(outline, -1, axis=0) for outline in outlines])
    swept = swept_squares(starts, ends, by)
    return CrossSection(list(swept), FillRule.NonZero) + shape


def dilate_by_rectangle(shape: CrossSection, x: float, y: float) -> CrossSection:
    """Return the Minkowski sum of a shape and the rectangle from (-x, -y) to (x, y)."""
    # Stretched so that the rectangle is a square.
    stretched = shape.scale((1.0, x / y))
    return dilate(stretched, x).scale((1.0, y / x))


def swept_squares(starts: Array, ends: Array, by: float) -> Array:
    """Return the corners (k, 6, 2) of the areas that a square sweeps along segments (k, 2).

    Each is the hull of the square at both ends: a hexagon whose corners follow from the slope.
    """
    goes_left = (starts[:, 0] > ends[:, 0])[:, None]
    west = np.where(goes_left, ends, starts)
    east = np.where(goes_left, starts, ends)
    hexagons = np.stack([west, west, east, east, east, west], axis=1)
    up = np.where(east[:, 1] >= west[:, 1], 1.0, -1.0)
    hexagons[:, :, 0] += by * np.array([-1, 1, 1, 1, -1, -1])
    hexagons[:, :, 1] += by * up[:, None] * np.array([-1, -1, -1, 1, 1, 1])
    # Counter-clockwise, whether a segment rises or falls.
    falls = up < 0
    hexagons[falls] = hexagons[falls, ::-1]
    return hexagons


def morphological_opening(section: CrossSection, side: float) -> CrossSection:
    """Return the area covered by all squares of this side that fit on a section."""
    return dilate_by_rectangle(erode(section, side), side / 2, side / 2)


def erode(section: CrossSection, side: float) -> CrossSection:
    """Return the places of the centre of a square of this side at which it fits on a section."""
    everything = CrossSection.square((_FAR, _FAR), center=True)
    return everything - dilate_by_rectangle(everything - section, side / 2, side / 2)
