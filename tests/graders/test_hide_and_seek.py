"""Hide and seek: the specification's pixel counts, each rule at its limit, hostile answers."""

import math
import random

import numpy as np
import pytest
from bounds import a_minute_of_work, peak
from hypothesis import given
from hypothesis import strategies as st

from scbench.catalog import get_task
from scbench.graders.hide_and_seek import (
    boxes,
    fitted_view_pixels,
    picture,
    pixels_of_box,
    true_camera,
)
from scbench.scoring.judge import judge

TASK = get_task("hide_and_seek")
PAPER = [item.params for item in TASK.builder().paper()]
# Crowds whose pixels were also counted with OpenSCAD. Only the true camera sees BOTH_ARMS.
BLOCK = [
    (round(-4 - 0.6 * i, 1), round(-4 - 0.6 * j, 1))
    for i in range(10)
    for j in range(20)
]
ARM = []
for across in (6.5, 5.75, 5, 4.25):
    for step in range(10):
        along = 18 + 0.75 * step
        x = (across - along) / math.sqrt(2)
        y = -(across + along) / math.sqrt(2)
        ARM.append((round(x, 3), round(y, 3)))
BOTH_ARMS = [*ARM, *((y, x) for x, y in ARM)]
free = st.floats(-25, 25).map(lambda v: round(v, 2))
RNG = random.Random(1)
HUGE_ANSWERS = {
    "at_one_place": [(-5, -5)] * 2000,
    "anywhere": [(RNG.uniform(-21, 21), RNG.uniform(-21, 21)) for _ in range(2000)],
    "huge": [(1e300, -1.7e308), (-1e300, 1.7e308)] * 1000,
    "one_above_the_limit": [(-5, -5)] * 2001,
    "hundred_thousand": [(-5, -5)] * 100_000,
}


def verdict(params, people):
    (only,) = judge(TASK, params, {"people": [{"xy": list(xy)} for xy in people]})
    return only


def failed(params, people):
    return {check.id for check in verdict(params, people).checks if not check.passed}


def crowd(count, **parameters):
    """Return the first instance with another number of people."""
    return PAPER[0].model_copy(update={"people": count, **parameters})


@pytest.mark.parametrize(
    ("subtask", "people", "pixels", "shown", "published"),
    [(5, BLOCK, 658, 0, 2948), (3, BOTH_ARMS, 194, 16, 0)],
    ids=["block", "two arms"],
)
def test_pixel_counts_match_specification(subtask, people, pixels, shown, published):
    given = verdict(PAPER[subtask], people)
    assert given.metrics["visible_pixels"] == pixels
    places = np.array(people, dtype=float)
    assert fitted_view_pixels(PAPER[subtask], places) == published
    assert given.score == pytest.approx(max(0, 1 - 0.005 * pixels))
    if shown:
        assert len(given.metrics["visible_people"]) == shown
    assert failed(PAPER[subtask], people) == {"hidden"}


# Everyone is behind the first instance's building, whose wall is at -1.
@pytest.mark.parametrize(
    ("second", "apart"),
    [
        ((-2.0, -2.5), True),
        ((-2.0 - 0.5 + 9e-10, -2.0), True),
        ((-2.0 - 0.5 + 1.1e-9, -2.0), False),
        ((-2.36, -2.36), False),
        ((-2.5, -2.5), True),
    ],
)
def test_people_may_touch_but_not_overlap(second, apart):
    expected = set() if apart else {"people_apart"}
    assert failed(crowd(2), [(-2.0, -2.0), second]) == expected


@pytest.mark.parametrize(
    ("xy", "clear"),
    [
        ((-1.25, 0), True),
        ((-1.25 + 0.9e-9, 0), True),
        ((-1.25 + 1.1e-9, 0), False),
        ((1.25, 1.25), True),
        ((1.2, 1.2), False),
        ((0, 0), False),
    ],
)
def test_people_may_touch_but_not_overlap_building(xy, clear):
    assert ("clear_of_building" not in failed(crowd(1), [xy])) is clear


@pytest.mark.parametrize(
    ("xy", "near"),
    [
        ((-30, 0), True),
        ((-18, -24), True),
        ((-30 - 0.9e-9, 0), True),
        ((-30 - 1.2e-9, 0), False),
    ],
)
def test_distance_is_measured_to_the_centre_of_a_person(xy, near):
    assert ("distance" not in failed(crowd(1), [xy])) is near


@given(st.lists(st.tuples(free, free), min_size=1, max_size=12))
def test_checks_match_pairwise_comparison(people):
    params = crowd(len(people))
    expected = set()
    for i, (x, y) in enumerate(people):
        if math.hypot(x, y) > 30:
            expected.add("distance")
        if max(abs(x), abs(y)) < 1.25:
            expected.add("clear_of_building")
        for u, v in people[:i]:
            # Whole hundredths, so that touching people compare as equal.
            if round(100 * abs(x - u)) < 50 and round(100 * abs(y - v)) < 50:
                expected.add("people_apart")
    assert failed(params, people) - {"hidden"} == expected


@pytest.mark.parametrize("name", HUGE_ANSWERS)
def test_huge_answers_are_graded_or_rejected_quickly(name):
    people = HUGE_ANSWERS[name]
    before = peak()
    with a_minute_of_work():
        given = verdict(PAPER[5], people)
    assert peak() - before < 2 * 1024 * 1024  # KiB
    assert given.score == 0
    is_rejected = {check.id for check in given.checks} == {"resource_limit"}
    assert is_rejected == (len(people) > 2000)
    assert len(given.metrics.get("visible_places", ())) <= 2000


@given(
    st.floats(-30, 30),
    st.floats(-30, 30),
)
def test_pixels_of_box_match_its_picture(x, y):
    camera = true_camera(PAPER[0])
    low, high = boxes(PAPER[0], np.array([[x, y]]))
    # The first box is the building.
    shown = int((picture(camera, low[1:], high[1:]) == 0).sum())
    assert pixels_of_box(camera, low[1:], high[1:]) == shown
