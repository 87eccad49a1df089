"""Halved boxes: every part lies where its leaf lies, flat and in space."""

import numpy as np
from drawn_parts import of

from scbench.catalog import get_task
from scbench.graders.half_subdivision_neighbours import boxes
from scbench.report.draw.scene import Lines, Mesh
from scbench.report.pictures.half_subdivision_neighbours import unit_boxes

TASK = "half_subdivision_neighbours"
FLAT, SOLID = 5, 4
"""The smallest instances of two and of three dimensions."""


def small():
    """A square in four quarters: 00 and 01 on the left, 10 and 11 on the right."""
    return get_task(TASK).params_model(
        dimension="2D", axis_cycle=["x", "y"], leaves=["00", "01", "10", "11"], target="00"
    )


def places(rectangles):
    return {
        tuple(round(float(r.get(name))) for name in ("x", "y", "width", "height"))
        for r in rectangles
    }


def test_parts_cover_their_quarters(drawn, shapes):
    picture = drawn(TASK, {"neighbors": ["01", "11"]}, params=small())
    drawing = picture.panels[0].view
    half = round(drawing.scale / 2)
    left, middle = (round(drawing.at((x, 0))[0]) for x in (0, 0.5))
    top, centre = (round(drawing.at((0, y))[1]) for y in (1, 0.5))
    (target,) = places(shapes(drawing, "rect", "target"))
    assert target == (left, centre, half, half)
    assert places(shapes(drawing, "rect", "right")) == {(left, top, half, half)}
    assert places(shapes(drawing, "rect", "wrong")) == {(middle, top, half, half)}
    assert places(shapes(drawing, "rect", "missing", hatched=True)) == {
        (middle, centre, half, half)
    }
    assert picture.caption.startswith("1 of 2 neighbours named; 1 that is no neighbour (1 touch")


def test_boxes_of_a_scene_are_those_of_the_leaves(drawn, answers):
    right = answers(TASK, SOLID)["right"]["neighbors"]
    params = get_task(TASK).builder().paper()[SOLID].params
    stray = next(leaf for leaf in params.leaves if leaf not in right and leaf != params.target)
    picture = drawn(TASK, {"neighbors": [*right[1:], stray]}, subtask=SOLID)
    scene = picture.panels[0].view
    all_places = unit_boxes(params.leaves, params.axis_cycle, ("x", "y", "z"))
    for role, labels in (("target", [params.target]), ("right", right[1:]), ("wrong", [stray])):
        (mesh,) = of(scene, Mesh, role)
        corners = mesh.points.reshape(-1, 8, 3)
        assert len(corners) == len(labels)
        for box, label in zip(corners, labels, strict=True):
            assert list(zip(box.min(axis=0), box.max(axis=0), strict=True)) == list(
                all_places[label]
            )
    (dashed,) = (lines for lines in of(scene, Lines, "missing") if lines.dashed)
    box = np.concatenate(dashed.paths)
    assert list(zip(box.min(axis=0), box.max(axis=0), strict=True)) == list(all_places[right[0]])


def test_unit_boxes_are_those_of_the_grader():
    labels = ["000", "001", "01", "1"]
    exact = boxes(labels, "xyz", "xyz")
    assert unit_boxes(labels, "xyz", "xyz") == {
        label: tuple((a / 8, b / 8) for a, b in box) for label, box in exact.items()
    }
