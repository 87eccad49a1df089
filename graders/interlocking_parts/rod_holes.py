"""Finding the rods that parts go all the way around.

A part goes around a rod at some height if the horizontal section of its core there leaves the rod's
axis free, but has material near the axis in nearly all directions.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.shared.vectors import Array
from scbench.schemas.interlocking_parts import Params

# Maximum number of heights at which a part is cut around a rod.
_MOST_CUTS = 400
# Heights of vertices are rounded to this many decimals; sections between two of them are equal.
_DECIMALS = 3
# Distance in mm by which a hole may extend beyond the circle, for the rounding of parts and places.
HOLE_SLACK = 0.01
# Share of the directions in which there must be material. The tip of a hole that is printed lying
# down may be so close to the surface that it is open.
AROUND_SHARE = 0.9
_DIRECTIONS = 720


def rods_around(
    params: Params, core: Manifold, places: Sequence[Sequence[float]]
) -> int:
    """Return how many rods a placed part goes around, given x and y of their axes.

    A part goes around a rod if it does so over a total height of at least half a bar, within the
    height range where rods are gripped.
    """
    count = 0
    for place in places:
        if height_around(params, core, np.array(place)) >= params.bar / 2:
            count += 1
    return count


def height_around(params: Params, core: Manifold, axis: Array) -> float:
    """Return the total height over which a part goes around the rod at x and y (2,)."""
    radius = params.rods.gripped / 2 + HOLE_SLACK
    low, high = params.rods.gripped_z
    column = Manifold.cube((2 * radius, 2 * radius, high - low))
    around = core ^ column.translate((*(axis - radius), low))
    levels = np.asarray(around.to_mesh64().vert_properties)[:, 2]
    levels = np.unique(np.round(levels, _DECIMALS))
    if len(levels) > _MOST_CUTS + 1:
        levels = np.linspace(levels[0], levels[-1], _MOST_CUTS + 1)
    total = 0.0
    for start, end in pairwise(levels.tolist()):
        section = around.slice((start + end) / 2)
        if share_around(section, axis, radius) >= AROUND_SHARE:
            total += end - start
    return round(total, _DECIMALS)


def share_around(section: CrossSection, axis: Array, radius: float) -> float:
    """Return the share of directions in which a section is near a point (2,).

    "Near" means within the radius. The share is 0 if the section covers the point.
    """
    outlines = [
        np.asarray(outline, dtype=np.float64) - axis
        for outline in section.to_polygons()
    ]
    if not outlines:
        return 0.0
    starts = np.concatenate(outlines)
    ends = np.concatenate([np.roll(outline, -1, axis=0) for outline in outlines])
    # Half a step off the directions in which corners of regular outlines lie.
    angles = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    along = np.stack([np.cos(angles), np.sin(angles)])
    across = np.stack([-np.sin(angles), np.cos(angles)])
    # The ends (k, directions) of all sides, seen in each direction: how far to the left they lie.
    start_left = starts @ across
    end_left = ends @ across
    crosses_line = (start_left > 0) != (end_left > 0)
    weight = start_left / np.where(crosses_line, start_left - end_left, 1.0)
    distance = starts @ along + weight * ((ends - starts) @ along)
    crosses_ray = crosses_line & (distance > 0)
    # Rays from a point in material leave it once more than they enter it.
    if np.count_nonzero(crosses_ray[:, 0]) % 2:
        return 0.0
    is_near = np.any(crosses_ray & (distance <= radius), axis=0)
    return float(np.mean(is_near))
