"""Parts of a cage: clashes, blocked rods, overhangs and parts that break a rule are marked."""

import numpy as np
import pytest
from drawn_parts import bounds, of

from scbench.base.model import Check, Verdict
from scbench.catalog import get_task
from scbench.report.draw.scene import Lines, Marks, Mesh, boxes
from scbench.report.picture import draw_of

TASK = "interlocking_parts"
TITLES = ["put together", "taken apart", "on the bed, as printed"]


def stl(*corners, holes=0):
    """Boxes as an STL file, without the last triangles."""
    mesh = boxes(corners, "answer")
    facets = mesh.points[mesh.faces][: len(mesh.faces) - holes]
    lines = [f"facet normal 0 0 0 outer loop {_vertices(f)} endloop endfacet" for f in facets]
    return "\n".join(["solid part", *lines, "endsolid part"])


def _vertices(facet):
    return " ".join("vertex {:g} {:g} {:g}".format(*corner) for corner in facet)


BAR = stl(((-100, -5, 0), (100, 5, 10)))


def part(contents=BAR, shift=(0, 0, 0), kind="STL"):
    x, y, z = map(float, shift)
    matrix = [1.0, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1]
    return {"fileContents": contents, "fileType": kind, "transform": matrix}


def picture(parts, **offenders):
    """Draw parts with one verdict in which the checks named point at offenders."""
    task = get_task(TASK)
    params = task.builder().paper()[0].params
    answer = task.answer_model.model_validate({"parts": parts})
    checks = tuple(
        Check(name, False, "wrong", {"count": len(found), "offenders": found})
        for name, found in offenders.items()
    )
    return draw_of(task)(params, answer, (Verdict(0.0, checks), *[Verdict(0.0, ())] * 8))


def test_a_right_answer_is_put_together_taken_apart_and_laid_out(drawn, answers):
    found = drawn(TASK, answers(TASK)["right"])
    assert [panel.title for panel in found.panels[:3]] == TITLES
    together, apart, beds = (panel.view for panel in found.panels[:3])
    meshes = [[p for p in scene.parts if isinstance(p, Mesh)] for scene in (together, apart, beds)]
    assert [len(m) for m in meshes] == [10, 10, 10]
    assert sum(len(mesh.faces) for mesh in meshes[0]) <= 20_000
    ends = np.concatenate([mesh.points for mesh in meshes[0]])
    assert ends.min(axis=0) == pytest.approx([-185, -185, 0], abs=0.01)
    assert ends.max(axis=0) == pytest.approx([185, 185, 720], abs=0.01)
    wide = np.ptp(np.concatenate([mesh.points for mesh in meshes[1]]), axis=0)
    assert (wide > np.ptp(ends, axis=0) * 1.2).all()
    assert all(np.ptp(mesh.points[:, 2]) <= 50 for mesh in meshes[2])
    assert not any(p.role == "wrong" for scene in (together, apart, beds) for p in scene.parts)
    assert found.caption == "10 parts, 10 asked for; 9 of 9 criteria met."


def test_what_overlaps_is_a_solid_box_with_the_numbers_of_the_parts(drawn, answers):
    found = drawn(TASK, answers(TASK)["one_part_shifted_into_another"])
    together = found.panels[0].view
    (clash,) = of(together, Mesh, "wrong")
    (marks,) = of(together, Marks, "wrong")
    assert len(marks.labels) == len(clash.points) / 8
    for label, place in zip(marks.labels, marks.points, strict=True):
        first, second = (f"part {n}" for n in label.split(" and "))
        near = {m.name: m.points for m in together.parts if isinstance(m, Mesh) and m.name}
        for name in (first, second):
            points = near[name]
            assert (points.min(axis=0) <= place).all()
            assert (place <= points.max(axis=0)).all()
    assert "interference" in found.caption


def test_blocked_rods_and_loose_nuts_are_marked_at_their_corner(shapes):
    blocked = [{"corner": [-180, 180], "volume": 5.0, "parts": [0]}]
    found = picture([part()], rod_passes=blocked, nut_held=[{"corner": [180, 180], "volume": 0.0}])
    thick, dashed = of(found.panels[0].view, Lines, "wrong")
    assert thick.paths[0][0, :2].tolist() == [-180, 180]
    assert dashed.paths[0][0, :2].tolist() == [180, 180]
    assert dashed.dashed
    assert found.panels[3].title.startswith("cut along the rod at x = -180, y = 180")
    assert shapes(found.panels[3].view, "rect", "wrong", hatched=True)


def test_an_overhang_is_a_patch_on_its_part():
    patch = {"width": 30, "area": 900, "low": [-10, -5, 10], "high": [20, 5, 10]}
    entry = {"part": 1, "why": "has 1 overhangs", "patches": [patch]}
    found = picture([part(), part()], overhangs=[entry])
    beds = found.panels[2].view
    (spot,) = of(beds, Mesh, "wrong")
    parts = [p for p in beds.parts if isinstance(p, Mesh) and p.name.startswith("part")]
    shift = (np.add(*bounds(parts[1])) / 2)[0]
    assert bounds(spot) == ([shift - 12, -7, 8], [shift + 22, 7, 12])
    (bed,) = of(beds, Lines, "wrong")
    assert bed.paths[0][:, 0].mean() == pytest.approx(shift, abs=200)
    assert "1: overhang" in [label for marks in of(beds, Marks, "wrong") for label in marks.labels]


def test_an_open_part_is_coloured_and_its_open_edges_are_thick():
    open_bar = stl(((-100, -5, 0), (100, 5, 10)), holes=2)
    entry = {"part": 1, "why": "4 open edges"}
    found = picture([part(), part(open_bar, (0, 50, 0))], closed=[entry])
    (wrong,) = of(found.panels[0].view, Mesh, "wrong")
    assert bounds(wrong)[0][1] == 45
    lines = max(of(found.panels[2].view, Lines, "wrong"), key=lambda part: part.width)
    assert len(lines.paths) == 4


@pytest.mark.parametrize("far", [1e300, -1e300, 1e7])
def test_parts_far_away_stay_in_view(far):
    scene = picture([part(), part(shift=(far, far, far))]).panels[0].view
    assert max(np.abs(p.points).max() for p in scene.parts if isinstance(p, Mesh)) < 1500


def test_programs_are_not_run_and_rubbish_is_not_drawn(monkeypatch):
    def refuse(*_):
        raise AssertionError("nothing is to be run")

    monkeypatch.setattr("scbench.machine.sandbox.run_python", refuse)
    program = part("print('solid x')", kind="Python Generating STL")
    found = picture([program, part("no solid"), part()])
    assert "2 cannot be drawn" in found.caption
    assert len([p for p in found.panels[0].view.parts if isinstance(p, Mesh)]) == 1
    found = picture([program])
    assert found.panels[0].title == "what is asked for; no part can be drawn"


def test_large_meshes_are_left_out():
    large = stl(*[((20 * i, 0, 0), (20 * i + 10, 10, 10)) for i in range(400)])
    found = picture([part(large)] * 5)
    faces = sum(len(p.faces) for p in found.panels[0].view.parts if isinstance(p, Mesh))
    assert faces == 4 * 4800
    assert "1 cannot be drawn" in found.caption


def test_the_cut_along_a_rod_shows_parts_in_turns(drawn, answers, shapes):
    cut = drawn(TASK, answers(TASK)["right"]).panels[3].view
    tips = {line.find("title").text for line in shapes(cut, "polyline", "ink") if len(line)}
    assert len(tips) == 6, "floor, roof, and two walls on each of two storeys"
    (rod,) = shapes(cut, "rect", "given")
    assert rod.get("class") == "f-given s-ink"
