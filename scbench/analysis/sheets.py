"""What tables for people share: figures rounded here, once, names of lines, and their cells."""

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.grading.means import RUN
from scbench.grading.score_tables import OVERALL

# What writes a figure.
Words = Callable[[float | None], str]


# Digits that sums of floats have right.
_NOISE = 8
NOTE = (
    "Normalized: 0 is the score of the trivial baseline, 100 is a perfect score; tasks have the "
    "weights of the release."
)
# Marks figures over rows some of which have no score: coverage is below 1.
GAP = "*"
# Marks figures over fewer scores than the line says.
LESS = "†"
# What a narrow terminal does without, in this order.
_DROPS = (
    "status",
    "missing as 0",
    "mean, 95 %",
    "setting",
    "below floor",
    "bucket",
    "coverage",
)


def rounded(value: float, digits: int = 1) -> Decimal:
    """Return a figure as it is shown anywhere, halves rounded away from zero.

    What sums of floats are off by is taken away first, or a mean of 65.25 would be 65.2 in one
    place and 65.3 in another.
    """
    step = Decimal(1).scaleb(-digits)
    result = Decimal(repr(round(float(value), _NOISE))).quantize(step, ROUND_HALF_UP)
    return result or abs(result)


def points(share: float | None, digits: int = 1) -> str:
    """Return a share as points of a hundred; a dash if it is missing."""
    return "-" if share is None else str(rounded(100 * share, digits))


def signed(share: float | None) -> str:
    """Return a difference of shares in points, with its sign; ±0.0 if it rounds to nothing."""
    return rungs_signed(None if share is None else 100 * share)


def rungs_signed(value: float | None) -> str:
    """Return a difference in rungs, with its sign."""
    if value is None:
        return "-"
    result = rounded(value)
    return f"{result:+}" if result else "±0.0"


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
    bucket: str,
    task: str | None,
    over: str | None,
    titles: Mapping[str, str],
    *,
    every: bool,
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


def normalized_words(row: Row) -> str:
    """Return a normalized score; "no room" where every floor is 1."""
    if row["normalized"] is None and row.get("floor") == 1:
        return "no room"
    return points(row["normalized"])


# Columns that lead a table of means.
NORMALIZED_COLUMNS = (
    Column("normalized", normalized_words),
    Column("normalized, 95 %", partial(interval, name="normalized_")),
)


def mean_cell(row: Row) -> str:
    """Return a mean with its interval below."""
    return points(row["mean"]) + interval_below(row)


def marked_normalized(row: Row) -> str:
    """Return a normalized score, with a mark where rows without a score are left out."""
    gap = GAP if row["scored"] and row["coverage"] < 1 else ""
    return normalized_words(row) + gap


def mean_beside(row: Row) -> list[str]:
    """Return what stands beside a normalized score: the mean, and what could be read if not all."""
    words = [] if row["mean"] is None else [f"mean {points(row['mean'])}"]
    if row["readable"] is not None and row["readable"] < 1:
        words.append(f"{points(row['readable'])} readable")
    return words


def figure(row: Row, n: int) -> str:
    """Return a normalized score with its marks, its interval below, and the mean below that."""
    if row["mean"] is None:
        return "-"
    marks = LESS if row["n"] < n else ""
    lines = [marked_normalized(row) + marks]
    if row["normalized_low"] is not None:
        lines.append(interval(row, "normalized_"))
    lines += mean_beside(row)
    if row["output_tokens"] is not None:
        lines.append(f"{rounded(row['output_tokens'], 0):,} tokens")
    if row["cost"] is not None:
        lines.append(f"{rounded(row['cost'], 4)} US$")
    return "\n".join(lines)


def change(row: Row) -> str:
    """Return what tools add to a normalized score, with its interval, and to the mean."""
    if row["delta_n"] is None or not row["delta_n"]:
        return "-"
    marks = LESS if row["delta_n"] < row["n"] else ""
    below = interval_below(row, "delta_", signed)
    return f"{signed(row['delta'])}{marks}{below}\nmean {signed(row['delta_mean'])}"


def marked(key: str) -> Callable[[Row], str]:
    """Return what writes a mean, with a mark where rows without a score are left out."""
    return lambda row: (
        points(row[key]) + (GAP if row["scored"] and row["coverage"] < 1 else "")
    )


def statuses(row: Row) -> str:
    """Return how many rows have each status."""
    return ", ".join(f"{row[s.value]} {s.value}" for s in Status if row[s.value])


def _went_wrong(row: Row) -> str:
    """Return how many rows have each status but "answered"."""
    return statuses({**row, Status.ANSWERED.value: 0}) or "-"


def _coverage(row: Row) -> str:
    return f"{row['scored']}/{row['n'] * row['samples']}"


_TOKENS = Column("tokens", number("output_tokens", ",.0f"))
_COST = Column("cost", number("cost", ",.4f"))
# What stands beside a normalized score where it is known, by the name of its column.
_BESIDE = {
    "level": Column("level", "level"),
    "readable": Column("readable", share("readable")),
    "output_tokens": _TOKENS,
    "cost": _COST,
}


def overview_sheets(
    title: str,
    frame: pl.DataFrame,
    levels: Mapping[tuple[object, ...], str] | None = None,
) -> list[Sheet]:
    """Lay out a table by bucket, of `score_table`, as a line for each run; text tasks apart.

    Args:
        title: of the table.
        frame: the scores by bucket.
        levels: on the ladder, in words, by model, setting, budget, and overall or text tasks.
    """
    sheets = []
    for text in (False, True):
        part = frame.filter((pl.col("bucket") == MANIFOLDS) == text)
        if part.is_empty():
            continue
        buckets = [
            name
            for name in part["bucket"].unique(maintain_order=True)
            if name != OVERALL
        ]
        lines: list[dict[str, Any]] = []
        for (_,), of_run in part.group_by(pl.struct(RUN), maintain_order=True):
            rows = {row["bucket"]: row for row in of_run.to_dicts()}
            whole = rows.get(OVERALL) or next(iter(rows.values()))
            lines.append(whole | {f"of {name}": row for name, row in rows.items()})
        for line in lines:
            run = (line[name] for name in RUN)
            line["level"] = (levels or {}).get((*run, MANIFOLDS if text else OVERALL))
        says = {
            name: any(line[name] is not None for line in lines)
            for name in (*RUN, *_BESIDE)
        }
        columns = [
            *(
                Column(name, name, is_words=name != "budget")
                for name in RUN
                if says[name]
            ),
            Column("scored", _coverage),
            Column("normalized", marked_normalized),
            NORMALIZED_COLUMNS[1],
            *(column for name, column in _BESIDE.items() if says[name]),
            *(
                Column(name, partial(_of_bucket, name))
                for name in buckets
                if len(buckets) > 1
            ),
            Column("mean", marked("mean")),
            Column("what went wrong", _went_wrong, is_words=True, wraps=True),
        ]
        notes = [NOTE, *(notes_of("levels") if says["level"] else ())]
        if any(line["scored"] < line["n"] * line["samples"] for line in lines):
            notes.append(
                f"{GAP} over the rows that have a score; the others lower the coverage."
            )
        name = f"{title}, text tasks" if text else title
        sheets.append(sheet_of(name, columns, lines, notes, drops=("mean", "setting")))
    return sheets


def _of_bucket(name: str, row: Row) -> str:
    of_bucket = row.get(f"of {name}")
    return "-" if of_bucket is None else marked_normalized(of_bucket)


_SCORES = (
    Column("model", "model", is_words=True),
    Column("setting", "setting", is_words=True),
    Column("budget", "budget"),
    Column("task", "task", is_words=True),
    Column("bucket", "bucket", is_words=True),
    Column("N", "n"),
    Column("samples", "samples"),
    Column("normalized", marked_normalized),
    NORMALIZED_COLUMNS[1],
    Column("readable", share("readable")),
    Column("below floor", share("below_floor")),
    _TOKENS,
    _COST,
    Column("mean", marked("mean")),
    Column("mean, 95 %", interval),
    Column("missing as 0", share("mean_missing_as_zero")),
    Column("floor", share("floor")),
    Column("coverage", _coverage),
    Column("status", statuses, is_words=True, wraps=True),
)


def score_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `scbench.grading.score_tables.score_table`.

    Columns that say nothing are left out.
    """
    rows = frame.to_dicts()
    by_task = "task" in frame.columns
    reported = {
        "setting": "setting",
        "budget": "budget",
        "tokens": "output_tokens",
        "cost": "cost",
    }
    says = {
        **{
            head: any(row[name] is not None for row in rows)
            for head, name in reported.items()
        },
        "task": by_task,
        "bucket": not by_task,
        "samples": any(row["samples"] > 1 for row in rows),
        "missing as 0": any(row["scored"] < row["n"] * row["samples"] for row in rows),
        "floor": any(row["floor"] for row in rows),
    }
    columns = [column for column in _SCORES if says.get(column.head, True)]
    breaks = changes_of([row["model"] for row in rows])
    return sheet_of(title, columns, rows, [NOTE], breaks, _DROPS)
