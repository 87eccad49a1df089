"""Pictures of hiding crowds: who is seen, and where, in plan and in the sniper's view."""

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


def test_a_hidden_crowd(drawn, golden, shapes, hidden):
    picture = drawn(TASK, listed(hidden))
    plan, view = (panel.view for panel in picture.panels[:2])
    golden(f"{TASK}-right", plan, "A hidden crowd.")
    (people,) = shapes(plan, "path", "right")
    assert people.get("d").count("M") == len(hidden)
    assert not shapes(plan, "circle", "wrong")
    assert not shapes(view, "path", "wrong")
    assert picture.caption == "All 4 people are hidden. Score 1."


def test_somebody_in_sight_is_ringed_in_both_views(drawn, golden, shapes, hidden):
    places = [*hidden[:3], [5.0, 5.0]]
    picture = drawn(TASK, listed(places))
    plan, view = (panel.view for panel in picture.panels[:2])
    golden(f"{TASK}-wrong", view, "One is seen.")
    (ring,) = centres(shapes(plan, "circle", "wrong"))
    assert ring == pytest.approx(plan.at((5, 5)), abs=0.01)
    (pixels,) = shapes(view, "path", "wrong")
    # One small square for every pixel that the verdict counts, inside the ring.
    count = pixels.get("d").count("M")
    assert f"1 of 4 can be seen, on {count} pixels" in picture.caption
    (ring,) = shapes(view, "circle", "wrong")
    (centre,), radius = centres([ring]), float(ring.get("r"))
    for start in pixels.get("d").split("M")[1:]:
        x, y = map(float, start.split("h")[0].split())
        assert math.dist(centre, (x, y)) < radius


def test_the_papers_picture_is_told_of_where_it_differs(drawn, params, hidden):
    counters = get_task(TASK).builder().counter_references(params)
    caption = drawn(TASK, counters["hidden_only_in_the_published_picture"]).caption
    assert caption.endswith(" from a camera moved closer, shows people on 0 pixels.")
    far = drawn(TASK, listed([*hidden[:3], [-100.0, 100.0]])).caption
    assert "camera" not in drawn(TASK, listed(hidden)).caption + far


def test_overlaps_strays_and_people_in_the_wall_are_marked(drawn, shapes, hidden):
    (x, y), *_ = hidden
    places = [hidden[0], [x + 0.1, y], [0.0, 0.0], [200.0, -300.0]]
    picture = drawn(TASK, listed(places))
    plan = picture.panels[0].view
    rings = centres(shapes(plan, "circle", "wrong"))
    assert any(math.dist(ring, plan.at((x + 0.05, y))) < 0.02 for ring in rings)
    crosses = [p for p in shapes(plan, "path", "wrong") if p.get("d").count("M") == 2]
    assert len(crosses) == 1
    (arrow,) = shapes(plan, "polyline", "wrong")
    tail, tip = (tuple(map(float, end.split(","))) for end in arrow.get("points").split())
    assert tip[0] > tail[0]
    assert tip[1] > tail[1]  # down to the right
    assert "1 pair of people overlaps" in picture.caption
    assert "1 person stands in the building" in picture.caption
    assert "1 person is too far away" in picture.caption
