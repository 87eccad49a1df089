"""Dates: a short story in which events are given numbers of days or months, or weekdays, apart.

An example of the puzzle, with the answer 03/05/2024:

    On which date is the dress rehearsal?

    The first reading is on 02/26/2024.
    The dress rehearsal falls 8 days after the first reading.
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
    interleave_events,
    names,
    scenarios,
    story_of,
)
from scbench.builders.shared.builder import Case, Composed, Point, parameter, under
from scbench.builders.shared.text_task import ComposingBuilder, reply_short
from scbench.schemas.dates import Answer, DateFormat, Params

_CLOSING = reply_short(
    "a date in the form MM/DD/YYYY, with two digits for month and day"
)
# Lengths in days that a careless calculation assumes.
_ROUGH_DAYS = {"months": 30, "years": 365}
# Number of styles. The style of a story determines all of its wordings, see `story_of`.
_STYLES = 60


class Space(Point):
    """Parameters of stories about dates."""

    tier: int = parameter(
        2,
        "0: find the date; 1: add days within a month; 2: one step past the end of a month or a "
        "year, or around a leap day; 3: three to five steps, in any order",
        "depth",
        ge=0,
        le=3,
    )
    date_format: DateFormat = parameter(
        "MM_DD_YYYY", "how the story writes dates", "semantic"
    )
    scenario: int = parameter(
        0,
        "number of the scenario, from 1 to 36; 0 draws any of them",
        "semantic",
        ge=0,
        le=36,
    )
    links: int = parameter(
        0,
        "number of steps in tier 3; 0 draws three to five. If there are more than five steps, "
        "two scenarios are mixed",
        "depth",
        later=True,
        ge=0,
        le=12,
    )

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        if self.links and self.tier < 3:
            raise ValueError(
                f"links ({self.links}) work only with tier 3, but the tier is {self.tier}"
            )
        return self


class DatesCase(Case):
    """Facts about one case, for the table of cases."""

    story: str = Field(description="the scenario")
    steps: int = Field(
        ge=0, description="number of steps from the given date to the requested date"
    )
    shift: int = Field(
        description="number of days from the given date to the requested date"
    )
    month_ends: int = Field(
        ge=0, description="number of month ends between the two dates"
    )
    leap_day: bool = Field(
        description="whether the period from the first date to the last includes a February 29"
    )


class Chain(NamedTuple):
    """A date in the story, and the steps from there to the requested date."""

    start: date
    moves: list[Move]


class TaskBuilder(ComposingBuilder[Params, Answer, Space]):
    """Makes stories whose events happen in the usual order of a scenario."""

    task = "dates"
    version = 3
    draws = 2
    case_model = DatesCase
    # The ends of each tier, every date format, the first and last scenario, and the most steps.
    extremes = (
        {"tier": 0, "date_format": "ORDINAL_DAY"},
        {"tier": 1, "date_format": "NATURAL_LANGUAGE", "scenario": 1},
        {"tier": 3, "date_format": "RELATIVE_OFFSET", "scenario": 36},
        {"tier": 0, "date_format": "MM_DD_YYYY"},
        {"tier": 3, "date_format": "NATURAL_LANGUAGE"},
        {"tier": 3, "links": 12, "scenario": 36},
    )

    def prompt(self, params: Params) -> str:
        """Return the question, the story and the rules of counting."""
        return prompt_of(params, solution_path(params))

    def reference(self, params: Params) -> Answer:
        """Follow the steps back from the requested event to a date in the story, then forward."""
        return Answer(answer=us_date(solution_path(params)[-1]))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return dates that mistakes lead to, and the right date in formats not accepted."""
        start, moves = chain_of(params)
        path = path_of(start, moves)
        right = path[-1]
        # A clue begins with the number of its event.
        clues = [date_of(clue) for clue in params.given if clue[0] != params.asked]
        # If there is no such event or step, another date near the right one is used instead.
        another_event = clues[0] if clues else right + 2 * ONE_DAY
        last_step_left_out = path[-2] if moves else right - 2 * ONE_DAY
        # A day above 12 cannot be a month. Mistakes that give the right date are dropped below.
        swapped = right
        if right.day <= 12:
            swapped = right.replace(month=right.day, day=right.month)
        # Every day above 28 becomes the 28th, because the next year may have no February 29.
        a_year_late = right.replace(year=right.year + 1, day=min(right.day, 28))
        mistakes = {
            "a_day_late": right + ONE_DAY,
            "a_day_early": right - ONE_DAY,
            "another_event": another_event,
            "the_date_told": path[0],
            "last_step_left_out": last_step_left_out,
            "months_of_30_days": rough_date(params),
            "day_and_month_swapped": swapped,
            "a_year_late": a_year_late,
        }
        wrong: dict[str, JsonValue] = {}
        for name, day in mistakes.items():
            if day != right:
                wrong[name] = us_date(day)
        # The right date in a wrong format, with another date, or as the text of its event.
        wrong["listed"] = [us_date(right)]
        wrong["two_dates"] = f"{us_date(right)} or {us_date(right + ONE_DAY)}"
        wrong["event"] = params.events[params.asked]
        return under("answer", wrong)

    def facts(self, params: Params) -> dict[str, JsonValue]:
        """Return the scenario, and the steps from the date in the story to the requested date."""
        return facts_of(params.story, solution_path(params))

    def measure(self, params: Params) -> float:
        """Return the number of steps, plus one for each step that leads to another month.

        Add one more if dates are written as counts of days.
        """
        months = [month_number(day) for day in solution_path(params)]
        changes = sum(start != end for start, end in pairwise(months))
        counts_days = params.date_format in {"ORDINAL_DAY", "RELATIVE_OFFSET"}
        return len(params.steps) + changes + int(counts_days)

    def blind_floor(self, params: Params) -> float:
        """Return the chance of guessing the answer among the story's dates; 0 if not among them."""
        is_answer_given = any(clue[0] == params.asked for clue in params.given)
        return 1 / len(params.given) if is_answer_given else 0.0

    def compose(self, point: Space, rng: Stream) -> Composed:
        """Draw the steps first, then the events that they connect."""
        path, moves = draw_path(point.tier, point.links, rng)
        # In tier 0 the answer itself is in the story, so there is another decoy.
        decoys = draw_decoys(path, 2 if point.tier == 0 else 1, rng)
        days = [*path, *decoys]

        # The events happen in the order of a scenario, so they are numbered by date: the event of
        # days[i] is event_of_day[i]. Equal dates keep their order in `days`.
        by_date = sorted(range(len(days)), key=days.__getitem__)
        event_of_day = [by_date.index(i) for i in range(len(days))]
        # The story gives the first date of the path, and the decoys. A clue is its event and
        # the numbers of `draw_clue`.
        given_days = [0, *range(len(path), len(days))]
        clues = []
        for i in given_days:
            numbers = draw_clue(days[i], point.date_format, rng)
            clues.append([event_of_day[i], *numbers])
        rng.shuffle(clues)
        # A step is the event that it leads to, its kind and amount, and the event where it starts.
        legs = zip(moves, pairwise(event_of_day), strict=False)
        steps = [[end, *move, start] for move, (start, end) in legs]
        rng.shuffle(steps)

        # Scenarios are numbered from 1 in parameters; 0 is any of them.
        at = point.scenario - 1
        if point.scenario == 0:
            at = rng.below(len(scenarios()))
        scenario = scenarios()[at]
        openings = [scenario.opening]
        # A long chain has more events than one scenario, so a second scenario is mixed in.
        if len(days) > len(scenario.events):
            further = draw_further(at, rng)
            openings.append(further.opening)
            scenario = interleave_events(scenario, further, rng)
        # Events are chosen at random, and stay in the scenario's order.
        places = sorted(rng.sample(range(len(scenario.events)), len(days)))
        openings = [text.replace("{name}", rng.choice(names())) for text in openings]
        instance = Instance(
            story=scenario.id,
            opening=" ".join(openings),
            events=[scenario.events[place] for place in places],
            date_format=point.date_format,
            given=clues,
            steps=steps,
            asked=event_of_day[len(path) - 1],
            style=rng.below(_STYLES),
        )
        return (
            instance._asdict(),
            prompt_of(instance, path),
            us_date(path[-1]),
            facts_of(scenario.id, path),
        )


def prompt_of(params: Params | Instance, path: Sequence[date]) -> str:
    """Return the prompt of an instance with this solution path."""
    with_leap_years = depends_on_leap_years(params, path)
    return story_of(params, with_leap_years=with_leap_years) + _CLOSING


def depends_on_leap_years(params: Params | Instance, path: Sequence[date]) -> bool:
    """Return whether a February 29, or its absence, can affect the story.

    It can if a weekday has to be computed, if days are counted past the end of a February, or if a
    step by months or years leads there.
    """
    kinds = {kind for _, kind, _, _ in params.steps}
    if kinds & {"weekday_after", "weekday_before"}:
        return True
    # Dates counted from another date in the story, including decoys.
    for _, year, month, day, offset in params.given:
        origin = date(year, month, day)
        if offset and passes_end_of_february(origin, origin + offset * ONE_DAY):
            return True
    if kinds & {"days", "weeks", "counted_day"}:
        return any(passes_end_of_february(*leg) for leg in pairwise(path))
    # Steps by months and years do not count days, so only where they end can matter.
    return len(path) > 1 and any(passes_end_of_february(day, day) for day in path)


def passes_end_of_february(start: date, end: date) -> bool:
    """Return whether a day from February 28 to March 1 is between two dates, including the ends."""
    first, last = sorted((start, end))
    years = range(first.year, last.year + 1)
    return any(
        first <= date(year, 3, 1) and last >= date(year, 2, 28) for year in years
    )


def draw_decoys(path: Sequence[date], count: int, rng: Stream) -> list[date]:
    """Draw different dates of events that do not matter, none of them the answer."""
    decoys: list[date] = []
    for _ in range(count):
        decoy = path[0] + ONE_DAY * either_way(rng.between(1, 200), rng)
        # The date of a decoy must not answer the question.
        while decoy == path[-1] or decoy in decoys:
            decoy += ONE_DAY
        decoys.append(decoy)
    return decoys


def draw_clue(day: date, form: DateFormat, rng: Stream) -> tuple[int, int, int, int]:
    """Return the numbers of a clue to a day: year, month and day of an origin, and an offset.

    The offset is the number of days from the origin to the day; it is negative if the day is
    earlier.
    """
    offset = 0
    if form == "ORDINAL_DAY":
        # The origin is January 1 of the year.
        offset = (day - day.replace(month=1, day=1)).days
    elif form == "RELATIVE_OFFSET":
        offset = either_way(rng.between(2, 60), rng)
    origin = day - offset * ONE_DAY
    return origin.year, origin.month, origin.day, offset


def draw_further(at: int, rng: Stream) -> Scenario:
    """Draw a scenario other than the one at position ``at``."""
    count = len(scenarios())
    # The shift is less than a full circle, so it never ends where it began.
    distance = rng.between(1, count - 1)
    return scenarios()[(at + distance) % count]


def either_way(amount: int, rng: Stream) -> int:
    """Return an amount with a random sign."""
    return amount if rng.below(2) else -amount


def solution_path(params: Params) -> list[date]:
    """Return the dates from the date in the story to the requested date."""
    return path_of(*chain_of(params))


def chain_of(params: Params) -> Chain:
    """Return the date at the start of the chain, and the steps from it to the requested event."""
    # A clue or step begins with the number of its event.
    clues = {clue[0]: clue for clue in params.given}
    steps = {step[0]: step for step in params.steps}
    moves = []
    event = params.asked
    while event not in clues:
        # Each step is used once (pop), so a circle of steps raises a KeyError instead of looping.
        _, kind, amount, previous_event = steps.pop(event)
        moves.append(Move(kind, amount))
        event = previous_event
    return Chain(date_of(clues[event]), moves[::-1])


def date_of(clue: Sequence[int]) -> date:
    """Return the date of a clue: its event, then the numbers of `draw_clue`."""
    _, year, month, day, offset = clue
    return date(year, month, day) + offset * ONE_DAY


def rough_date(params: Params) -> date:
    """Return a careless solver's date: months of 30 days, years of 365, counting from 0."""
    day, moves = chain_of(params)
    for move in moves:
        if move.kind in _ROUGH_DAYS:
            day += timedelta(days=_ROUGH_DAYS[move.kind] * move.amount)
        elif move.kind == "counted_day":
            # The mistake is to ignore that the start is day 1, so one day less would be right.
            day += timedelta(days=move.amount)
        else:
            day = take_step(day, move)
    return day


def facts_of(story: str, path: Sequence[date]) -> dict[str, JsonValue]:
    """Return the facts of a case from its path."""
    month_ends = 0
    has_leap_day = False
    # A step back in time counts like a step forward.
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
    """Return the number of a day's month, counted from year 0."""
    return 12 * day.year + day.month


def includes_leap_day(first: date, last: date) -> bool:
    """Return whether a February 29 is between two dates, including the ends."""
    years = range(first.year, last.year + 1)
    return any(isleap(year) and first <= date(year, 2, 29) <= last for year in years)


def us_date(day: date) -> str:
    """Return a date as MM/DD/YYYY."""
    return f"{day.month:02}/{day.day:02}/{day.year:04}"
