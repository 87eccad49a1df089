"""Dates: a calendar of our own against that of the standard library, and forms of answers."""

from datetime import date, timedelta

import pytest

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


def test_a_story_that_leads_nowhere_has_no_date():
    with pytest.raises(ValueError, match="nothing leads to event 1"):
        date_of(story([(0, 2024, 1, 1, 0)], [(1, "days", 1, 2), (2, "days", 1, 1)]))
