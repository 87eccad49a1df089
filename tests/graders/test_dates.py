"""Dates: a calendar of our own against that of the standard library, and forms of answers."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.dates import Space, TaskBuilder
from scbench.graders.dates import _MARCH, civil, date_of, day_number
from scbench.schemas.dates import Params

BUILDER = TaskBuilder()
FORMATS = ["MM_DD_YYYY", "NATURAL_LANGUAGE", "ORDINAL_DAY", "RELATIVE_OFFSET"]


def test_days_are_numbered_as_in_the_library_over_a_thousand_years():
    first = date(1583, 1, 1)
    number = day_number(1583, 1, 1)
    for i in range(366_000):
        day = first + timedelta(days=i)
        assert day_number(day.year, day.month, day.day) == number + i
        if i % 7 == 0:
            assert civil(number + i) == (day.year, day.month, day.day)
            assert (number + i + _MARCH) % 7 == day.weekday()


@given(st.integers(-(10**7), 10**7))
def test_numbers_and_dates_are_inverse(number):
    assert day_number(*civil(number)) == number


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("tier", range(4))
def test_grader_and_builder_agree_at_random_points(tier, form):
    rng = Stream("dates", tier, form)
    for _ in range(300):
        point = Space(tier=tier, date_format=form, scenario=rng.below(37))
        params = BUILDER.draw(point, rng)
        year, month, day = date_of(params)
        assert BUILDER.target(params) == f"{month:02}/{day:02}/{year}"


def story(given, steps, asked=1):
    return Params(
        story="well",
        opening="Ann digs.",
        events=("the start", "the end", "the middle"),
        date_format="MM_DD_YYYY",
        given=given,
        steps=steps,
        asked=asked,
        style=0,
    )


@pytest.mark.parametrize(
    ("start", "step", "end"),
    [
        ((2023, 12, 31), ("days", 1), (2024, 1, 1)), ((2024, 3, 1), ("days", -1), (2024, 2, 29)),
        ((2100, 3, 1), ("days", -1), (2100, 2, 28)), ((2024, 2, 20), ("weeks", 2), (2024, 3, 5)),
        ((2024, 1, 31), ("months", 1), (2024, 2, 29)),
        ((2024, 12, 31), ("months", 2), (2025, 2, 28)),
        ((2024, 3, 31), ("months", -4), (2023, 11, 30)),
        ((2024, 2, 29), ("years", 3), (2027, 2, 28)), ((2024, 2, 29), ("years", -4), (2020, 2, 29)),
        ((2024, 2, 28), ("counted_day", 1), (2024, 2, 28)),
        ((2024, 2, 28), ("counted_day", 3), (2024, 3, 1)),
        ((2023, 12, 5), ("month_last", 0), (2023, 12, 31)),
        ((2023, 12, 31), ("month_first", 0), (2024, 1, 1)),
        ((2024, 11, 20), ("weekday_after", 2), (2024, 11, 27)),
        ((2024, 11, 20), ("weekday_after", 0), (2024, 11, 25)),
        ((2024, 11, 20), ("weekday_before", 2), (2024, 11, 13)),
        ((2024, 11, 20), ("weekday_before", 6), (2024, 11, 17)),
    ],
)  # fmt: skip
def test_one_step_worked_out_by_hand(start, step, end):
    assert date_of(story([(0, *start, 0)], [(1, *step, 0)])) == end


def test_a_story_that_leads_nowhere_has_no_date():
    with pytest.raises(ValueError, match="nothing leads to event 1"):
        date_of(story([(0, 2024, 1, 1, 0)], [(1, "days", 1, 2), (2, "days", 1, 1)]))
