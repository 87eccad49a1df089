"""CSG union: meshes made to hurt the grader are judged or refused, in little time and memory."""

import math
import random

import pytest
from bounds import a_minute_of_work

from scbench.catalog import get_task
from scbench.scoring.judge import judge

CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
CUBE_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def mesh(vertices, faces):
    return {
        "polyhedron": {
            "vertex": [{"xyz": list(v)} for v in vertices],
            "faces": [{"vertex": list(f)} for f in faces],
        }
    }


def repeated(count, *, faces):
    """A cube with its first face, or its first vertex, listed so many times."""
    answer = mesh(CUBE, CUBE_FACES)
    listed = answer["polyhedron"]["faces" if faces else "vertex"]
    listed[:1] *= count
    return answer


def scaled(factor):
    return mesh([[factor * c for c in v] for v in CUBE], CUBE_FACES)


def ring(n, z):
    angles = [2 * math.pi * k / n for k in range(n)]
    return [[10 * math.cos(a), 10 * math.sin(a), z] for a in angles]


def prism(n):
    walls = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    vertices = ring(n, -10) + ring(n, 10)
    return mesh(vertices, [range(n - 1, -1, -1), range(n, 2 * n), *walls])


def cubes(places):
    """Many cubes, each (low corner, size, whether its faces point inwards)."""
    vertices, faces = [], []
    for low, size, inwards in places:
        start = len(vertices)
        vertices += [[a + size * t for a, t in zip(low, v, strict=True)] for v in CUBE]
        for face in CUBE_FACES:
            shifted = [start + k for k in face]
            faces.append(shifted[::-1] if inwards else shifted)
    return mesh(vertices, faces)


def globe(n):
    """A ball of n rings of 2 n vertices and two poles: 4 n (n - 1) triangles and more."""
    vertices = [[0, 0, 9.0]]
    for i in range(1, n):
        polar = math.pi * i / n
        vertices += [
            [x * 0.9 * math.sin(polar), y * 0.9 * math.sin(polar), 9 * math.cos(polar)]
            for x, y, _ in ring(2 * n, 0)
        ]
    vertices.append([0, 0, -9.0])
    m, last = 2 * n, len(vertices) - 1
    faces = [[0, 1 + k, 1 + (k + 1) % m] for k in range(m)]
    for i in range(n - 2):
        a = 1 + i * m
        for k in range(m):
            p, q = a + k, a + (k + 1) % m
            faces += [[p, p + m, q], [q, p + m, q + m]]
    faces += [[last, last - 1 - k, last - 1 - (k + 1) % m] for k in range(m)]
    return mesh(vertices, faces)


def soup(n, flat):
    rng = random.Random(n)
    bounds = (9, 9, 0 if flat else 9)
    vertices = [[rng.uniform(-bound, bound) for bound in bounds] for _ in range(n)]
    return mesh(vertices, [rng.sample(range(n), 3) for _ in range(n)])


def zigzag(n):
    rng = random.Random(n)
    return mesh([[rng.uniform(-9, 9), rng.uniform(-9, 9), 0] for _ in range(n)], [range(n)])


HOSTILE = {
    "a_million_faces": lambda: repeated(10**6, faces=True),
    "100000_equal_faces": lambda: repeated(10**5, faces=True),
    "a_face_of_one_vertex_100000_times": lambda: mesh(CUBE, [[0] * 10**5]),
    "two_faces_of_5000": lambda: mesh(ring(5000, 0), [range(5000), range(4999, -1, -1)]),
    "prism_of_2400": lambda: prism(2400),
    "crossing_face_of_9000": lambda: zigzag(9000),
    "soup": lambda: soup(10_000, flat=False),
    "globe_at_the_limit": lambda: globe(49),
    "800_cubes_apart": lambda: cubes(
        [((2 * (i % 10), 2 * (i // 10 % 10), 2 * (i // 100)), 1, False) for i in range(800)]
    ),
    "800_cubes_stacked": lambda: cubes([((i * 1.005, 0, 0), 1, False) for i in range(800)]),
    "400_cubes_nested": lambda: cubes(
        [((-9 - i / 9,) * 3, 18 + i / 4.5, i % 2 == 0) for i in range(400)]
    ),
    "1e300": lambda: scaled(1e300),
    "denormal": lambda: scaled(5e-324),
    "whole_numbers_of_400_digits": lambda: scaled(10**400),
    "indices_of_400_digits": lambda: mesh(CUBE, [[0, 1, 10**400], *CUBE_FACES[1:]]),
    "all_vertices_in_one_place": lambda: mesh([[1, 1, 1]] * 8, CUBE_FACES),
}  # fmt: skip

SUBTASK = 16
"""Sphere and cube: the instance whose solids have the most faces."""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mesh_is_judged_or_refused_in_little_time(name):
    task = get_task("csg_union")
    params = task.builder().paper()[SUBTASK].params
    answer = HOSTILE[name]()
    with a_minute_of_work():
        (verdict,) = judge(task, params, answer)
    assert verdict.score < 1
    assert verdict.checks
