"""Surfaces for scenes: edges at bends, and differences without thin skins."""

import numpy as np
import pytest
from manifold3d import Manifold

from scbench.report.draw.creases import creases
from scbench.report.draw.scene import boxes
from scbench.report.draw.solids import body_mesh, pulled_in


def area(mesh):
    first, second, third = np.moveaxis(mesh.points[mesh.faces], 1, 0)
    cross = np.cross(second - first, third - first)
    return np.linalg.norm(cross, axis=1).sum() / 2


def volume(mesh):
    # The sum of the signed tetrahedra between the origin and each face.
    first, second, third = np.moveaxis(mesh.points[mesh.faces], 1, 0)
    return (np.cross(first, second) * third).sum() / 6


def ends(paths):
    result = set()
    for path in paths:
        result.add(frozenset(tuple(np.round(point, 6)) for point in path))
    return result


def test_cube_bends_at_its_twelve_edges():
    mesh = boxes([((0, 0, 0), (1, 1, 1))], "answer")
    found = ends(creases(mesh.points, mesh.faces))
    assert len(found) == 12
    for one, other in map(tuple, found):
        assert np.abs(np.subtract(one, other)).sum() == 1


def cube(low, high):
    return Manifold.cube(np.subtract(high, low).tolist()).translate(low)


@pytest.mark.parametrize(
    "turn", [(0, 0, 0), (20, 30, 40), (90, 0, 0), (0, 90, 0), (180, 0, 45)]
)
def test_thin_skins_are_removed_and_the_rest_stays(turn):
    whole = cube((0, 0, 0), (4, 2, 2))
    # Two units are missing, and over the other faces there is a skin.
    taken = cube((1e-7, 1e-7, 1e-7), (3, 2 - 1e-7, 2 - 1e-7))
    rest = (whole - taken).rotate(turn)
    plain, bare = body_mesh(rest, "missing"), body_mesh(rest, "missing", thickness=0.01)
    # With the skins, the area exceeds that of the whole box, which is 40.
    assert area(plain) > 40
    # The rest is a box of 1 x 2 x 2.
    assert area(bare) == pytest.approx(4 * 2 + 2 * 4, rel=1e-3)
    assert volume(bare) == pytest.approx(4, rel=1e-3), "faces point outwards as before"
    ends_of_outline = np.concatenate(bare.outline)
    assert len(np.unique(np.round(ends_of_outline, 2), axis=0)) == 8


def test_points_far_away_are_pulled_in():
    points, far = pulled_in(
        np.array([[0.5, 0, 0], [9, 0, -1e300]]), (0, 0, 0), (1, 1, 1)
    )
    assert points.tolist() == [[0.5, 0, 0], [1, 0, 0]]
    assert far.tolist() == [False, True]
