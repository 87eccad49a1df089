"""Areas of surfaces: of unions and their voids, and of walls of a mesh deep inside solids."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import shapely

from scbench.graders.csg_union.convex_cuts import clip
from scbench.graders.csg_union.convex_parts import (
    TRIANGLE_BLOCK,
    Convex,
    ConvexPart,
    triangles_within,
)
from scbench.graders.csg_union.solids import union_body, union_parts
from scbench.graders.shared.vectors import Array, Indices, cross, unit
from scbench.schemas.csg_union import Params

# Surface of a mesh that is deeper than this in a solid is an inner wall.
DEEP = 0.1
# A face this near to a plane lies in it.
_FLUSH = 1e-6
# In full precision an overlay of nearly equal lines can lose a piece; on a grid it does not.
_GRID = 1e-9


def surface_area(corners: Array) -> float:
    """Return the area of triangles (m, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    doubles = np.sqrt(np.sum(cross(b - a, c - a) ** 2, axis=1))
    return float(doubles.sum()) / 2


@lru_cache(maxsize=64)
def void_area(params: Params) -> float:
    """Return the area of the walls of the voids in an instance's union."""
    shells = union_body(params).decompose()
    return float(sum(shell.surface_area() for shell in shells if shell.volume() < 0))


@lru_cache(maxsize=64)
def union_area(params: Params) -> float:
    """Return the area of the surface of an instance's union, walls of voids too.

    It is the part of the solids' faces that lies in no other solid; where two faces look the same
    way in one plane, the first counts, and where solids touch, neither.
    """
    solids = [part.convex for part in union_parts(params) if len(part.solids) == 1]
    total = 0.0
    for i, solid in enumerate(solids):
        covers = [
            covered_faces(solid, cover, earlier=j < i)
            for j, cover in enumerate(solids)
            if i != j
        ]
        faces = solid.faces + solid.centre
        for f, (normal, size) in enumerate(
            zip(solid.normals, solid.sizes, strict=True)
        ):
            # Coordinates in the plane of the face, from its first corner.
            corner = faces[f, 0]
            right = unit((faces[f, 1] - corner)[None])[0]
            flat = np.stack([right, np.cross(normal, right)], axis=1)
            whole = shapely.Polygon((faces[f, :size] - corner) @ flat)
            pieces = []
            for polygons, sizes in covers:
                if sizes[f] > 2:
                    piece = (polygons[f, : sizes[f]] - corner) @ flat
                    pieces.append(shapely.Polygon(piece))
            covered = shapely.union_all(pieces, grid_size=_GRID)
            free = shapely.difference(whole, covered, grid_size=_GRID)
            total += float(shapely.area(free))
    return total


def covered_faces(
    owner: Convex, cover: Convex, *, earlier: bool
) -> tuple[Array, Indices]:
    """Return the parts (p, w, 3) of a solid's faces that another one covers, and their sizes (p,).

    ``earlier`` says whether the covering solid comes first, so that its faces count.
    """
    polygons, sizes = owner.faces + owner.centre, owner.sizes
    below = cover.offsets - (polygons - cover.centre) @ cover.normals.T
    unused = ~owner.filled()
    level = np.all((np.abs(below) <= _FLUSH) | unused[:, :, None], axis=1)
    if not earlier:
        same_way = level & (owner.normals @ cover.normals.T > 0)
        sizes = np.where(np.any(same_way, axis=1), 0, sizes)
    for plane, (normal, offset) in enumerate(
        zip(cover.normals, cover.offsets, strict=True)
    ):
        values = offset - (polygons - cover.centre) @ normal
        values[level[:, plane]] = 0.0  # a face in the plane is not cut by it
        polygons, sizes = clip(polygons, sizes, values)
    return polygons, sizes


def inner_area(parts: Sequence[ConvexPart], corners: Array) -> float:
    """Return the area of triangles (m, 3, 3) that lies deep in some solid of a union."""
    total = 0.0
    for part in parts:
        solid = part.convex
        deep_offsets = (solid.offsets - DEEP)[:, None]
        for first in range(0, len(corners), TRIANGLE_BLOCK):
            rays = corners[first : first + TRIANGLE_BLOCK] - solid.centre
            below = deep_offsets - np.einsum("mvk,pk->mpv", rays, solid.normals)
            meet = np.flatnonzero(np.all(below.max(axis=2) > 0, axis=1))
            cuts = below[meet].min(axis=2) < 0
            pieces = triangles_within(rays[meet], below[meet], cuts)
            total += part.sign * sum(map(surface_area, pieces))
    return total
