"""Triangle contacts, windings and volumes, checked with slower or simpler methods."""

import itertools
import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifold3d import Manifold

from scbench.graders.csg_union.convex_parts import (
    common_volumes,
    parts_of_union,
    signed_sum,
    union_volume,
)
from scbench.graders.csg_union.solids import solid_mesh
from scbench.graders.shared import mesh_bodies
from scbench.graders.shared.mesh_bodies import (
    difference_bodies,
    to_body,
    unite,
    volume,
)
from scbench.graders.shared.meshes import PolygonMesh, newell_normals, triangulate
from scbench.graders.shared.triangle_contacts import find_contacts, nearer_than
from scbench.graders.shared.triangle_pairs import close_pairs
from scbench.schemas.csg_union import Box, Prism, UvSphere

BASE = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
coordinate = st.integers(-4, 4)
side = st.integers(1, 6)
a_box = st.tuples(
    st.tuples(coordinate, coordinate, coordinate), st.tuples(side, side, side)
)


def random_triangles(seed, count):
    """Return triangles of moderate size: corners are drawn towards the first one."""
    rng = random.Random(seed)
    values = [rng.uniform(0, 4) for _ in range(9 * count)]
    corners = np.array(values).reshape(count, 3, 3)
    return corners * 0.4 + corners[:, :1] * 0.6


def sampled_distance(p, q, steps=24):
    """Return a distance of two triangles at most a few side lengths / steps too large."""
    pairs = itertools.product(range(steps + 1), repeat=2)
    weights = [(i, j, steps - i - j) for i, j in pairs if i + j <= steps]
    weights = np.array(weights) / steps
    gaps = (weights @ p)[:, None] - weights @ q
    return float(np.linalg.norm(gaps, axis=2).min())


def boxes_are_close(one, other, margin):
    return np.all(one.min(axis=0) <= other.max(axis=0) + margin) and np.all(
        other.min(axis=0) <= one.max(axis=0) + margin
    )


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), margin=st.sampled_from([0.0, 0.01, 0.5]))
def test_close_pairs_match_bounding_boxes(seed, margin):
    corners = random_triangles(seed, 40)
    expected = []
    for i, j in itertools.combinations(range(40), 2):
        if boxes_are_close(corners[i], corners[j], margin):
            expected.append((i, j))
    pairs = close_pairs(corners, margin, 10**6)
    assert [tuple(pair) for pair in pairs.tolist()] == expected
    assert close_pairs(corners, margin, len(expected)) is not None
    assert not expected or close_pairs(corners, margin, len(expected) - 1) is None


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), distance=st.sampled_from([0.05, 0.3, 1.0]))
def test_nearer_than_agrees_with_sampled_distances(seed, distance):
    corners = random_triangles(seed, 2)
    near = len(nearer_than(corners, np.array([[0, 1]]), distance)) == 1
    small = nearer_than(corners / 128, np.array([[0, 1]]), distance / 128)
    assert (len(small) == 1) == near
    sampled = sampled_distance(*corners)
    if sampled < distance:
        assert near
    if sampled > distance + 0.2:  # sides are at most 4 * 0.4 * sqrt(3), in 24 steps
        assert not near


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_triangles_cross_if_a_side_passes_through_the_other(seed):
    corners = random_triangles(seed, 2)
    pairs = np.array([[0, 1]])
    crossing = len(find_contacts(corners, pairs, 1e-9).crossing) == 1
    expected = False
    for triangle, face in (corners, corners[::-1]):
        for k in range(3):
            expected |= passes_through(triangle[k], triangle[(k + 1) % 3], face)
    assert crossing == expected
    assert (len(nearer_than(corners, pairs, 1e-12)) == 1) == expected


def passes_through(a, b, face):
    def signed_volume(p, q, r, s):
        return np.linalg.det(np.array([q - p, r - p, s - p]))

    if signed_volume(*face, a) * signed_volume(*face, b) >= 0:
        return False
    signs = [signed_volume(a, b, face[k], face[(k + 1) % 3]) > 0 for k in range(3)]
    return all(signs) or not any(signs)


@pytest.mark.parametrize(
    ("other", "crossing", "covering"),
    [
        ([[1, 1, -1], [1, 1, 1], [1, 9, 1]], True, False),  # through the middle
        ([[1, 1, -0.005], [1, 1, 5], [2, 1, 5]], False, False),  # a tip that barely passes through
        ([[1, 1, -0.5], [1, 1, 5], [2, 1, 5]], True, False),
        ([[0, 0, 0], [4, 0, 0], [0, 0, 4]], False, False),  # joined along a side
        ([[0, 0, 0], [4, 0, 0], [0, 3, 0]], False, True),  # folded back onto it
        ([[0, 0, 0], [4, 0, 0], [0, -4, 0]], False, False),  # next to it in its plane
        ([[1, 1, 0.005], [2, 1, 0.005], [1, 2, 0.005]], False, True),  # almost on it
        ([[1, 1, 0.02], [2, 1, 0.02], [1, 2, 0.02]], False, False),
        ([[1, 1, 0], [2, 1, 0], [1.5, 1.009, 0]], False, False),  # a sliver on it
        ([[4, 0, 0], [8, 0, 0], [4, 4, 0]], False, False),  # meets it in a corner
        ([[-1, -1, 0], [-1, 9, 0], [9, -1, 0]], False, True),  # all around it
    ],
)  # fmt: skip
def test_known_contacts(other, crossing, covering):
    corners = np.array([BASE, other], dtype=float)
    for turned in (corners, corners[::-1], corners[:, ::-1]):
        result = find_contacts(turned, np.array([[0, 1]]), 0.01)
        assert (len(result.crossing), len(result.covering)) == (crossing, covering)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 30))
def test_triangulated_star_shaped_face_keeps_its_area(seed, n):
    rng = random.Random(seed)
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(n))
    ring = np.array([[math.cos(a), math.sin(a)] for a in angles])
    radii = np.array([rng.uniform(1, 5) for _ in range(n)])
    # Two orthonormal axes of a random plane.
    random_axes = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]
    frame = np.linalg.qr(np.array(random_axes))[0][:2]
    mesh = PolygonMesh((ring * radii[:, None]) @ frame, (tuple(range(n)),))
    triangles = triangulate(mesh).corners
    assert len(triangles) == n - 2
    normal = newell_normals(mesh)[0]
    p = mesh.points[triangles]
    parts = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    assert parts.sum(axis=0) == pytest.approx(normal, abs=1e-9)


# Volumes of common parts.


def triangles_of(body):
    mesh = body.to_mesh64()
    points = np.asarray(mesh.vert_properties)[:, :3]
    return points[np.asarray(mesh.tri_verts).astype(int)]


def cells_of_box(low, size):
    sides = [range(a, a + s) for a, s in zip(low, size, strict=True)]
    return set(itertools.product(*sides))


def box_solid(low, size):
    middle = tuple(a + s / 2 for a, s in zip(low, size, strict=True))
    return solid_mesh(Box(kind="box", size=size, translation=middle))


@settings(max_examples=60)
@given(st.lists(a_box, min_size=1, max_size=4), a_box)
def test_volumes_of_boxes_match_cell_counts(solids, other):
    # Boxes on a grid often have coplanar sides, where booleans are delicate.
    parts = parts_of_union([box_solid(*solid) for solid in solids])
    union = set()
    for solid in solids:
        union |= cells_of_box(*solid)
    assert union_volume(parts) == pytest.approx(len(union), abs=1e-6)
    mesh = box_solid(*other)
    corners = mesh.points[triangulate(mesh).corners]
    common = signed_sum(parts, common_volumes(parts, corners))
    assert common == pytest.approx(len(union & cells_of_box(*other)), abs=1e-6)


def round_solids(rng):
    def turn():
        return tuple(float(rng.choice([0, 30, 45, 90, 137])) for _ in range(3))

    def place():
        return tuple(rng.choice([-2.0, 0.0, 1.5]) for _ in range(3))

    return [
        Prism(
            kind="prism",
            radius_bottom=3,
            radius_top=rng.choice([0.0, 2.0, 3.0]),
            height=6,
            segments=rng.choice([3, 8, 13]),
            centred_z=True,
            rotation_deg_xyz=turn(),
            translation=place(),
        ),
        UvSphere(
            kind="uv_sphere",
            radius=3,
            segments=rng.choice([6, 12]),
            rotation_deg_xyz=turn(),
            translation=place(),
        ),
        Box(kind="box", size=(4, 3, 5), rotation_deg_xyz=turn(), translation=place()),
    ]


def as_body(solid):
    mesh = solid_mesh(solid)
    return to_body(mesh.points, triangulate(mesh).corners)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_volumes_of_rotated_solids_match_mesh_booleans(seed):
    rng = random.Random(seed)
    solids = round_solids(rng)
    parts = parts_of_union([solid_mesh(solid) for solid in solids])
    union = unite(as_body(solid) for solid in solids)
    assert union_volume(parts) == pytest.approx(union.volume(), rel=1e-6)
    rod = Manifold.cube((1, 9, 1), center=True)
    other = unite(as_body(solid) for solid in round_solids(rng)[:2]) - rod
    common = signed_sum(parts, common_volumes(parts, triangles_of(other)))
    assert common == pytest.approx((union ^ other).volume(), rel=1e-5, abs=1e-5)


def test_volume_is_rounded_and_zero_is_positive():
    assert volume(Manifold.cube((1, 1, 1.2345674))) == 1.234567
    assert volume(Manifold.cube((1, 1, 1.2345676))) == 1.234568
    assert math.copysign(1, volume(Manifold())) == 1
    # The difference of almost equal bodies can have a volume like this.
    remainder = SimpleNamespace(volume=lambda: -2e-18)
    assert math.copysign(1, volume(remainder)) == 1


def test_vertices_are_moved_slightly_if_the_volumes_do_not_add_up(monkeypatch):
    cube = Manifold.cube((10, 10, 10))
    mesh = cube.to_mesh64()
    points = np.array(mesh.vert_properties)
    corners = np.array(mesh.tri_verts)
    moves = []

    def record(moved_points, triangles):
        moves.append(float(np.abs(moved_points - points).max()))
        return to_body(moved_points, triangles)

    monkeypatch.setattr(mesh_bodies, "to_body", record)
    # A cube has no surplus over itself, so every attempt fails.
    assert difference_bodies(points, corners, cube, 500.0, 0.0) is None
    assert moves[0] == 0
    assert all(0 < move < 1e-7 for move in moves[1:])
