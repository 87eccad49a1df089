"""Are the bars of a side of the cage bars: neither hairs nor straps, along both directions?

A side is cut parallel to its plane, just below the two faces of its bars. In both sections only
material counts that a square nearly as wide as a bar fits in. That material must stop a long block,
either way round, and no square much wider than a bar may fit on the section.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.interlocking_parts.columns import grown_box
from scbench.graders.interlocking_parts.part_meshes import Shell, normals_and_areas
from scbench.graders.shared.vectors import Array

# Width of a square that fits in every bar, that of one that fits on none, and how far below the
# faces the sections lie, in times the width of a bar.
NARROW = 0.95
WIDE = 2.5
DEPTH = 0.05
# Least part of a normal along the axis of faces that look along it.
_LEVEL = 0.999
# By how much, in mm, a bar that the square just fits on may be too narrow.
BAR_SLACK = 0.01
# Faces that are no more than this apart, in mm, are in one plane.
PLANE = 0.25
# Length of a square that contains every section, in mm.
_FAR = 1e5


class SideSections(NamedTuple):
    """The sections just below the two faces of a side's bars, empty where there is no face."""

    inner: CrossSection
    outer: CrossSection


def has_strap(
    sections: SideSections, face: CrossSection, bar: float, ignored: float
) -> bool:
    """Whether a square much wider than a bar fits on a side, in more than the ignored area."""
    for section in sections:
        places = fitting(section, WIDE * bar) ^ face
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
    """Whether a block that lies within a side's face gets in, one way round or the other.

    The shorter and the longer side of the block are given. It must get in at more places than an
    area that is ignored.
    """
    west, south, east, north = face.bounds()
    short, long = block
    for section in sections:
        bars = opened(section, NARROW * bar - BAR_SLACK)
        for x, y in ((short, long), (long, short)):
            width, height = east - west - x, north - south - y
            if min(width, height) <= 0:
                continue
            places = CrossSection.square((width, height))
            places = places.translate((west + x / 2, south + y / 2))
            free = places - grown_box(bars, x / 2, y / 2)
            if round(free.area(), 3) > ignored:
                return True
    return False


def sections_of(
    bodies: Sequence[Manifold], bar: float, low: float, high: float
) -> SideSections:
    """Return the sections of bodies whose side lies across z, in the layer between two heights.

    The faces are the planes with the largest area of facets in the layer, or up to a bar beyond its
    ends, of those that look down and of those that look up.
    """
    low, high = low - bar, high + bar
    shells = [shell_of(body) for body in bodies]
    sections = []
    for way in (-1.0, 1.0):
        plane = largest_plane(shells, way, low, high)
        section = CrossSection()
        if plane is not None:
            for body in bodies:
                section += body.slice(plane - way * DEPTH * bar)
        sections.append(section)
    return SideSections(*sections)


def shell_of(body: Manifold) -> Shell:
    """Return the surface of a body as a mesh."""
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties)[:, :3]
    return Shell(points, np.asarray(mesh.tri_verts).astype(np.int64))


def largest_plane(
    shells: Sequence[Shell], way: float, low: float, high: float
) -> float | None:
    """Return the height with the largest area of facets that look up (1) or down (-1)."""
    heights, areas = [np.zeros(0)], [np.zeros(0)]
    for shell in shells:
        normals, sizes = normals_and_areas(shell)
        middle = shell.points[shell.corners][:, :, 2].mean(axis=1)
        in_layer = (middle > low) & (middle < high)
        level = in_layer & (normals[:, 2] * way > _LEVEL)
        heights.append(middle[level])
        areas.append(sizes[level])
    return densest(np.concatenate(heights), np.concatenate(areas))


def densest(heights: Array, areas: Array) -> float | None:
    """Return the mean height in the fullest bin of a histogram of areas; None without any."""
    if not len(heights):
        return None
    bins = np.floor(np.round(heights / PLANE, 3)).astype(np.int64)
    names, place = np.unique(bins, return_inverse=True)
    totals = np.round(np.bincount(place, weights=areas), 3)
    rows = bins == names[int(np.argmax(totals))]
    return float(np.average(heights[rows], weights=areas[rows]))


def opened(section: CrossSection, side: float) -> CrossSection:
    """Return the part of a section that is covered by squares of this side that fit on it."""
    return grown_box(fitting(section, side), side / 2, side / 2)


def fitting(section: CrossSection, side: float) -> CrossSection:
    """Return where the centre of a square of this side may be, so that it fits on a section."""
    everything = CrossSection.square((_FAR, _FAR), center=True)
    return everything - grown_box(everything - section, side / 2, side / 2)
