"""Shadows of tetrahedra: gaps, spill and intersecting bodies are marked in place."""

import numpy as np
from drawn_parts import points

TASK = "tetrahedra_shadow_projection"
UNIT = {"q0": 1.0, "q1": 0.0, "q2": 0.0, "q3": 0.0}


def poses(*places, **quaternion):
    turn = UNIT | quaternion
    return {
        "tetrahedrons": [
            dict(zip("xyz", map(float, place), strict=True)) | turn for place in places
        ]
    }


def same_ring(shape, drawing, corners):
    expected = np.array([drawing.at(corner) for corner in corners])
    apart = np.linalg.norm(np.array(points(shape))[:, None] - expected[None], axis=2)
    return bool(apart.min(axis=0).max() < 0.05 and apart.min(axis=1).max() < 0.05)


def test_shadow_is_drawn_where_it_falls(drawn, shapes):
    # The square of side 4 is centred on the origin; one shadow lies inside it.
    plan = drawn(TASK, poses((0, 0, 3))).panels[0].view
    (shadow,) = shapes(plan, "polygon", "quiet")
    assert same_ring(shadow, plan, [(0, 0), (1, 0), (0.5, 3**0.5 / 2)])
    (covered,) = shapes(plan, "polygon", "right")
    assert same_ring(covered, plan, [(0, 0), (1, 0), (0.5, 3**0.5 / 2)])
    (gap,) = shapes(plan, "polygon", "missing", hatched=True)
    for corner in ((-2, -2), (2, 2), (0, 0)):
        assert np.abs(np.array(points(gap)) - plan.at(corner)).max(axis=1).min() < 0.1
    assert not shapes(plan, "polygon", "surplus")
