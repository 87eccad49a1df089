"""Dates: a short story whose events are so many days, months or weekdays from one another."""

from calendar import isleap, monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Case,
    Composed,
    Point,
    data_file,
    parameter,
    under,
)
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.builders.shared.words import capitalised, ordinal
from scbench.schemas.dates import Answer, DateFormat, Params, StepKind

_DAY = timedelta(days=1)
_CLOSING = reply_short(
    "a date written MM/DD/YYYY: two digits for the month, two for the day, four for the year"
)
# A kind of step and its amount, as in the schema.
Move = tuple[StepKind, int]
_TRIES = 200
_VERBS = ("is", "falls", "comes")

_KINDS: tuple[StepKind, ...] = (
    *("days", "weeks", "months", "years", "counted_day"),
    *("weekday_after", "weekday_before", "month_last", "month_first"),
)

_PAST_MONTH: tuple[StepKind, ...] = (
    "days",
    "days",
    "weeks",
    "counted_day",
    "month_first",
)
_CENTURIES = (1900, 2000, 2100)

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
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


class Space(Point):
    """Parameters of stories about dates."""

    tier: int = parameter(
        2,
        "0: find the date; 1: add days within a month; 2: one step past the end of a month or a "
        "year, or around a leap day; 3: three to five steps, told in any order",
        "depth",
        ge=0,
        le=3,
    )
    date_format: DateFormat = parameter(
        "MM_DD_YYYY", "how the story writes dates", "semantic"
    )
    scenario: int = parameter(
        0, "which of the 36 scenarios, or 0 for any of them", "semantic", ge=0, le=36
    )
    links: int = parameter(
        0,
        "number of steps in tier 3, more than five told of two scenarios; 0 for three to five",
        "depth",
        later=True,
        ge=0,
        le=12,
    )

    @model_validator(mode="after")
    def _only_the_last_tier_has_many(self) -> Self:
        if self.links and self.tier < 3:
            raise ValueError(
                f"links ({self.links}) are of tier 3, and the tier is {self.tier}"
            )
        return self


class DatesCase(Case):
    """A case of dates."""

    story: str = Field(description="the scenario")
    steps: int = Field(
        ge=0, description="steps from the date told to the date asked for"
    )
    shift: int = Field(description="days from the date told to the date asked for")
    month_ends: int = Field(ge=0, description="ends of months passed on the way")
    leap_day: bool = Field(
        description="whether a February 29 lies on the way, ends included"
    )


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Stories told out of a scenario: events happen in the order in which they usually do."""

    task = "dates"
    version = 2
    case_model = DatesCase
    extremes = (
        {"tier": 0, "date_format": "ORDINAL_DAY"},
        {"tier": 1, "date_format": "NATURAL_LANGUAGE", "scenario": 1},
        {"tier": 3, "date_format": "RELATIVE_OFFSET", "scenario": 36},
        {"tier": 0, "date_format": "MM_DD_YYYY"},
        {"tier": 3, "date_format": "NATURAL_LANGUAGE"},
        {"tier": 3, "links": 12, "scenario": 36},
    )

    def prompt(self, params: Params) -> str:
        """Return the story, the question and the rules of counting."""
        return story_of(params) + _CLOSING

    def reference(self, params: Params) -> Answer:
        """Follow the chain of steps back from the event asked for, then forth."""
        return Answer(answer=_slashed(_dates_to(params)[-1]))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return dates that mistakes lead to, and answers that are not dates."""
        path = _dates_to(params)
        right = path[-1]
        clues = [_date_of(clue) for clue in params.given if clue[0] != params.asked]
        mistakes = {
            "a_day_late": right + _DAY,
            "a_day_early": right - _DAY,
            "another_event": clues[0] if clues else right + 2 * _DAY,
            "the_date_told": path[0],
            "last_step_left_out": path[-2] if len(path) > 1 else right - 2 * _DAY,
            "months_of_30_days": _roughly(params),
            "day_and_month_swapped": right.replace(month=right.day, day=right.month)
            if right.day <= 12
            else right,
            "a_year_late": right.replace(year=right.year + 1, day=min(right.day, 28)),
        }
        text = _slashed(right)
        wrong: dict[str, JsonValue] = {
            **{name: _slashed(at) for name, at in mistakes.items() if at != right},
            "listed": [text],
            "two_dates": f"{text} or {_slashed(right + _DAY)}",
            "event": params.events[params.asked],
        }
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the scenario, and the steps from the given date to the date asked for."""
        return _story_facts(params.story, _dates_to(params))

    def measure(self, params: Params) -> float:
        """Return the number of steps, one more for each to another month, and one if days count."""
        path = _dates_to(params)
        passed = sum(_month(a) != _month(b) for a, b in pairwise(path))
        return (
            len(params.steps)
            + passed
            + (params.date_format in {"ORDINAL_DAY", "RELATIVE_OFFSET"})
        )

    def blind_floor(self, params: Params) -> float:
        """Return the chance to name the right one of the dates told; 0 where it is not told."""
        is_clue = any(clue[0] == params.asked for clue in params.given)
        return 1 / len(params.given) if is_clue else 0.0

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw steps first, then the events that they lie between."""
        path, moves = _draw_dates(point.tier, point.links, rng)
        decoys: list[date] = []
        for _ in range(2 if point.tier == 0 else 1):
            decoy = path[0] + rng.between(1, 200) * (_DAY if rng.below(2) else -_DAY)
            # The question is not to be answered with the date of another event.
            while decoy == path[-1] or decoy in decoys:
                decoy += _DAY
            decoys.append(decoy)
        days = [*path, *decoys]
        by_date = sorted(range(len(days)), key=days.__getitem__)
        event = [by_date.index(i) for i in range(len(days))]
        sources = [0, *range(len(path), len(days))]
        clues = [[event[i], *_spoken(days[i], point.date_format, rng)] for i in sources]
        rng.shuffle(clues)
        steps = [[event[i + 1], *move, event[i]] for i, move in enumerate(moves)]
        rng.shuffle(steps)
        at = point.scenario - 1 if point.scenario else rng.below(len(scenarios()))
        scenario = scenarios()[at]
        openings = [scenario.opening]
        if len(days) > len(scenario.events):
            further = scenarios()[
                (at + rng.between(1, len(scenarios()) - 1)) % len(scenarios())
            ]
            openings.append(further.opening)
            scenario = _interleaved(scenario, further, rng)
        places = sorted(rng.sample(range(len(scenario.events)), len(days)))
        instance = Instance(
            story=scenario.id,
            opening=" ".join(
                [it.replace("{name}", rng.choice(names())) for it in openings]
            ),
            events=[scenario.events[i] for i in places],
            date_format=point.date_format,
            given=clues,
            steps=steps,
            asked=event[len(path) - 1],
            style=rng.below(60),
        )
        text = story_of(instance) + _CLOSING
        return (
            instance._asdict(),
            text,
            _slashed(path[-1]),
            _story_facts(scenario.id, path),
        )


def _story_facts(story: str, path: Sequence[date]) -> dict[str, JsonValue]:
    legs = [sorted(leg) for leg in pairwise(path)]
    return {
        "story": story,
        "steps": len(legs),
        "shift": (path[-1] - path[0]).days,
        "month_ends": sum([_month(last) - _month(first) for first, last in legs]),
        "leap_day": any(_has_leap_day(first, last) for first, last in legs),
    }


def _draw_dates(tier: int, links: int, rng: Stream) -> tuple[list[date], list[Move]]:
    """Return the dates from the one told to the one asked for, and the steps between them."""
    if tier == 0:
        return [draw_date(rng)], []
    if tier < 3:
        start, move = draw_within_month(rng) if tier == 1 else draw_crossing(rng)
        return [start, take_step(start, move)], [move]
    path, moves = [draw_date(rng)], []
    for _ in range(links or rng.between(3, 5)):
        moves.append(draw_any(path[-1], rng))
        path.append(take_step(path[-1], moves[-1]))
    return path, moves


def _spoken(day: date, form: DateFormat, rng: Stream) -> tuple[int, int, int, int]:
    """Return the day that a date is told by, and how many days after that it is."""
    after = 0
    if form == "ORDINAL_DAY":
        after = (day - day.replace(month=1, day=1)).days
    elif form == "RELATIVE_OFFSET":
        after = rng.between(2, 60) * (1 if rng.below(2) else -1)
    origin = day - after * _DAY
    return origin.year, origin.month, origin.day, after


def _date_of(clue: Sequence[int]) -> date:
    _, year, month, day, after = clue
    return date(year, month, day) + after * _DAY


def _steps_back(params: Params) -> tuple[date, list[Move]]:
    """Return the date that the event asked for depends on, and the steps from there."""
    clues = {clue[0]: clue for clue in params.given}
    leading = {step[0]: step for step in params.steps}
    at, moves = params.asked, list[Move]()
    while at not in clues:
        _, kind, amount, at = leading.pop(at)
        moves.append((kind, amount))
    return _date_of(clues[at]), moves[::-1]


def _dates_to(params: Params) -> list[date]:
    start, moves = _steps_back(params)
    return list(accumulate(moves, take_step, initial=start))


def _roughly(params: Params) -> date:
    """Return the date that months of 30 days, years of 365 and counting from 0 lead to."""
    at, moves = _steps_back(params)
    for kind, amount in moves:
        days = {"months": 30, "years": 365, "counted_day": 1}.get(kind)
        at = (
            take_step(at, (kind, amount)) if days is None else at + days * amount * _DAY
        )
    return at


def _month(day: date) -> int:
    return 12 * day.year + day.month


def _has_leap_day(first: date, last: date) -> bool:
    years = range(first.year + -first.year % 4, last.year + 1, 4)
    return any(isleap(year) and first <= date(year, 2, 29) <= last for year in years)


def _slashed(day: date) -> str:
    return f"{day.month:02}/{day.day:02}/{day.year:04}"


def _last_day(year: int, month: int) -> int:
    return monthrange(year, month)[1]


def take_step(start: date, move: Move) -> date:
    """Return the date that a step leads to."""
    kind, amount = move
    if kind in {"days", "weeks", "counted_day"}:
        days = {"days": amount, "weeks": 7 * amount, "counted_day": amount - 1}[kind]
        return start + timedelta(days=days)
    if kind == "weekday_after":
        return start + timedelta(days=(amount - start.weekday() - 1) % 7 + 1)
    if kind == "weekday_before":
        return start - timedelta(days=(start.weekday() - amount - 1) % 7 + 1)
    if kind in {"month_last", "month_first"}:
        last = start.replace(day=_last_day(start.year, start.month))
        return last if kind == "month_last" else last + _DAY
    months = (
        12 * start.year + start.month - 1 + (12 * amount if kind == "years" else amount)
    )
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(start.day, _last_day(year, month)))


def draw_date(rng: Stream) -> date:
    """Return any date of two hundred years, mostly of the last and the coming decades."""
    low, high = (1900, 2099) if rng.below(4) == 0 else (1970, 2049)
    year, month = rng.between(low, high), rng.between(1, 12)
    return date(year, month, rng.between(1, _last_day(year, month)))


def draw_within_month(rng: Stream) -> tuple[date, Move]:
    """Return a date and a number of days that stays in its month."""
    start = draw_date(rng)
    first, last = sorted(
        rng.sample(range(1, _last_day(start.year, start.month) + 1), 2)
    )
    return start.replace(day=first), ("days", last - first)


def draw_any(start: date, rng: Stream) -> Move:
    """Return a step of any kind that leads to another day."""
    for _ in range(_TRIES):
        move = _sized(rng.choice(_KINDS), rng)
        if take_step(start, move) != start:
            return move
    raise AssertionError("unreachable: most kinds of steps always lead to another day")


def draw_crossing(rng: Stream) -> tuple[date, Move]:
    """Return a date and a step past something that a calendar has in store.

    The end of a month or a year, the end of February, a day that the target month does not have.

    Raises:
        GenerationError: none was found; tier 2 always has one.
    """
    draw = rng.choice(_CROSSINGS)
    for _ in range(_TRIES):
        start, move = draw(rng)
        end = take_step(start, move)
        if (start.year, start.month) != (end.year, end.month) or move[
            0
        ] == "month_last":
            return start, move
    raise GenerationError(
        "dates: no step past the end of a month was found; try another tier"
    )


def _sized(kind: StepKind, rng: Stream) -> Move:
    """Return a step of this kind with an amount of the usual size."""
    if kind == "counted_day":
        return kind, rng.between(3, 99)
    if kind in {"weekday_after", "weekday_before"}:
        return kind, rng.below(7)
    if kind in {"month_last", "month_first"}:
        return kind, 0
    limit = {"days": 120, "weeks": 20, "months": 18, "years": 9}[kind]
    return kind, rng.between(1, limit) * (1 if rng.below(3) else -1)


def _past_month(rng: Stream) -> tuple[date, Move]:
    return draw_date(rng), _sized(rng.choice(_PAST_MONTH), rng)


def _past_year(rng: Stream) -> tuple[date, Move]:
    year = draw_date(rng).year
    back = rng.below(3) == 0
    days = rng.between(1, 60)
    start = date(year, 1, 1) + timedelta(days=days - 1 if back else -days)
    over = rng.between(0, 90)
    return start, ("days", -days - over if back else days + over)


def _past_february(rng: Stream) -> tuple[date, Move]:
    """Count days over the end of a February, of a leap year in two of three cases."""
    year = draw_date(rng).year
    if rng.below(6) == 0:
        year = rng.choice(_CENTURIES)
    elif rng.below(3):
        year -= year % 4
    edge, days, over = date(year, 3, 1), rng.between(1, 45), rng.between(0, 45)
    if rng.below(3) == 0:
        return edge + timedelta(days=over), ("days", -days - over)
    return edge - timedelta(days=days), ("days", days + over)


def _to_shorter_month(rng: Stream) -> tuple[date, Move]:
    """Go some months from one of the last days of a month, perhaps to a shorter month."""
    year, month = draw_date(rng).year, rng.choice((1, 3, 5, 7, 8, 10, 12))
    start = date(year, month, rng.between(29, 31))
    months = rng.between(1, 14) * (1 if rng.below(3) else -1)
    if rng.below(2):
        months += (2 - month - months) % 12
    return start, ("months", months or 12)


def _from_leap_day(rng: Stream) -> tuple[date, Move]:
    year = draw_date(rng).year
    years = rng.between(1, 8) * (1 if rng.below(3) else -1)
    # From a leap day the same month of another year lacks the day; the years cross by themselves.
    return date(year - year % 4 if year > 1903 else 1904, 2, 29), ("years", years)


def _to_end_of_month(rng: Stream) -> tuple[date, Move]:
    start = draw_date(rng)
    if rng.below(2):
        start = start.replace(month=2, day=min(start.day, 27))
    return start.replace(day=min(start.day, 27)), ("month_last", 0)


def _to_weekday(rng: Stream) -> tuple[date, Move]:
    start = draw_date(rng)
    if rng.below(2):
        return start.replace(day=rng.between(1, 6)), ("weekday_before", rng.below(7))
    last = _last_day(start.year, start.month)
    return start.replace(day=rng.between(last - 5, last)), (
        "weekday_after",
        rng.below(7),
    )


_CROSSINGS: tuple[Callable[[Stream], tuple[date, Move]], ...] = (
    *(_past_month, _past_year, _past_february, _to_shorter_month),
    *(_from_leap_day, _to_end_of_month, _to_weekday),
)


class Scenario(NamedTuple):
    """A setting with its events in the order in which they usually happen."""

    id: str
    opening: str
    events: list[str]


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
def scenarios() -> list[Scenario]:
    """Return all scenarios; an opening holds ``{name}`` where a name belongs."""
    return [
        Scenario(**item) for item in data_file(__package__, "stories.json")["scenarios"]
    ]


def _interleaved(first: Scenario, second: Scenario, rng: Stream) -> Scenario:
    """Return two scenarios told as one, the events of each in their order."""
    turns = [first] * len(first.events) + [second] * len(second.events)
    rng.shuffle(turns)
    ahead = {id(scenario): iter(scenario.events) for scenario in (first, second)}
    return first._replace(events=[next(ahead[id(scenario)]) for scenario in turns])


@cache
def names() -> tuple[str, ...]:
    """Return the first names."""
    return tuple(data_file(__package__, "stories.json")["names"])


def story_of(params: Params | Instance) -> str:
    """Return the story, the question after it, and the rules of counting."""
    sentences = [*_date_sentences(params), *_tied(params)]
    if params.style % 4 == 1:  # what is tied can come before what it is tied to
        sentences = [*_tied(params), *_date_sentences(params)]
    sayings = data_file(__package__, "sentences.json")
    links, questions = sayings["links"], sayings["questions"]
    story = " ".join([params.opening, links[params.style % len(links)], *sentences])
    question = questions[params.style % len(questions)].format(
        params.events[params.asked]
    )
    rules = _calendar_rules(
        params.date_format, frozenset([step[1] for step in params.steps])
    )
    return f"{story}\n\n{question}\n\n{rules}\n\n"


@cache
def _calendar_rules(form: DateFormat, kinds: frozenset[StepKind]) -> str:
    say = data_file(__package__, "sentences.json")
    applies = {
        "slashes": form in {"MM_DD_YYYY", "RELATIVE_OFFSET"},
        "ordinal": form == "ORDINAL_DAY",
        "calendar": True,
        "counting": form == "RELATIVE_OFFSET" or kinds & {"days", "weeks"},
        "same_day": kinds & {"months", "years"},
        "strictly": kinds & {"weekday_after", "weekday_before"},
    }
    return " ".join(say[rule] for rule, is_needed in applies.items() if is_needed)


def _date_sentences(params: Params | Instance) -> Iterator[str]:
    for i, (event, *when) in enumerate(params.given):
        time = _when(params, when, i)
        yield capitalised(
            f"{params.events[event]} {_VERBS[(params.style + i) % 3]} {time}."
        )


def _when(params: Params | Instance, when: Sequence[int], i: int) -> str:
    year, month, day, after = when
    if params.date_format == "RELATIVE_OFFSET":
        side = "after" if after >= 0 else "before"
        return f"{_many(abs(after), 'day')} {side} {month:02}/{day:02}/{year}"
    form = (params.style // 3 + i) % 3
    if params.date_format == "ORDINAL_DAY":
        number = after + 1
        return (
            f"on day {number} of {year}"
            if form == 0
            else f"on the {ordinal(number)} day of {year}"
        )
    at = date(year, month, day)
    if after:
        at += timedelta(days=after)
    if params.date_format == "MM_DD_YYYY":
        return f"on {at.month:02}/{at.day:02}/{at.year}"
    name = MONTHS[at.month - 1]
    forms = (f"{name} {at.day}, {at.year}", f"{at.day} {name} {at.year}")
    return (
        f"on {forms[form]}"
        if form < 2
        else f"on the {ordinal(at.day)} of {name} {at.year}"
    )


def _tied(params: Params | Instance) -> Iterator[str]:
    for i, (event, kind, amount, origin) in enumerate(params.steps):
        verb = _VERBS[(params.style // 2 + i) % 3]
        what, origin_event = params.events[event], params.events[origin]
        place = _place(kind, amount, origin_event)
        if (
            kind in {"days", "weeks", "months", "years"}
            and (params.style // 5 + i) % 3 == 0
        ):
            yield capitalised(f"exactly {place} {verb} {what}.")
        else:
            yield capitalised(f"{what} {verb} {place}.")


def _place(kind: StepKind, amount: int, origin: str) -> str:
    if kind in {"days", "weeks", "months", "years"}:
        side = "after" if amount > 0 else "before"
        return f"{_many(abs(amount), kind.removesuffix('s'))} {side} {origin}"
    place: str = data_file(__package__, "sentences.json")["places"][kind]
    return place.format(amount=amount, weekday=WEEKDAYS[amount % 7], origin=origin)


def _many(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"
