"""Parts of a cage: clashes, blocked rods, overhangs and faulty parts are marked."""

import numpy as np
import pytest

from scbench.base.model import Check, Verdict
from scbench.catalog import get_task
from scbench.report.draw.scene import Mesh, Scene, boxes
from scbench.report.figures import SECONDS
from scbench.report.picture import Panel, draw_of
from scbench.report.pictures.interlocking_parts import LIMITS, rod_section
from scbench.report.sheet import rendered

TASK = "interlocking_parts"
TITLES = ["put together", "taken apart", "on the bed, as printed"]


def stl(*corners, holes=0):
    """Boxes as an STL file, without the last triangles."""
    mesh = boxes(corners, "answer")
    facets = mesh.points[mesh.faces][: len(mesh.faces) - holes]
    lines = [
        f"facet normal 0 0 0 outer loop {_vertices(f)} endloop endfacet" for f in facets
    ]
    return "\n".join(["solid part", *lines, "endsolid part"])


def _vertices(facet):
    return " ".join("vertex {:g} {:g} {:g}".format(*corner) for corner in facet)


BAR = stl(((-100, -5, 0), (100, 5, 10)))


def part(contents=BAR, shift=(0, 0, 0), kind="STL"):
    x, y, z = map(float, shift)
    matrix = [1.0, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1]
    return {"fileContents": contents, "fileType": kind, "transform": matrix}


def picture(parts, **offenders):
    """Draw parts with one verdict in which the named checks point at offenders."""
    task = get_task(TASK)
    params = task.builder().paper()[0].params
    answer = task.answer_model.model_validate({"parts": parts})
    checks = tuple(
        Check(name, False, "wrong", {"count": len(found), "offenders": found})
        for name, found in offenders.items()
    )
    return draw_of(task)(
        params, answer, (Verdict(0.0, checks), *[Verdict(0.0, ())] * 8)
    )


def test_right_answer_is_assembled_exploded_and_laid_out(drawn, answers):
    found = drawn(TASK, answers(TASK)["right"])
    assert [panel.title for panel in found.panels[:3]] == TITLES
    together, apart, beds = (panel.view for panel in found.panels[:3])
    meshes = [
        [p for p in scene.parts if isinstance(p, Mesh)]
        for scene in (together, apart, beds)
    ]
    assert [len(m) for m in meshes] == [10, 10, 10]
    assert sum(len(mesh.faces) for mesh in meshes[0]) <= 20_000
    ends = np.concatenate([mesh.points for mesh in meshes[0]])
    assert ends.min(axis=0) == pytest.approx([-185, -185, 0], abs=0.01)
    assert ends.max(axis=0) == pytest.approx([185, 185, 720], abs=0.01)
    wide = np.ptp(np.concatenate([mesh.points for mesh in meshes[1]]), axis=0)
    assert (wide > np.ptp(ends, axis=0) * 1.2).all()
    assert all(np.ptp(mesh.points[:, 2]) <= 50 for mesh in meshes[2])
    assert not any(
        p.role == "wrong" for scene in (together, apart, beds) for p in scene.parts
    )
    assert found.caption == "10 parts, 10 required; 9 of 9 criteria met."


def test_cut_is_as_wide_as_a_scene():
    params = get_task(TASK).builder().paper()[0].params
    title, cut = rod_section(params, [], {})
    assert title == "cut along the rod at (180, 180), 10 times as wide"
    panel = rendered(Panel(title, cut, ""), dark=False)
    scene = rendered(Panel("", Scene(()), ""), dark=False)
    assert panel.width == pytest.approx(scene.width)


def test_programs_are_not_run_and_rubbish_is_not_drawn(monkeypatch):
    def refuse(*_):
        raise AssertionError("nothing is to be run")

    monkeypatch.setattr("scbench.machine.sandbox.run_python", refuse)
    program = part("print('solid x')", kind="Python Generating STL")
    found = picture([program, part("no solid"), part()])
    assert "2 cannot be drawn" in found.caption
    assert len([p for p in found.panels[0].view.parts if isinstance(p, Mesh)]) == 1
    found = picture([program])
    assert found.panels[0].title == "the task; no part can be drawn"


def test_busy_machine_has_time_to_read_the_parts():
    assert LIMITS.deadline >= 10 * LIMITS.seconds
    # The child ends first, so that the picture shows the parts that need no child.
    assert LIMITS.deadline < SECONDS
