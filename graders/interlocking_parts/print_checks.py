"""How a part lies on the printer's bed: contact, balance, overhangs, and gaps seen from above.

Spec: interlocking_parts, "Verification" 1 and 2, in their correct form.
"""

from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, FillRule, Manifold

from scbench.graders.interlocking_parts.triangle_meshes import (
    Shell,
    centroid,
    components,
    neighbours,
    normals_and_areas,
    triangles_of,
)
from scbench.graders.shared.meshes import Array, Indices
from scbench.schemas.interlocking_parts import Printing, Spacing

MAX_OUTLINE = 20_000
_NEAR = 1e-6


class Overhang(NamedTuple):
    """A patch of surface that would be printed on air."""

    width: float
    """Of the narrowest strip that covers it, seen from above."""
    area: float
    low: list[float]
    high: list[float]
    """Corners of its bounding box."""


class Lie(NamedTuple):
    """How a part lies on the bed."""

    size: list[float]
    lowest: float
    contact: float
    """Area on the bed."""
    centre: list[float]
    """x and y of the centre of mass."""
    steady: bool
    """Whether that is above the contact's convex hull."""
    overhangs: list[Overhang]
    """Those too wide to bridge, the widest first."""


class Openings(NamedTuple):
    """Where square columns of two sizes would miss a part."""

    free: float
    """Area of the places of the small column's centre that miss it."""
    unblocked: float
    """Area of the places of the large one."""
    place: list[float] | None
    """One of the large one, the middle of the largest such area."""


def lie_on_bed(shell: Shell, rules: Printing) -> Lie:
    """Return how a mesh lies on the bed."""
    normals, areas = normals_and_areas(shell)
    triangles = triangles_of(shell)
    touching = np.all(np.abs(triangles[:, :, 2]) <= rules.level + _NEAR, axis=1)
    contact = touching & (normals[:, 2] < -rules.flat)
    centre = centroid(shell)[:2]
    footprint = convex_hull(triangles[contact][:, :, :2].reshape(-1, 2))
    hanging = np.flatnonzero((normals[:, 2] < -rules.hanging) & ~contact & (areas > _NEAR**2))
    patches = _patches(shell, hanging, areas, rules.bridge)
    points = triangles.reshape(-1, 3)
    return Lie(
        _rounded(points.max(axis=0) - points.min(axis=0), 6),
        round(float(points[:, 2].min()), 6) + 0.0,
        round(float(np.sum(areas[contact])), 3) + 0.0,
        _rounded(centre, 3),
        _is_inside(centre, footprint),
        patches,
    )


def _rounded(values: Array, decimals: int) -> list[float]:
    return [round(float(value), decimals) + 0.0 for value in values]


def _patches(shell: Shell, hanging: Indices, areas: Array, bridge: float) -> list[Overhang]:
    """Return the connected patches of chosen triangles that no strip of that width covers."""
    if len(hanging) == 0:
        return []
    place = np.full(len(shell.corners), -1)
    place[hanging] = np.arange(len(hanging))
    pairs = place[neighbours(shell)]
    label = components(len(hanging), pairs[np.all(pairs >= 0, axis=1)])
    triangles = triangles_of(shell)[hanging]
    overhangs = []
    for patch in range(int(label.max()) + 1):
        points = triangles[label == patch].reshape(-1, 3)
        width = round(strip_width(points[:, :2]), 6)
        if width > bridge:
            area = round(float(np.sum(areas[hanging][label == patch])), 3)
            low, high = points.min(axis=0), points.max(axis=0)
            overhangs.append(Overhang(width, area, _rounded(low, 3), _rounded(high, 3)))
    return sorted(overhangs, key=lambda patch: (-patch.width, patch.low, patch.high))


def convex_hull(points: Array) -> Array:
    """Return the corners (k, 2) of the convex hull of points, counter-clockwise."""
    if len(points) == 0:
        return np.zeros((0, 2))
    ordered = np.unique(np.round(points, 6), axis=0).tolist()
    chains = []
    for row in (ordered, ordered[::-1]):
        chain: list[list[float]] = []
        for point in row:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array((chains[0] + chains[1]) or ordered)


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def strip_width(points: Array) -> float:
    """Return the width of the narrowest strip between two parallel lines that holds all points."""
    hull = convex_hull(points)
    if len(hull) < 3:
        return 0.0
    edges = np.roll(hull, -1, axis=0) - hull
    across = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    across /= np.sqrt(np.sum(across**2, axis=1, keepdims=True))
    heights = (hull[None, :] - hull[:, None]) @ across[:, :, None]
    return float(heights.max(axis=(1, 2)).min())


def _is_inside(point: Array, hull: Array) -> bool:
    if len(hull) < 3:
        return False
    edges, away = np.roll(hull, -1, axis=0) - hull, point - hull
    lengths = np.sqrt(np.sum(edges**2, axis=1))
    return bool(np.all(edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= -_NEAR * lengths))


def openings(body: Manifold, rules: Spacing) -> Openings | None:
    """Return where columns miss a part that is moved to the middle of the bed; None: too complex.

    A square column of side s, upright and along the axes, misses the part where its centre lies
    outside the part's shadow grown by s / 2 to all four sides.
    """
    low = body.trim_by_plane((0, 0, 1), -rules.height).trim_by_plane((0, 0, -1), -rules.height)
    box = body.bounding_box()
    shadow = low.project().translate((-(box[0] + box[3]) / 2, -(box[1] + box[4]) / 2))
    if shadow.num_vert() > MAX_OUTLINE:
        return None
    free = _missed(shadow, rules.free, rules.free_reach)
    unblocked = _missed(shadow, rules.blocked, rules.blocked_reach)
    pieces = sorted(unblocked.decompose(), key=lambda piece: (-round(piece.area(), 3),))
    place = None
    if pieces:
        bounds = pieces[0].bounds()
        place = _rounded(np.array([bounds[0] + bounds[2], bounds[1] + bounds[3]]) / 2, 3)
    return Openings(round(free.area(), 3) + 0.0, round(unblocked.area(), 3) + 0.0, place)


def _missed(shadow: CrossSection, side: float, reach: float) -> CrossSection:
    """Return the places of a column's centre, within reach of 0, at which it misses a shadow."""
    places = CrossSection.square((2 * reach, 2 * reach), center=True)
    return places - grown(shadow, side / 2)


def grown(shape: CrossSection, by: float) -> CrossSection:
    """Return the Minkowski sum of a shape and the square from -by to by along both axes."""
    # The sum is the shape itself and what the square sweeps along the outline: along an edge, the
    # hull of the square at its two ends, which is a hexagon whose corners follow from its slope.
    swept = []
    for outline in shape.to_polygons():
        start = np.asarray(outline, dtype=np.float64)
        for p, q in zip(start, np.roll(start, -1, axis=0), strict=True):
            if p[0] > q[0]:
                p, q = q, p  # noqa: PLW2901  (left to right)
            up = 1.0 if q[1] >= p[1] else -1.0
            sides = np.array([(-1, -up), (1, -up), (1, -up), (1, up), (-1, up), (-1, up)])
            corners = np.array([p, p, q, q, q, p]) + by * sides
            swept.append(corners if up > 0 else corners[::-1])
    if not swept:
        return shape
    return CrossSection(swept, FillRule.NonZero) + shape
