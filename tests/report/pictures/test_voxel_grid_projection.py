"""Cells in a cube: holes, forbidden and repeated cells, mirrors."""

import numpy as np
import pytest

from scbench.report.draw.scene import Lines, Mesh
from scbench.schemas.voxel_grid_projection import Params

N = 3
BASE = [(x, y, (x + y) % N) for x in range(N) for y in range(N)]
RIGHT = [*BASE, (0, 0, 1), (0, 2, 1)]
PARAMS = Params(size=N, cells=len(RIGHT))


def listed(cells):
    return {"voxels": [{"xyz": list(cell)} for cell in cells]}


def corners(shadows, check, a, b):
    """Upper left corner in pixels of a cell of one of the three shadows."""
    x, y = shadows.at((check * N * 1.3 + a, b + 1))
    # `:g` of a rounded number has no zeros at its end, as in the drawing.
    return f"M{round(x, 2):g}", f"{round(y, 2):g}"


def test_right_set(drawn, golden, shapes):
    picture = drawn("voxel_grid_projection", listed(RIGHT), params=PARAMS)
    shadows = picture.panels[1].view
    golden("voxel_grid_projection-right", shadows, "Full shadows.")
    assert picture.caption.endswith("Score 1.")
    assert shadows.render("x").count(": full") == 3
    parts = picture.panels[0].view.parts
    faces = sum(len(part.outline) for part in parts if isinstance(part, Mesh))
    assert faces == 6 * len(RIGHT)
    assert picture.text.split("\n")[1].split() == ["###"] * 3


def test_hole_is_hatched_and_ringed_in_its_shadow_and_shown_in_the_cube(
    drawn, golden, shapes
):
    cells = [cell for cell in RIGHT if cell[:2] != (2, 1)]
    picture = drawn("voxel_grid_projection", listed(cells), params=PARAMS)
    shadows = picture.panels[1].view
    golden("voxel_grid_projection-wrong", shadows, "A hole.")
    hatched = shapes(shadows, "path", "missing", hatched=True)
    x, y = corners(shadows, 0, 2, 1)
    assert hatched[0].get("d").startswith(f"{x} {y}h")
    (ring, *_) = shapes(shadows, "circle", "missing")
    centre = (float(ring.get("cx")), float(ring.get("cy")))
    assert centre == pytest.approx(shadows.at((2.5, 1.5)), abs=0.01)
    lines = [part for part in picture.panels[0].view.parts if isinstance(part, Lines)]
    (named,) = (part for part in lines if part.name != "")
    # A line through the hole, half a cell longer than the cube at both ends.
    assert np.allclose(named.paths[0], [(2.5, 1.5, -0.5), (2.5, 1.5, 3.5)])
    assert "o" in picture.text
