"""Hide and seek: hiding places, fresh scenes and their parameters."""

import math

import numpy as np
import pytest

from scbench.base.seeding import Stream
from scbench.builders.hide_and_seek import (
    Space,
    TaskBuilder,
    is_solved_without_heights,
)
from scbench.builders.hide_and_seek.shadow import are_hidden, hiding_places
from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.scoring.judge import judge

TASK = get_task("hide_and_seek")
PAPER = [item.params for item in TaskBuilder().paper()]
POINTS = [
    {"width": 3, "depth": 12},
    {"height": 4, "sniper_height": 40, "fill": 0.5},
    {"sniper_height": 2, "fill": 1.0},
    {"person_width": 1.0, "person_height": 1.25},
    {"radius": 12, "sniper_distance": 60},
    {"sniper_distance": 300, "person_width": 2.0, "person_height": 2.5, "fill": 0.05},
    {"sniper_distance": 60, "radius": 10, "sniper_height": 60},
]


def verdict(params, people):
    (only,) = judge(TASK, params, {"people": [{"xy": list(xy)} for xy in people]})
    return only


def test_all_hiding_places_are_hidden_together():
    for params in PAPER:
        places = hiding_places(params).tolist()
        full = params.model_copy(update={"people": len(places)})
        assert verdict(full, places).score == 1
        assert len(places) >= params.people / 0.3


def test_hidden_agrees_with_the_picture():
    rng = np.random.default_rng(1)
    params = PAPER[2].model_copy(update={"people": 1})
    places = rng.uniform(-20, 0, (300, 2))
    places = places[(np.abs(places) > 3.3).any(axis=1)]
    safe = are_hidden(params, places, params.sniper)
    visible = np.array([verdict(params, [xy]).score < 1 for xy in places.tolist()])
    assert not (safe & visible).any()
    # A person neither safe nor visible is within a step of the shadow's edge.
    for xy in places[~safe & ~visible]:
        steps = [(dx, dy) for dx in (-0.2, 0, 0.2) for dy in (-0.2, 0, 0.2)]
        near = are_hidden(params, xy + np.array(steps), params.sniper)
        assert near.any()
        assert not near.all()
    assert 50 < safe.sum() < 280
    assert visible.sum() > 20


@pytest.mark.parametrize("parameters", POINTS, ids=str)
def test_fresh_scenes_satisfy_their_parameters(parameters):
    point = Space(**parameters)
    params = TaskBuilder().draw(point, Stream("knobs", 0))
    assert params.building == (point.width, point.depth, point.height)
    width = point.person_width
    assert params.person == (width, width, point.person_height)
    assert params.max_distance == point.radius
    x, y, height = params.sniper
    assert math.hypot(x, y) == pytest.approx(point.sniper_distance, abs=0.1)
    assert height == point.sniper_height
    assert params.people == round(point.fill * len(hiding_places(params)))
    right = TaskBuilder().reference(params).model_dump(mode="json")
    assert judge(TASK, params, right)[0].score == 1


def test_scenes_solvable_without_heights_are_redrawn():
    # Its shadow ends before the rim, so that heights matter.
    parameters = {"width": 8, "depth": 3, "height": 5, "person_width": 1.1}
    parameters |= {"person_height": 2.5, "radius": 10, "sniper_distance": 60}
    point = Space(sniper_height=60, vary=3.0, fill=1.0, greedy=0.58, **parameters)
    builder = TaskBuilder()
    params = builder.draw(point, Stream("heights", 1))
    assert not is_solved_without_heights(params)
    floor = floor_of(TASK, params).score
    assert floor <= 0.58
    assert not builder.has_baseline_above(floor, params, TASK.grade)
    assert builder.has_baseline_above(floor - 1e-9, params, TASK.grade)
    easier = params.model_copy(update={"people": params.people // 2})
    assert is_solved_without_heights(easier)
