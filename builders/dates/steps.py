"""Steps from one date to another, such as "3 months later" or "the last Monday before"."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from typing import NamedTuple

from scbench.schemas.dates import StepKind

ONE_DAY = timedelta(days=1)


class Move(NamedTuple):
    """A kind of step and its amount; see ``Params.steps`` of the schema."""

    kind: StepKind
    amount: int


def take_step(start: date, move: Move) -> date:
    """Return the date to which a step leads."""
    match move.kind:
        case "days":
            return start + timedelta(days=move.amount)
        case "weeks":
            return start + timedelta(weeks=move.amount)
        case "counted_day":
            # The start is day 1.
            return start + timedelta(days=move.amount - 1)
        case "weekday_after":
            return start + timedelta(days=(move.amount - start.weekday() - 1) % 7 + 1)
        case "weekday_before":
            return start - timedelta(days=(start.weekday() - move.amount - 1) % 7 + 1)
        case "month_last":
            return end_of_month(start)
        case "month_first":
            return end_of_month(start) + ONE_DAY
        case "months":
            return add_months(start, move.amount)
        case "years":
            return add_months(start, 12 * move.amount)


def add_months(start: date, months: int) -> date:
    """Return the same day of another month, or the last day of a shorter month."""
    year, month = divmod(12 * start.year + start.month - 1 + months, 12)
    month += 1
    return date(year, month, min(start.day, days_in_month(year, month)))


def end_of_month(day: date) -> date:
    """Return the last day of a day's month."""
    return day.replace(day=days_in_month(day.year, day.month))


def days_in_month(year: int, month: int) -> int:
    """Return the number of days in a month."""
    _, days = monthrange(year, month)
    return days


def path_of(start: date, moves: Sequence[Move]) -> list[date]:
    """Return the dates from a start through all steps."""
    return list(accumulate(moves, take_step, initial=start))
