"""Scores by task or bucket and run, and the change with tools, as in the paper's tables.

Every score has the same weight in the mean of a task, of a bucket and of the whole
benchmark. Means are computed from unrounded scores and rounded once, for display, as in
the paper. Differences are over the scores that both runs have.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import polars as pl

from scbench.analysis.columns import (
    LINE_TYPES,
    counts,
    figures,
    filled_columns,
    texts,
)
from scbench.analysis.differences import Difference, difference_of, pair_scores
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import score_matrix
from scbench.analysis.sheets import (
    GAP_NOTE,
    LESS,
    NOTE,
    interval,
    interval_below,
    line_name,
    marked,
    marked_normalized,
    mean_and_readable,
    number,
    rounded,
    share,
    signed,
)
from scbench.base.errors import printable
from scbench.base.intervals import LEVEL
from scbench.grading.means import AMOUNTS, MEANS, Run, means_of

BASELINE = "no_tools"
TOOLS = "tools"

# Columns of `paper_table`.
SCHEMA: Mapping[str, Any] = (
    LINE_TYPES
    | counts("n")
    | texts("model")
    | counts("budget")
    | texts("setting")
    | counts("samples scored")
    | figures(
        "coverage",
        *MEANS,
        "mean_missing_as_zero",
        *AMOUNTS,
        "delta delta_low delta_high delta_mean delta_mean_low delta_mean_high",
    )
    | counts("delta_n")
)

# Columns that a narrow terminal drops, in this order.
_DROPS = (
    "95 % CI of Δ tools",
    "Δ mean",
    "cost",
    "tokens",
    "readable",
    "N",
    "mean",
    "setting",
)


class PaperRun(NamedTuple):
    """A run, in the order of the paper's columns."""

    model: str
    budget: int | None
    setting: str | None


class PaperColumn(NamedTuple):
    """A column of figures.

    Attributes:
        head: heading.
        run: run of the column.
        is_change: whether it is the change with tools.
    """

    head: str
    run: PaperRun
    is_change: bool


class PaperLine(NamedTuple):
    """A line of the table: a task, or a bucket if task is None."""

    bucket: str
    task: str | None


def paper_table(
    results: pl.DataFrame, by: str = "bucket", *, level: float = LEVEL
) -> pl.DataFrame:
    """Return means with intervals, and their changes with tools.

    Args:
        results: as returned by `scbench.analysis.results.read_results`.
        by: ``bucket`` (a row per bucket and run, and one over all if there are several, without the
            text tasks) or ``task`` (a row per task as well, before its bucket's).
        level: level of the intervals.

    Returns:
        One row per line of the table and run, with columns `SCHEMA`:

        - bucket ("overall" for all) and task (null for a bucket);
        - over: the tasks of the line, if tasks of its bucket are missing;
        - n: scores of one sample that the run has rows for;
        - model, budget, setting, samples;
        - scored, coverage: rows with a score, and their share;
        - the figures of `scbench.grading.score_tables.score_table`;
        - for a run with tools next to one without: delta (the difference of normalized
          scores over the scores of both) and delta_mean (the difference of means), each
          with its interval, and delta_n (the number of scores of both).
    """
    matrix = score_matrix(results)
    pairs = {}
    # Pairs are computed once, because a task counts in several lines.
    for baseline, tools in tool_pairs(matrix.runs):
        for name, block in matrix.blocks.items():
            pairs[name, tools] = pair_scores(block, baseline, tools)
    rows: list[dict[str, Any]] = []
    for bucket, task, tasks in matrix.lines(by):
        means = means_of([matrix.blocks[name] for name in tasks], level)
        for r, (model, setting, budget) in enumerate(matrix.runs):
            # The run has no rows for these tasks.
            if means.expected[r] == 0:
                continue
            row: dict[str, Any] = {
                "n": int(means.scores[r]),
                "model": model,
                "budget": budget,
                "setting": setting,
                "samples": round(means.expected[r] / means.scores[r]),
                "scored": int(means.scored[r]),
                "coverage": means.scored[r] / means.expected[r],
                "mean_missing_as_zero": float(means.missing_as_zero[r]),
            }
            row |= matrix.labels(bucket, task, r)
            row |= means.cells(r)
            row |= means.amounts(r)
            # Only runs with tools are compared with another run.
            if (tasks[0], r) in pairs:
                pairs_of_line = [pairs[name, r] for name in tasks]
                row |= _change_cells(difference_of(pairs_of_line, level))
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def tool_pairs(runs: Sequence[Run]) -> Iterator[tuple[int, int]]:
    """Yield the positions of each run without tools and the same model's run with tools."""
    places = {run: place for place, run in enumerate(runs)}
    for (model, setting, budget), place in places.items():
        baseline = (model, BASELINE, budget)
        if setting == TOOLS and baseline in places:
            yield places[baseline], place


def _change_cells(difference: Difference) -> dict[str, Any]:
    return {
        "delta": difference.difference,
        "delta_n": difference.n,
        "delta_low": difference.low,
        "delta_high": difference.high,
        "delta_mean": difference.of_means,
        "delta_mean_low": difference.of_means_low,
        "delta_mean_high": difference.of_means_high,
    }


class PaperGrid(NamedTuple):
    """The rows of a table by line and run.

    Attributes:
        cells: row of each line and run that has one.
        lines: all lines, in order.
        over: tasks that each line covers, in the run with most scores.
        sizes: number of scores of each line in that run.
        by_task: whether tasks have lines.
    """

    cells: Mapping[tuple[PaperLine, PaperRun], Row]
    lines: Sequence[PaperLine]
    over: Mapping[PaperLine, str | None]
    sizes: Mapping[PaperLine, int]
    by_task: bool

    def name(self, line: PaperLine) -> str:
        """Return the name of a line."""
        return line_name(*line, self.over[line], every=self.by_task)


def paper_grid(frame: pl.DataFrame) -> PaperGrid:
    """Return the rows of a table of `paper_table` by line and run."""
    cells: dict[tuple[PaperLine, PaperRun], Row] = {}
    for row in frame.to_dicts():
        line = PaperLine(row["bucket"], row["task"])
        cells[line, PaperRun(row["model"], row["budget"], row["setting"])] = row
    lines = list(dict.fromkeys(line for line, _ in cells))
    over = {}
    sizes = {}
    # The run with the most scores determines the name of a line, so it comes last.
    for (line, _), cell in sorted(cells.items(), key=lambda pair: pair[1]["n"]):
        over[line] = cell["over"]
        sizes[line] = cell["n"]
    return PaperGrid(cells, lines, over, sizes, any(line.task for line in lines))


def run_lines_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `paper_table` with one line per task, or bucket, and run.

    Columns that are empty in all lines are left out.
    """
    grid = paper_grid(frame)
    runs = sorted({run for _, run in grid.cells}, key=run_order)
    rows: list[dict[str, Any]] = []
    breaks = set()
    for line in grid.lines:
        name = grid.name(line)
        for run in runs:
            if (line, run) not in grid.cells:
                continue
            row = grid.cells[line, run]
            marks = LESS if row["n"] < grid.sizes[line] else ""
            rows.append({**row, "name": name, "marks": marks})
            # The name is printed once per line of tasks.
            name = ""
        # With tasks, each bucket ends a section.
        if line.task is None and grid.by_task:
            breaks.add(len(rows))
    filled = filled_columns(frame)
    has_changes = "delta_n" in filled
    # A column of 100 % everywhere adds nothing.
    if frame["readable"].min() == 1:
        filled.discard("readable")
    columns = [
        Column("task" if grid.by_task else "bucket", "name", is_words=True),
        Column("model", "model", is_words=True),
        Column("setting", "setting", is_words=True),
        Column("budget", "budget"),
        Column("N", "n"),
        Column("normalized", _normalized_cell),
        Column("95 %", partial(interval, name="normalized_")),
        Column("mean", marked("mean")),
        Column("readable", share("readable")),
        Column("tokens", number("output_tokens", ",.0f")),
        Column("cost", number("cost", ",.4f")),
        Column("Δ tools", _tools_cell),
        Column("95 % CI of Δ tools", partial(interval, name="delta_", form=signed)),
        Column("Δ mean", _tools_mean_cell),
    ]
    optional = {
        "setting": "setting" in filled,
        "budget": "budget" in filled,
        "readable": "readable" in filled,
        "tokens": "output_tokens" in filled,
        "cost": "cost" in filled,
        "Δ tools": has_changes,
        "95 % CI of Δ tools": has_changes,
        "Δ mean": has_changes,
    }
    columns = [column for column in columns if optional.get(column.head, True)]
    notes = [NOTE, *notes_of("tables")]
    if has_changes:
        notes += notes_of("tools")
    notes += remarks_of(grid, any(row["marks"] for row in rows))
    return sheet_of(title, columns, rows, notes, breaks, _DROPS, one_line=True)


def _normalized_cell(row: Row) -> str:
    """Return a normalized score with its marks."""
    return "-" if row["mean"] is None else marked_normalized(row) + row["marks"]


def _tools_cell(row: Row) -> str:
    """Return the change of a normalized score with tools; empty for runs without tools."""
    if row["delta_n"] is None:
        return ""
    marks = LESS if row["delta_n"] < row["n"] else ""
    return signed(row["delta"]) + marks


def _tools_mean_cell(row: Row) -> str:
    """Return the change of the mean with tools; empty for runs without tools."""
    return "" if row["delta_n"] is None else signed(row["delta_mean"])


def remarks_of(grid: PaperGrid, has_less: bool) -> list[str]:  # noqa: FBT001
    """Return the notes on figures that are over fewer scores than others.

    Args:
        grid: grid of the table.
        has_less: whether any figure has the mark for fewer scores than N.
    """
    notes = []
    if any(row["coverage"] < 1 for row in grid.cells.values()):
        notes.append(GAP_NOTE)
    if has_less:
        missing: dict[str, None] = {}
        for (line, run), row in grid.cells.items():
            if row["over"] and row["over"] != grid.over[line]:
                name = line_name(line.bucket, None, row["over"], every=grid.by_task)
                setting = f" {run.setting}" if run.setting else ""
                missing[f"{name}: {printable(run.model)}{setting}"] = None
        remark = f" Whole tasks are missing: {'; '.join(missing)}." if missing else ""
        notes.append(f"{LESS} computed from fewer scores than N.{remark}")
    return notes


def paper_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `paper_table` as the paper does.

    It has a column for each model's mean (without tools, if there is such a run), and
    one for the change with tools.

    Args:
        title: title of the table.
        frame: the table.
    """
    grid = paper_grid(frame)
    columns = paper_columns(sorted({run for _, run in grid.cells}, key=run_order))
    rows = []
    breaks = set()
    for i, line in enumerate(grid.lines):
        # N is the largest number of scores of any run; runs with fewer get a mark.
        n = grid.sizes[line]
        rows_of_line = [grid.cells.get((line, column.run)) for column in columns]
        figures_of_line = map(figure_cell, columns, rows_of_line, repeat(n))
        rows.append([grid.name(line), str(n), *figures_of_line])
        # A sum ends its section.
        if i and grid.lines[i - 1].task is None and grid.by_task:
            breaks.add(i)
    has_less = any(LESS in cell for row in rows for cell in row[2:])
    notes = [NOTE, *notes_of("paper"), *remarks_of(grid, has_less)]
    first_head = "task" if grid.by_task else "bucket"
    heads = [first_head, "N", *(column.head for column in columns)]
    return Sheet(title, heads, rows, notes=notes, breaks=frozenset(breaks))


def run_order(run: PaperRun) -> tuple[Any, ...]:
    """Return the sort key of a run: a run with tools follows the same run without tools."""
    model, budget, setting = run
    # Nulls come first, and cannot be compared with values.
    return (model, budget is not None, budget or 0, setting is not None, setting or "")


def paper_columns(runs: Sequence[PaperRun]) -> list[PaperColumn]:
    """Return the columns of figures."""
    columns = []
    for run in runs:
        head = printable(run.model)
        if run.budget is not None:
            head += f" @{run.budget}"
        is_change = run.setting == TOOLS and run._replace(setting=BASELINE) in runs
        if is_change:
            head += " Δ"
        elif run.setting not in {None, BASELINE}:
            head += f" {run.setting}"
        columns.append(PaperColumn(head, run, is_change))
    return columns


def figure_cell(column: PaperColumn, row: Row | None, n: int) -> str:
    """Return a score or a change; empty if a run has none.

    Args:
        column: column of the cell.
        row: row of the run; None if it has no score on the line.
        n: scores of the line.
    """
    if row is None:
        return ""
    return change_cell(row) if column.is_change else score_cell(row, n)


def score_cell(row: Row, n: int) -> str:
    """Return a normalized score with its marks, and below it the interval and the mean.

    Args:
        row: row of the table.
        n: scores of the line.
    """
    if row["mean"] is None:
        return "-"
    marks = LESS if row["n"] < n else ""
    lines = [marked_normalized(row) + marks]
    if row["normalized_low"] is not None:
        lines.append(interval(row, "normalized_"))
    lines += mean_and_readable(row)
    if row["output_tokens"] is not None:
        lines.append(f"{rounded(row['output_tokens'], 0):,} tokens")
    if row["cost"] is not None:
        lines.append(f"${rounded(row['cost'], 4)}")
    return "\n".join(lines)


def change_cell(row: Row) -> str:
    """Return the change of a normalized score with tools, its interval, and the mean's change."""
    if row["delta_n"] is None or not row["delta_n"]:
        return "-"
    marks = LESS if row["delta_n"] < row["n"] else ""
    interval_line = interval_below(row, "delta_", signed)
    mean = signed(row["delta_mean"])
    return f"{signed(row['delta'])}{marks}{interval_line}\nmean {mean}"
