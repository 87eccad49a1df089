"""Bodies bounded by meshes, in `manifold3d`: unions, volumes, differences."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from manifold3d import Error, Manifold, Mesh64

from scbench.graders.shared.vectors import Array, Indices

# Maximum number of listed pieces of a difference, largest first.
_MAX_PIECES = 8
# Minimum share of the whole body for listed pieces, and tolerance of volumes.
_SHARE = 1e-3
_BOX_DECIMALS = 4
# The last bits of a volume depend on the machine.
_VOLUME_DECIMALS = 6
_TRIES = 4
# Share of a mesh's extent by which vertices are moved in the second try; each further
# try moves them ten times as far. Manifold merges points within 1e-12 of the extent.
_STIR = 1e-11


class Piece(NamedTuple):
    """A piece of a body."""

    volume: float
    low: tuple[float, ...]
    """Lowest x, y and z."""
    high: tuple[float, ...]
    """Highest x, y and z."""


def to_body(points: Array, corners: Indices) -> Manifold:
    """Return the body bounded by closed triangles; shells that point inwards are voids.

    Corners (m, 3) are indices of vertices (n, 3), counter-clockwise seen from outside.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    vertices = np.ascontiguousarray(points, dtype=np.float64)
    triangles = np.ascontiguousarray(corners, dtype=np.uint64)
    body = Manifold(Mesh64(vertices, triangles))
    if body.status() != Error.NoError:
        raise ValueError(f"these triangles do not enclose a body: {body.status().name}")
    return body


def unite(bodies: Iterable[Manifold]) -> Manifold:
    """Return the union of at least one body, united in the order given."""
    union, *further = bodies
    for body in further:
        union = union + body
        # Manifold evaluates lazily; asking for a result starts the work.
        union.num_tri()
    return union


def volume(body: Manifold) -> float:
    """Return a body's volume, rounded to 6 decimals because the last bits depend on the machine."""
    return round(float(body.volume()), _VOLUME_DECIMALS) + 0.0


def differences(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[list[Piece], list[Piece]] | None:
    """Return the surplus pieces of a mesh and the missing ones.

    Arguments and errors are the same as for `difference_bodies`.
    """
    bodies = difference_bodies(points, corners, solid, surplus, missing)
    if bodies is None:
        return None
    least = _SHARE * float(solid.volume())
    surplus_body, missing_body = bodies
    return largest_pieces(surplus_body, least), largest_pieces(missing_body, least)


def difference_bodies(
    points: Array, corners: Indices, solid: Manifold, surplus: float, missing: float
) -> tuple[Manifold, Manifold] | None:
    """Return the surplus of a mesh over the body that it should bound, and the missing part.

    The mesh is closed triangles (m, 3) of vertices (n, 3), each on some triangle,
    counter-clockwise seen from outside. Returns None if the bodies do not add up to the
    known volumes, even after moving the vertices slightly.

    Raises:
        ValueError: the triangles are not a closed, oriented surface.
    """
    tolerance = _SHARE * float(solid.volume())
    # Fractional parts of multiples of irrational numbers, which are evenly spread
    # without randomness.
    multiples = np.arange(1, len(points) + 1)[:, None] * np.sqrt([2.0, 3.0, 5.0])
    extent = float(np.max(np.abs(points)))
    stir = _STIR * extent * (2 * (multiples % 1.0) - 1)
    for attempt in range(_TRIES):
        shift = 10**attempt * stir if attempt else 0.0
        body = to_body(points + shift, corners)
        surplus_body = body - solid
        missing_body = solid - body
        surplus_error = abs(surplus_body.volume() - surplus)
        missing_error = abs(missing_body.volume() - missing)
        if surplus_error + missing_error <= tolerance:
            return surplus_body, missing_body
    return None


def largest_pieces(body: Manifold, least: float) -> list[Piece]:
    """Return the largest few pieces of a body with at least this volume, largest first."""
    pieces = []
    for part in body.decompose():
        part_volume = part.volume()
        if part_volume < least:
            continue
        box = [round(value, _BOX_DECIMALS) + 0.0 for value in part.bounding_box()]
        size = round(part_volume, _BOX_DECIMALS)
        pieces.append(Piece(size, tuple(box[:3]), tuple(box[3:])))
    pieces.sort(key=lambda piece: (-piece.volume, piece.low, piece.high))
    return pieces[:_MAX_PIECES]
