"""Triangle meshes as files hold them, and how a part lies on the printer's bed.

Welding, what keeps meshes from being solids, flat faces; contact, balance, overhangs, and gaps seen
from above: interlocking_parts, "Verification" 1 and 2 of the spec, in their correct form. All of it
is vectorised, as parts for a printer may have tens of thousands of triangles.
"""

from typing import NamedTuple

import numpy as np
from manifold3d import CrossSection, FillRule, Manifold
from numpy.typing import NDArray

from scbench.graders.shared.meshes import Array, Indices, components, unit
from scbench.graders.shared.plane_geometry import hull_corners
from scbench.schemas.interlocking_parts import Printing, Spacing

MAX_OUTLINE = 20_000
_NEAR = 1e-6
# Corners that agree in so many decimals are one vertex.
WELD_DECIMALS = 6
_SAME_DIRECTION = 1 - 1e-6
_SAME_PLANE = 1e-3


class Shell(NamedTuple):
    """A mesh of triangles."""

    points: Array
    """(n, 3) vertices."""
    corners: Indices
    """(m, 3) indices of vertices, counter-clockwise seen from outside."""


class EdgeCounts(NamedTuple):
    """Edges that a closed, consistently wound surface would not have."""

    open: int
    """On one triangle only."""
    crowded: int
    """On more than two triangles."""
    unwound: int
    """On two triangles that run along it in the same direction."""


class Facet(NamedTuple):
    """A flat, connected piece of a surface."""

    triangles: Indices
    """(k,) positions of its triangles."""
    normal: Array
    """(3,) outwards, of length 1."""
    area: float


def weld(triangles: Array) -> Shell:
    """Return triangles (m, 3, 3) as a mesh; those that shrink to a line or point are left out."""
    grid = np.round(triangles.reshape(-1, 3), WELD_DECIMALS) + 0.0
    order = np.lexsort(grid.T)
    ordered = grid[order]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    index = np.empty(len(ordered), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    corners = index.reshape(-1, 3)
    a, b, c = corners.T
    return Shell(ordered[new], corners[(a != b) & (b != c) & (c != a)])


def triangles_of(shell: Shell) -> Array:
    """Return the triangles (m, 3, 3) of a mesh."""
    triangles: Array = shell.points[shell.corners]
    return triangles


def count_edges(shell: Shell) -> EdgeCounts:
    """Count the edges that keep a mesh from bounding a solid."""
    ends, uses = _side_numbers(shell)
    keys, first, count = np.unique(ends, return_index=True, return_counts=True)
    forward = np.bincount(
        np.searchsorted(keys, ends), weights=uses, minlength=len(keys)
    )
    del first
    return EdgeCounts(
        int(np.count_nonzero(count == 1)),
        int(np.count_nonzero(count > 2)),
        int(np.count_nonzero((count == 2) & (forward != 1))),
    )


def _side_numbers(shell: Shell) -> tuple[Indices, NDArray[np.bool_]]:
    """Return a number for each triangle's side (3 m,), and whether it runs from low to high."""
    start = shell.corners.reshape(-1)
    end = np.roll(shell.corners, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    return low * len(shell.points) + high, start < end


def neighbours(shell: Shell) -> Indices:
    """Return pairs (p, 2) of triangles that share an edge; of a crowded edge, a chain of them."""
    ends, _ = _side_numbers(shell)
    order = np.argsort(ends, kind="stable")
    same = ends[order][1:] == ends[order][:-1]
    triangle = order // 3
    return np.stack([triangle[:-1][same], triangle[1:][same]], axis=1)


def signed_volume(shell: Shell) -> float:
    """Return the volume that a closed mesh bounds, negative if it is inside out."""
    corner = triangles_of(shell)
    corner = corner - corner.reshape(-1, 3).mean(axis=0)
    return float(np.sum(np.cross(corner[:, 0], corner[:, 1]) * corner[:, 2]) / 6)


def centroid(shell: Shell) -> Array:
    """Return the centre of mass (3,) of a closed mesh of even density."""
    corner = triangles_of(shell)
    middle = corner.reshape(-1, 3).mean(axis=0)
    corner = corner - middle
    cones = np.sum(np.cross(corner[:, 0], corner[:, 1]) * corner[:, 2], axis=1)
    centre: Array = middle + cones @ corner.sum(axis=1) / (4 * np.sum(cones))
    return centre


def normals_and_areas(shell: Shell) -> tuple[Array, Array]:
    """Return the unit normal (m, 3) and area (m,) of each triangle."""
    corner = triangles_of(shell)
    double = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return unit(double), np.sqrt(np.sum(double**2, axis=1)) / 2


def facets(shell: Shell, least: float) -> list[Facet]:
    """Return the flat pieces of a surface: triangles in one plane that hang together by edges.

    Pieces of an area below ``least``, which is above 0, are left out.
    """
    normals, areas = normals_and_areas(shell)
    pairs = neighbours(shell)
    a, b = pairs.T
    flat = np.einsum("ij,ij->i", normals[a], normals[b]) > _SAME_DIRECTION
    corner = triangles_of(shell)
    away = np.abs(np.einsum("ijk,ik->ij", corner[b] - corner[a][:, :1], normals[a]))
    label = components(
        len(normals),
        pairs[
            flat
            & (away[:, 0] < _SAME_PLANE)
            & (away[:, 1] < _SAME_PLANE)
            & (away[:, 2] < _SAME_PLANE)
        ],
    )
    total = np.bincount(label, weights=areas)
    weighted = areas[:, None] * normals
    lean = np.stack(
        [np.bincount(label, weights=weighted[:, k]) for k in range(3)], axis=1
    )
    directions = unit(lean.astype(np.float64))
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label))
    return [
        Facet(
            order[0 if i == 0 else ends[i - 1] : ends[i]],
            directions[i],
            float(total[i]),
        )
        for i in np.flatnonzero(np.round(total, 6) >= least).tolist()
    ]


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
    hanging = np.flatnonzero(
        (normals[:, 2] < -rules.hanging) & ~contact & (areas > _NEAR**2)
    )
    patches = _patches(shell, hanging, areas, rules.bridge)
    points = triangles.reshape(-1, 3)
    return Lie(
        _rounded_values(points.max(axis=0) - points.min(axis=0), 6),
        round(float(points[:, 2].min()), 6) + 0.0,
        round(float(np.sum(areas[contact])), 3) + 0.0,
        _rounded_values(centre, 3),
        _is_inside(centre, footprint),
        patches,
    )


def _rounded_values(values: Array, decimals: int) -> list[float]:
    return [round(float(value), decimals) + 0.0 for value in values]


def _patches(
    shell: Shell, hanging: Indices, areas: Array, bridge: float
) -> list[Overhang]:
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
            overhangs.append(
                Overhang(width, area, _rounded_values(low, 3), _rounded_values(high, 3))
            )
    return sorted(overhangs, key=lambda patch: (-patch.width, patch.low, patch.high))


def convex_hull(points: Array) -> Array:
    """Return the corners (k, 2) of the convex hull of points, counter-clockwise."""
    rounded = (np.round(points, 6) + 0.0).tolist()
    return np.array(hull_corners((x, y) for x, y in rounded)).reshape(-1, 2)


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
    return bool(
        np.all(edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= -_NEAR * lengths)
    )


def openings(body: Manifold, rules: Spacing) -> Openings | None:
    """Return where columns miss a part that is moved to the middle of the bed; None: too complex.

    A square column of side s, upright and along the axes, misses the part where its centre lies
    outside the part's shadow grown by s / 2 to all four sides.
    """
    low = body.trim_by_plane((0, 0, 1), -rules.height).trim_by_plane(
        (0, 0, -1), -rules.height
    )
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
        place = _rounded_values(
            np.array([bounds[0] + bounds[2], bounds[1] + bounds[3]]) / 2, 3
        )
    return Openings(
        round(free.area(), 3) + 0.0, round(unblocked.area(), 3) + 0.0, place
    )


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
            sides = np.array(
                [(-1, -up), (1, -up), (1, -up), (1, up), (-1, up), (-1, up)]
            )
            corners = np.array([p, p, q, q, q, p]) + by * sides
            swept.append(corners if up > 0 else corners[::-1])
    if not swept:
        return shape
    return CrossSection(swept, FillRule.NonZero) + shape
