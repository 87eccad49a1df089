"""Random dates, and random steps across difficult places of the calendar."""

from datetime import date, timedelta
from typing import get_args

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.dates.steps import (
    Move,
    days_in_month,
    end_of_month,
    path_of,
    take_step,
)
from scbench.schemas.dates import StepKind

# Maximum number of steps drawn until one leads to another day, or past the end of a month.
_TRIES = 200
_KINDS: tuple[StepKind, ...] = get_args(StepKind)
# Kinds of steps that can pass the end of a month by counting; days occur twice as often.
_PAST_MONTH: tuple[StepKind, ...] = (
    "days",
    "days",
    "weeks",
    "counted_day",
    "month_first",
)
# Largest usual amounts.
_LIMITS = {"days": 120, "weeks": 20, "months": 18, "years": 9}
_LONG_MONTHS = (1, 3, 5, 7, 8, 10, 12)
# Only one of these is a leap year.
_CENTURIES = (1900, 2000, 2100)


def draw_path(tier: int, links: int, rng: Stream) -> tuple[list[date], list[Move]]:
    """Draw the dates from the story's date to the requested date, and the steps between them.

    ``links`` is the number of steps in tier 3, or 0 for three to five.
    """
    if tier == 0:
        return [draw_date(rng)], []
    if tier < 3:
        start, move = draw_within_month(rng) if tier == 1 else draw_crossing(rng)
        return path_of(start, [move]), [move]
    path = [draw_date(rng)]
    moves: list[Move] = []
    for _ in range(links or rng.between(3, 5)):
        move = draw_any(path[-1], rng)
        moves.append(move)
        path.append(take_step(path[-1], move))
    return path, moves


def draw_date(rng: Stream) -> date:
    """Return a date from 1900 to 2099, mostly in the past and coming decades."""
    is_far = rng.below(4) == 0
    year = rng.between(1900, 2099) if is_far else rng.between(1970, 2049)
    month = rng.between(1, 12)
    return date(year, month, rng.between(1, days_in_month(year, month)))


def draw_within_month(rng: Stream) -> tuple[date, Move]:
    """Return a date and a number of days that does not leave its month."""
    start = draw_date(rng)
    days = range(1, days_in_month(start.year, start.month) + 1)
    first, last = sorted(rng.sample(days, 2))
    return start.replace(day=first), Move("days", last - first)


def draw_any(start: date, rng: Stream) -> Move:
    """Return a step of any kind that leads to another day."""
    for _ in range(_TRIES):
        move = draw_amount(rng.choice(_KINDS), rng)
        if take_step(start, move) != start:
            return move
    raise AssertionError("unreachable: most kinds of steps always lead to another day")


def draw_amount(kind: StepKind, rng: Stream) -> Move:
    """Return a step of this kind with an amount of the usual size."""
    if kind == "counted_day":
        return Move(kind, rng.between(3, 99))
    if kind in {"weekday_after", "weekday_before"}:
        return Move(kind, rng.below(7))
    if kind in {"month_last", "month_first"}:
        return Move(kind, 0)
    return Move(kind, mostly_forward(rng.between(1, _LIMITS[kind]), rng))


def mostly_forward(amount: int, rng: Stream) -> int:
    """Return an amount, with the opposite sign in one case in three."""
    return amount if rng.below(3) else -amount


def draw_crossing(rng: Stream) -> tuple[date, Move]:
    """Return a date and a step across a difficult place in the calendar.

    Such places are the end of a month or year, the end of February, and a day that the target month
    does not have.

    Raises:
        GenerationError: no such step was found; every item of tier 2 needs one.
    """
    draw = rng.choice(
        (
            past_month,
            past_year,
            past_february,
            to_shorter_month,
            from_leap_day,
            to_end_of_month,
            to_weekday,
        )
    )
    for _ in range(_TRIES):
        start, move = draw(rng)
        end = take_step(start, move)
        leaves_month = (start.year, start.month) != (end.year, end.month)
        if leaves_month or move.kind == "month_last":
            return start, move
    raise GenerationError(
        "dates: no step past the end of a month was found; try another tier"
    )


def past_month(rng: Stream) -> tuple[date, Move]:
    """Count days or weeks, which often leave the month."""
    start = draw_date(rng)
    return start, draw_amount(rng.choice(_PAST_MONTH), rng)


def past_year(rng: Stream) -> tuple[date, Move]:
    """Count days across New Year; backwards in one case in three."""
    new_year = date(draw_date(rng).year, 1, 1)
    is_back = rng.below(3) == 0
    days = rng.between(1, 60)
    days_beyond = rng.between(0, 90)
    # The step begins 1 to 60 days on one side of New Year, and ends up to 90 on the other.
    if is_back:
        start = new_year + timedelta(days=days - 1)
        return start, Move("days", -days - days_beyond)
    return new_year - timedelta(days=days), Move("days", days + days_beyond)


def past_february(rng: Stream) -> tuple[date, Move]:
    """Count days past the end of a February, mostly of a leap year."""
    year = draw_date(rng).year
    if rng.below(6) == 0:
        year = rng.choice(_CENTURIES)
    elif rng.below(3):
        year -= year % 4
    march = date(year, 3, 1)
    before = rng.between(1, 45)
    after = rng.between(0, 45)
    if rng.below(3) == 0:
        return march + timedelta(days=after), Move("days", -before - after)
    return march - timedelta(days=before), Move("days", before + after)


def to_shorter_month(rng: Stream) -> tuple[date, Move]:
    """Move by some months from one of the last days of a month, often to February."""
    year = draw_date(rng).year
    month = rng.choice(_LONG_MONTHS)
    start = date(year, month, rng.between(29, 31))
    months = mostly_forward(rng.between(1, 14), rng)
    if rng.below(2):
        # Add months up to the next February.
        months += (2 - month - months) % 12
    # Zero months would not be a step.
    return start, Move("months", months or 12)


def from_leap_day(rng: Stream) -> tuple[date, Move]:
    """Move by some years from a leap day, which most years do not have."""
    year = draw_date(rng).year
    years = mostly_forward(rng.between(1, 8), rng)
    # 1900, the first year that can be drawn, was not a leap year.
    leap_year = max(1904, year - year % 4)
    return date(leap_year, 2, 29), Move("years", years)


def to_end_of_month(rng: Stream) -> tuple[date, Move]:
    """Move to the last day of the month, which is February in half of the cases."""
    start = draw_date(rng)
    start = start.replace(day=min(start.day, 27))
    if rng.below(2):
        start = start.replace(month=2)
    return start, Move("month_last", 0)


def to_weekday(rng: Stream) -> tuple[date, Move]:
    """Move to a weekday that is often in the previous or next month."""
    start = draw_date(rng)
    if rng.below(2):
        start = start.replace(day=rng.between(1, 6))
        return start, Move("weekday_before", rng.below(7))
    last = end_of_month(start).day
    start = start.replace(day=rng.between(last - 5, last))
    return start, Move("weekday_after", rng.below(7))
