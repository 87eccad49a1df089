"""The number of separate bodies that a mesh may have."""

from collections.abc import Sequence
from functools import lru_cache

from scbench.graders.csg_union.convex_parts import signed_sum
from scbench.graders.csg_union.solids import union_body, union_parts
from scbench.schemas.csg_union import Params, Solid

# A mesh omits a solid if it fills less than this share of the space that only this solid covers.
_LEFT_OUT = 0.5
# Less space than this is a rounding error: other solids cover the whole solid.
_NO_ROOM = 1e-6


@lru_cache(maxsize=64)
def union_bodies(params: Params) -> int:
    """Return the number of separate bodies of an instance's union."""
    # Parts of negative volume are voids.
    return sum(part.volume() > 0 for part in union_body(params).decompose())


def most_bodies(params: Params, volumes: Sequence[float]) -> int:
    """Return the number of separate bodies that a mesh may have.

    It is the number of bodies of the union of all solids, or of the union of the solids that the
    mesh includes, whichever is larger. The volumes are those of the mesh in each of the
    `union_parts`.
    """
    included = solids_in_mesh(params, volumes)
    return max(union_bodies(params), union_bodies(included))


def solids_in_mesh(params: Params, volumes: Sequence[float]) -> Params:
    """Return the solids that a mesh includes: it fills half of the space that only they cover.

    If there are none, all solids are returned. For the volumes, see `most_bodies`.
    """
    parts = union_parts(params)
    present: list[Solid] = []
    for i, solid in enumerate(params.solids):
        own_parts = []
        own_volumes = []
        for part, volume in zip(parts, volumes, strict=True):
            if i in part.solids:
                own_parts.append(part)
                own_volumes.append(volume)
        room = sum(part.sign * part.volume for part in own_parts)
        is_filled = signed_sum(own_parts, own_volumes) >= _LEFT_OUT * room
        if room < _NO_ROOM or is_filled:
            present.append(solid)
    if not present:
        return params
    return Params(solids=tuple(present))
