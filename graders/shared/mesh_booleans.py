"""Solid bodies by mesh booleans: unions, differences, and where their pieces lie.

Manifold's booleans give the same mesh in any number of threads: it sorts what its tasks find before
using it, and cuts faces into triangles each for itself. It chooses an order of its own only for
batches, so bodies are united one after the other.

They are quick, but not fit to decide a score: where faces of opposite directions lie in one plane
exactly, a sliver between them makes Manifold 3.5 turn edges of sound triangles, and volume is lost.
So where the solids are convex, scores rest on `scbench.graders.csg_union.convex_parts`.
"""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
from manifold3d import Error, Manifold, Mesh64

from scbench.graders.shared.meshes import Array, Indices

_PIECES = 8
_SHARE = 1e-3
"""Pieces of a difference that are named: the largest few, each at least this share of a whole."""
_BOX_DECIMALS = 4
_VOLUME_DECIMALS = 6

_TRIES = 4
_STIR = 1e-11
"""Share of a mesh's extent that vertices are moved by in the second try; ten times as much in each
further one. Manifold takes points for the same within 1e-12 of the extent."""


class Piece(NamedTuple):
    """A piece of a body: its volume, and the corners of its bounding box."""

    volume: float
    low: tuple[float, ...]
    high: tuple[float, ...]


def to_body(points: Array, corners: Indices) -> Manifold:
    """Return the body that closed triangles bound; a void is a shell that points inwards.

    Args:
        points: (n, 3) vertices.
        corners: (m, 3) indices of vertices, counter-clockwise seen from outside.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    body = Manifold(
        Mesh64(
            np.ascontiguousarray(points, dtype=np.float64),
            np.ascontiguousarray(corners, dtype=np.uint64),
        )
    )
    if body.status() != Error.NoError:
        raise ValueError(f"no body is bounded by these triangles: {body.status().name}")
    return body


def unite(bodies: Iterable[Manifold]) -> Manifold:
    """Return the union of at least one body, united in the order given."""

    def both(a: Manifold, b: Manifold) -> Manifold:
        union = a + b
        union.num_tri()  # Manifold waits with its work until it is asked for a result
        return union

    return reduce(both, bodies)


def volume(body: Manifold) -> float:
    """Return a body's volume, rounded to 6 decimals because the last bits differ by machine."""
    return round(float(body.volume()), _VOLUME_DECIMALS) + 0.0


def differences(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[list[Piece], list[Piece]] | None:
    """Return the surplus pieces of a mesh and the missing ones.

    Arguments and errors are those of `difference_bodies`.
    """
    both = difference_bodies(points, corners, solid, surplus, missing)
    size = float(solid.volume())
    return None if both is None else (_pieces(both[0], size), _pieces(both[1], size))


def difference_bodies(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[Manifold, Manifold] | None:
    """Return the surplus of a mesh and what is missing.

    None is returned if these do not add up to the volumes known to be right, also not with
    vertices moved by a trifle.

    Args:
        points: (n, 3) vertices, each on some triangle.
        corners: (m, 3) triangles that bound a body, counter-clockwise seen from outside.
        solid: the body that the mesh should bound.
        surplus: volume that the body inside the mesh has alone.
        missing: volume that the other body has alone.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    size = float(solid.volume())
    steps = np.arange(1, len(points) + 1)[:, None] * np.sqrt([2.0, 3.0, 5.0])
    stir = _STIR * float(np.max(np.abs(points))) * (2 * (steps % 1.0) - 1)
    for attempt in range(_TRIES):
        body = to_body(points + (10**attempt * stir if attempt else 0.0), corners)
        surplus_body, missing_body = body - solid, solid - body
        wrong = abs(surplus_body.volume() - surplus) + abs(missing_body.volume() - missing)
        if wrong <= _SHARE * size:
            return surplus_body, missing_body
    return None


def _pieces(body: Manifold, size: float) -> list[Piece]:
    """Return a body's pieces, largest first, without those below a thousandth of a volume."""
    pieces = []
    for part in body.decompose():
        part_volume = part.volume()
        if part_volume >= _SHARE * size:
            box = [round(value, _BOX_DECIMALS) + 0.0 for value in part.bounding_box()]
            pieces.append(Piece(round(part_volume, _BOX_DECIMALS), tuple(box[:3]), tuple(box[3:])))
    return sorted(pieces, key=lambda piece: (-piece.volume, piece.low, piece.high))[:_PIECES]
