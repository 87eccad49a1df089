"""Tetrahedra shadows: fresh targets, their parameters, and a baseline."""

import pytest
from shapely import Polygon

from scbench.base.seeding import Stream
from scbench.builders.tetrahedra_shadow_projection import Space, TaskBuilder
from scbench.builders.tetrahedra_shadow_projection.figures import (
    is_wide,
    smallest_corner,
)
from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("tetrahedra_shadow_projection")


POINTS = [
    {"figure": "regular", "sides": 3},
    {"figure": "regular", "sides": 40, "area": 12},
    {"figure": "star", "min_angle": 35},
    {"figure": "blocks", "hole": True, "area": 14},
    {"figure": "blocks", "min_angle": 90},
    {"figure": "slanted", "min_angle": 55},
    {"figure": "band", "sides": 5, "area": 8, "min_width": 0.3},
    {"area": 3},
    {"min_width": 1.2, "area": 10},
]


@pytest.mark.parametrize("parameters", POINTS, ids=str)
def test_fresh_targets_satisfy_their_parameters(parameters):
    point = Space(**parameters)
    params = TaskBuilder().draw(point, Stream("knobs", 1))
    target = Polygon(params.exterior, params.holes)
    assert target.is_valid
    assert target.exterior.is_ccw
    assert not any(hole.is_ccw for hole in target.interiors)
    assert target.area == pytest.approx(point.area, abs=0.02)
    assert bool(params.holes) == point.hole
    assert smallest_corner(target) >= point.min_angle
    assert is_wide(target, point.min_width)
    assert 0.95 <= params.divisor <= 1
    for ring in (params.exterior, *params.holes):
        for x, y in ring:
            assert (round(x, 3), round(y, 3)) == (x, y)
    if point.figure == "regular":
        assert len(params.exterior) == point.sides
    answer = TaskBuilder().reference(params).model_dump(mode="json")
    assert judge(TASK, params, answer)[0].score == 1


def test_flat_copies_earn_most_of_the_score():
    for figure in ("regular", "band"):
        point = Space(figure=figure, sides=6, area=5.0, min_angle=40.0, min_width=0.3)
        params = TaskBuilder().draw(point, Stream("flat", figure))
        cover = TaskBuilder().baselines(params)["cover by flat copies"]
        for pose in cover["tetrahedrons"]:
            assert pose["q1"] == pose["q2"] == 0
        (verdict,) = judge(TASK, params, cover)
        assert 0.8 < verdict.score < 1
