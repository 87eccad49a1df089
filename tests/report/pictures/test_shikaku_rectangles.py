"""A cut grid: cells left over or covered twice, rectangles and numbers that do not fit."""

import pytest
from drawn_parts import at

from scbench.catalog import get_task

TASK = "shikaku_rectangles"


def puzzle():
    """Three columns, two rows; to be cut into the left column, and the rest."""
    return get_task(TASK).params_model(width=3, height=2, grid=[[2, 0, 4], [0, 0, 0]])


def starts(shape):
    """Where the rectangles of one path begin."""
    moves = shape.get("d").split("M")[1:]
    return [tuple(map(float, move.partition("h")[0].split())) for move in moves]


def test_cells_left_over_are_hatched_and_a_number_too_low_is_ringed(drawn, shapes):
    picture = drawn(TASK, {"rectangles": [[0, 0, 0, 1], [1, 0, 2, 0]]}, params=puzzle())
    drawing = picture.panels[0].view
    (hatched,) = shapes(drawing, "path", "missing", hatched=True)
    assert starts(hatched) == at(drawing, (1, 1), (2, 1))
    (ring,) = shapes(drawing, "circle", "wrong")
    assert [(float(ring.get("cx")), float(ring.get("cy")))] == at(drawing, (2.5, 0.5))
    (wrong,) = shapes(drawing, "rect", "wrong")
    assert wrong.get("stroke-width") == "3.5"
    assert float(wrong.get("x")) == pytest.approx(drawing.at((1, 0))[0] + 2, abs=0.01)
    assert "2 cells left over" in picture.caption
