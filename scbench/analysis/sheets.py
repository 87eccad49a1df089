"""What tables for people share: figures rounded here, once, names of lines, and their cells."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.score_tables import OVERALL

if TYPE_CHECKING:
    import polars as pl

Words = Callable[[float | None], str]
"""What writes a figure."""


def points(share: float | None) -> str:
    """Return a share as points of a hundred, one decimal; a dash if it is missing."""
    return "-" if share is None else f"{100 * share:.1f}"


def signed(share: float | None) -> str:
    """Return a difference of shares in points, with its sign; ±0.0 if it rounds to nothing."""
    return rungs_signed(None if share is None else 100 * share)


def rungs_signed(value: float | None) -> str:
    """Return a difference in rungs, with its sign."""
    if value is None:
        return "-"
    text = f"{value:+.1f}"
    return "±0.0" if text in {"+0.0", "-0.0"} else text


def chance(p: float) -> str:
    """Return a p-value as it is printed."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def share(key: str) -> Callable[[Row], str]:
    """Return what writes a share in points."""
    return lambda row: points(row[key])


def number(key: str, form: str = ".2f", missing: str = "-") -> Callable[[Row], str]:
    """Return what writes a number in a format of Python."""
    return lambda row: missing if row[key] is None else format(row[key], form)


def interval(row: Row, name: str = "", form: Words = points) -> str:
    """Return an interval, or a dash.

    Args:
        row: with its ends.
        name: what stands before "low" and "high" in their columns.
        form: of the ends.
    """
    low, high = row[f"{name}low"], row[f"{name}high"]
    return "-" if low is None else f"{form(low)} to {form(high)}"


def interval_below(row: Row, name: str = "", form: Words = points) -> str:
    """Return an interval as a further line of a cell; nothing where there is none."""
    return "" if row[f"{name}low"] is None else f"\n{interval(row, name, form)}"


def task_titles() -> dict[str, str]:
    """Return the titles of tasks by id."""
    return {task.id: task.title for task in all_tasks().values()}


def task_title(row: Row) -> str:
    """Return the title of a row's task."""
    return task_titles().get(row["task"]) or str(row["task"])


def run_words(row: Row) -> str:
    """Return model, setting and budget of a row, as far as there are such."""
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(printable(str(part)) for part in parts if part is not None)


def line_words(row: Row) -> str:
    """Return how the line of a row is called, in a table that has lines for tasks."""
    return line_name(row["bucket"], row["task"], row["over"], task_titles(), every=True)


def line_name(
    bucket: str, task: str | None, over: str | None, titles: Mapping[str, str], *, every: bool
) -> str:
    """Return how a line of a table is called.

    Args:
        bucket: that it is of.
        task: None if it adds tasks up.
        over: what it is over, if not all that its name says.
        titles: of tasks.
        every: whether tasks have lines, too.
    """
    if task:
        return titles.get(task, task)
    name = f"all {bucket}" if every and bucket != OVERALL else bucket
    return name + (f" ({over})" if over else "")


def changes_of(labels: Sequence[object]) -> frozenset[int]:
    """Return the rows whose label differs from that of the row before."""
    return frozenset(i for i in range(1, len(labels)) if labels[i] != labels[i - 1])


def after_sums(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows that follow one in which tasks are added up."""
    return frozenset(i for i in range(1, len(rows)) if rows[i - 1]["task"] is None)


ABOVE = "above "
ABOVE_NOTE = (
    "Above: (mean - floor) / (1 - floor), where the floor is what the best answer without insight "
    "scores; below 0 is worse than that."
)


def above_line(row: Row, name: str, form: Words) -> str:
    """Return a line for a cell with a figure above the floor and its interval.

    Under a floor of 1 it says that there is no room; where no floor is known, there is no line.
    """
    if row[name] is None:
        return "\nno room above the floor" if row.get("floor") == 1 else ""
    return f"\n{ABOVE}{form(row[name])} ({interval(row, f'{name}_', form)})"


def above_notes(frame: "pl.DataFrame") -> list[str]:
    """Return what a table says below it if it has a floor."""
    return [ABOVE_NOTE] if any(frame["floor"]) else []


def mean_cell(row: Row) -> str:
    """Return a mean with its interval, and what lies above the floor, if there is one."""
    above = above_line(row, "above", points) if row["floor"] else ""
    return points(row["mean"]) + interval_below(row) + above


LESS = "†"
"""Marks figures over fewer scores than the line says, because whole tasks are missing."""


def figure(row: Row, n: int, *, missing_as_zero: bool = False, delta: bool = False) -> str:
    """Return a mean or a difference with its marks, and its interval on a line below."""
    name, form = ("delta", signed) if delta else ("mean", points)
    if row[name] is None:
        return "-"
    less = LESS if row["n"] < n else ""
    between = interval_below(row, "delta_" if delta else "", form)
    if row.get("floor"):
        between += above_line(row, "delta_above" if delta else "above", form)
    if delta:
        return form(row[name]) + ("*" if row["delta_n"] < row["n"] else "") + less + between
    if row["coverage"] == 1:
        return form(row[name]) + less + between
    zero = f"\n({points(row['mean_missing_as_zero'])})" if missing_as_zero else ""
    return f"{form(row[name])}*{less}{zero}{between}"


def marked(key: str) -> Callable[[Row], str]:
    """Return what writes a mean, with a mark where rows without a score are left out."""
    return lambda row: points(row[key]) + ("*" if row["scored"] and row["coverage"] < 1 else "")


def statuses(row: Row) -> str:
    """Return how many rows have each status."""
    return ", ".join(f"{row[s.value]} {s.value}" for s in Status if row[s.value])


_SCORES = (
    Column("model", "model", is_words=True),
    Column("setting", "setting", is_words=True),
    Column("budget", "budget"),
    Column("task", "task", is_words=True),
    Column("bucket", "bucket", is_words=True),
    Column("N", "n"),
    Column("samples", "samples"),
    Column("mean", marked("mean")),
    Column("95 %", interval),
    Column("missing as 0", share("mean_missing_as_zero")),
    Column("floor", share("floor")),
    Column("above", share("above")),
    Column("above, 95 %", partial(interval, name="above_")),
    Column("coverage", lambda row: f"{row['scored']}/{row['n'] * row['samples']}"),
    Column("status", statuses, is_words=True, wraps=True),
)


def score_sheet(title: str, frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.grading.score_tables.score_table`.

    Columns that say nothing are left out.
    """
    rows = frame.to_dicts()
    by_task = "task" in frame.columns
    has_floor = any(row["floor"] for row in rows)
    says = {
        **{name: any(row[name] is not None for row in rows) for name in ("setting", "budget")},
        "task": by_task,
        "bucket": not by_task,
        "samples": any(row["samples"] > 1 for row in rows),
        "missing as 0": any(row["scored"] < row["n"] * row["samples"] for row in rows),
        **dict.fromkeys(("floor", "above", "above, 95 %"), has_floor),
    }
    columns = [column for column in _SCORES if says.get(column.head, True)]
    breaks = changes_of([row["model"] for row in rows])
    return sheet_of(title, columns, rows, above_notes(frame), breaks)
