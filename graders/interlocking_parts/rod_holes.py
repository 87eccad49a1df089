"""Which rods do the parts go all the way around?

A part goes around a rod at some height if its horizontal section there has a hole that contains the
rod's axis and lies within a circle around it. In most directions the material around the hole must
be more than a hair.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.shared.vectors import Array
from scbench.schemas.interlocking_parts import Params

# Most heights at which a part is cut around a rod.
_MOST_CUTS = 400
# Heights of vertices are rounded to so many decimals; sections between two of them are equal.
_DECIMALS = 3
# By how much, in mm, a hole may reach out of the circle: rounding of a part and of its place.
HOLE_SLACK = 0.01
# Least material around a rod, in times the width of a bar, and in which share of all directions.
# The tip of a hole that prints lying may be nearer to the surface.
WALL = 0.05
WALL_SHARE = 0.9
_DIRECTIONS = 720


def rods_around(
    params: Params, body: Manifold, places: Sequence[Sequence[float]]
) -> int:
    """Return how many rods a part in its place goes around, given x and y of their axes.

    It counts heights within the reach of the rods, which together are at least half a bar.
    """
    count = 0
    for place in places:
        if height_around(params, body, np.array(place)) >= params.bar / 2:
            count += 1
    return count


def height_around(params: Params, body: Manifold, axis: Array) -> float:
    """Return the total height over which a part goes around the rod at x and y (2,)."""
    radius = params.rods.gripped / 2 + HOLE_SLACK
    low, high = params.rods.gripped_z
    column = Manifold.cube((2 * radius, 2 * radius, high - low))
    around = body ^ column.translate((*(axis - radius), low))
    levels = np.asarray(around.to_mesh64().vert_properties)[:, 2]
    levels = np.unique(np.round(levels, _DECIMALS))
    if len(levels) > _MOST_CUTS + 1:
        levels = np.linspace(levels[0], levels[-1], _MOST_CUTS + 1)
    total = 0.0
    for start, end in pairwise(levels.tolist()):
        section = around.slice((start + end) / 2)
        if not has_hole_around(section, axis, radius):
            continue
        walls = walls_around(section, axis, radius)
        if np.mean(walls >= WALL * params.bar) >= WALL_SHARE:
            total += end - start
    return round(total, _DECIMALS)


def has_hole_around(section: CrossSection, axis: Array, radius: float) -> bool:
    """Whether a section has a hole around a point (2,) that lies within a circle around it."""
    for outline in section.to_polygons():
        corners = np.asarray(outline, dtype=np.float64) - axis
        if np.any(np.sum(corners**2, axis=1) > radius**2):
            continue
        after = np.roll(corners, -1, axis=0)
        # Holes are clockwise.
        turns = corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]
        if turns.sum() < 0 and contains_origin(corners, after):
            return True
    return False


def walls_around(section: CrossSection, axis: Array, radius: float) -> Array:
    """Return how much material (n,) is within a circle, in directions all around a point (2,)."""
    outlines = [
        np.asarray(outline, dtype=np.float64) - axis
        for outline in section.to_polygons()
    ]
    starts = np.concatenate(outlines)
    ends = np.concatenate([np.roll(outline, -1, axis=0) for outline in outlines])
    # Between two of the directions that corners of regular outlines have.
    angles = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    x, y = np.cos(angles)[:, None], np.sin(angles)[:, None]
    # How far the ends of each side lie to the left of each direction.
    left, left_after = (x * p[:, 1] - y * p[:, 0] for p in (starts, ends))
    crosses = (left > 0) != (left_after > 0)
    share = left / np.where(crosses, left - left_after, 1.0)
    along, along_after = (x * p[:, 0] + y * p[:, 1] for p in (starts, ends))
    distance = along + share * (along_after - along)
    # A ray leaves material where a side runs to its left, and enters it where one runs back.
    way = np.where(left_after > 0, 1.0, -1.0)
    reached = np.where(crosses & (distance > 0), np.minimum(distance, radius), 0.0)
    walls: Array = np.round(np.sum(way * reached, axis=1), _DECIMALS)
    return walls


def contains_origin(starts: Array, ends: Array) -> bool:
    """Whether the origin lies in a polygon with these sides (k, 2): a ray crosses an odd number."""
    crosses = (starts[:, 1] > 0) != (ends[:, 1] > 0)
    a, b = starts[crosses], ends[crosses]
    x = a[:, 0] - a[:, 1] * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    return bool(np.count_nonzero(x > 0) % 2)
