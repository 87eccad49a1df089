"""Packings: overlaps, boxes of a wrong size, missing ones and empty space are marked."""

import numpy as np
import pytest
from drawn_parts import boxes_of, of, points

from scbench.report.draw.scene import Lines, Marks, Mesh
from scbench.schemas.pack_rectangular_prisms import Params, Prisms

TASK = "pack_rectangular_prisms"


def two_kinds():
    """Two cubes of 2 and one box of 4 x 2 x 1."""
    lines = (Prisms(count=2, size=(2, 2, 2)), Prisms(count=1, size=(4, 2, 1)))
    return Params(prisms=lines, full_marks_percent=100)


CUBES = [((0, 0, 0), (2, 2, 2)), ((2, 0, 0), (4, 2, 2))]
LID = ((0, 0, 2), (4, 2, 3))


def packing(*boxes):
    return {"boxes": [{"XyzMin": list(low), "XyzMax": list(high)} for low, high in boxes]}


def test_every_box_is_drawn_in_the_colour_of_its_size(drawn):
    picture = drawn(TASK, packing(*CUBES, LID), params=two_kinds())
    scene = picture.panels[0].view
    kinds = [part for part in scene.parts if isinstance(part, Mesh)]
    # The longest side stands upright: x of the answer is z of the picture.
    assert boxes_of(kinds[0]) == [([0, 0, 0], [2, 2, 2]), ([0, 0, 2], [2, 2, 4])]
    assert boxes_of(kinds[1]) == [([0, 2, 0], [2, 3, 4])]
    assert len({part.role for part in kinds} | {"wrong"}) == 3
    (frame,) = of(scene, Lines, "ink")
    assert np.concatenate(frame.paths).max(axis=0).tolist() == [2, 3, 4]
    assert picture.caption == "3 boxes; they fill 100.00% of their box of 4 x 2 x 3; score 1."


def test_what_boxes_have_in_common_is_solid(drawn):
    picture = drawn(TASK, packing(*CUBES, ((0, 0, 1), (4, 2, 2))), params=two_kinds())
    scene = picture.panels[0].view
    boxes, shared = of(scene, Mesh, "wrong")
    assert boxes.opacity < 1 == shared.opacity
    assert boxes_of(shared) == [([0, 1, 0], [2, 2, 2]), ([0, 1, 2], [2, 2, 4])]
    (marks,) = of(scene, Marks, "wrong")
    assert marks.labels == ("0 overlaps 2", "1 overlaps 2", "2 overlaps 0")
    assert "2 pairs overlap" in picture.caption


def test_a_long_box_is_cut_and_no_volume_is_lost(drawn, answers):
    picture = drawn(TASK, answers(TASK, 2)["right"], subtask=2)
    panel = picture.panels[0]
    assert panel.title == "the packing, cut along z into 5 lengths"
    meshes = [part for part in panel.view.parts if isinstance(part, Mesh)]
    volume = sum(np.prod(np.subtract(b, a)) for mesh in meshes for a, b in boxes_of(mesh))
    assert volume == pytest.approx(6755)
    extent = np.ptp(np.concatenate([mesh.points for mesh in meshes]), axis=0)
    assert max(extent) / min(extent) < 10
    assert len(of(panel.view, Lines, "ink")) == 5


def test_the_empty_share_is_hatched(drawn, shapes):
    picture = drawn(TASK, packing(*CUBES, ((4, 0, 0), (8, 2, 1))), params=two_kinds())
    profile = picture.panels[1].view
    (box,) = shapes(profile, "rect", "missing", hatched=True)
    (filled,) = shapes(profile, "polygon", "right")
    steps = {tuple(np.round(p, 1)) for p in points(filled)}
    for x, share in ((0, 1), (4, 1), (4, 0.5), (8, 0.5)):
        assert tuple(np.round(profile.at((340 * x / 8, 120 * share)), 1)) in steps
    assert float(box.get("width")) > 300
    assert "they fill 75.00% of their box of 8 x 2 x 2" in picture.caption


@pytest.mark.parametrize("far", [10**6, 10**11, 10**400])
def test_a_box_far_away_leaves_the_rest_in_view(drawn, far):
    picture = drawn(
        TASK, packing(*CUBES, *CUBES, *CUBES, ((far, 0, 0), (far + 4, 2, 1))), params=two_kinds()
    )
    scene = picture.panels[0].view
    assert max(np.abs(part.points).max() for part in scene.parts if isinstance(part, Mesh)) < 100
    assert "1 far away not drawn" in picture.caption
