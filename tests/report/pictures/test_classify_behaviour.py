"""Squares, their interfaces, and the names given to them."""

import pytest

from scbench.catalog import get_task

TASK = "classify_behaviour"


def one_square(*labels):
    corners = ["bottom-left", "bottom-right", "top-right", "top-left"]
    return get_task(TASK).params_model(corner_order=corners, squares=[labels])


def drawn_curves(shapes, drawing, role):
    return [p for p in shapes(drawing, "path", role) if "Q" in p.get("d")]


@pytest.mark.parametrize(
    ("labels", "name", "solid", "dashed", "junctions"),
    [
        ((1, 1, 1, 1), "known behaviour", 0, 0, 0),
        ((1, 1, 2, 2), "known behaviour", 1, 0, 0),
        ((1, 2, 1, 3), "known behaviour", 2, 0, 0),
        ((1, 1, 2, 3), "three domains meeting", 3, 0, 1),
        ((1, 2, 1, 2), "ambiguous", 2, 2, 0),
        ((1, 2, 3, 4), "ambiguous", 5, 5, 0),
    ],
)
def test_interfaces_are_drawn_correctly(
    drawn, shapes, labels, name, solid, dashed, junctions
):
    picture = drawn(TASK, {"labels": [name]}, params=one_square(*labels))
    drawing = picture.panels[0].view
    assert len(drawn_curves(shapes, drawing, "ink")) == solid
    assert len(drawn_curves(shapes, drawing, "quiet")) == dashed
    big = [c for c in shapes(drawing, "circle", "ink") if c.get("r") == "5.5"]
    assert len(big) == junctions
    assert "1 of 1" in picture.caption
