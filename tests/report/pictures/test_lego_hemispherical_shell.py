"""Bricks that break a rule are marked in space, in the cut and in their layer's plan."""

import numpy as np
import pytest
from drawn_parts import boxes_of, of, points

from scbench.report.draw.scene import Marks, Mesh

TASK = "lego_hemispherical_shell"

GROUND = [(55, 0, 4.8, 90), (-55, 0, 4.8, 90), (0, 55, 4.8, 0), (0, -55, 4.8, 0)]


def bricks(*rows):
    listed = []
    for *centre, degrees in rows:
        centroid = [float(coordinate) for coordinate in centre]
        listed.append({"Centroid": centroid, "RotationDegrees": float(degrees)})
    return {"bricks": listed}


def test_every_brick_is_a_box_in_its_place(drawn):
    picture = drawn(TASK, bricks(*GROUND))
    (mesh,) = of(picture.panels[0].view, Mesh, "answer")
    places = {(47, -16), (-63, -16), (-16, 47), (-16, -63)}
    assert {tuple(np.round(low[:2], 6)) for low, _ in boxes_of(mesh)} == places
    for low, high in boxes_of(mesh):
        # A brick of 32 x 16 x 9.6 mm, turned or not.
        assert np.sum(np.subtract(high, low)) == pytest.approx(32 + 16 + 9.6)
    assert not of(picture.panels[0].view, Mesh, "wrong")
    assert picture.caption.startswith("4 bricks; ")


@pytest.mark.parametrize(
    ("extra", "word"),
    [
        ((0, 0, 4.8, 0), "completely in the hollow"),
        ((90, 0, 4.8, 0), "completely outside"),
        ((45, 40, 12.0, 0), "in no layer"),
        ((55, 0, 4.8, 90), "listed twice"),
        ((55, 0, 42.0 + 1.2, 90), "not joined to the lowest layer"),
    ],
)
def test_wrong_brick_is_marked_in_every_view(drawn, shapes, extra, word):
    picture = drawn(TASK, bricks(*GROUND, extra))
    space, cut, layers = (panel.view for panel in picture.panels)
    (mesh,) = of(space, Mesh, "wrong")
    (box,) = boxes_of(mesh)
    assert np.mean(box, axis=0) == pytest.approx(extra[:3])
    (marks,) = of(space, Marks, "wrong")
    assert marks.labels[0].startswith("4")
    assert word in picture.caption
    assert len(shapes(layers, "path", "wrong")) == 1, "one cross"
    (plan,) = shapes(layers, "polygon", "wrong")
    assert plan.find("title").text.startswith("brick 4")
    width, depth = np.ptp(points(plan), axis=0)
    x, y, z, degrees = extra
    wide, deep = (16, 32) if degrees == 90 else (32, 16)
    assert width / depth == pytest.approx(wide / deep, rel=0.01)
    # Bricks that reach the plane of the cut are in it, too.
    if abs(y) < 8:
        (section,) = shapes(cut, "polygon", "wrong")
        upper_left = np.min(points(section), axis=0)
        lower_right = np.max(points(section), axis=0)
        half = wide / 2
        assert upper_left == pytest.approx(cut.at((x - half, z + 4.8)), abs=0.02)
        assert lower_right == pytest.approx(cut.at((x + half, z - 4.8)), abs=0.02)
