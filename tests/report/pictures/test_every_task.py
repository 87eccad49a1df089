"""Golden drawings of right and wrong answers, and hostile answers."""

import pytest
from drawn_parts import faces

from scbench.catalog import get_task
from scbench.report.draw.svg import Drawing

# For each task: a subtask, the panel that is stored, and answers.
GOLDEN = {
    "classify_behaviour": (0, 0, ("right", "always_known")),
    "enumerate_edges": (2, 0, ("right", "odd_corners_joined")),
    "half_subdivision_neighbours": (5, 0, ("right", "closed_cycle_misreading")),
    "hamiltonian_loop": (1, 0, ("right", "serpentine")),
    "pack_rectangular_prisms": (3, 1, ("right", "smallest_kind_left_out")),
    "pipe_loop_fitting": (2, 0, ("right", "joint_used_twice")),
    "shikaku_rectangles": (0, 0, ("right", "one_grown")),
    "topology_enumeration": (2, 1, ("right", "every_pattern_with_all_classes")),
    "two_segments": (6, 0, ("right", "other_regions", "outside_the_frame")),
}

HUGE = 10**5000
AIR, ROCK = "Air", "Rock"
POSE = ("x", "y", "z", "q0", "q1", "q2", "q3")
UNIT = (1.0, 0.0, 0.0, 0.0)
SNAKE = {"size": (3, 3), "start": (0, 0), "walls": ((1, 1),), "food": ((2, 2), (0, 2))}
VOXELS = {"size": 32, "cells": 3000}
BRICK = ([55.0, 0.0, 4.8], 0.0)
LABELS = [[], [""], ["1" * 100_000], ["01" * 2000] * 3, ["0"] * 400_000]

# For each task: an instance (a subtask or its parameters), the answer's key, the keys of its
# entries if these are objects, and answers.
HOSTILE = [
    ("enumerate_edges", 0, "edges", (), [[], [[]] * 400_000, [[[HUGE, HUGE]]] * 4]),
    ("enumerate_edges", 0, "edges", (), [[[[0, 1]] * 400, [], [], []]]),
    ("fluid_simulation", 10, "earthworks", ("xyzMin", "xyzMax", "material"), [
        [((0, 0, 0), (63, 63, 7), ROCK)],
        [((x, y, 2), (x, y, 2), AIR) for x in range(1, 63, 2) for y in range(1, 63, 2)],
        [((-1e300, 0, 0), (1e300, 5, 5), ROCK)] * 200,
    ]),
    ("half_subdivision_neighbours", 4, "neighbors", (), LABELS),
    ("hamiltonian_loop", {"size": 100, "blocked": []}, "steps", ("xy",), [
        [(10**300, -(10**300))] * 5,
        [(1, 1)] * 50_000,
    ]),
    ("hide_and_seek", 0, "people", ("xy",), [
        [(1e300, -1e300)] * 10,
        [(20.0, 20.0)] * 5_000,
    ]),
    ("hyper_snake", SNAKE, "path", ("pos",), [
        [(10**400, -(10**400))],
        [(0, 0)] * 20_000,
    ]),
    ("largest_printable_prime", 0, "numberSequence", ("digit", "orientation"), [
        [(8, "flat")] * many for many in (0, 1, 999, 30_000)
    ]),
    ("lego_hemispherical_shell", 0, "bricks", ("Centroid", "RotationDegrees"), [
        [BRICK] * many for many in (0, 3_000, 25_000)
    ]),
    ("maze_3d", 0, None, (), ["", "\n" * 50, "A" * 400_000, "A\n" * 200_000]),
    ("maze_3d", 0, None, (), ["AB\0\x1b[31m\ud800", "9" * 200, 7, None]),
    ("pack_rectangular_prisms", 0, "boxes", ("XyzMin", "XyzMax"), [
        [((0, 0, 0), (10**9, 1, 1))],
        [((2 * i, 0, 0), (2 * i + 2, 2, 2)) for i in range(20_000)],
    ]),
    ("pipe_loop_fitting", 39, "points", ("x", "y"), [
        [(1e308, -1e308)] * 420,
        [(1.0, 1.0)] * 30_000,
    ]),
    ("polynomial_curve_fitting", 8, "function", (), [
        "",
        "def f(x, y):\n    return x + y + " + "(" * 400,
        "def f(x, y):\n    return 1e308*x*1e308*x + y - 1e308*1e308",
        "def f(x, y):\n    return x*y" + " + x*y" * 10_000,
    ]),
    ("shikaku_rectangles", 5, "rectangles", (), [
        [[0, 0, 0, 0]] * 100_000,
        [[HUGE, HUGE, 0, 0]] * 40,
    ]),
    ("tetrahedra_shadow_projection", 0, "tetrahedrons", POSE, [
        [(0.0, 0.0, 2.0 * i, *UNIT) for i in range(many)] for many in (0, 3_000)
    ]),
    ("two_segments", 1, "segments", (), [
        [[[1e300, -1e300], [0, 0]], [[0, 0], [-1e308, 1e308]]],
        [[[5e-324, 0], [1, 5e-324]], [[0, 0], [1, 1]]],
    ]),
    ("voxel_grid_projection", VOXELS, "voxels", ("xyz",), [
        [(1e300, -1e300, 0.5)] * 100,
        [(float(i % 32), float(i // 32 % 32), float(i // 1024)) for i in range(32**3)],
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("task", "case"), [(task, case) for task, row in GOLDEN.items() for case in row[2]]
)
def test_golden(drawn, answers, golden, task, case):
    subtask, panel, _ = GOLDEN[task]
    picture = drawn(task, answers(task, subtask)[case], subtask=subtask)
    golden(f"{task}-{case}", picture.panels[panel].view, case)


def test_instance_of_a_shadow(drawn, golden):
    (panel,) = drawn("tetrahedra_shadow_projection", subtask=2).panels
    golden("tetrahedra_shadow_projection-instance", panel.view, "instance")


def entry(keys, row):
    """An object of an answer, as JSON has it."""
    values = row if len(keys) > 1 else (row,)
    result = {}
    for key, value in zip(keys, values, strict=True):
        result[key] = list(value) if isinstance(value, tuple) else value
    return result


@pytest.mark.parametrize(("task", "instance", "key", "keys", "values"), HOSTILE)
def test_hostile_answers_are_drawn_small(drawn, task, instance, key, keys, values):
    chosen = {"subtask": instance}
    if isinstance(instance, dict):
        chosen = {"params": get_task(task).params_model(**instance)}
    for value in values:
        answer = value
        if keys:
            answer = [entry(keys, row) for row in value]
        if key:
            answer = {key: answer}
        picture = drawn(task, answer, **chosen)
        assert "score 1" not in picture.caption.lower()
        for panel in picture.panels:
            if isinstance(panel.view, Drawing):
                assert len(panel.view.render("x")) < 600_000
            else:
                assert faces(panel.view) <= 20_000
        assert max(map(len, (picture.text or "").split("\n"))) <= 120
        assert "\x1b" not in (picture.text or "")
