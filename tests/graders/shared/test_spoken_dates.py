"""Dates as people write them, and texts that are not dates."""

from datetime import date as day
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.graders.dates import date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("03/04/2021", (2021, 3, 4)), ("3/4/2021", (2021, 3, 4)), ("2021-03-04", (2021, 3, 4)),
        ("**12/31/1999**.", (1999, 12, 31)), ("02/29/2024", (2024, 2, 29)),
        ("02/29/2000", (2000, 2, 29)), ("02/29/2023", None), ("02/29/1900", None),
        ("04/31/2021", None), ("00/10/2021", None), ("01/00/2021", None), ("01/01/0000", None),
        ("03-04-2021", (2021, 3, 4)), ("13/01/2021", (2021, 1, 13)), ("2021/03/04", (2021, 3, 4)),
        ("2021-03-04T00:00:00Z", (2021, 3, 4)), ("March 4, 2021", (2021, 3, 4)),
        ("Mar. 4th 2021", (2021, 3, 4)), ("4 March 2021", (2021, 3, 4)),
        ("the 4th of March, 2021", (2021, 3, 4)), ("Thursday, March 4, 2021", (2021, 3, 4)),
        ("The ceremony is on 03/04/2021.", (2021, 3, 4)),
        ("03/04/2021 (March 4, 2021)", (2021, 3, 4)), ("31.12.1999", (1999, 12, 31)),
        ("04.04.2021", (2021, 4, 4)), ("03.04.2021", None), ("32.13.2021", None),
        ("March 2021", None), ("March 32, 2021", None), ("not 03/04/2021", None),
        ("03/04/2021, 03/05/2021", None), ("03/04/2021 in 7 days", None), ("103/04/2021", None),
        ("03/04/20211", None), ("x" * 20_000, None), ("03/04/21", None),
        ("03/04/2021 or 03/05/2021", None), ("٠٣/04/2021", None), (20210304, None),
    ],
)  # fmt: skip
def test_dates_are_read(value, expected):
    assert date(value) == expected


@given(st.dates())
def test_only_calendar_days_are_dates(value):
    after = value + timedelta(days=1) if value < day.max else value
    for written in (value, after):
        expected = (written.year, written.month, written.day)
        assert date(written.isoformat()) == expected
        assert (
            date(f"{written.month:02}/{written.day:02}/{written.year:04}") == expected
        )
    if after.month != value.month:
        assert date(f"{value.year:04}-{value.month:02}-{value.day + 1:02}") is None
