"""Steps from one date to another: what they do, and how to draw those that are worth asking."""

from calendar import isleap
from collections.abc import Callable
from datetime import date, timedelta

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.schemas.dates import StepKind

Move = tuple[StepKind, int]
"""A kind of step and its amount, as in the schema."""

_TRIES = 200
_KINDS: tuple[StepKind, ...] = (
    *("days", "weeks", "months", "years", "counted_day"),
    *("weekday_after", "weekday_before", "month_last", "month_first"),
)
_PAST_MONTH: tuple[StepKind, ...] = ("days", "days", "weeks", "counted_day", "month_first")
_CENTURIES = (1900, 2000, 2100)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_length(year: int, month: int) -> int:
    """Return the number of days in a month."""
    return 29 if month == 2 and isleap(year) else _LENGTHS[month - 1]


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
    if kind == "month_last":
        return start.replace(day=month_length(start.year, start.month))
    if kind == "month_first":
        return start.replace(day=month_length(start.year, start.month)) + timedelta(days=1)
    months = 12 * start.year + start.month - 1 + (12 * amount if kind == "years" else amount)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(start.day, month_length(year, month)))


def draw_date(rng: Stream) -> date:
    """Return any date of two hundred years, mostly of the last and the coming decades."""
    low, high = (1900, 2099) if rng.below(4) == 0 else (1970, 2049)
    year, month = rng.between(low, high), rng.between(1, 12)
    return date(year, month, rng.between(1, month_length(year, month)))


def draw_within_month(rng: Stream) -> tuple[date, Move]:
    """Return a date and a number of days that stays in its month."""
    start = draw_date(rng)
    first, last = sorted(rng.sample(range(1, month_length(start.year, start.month) + 1), 2))
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
        if (start.year, start.month) != (end.year, end.month) or move[0] == "month_last":
            return start, move
    raise GenerationError("dates: no step past the end of a month was found; try another tier")


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
    last = month_length(start.year, start.month)
    return start.replace(day=rng.between(last - 5, last)), ("weekday_after", rng.below(7))


_CROSSINGS: tuple[Callable[[Stream], tuple[date, Move]], ...] = (
    *(_past_month, _past_year, _past_february, _to_shorter_month),
    *(_from_leap_day, _to_end_of_month, _to_weekday),
)
