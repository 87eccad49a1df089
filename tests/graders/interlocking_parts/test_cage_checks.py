"""Geometry of parts in the cage: volumes outside a space, and groups that touch."""

import pytest
from manifold3d import Manifold

from scbench.graders.interlocking_parts.cage_checks import (
    PlacedPart,
    groups,
    volume_outside,
)

SPACE = Manifold.cube((10, 10, 10))


@pytest.mark.parametrize(
    ("corner", "outside"),
    [((2, 2, 2), 0), ((8, 0, 0), 32), ((0, -3, 0), 48), ((20, 0, 0), 64)],
)
def test_volume_outside_a_space_is_measured_on_every_side(corner, outside):
    body = Manifold.cube((4, 4, 4)).translate(corner)
    part = PlacedPart(0, body, body, body.bounding_box())
    assert volume_outside(part, SPACE) == pytest.approx(outside)


def test_bodies_are_grouped_by_contact():
    cube = Manifold.cube((1, 1, 1))
    bodies = [cube.translate((x, 0, 0)) for x in (0, 5, 1.01, 9)]
    assert groups(bodies, [(1, 3)]) == [[0], [1, 3], [2]]
    assert groups(bodies, [(1, 3)], touch=0.02) == [[0, 2], [1, 3]]
