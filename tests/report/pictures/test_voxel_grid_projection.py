"""Pictures of cells in a cube: holes, forbidden and repeated cells, mirrors."""

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


def meshes(picture, role):
    return [p for p in picture.panels[0].view.parts if isinstance(p, Mesh) and p.role == role]


def corners(shadows, check, a, b):
    """Upper left corner in pixels of a cell of one of the three shadows."""
    x, y = shadows.at((check * N * 1.3 + a, b + 1))
    return f"M{x:.2f}".rstrip("0").rstrip("."), f"{y:.2f}".rstrip("0").rstrip(".")


def test_a_right_set(drawn, golden, shapes):
    picture = drawn("voxel_grid_projection", listed(RIGHT), params=PARAMS)
    shadows = picture.panels[1].view
    golden("voxel_grid_projection-right", shadows, "Full shadows.")
    assert picture.caption.endswith("Score 1.")
    assert shadows.render("x").count(": full") == 3
    cells = sum(
        len(mesh.outline) for mesh in picture.panels[0].view.parts if isinstance(mesh, Mesh)
    )
    assert cells == 6 * len(RIGHT)
    assert picture.text.split("\n")[1].split() == ["###"] * 3


def test_a_hole_is_hatched_and_ringed_in_its_shadow_and_shown_in_the_cube(drawn, golden, shapes):
    cells = [cell for cell in RIGHT if cell[:2] != (2, 1)]
    picture = drawn("voxel_grid_projection", listed(cells), params=PARAMS)
    shadows = picture.panels[1].view
    golden("voxel_grid_projection-wrong", shadows, "A hole.")
    hatched = shapes(shadows, "path", "missing", hatched=True)
    x, y = corners(shadows, 0, 2, 1)
    assert hatched[0].get("d").startswith(f"{x} {y}h")
    (ring, *_) = shapes(shadows, "circle", "missing")
    assert (float(ring.get("cx")), float(ring.get("cy"))) == pytest.approx(
        shadows.at((2.5, 1.5)), abs=0.01
    )
    (lines,) = (p for p in picture.panels[0].view.parts if isinstance(p, Lines) and p.name != "")
    assert np.allclose(lines.paths[0], [(2.5, 1.5, -0.5), (2.5, 1.5, 3.5)])
    assert "o" in picture.text


def test_forbidden_and_repeated_cells_have_boxes_of_their_own(drawn):
    params = PARAMS.model_copy(update={"forbidden_cells": ((1, 1, 2),)})
    picture = drawn("voxel_grid_projection", listed([*RIGHT, (0, 0, 1)]), params=params)
    (wrong,), (twice,) = meshes(picture, "wrong"), meshes(picture, "note")
    assert np.array_equal(wrong.points.min(axis=0), (1, 1, 2))
    assert np.array_equal(wrong.points.max(axis=0), (2, 2, 3))
    assert np.array_equal(twice.points.min(axis=0), (0, 0, 1))
    assert "12 cells are listed instead of 11; 1 cell is forbidden" in picture.caption[:60]


def test_a_mirror_stands_where_nothing_changes(drawn):
    cells = [(x, y, z) for x in range(N) for y in range(N) for z in range(N) if z == (x + y) % N]
    params = PARAMS.model_copy(update={"cells": len(cells)})
    picture = drawn("voxel_grid_projection", listed(cells), params=params)
    (mirror,) = meshes(picture, "target")
    assert "x and y exchanged, the set is the same" in picture.caption.lower()
    assert np.allclose(mirror.points[:, 0], mirror.points[:, 1])
    assert np.ptp(mirror.points, axis=0).min() > N
