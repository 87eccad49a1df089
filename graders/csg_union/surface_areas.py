"""Areas of surfaces: of a union, and of the parts of its solids that are not on it."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import shapely

from scbench.graders.csg_union.convex_cuts import clip
from scbench.graders.csg_union.convex_parts import Convex
from scbench.graders.csg_union.solids import union_parts
from scbench.graders.shared.vectors import Array, Indices, unit
from scbench.schemas.csg_union import Params

# A face this near to a plane lies in it.
_FLUSH = 1e-6
# In full precision an overlay of nearly equal lines can lose a piece; on a grid it does not.
_GRID = 1e-9
# Areas are rounded, because their last bits differ between machines.
_DECIMALS = 6


class Areas(NamedTuple):
    """Rounded areas of an instance's solids."""

    union: float
    """Of the surface of the union, walls of voids included."""
    hidden: float
    """Of the solids' surfaces, added up, less that of the union."""


def single_solids(params: Params) -> list[Convex]:
    """Return an instance's solids."""
    return [part.convex for part in union_parts(params) if len(part.solids) == 1]


@lru_cache(maxsize=64)
def areas_of(params: Params) -> Areas:
    """Return the areas of an instance's solids.

    The surface of the union is the part of the solids' faces that lies in no other solid. Where two
    faces look the same way in one plane, the first counts, and where solids touch, neither.
    """
    solids = single_solids(params)
    total = 0.0
    union = 0.0
    for i, solid in enumerate(solids):
        covers = []
        for j, cover in enumerate(solids):
            if j != i:
                covers.append(covered_faces(solid, cover, earlier=j < i))
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
                    outline = (polygons[f, : sizes[f]] - corner) @ flat
                    pieces.append(shapely.Polygon(outline))
            covered = shapely.union_all(pieces, grid_size=_GRID)
            free = shapely.difference(whole, covered, grid_size=_GRID)
            total += float(shapely.area(whole))
            union += float(shapely.area(free))
    return Areas(round(union, _DECIMALS), round(total - union, _DECIMALS))


def covered_faces(
    owner: Convex, cover: Convex, *, earlier: bool
) -> tuple[Array, Indices]:
    """Return the parts (p, w, 3) of a solid's faces that another one covers, and their sizes (p,).

    ``earlier`` says whether the covering solid comes first, so that its faces count.
    """
    polygons = owner.faces + owner.centre
    sizes = owner.sizes
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
