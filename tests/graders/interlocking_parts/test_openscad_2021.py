"""Formulas of OpenSCAD 2021."""

import numpy as np
import pytest
from later import Later

openscad_2021 = Later("scbench.graders.interlocking_parts.openscad_2021")


@pytest.mark.parametrize("turn", [0.5, 9.0])
@pytest.mark.parametrize("scale", [0.2, 0.9])
def test_narrowing_spiral_is_as_long_as_its_chords(turn, scale):
    angle = np.linspace(0, turn, 5001)
    radius = 7 * np.linspace(1, scale, 5001)
    x = radius * np.cos(angle)
    y = radius * np.sin(angle)
    chords = np.hypot(np.diff(x), np.diff(y))
    length = openscad_2021.spiral_length(7, turn, scale)
    assert length == pytest.approx(chords.sum(), rel=1e-5)
