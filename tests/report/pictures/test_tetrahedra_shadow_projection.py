"""Shadows of tetrahedra: gaps, spill and bodies that cut each other are marked where they are."""

import numpy as np
import pytest
from drawn_parts import of, points

from scbench.report.draw.scene import Lines, Marks, Mesh

TASK = "tetrahedra_shadow_projection"
UNIT = {"q0": 1.0, "q1": 0.0, "q2": 0.0, "q3": 0.0}


def poses(*places, **quaternion):
    turn = UNIT | quaternion
    return {
        "tetrahedrons": [
            dict(zip("xyz", map(float, place), strict=True)) | turn for place in places
        ]
    }


def same_ring(shape, drawing, corners):
    wanted = np.array([drawing.at(corner) for corner in corners])
    apart = np.linalg.norm(np.array(points(shape))[:, None] - wanted[None], axis=2)
    return bool(apart.min(axis=0).max() < 0.05 and apart.min(axis=1).max() < 0.05)


def test_the_shadow_is_drawn_where_it_falls(drawn, shapes):
    # The square of side 4 stands around the origin; one shadow lies inside it.
    plan = drawn(TASK, poses((0, 0, 3))).panels[0].view
    (shadow,) = shapes(plan, "polygon", "quiet")
    assert same_ring(shadow, plan, [(0, 0), (1, 0), (0.5, 3**0.5 / 2)])
    (covered,) = shapes(plan, "polygon", "right")
    assert same_ring(covered, plan, [(0, 0), (1, 0), (0.5, 3**0.5 / 2)])
    (gap,) = shapes(plan, "polygon", "missing", hatched=True)
    for corner in ((-2, -2), (2, 2), (0, 0)):
        assert np.abs(np.array(points(gap)) - plan.at(corner)).max(axis=1).min() < 0.1
    assert not shapes(plan, "polygon", "surplus")


def test_spill_is_drawn_outside_the_target(drawn, shapes):
    picture = drawn(TASK, poses((3, 0, 0)))
    plan = picture.panels[0].view
    spills = shapes(plan, "polygon", "surplus")
    assert any(same_ring(s, plan, [(3, 0), (4, 0), (3.5, 3**0.5 / 2)]) for s in spills)
    assert not shapes(plan, "polygon", "right")
    assert "the shadow covers 0.0% of the target" in picture.caption


def test_bodies_that_cut_each_other_are_thick_in_every_view(drawn, shapes):
    picture = drawn(TASK, poses((0, 0, 0), (0.2, 0, 0), (-1.5, 0, 0)))
    plan, space, side = (panel.view for panel in picture.panels)
    thick = shapes(plan, "polygon", "wrong")
    assert [shape.find("title").text for shape in thick] == [
        "tetrahedron 0: cuts 1",
        "tetrahedron 1: cuts 0",
    ]
    (mesh,) = of(space, Mesh, "wrong")
    assert len(mesh.points) == 8
    assert mesh.points[:, 0].min() == 0
    (marks,) = of(space, Marks, "wrong")
    assert marks.labels == ("0 cuts 1", "1 cuts 0")
    (edges,) = shapes(side, "path", "wrong")
    assert edges.get("d").count("M") == 12
    assert "1 pair cut each other" in picture.caption


def test_a_tall_stack_lies_on_its_side_and_is_squeezed_in_space(drawn, answers):
    picture = drawn(TASK, answers(TASK)["right"])
    _, space, side = picture.panels
    assert side.title == "from the side: z to the right, x up"
    assert side.view.width > 2 * side.view.height
    assert space.title == "in space, heights squeezed"
    (mesh,) = of(space.view, Mesh, "answer")
    bodies = mesh.points.reshape(-1, 4, 3)
    edges = bodies[:, [0, 0, 1]] - bodies[:, [1, 2, 2]]
    assert np.linalg.norm(edges, axis=2) == pytest.approx(1), "bodies keep their shape"
    assert np.ptp(mesh.points[:, 2]) < 12
    assert picture.caption.endswith("score 1.")


@pytest.mark.parametrize("far", [1e300, -1e9, 1e4])
def test_bodies_far_away_are_drawn_at_the_rim(drawn, far):
    picture = drawn(TASK, poses((0, 0, 0), (far, -far, far)))
    assert "1 far away are drawn at the rim" in picture.caption
    (target,) = of(picture.panels[1].view, Lines, "target")
    assert np.ptp(target.paths[0][:, 0]) == 4
    for part in picture.panels[1].view.parts:
        if isinstance(part, Mesh):
            assert np.abs(part.points[:, :2]).max() < 15
