"""Bricks that break a rule are marked in space, in the cut and in their layer's plan."""

import numpy as np
import pytest
from drawn_parts import boxes_of, of, points

from scbench.report.draw.scene import Marks, Mesh

TASK = "lego_hemispherical_shell"

GROUND = [(55, 0, 4.8, 90), (-55, 0, 4.8, 90), (0, 55, 4.8, 0), (0, -55, 4.8, 0)]


def bricks(*rows):
    return {
        "bricks": [
            {"Centroid": list(map(float, row[:3])), "RotationDegrees": float(row[3])}
            for row in rows
        ]
    }


def test_every_brick_is_a_box_in_its_place(drawn):
    picture = drawn(TASK, bricks(*GROUND))
    (mesh,) = of(picture.panels[0].view, Mesh, "answer")
    stands = {(47, -16), (-63, -16), (-16, 47), (-16, -63)}
    assert {tuple(np.round(low[:2], 6)) for low, _ in boxes_of(mesh)} == stands
    assert all(
        np.subtract(b, a) @ (1, 1, 1) == pytest.approx(57.6) for a, b in boxes_of(mesh)
    )
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
    (x, y), (u, v) = np.min(points(plan), axis=0), np.max(points(plan), axis=0)
    wide, deep = (16, 32) if extra[3] == 90 else (32, 16)
    assert (u - x) / (v - y) == pytest.approx(wide / deep, rel=0.01)
    if abs(extra[1]) < 8:
        (section,) = shapes(cut, "polygon", "wrong")
        low, high = np.min(points(section), axis=0), np.max(points(section), axis=0)
        assert low == pytest.approx(
            cut.at((extra[0] - wide / 2, extra[2] + 4.8)), abs=0.02
        )
        assert high == pytest.approx(
            cut.at((extra[0] + wide / 2, extra[2] - 4.8)), abs=0.02
        )
