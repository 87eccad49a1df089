"""The core of a part: everything that a small cube sweeps on its way through the part.

The core excludes hairs, thin sheets, and anything that only they connect. A part is cut into
horizontal slabs between the heights of its corners. Within a slab, all sections are treated as
equal, so slabs with slanted surfaces are cut again. The core is exact where surfaces are upright or
level.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold, OpType

from scbench.graders.interlocking_parts.columns import dilate, erode
from scbench.graders.interlocking_parts.part_meshes import (
    Shell,
    normals_and_areas,
    shell_of,
    triangles_of,
)
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.vectors import Array, Indices

# Side of the cube, in mm: the width of a line of plastic that a printer lays.
CUBE = 0.4
# Heights are counted in thousandths of a mm.
_SCALE = 1000
# The cube is a little smaller than stated, to allow for rounding.
_SIDE = round(CUBE * _SCALE) - 1
# Where surfaces slant, slabs are at most this high.
_SLANTED_SLAB = _SIDE
# Largest |z| of normals of upright surfaces.
_UPRIGHT = 1e-4
# Maximum slabs of a part, corners of all their sections, and pairs of a span and a slab.
MOST_SLABS = 2_000
MOST_CORNERS = 400_000
_MOST_CROSSINGS = 20_000
# Maximum regions of a part: connected places of the cube in one span.
MOST_REGIONS = 10_000
# Corners at most this far off a straight line or plane, in mm, are left out.
_SEAM = 1e-4
# Regions that share less area, in mm², only touch.
_AREA_DECIMALS = 6


class Span(NamedTuple):
    """A range of heights of the cube's bottom in which the cube meets the same slabs."""

    low: int
    high: int
    first: int
    """The lowest of these slabs."""
    last: int
    """The highest of these slabs."""


class Region(NamedTuple):
    """Connected places of the cube's axis while its bottom is in one span."""

    span: int
    """Position of the span."""
    places: CrossSection


def core_of(body: Manifold) -> Manifold | None:
    """Return the core of a part; empty if the cube fits nowhere, None if it is too complex."""
    levels = slab_ends(shell_of(body))
    if len(levels) > MOST_SLABS:
        return None
    spans = spans_between(levels)
    if sum(span.last - span.first + 1 for span in spans) > _MOST_CROSSINGS:
        return None
    middles = (levels[1:] + levels[:-1]) / 2 / _SCALE
    sections = [body.slice(height) for height in middles.tolist()]
    if sum(section.num_vert() for section in sections) > MOST_CORNERS:
        return None
    places = [erode(section, _SIDE / _SCALE) for section in sections]
    regions = regions_in(spans, places)
    if len(regions) > MOST_REGIONS:
        return None
    return swept_solid(levels, spans, largest_connected(spans, regions))


def slab_ends(shell: Shell) -> Indices:
    """Return the heights (n,) between which slabs lie, ascending, in thousandths of a mm."""
    heights = np.round(triangles_of(shell)[:, :, 2] * _SCALE).astype(np.int64)
    ends = np.unique(heights)
    normals, _ = normals_and_areas(shell)
    lowest = heights.min(axis=1)
    highest = heights.max(axis=1)
    is_slanted = (np.abs(normals[:, 2]) > _UPRIGHT) & (lowest < highest)
    # A slab has slanted triangles if more of them have begun than ended at its lower end.
    begun = np.searchsorted(np.sort(lowest[is_slanted]), ends, side="right")
    ended = np.searchsorted(np.sort(highest[is_slanted]), ends, side="right")
    cuts = [ends]
    for i in np.flatnonzero(begun > ended).tolist():
        low, high = ends[i : i + 2].tolist()
        count = math.ceil((high - low) / _SLANTED_SLAB)
        cuts.append(np.linspace(low, high, count + 1).round().astype(np.int64))
    return np.unique(np.concatenate(cuts))


def spans_between(levels: Indices) -> list[Span]:
    """Return the spans of the cube in slabs with these ends, ascending."""
    if len(levels) == 0:
        return []
    bottoms = np.unique(np.concatenate([levels, levels - _SIDE]))
    bottoms = bottoms[(bottoms >= levels[0]) & (bottoms <= levels[-1] - _SIDE)]
    spans = []
    for low, high in pairwise(bottoms.tolist()):
        first = int(np.searchsorted(levels, low, side="right")) - 1
        last = int(np.searchsorted(levels, high + _SIDE, side="left")) - 1
        spans.append(Span(low, high, first, last))
    return spans


def regions_in(spans: Sequence[Span], places: Sequence[CrossSection]) -> list[Region]:
    """Return the regions of all spans; ``places`` has those that each slab alone allows."""
    regions = []
    for k, span in enumerate(spans):
        free = places[span.first]
        for slab in range(span.first + 1, span.last + 1):
            free = free ^ places[slab]
        regions += [Region(k, piece) for piece in free.decompose()]
    return regions


def largest_connected(spans: Sequence[Span], regions: Sequence[Region]) -> list[Region]:
    """Return the connected regions with the largest total volume."""
    if not regions:
        return []
    label = components(len(regions), touching_regions(regions))
    sizes = []
    for region in regions:
        span = spans[region.span]
        sizes.append(region.places.area() * (span.high - span.low) / _SCALE)
    totals = np.round(np.bincount(label, weights=sizes), 3)
    best = int(np.argmax(totals))
    return [regions[i] for i in np.flatnonzero(label == best).tolist()]


def touching_regions(regions: Sequence[Region]) -> Indices:
    """Return pairs (p, 2) of regions in neighbouring spans that share places."""
    span = np.array([region.span for region in regions])
    bounds = np.array([region.places.bounds() for region in regions])
    pairs = []
    for i, region in enumerate(regions):
        start, end = np.searchsorted(span, [region.span + 1, region.span + 2])
        above = bounds[start:end]
        meets = (above[:, :2] <= bounds[i, 2:]) & (above[:, 2:] >= bounds[i, :2])
        for j in (start + np.flatnonzero(meets.all(axis=1))).tolist():
            common = (region.places ^ regions[j].places).area()
            if round(common, _AREA_DECIMALS) > 0:
                pairs.append((i, j))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def swept_solid(
    levels: Indices, spans: Sequence[Span], regions: Sequence[Region]
) -> Manifold:
    """Return the solid that the cube sweeps in some regions."""
    in_slab: dict[int, list[CrossSection]] = {}
    for region in regions:
        span = spans[region.span]
        for slab in range(span.first, span.last + 1):
            in_slab.setdefault(slab, []).append(region.places)
    layers = []
    heights: Array = levels / _SCALE
    for slab, places in sorted(in_slab.items()):
        low, high = heights[slab : slab + 2].tolist()
        all_places = CrossSection.batch_boolean(places, OpType.Add)
        swept = dilate(all_places, _SIDE / _SCALE / 2).simplify(_SEAM)
        layers.append(swept.extrude(high - low).translate((0, 0, low)))
    # Faces that lie in one plane are joined, because most slabs differ only in a few corners.
    return Manifold.batch_boolean(layers, OpType.Add).as_original().simplify(_SEAM)
