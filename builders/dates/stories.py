"""The text of a prompt: the question, events of a scenario with their dates, and calendar rules."""

from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from scbench.base.seeding import Stream
from scbench.builders.dates.steps import ONE_DAY
from scbench.builders.shared.builder import data_file
from scbench.builders.shared.words import capitalised, ordinal
from scbench.schemas.dates import DateFormat, Params, StepKind

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
# Verbs that alternate in a story: before a day, such as "on 3 May", and before a distance, such as
# "3 days after the exam".
_DAY_VERBS = ("is", "falls")
_DISTANCE_VERBS = ("is", "falls", "comes")
# Kinds of steps that count a number of units.
_UNITS = frozenset({"days", "weeks", "months", "years"})


class Scenario(NamedTuple):
    """A setting with its events in their usual order; the opening has a placeholder for a name."""

    id: str
    opening: str
    events: list[str]


class Instance(NamedTuple):
    """The fields of `Params` as JSON values."""

    story: str
    opening: str
    events: list[str]
    date_format: DateFormat
    given: list[list[int]]
    steps: list[list[Any]]
    asked: int
    style: int


@cache
def scenarios() -> list[Scenario]:
    """Return all scenarios; an opening contains ``{name}`` where a name belongs."""
    items = data_file(__package__, "stories.json")["scenarios"]
    return [Scenario(**item) for item in items]


@cache
def names() -> tuple[str, ...]:
    """Return the first names."""
    return tuple(data_file(__package__, "stories.json")["names"])


def interleave_events(first: Scenario, second: Scenario, rng: Stream) -> Scenario:
    """Merge two scenarios into one that keeps the order of each one's events."""
    turns = [first] * len(first.events) + [second] * len(second.events)
    rng.shuffle(turns)
    first_events = iter(first.events)
    second_events = iter(second.events)
    events = []
    for turn in turns:
        source = first_events if turn is first else second_events
        events.append(next(source))
    return first._replace(events=events)


def story_of(params: Params | Instance, *, with_leap_years: bool) -> str:
    """Return the question, the story, and the calendar rules that it needs.

    Args:
        params: the instance.
        with_leap_years: whether to include the rule about leap years.
    """
    texts = data_file(__package__, "sentences.json")
    # One number determines all wordings of a story; divisions make them vary independently.
    link = texts["links"][params.style % len(texts["links"])]
    question = texts["questions"][params.style % len(texts["questions"])]
    on_dates = date_sentences(params)
    on_steps = step_sentences(params)
    sentences = [*on_dates, *on_steps]
    if params.style % 4 == 1:
        # A step can come before the date from which it is counted.
        sentences = [*on_steps, *on_dates]
    story = " ".join([params.opening, link, *sentences])
    kinds = frozenset([kind for _, kind, _, _ in params.steps])
    rules = calendar_rules(params.date_format, kinds, with_leap_years=with_leap_years)
    return f"{question.format(params.events[params.asked])}\n\n{story}\n\n{rules}"


@cache
def calendar_rules(
    form: DateFormat, kinds: frozenset[StepKind], *, with_leap_years: bool
) -> str:
    """Return the paragraph of rules for a date format and kinds of steps; empty without rules."""
    # The rules are in the order of the prompt.
    rules = []
    if form in {"MM_DD_YYYY", "RELATIVE_OFFSET"}:
        rules.append("slashes")
    if form == "ORDINAL_DAY":
        rules.append("ordinal")
    if form == "RELATIVE_OFFSET" or kinds & {"days", "weeks"}:
        rules.append("counting")
    if kinds & {"months", "years"}:
        rules.append("same_day")
    if kinds & {"weekday_after", "weekday_before"}:
        rules.append("strictly")
    if with_leap_years:
        rules.append("calendar")
    texts = data_file(__package__, "sentences.json")
    lines = [texts[rule] for rule in rules]
    if lines:
        # An empty line follows the paragraph.
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def date_sentences(params: Params | Instance) -> list[str]:
    """Return the sentences on events whose date the story gives."""
    sentences = []
    for i, (event, *clue) in enumerate(params.given):
        verb = _DAY_VERBS[(params.style + i) % len(_DAY_VERBS)]
        when = date_words(params.date_format, clue, params.style // 3 + i)
        sentences.append(capitalised(f"{params.events[event]} {verb} {when}."))
    return sentences


def date_words(form: DateFormat, clue: Sequence[int], style: int) -> str:
    """Return a date in words, such as "on the 5th of March 2024".

    Args:
        form: the format of dates in the story.
        clue: year, month and day of an origin, and the number of days from there to the date.
        style: number that determines the way to write a date in a format.
    """
    year, month, day, after = clue
    if form == "RELATIVE_OFFSET":
        side = "after" if after >= 0 else "before"
        return f"{_amount_words(abs(after), 'day')} {side} {month:02}/{day:02}/{year}"
    way = style % 3
    if form == "ORDINAL_DAY":
        if way == 0:
            return f"on day {after + 1} of {year}"
        return f"on the {ordinal(after + 1)} day of {year}"
    at = date(year, month, day) + after * ONE_DAY
    if form == "MM_DD_YYYY":
        return f"on {at.month:02}/{at.day:02}/{at.year}"
    name = MONTHS[at.month - 1]
    if way == 0:
        return f"on {name} {at.day}, {at.year}"
    if way == 1:
        return f"on {at.day} {name} {at.year}"
    return f"on the {ordinal(at.day)} of {name} {at.year}"


def step_sentences(params: Params | Instance) -> list[str]:
    """Return the sentences on events that are a step away from another event."""
    sentences = []
    for i, (event, kind, amount, origin) in enumerate(params.steps):
        name = params.events[event]
        verbs = _DISTANCE_VERBS if kind in _UNITS else _DAY_VERBS
        verb = verbs[(params.style // 2 + i) % len(verbs)]
        place = step_words(kind, amount, params.events[origin])
        sentence = f"{name} {verb} {place}."
        if kind in _UNITS and (params.style // 5 + i) % 3 == 0:
            sentence = f"{name} {verb} exactly {place}."
        sentences.append(capitalised(sentence))
    return sentences


def step_words(kind: StepKind, amount: int, origin: str) -> str:
    """Return a step in words, such as "3 weeks after the opening night"."""
    if kind in _UNITS:
        side = "after" if amount > 0 else "before"
        return f"{_amount_words(abs(amount), kind.removesuffix('s'))} {side} {origin}"
    text: str = data_file(__package__, "sentences.json")["places"][kind]
    return text.format(amount=amount, weekday=WEEKDAYS[amount % 7], origin=origin)


def _amount_words(number: int, unit: str) -> str:
    """Return an amount with its unit, such as "1 day" or "3 weeks"."""
    plural = "" if number == 1 else "s"
    return f"{number} {unit}{plural}"
