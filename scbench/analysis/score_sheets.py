"""Display tables of scores: one line per run, or per run and task or bucket."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.sheets import (
    GAP_NOTE,
    NOTE,
    changes_of,
    interval,
    marked,
    marked_normalized,
    normalized_interval,
    number,
    share,
    statuses,
)
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS
from scbench.grading.means import RUN
from scbench.grading.score_tables import OVERALL

# Columns that a narrow terminal drops, in this order.
_DROPS = (
    "status",
    "missing as 0",
    "95 % CI of mean",
    "setting",
    "below floor",
    "bucket",
    "coverage",
)
_TOKENS = Column("tokens", number("output_tokens", ",.0f"))
_COST = Column("cost", number("cost", ",.4f"))
# Optional columns after a normalized score, by the field that they show.
_OPTIONAL = {
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
    """Lay out a `score_table` by bucket as one line per run; text tasks get a separate line.

    Args:
        title: title of the table.
        frame: the scores by bucket.
        levels: levels on the ladder, as text, by model, setting, budget, and overall or text tasks.
    """
    is_text = pl.col("bucket") == MANIFOLDS
    spatial = frame.filter(~is_text)
    text = frame.filter(is_text)
    levels = levels or {}
    sheets = []
    if not spatial.is_empty():
        lines = overview_lines(spatial, OVERALL, levels)
        sheets.append(overview_sheet(title, spatial, lines))
    if not text.is_empty():
        lines = overview_lines(text, MANIFOLDS, levels)
        sheets.append(overview_sheet(f"{title}, text tasks", text, lines))
    return sheets


def overview_lines(
    frame: pl.DataFrame, bucket: str, levels: Mapping[tuple[object, ...], str]
) -> list[dict[str, Any]]:
    """Return a line for each run: its overall row, and its rows by bucket as "of NAME".

    Args:
        frame: the scores by bucket.
        bucket: bucket of the level.
        levels: levels in words.
    """
    lines = []
    for (_,), run_rows in frame.group_by(pl.struct(RUN), maintain_order=True):
        rows = {row["bucket"]: row for row in run_rows.to_dicts()}
        # With one bucket, there is no overall row.
        line = dict(rows.get(OVERALL) or next(iter(rows.values())))
        line |= {f"of {name}": row for name, row in rows.items()}
        run = (line[name] for name in RUN)
        line["level"] = levels.get((*run, bucket))
        lines.append(line)
    return lines


def overview_sheet(
    title: str, frame: pl.DataFrame, lines: Sequence[Mapping[str, Any]]
) -> Sheet:
    """Lay out lines of runs, with a column for each bucket if there are several.

    Args:
        title: title of the table.
        frame: the scores by bucket.
        lines: as returned by `overview_lines`.
    """
    # Columns that are empty in all lines are left out.
    filled = set()
    for name in (*RUN, *_OPTIONAL):
        if any(line[name] is not None for line in lines):
            filled.add(name)
    columns = [
        Column(name, name, is_words=name != "budget") for name in RUN if name in filled
    ]
    columns += [
        Column("scored", coverage_cell),
        Column("normalized", marked_normalized),
        normalized_interval(),
    ]
    buckets = [*frame["bucket"].unique(maintain_order=True)]
    if OVERALL in buckets:
        buckets.remove(OVERALL)
    # The only bucket is the overall column.
    if len(buckets) > 1:
        columns += [Column(name, partial(bucket_cell, name)) for name in buckets]
    columns += [column for name, column in _OPTIONAL.items() if name in filled]
    columns += [
        Column("mean", marked("mean")),
        Column("not answered", failures_cell, is_words=True, wraps=True),
    ]
    notes = [NOTE]
    if "level" in filled:
        notes += notes_of("levels")
    if any(line["scored"] < line["n"] * line["samples"] for line in lines):
        notes.append(GAP_NOTE)
    return sheet_of(title, columns, lines, notes, drops=("mean", "setting"))


def score_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table returned by `scbench.grading.score_tables.score_table`.

    Columns without information are left out.
    """
    rows = frame.to_dicts()
    by_task = "task" in frame.columns
    columns = [
        Column("model", "model", is_words=True),
        Column("setting", "setting", is_words=True),
        Column("budget", "budget"),
        Column("task", "task", is_words=True),
        Column("bucket", "bucket", is_words=True),
        Column("N", "n"),
        Column("samples", "samples"),
        Column("normalized", marked_normalized),
        normalized_interval(),
        Column("readable", share("readable")),
        Column("below floor", share("below_floor")),
        _TOKENS,
        _COST,
        Column("mean", marked("mean")),
        Column("95 % CI of mean", interval),
        Column("missing as 0", share("mean_missing_as_zero")),
        Column("floor", share("floor")),
        Column("coverage", coverage_cell),
        Column("status", statuses, is_words=True, wraps=True),
    ]
    shown = {
        "setting": _is_reported(rows, "setting"),
        "budget": _is_reported(rows, "budget"),
        "tokens": _is_reported(rows, "output_tokens"),
        "cost": _is_reported(rows, "cost"),
        "task": by_task,
        "bucket": not by_task,
        "samples": any(row["samples"] > 1 for row in rows),
        "missing as 0": any(row["scored"] < row["n"] * row["samples"] for row in rows),
        "floor": any(row["floor"] for row in rows),
    }
    columns = [column for column in columns if shown.get(column.head, True)]
    # A section for each model.
    breaks = changes_of([row["model"] for row in rows])
    return sheet_of(title, columns, rows, [NOTE], breaks, _DROPS)


def _is_reported(rows: Sequence[Row], name: str) -> bool:
    return any(row[name] is not None for row in rows)


def coverage_cell(row: Row) -> str:
    """Return the number of rows with a score, and the number of all rows."""
    return f"{row['scored']}/{row['n'] * row['samples']}"


def failures_cell(row: Row) -> str:
    """Return the number of rows with each status except "answered"."""
    return statuses({**row, Status.ANSWERED.value: 0}) or "-"


def bucket_cell(bucket: str, row: Row) -> str:
    """Return the normalized score of a run on a bucket; a dash if there is none."""
    of_bucket = row.get(f"of {bucket}")
    return "-" if of_bucket is None else marked_normalized(of_bucket)
