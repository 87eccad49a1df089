"""The solids of an instance: their meshes and their union."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from manifold3d import Manifold

from scbench.graders.csg_union.convex_parts import (
    ConvexPart,
    parts_of_union,
)
from scbench.graders.shared.mesh_bodies import to_body, unite
from scbench.graders.shared.mesh_topology import Faces
from scbench.graders.shared.meshes import PolygonMesh, triangulate
from scbench.graders.shared.vectors import Array
from scbench.schemas.csg_union import Box, Params, Polyhedron, Prism, Solid, UvSphere

# Vertices are rounded to this many decimals, because the last bits of sines differ between
# machines.
DECIMALS = 9
# Vertex 4 i + 2 j + k is the corner at end i of x, j of y and k of z.
_BOX_FACES: Faces = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)


@lru_cache(maxsize=64)
def union_parts(params: Params) -> tuple[ConvexPart, ...]:
    """Return the common parts of an instance's solids, which are used to measure their union.

    Raises:
        ValueError: a solid is not convex.
    """
    return tuple(parts_of_union([solid_mesh(solid) for solid in params.solids]))


@lru_cache(maxsize=64)
def union_body(params: Params) -> Manifold:
    """Return the union of an instance's solids."""
    return unite([solid_body(solid) for solid in params.solids])


def solid_body(solid: Solid) -> Manifold:
    """Return a solid as a body in its final position.

    Raises:
        ValueError: the solid is a polyhedron whose faces do not close.
    """
    mesh = solid_mesh(solid)
    return to_body(mesh.points, triangulate(mesh).corners)


def solid_mesh(solid: Solid) -> PolygonMesh:
    """Return the mesh of a solid at its place, with coordinates rounded to 9 decimals."""
    match solid:
        case Box():
            mesh = box_mesh(solid)
        case Prism():
            mesh = prism_mesh(solid)
        case UvSphere():
            mesh = sphere_mesh(solid)
        case Polyhedron():
            mesh = PolygonMesh(np.array(solid.vertices, dtype=float), solid.faces)
    turned = mesh.points @ rotation(solid.rotation_deg_xyz).T
    points = turned + np.array(solid.translation)
    return PolygonMesh(np.round(points, DECIMALS) + 0.0, mesh.faces)


def box_mesh(box: Box) -> PolygonMesh:
    """Return a box in its own frame."""
    ends = [(-length / 2, length / 2) for length in box.size]
    points = list(product(*ends))
    return PolygonMesh(np.array(points), _BOX_FACES)


def prism_mesh(prism: Prism) -> PolygonMesh:
    """Return a prism, frustum or pyramid in its own frame: the lower ring, then the upper."""
    n = prism.segments
    low = -prism.height / 2 if prism.centred_z else 0.0
    high = low + prism.height
    points = circle_points(prism.radius_bottom, low, n)
    sides = [(k, (k + 1) % n) for k in range(n)]
    faces = [tuple(reversed(range(n)))]
    if prism.radius_top == 0:
        points.append([0.0, 0.0, high])
        faces += [(a, b, n) for a, b in sides]
    else:
        points += circle_points(prism.radius_top, high, n)
        faces.append(tuple(range(n, 2 * n)))
        faces += [(a, b, n + b, n + a) for a, b in sides]
    return PolygonMesh(np.array(points), tuple(faces))


def sphere_mesh(sphere: UvSphere) -> PolygonMesh:
    """Return a sphere in its own frame, made of rings from the highest to the lowest."""
    n = sphere.segments
    rings = sphere.segments // 2
    points: list[list[float]] = []
    for i in range(rings):
        polar = math.pi * (i + 0.5) / rings
        radius = sphere.radius * math.sin(polar)
        z = sphere.radius * math.cos(polar)
        points += circle_points(radius, z, n)
    top = tuple(range(n))
    bottom = tuple(reversed(range((rings - 1) * n, rings * n)))
    faces = [top, bottom]
    for i in range(rings - 1):
        upper = i * n
        lower = (i + 1) * n
        for k in range(n):
            after = (k + 1) % n
            faces.append((lower + k, lower + after, upper + after, upper + k))
    return PolygonMesh(np.array(points), tuple(faces))


def circle_points(radius: float, z: float, segments: int) -> list[list[float]]:
    """Return points at equal angles on a circle around the z axis, from +x towards +y."""
    angles = [2 * math.pi * k / segments for k in range(segments)]
    return [[radius * math.cos(a), radius * math.sin(a), z] for a in angles]


def rotation(degrees: Sequence[float]) -> Array:
    """Return the matrix that rotates about x, then y, then z."""
    x, y, z = map(math.radians, degrees)
    cos = math.cos
    sin = math.sin
    about_x = np.array([[1, 0, 0], [0, cos(x), -sin(x)], [0, sin(x), cos(x)]])
    about_y = np.array([[cos(y), 0, sin(y)], [0, 1, 0], [-sin(y), 0, cos(y)]])
    about_z = np.array([[cos(z), -sin(z), 0], [sin(z), cos(z), 0], [0, 0, 1]])
    turn: Array = about_z @ about_y @ about_x
    return turn
