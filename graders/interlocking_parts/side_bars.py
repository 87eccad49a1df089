"""Checks that the bars of a side of the cage are not hairs, straps or sheets.

A side is cut parallel to its plane, just below the two faces of its bars. In both sections,
material counts only where a square nearly as wide as a bar fits in. That material must stop a long
block in both orientations. No square much wider than a bar may fit on the section. The faces must
be as far apart as a bar is thick, and material must fill the bars between them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.interlocking_parts.columns import (
    dilate_by_rectangle,
    erode,
    morphological_opening,
)
from scbench.graders.interlocking_parts.part_meshes import (
    Shell,
    normals_and_areas,
    shell_of,
)
from scbench.graders.shared.mesh_bodies import volume
from scbench.graders.shared.vectors import Array

# In multiples of a bar's width: the width of a square that fits in every bar, the width of a square
# that fits on none, and the depth of the sections below the faces.
NARROW = 0.95
WIDE = 2.5
DEPTH = 0.05
# A face is level if its normal has at least this component along z.
_LEVEL = 0.999
# By how much, in mm, a bar may be narrower than the square that must fit in it.
BAR_SLACK = 0.01
# Faces at most this far apart, in mm, are in one plane.
PLANE = 0.25
# Minimum share of material in a side's bars, between its two faces.
FILLED = 0.9
_THICKNESS_DECIMALS = 2


class SideSections(NamedTuple):
    """The sections just below the two faces of a side's bars, empty where there is no face."""

    lower: CrossSection
    upper: CrossSection


class SideBars(NamedTuple):
    """The bars of a side that lies across z."""

    sections: SideSections
    faces: tuple[float, float] | None
    """Heights of the lower and the upper face; None if one of them is missing."""


def thickness_fault(
    bars: SideBars,
    bodies: Sequence[Manifold],
    face: CrossSection,
    wanted: Sequence[float],
) -> str:
    """Return why the bars of a side do not have the required thickness, or an empty text.

    The text follows the name of the side. ``bodies`` are the parts, turned so that the side lies
    across z.
    """
    if bars.faces is None:
        return ""
    low, high = bars.faces
    section_area = min((section ^ face).area() for section in bars.sections)
    if round(section_area, 3) == 0:
        # There are no bars. The criterion on the gaps reports that.
        return ""
    thickness = round(high - low, _THICKNESS_DECIMALS)
    if not wanted[0] <= thickness <= wanted[1]:
        return f"has bars that are {thickness:g} mm thick"
    west, south, east, north = face.bounds()
    slab = Manifold.cube((east - west, north - south, high - low))
    slab = slab.translate((west, south, low))
    material = sum(volume(body ^ slab) for body in bodies)
    if round(material, 3) < round(FILLED * section_area * (high - low), 3):
        return "has hollow bars"
    return ""


def has_strap(
    sections: SideSections, face: CrossSection, bar: float, ignored: float
) -> bool:
    """Whether a square much wider than a bar fits on a side, over more than the ignored area."""
    for section in sections:
        places = erode(section, WIDE * bar) ^ face
        if round(places.area(), 3) > ignored:
            return True
    return False


def has_slot(
    sections: SideSections,
    face: CrossSection,
    bar: float,
    block: tuple[float, float],
    ignored: float,
) -> bool:
    """Whether a block that lies within a side's face gets in, in either orientation.

    ``block`` is its shorter and its longer side. The places at which it gets in must have a larger
    area than the one that is ignored.
    """
    west, south, east, north = face.bounds()
    short, long = block
    for section in sections:
        bars = morphological_opening(section, NARROW * bar - BAR_SLACK)
        for x, y in ((short, long), (long, short)):
            width = east - west - x
            height = north - south - y
            if min(width, height) <= 0:
                continue
            places = CrossSection.square((width, height))
            places = places.translate((west + x / 2, south + y / 2))
            free = places - dilate_by_rectangle(bars, x / 2, y / 2)
            if round(free.area(), 3) > ignored:
                return True
    return False


def bars_of(
    bodies: Sequence[Manifold], bar: float, low: float, high: float
) -> SideBars:
    """Return the bars of bodies whose side lies across z, in the layer between two heights.

    The lower face is the plane with the largest area of facets that face down, the upper face that
    of facets that face up. Facets count if they are in the layer or at most a bar beyond its ends.
    """
    shells = [shell_of(body) for body in bodies]
    lower = largest_plane(shells, -1.0, low - bar, high + bar)
    upper = largest_plane(shells, 1.0, low - bar, high + bar)
    below_upper = CrossSection()
    above_lower = CrossSection()
    for body in bodies:
        if lower is not None:
            above_lower += body.slice(lower + DEPTH * bar)
        if upper is not None:
            below_upper += body.slice(upper - DEPTH * bar)
    faces = None if lower is None or upper is None else (lower, upper)
    return SideBars(SideSections(above_lower, below_upper), faces)


def largest_plane(
    shells: Sequence[Shell], way: float, low: float, high: float
) -> float | None:
    """Return the height with the largest area of facets that face up (1) or down (-1)."""
    heights = [np.zeros(0)]
    areas = [np.zeros(0)]
    for shell in shells:
        normals, sizes = normals_and_areas(shell)
        middle = shell.points[shell.corners][:, :, 2].mean(axis=1)
        in_layer = (middle > low) & (middle < high)
        is_level = in_layer & (normals[:, 2] * way > _LEVEL)
        heights.append(middle[is_level])
        areas.append(sizes[is_level])
    return height_of_fullest_bin(np.concatenate(heights), np.concatenate(areas))


def height_of_fullest_bin(heights: Array, areas: Array) -> float | None:
    """Return the mean height in the fullest bin of a histogram of areas; None without areas."""
    if not len(heights):
        return None
    bins = np.floor(np.round(heights / PLANE, 3)).astype(np.int64)
    bin_numbers, place = np.unique(bins, return_inverse=True)
    totals = np.round(np.bincount(place, weights=areas), 3)
    in_fullest = bins == bin_numbers[int(np.argmax(totals))]
    return float(np.average(heights[in_fullest], weights=areas[in_fullest]))
