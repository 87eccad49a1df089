"""Dates as people write them: "09/15/1913", "1913-09-15", "September 15, 1913", "15 Sept. 1913"."""

import re

from scbench.graders.shared.short_answers import MAX_LENGTH, Value, tidy

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_NAMES = "|".join(rf"{name[:3]}(?:t|{name[3:]})?" if name[3:] else name for name in _MONTHS)
_DAY = r"(?P<day{n}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"""
    (?<![\d/.-])
    (?: (?P<year1>\d{{4}}) [-/.] (?P<month1>\d{{1,2}}) [-/.] {_DAY.format(n=1)} (?: T[\d:.]*Z? )?
      | (?P<first>\d{{1,2}}) (?P<between>[-/.]) (?P<second>\d{{1,2}})
        (?P=between) (?P<year2>\d{{4}})
      | (?P<name3>{_NAMES}) \.? [ ]+ {_DAY.format(n=3)} ,? [ ]+ (?P<year3>\d{{4}})
      | {_DAY.format(n=4)} (?: [ ]+of )? [ ]+ (?P<name4>{_NAMES}) \.? ,? [ ]+ (?P<year4>\d{{4}})
    )
    (?![\d/-]|\.\d)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_HEDGES = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|not|before|after|about|around|between|wait|actually|"
    r"instead)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)


def date(value: Value) -> tuple[int, int, int] | None:
    """Return year, month and day of the one date that an answer names.

    Between slashes and hyphens the month comes first, as prompts say, if it can; between full stops
    only what is a date in one order is read. A date that is not in the calendar is none.
    """
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        return None
    text = tidy(value)
    matches = list(_DATE.finditer(text))
    dates = {_read(match) for match in matches}
    if len(dates) != 1 or _HEDGES.search(text) or re.search(r"\d", _DATE.sub("", text)):
        return None
    return dates.pop()


def _read(match: re.Match[str]) -> tuple[int, int, int] | None:
    if match["year1"]:
        return _valid(match["year1"], int(match["month1"]), match["day1"])
    if match["year2"]:
        month_first = _valid(match["year2"], int(match["first"]), match["second"])
        day_first = _valid(match["year2"], int(match["second"]), match["first"])
        if match["between"] == "." and month_first and day_first and month_first != day_first:
            return None
        return month_first or day_first
    n = "3" if match["year3"] else "4"
    month = next(
        i for i, name in enumerate(_MONTHS, 1) if name[:3] == match["name" + n][:3].casefold()
    )
    return _valid(match["year" + n], month, match["day" + n])


def _valid(year_digits: str, month: int, day_digits: str) -> tuple[int, int, int] | None:
    year, day = int(year_digits), int(day_digits)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return (year, month, day) if year and 0 < month <= 12 and 0 < day <= days[month - 1] else None
