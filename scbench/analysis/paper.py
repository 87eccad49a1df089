"""Tables in the paper's form: a mean per model without tools, and what tools add to it.

Every score counts the same, in a task, a bucket and overall; means are computed from unrounded
scores and rounded once, by whoever prints them as the paper does. Differences are taken
over the scores that both runs have.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from scbench.analysis.layout import Sheet, notes_of
from scbench.analysis.matrix import Difference, difference_of, paired, score_matrix
from scbench.analysis.results import LINE_TYPES, counts, figures, texts
from scbench.analysis.sheets import (
    GAP,
    LESS,
    NOTE,
    change,
    figure,
    line_name,
    task_titles,
)
from scbench.base.errors import printable
from scbench.base.intervals import LEVEL
from scbench.grading.means import AMOUNTS, MEANS, Run, means_of

BASELINE, TOOLS = "no_tools", "tools"

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


def paper_table(
    results: pl.DataFrame, by: str = "bucket", *, level: float = LEVEL
) -> pl.DataFrame:
    """Return means with intervals, and what tools change.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        by: ``bucket`` (a row per bucket and run, and one over all if there are several, without the
            text tasks) or ``task`` (a row per task as well, before its bucket's).
        level: of the intervals.

    Returns:
        One row per line of the table and run, with columns `SCHEMA`: bucket ("overall" for all),
        task (null for a bucket), over (what the line is over, if not all tasks of its bucket are
        there), n (scores of one sample that the run has rows for), model, budget, setting, samples,
        scored and coverage (rows with a score, and their share), the figures of
        `scbench.grading.score_tables.score_table`, and for a run with tools beside one without:
        delta (the difference of normalized scores over what both have) with its interval,
        delta_mean (that of means) with its own, and delta_n (over how many scores).
    """
    matrix = score_matrix(results)
    pairs = {second: first for first, second in _tool_pairs(matrix.runs)}
    both = {
        (task, second): paired(block, first, second)
        for task, block in matrix.blocks.items()
        for second, first in pairs.items()
    }
    rows: list[dict[str, Any]] = []
    for bucket, task, tasks in matrix.lines(by):
        means = means_of([matrix.blocks[name] for name in tasks], level)
        for r, (model, setting, budget) in enumerate(matrix.runs):
            if means.expected[r] == 0:
                continue
            row: dict[str, Any] = matrix.labels(bucket, task, r)
            row |= {"n": int(means.scores[r])}
            row |= {"model": model, "budget": budget, "setting": setting}
            row |= {"samples": round(means.expected[r] / means.scores[r])}
            row |= {"scored": int(means.scored[r])}
            row |= {"coverage": means.scored[r] / means.expected[r]}
            row |= means.cells(r)
            row["mean_missing_as_zero"] = float(means.missing_as_zero[r])
            row |= means.amounts(r)
            if r in pairs:
                row |= _delta(difference_of([both[name, r] for name in tasks], level))
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def _delta(found: Difference) -> dict[str, Any]:
    ends = {"delta_low": found.low, "delta_high": found.high}
    of_means = (found.of_means, found.of_means_low, found.of_means_high)
    names = ("delta_mean", "delta_mean_low", "delta_mean_high")
    return (
        {"delta": found.difference, "delta_n": found.n}
        | ends
        | dict(zip(names, of_means, strict=True))
    )


def _tool_pairs(runs: Sequence[Run]) -> Iterator[tuple[int, int]]:
    """Yield the places of a run without tools and the same model's with them."""
    place = {run: i for i, run in enumerate(runs)}
    for (model, setting, budget), i in place.items():
        if setting == TOOLS and (model, BASELINE, budget) in place:
            yield place[model, BASELINE, budget], i


def paper_sheet(title: str, frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `scbench.analysis.paper.paper_table` as the paper does.

    A column for each model's mean (without tools, if there is such a run), one for what tools add.

    Args:
        title: what it shows.
        frame: the table.
    """
    cells = {
        (row["bucket"], row["task"], row["model"], row["budget"], row["setting"]): row
        for row in frame.to_dicts()
    }
    lines = list(dict.fromkeys((bucket, task) for bucket, task, *_ in cells))
    # The run with most scores names a line; what others lack stands below.
    widest = sorted(cells.values(), key=lambda row: row["n"])
    over = {(row["bucket"], row["task"]): row["over"] for row in widest}
    columns = _paper_columns(sorted({key[2:] for key in cells}, key=_run_order))
    by_task = any(task for _, task in lines)
    titles = task_titles()
    rows, breaks = [], set()
    for i, (bucket, task) in enumerate(lines):
        runs = [cells.get((bucket, task, *run)) for _, run, _ in columns]
        n = max(row["n"] for row in runs if row)
        name = line_name(bucket, task, over[bucket, task], titles, every=by_task)
        figures = [
            "" if row is None else change(row) if delta else figure(row, n)
            for row, (_, _, delta) in zip(runs, columns, strict=True)
        ]
        rows.append([name, str(n), *figures])
        if i and lines[i - 1][1] is None and by_task:
            breaks.add(i)
    notes = [
        NOTE,
        *notes_of("tables"),
    ]
    if any(row["coverage"] < 1 for row in cells.values()):
        notes.append(f"{GAP} over scored rows only: coverage is below 1.")
    if any(LESS in cell for row in rows for cell in row[2:]):
        less = {
            f"{line_name(row['bucket'], None, row['over'], titles, every=by_task)}: "
            f"{printable(row['model'])}{' ' + row['setting'] if row['setting'] else ''}": None
            for row in cells.values()
            if row["over"] and row["over"] != over[row["bucket"], row["task"]]
        }
        whole = f" Whole tasks are missing: {'; '.join(less)}." if less else ""
        notes.append(f"{LESS} over fewer scores than N.{whole}")
    heads = ["task" if by_task else "bucket", "N", *(head for head, _, _ in columns)]
    return Sheet(title, heads, rows, notes=notes, breaks=frozenset(breaks))


_PaperRun = tuple[str, int | None, str | None]


def _run_order(run: _PaperRun) -> tuple[Any, ...]:
    """Return the sort key of a run: a run with tools follows the same without."""
    model, budget, setting = run
    return (model, budget is not None, budget or 0, setting is not None, setting or "")


def _paper_columns(runs: Sequence[_PaperRun]) -> list[tuple[str, _PaperRun, bool]]:
    """Return heading, run, and whether it is a difference, for each column of figures."""
    columns = []
    for run in runs:
        model, budget, setting = run
        name = printable(model) + ("" if budget is None else f" @{budget}")
        delta = setting == TOOLS and (model, budget, BASELINE) in runs
        is_plain = setting in {None, BASELINE}
        columns.append(
            (
                f"{name} Δ" if delta else name if is_plain else f"{name} {setting}",
                run,
                delta,
            )
        )
    return columns
