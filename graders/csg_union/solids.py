"""The solids that instances are made of: as polygon meshes, as bodies, and united."""

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from manifold3d import Manifold

from scbench.graders.csg_union.convex_parts import ConvexPart, parts_of_union
from scbench.graders.shared.mesh_booleans import to_body, unite
from scbench.graders.shared.meshes import Array, Faces, PolygonMesh, triangulate
from scbench.schemas.csg_union import Box, Params, Polyhedron, Prism, Solid, UvSphere

DECIMALS = 9
"""Vertices are rounded to so many decimals, because the last bits of sines differ by machine."""

_TOUCHING = 1e-6

_BOX: Faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Vertex 4 i + 2 j + k is the corner at end i of x, j of y and k of z."""


def solid_mesh(solid: Solid) -> PolygonMesh:
    """Return a solid at its place, every coordinate rounded to 9 decimals."""
    match solid:
        case Box():
            points, faces = _box(solid)
        case Prism():
            points, faces = _prism(solid)
        case UvSphere():
            points, faces = _sphere(solid)
        case Polyhedron():
            points, faces = np.array(solid.vertices, dtype=float), solid.faces
    turned = points @ _rotation(solid.rotation_deg_xyz).T + np.array(solid.translation)
    return PolygonMesh(np.round(turned, DECIMALS) + 0.0, faces)


def solid_body(solid: Solid) -> Manifold:
    """Return a solid at its place as a body.

    Raises:
        ValueError: it is a polyhedron whose faces do not close.
    """
    mesh = solid_mesh(solid)
    return to_body(mesh.points, triangulate(mesh).corners)


@lru_cache(maxsize=64)
def union_parts(params: Params) -> tuple[ConvexPart, ...]:
    """Return what the solids of an instance have in common, by which their union is measured.

    Raises:
        ValueError: a solid is not convex.
    """
    return tuple(parts_of_union([solid_mesh(solid) for solid in params.solids]))


@lru_cache(maxsize=64)
def union_body(params: Params) -> Manifold:
    """Return the union of an instance's solids."""
    return unite([solid_body(solid) for solid in params.solids])


def _box(box: Box) -> tuple[Array, Faces]:
    ends = [(-length / 2, length / 2) for length in box.size]
    return np.array([[x, y, z] for x in ends[0] for y in ends[1] for z in ends[2]]), _BOX


def _ring(radius: float, z: float, segments: int) -> list[list[float]]:
    angles = [2 * math.pi * k / segments for k in range(segments)]
    return [[radius * math.cos(a), radius * math.sin(a), z] for a in angles]


def _prism(prism: Prism) -> tuple[Array, Faces]:
    n = prism.segments
    low = -prism.height / 2 if prism.centred_z else 0.0
    points = _ring(prism.radius_bottom, low, n)
    sides = [(k, (k + 1) % n) for k in range(n)]
    floor = tuple(reversed(range(n)))
    if prism.radius_top == 0:
        faces: Faces = (floor, *((a, b, n) for a, b in sides))
        return np.array([*points, [0.0, 0.0, low + prism.height]]), faces
    points += _ring(prism.radius_top, low + prism.height, n)
    faces = (floor, tuple(range(n, 2 * n)), *((a, b, n + b, n + a) for a, b in sides))
    return np.array(points), faces


def _sphere(sphere: UvSphere) -> tuple[Array, Faces]:
    n, rings = sphere.segments, sphere.segments // 2
    points: list[list[float]] = []
    for i in range(rings):
        polar = math.pi * (i + 0.5) / rings
        points += _ring(sphere.radius * math.sin(polar), sphere.radius * math.cos(polar), n)
    walls = [
        ((i + 1) * n + a, (i + 1) * n + (a + 1) % n, i * n + (a + 1) % n, i * n + a)
        for i in range(rings - 1)
        for a in range(n)
    ]
    bottom = tuple(reversed(range((rings - 1) * n, rings * n)))
    return np.array(points), (tuple(range(n)), bottom, *walls)


def _rotation(degrees: tuple[float, ...]) -> Array:
    """Return the matrix that turns about x, then y, then z."""
    (cx, sx), (cy, sy), (cz, sz) = (
        (math.cos(math.radians(angle)), math.sin(math.radians(angle))) for angle in degrees
    )
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    turn: Array = about_z @ about_y @ about_x
    return turn


@lru_cache(maxsize=64)
def body_count(params: Params) -> int:
    """Return how many separate bodies the union is made of.

    The solids are convex, so that no boolean is asked: those that overlap or touch hang together.
    """
    bodies = [solid_body(solid) for solid in params.solids]
    group = list(range(len(bodies)))
    for (i, a), (j, b) in combinations(enumerate(bodies), 2):
        if a.min_gap(b, 1.0) <= _TOUCHING:
            group = [group[i] if label == group[j] else label for label in group]
    return len(set(group))
