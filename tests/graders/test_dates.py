"""Dates: our calendar compared with the standard library, and unreachable events."""

from datetime import date, timedelta

import pytest

from scbench.graders.dates import MARCH_WEEKDAY, civil, date_of, day_number
from scbench.schemas.dates import Params


def test_day_numbers_match_standard_library():
    first = date(1583, 1, 1)
    number = day_number(1583, 1, 1)
    for i in range(366_000):
        day = first + timedelta(days=i)
        assert day_number(day.year, day.month, day.day) == number + i
        if i % 7 == 0:
            assert civil(number + i) == (day.year, day.month, day.day)
            assert (number + i + MARCH_WEEKDAY) % 7 == day.weekday()


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


def test_unreachable_event_has_no_date():
    with pytest.raises(ValueError, match="no step leads to event 1"):
        date_of(story([(0, 2024, 1, 1, 0)], [(1, "days", 1, 2), (2, "days", 1, 1)]))
