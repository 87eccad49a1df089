"""Dates: a short story whose events are so many days, months or weekdays from one another."""

from calendar import isleap
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise

from pydantic import Field, JsonValue

from scbench.base.seeding import Stream
from scbench.builders.dates.steps import (
    Move,
    draw_any,
    draw_crossing,
    draw_date,
    draw_within_month,
    take_step,
)
from scbench.builders.dates.stories import Instance, names, scenarios, story_of
from scbench.builders.shared.builder import Case, Composed, Point
from scbench.builders.shared.parameters import parameter
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.dates import Answer, DateFormat, Params

_DAY = timedelta(days=1)
_CLOSING = reply_short(
    "a date written MM/DD/YYYY: two digits for the month, two for the day, four for the year"
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
    date_format: DateFormat = parameter("MM_DD_YYYY", "how the story writes dates", "semantic")
    scenario: int = parameter(
        0, "which of the 36 scenarios, or 0 for any of them", "semantic", ge=0, le=36
    )


class DatesCase(Case):
    """A case of dates."""

    story: str = Field(description="the scenario")
    steps: int = Field(ge=0, description="steps from the date told to the date asked for")
    shift: int = Field(description="days from the date told to the date asked for")
    month_ends: int = Field(ge=0, description="ends of months passed on the way")
    leap_day: bool = Field(description="whether a February 29 lies on the way, ends included")


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
    )

    def prompt(self, params: Params) -> str:
        """Return the story, the question and the rules of counting."""
        return story_of(params) + _CLOSING

    def reference(self, params: Params) -> Answer:
        """Follow the chain of steps back from the event asked for, then forth."""
        return Answer(answer=_slashed(_path(params)[-1]))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return dates that mistakes lead to, and answers that are not dates."""
        path = _path(params)
        right = path[-1]
        clues = [_date_of(clue) for clue in params.given if clue[0] != params.asked]
        mistakes = {
            "a_day_late": right + _DAY,
            "a_day_early": right - _DAY,
            "another_event": clues[0] if clues else right + 2 * _DAY,
            "the_date_told": path[0],
            "last_step_left_out": path[-2] if len(path) > 1 else right - 2 * _DAY,
            "months_of_30_days": _roughly(params),
            "day_and_month_swapped": _swapped(right),
            "a_year_late": right.replace(year=right.year + 1, day=min(right.day, 28)),
        }
        wrong: dict[str, JsonValue] = {
            name: {"answer": _slashed(at)} for name, at in mistakes.items() if at != right
        }
        text = _slashed(right)
        return wrong | {
            "listed": {"answer": [text]},
            "two_dates": {"answer": f"{text} or {_slashed(right + _DAY)}"},
            "event": {"answer": params.events[params.asked]},
        }

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the scenario, and the steps from the given date to the date asked for."""
        return _facts(params.story, _path(params))

    def blind_floor(self, params: Params) -> float:
        """Return the chance to name the right one of the dates told; 0 where it is not told."""
        is_clue = any(clue[0] == params.asked for clue in params.given)
        return 1 / len(params.given) if is_clue else 0.0

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw steps first, then the events that they lie between."""
        path, moves = _draw_path(point.tier, rng)
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
        places = sorted(rng.sample(range(len(scenario.events)), len(days)))
        instance = Instance(
            story=scenario.id,
            opening=scenario.opening.replace("{name}", rng.choice(names())),
            events=[scenario.events[i] for i in places],
            date_format=point.date_format,
            given=clues,
            steps=steps,
            asked=event[len(path) - 1],
            style=rng.below(60),
        )
        return (
            instance._asdict(),
            story_of(instance) + _CLOSING,
            _slashed(path[-1]),
            _facts(scenario.id, path),
        )


def _facts(story: str, path: Sequence[date]) -> dict[str, JsonValue]:
    legs = [sorted(leg) for leg in pairwise(path)]
    return {
        "story": story,
        "steps": len(legs),
        "shift": (path[-1] - path[0]).days,
        "month_ends": sum([_month(last) - _month(first) for first, last in legs]),
        "leap_day": any(_has_leap_day(first, last) for first, last in legs),
    }


def _draw_path(tier: int, rng: Stream) -> tuple[list[date], list[Move]]:
    """Return the dates from the one told to the one asked for, and the steps between them."""
    if tier == 0:
        return [draw_date(rng)], []
    if tier < 3:
        start, move = draw_within_month(rng) if tier == 1 else draw_crossing(rng)
        return [start, take_step(start, move)], [move]
    path, moves = [draw_date(rng)], []
    for _ in range(rng.between(3, 5)):
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


def _chain(params: Params) -> tuple[date, list[Move]]:
    """Return the date that the event asked for depends on, and the steps from there."""
    clues = {clue[0]: clue for clue in params.given}
    leading = {step[0]: step for step in params.steps}
    at, moves = params.asked, list[Move]()
    while at not in clues:
        _, kind, amount, at = leading.pop(at)
        moves.append((kind, amount))
    return _date_of(clues[at]), moves[::-1]


def _path(params: Params) -> list[date]:
    start, moves = _chain(params)
    path = [start]
    for move in moves:
        path.append(take_step(path[-1], move))
    return path


def _roughly(params: Params) -> date:
    """Return the date that months of 30 days, years of 365 and counting from 0 lead to."""
    at, moves = _chain(params)
    for kind, amount in moves:
        days = {"months": 30, "years": 365, "counted_day": 1}.get(kind)
        at = take_step(at, (kind, amount)) if days is None else at + days * amount * _DAY
    return at


def _swapped(day: date) -> date:
    return day.replace(month=day.day, day=day.month) if day.day <= 12 else day


def _month(day: date) -> int:
    return 12 * day.year + day.month


def _has_leap_day(first: date, last: date) -> bool:
    for year in range(first.year + -first.year % 4, last.year + 1, 4):
        if isleap(year) and first <= date(year, 2, 29) <= last:
            return True
    return False


def _slashed(day: date) -> str:
    return f"{day.month:02}/{day.day:02}/{day.year:04}"
