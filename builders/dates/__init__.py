"""Dates: a short story whose events are so many days, months or weekdays from one another.

An example of the puzzle, with the answer 03/05/2024:

    The first reading is on 02/26/2024.
    The dress rehearsal falls 8 days after the first reading.
    On which date is the dress rehearsal?
"""

from calendar import isleap
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from scbench.base.seeding import Stream
from scbench.builders.dates.draws import draw_path
from scbench.builders.dates.steps import ONE_DAY, Move, path_of, take_step
from scbench.builders.dates.stories import (
    Instance,
    Scenario,
    interleaved,
    names,
    scenarios,
    story_of,
)
from scbench.builders.shared.builder import Case, Composed, Point, parameter, under
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.dates import Answer, DateFormat, Params

_CLOSING = reply_short(
    "a date written MM/DD/YYYY: two digits for the month, two for the day, four for the year"
)
# Days that a rough calculation takes for a month or a year.
_ROUGH_DAYS = {"months": 30, "years": 365}


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


class Chain(NamedTuple):
    """A date that the story tells, and the steps from there to the date asked for."""

    start: date
    moves: list[Move]


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
        return Answer(answer=slashed(solution_path(params)[-1]))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return dates that mistakes lead to, and answers that are not dates."""
        start, moves = chain_of(params)
        path = path_of(start, moves)
        right = path[-1]
        clues = [date_of(clue) for clue in params.given if clue[0] != params.asked]
        swapped = right
        if right.day <= 12:
            swapped = right.replace(month=right.day, day=right.month)
        # February 29 has no counterpart in the next year.
        a_year_late = right.replace(year=right.year + 1, day=min(right.day, 28))
        mistakes = {
            "a_day_late": right + ONE_DAY,
            "a_day_early": right - ONE_DAY,
            "another_event": clues[0] if clues else right + 2 * ONE_DAY,
            "the_date_told": path[0],
            "last_step_left_out": path[-2] if moves else right - 2 * ONE_DAY,
            "months_of_30_days": rough_date(params),
            "day_and_month_swapped": swapped,
            "a_year_late": a_year_late,
        }
        wrong: dict[str, JsonValue] = {}
        for name, day in mistakes.items():
            if day != right:
                wrong[name] = slashed(day)
        wrong["listed"] = [slashed(right)]
        wrong["two_dates"] = f"{slashed(right)} or {slashed(right + ONE_DAY)}"
        wrong["event"] = params.events[params.asked]
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the scenario, and the steps from the given date to the date asked for."""
        return facts_of(params.story, solution_path(params))

    def measure(self, params: Params) -> float:
        """Return the number of steps, one more for each to another month, and one if days count."""
        months = [month_number(day) for day in solution_path(params)]
        changes = sum(start != end for start, end in pairwise(months))
        counts_days = params.date_format in {"ORDINAL_DAY", "RELATIVE_OFFSET"}
        return len(params.steps) + changes + counts_days

    def blind_floor(self, params: Params) -> float:
        """Return the chance to choose the right one of the story's dates; 0 if it is not there."""
        is_clue = any(clue[0] == params.asked for clue in params.given)
        return 1 / len(params.given) if is_clue else 0.0

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw steps first, then the events that they lie between."""
        path, moves = draw_path(point.tier, point.links, rng)
        decoys = draw_decoys(path, 2 if point.tier == 0 else 1, rng)
        days = [*path, *decoys]

        # The events happen in the order of a scenario, so they are numbered by date.
        by_date = sorted(range(len(days)), key=days.__getitem__)
        event = [by_date.index(i) for i in range(len(days))]
        # The story tells the first date of the path, and the decoys.
        clues = [
            [event[i], *draw_clue(days[i], point.date_format, rng)]
            for i in (0, *range(len(path), len(days)))
        ]
        rng.shuffle(clues)
        steps = [[event[i + 1], *move, event[i]] for i, move in enumerate(moves)]
        rng.shuffle(steps)

        at = point.scenario - 1
        if point.scenario == 0:
            at = rng.below(len(scenarios()))
        scenario = scenarios()[at]
        openings = [scenario.opening]
        # A long chain has more events than a scenario.
        if len(days) > len(scenario.events):
            further = draw_further(at, rng)
            openings.append(further.opening)
            scenario = interleaved(scenario, further, rng)
        # Each event of the story is a random event of the scenario, in order.
        places = sorted(rng.sample(range(len(scenario.events)), len(days)))
        openings = [text.replace("{name}", rng.choice(names())) for text in openings]
        instance = Instance(
            story=scenario.id,
            opening=" ".join(openings),
            events=[scenario.events[place] for place in places],
            date_format=point.date_format,
            given=clues,
            steps=steps,
            asked=event[len(path) - 1],
            style=rng.below(60),
        )
        return (
            instance._asdict(),
            story_of(instance) + _CLOSING,
            slashed(path[-1]),
            facts_of(scenario.id, path),
        )


def draw_decoys(path: Sequence[date], count: int, rng: Stream) -> list[date]:
    """Draw dates of events that do not matter."""
    decoys: list[date] = []
    for _ in range(count):
        decoy = path[0] + ONE_DAY * either_way(rng.between(1, 200), rng)
        # The question is not to be answered with the date of another event.
        while decoy == path[-1] or decoy in decoys:
            decoy += ONE_DAY
        decoys.append(decoy)
    return decoys


def draw_clue(day: date, form: DateFormat, rng: Stream) -> tuple[int, int, int, int]:
    """Return year, month and day of a date in the story, and how many days after it a day is."""
    after = 0
    if form == "ORDINAL_DAY":
        after = (day - day.replace(month=1, day=1)).days
    elif form == "RELATIVE_OFFSET":
        after = either_way(rng.between(2, 60), rng)
    origin = day - after * ONE_DAY
    return origin.year, origin.month, origin.day, after


def draw_further(at: int, rng: Stream) -> Scenario:
    """Draw a scenario other than the one at a position."""
    others = len(scenarios()) - 1
    return scenarios()[(at + rng.between(1, others)) % len(scenarios())]


def either_way(amount: int, rng: Stream) -> int:
    """Return an amount with a random sign."""
    return amount if rng.below(2) else -amount


def solution_path(params: Params) -> list[date]:
    """Return the dates from the one in the story to the one asked for."""
    return path_of(*chain_of(params))


def chain_of(params: Params) -> Chain:
    """Return the date that the event asked for depends on, and the steps from there."""
    # A clue or step begins with the number of its event.
    clues = {clue[0]: clue for clue in params.given}
    steps = {step[0]: step for step in params.steps}
    moves = []
    event = params.asked
    while event not in clues:
        # Without the step, a circle of steps ends in an error.
        _, kind, amount, event = steps.pop(event)
        moves.append(Move(kind, amount))
    return Chain(date_of(clues[event]), moves[::-1])


def date_of(clue: Sequence[int]) -> date:
    """Return the date of a clue: an event, year, month and day, and days after them."""
    _, year, month, day, after = clue
    return date(year, month, day) + after * ONE_DAY


def rough_date(params: Params) -> date:
    """Return the date by months of 30 days, years of 365, and counting from 0."""
    day, moves = chain_of(params)
    for move in moves:
        if move.kind in _ROUGH_DAYS:
            day += timedelta(days=_ROUGH_DAYS[move.kind] * move.amount)
        elif move.kind == "counted_day":
            day += timedelta(days=move.amount)
        else:
            day = take_step(day, move)
    return day


def facts_of(story: str, path: Sequence[date]) -> dict[str, JsonValue]:
    """Return the facts of a case from its path."""
    month_ends = 0
    has_leap_day = False
    # A step back in time counts as much as one forth.
    for leg in pairwise(path):
        first, last = sorted(leg)
        month_ends += month_number(last) - month_number(first)
        has_leap_day = has_leap_day or includes_leap_day(first, last)
    return {
        "story": story,
        "steps": len(path) - 1,
        "shift": (path[-1] - path[0]).days,
        "month_ends": month_ends,
        "leap_day": has_leap_day,
    }


def month_number(day: date) -> int:
    """Return the number of a day's month, counted through all years."""
    return 12 * day.year + day.month


def includes_leap_day(first: date, last: date) -> bool:
    """Return whether a February 29 lies between two dates, ends included."""
    years = range(first.year, last.year + 1)
    return any(isleap(year) and first <= date(year, 2, 29) <= last for year in years)


def slashed(day: date) -> str:
    """Return a date as MM/DD/YYYY."""
    return f"{day.month:02}/{day.day:02}/{day.year:04}"
