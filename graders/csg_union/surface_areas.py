"""Areas of a union's surface, and of the parts of its solids' surfaces that are not on it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import shapely

from scbench.graders.csg_union.convex_cuts import clip
from scbench.graders.csg_union.convex_parts import Convex
from scbench.graders.csg_union.solids import union_parts
from scbench.graders.shared.vectors import Array, Indices, unit
from scbench.schemas.csg_union import Params

# A face this close to a plane lies in it.
_FLUSH = 1e-6
# In full precision, an overlay of nearly equal lines can lose a piece; on a grid, it cannot.
_GRID = 1e-9
# Areas are rounded, because their last bits differ between machines.
_DECIMALS = 6


class Areas(NamedTuple):
    """Rounded areas of an instance's solids."""

    union: float
    """Area of the union's surface, including the walls of voids."""
    hidden: float
    """Total area of the solids' surfaces, minus that of the union."""


def single_solids(params: Params) -> list[Convex]:
    """Return an instance's solids."""
    return [part.convex for part in union_parts(params) if len(part.solids) == 1]


@lru_cache(maxsize=64)
def areas_of(params: Params) -> Areas:
    """Return the areas of an instance's solids.

    The surface of the union is the part of the solids' faces that lies in no other solid. Where two
    faces in one plane face the same way, only the first counts; where solids touch, neither does.
    """
    solids = single_solids(params)
    total = 0.0
    union = 0.0
    for i, solid in enumerate(solids):
        covers = []
        for j, cover in enumerate(solids):
            if j != i:
                hidden = covered_faces(solid, cover, earlier=j < i)
                covers.append(hidden)
        for f in range(len(solid.sizes)):
            face_area, uncovered = face_areas(solid, f, covers)
            total += face_area
            union += uncovered
    return Areas(round(union, _DECIMALS), round(total - union, _DECIMALS))


def face_areas(
    solid: Convex, f: int, covers: Sequence[tuple[Array, Indices]]
) -> tuple[float, float]:
    """Return the area of a face of a solid, and of its part that no other solid covers.

    ``covers`` has the `covered_faces` of the solid for each other solid.
    """
    corners = solid.faces[f, : solid.sizes[f]] + solid.centre
    # Coordinates in the plane of the face, relative to its first corner.
    origin = corners[0]
    right = unit((corners[1] - origin)[None])[0]
    axes = np.stack([right, np.cross(solid.normals[f], right)], axis=1)
    face = shapely.Polygon((corners - origin) @ axes)
    pieces = []
    for polygons, sizes in covers:
        if sizes[f] > 2:
            outline = (polygons[f, : sizes[f]] - origin) @ axes
            pieces.append(shapely.Polygon(outline))
    covered = shapely.union_all(pieces, grid_size=_GRID)
    uncovered = shapely.difference(face, covered, grid_size=_GRID)
    return float(shapely.area(face)), float(shapely.area(uncovered))


def covered_faces(
    owner: Convex, cover: Convex, *, earlier: bool
) -> tuple[Array, Indices]:
    """Return the parts (p, w, 3) of a solid's faces that another covers, and their sizes (p,).

    ``earlier`` says whether the covering solid comes first, so that its faces count.
    """
    polygons = owner.faces + owner.centre
    sizes = owner.sizes
    below = cover.offsets - (polygons - cover.centre) @ cover.normals.T
    is_unused = ~owner.filled()
    is_flush = np.all((np.abs(below) <= _FLUSH) | is_unused[:, :, None], axis=1)
    if not earlier:
        same_way = is_flush & (owner.normals @ cover.normals.T > 0)
        sizes = np.where(np.any(same_way, axis=1), 0, sizes)
    planes = zip(cover.normals, cover.offsets, is_flush.T, strict=True)
    for normal, offset, is_in_plane in planes:
        values = offset - (polygons - cover.centre) @ normal
        # A face in the plane is not cut by it.
        values[is_in_plane] = 0.0
        polygons, sizes = clip(polygons, sizes, values)
    return polygons, sizes
