"""Display tables of levels and their differences, and levels and intervals as text."""

from functools import partial

import polars as pl

from scbench.analysis.curves import FIRST
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.sheets import (
    after_sums,
    interval,
    line_words,
    number,
    points,
    run_words,
    rungs_signed,
)
from scbench.base.errors import printable
from scbench.grading.means import RUN

# Columns that a narrow terminal drops, in this order.
_DROPS = ("floor", "slope", "readable", "fit")


def level_words(row: Row, name: str = "") -> str:
    """Return a level as text: a number of rungs, "below 1", or a dash."""
    return row[f"{name}beyond"] or number(f"{name}level", ".1f")(row)


def interval_words(row: Row) -> str:
    """Return an interval; ends beyond the ladder are shown as text."""
    # The level is unknown.
    if row["level"] is None and row["beyond"] is None:
        return ""
    low = row["low"]
    high = row["high"]
    top = row["rungs"]
    # An end beyond the ladder has no number.
    below = f"<{FIRST:g}"
    above = f">{top}"
    if high is not None and high < FIRST:
        return below
    if low is not None and low > top:
        return above
    low_words = below if low is None else f"{low:.1f}"
    high_words = above if high is None else f"{high:.1f}"
    return f"{low_words} to {high_words}"


def level_cell(row: Row) -> str:
    """Return a level; for several tasks, also the number of levels beyond the ladder."""
    words = level_words(row)
    if row["task"]:
        return words
    if row["tasks_above"]:
        words += f" +{row['tasks_above']}"
    if row["tasks_below"]:
        words += f" -{row['tasks_below']}"
    return words


def answers_cell(row: Row) -> str:
    """Return the number of answers with a score, and of requested answers if that is higher."""
    scored = row["scored"]
    n = row["n"]
    return f"{scored}" if scored == n else f"{scored}/{n}"


def readable_cell(row: Row) -> str:
    """Return the share of readable replies, which is equal for all tasks of a line."""
    return "" if row["task"] else points(row["readable"])


def difference_cell(row: Row) -> str:
    """Return a difference of levels, with its sign."""
    return rungs_signed(row["difference"])


def ladder_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `scbench.analysis.ladder.ladder_table` as a sheet for each run."""
    columns = (
        Column("task", line_words, is_words=True),
        Column("answers", answers_cell),
        Column("level", level_cell),
        Column("95 %", interval_words),
        Column("readable", readable_cell),
        Column("slope", number("slope", missing="")),
        Column("fit", lambda row: row["misfit"] or "", is_words=True),
        Column("floor", number("floor", missing="")),
    )
    runs = frame.partition_by(RUN, maintain_order=True)
    sheets = []
    for run in runs:
        rows = run.to_dicts()
        # Notes go only below the last table.
        notes = notes_of("ladder") if run is runs[-1] else []
        if any(row["coverage"] < 1 for row in rows):
            notes.append(
                "Answers without a score are left out; the answers column shows scored/all."
            )
        title = f"Levels, {run_words(rows[0])}"
        sheets.append(sheet_of(title, columns, rows, notes, after_sums(rows), _DROPS))
    return sheets


def level_pairs_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `scbench.analysis.ladder.compare_levels` as a sheet for each pair."""
    columns = (
        Column("task", line_words, is_words=True),
        Column("shared", "shared"),
        Column("first", partial(level_words, name="first_")),
        Column("second", partial(level_words, name="second_")),
        Column("difference", difference_cell),
        Column("95 %", partial(interval, form=rungs_signed)),
    )
    notes = notes_of("level_pairs")
    sheets = []
    for (first, second), pair in frame.group_by("first", "second", maintain_order=True):
        rows = pair.to_dicts()
        title = f"Levels, {printable(str(first))} and {printable(str(second))}"
        sheets.append(sheet_of(title, columns, rows, notes, after_sums(rows)))
    return sheets
