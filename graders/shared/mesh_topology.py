"""Shared edges of mesh faces: faults, connected components, shells.

Coordinates are never used here. Faces may be wrong in any way, except that no face may
repeat a vertex.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from scbench.graders.shared.vectors import Indices

# Each face lists its vertices counter-clockwise, seen from outside.
Faces = tuple[tuple[int, ...], ...]
Edge = tuple[int, int]


class EdgeFaults(NamedTuple):
    """Edges that a closed, consistently wound surface would not have."""

    doubled: list[Edge]
    """Used twice in this direction."""
    open: list[Edge]
    """On one face only."""
    crowded: list[Edge]
    """On more than two faces."""


class FaceRings(NamedTuple):
    """The corners of all faces in one array, face after face."""

    corner: Indices
    """(c,) vertex of each corner."""
    after: Indices
    """(c,) vertex of the next corner of the same face."""
    start: Indices
    """(k,) position of each face's first corner."""
    size: Indices
    """(k,) number of corners of each face."""


def edge_faults(faces: Faces) -> EdgeFaults:
    """Return the edges that prevent the faces from bounding a solid, each list ascending."""
    if not faces:
        return EdgeFaults([], [], [])
    rings = face_rings(faces)
    sides = np.stack([rings.corner, rings.after], axis=1)
    directed, uses = np.unique(sides, axis=0, return_counts=True)
    edges, degrees = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    return EdgeFaults(
        doubled=edge_list(directed[uses > 1]),
        open=edge_list(edges[degrees == 1]),
        crowded=edge_list(edges[degrees > 2]),
    )


def face_rings(faces: Faces) -> FaceRings:
    """Return the corners of one or more faces, each with the next corner."""
    size = np.array([len(face) for face in faces], dtype=np.int64)
    start = np.cumsum(size) - size
    corner = np.fromiter(chain.from_iterable(faces), dtype=np.int64)
    after = np.roll(corner, -1)
    # The last corner of a face is followed by its first.
    after[start + size - 1] = corner[start]
    return FaceRings(corner, after, start, size)


def edge_list(rows: Indices) -> list[Edge]:
    """Return rows (n, 2) as pairs of plain numbers."""
    return [(a, b) for a, b in rows.tolist()]


def shells(faces: Faces) -> Indices:
    """Return the shell (k,) of each face, numbered from 0 by its first face.

    Faces that share an edge belong to the same shell.
    """
    pairs: list[Edge] = []
    first_face: dict[Edge, int] = {}
    for i, face in enumerate(faces):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            edge = (min(a, b), max(a, b))
            pairs.append((first_face.setdefault(edge, i), i))
    return components(len(faces), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def components(count: int, pairs: Indices) -> Indices:
    """Return a label (count,) for each element, equal for elements connected by pairs (p, 2).

    Labels are numbered from 0 in order of first occurrence.
    """
    label = np.arange(count)
    if len(pairs) == 0:
        return label
    while True:
        a = label[pairs[:, 0]]
        b = label[pairs[:, 1]]
        if np.array_equal(a, b):
            return np.unique(label, return_inverse=True)[1].reshape(-1)
        low = np.minimum(a, b)
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        # Follow labels to their roots, so that long chains take few rounds.
        while not np.array_equal(label, label[label]):
            label = label[label]
