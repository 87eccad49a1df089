"""Solids of cells: closed, facing outwards, and no larger than necessary."""

import numpy as np
import pytest

from scbench.report.draw.rectangles import rectangles
from scbench.report.draw.voxels import voxels


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


def test_voxels_enclose_their_volume(ragged):
    assert volume(voxels(ragged, "rock")) == pytest.approx(ragged.sum())
    block = voxels(np.ones((4, 3, 2), bool), "rock")
    assert len(block.faces) == 12
    assert len(block.outline) == 12
    assert volume(block) == pytest.approx(24)


def test_faces_against_other_cells_are_left_out():
    water = np.zeros((3, 3, 2), bool)
    water[1, 1, 1] = True
    rock = np.ones((3, 3, 2), bool) & ~water
    mesh = voxels(water, "water", neighbours=rock)
    assert len(mesh.faces) == 2
    assert (mesh.points[:, 2] == 2).all()
