"""Edges at which a surface of triangles bends or is open."""

from typing import NamedTuple

import numpy as np

from scbench.report.draw.scene import Faces, Points
from scbench.report.draw.skins import SAME_DIRECTION

# Vertices that agree to this many decimals count as one.
_DECIMALS = 9
# The ends of the three sides of a triangle, as positions of its corners.
_SIDES = np.array([[0, 1], [1, 2], [2, 0]])


class Edges(NamedTuple):
    """Edges of triangles, each once.

    Attributes:
        ends: indices of their ends, shape (k, 2).
        uses: number of triangles at each, shape (k,).
        owners: two of these triangles, or the only one twice, shape (k, 2).
    """

    ends: Faces
    uses: Faces
    owners: Faces


def creases(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return edges (2, 3) of faces (m, 3) of points (n, 3) where a surface ends or bends."""
    if not len(faces):
        return ()
    edges = unique_edges(points, faces)
    normals = unit_normals(points, faces)
    first = normals[edges.owners[:, 0]]
    second = normals[edges.owners[:, 1]]
    cosine = np.einsum("ij,ij->i", first, second)
    bends = np.abs(cosine) < SAME_DIRECTION
    is_open = edges.uses != 2
    return tuple(points[edges.ends[is_open | bends]])


def loose_edges(points: Points, faces: Faces) -> tuple[Points, ...]:
    """Return the edges (2, 3) that do not lie on exactly two triangles."""
    if not len(faces):
        return ()
    edges = unique_edges(points, faces)
    return tuple(points[edges.ends[edges.uses != 2]])


def unique_edges(points: Points, faces: Faces) -> Edges:
    """Return the edges of faces (m, 3), without those of length 0."""
    # Booleans and answers may have several vertices at one place, so places are compared.
    rounded = np.round(points, _DECIMALS)
    _, place_of_point = np.unique(rounded, axis=0, return_inverse=True)
    sides = faces[:, _SIDES].reshape(-1, 2)
    places = np.sort(place_of_point.ravel()[sides], axis=1)
    owners = np.repeat(np.arange(len(faces)), 3)
    # After sorting, sides at the same two places follow one another.
    order = np.lexsort((places[:, 1], places[:, 0]))
    sides = sides[order]
    places = places[order]
    owners = owners[order]
    differs = np.any(places[1:] != places[:-1], axis=1)
    first = np.flatnonzero(np.r_[True, differs])
    uses = np.diff(np.r_[first, len(places)])
    # The side after the first is of another triangle, if the edge has two.
    second = first + (uses > 1)
    pairs = np.stack([owners[first], owners[second]], axis=1)
    has_length = places[first, 0] != places[first, 1]
    return Edges(sides[first][has_length], uses[has_length], pairs[has_length])


def unit_normals(points: Points, faces: Faces) -> Points:
    """Return the normals of triangles, scaled to length 1 or 0; shape (m, 3)."""
    corners = points[faces]
    first = corners[:, 0]
    normal = np.cross(corners[:, 1] - first, corners[:, 2] - first)
    length = np.sqrt(np.sum(normal**2, axis=1, keepdims=True))
    units: Points = normal / np.maximum(length, 1e-300)
    return units
