"""How fast unions are judged on one core, validation included, and against OpenSCAD.

``pytest tests/benchmarks/test_csg_union.py --benchmark-enable -n0``. A round judges every answer
once. Where the program ``openscad`` is installed (Debian's package will do), the hardest instances
are also measured the way the paper did: four meshes, exported one after the other. The extra
figures give its seconds and how many verdicts fit into them.
"""

import shutil
import subprocess
import time

import pytest

from scbench.builders.csg_union import TaskBuilder
from scbench.catalog import get_task
from scbench.graders.csg_union.solids import solid_mesh
from scbench.scoring.judge import judge

TASK = get_task("csg_union")
PAPER = [item.params for item in TaskBuilder().paper()]
HARD = [12, 16, 20, 21]

CORNER, SLACK = "cube(0.001);", "cube(0.1, center = true);"
EXPORTS = {
    "R": f"minkowski() {{ union_of_solids(); {CORNER} }}",
    "V": f"minkowski() {{ answer(); {CORNER} }}",
    "I": f"minkowski() {{ both(); {CORNER} }}",
    "D": f"difference() {{ either(); minkowski() {{ both(); {SLACK} }} }}",
}


def answers(params, kind):
    if kind == "counter_reference":
        return list(TaskBuilder().counter_references(params).values())
    return [TaskBuilder().reference(params).model_dump(mode="json")]


@pytest.mark.parametrize("kind", ["reference", "counter_reference"])
@pytest.mark.parametrize("subtask", HARD)
def test_judging(benchmark, subtask, kind):
    given = answers(PAPER[subtask], kind)
    benchmark.extra_info["answers"] = len(given)
    scores = benchmark(lambda: [judge(TASK, PAPER[subtask], a)[0].score for a in given])
    assert all((score == 1) == (kind == "reference") for score in scores)


def polyhedron(points, faces):
    # OpenSCAD winds faces the other way round.
    turned = [list(face)[::-1] for face in faces]
    return f"polyhedron(points = {points}, faces = {turned}, convexity = 10);"


def model(params, answer):
    meshes = [solid_mesh(solid) for solid in params.solids]
    solids = " ".join(polyhedron(mesh.points.tolist(), mesh.faces) for mesh in meshes)
    given = answer["polyhedron"]
    points = [vertex["xyz"] for vertex in given["vertex"]]
    faces = [face["vertex"] for face in given["faces"]]
    return (
        f"module union_of_solids() {{ union() {{ {solids} }} }}\n"
        f"module answer() {{ {polyhedron(points, faces)} }}\n"
        "module both() { intersection() { answer(); union_of_solids(); } }\n"
        "module either() { union() { answer(); union_of_solids(); } }\n"
    )


@pytest.mark.beside
@pytest.mark.parametrize("subtask", HARD)
def test_against_openscad(benchmark, versus, subtask, tmp_path):
    openscad = shutil.which("openscad")
    if openscad is None:
        pytest.skip("OpenSCAD is not installed (Debian: openscad)")
    (answer,) = answers(PAPER[subtask], "reference")
    started = time.perf_counter()
    for name, body in EXPORTS.items():
        path = tmp_path / f"{name}.scad"
        path.write_text(model(PAPER[subtask], answer) + body)
        stl = str(path.with_suffix(".stl"))
        command = [openscad, "-o", stl, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        # Of a right answer nothing may be left in D; OpenSCAD calls that an error.
        assert done.returncode == 0 or "object is empty" in done.stderr, done.stderr[-500:]
    seconds = time.perf_counter() - started
    score = benchmark(lambda: judge(TASK, PAPER[subtask], answer)[0].score)
    assert score == 1
    ours = benchmark.stats["min"]
    versus(f"verdict on csg_union/{subtask:02d}", "the program OpenSCAD", ours, seconds)
