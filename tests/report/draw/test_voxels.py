"""Solids of cells: closed, turned outwards, and no larger than they need to be."""

import numpy as np
import pytest

from scbench.report.draw.voxels import columns, rectangles, voxels


def volume(mesh) -> float:
    """Volume inside a closed mesh whose faces look outwards."""
    a, b, c = (mesh.points[mesh.faces[:, i]] for i in range(3))
    return float((np.cross(a, b) * c).sum() / 6)


@pytest.fixture
def ragged():
    return np.random.default_rng(1).random((5, 4, 3)) < 0.4


def test_rectangles_cover_every_cell_once(ragged):
    mask = ragged[:, :, 0]
    painted = np.zeros(mask.shape, int)
    for a, b, c, d in rectangles(mask):
        painted[a:c, b:d] += 1
    assert (painted == mask).all()


def test_equal_rows_are_joined():
    assert rectangles(np.ones((3, 7), bool)) == [(0, 0, 3, 7)]
    assert rectangles(np.zeros((3, 7), bool)) == []


def test_voxels_enclose_their_volume(ragged):
    assert volume(voxels(ragged, "rock")) == pytest.approx(ragged.sum())
    block = voxels(np.ones((4, 3, 2), bool), "rock")
    assert len(block.faces) == 12
    assert len(block.outline) == 12
    assert volume(block) == pytest.approx(24)


def test_seams_outline_every_cell():
    cells = np.zeros((3, 2, 2), bool)
    cells[0, 0, 0] = cells[1, 0, 0] = cells[2, 1, 1] = True
    mesh = voxels(cells, "rock", seams=True)
    assert len(mesh.faces) == 2 * (10 + 6)
    assert volume(mesh) == pytest.approx(3)
    ends = {tuple(map(tuple, line[[0, -1]].tolist())) for line in mesh.outline}
    assert ((1, 1, 0), (1, 1, 1)) in ends


def test_faces_against_other_cells_are_left_out():
    water = np.zeros((3, 3, 2), bool)
    water[1, 1, 1] = True
    rock = np.ones((3, 3, 2), bool) & ~water
    mesh = voxels(water, "water", neighbours=rock)
    assert len(mesh.faces) == 2
    assert (mesh.points[:, 2] == 2).all()


def test_columns_enclose_their_volume():
    heights = np.array([[1.0, 2.5], [0.5, 3.0], [2.0, 2.0]])
    mesh = columns(heights, "rock")
    # The floor is not drawn; it lies at z = 0 and so adds nothing to the sum.
    assert volume(mesh) == pytest.approx(heights.sum())
    part = columns(heights, "right", only=heights > 2)
    assert part.points[:, 2].max() == 3
    assert set(map(tuple, part.points[:, :2].astype(int).tolist())) <= {
        (x, y) for x in range(3) for y in (1, 2)
    }
    assert {tuple(p) for p in part.points.tolist()} >= {(1, 1, 3.0), (2, 2, 3.0), (0, 1, 2.5)}
