"""Checks that a set of solids has a clean union: every solid counts, and nothing nearly touches.

The margins are well above the grader's tolerance, so that rounding an answer does no harm.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from manifold3d import Manifold

from scbench.builders.csg_union.meshes import polygon_mesh
from scbench.graders.csg_union.convex_parts import (
    common_volumes,
    signed_sum,
    union_volume,
)
from scbench.graders.csg_union.solids import solid_body, union_parts
from scbench.graders.shared import meshes
from scbench.graders.shared.mesh_bodies import unite, volume
from scbench.graders.shared.mesh_topology import edge_faults, shells
from scbench.graders.shared.meshes import PolygonMesh
from scbench.graders.shared.triangle_contacts import find_contacts, nearer_than
from scbench.graders.shared.triangle_pairs import close_pairs
from scbench.schemas.csg_union import Params, Solid

# Minimum share of a solid's volume that it must add to the union, or share in an overlap.
SHARE = 0.05
# Minimum distance between vertices of the union, and between parts of its surface that are
# not joined.
CLEAR = 0.05
# Solids may grow or shrink by this much without changing the union's form.
_GROWTH = 1e-3
# Largest error in the volume of the union's mesh, as a share of the volume.
_WRONG = 1e-5
# Maximum number of pairs of triangles that are compared.
_MAX_PAIRS = 10**6


class Form(NamedTuple):
    """The numbers of outer shells, voids and handles."""

    shells: int
    voids: int
    handles: int


def is_clean(solids: Sequence[Solid], max_vertices: int, *, touching: bool) -> bool:
    """Return whether every solid counts, and the union is a mesh with room to spare.

    Args:
        solids: the solids at their places.
        max_vertices: maximum number of vertices of the union.
        touching: whether solids may touch; shrinking would end such contacts.
    """
    bodies = [solid_body(solid) for solid in solids]
    union = unite(bodies)
    mesh = polygon_mesh(union)
    # The cheap checks come first.
    if len(mesh.points) > max_vertices or any(edge_faults(mesh.faces)):
        return False
    # This also rules out a surface that touches itself in a point, where two vertices coincide.
    square_gaps = np.sum((mesh.points[:, None] - mesh.points) ** 2, axis=2)
    pairs = np.triu_indices(len(square_gaps), 1)
    if square_gaps[pairs].min() < CLEAR**2:
        return False
    if not all(counts(i, bodies) for i in range(len(bodies))):
        return False
    form = form_of(union)
    margins = (_GROWTH,) if touching else (_GROWTH, -_GROWTH)
    for margin in margins:
        changed = unite(inflate(body, margin) for body in bodies)
        if form_of(changed) != form:
            return False
    return has_right_volume(mesh, solids) and has_room(mesh)


def counts(i: int, bodies: Sequence[Manifold]) -> bool:
    """Return whether a body adds enough to the union, or lies well inside another one."""
    body = bodies[i]
    neighbours = [*bodies[:i], *bodies[i + 1 :]]
    if volume(body - unite(neighbours)) >= SHARE * volume(body):
        return True
    grown = inflate(body, CLEAR)
    return any(volume(grown - neighbour) == 0 for neighbour in neighbours)


def inflate(body: Manifold, margin: float) -> Manifold:
    """Return a body scaled about its middle so that its box grows by a margin on its thin side."""
    low, high = np.array(body.bounding_box()).reshape(2, 3)
    middle = (low + high) / 2
    factor = 1 + 2 * margin / float(np.min(high - low))
    centred = body.translate(tuple((-middle).tolist()))
    return centred.scale((factor, factor, factor)).translate(tuple(middle.tolist()))


def form_of(body: Manifold) -> Form:
    """Return the numbers of shells, voids and handles, which small changes must not change."""
    parts = body.decompose()
    shells = sum(part.volume() > 0 for part in parts)
    handles = sum(part.genus() for part in parts)
    return Form(shells, len(parts) - shells, handles)


def has_right_volume(mesh: PolygonMesh, solids: Sequence[Solid]) -> bool:
    """Return whether a mesh fills exactly the volume of the union.

    The mesh is made by boolean operations that can fail; the volume is computed independently.
    """
    # The grader needs them too, and then finds them in its cache.
    parts = union_parts(Params(solids=tuple(solids)))
    exact = union_volume(parts)
    triangles = meshes.triangulate(mesh)
    shell = shells(mesh.faces)
    enclosed = float(meshes.signed_volumes(mesh.points, triangles, shell).sum())
    volumes = common_volumes(parts, mesh.points[triangles.corners])
    if volumes is None:
        return False
    common = signed_sum(parts, volumes)
    return max(abs(enclosed - exact), abs(common - exact)) <= _WRONG * exact


def has_room(mesh: PolygonMesh) -> bool:
    """Return whether triangles are separated by five times the grader's tolerance."""
    triangles = meshes.triangulate(mesh)
    corners = mesh.points[triangles.corners]
    pairs = close_pairs(corners, CLEAR, _MAX_PAIRS)
    if pairs is None:
        return False
    contacts = find_contacts(corners, pairs, CLEAR)
    if len(contacts.crossing) or len(contacts.covering):
        return False
    shell = shells(mesh.faces)[triangles.face]
    is_between_shells = shell[pairs[:, 0]] != shell[pairs[:, 1]]
    return not len(nearer_than(corners, pairs[is_between_shells], CLEAR))
