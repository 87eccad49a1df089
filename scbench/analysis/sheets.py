"""Helpers that display tables share: rounded numbers, line names and cells."""

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

from scbench.analysis.layout import Column, Row
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.score_tables import OVERALL

# A function that formats a number.
Words = Callable[[float | None], str]

# Decimals up to which sums of floats are exact.
_NOISE = 8
NOTE = (
    "Normalized: 0 is the score of the trivial baseline, 100 is a perfect score. Task weights "
    "come from the release."
)
# Marks figures with a coverage below 1.
GAP = "*"
GAP_NOTE = f"{GAP} over scored rows only; rows without a score lower coverage."
# Marks figures that are computed from fewer scores than N.
LESS = "†"


def rounded(value: float, digits: int = 1) -> Decimal:
    """Return a number rounded for display, with halves rounded away from zero.

    The rounding error of sums is removed first. Otherwise a mean of 65.25 would be shown as 65.2 in
    one place and 65.3 in another.
    """
    step = Decimal(1).scaleb(-digits)
    exact = Decimal(repr(round(float(value), _NOISE)))
    result = exact.quantize(step, ROUND_HALF_UP)
    # Turns -0.0 into 0.0.
    return result or abs(result)


def points(share: float | None, digits: int = 1) -> str:
    """Return a share in points out of 100; a dash if it is missing."""
    return "-" if share is None else str(rounded(100 * share, digits))


def signed(share: float | None) -> str:
    """Return a difference of shares in points, with its sign; ±0.0 if it rounds to 0."""
    return rungs_signed(None if share is None else 100 * share)


def rungs_signed(value: float | None) -> str:
    """Return a difference in rungs, with its sign."""
    if value is None:
        return "-"
    result = rounded(value)
    return f"{result:+}" if result else "±0.0"


def chance(p: float) -> str:
    """Return the printed form of a p-value."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def share(key: str) -> Callable[[Row], str]:
    """Return a function that formats a share as a percentage."""
    return lambda row: points(row[key])


def number(key: str, form: str = ".2f", missing: str = "-") -> Callable[[Row], str]:
    """Return a function that formats a number by a Python format specification."""
    return lambda row: missing if row[key] is None else format(row[key], form)


def marked(key: str) -> Callable[[Row], str]:
    """Return a function that formats a mean, with a mark if some rows have no score."""
    return lambda row: points(row[key]) + coverage_mark(row)


def coverage_mark(row: Row) -> str:
    """Return the mark of figures with a coverage below 1."""
    return GAP if row["scored"] and row["coverage"] < 1 else ""


def interval(row: Row, name: str = "", form: Words = points) -> str:
    """Return an interval, or a dash.

    Args:
        row: row with the ends of the interval.
        name: prefix of "low" and "high" in the column names.
        form: format of the ends.
    """
    low = row[f"{name}low"]
    high = row[f"{name}high"]
    return "-" if low is None else f"{form(low)} to {form(high)}"


def interval_below(row: Row, name: str = "", form: Words = points) -> str:
    """Return an interval on a new line of a cell; empty without an interval."""
    return "" if row[f"{name}low"] is None else f"\n{interval(row, name, form)}"


def task_titles() -> dict[str, str]:
    """Return the titles of tasks by id."""
    return {task.id: task.title for task in all_tasks().values()}


def task_cell(row: Row) -> str:
    """Return the id of a row's task; "all" without one."""
    return "all" if row["task"] is None else printable(row["task"])


def run_words(row: Row) -> str:
    """Return model, setting and budget of a row, without missing ones."""
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(printable(str(part)) for part in parts if part is not None)


def line_words(row: Row) -> str:
    """Return the name of a row's line, in a table that has lines for tasks."""
    return line_name(row["bucket"], row["task"], row["over"], every=True)


def line_name(
    bucket: str,
    task: str | None,
    over: str | None,
    *,
    every: bool,
    titles: Mapping[str, str] | None = None,
) -> str:
    """Return the name of a line of a table or chart.

    Args:
        bucket: bucket of the line.
        task: None for a sum over tasks.
        over: the tasks of the line, if they are not all tasks of its bucket.
        every: whether the table also has lines for tasks.
        titles: titles of tasks; None names them by their ids, as tables in the terminal do.
    """
    if task:
        # Tasks of other versions have no title here.
        return task if titles is None else titles.get(task, task)
    name = f"all {bucket}" if every and bucket != OVERALL else bucket
    return f"{name} ({over})" if over else name


def changes_of(labels: Sequence[object]) -> frozenset[int]:
    """Return the rows whose label differs from the previous row's."""
    return frozenset(i for i in range(1, len(labels)) if labels[i] != labels[i - 1])


def after_sums(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows that follow a sum over tasks; none in a table with only sums."""
    if all(row["task"] is None for row in rows):
        return frozenset()
    return frozenset(i for i in range(1, len(rows)) if rows[i - 1]["task"] is None)


def normalized_words(row: Row) -> str:
    """Return a normalized score; "no room" if every floor is 1."""
    if row["normalized"] is None and row.get("floor") == 1:
        return "no room"
    return points(row["normalized"])


def normalized_interval() -> Column:
    """Return the column of the interval of normalized scores."""
    return Column("95 %", partial(interval, name="normalized_"))


def normalized_columns() -> list[Column]:
    """Return the columns of normalized scores and their intervals."""
    return [Column("normalized", normalized_words), normalized_interval()]


def mean_cell(row: Row) -> str:
    """Return a mean with its interval below."""
    return points(row["mean"]) + interval_below(row)


def marked_normalized(row: Row) -> str:
    """Return a normalized score, with a mark if its coverage is below 1."""
    return normalized_words(row) + coverage_mark(row)


def mean_and_readable(row: Row) -> list[str]:
    """Return the mean of a row, and its readable share if that is below 100 %."""
    words = [] if row["mean"] is None else [f"mean {points(row['mean'])}"]
    if row["readable"] is not None and row["readable"] < 1:
        words.append(f"{points(row['readable'])} % readable")
    return words


def statuses(row: Row) -> str:
    """Return the number of rows with each status."""
    counts = ((row[status.value], status.value) for status in Status)
    return ", ".join(f"{count} {name}" for count, name in counts if count)
