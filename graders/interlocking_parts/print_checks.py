"""How a part lies on the printer's bed: contact, balance, overhangs.

Spec: interlocking_parts, "Verification" 1, in its correct form.
"""

from typing import NamedTuple

import numpy as np

from scbench.graders.interlocking_parts.part_meshes import (
    Shell,
    centroid,
    neighbours,
    normals_and_areas,
    triangles_of,
)
from scbench.graders.shared.mesh_topology import components
from scbench.graders.shared.plane_geometry import hull_corners
from scbench.graders.shared.vectors import Array, Indices
from scbench.schemas.interlocking_parts import Printing

# Error that rounding may add to a length.
_NEAR = 1e-6


class Overhang(NamedTuple):
    """A patch of surface that would be printed on air."""

    width: float
    """Width of the narrowest strip that covers it, seen from above."""
    area: float
    low: list[float]
    """Lowest x, y and z."""
    high: list[float]
    """Highest x, y and z."""


class Lie(NamedTuple):
    """How a part lies on the bed."""

    size: list[float]
    """Lengths along x, y and z."""
    lowest: float
    """Lowest z."""
    contact: float
    """Area on the bed."""
    centre: list[float]
    """x and y of the centre of mass."""
    steady: bool
    """Whether the centre of mass is above the convex hull of the contact."""
    overhangs: list[Overhang]
    """Overhangs too wide to bridge, widest first."""


def lie_on_bed(shell: Shell, rules: Printing) -> Lie:
    """Return how a mesh lies on the bed."""
    normals, areas = normals_and_areas(shell)
    triangles = triangles_of(shell)
    at_bed = np.all(np.abs(triangles[:, :, 2]) <= rules.level + _NEAR, axis=1)
    is_contact = at_bed & (normals[:, 2] < -rules.flat)
    footprint = convex_hull(triangles[is_contact][:, :, :2].reshape(-1, 2))
    looks_down = normals[:, 2] < -rules.hanging
    hanging = np.flatnonzero(looks_down & ~is_contact & (areas > _NEAR**2))
    centre = centroid(shell)[:2]
    points = triangles.reshape(-1, 3)
    return Lie(
        size=rounded_values(points.max(axis=0) - points.min(axis=0), 6),
        lowest=round(float(points[:, 2].min()), 6) + 0.0,
        contact=round(float(np.sum(areas[is_contact])), 3) + 0.0,
        centre=rounded_values(centre, 3),
        steady=is_inside(centre, footprint),
        overhangs=find_overhangs(shell, hanging, areas, rules.bridge),
    )


def rounded_values(values: Array, decimals: int) -> list[float]:
    """Return numbers as a verdict stores them; -0 becomes 0."""
    return [round(float(value), decimals) + 0.0 for value in values]


def find_overhangs(
    shell: Shell, hanging: Indices, areas: Array, bridge: float
) -> list[Overhang]:
    """Return the connected patches of hanging triangles that no strip of width ``bridge`` covers.

    ``hanging`` (k,) has the positions of these triangles, ``areas`` (m,) the areas of all
    triangles.
    """
    if len(hanging) == 0:
        return []
    # Only hanging triangles are connected: their positions among each other, -1 for the rest.
    place = np.full(len(shell.corners), -1)
    place[hanging] = np.arange(len(hanging))
    pairs = place[neighbours(shell)]
    label = components(len(hanging), pairs[np.all(pairs >= 0, axis=1)])
    triangles = triangles_of(shell)[hanging]
    overhangs = []
    for patch in range(int(label.max()) + 1):
        is_patch = label == patch
        points = triangles[is_patch].reshape(-1, 3)
        width = round(strip_width(points[:, :2]), 6)
        if width <= bridge:
            continue
        area = round(float(np.sum(areas[hanging][is_patch])), 3)
        low = rounded_values(points.min(axis=0), 3)
        high = rounded_values(points.max(axis=0), 3)
        overhangs.append(Overhang(width, area, low, high))
    return sorted(overhangs, key=lambda patch: (-patch.width, patch.low, patch.high))


def strip_width(points: Array) -> float:
    """Return the width of the narrowest strip between parallel lines that contains all points."""
    hull = convex_hull(points)
    if len(hull) < 3:
        return 0.0
    # One side of a narrowest strip lies along a side of the hull.
    edges = np.roll(hull, -1, axis=0) - hull
    across = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    across /= np.sqrt(np.sum(across**2, axis=1, keepdims=True))
    heights = (hull[None, :] - hull[:, None]) @ across[:, :, None]
    return float(heights.max(axis=(1, 2)).min())


def convex_hull(points: Array) -> Array:
    """Return the corners (k, 2) of the convex hull of points, counter-clockwise."""
    rounded = (np.round(points, 6) + 0.0).tolist()
    return np.array(hull_corners((x, y) for x, y in rounded)).reshape(-1, 2)


def is_inside(point: Array, hull: Array) -> bool:
    """Whether a point (2,) lies in a convex polygon (k, 2), its border included."""
    if len(hull) < 3:
        return False
    edges = np.roll(hull, -1, axis=0) - hull
    offsets = point - hull
    lengths = np.sqrt(np.sum(edges**2, axis=1))
    doubles = edges[:, 0] * offsets[:, 1] - edges[:, 1] * offsets[:, 0]
    return bool(np.all(doubles >= -_NEAR * lengths))
