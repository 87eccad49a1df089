"""CSG union: each check, the score formula, and volumes measured a second way."""

import itertools
import math
import random

import numpy as np
import pytest
from bounds import a_minute_of_work
from manifold3d import Manifold

from scbench.builders.csg_union import TaskBuilder
from scbench.catalog import get_task
from scbench.graders.csg_union.convex_parts import union_volume
from scbench.graders.csg_union.solids import solid_body, union_body, union_parts
from scbench.graders.csg_union.surface_areas import areas_of
from scbench.graders.shared.mesh_bodies import unite
from scbench.schemas.csg_union import Params
from scbench.scoring.judge import judge

TASK = get_task("csg_union")
PAPER = [item.params for item in TaskBuilder().paper()]

# The specification's volumes, from meshes in double precision.
VOLUMES = [
    1800, 1750, 2000, 8000, 8812.5, 5000, 7000, 1500, 1288.456, 4000, 3000, 1913.597819046,
    2450.519932467, 824.695967375, 730.676190233, 405, 2710.926522439, 2000, 1171.572875254, 4500,
    1252.138270736, 3904,
]  # fmt: skip

CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
CUBE_FACES = [
    [0, 1, 3, 2],
    [4, 6, 7, 5],
    [0, 4, 5, 1],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 5, 7, 3],
]
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
SPHERE = 16
"""The item whose solids have the most faces: a sphere and a cube."""
STEPS_TO_SIDES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


def box(low, high):
    """Return the vertices of a box; its faces are those of the cube."""
    vertices = []
    for corner in CUBE:
        ends = zip(low, high, corner, strict=True)
        vertices.append([b if is_high else a for a, b, is_high in ends])
    return vertices


def mesh(vertices, faces):
    return {
        "polyhedron": {
            "vertex": [{"xyz": list(v)} for v in vertices],
            "faces": [{"vertex": list(f)} for f in faces],
        }
    }


def boxes(*pairs, turned=()):
    """Return one mesh of separate boxes; those in ``turned`` have reversed faces."""
    vertices, faces = [], []
    for i, (low, high) in enumerate(pairs):
        own = [[8 * i + k for k in face] for face in CUBE_FACES]
        faces += [face[::-1] for face in own] if i in turned else own
        vertices += box(low, high)
    return mesh(vertices, faces)


def verdict(subtask, answer):
    (only,) = judge(TASK, PAPER[subtask], answer)
    return only


def failed(subtask, answer):
    checks = verdict(subtask, answer).checks
    return {check.id for check in checks if check.passed is False}


def reference(subtask):
    return TaskBuilder().reference(PAPER[subtask]).model_dump(mode="json")


# Volumes.


def test_union_volumes_match_specification_and_mesh_booleans():
    volumes = [union_volume(union_parts(params)) for params in PAPER]
    assert volumes == pytest.approx(VOLUMES, abs=1e-6)
    assert volumes == pytest.approx([union_body(p).volume() for p in PAPER], abs=1e-6)


def test_score_formula():
    # Subtask 0 is a box of 18 x 10 x 10: V = 1800. The first answer covers half of it: I = 900.
    low, high = [-5, -5, -5], [13, 5, 5]
    assert verdict(0, boxes((low, high))).score == 1
    half = verdict(0, boxes(([4, -5, -5], [22, 5, 5])))
    assert half.metrics["volume_common"] == 900
    assert half.metrics["volume_difference"] == 1800
    assert half.score == 0.0  # 900/1800 - 0.5 * 1800/1800
    part = verdict(0, boxes((low, [4, 5, 5])))
    assert part.score == 0.25  # 0.5 - 0.5 * 0.5
    assert part.metrics["missing"] == [
        {"volume": 900.0, "low": (4, -5, -5), "high": (13, 5, 5)}
    ]
    more = verdict(0, boxes((low, [22, 5, 5])))
    assert more.score == 0.75  # 1 - 0.5 * 900/1800
    assert more.metrics["surplus"] == [
        {"volume": 900.0, "low": (13, -5, -5), "high": (22, 5, 5)}
    ]
    assert more.metrics["missing"] == []


def test_full_score_starts_above_095():
    low = [-5, -5, -5]
    assert verdict(0, boxes((low, [14.8, 5, 5]))).score == 0.95
    assert verdict(0, boxes((low, [14.799, 5, 5]))).score == 1
    assert failed(0, boxes((low, [14.8, 5, 5]))) == {"union"}


# Checks.


def test_unmerged_nested_solids_are_rejected():
    inner, outer = ([-5] * 3, [5] * 3), ([-10] * 3, [10] * 3)
    assert failed(3, boxes(outer, inner)) == {"nesting"}
    # Reversed, the inner cube is a void, so the body is hollow: I = V = 7000 of 8000. All walls of
    # the void are inner walls.
    for turned in ({1}, {0}):  # the second answer is inside out
        result = verdict(3, boxes(outer, inner, turned=turned))
        assert result.metrics["score_by_volume"] == 0.8125
        assert result.score == 0


# Inner walls.


def halves(low, high, gap, hair=0.0, height=0.0):
    """Return a box cut in two across x; a hair or a ribbon of some height may join the halves."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    middle = (x0 + x1) / 2
    size = (middle - gap / 2 - x0, y1 - y0, z1 - z0)
    body = Manifold.cube(size).translate(low)
    body += Manifold.cube(size).translate((middle + gap / 2, y0, z0))
    if hair:
        thread = Manifold.cube((gap + 1, hair, height or hair), center=True)
        body += thread.translate((middle, (y0 + y1) / 2, (z0 + z1) / 2))
    return polyhedron_of(body)


def polyhedron_of(body, decimals=9):
    manifold_mesh = body.to_mesh64()
    points = np.round(np.asarray(manifold_mesh.vert_properties)[:, :3], decimals)
    return mesh(points.tolist(), np.asarray(manifold_mesh.tri_verts).tolist())


@pytest.mark.parametrize(
    ("gap", "hair", "height"),
    [(0.02, 0, 0), (0.5, 0.05, 0), (0.1, 0.02, 9.5), (0.5, 0.3, 0.02)],
)
def test_barely_joined_halves_score_0(gap, hair, height):
    # Subtask 0 is a box of 18 x 10 x 10. Its two boxes meet where it is cut.
    result = verdict(0, halves([-5] * 3, [13, 5, 5], gap, hair, height))
    assert result.metrics["score_by_volume"] > 0.95
    assert result.score == 0
    walls = result.failed[0]
    assert walls.id == "inner_walls"
    assert walls.details["union"] == 920
    assert 130 < walls.details["area"] <= 200
    bodies = [check for check in result.failed if check.id == "bodies"]
    assert bool(bodies) == (not hair)


def neighbours_of(cell, steps):
    x, y, z = cell
    return {(x + dx, y + dy, z + dz) for dx, dy, dz in steps}


def test_slot_costs_its_inner_wall_area():
    block = Manifold.cube((18, 10, 10)).translate((-5, -5, -5))
    slot = Manifold.cube((0.1, 12, 2)).translate((4, -6, 3))
    result = verdict(0, polyhedron_of(block - slot))
    (walls,) = result.failed
    assert walls.details["area"] == pytest.approx(2 * 10 * 2, abs=0.002 * 920)
    assert result.score == pytest.approx(1.25 * (1 - walls.details["area"] / 92))
    # A missing corner has no inner walls: no line out of its walls meets the mesh.
    notch = Manifold.cube((30, 12, 4)).translate((4, -6, 1))
    result = verdict(0, polyhedron_of(block - notch))
    assert [check.id for check in result.failed] == ["union"]
    assert result.score == result.metrics["score_by_volume"]


@pytest.mark.parametrize("shift", [(0.15, 0.1, 0.12), (-0.15, 0.1, -0.12)])
def test_slightly_misplaced_notches_are_not_inner_walls(shift):
    # Two bars that cross at 25 degrees. The ends of the moved notches lie within the union.
    bar = {"kind": "box", "size": (20, 4, 6), "translation": (0, 0, 0)}
    turned = bar | {"rotation_deg_xyz": (0, 0, 25)}
    params = Params.model_validate({"solids": [bar, turned]})
    body = unite([solid_body(solid) for solid in params.solids]).translate(shift)
    (result,) = judge(TASK, params, polyhedron_of(body))
    walls = next(check for check in result.checks if check.id == "inner_walls")
    assert walls.passed
    assert walls.details["area"] > 0
    assert result.score == result.metrics["score_by_volume"] < 0.95


def test_small_inner_walls_count_where_solids_barely_touch():
    # Two boxes that touch on an area of 2 x 2; in the answer, a hair joins them instead.
    solids = [
        {"kind": "box", "size": (10, 10, 10), "translation": (0, 0, 0)},
        {"kind": "box", "size": (10, 10, 10), "translation": (10, 8, 8)},
    ]
    params = Params.model_validate({"solids": solids})
    first, second = (solid_body(solid) for solid in params.solids)
    hair = Manifold.cube((1, 0.05, 0.05)).translate((4.5, 4, 4))
    body = (first - second.translate((-0.0101, 0, 0))) + hair
    body += second.translate((0.0101, 0, 0))
    assert areas_of(params).hidden == pytest.approx(8)
    (result,) = judge(TASK, params, polyhedron_of(body))
    assert result.metrics["score_by_volume"] > 0.95
    assert [check.id for check in result.failed] == ["inner_walls"]
    assert result.score < 0.1


def test_extra_bodies_halve_the_score_unless_a_solid_is_missing():
    low, high = [-5, -5, -5], [13, 5, 5]
    result = verdict(0, boxes((low, high), ([20] * 3, [21] * 3)))
    assert [check.id for check in result.failed] == ["bodies"]
    assert result.score == 0.5
    # Three cubes as stairs: without the middle one, the other two do not meet.
    first, middle, last = (solid_body(solid) for solid in PAPER[10].solids)
    result = verdict(10, polyhedron_of(first + last))
    assert [check.id for check in result.failed] == ["union"]
    assert result.score == pytest.approx(0.5)
    # A smaller middle one, with gaps around it, is present, so the bodies count.
    smaller = middle.scale((0.9, 0.9, 0.9))
    centre = np.array(middle.bounding_box()).reshape(2, 3).mean(axis=0)
    result = verdict(10, polyhedron_of(first + last + smaller.translate(centre / 10)))
    assert "bodies" in {check.id for check in result.failed}


def test_void_of_a_union_has_no_inner_walls():
    assert verdict(21, reference(21)).failed == ()


def test_rounded_unions_of_another_kernel_have_no_inner_walls():
    for params in PAPER[::4]:
        body = unite([solid_body(solid) for solid in params.solids])
        assert areas_of(params).union == pytest.approx(body.surface_area(), rel=1e-7)
        result = judge(TASK, params, polyhedron_of(body, 3))[0]
        assert result.failed == ()


def cells_of(low, high):
    """Return the cells of half a unit in a box."""
    sides = [range(round(2 * a), round(2 * b)) for a, b in zip(low, high, strict=True)]
    return set(itertools.product(*sides))


def surface_of(cells):
    """Count the sides of cells that have no cell behind them."""
    return sum(len(neighbours_of(cell, STEPS_TO_SIDES) - cells) for cell in cells)


def passages(boxes, start, way):
    """Return where a line enters and leaves each box; it misses a box it enters after leaving."""
    low = np.array([low for low, _ in boxes], dtype=float)
    high = np.array([high for _, high in boxes], dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        near, far = (low - start) / way, (high - start) / way
    # A line parallel to a side is inside its slab everywhere or nowhere.
    along = np.abs(way) < 1e-12
    inside = (low - 1e-9 < start) & (start < high + 1e-9)
    first = np.where(along, np.where(inside, -np.inf, np.inf), np.minimum(near, far))
    last = np.where(along, np.where(inside, np.inf, -np.inf), np.maximum(near, far))
    return first.max(axis=1), last.min(axis=1)


def points_of_side(ends, axis, at, step):
    """Return the points of a grid on one side of a box, which is at one end of an axis."""
    low, high = ends
    coordinates = []
    for k in range(3):
        if k == axis:
            coordinates.append([at])
        else:
            coordinates.append(np.arange(low[k] + step / 2, high[k], step))
    return itertools.product(*coordinates)


def is_shut_in(start, normal, solids, answer):
    """Return whether each of nine ways out meets the answer before leaving the union."""
    first = np.roll(normal, 1)
    second = np.cross(normal, first)
    ways = [np.array(normal, dtype=float)]
    for k in range(8):
        turn = k * math.pi / 4
        flat = math.cos(turn) * first + math.sin(turn) * second
        ways.append(math.sqrt(0.75) * flat + 0.5 * np.array(normal))
    for way in ways:
        out = 0.0
        enter, leave = passages(solids, start, way)
        for _ in solids:
            out = max([out, *leave[(enter <= out + 1e-9) & (leave > enter)]])
        enter, leave = passages(answer, start, way)
        ahead = enter[(leave > enter) & (enter > 1e-6)]
        if ahead.min(initial=np.inf) >= out - 1e-6:
            return False
    return True


def inner_walls_of(solids, answer, step=0.125):
    """Return the area of enclosed box sides, sampled at points a step apart."""
    count = 0
    for low, high in answer:
        for axis in range(3):
            for at, sign in ((low[axis], -1), (high[axis], 1)):
                normal = np.zeros(3)
                normal[axis] = sign
                for start in points_of_side((low, high), axis, at, step):
                    count += is_shut_in(np.array(start), normal, solids, answer)
    return count * step**2


def count_touching_groups(cells):
    """Count the groups of cells that touch, including at corners."""
    return count_groups(cells, list(itertools.product((-1, 0, 1), repeat=3)))


def count_joined_groups(cells):
    """Count the groups of cells that share a side."""
    return count_groups(cells, STEPS_TO_SIDES)


def count_groups(cells, steps):
    """Count the groups of cells, with these steps from a cell to its neighbours."""
    count, remaining = 0, set(cells)
    while remaining:
        count += 1
        waiting = [remaining.pop()]
        while waiting:
            found = remaining & neighbours_of(waiting.pop(), steps)
            remaining -= found
            waiting += found
    return count


def cells_of_all(boxes):
    return set().union(*(cells_of(*ends) for ends in boxes))


def present_solids(solids, taken):
    """Return the solids of which the answer has half of the volume that is theirs alone."""
    present = []
    for i, ends in enumerate(solids):
        alone = cells_of(*ends) - cells_of_all(solids[:i] + solids[i + 1 :])
        if 2 * len(alone & taken) >= len(alone):
            present.append(ends)
    return present


def score_by_volume(union, taken):
    common = len(union & taken) / len(union)
    difference = len(union ^ taken) / len(union)
    score = common - 0.5 * difference
    return 1.0 if score > 0.95 else max(0.0, score)


def wall_factor(walls, area, hidden):
    if not walls:
        return 1.0
    if not hidden:
        return 0.0
    limit = min(area / 10, hidden)
    return min(1.0, max(0.0, 1.25 * (1 - walls / limit)))


@pytest.mark.parametrize("seed", range(24))
def test_scores_of_boxes_match_cell_counts(seed):
    rng = random.Random(seed)

    def draw():
        low = [rng.randrange(10) / 2 for _ in range(3)]
        return low, [a + rng.randrange(1, 8) / 2 for a in low]

    solids = [draw() for _ in range(rng.randrange(1, 5))]
    listed = []
    for ends in solids:
        low, high = np.array(ends)
        size, middle = (high - low).tolist(), ((low + high) / 2).tolist()
        listed.append({"kind": "box", "size": size, "translation": middle})
    params = Params.model_validate({"solids": listed})

    # The answer consists of boxes that do not touch each other.
    answer, taken = [], set()
    for ends in [*solids, *(draw() for _ in range(4))]:
        more = taken | cells_of(*ends)
        if rng.random() < 0.7 and count_touching_groups(more) == len(answer) + 1:
            answer.append(ends)
            taken = more
    if not answer:
        return
    result = judge(TASK, params, boxes(*answer))[0]

    union = cells_of_all(solids)
    # Sides of cells have an area of a quarter.
    area = surface_of(union) / 4
    hidden = sum(surface_of(cells_of(*ends)) for ends in solids) / 4 - area
    assert areas_of(params) == pytest.approx((area, hidden))
    walls = result.checks[-3].details.get("area", 0.0)
    expected_walls = inner_walls_of(solids, answer)
    assert walls == pytest.approx(expected_walls, abs=0.01 + 0.01 * area)
    expected = score_by_volume(union, taken) * wall_factor(walls, area, hidden)
    joined = cells_of_all(present_solids(solids, taken))
    if len(answer) > max(count_joined_groups(union), count_joined_groups(joined)):
        expected *= 0.5
    assert result.score == pytest.approx(expected, abs=1e-8)


def test_inside_out_mesh_is_reversed_with_a_note():
    for subtask in (0, 16, 21):
        answer = reference(subtask)
        for face in answer["polyhedron"]["faces"]:
            face["vertex"].reverse()
        result = verdict(subtask, answer)
        assert result.score == 1
        assert result.notes == ("the mesh was inside out and has been reversed",)


@pytest.mark.parametrize(
    ("gap", "apart"), [(-0.005, False), (0, False), (0.0099, False), (0.0101, True)]
)
def test_shells_nearer_than_001_touch(gap, apart):
    answer = boxes(([-5] * 3, [5] * 3), ([5 + gap, -5, -5], [15, 5, 5]))
    assert ("touching" not in failed(17, answer)) == apart
    assert ("volume_answer" in verdict(17, answer).metrics) == apart


@pytest.mark.parametrize(
    ("lift", "flat"), [(0.0399, True), (0.04, True), (0.0401, False)]
)
def test_faces_may_be_uneven_by_001(lift, flat):
    # If one corner of a square is lifted by h, all four are h/4 off the best plane.
    answer = boxes(([-5, -5, -5], [13, 5, 5]))
    answer["polyhedron"]["vertex"][7]["xyz"][2] += lift
    assert ("planar_faces" not in failed(0, answer)) == flat


@pytest.mark.parametrize(("shift", "same"), [(4e-7, True), (1.1e-6, False)])
def test_vertices_with_six_equal_decimals_are_duplicates(shift, same):
    answer = boxes(([-5, -5, -5], [13, 5, 5]))
    answer["polyhedron"]["vertex"].append({"xyz": [-5, -5, -5 + shift]})
    assert (failed(0, answer) == {"duplicate_vertices"}) == same


def test_outliers_are_far_by_both_measures():
    def with_vertex(subtask, xyz):
        answer = reference(subtask)
        answer["polyhedron"]["vertex"].append({"xyz": xyz})
        return failed(subtask, answer)

    assert with_vertex(16, [1000, 0, 0]) == {"outliers"}
    assert with_vertex(16, [99, 0, 0]) == set()
    # One of nine vertices cannot be ten times as far from the mean as the average.
    assert with_vertex(0, [1000, 0, 0]) == set()


def test_faces_must_be_simple():
    crossing = [[0, 0, 0], [4, 0, 0], [0, 3, 0], [3, 4, 0]]
    double_loop = [
        [0, 0, 0],
        [9, 0, 0],
        [9, 9, 0],
        [1, 9, 0],
        [1, 1, 0],
        [8, 1, 0],
        [8, 8, 0],
        [0, 8, 0],
    ]
    for ring in (crossing, double_loop):
        assert "simple_faces" in failed(0, mesh(ring, [range(len(ring))])), ring
    concave = [[0, 0, 0], [9, 0, 0], [9, 9, 0], [8, 9, 0], [8, 1, 0], [0, 1, 0]]
    assert "simple_faces" not in failed(0, mesh(concave, [range(6)]))


def extruded(ring):
    """Return a prism of depth 10 over a polygon, counter-clockwise from above."""
    n = len(ring)
    vertices = [(x, y, z) for z in (0, 10) for x, y in ring]
    walls = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return mesh(vertices, [range(n - 1, -1, -1), range(n, 2 * n), *walls])


@pytest.mark.parametrize(
    ("thickness", "thin"), [(0.0001, True), (0.0099, True), (0.0101, False)]
)
def test_walls_thinner_than_001_touch(thickness, thin):
    left, right = 5, 5 + thickness
    fin = [(0, 0), (9, 0), (9, 5), (right, 5), (right, 9), (left, 9), (left, 5), (0, 5)]
    slit = [
        (0, 0),
        (9, 0),
        (9, 5),
        (right, 5),
        (right, 1),
        (left, 1),
        (left, 5),
        (0, 5),
    ]
    expected = {"touching"} if thin else {"union"}
    for ring in (fin, slit):
        assert failed(0, extruded(ring)) - {"inner_walls", "bodies"} == expected


# Hostile answers.


def repeated(count, *, faces):
    """Return a cube with its first face or vertex listed many times."""
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
    """Return many cubes, each given by low corner, size, and whether its faces point inwards."""
    vertices, faces = [], []
    for low, size, inwards in places:
        start = len(vertices)
        vertices += [[a + size * t for a, t in zip(low, v, strict=True)] for v in CUBE]
        for face in CUBE_FACES:
            shifted = [start + k for k in face]
            faces.append(shifted[::-1] if inwards else shifted)
    return mesh(vertices, faces)


def globe(n):
    """Return a ball of n rings of 2 n vertices and two poles: 4 n (n - 1) triangles."""
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
    vertices = [[rng.uniform(-9, 9), rng.uniform(-9, 9), 0] for _ in range(n)]
    return mesh(vertices, [range(n)])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_meshes_are_graded_or_rejected_quickly(name):
    answer = HOSTILE[name]()
    with a_minute_of_work():
        given = verdict(SPHERE, answer)
    assert given.score < 1
    assert given.checks
