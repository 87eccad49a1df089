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
    lines = ["solid part"]
    for facet in facets:
        lines.append("facet normal 0 0 0 outer loop")
        lines += ["vertex {:g} {:g} {:g}".format(*corner) for corner in facet]
        lines.append("endloop endfacet")
    return "\n".join([*lines, "endsolid part"])


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
    checks = []
    for name, places in offenders.items():
        details = {"count": len(places), "offenders": places}
        checks.append(Check(name, False, "wrong", details))
    # The task has nine verdicts; the others have nothing to show.
    verdicts = (Verdict(0.0, tuple(checks)), *[Verdict(0.0, ())] * 8)
    return draw_of(task)(params, answer, verdicts)


def test_right_answer_is_assembled_exploded_and_laid_out(drawn, answers):
    drawing = drawn(TASK, answers(TASK)["right"])
    assert [panel.title for panel in drawing.panels[:3]] == TITLES
    scenes = [panel.view for panel in drawing.panels[:3]]
    for scene in scenes:
        assert not [part for part in scene.parts if part.role == "wrong"]
    together, apart, on_beds = map(meshes_of, scenes)
    assert len(together) == len(apart) == len(on_beds) == 10
    assert sum(len(mesh.faces) for mesh in together) <= 20_000
    points = np.concatenate([mesh.points for mesh in together])
    assert points.min(axis=0) == pytest.approx([-185, -185, 0], abs=0.01)
    assert points.max(axis=0) == pytest.approx([185, 185, 720], abs=0.01)
    exploded = np.concatenate([mesh.points for mesh in apart])
    assert (np.ptp(exploded, axis=0) > 1.2 * np.ptp(points, axis=0)).all()
    for mesh in on_beds:
        assert np.ptp(mesh.points[:, 2]) <= 50
    assert drawing.caption == "10 parts, 10 required; 9 of 9 criteria met."


def meshes_of(scene):
    return [part for part in scene.parts if isinstance(part, Mesh)]


def test_cut_is_as_wide_as_a_scene():
    params = get_task(TASK).builder().paper()[0].params
    title, cut = rod_section(params, [], {})
    assert title == "cut along the rod at (180, 180), drawn 10 times as wide"
    panel = rendered(Panel(title, cut, ""), dark=False)
    scene = rendered(Panel("", Scene(()), ""), dark=False)
    assert panel.width == pytest.approx(scene.width)


def test_programs_are_not_run_and_rubbish_is_not_drawn(monkeypatch):
    def refuse(*_):
        raise AssertionError("nothing is to be run")

    monkeypatch.setattr("scbench.machine.sandbox.run_python", refuse)
    program = part("print('solid x')", kind="Python Generating STL")
    drawing = picture([program, part("no solid"), part()])
    assert "2 cannot be drawn" in drawing.caption
    assert len(meshes_of(drawing.panels[0].view)) == 1
    drawing = picture([program])
    assert drawing.panels[0].title == "the task; no part can be drawn"


def test_busy_machine_has_time_to_read_the_parts():
    assert LIMITS.deadline >= 10 * LIMITS.seconds
    # The child ends first, so that the picture shows the parts that need no child.
    assert LIMITS.deadline < SECONDS
