"""Hiding crowds: who is seen, and where, in plan and in the sniper's view."""

import math

import pytest
from drawn_parts import centres

from scbench.catalog import get_task

TASK = "hide_and_seek"


@pytest.fixture(scope="module")
def params():
    return get_task(TASK).builder().paper()[0].params


@pytest.fixture(scope="module")
def hidden(params):
    answer = get_task(TASK).builder().reference(params)
    return [list(person.xy) for person in answer.people]


def listed(places):
    return {"people": [{"xy": list(place)} for place in places]}


def test_hidden_crowd(drawn, golden, shapes, hidden):
    picture = drawn(TASK, listed(hidden))
    plan, view = (panel.view for panel in picture.panels[:2])
    golden(f"{TASK}-right", plan, "A hidden crowd.")
    (people,) = shapes(plan, "path", "right")
    assert people.get("d").count("M") == len(hidden)
    assert not shapes(plan, "circle", "wrong")
    assert not shapes(view, "path", "wrong")
    assert picture.caption == "All 4 people are hidden. Score 1."


def test_visible_person_is_ringed_in_both_views(drawn, golden, shapes, hidden):
    places = [*hidden[:3], [5.0, 5.0]]
    picture = drawn(TASK, listed(places))
    plan, view = (panel.view for panel in picture.panels[:2])
    golden(f"{TASK}-wrong", view, "One is seen.")
    (ring,) = centres(shapes(plan, "circle", "wrong"))
    assert ring == pytest.approx(plan.at((5, 5)), abs=0.01)
    (pixels,) = shapes(view, "path", "wrong")
    # One small square for every pixel that the verdict counts, inside the ring.
    count = pixels.get("d").count("M")
    assert f"1 of 4 people can be seen on {count} pixels" in picture.caption
    (ring,) = shapes(view, "circle", "wrong")
    (centre,), radius = centres([ring]), float(ring.get("r"))
    for start in pixels.get("d").split("M")[1:]:
        x, y = map(float, start.split("h")[0].split())
        assert math.dist(centre, (x, y)) < radius
