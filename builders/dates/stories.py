"""Stories for dates: their scenarios, and the sentences that tie one event to another."""

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from scbench.schemas.dates import DateFormat, Params, StepKind

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_LINKS = (
    "This is known about the dates.",
    "Here is what the plan says.",
    "The calendar holds these notes.",
    "Some of the dates are tied to others.",
    "The following has been agreed.",
)
_VERBS = ("is", "falls", "comes")
_QUESTIONS = ("On which date is {}?", "What is the date of {}?", "Which date does {} have?")

_SLASHES = "Dates with slashes are written MM/DD/YYYY, with the month first."
_ORDINAL = "January 1 is the first day of a year."
_CALENDAR = (
    "The calendar is the Gregorian one throughout: February has 29 days in years that can be "
    "divided by 4, except those that can be divided by 100 but not by 400."
)
_COUNTING = (
    "Days and weeks are counted in full: 1 day after a date is the day right after it, 1 day "
    "before it is the day right before it."
)
_SAME_DAY = (
    "Some months or years after or before a date is the day with the same number in the month "
    "thus reached or, where that month has no such day, its last day."
)
_STRICTLY = (
    "The first Monday after a date, or the last Monday before it, is never that date itself; so "
    "with the other days of the week."
)


class Scenario(NamedTuple):
    """A setting with its events in the order in which they usually happen."""

    id: str
    opening: str
    events: tuple[str, ...]


class Instance(NamedTuple):
    """What `Params` holds, as JSON."""

    story: str
    opening: str
    events: list[str]
    date_format: DateFormat
    given: list[list[int]]
    steps: list[list[Any]]
    asked: int
    style: int


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios; an opening holds ``{name}`` where a name belongs."""
    return tuple(
        Scenario(item["id"], item["opening"], tuple(item["events"]))
        for item in _data()["scenarios"]
    )


@cache
def names() -> tuple[str, ...]:
    """Return the first names."""
    return tuple(_data()["names"])


@cache
def _data() -> dict[str, list]:  # type: ignore[type-arg]  # names are strings, scenarios are not
    text = files(__package__).joinpath("stories.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def story_of(params: Params | Instance) -> str:
    """Return the story, the question after it, and the rules of counting."""
    sentences = [*_dated(params), *_tied(params)]
    if params.style % 4 == 1:  # what is tied can come before what it is tied to
        sentences = [*_tied(params), *_dated(params)]
    story = " ".join([params.opening, _LINKS[params.style % len(_LINKS)], *sentences])
    question = _QUESTIONS[params.style % len(_QUESTIONS)].format(params.events[params.asked])
    rules = _rules(params.date_format, frozenset([step[1] for step in params.steps]))
    return f"{story}\n\n{question}\n\n{rules}\n\n"


@cache
def _rules(form: DateFormat, kinds: frozenset[StepKind]) -> str:
    rules = [_CALENDAR]
    if form in {"MM_DD_YYYY", "RELATIVE_OFFSET"}:
        rules.insert(0, _SLASHES)
    if form == "ORDINAL_DAY":
        rules.insert(0, _ORDINAL)
    if form == "RELATIVE_OFFSET" or kinds & {"days", "weeks"}:
        rules.append(_COUNTING)
    if kinds & {"months", "years"}:
        rules.append(_SAME_DAY)
    if kinds & {"weekday_after", "weekday_before"}:
        rules.append(_STRICTLY)
    return " ".join(rules)


def _dated(params: Params | Instance) -> Iterator[str]:
    for i, (event, *when) in enumerate(params.given):
        time = _when(params, when, i)
        yield _capital(f"{params.events[event]} {_VERBS[(params.style + i) % 3]} {time}.")


def _when(params: Params | Instance, when: Sequence[int], i: int) -> str:
    year, month, day, after = when
    if params.date_format == "RELATIVE_OFFSET":
        side = "after" if after >= 0 else "before"
        return f"{_many(abs(after), 'day')} {side} {month:02}/{day:02}/{year}"
    form = (params.style // 3 + i) % 3
    if params.date_format == "ORDINAL_DAY":
        number = after + 1
        return f"on day {number} of {year}" if form == 0 else f"on the {_th(number)} day of {year}"
    at = date(year, month, day)
    if after:
        at += timedelta(days=after)
    if params.date_format == "MM_DD_YYYY":
        return f"on {at.month:02}/{at.day:02}/{at.year}"
    name = MONTHS[at.month - 1]
    forms = (f"{name} {at.day}, {at.year}", f"{at.day} {name} {at.year}")
    return f"on {forms[form]}" if form < 2 else f"on the {_th(at.day)} of {name} {at.year}"


def _tied(params: Params | Instance) -> Iterator[str]:
    for i, (event, kind, amount, origin) in enumerate(params.steps):
        verb = _VERBS[(params.style // 2 + i) % 3]
        what, origin_event = params.events[event], params.events[origin]
        place = _place(kind, amount, origin_event)
        if kind in {"days", "weeks", "months", "years"} and (params.style // 5 + i) % 3 == 0:
            yield _capital(f"exactly {place} {verb} {what}.")
        else:
            yield _capital(f"{what} {verb} {place}.")


def _place(kind: StepKind, amount: int, origin: str) -> str:
    if kind == "counted_day":
        return f"on day {amount}, if the day of {origin} is counted as day 1"
    if kind == "weekday_after":
        return f"on the first {WEEKDAYS[amount]} after {origin}"
    if kind == "weekday_before":
        return f"on the last {WEEKDAYS[amount]} before {origin}"
    if kind == "month_last":
        return f"on the last day of the month in which {origin} falls"
    if kind == "month_first":
        return f"on the first day of the month after the one in which {origin} falls"
    side = "after" if amount > 0 else "before"
    return f"{_many(abs(amount), kind.removesuffix('s'))} {side} {origin}"


def _many(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _th(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
