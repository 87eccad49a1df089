"""Checks whether a date is the date of the requested event.

Days are counted from a fixed day in a calendar whose years start in March, so that leap
days come last. No calendar library is used.
"""

import re
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import MAX_LENGTH, Value, quote, tidy
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.dates import Answer, Params, StepKind

VERSION = 2

CHECKS = {
    "readable": "The answer is a single date in the form MM/DD/YYYY or YYYY-MM-DD.",
    "date": "The answer is the date of the event.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

# Days in 400 years.
_CENTURIES = 146_097
# Day of the week of 0000-03-01, with 0 for Monday.
MARCH_WEEKDAY = 2

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_SHORT_MONTHS = [name[:3] for name in _MONTHS]
# Full names, three letters, and "sept"; for May both are the same.
_LONG_NAMES = [rf"{name[:3]}(?:t|{name[3:]})?" for name in _MONTHS if name != "may"]
_MONTH = "|".join(["may", *_LONG_NAMES])
_DATE = re.compile(
    rf"""
    (?<![\d/.-])
    (?:
      # Year first, maybe with a time of the day.
      (?P<year1>\d{{4}}) [-/.] (?P<month1>\d{{1,2}}) [-/.] (?P<day1>\d{{1,2}})(?:st|nd|rd|th)?
      (?: T[\d:.]*Z? )?
      # Year last, month and day in some order.
      | (?P<first>\d{{1,2}}) (?P<between>[-/.]) (?P<second>\d{{1,2}})
        (?P=between) (?P<year2>\d{{4}})
      # March 5th, 2024
      | (?P<name3>{_MONTH}) \.? [ ]+ (?P<day3>\d{{1,2}})(?:st|nd|rd|th)? ,? [ ]+
        (?P<year3>\d{{4}})
      # 5th of March, 2024
      | (?P<day4>\d{{1,2}})(?:st|nd|rd|th)? (?: [ ]+of )? [ ]+ (?P<name4>{_MONTH}) \.? ,? [ ]+
        (?P<year4>\d{{4}})
    )
    (?![\d/-]|\.\d)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
# Year, month and day.
Day = tuple[int, int, int]
# Words in answers that do not commit to one date.
_HEDGES = re.compile(
    r"""
    \b (?: or | either | maybe | perhaps | possibly | not | before | after | about | around
         | between | wait | actually | instead ) \b
    | n['\u2019]t\b
    | \?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the date, else 0."""
    checks = Checklist(CHECKS)
    day_given = date(answer.answer)
    wrong = f"{quote(answer.answer)} is not a single date in the form MM/DD/YYYY."
    if checks.readable(day_given, wrong, "There is no date to compare."):
        right = date_of(params)
        year, month, day = right
        wrong = (
            f"The date is {month:02}/{day:02}/{year:04}, not {quote(answer.answer)}."
        )
        checks.expect("date", day_given == right, wrong)
    return checks.binary()


def date(value: Value) -> Day | None:
    """Return year, month and day of the only date in an answer.

    With slashes or hyphens, the month comes first if possible, as the prompts say. With full stops,
    a date is read only if just one order is possible. Dates outside the calendar are rejected.
    """
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        return None
    text = tidy(value)
    dates = {date_in_match(match) for match in _DATE.finditer(text)}
    if len(dates) != 1 or _HEDGES.search(text) or re.search(r"\d", _DATE.sub("", text)):
        return None
    return dates.pop()


def date_in_match(match: re.Match[str]) -> Day | None:
    """Return the date of a match of ``_DATE``; None if it is not in the calendar."""
    if match["year1"]:
        return calendar_date(match["year1"], match["month1"], match["day1"])
    if match["year2"]:
        year = match["year2"]
        first = match["first"]
        second = match["second"]
        month_first = calendar_date(year, first, second)
        day_first = calendar_date(year, second, first)
        has_two_readings = month_first and day_first and month_first != day_first
        if has_two_readings and match["between"] == ".":
            return None
        return month_first or day_first
    n = "3" if match["year3"] else "4"
    short_name = match["name" + n][:3].casefold()
    month = _SHORT_MONTHS.index(short_name) + 1
    return calendar_date(match["year" + n], month, match["day" + n])


def calendar_date(
    year_digits: str, month_digits: str | int, day_digits: str
) -> Day | None:
    """Return a date; None if it is not in the calendar."""
    year = int(year_digits)
    month = int(month_digits)
    day = int(day_digits)
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 28 + is_leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if year and 0 < month <= 12 and 0 < day <= days[month - 1]:
        return year, month, day
    return None


@lru_cache(maxsize=1024)
def date_of(params: Params) -> Day:
    """Return year, month and day of the requested event.

    Raises:
        ValueError: the event's date does not follow from the story.
    """
    days = {}
    for event, year, month, day, after in params.given:
        days[event] = day_number(year, month, day) + after
    waiting = list(params.steps)
    while params.asked not in days:
        # A step has an event, a kind, an amount, and the event that it starts from.
        ready = [step for step in waiting if step[3] in days]
        if not ready:
            raise ValueError(f"no step leads to event {params.asked}")
        for event, kind, amount, origin in ready:
            days[event] = day_after_step(days[origin], kind, amount)
        waiting = [step for step in waiting if step[0] not in days]
    return civil(days[params.asked])


def day_after_step(start: int, kind: StepKind, amount: int) -> int:
    """Return the day that a step of the story leads to from another day; both are `day_number`s."""
    if kind == "days":
        return start + amount
    if kind == "weeks":
        return start + 7 * amount
    if kind == "counted_day":
        return start + amount - 1
    if kind == "weekday_after":
        return start + 1 + (amount - start - 1 - MARCH_WEEKDAY) % 7
    if kind == "weekday_before":
        return start - 1 - (start - 1 + MARCH_WEEKDAY - amount) % 7
    year, month, day = civil(start)
    if kind == "years":
        amount *= 12
    elif kind == "month_first":
        amount = 1
        day = 1
    elif kind == "month_last":
        day = 31
    month += amount
    year = year + (month - 1) // 12
    month = (month - 1) % 12 + 1
    first = day_number(year, month, 1)
    length = day_number(year + month // 12, month % 12 + 1, 1) - first
    return first + min(day, length) - 1


def day_number(year: int, month: int, day: int) -> int:
    """Return the number of days from March 1 of the year 0 in the Gregorian calendar."""
    if month < 3:
        year = year - 1
        month = month + 12
    # From March on, every five months have 153 days.
    return (
        365 * year
        + year // 4
        - year // 100
        + year // 400
        + (153 * (month - 3) + 2) // 5
        + day
        - 1
    )


def civil(number: int) -> Day:
    """Return year, month and day of a day's number; the inverse of `day_number`."""
    era, day_of_era = divmod(number, _CENTURIES)
    # The last day of a leap cycle, or of 400 years, would otherwise fall into the next
    # one.
    year = (
        day_of_era
        - day_of_era // 1_460
        + day_of_era // 36_524
        - day_of_era // (_CENTURIES - 1)
    ) // 365
    day_of_era -= 365 * year + year // 4 - year // 100
    month = (5 * day_of_era + 2) // 153
    day = day_of_era - (153 * month + 2) // 5 + 1
    year += 400 * era
    return (year, month + 3, day) if month < 10 else (year + 1, month - 9, day)
