"""Display tables and heat maps over parameter spaces."""

from collections.abc import Iterable
from functools import partial

import polars as pl

from scbench.analysis.columns import filled_columns
from scbench.analysis.layout import Column, Sheet, notes_of, sheet_of
from scbench.analysis.sheets import (
    GAP_NOTE,
    changes_of,
    interval,
    marked,
    number,
    run_words,
    share,
    task_cell,
)
from scbench.grading.means import RUN

# Figures that a heat map can show.
METRICS = {
    "accuracy": "accuracy",
    "above": "accuracy above the floor",
    "truncated": "share truncated",
    "unparsed": "share unparsed",
    "tokens": "mean output tokens",
}
_FIGURE_COLUMNS = (
    Column("N", "n"),
    Column("accuracy", marked("accuracy")),
    Column("95 %", interval),
    Column("floor", share("floor")),
    Column("above", share("above")),
    Column("95 %", partial(interval, name="above_")),
    Column("truncated", share("truncated")),
    Column("unparsed", share("unparsed")),
    Column("tokens", number("mean_output_tokens", ",.0f")),
)


def manifold_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `scbench.analysis.manifolds.manifold_table`."""
    label_columns = (
        Column("setting", "setting", is_words=True),
        Column("budget", "budget", is_words=True),
        Column("task", task_cell, is_words=True),
        Column("dimension", "dimension", is_words=True),
        Column("kind", "kind", is_words=True),
        Column("parameter", "parameter", is_words=True),
        Column("value", "value", is_words=True),
    )
    rows = frame.to_dicts()
    filled = filled_columns(frame)
    labels = [column for column in label_columns if column.head in filled]
    columns = [Column("model", "model", is_words=True), *labels, *_FIGURE_COLUMNS]
    heads = {column.head for column in labels}
    notes = notes_of("manifolds")
    if any(row["coverage"] < 1 for row in rows):
        notes.append(GAP_NOTE)
    if "kind" in heads and "parameter" not in heads:
        notes += notes_of("kinds")
    section = ("model", "task", "parameter", "kind")
    breaks = changes_of([[row[name] for name in section] for row in rows])
    if len(breaks) == len(rows) - 1:
        # Do not make sections of one line each.
        breaks = changes_of([row["model"] for row in rows])
    return sheet_of(title, columns, rows, notes, breaks)


def column_of(metric: str) -> str:
    """Return the column with a metric."""
    return "mean_output_tokens" if metric == "tokens" else metric


def heat_sheets(frame: pl.DataFrame, metric: str) -> list[Sheet]:
    """Lay out a table of `scbench.analysis.manifolds.heat_table` as a map for each run and task.

    Args:
        frame: the table.
        metric: one of `METRICS`.
    """
    column = column_of(metric)
    form = number(column, ",.0f") if metric == "tokens" else share(column)
    sheets = []
    for part in frame.partition_by(*RUN, "task", maintain_order=True):
        rows = part.to_dicts()
        cells = {}
        for row in rows:
            cells[row["value"], row["second_value"]] = f"{form(row)}\n{row['n']}"
        across = values_in_order(part["second_value"].unique(maintain_order=True))
        lines = []
        for value in part["value"].unique(maintain_order=True):
            figures = (cells.get((value, second), "") for second in across)
            lines.append([value, *figures])
        title = f"{task_cell(rows[0])}, {run_words(rows[0])}: {METRICS[metric]}"
        corner = f"{rows[0]['parameter']} \\ {rows[0]['second_parameter']}"
        note = "Below each figure: number of rows."
        sheets.append(
            Sheet(title, [corner, *across], lines, frozenset({corner}), [note])
        )
    return sheets


def values_in_order(values: Iterable[str]) -> list[str]:
    """Return values as sorted numbers if all are numbers, or else unchanged."""
    texts = list(values)
    try:
        return sorted(texts, key=float)
    except ValueError:
        return texts
