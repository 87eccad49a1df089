"""Tetrahedra shadows: the paper's targets, the search, fresh targets and their parameters."""

import numpy as np
import pytest
from shapely import Polygon

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.tetrahedra_shadow_projection import (
    Space,
    TaskBuilder,
    draw_target,
    is_wide,
    smallest_corner,
)
from scbench.catalog import get_task
from scbench.scoring.judge import judge

TASK = get_task("tetrahedra_shadow_projection")


# Outline (if it is a formula), area and divisor of each.


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
def test_fresh_targets_keep_their_parameters(parameters):
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
    assert all(
        round(v, 3) == v for ring in (params.exterior, *params.holes) for p in ring for v in p
    )
    if point.figure == "regular":
        assert len(params.exterior) == point.sides
    answer = TaskBuilder().reference(params).model_dump(mode="json")
    assert judge(TASK, params, answer)[0].score == 1


def test_points_that_give_nothing_say_what_to_change():
    with pytest.raises(GenerationError, match="ask for"):
        TaskBuilder().draw(Space(figure="star", min_angle=90), Stream("nothing", 0))


@pytest.mark.parametrize("strokes", [3, 8, 20])
def test_bands_are_as_wide_everywhere_and_as_long_as_asked_for(strokes):
    title, band = draw_target("band", Stream("band", strokes), area=9, sides=strokes, hole=False)
    assert title == f"a zigzag band of {strokes} strokes"
    assert band.is_valid
    assert len(band.exterior.coords) == 2 * strokes + 3
    assert band.area == pytest.approx(9, abs=0.02)
    points = np.array(band.exterior.coords[:-1])
    first, second = points[: strokes + 1], points[strokes + 1 :][::-1]
    along = np.diff(first, axis=0) / np.linalg.norm(np.diff(first, axis=0), axis=1)[:, None]
    for gaps in (second[:-1] - first[:-1], second[1:] - first[:-1]):
        widths = along[:, 0] * gaps[:, 1] - along[:, 1] * gaps[:, 0]
        assert widths == pytest.approx(np.full(strokes, widths[0]), abs=0.01)
