"""Legend samples look like the marks they name."""

import numpy as np
import pytest

from scbench.report.draw.scene import Lines, Marks, Mesh, Scene
from scbench.report.draw.svg import Drawing
from scbench.report.draw.swatch import swatch

POINTS = np.eye(3)


def hatched() -> Drawing:
    drawing = Drawing((0, 0, 1, 1))
    drawing.box((0, 0), (1, 1), "missing", hatched=True)
    return drawing


def test_missing_volume_is_filled_and_missing_areas_are_hatched():
    body = Scene((Mesh(POINTS, np.array([[0, 1, 2]]), "missing", 0.8),))
    assert 'class="f-missing' in swatch([body], "missing")
    assert "stroke-dasharray" not in swatch([body], "missing")
    assert "f-missing" not in swatch([hatched()], "missing")
    assert "stroke-dasharray" in swatch([hatched()], "missing")


@pytest.mark.parametrize("dashed", [True, False])
def test_lines_in_space_are_dashed_like_in_the_drawing(dashed):
    labels = Marks(POINTS, "target", 0, ("a", "b", "c"))
    scene = Scene((Lines((POINTS,), "target", dashed=dashed), labels))
    sample = swatch([scene], "target")
    assert "<rect" not in sample
    assert ("stroke-dasharray" in sample) is dashed


def test_every_mark_has_a_different_sample():
    marks = ("ring", "cross", "crossed ring", "arrow", "dashed")
    samples = {swatch([], f"wrong {mark}") for mark in marks}
    assert len(samples) == len(marks)
    assert all("s-wrong" in sample for sample in samples)
    assert not any("<rect" in sample for sample in samples)
