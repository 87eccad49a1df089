"""Tables in the paper's form: a mean per model without tools, and what tools add to it.

Every score counts the same, in a task, a bucket and overall; means are computed from unrounded
scores and rounded once, by whoever prints them as the paper does. Differences are taken
over the scores that both runs have.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from scbench.analysis.matrix import MEANS, Run, means_of, score_matrix
from scbench.analysis.paired import difference_of, paired
from scbench.base.intervals import LEVEL

BASELINE, TOOLS = "no_tools", "tools"

SCHEMA: Mapping[str, Any] = {
    "bucket": pl.String,
    "task": pl.String,
    "over": pl.String,
    "n": pl.Int64,
    "model": pl.String,
    "budget": pl.Int64,
    "setting": pl.String,
    "samples": pl.Int64,
    "scored": pl.Int64,
    "coverage": pl.Float64,
    **dict.fromkeys(MEANS, pl.Float64),
    "mean_missing_as_zero": pl.Float64,
    "delta": pl.Float64,
    "delta_low": pl.Float64,
    "delta_high": pl.Float64,
    "delta_above": pl.Float64,
    "delta_above_low": pl.Float64,
    "delta_above_high": pl.Float64,
    "delta_n": pl.Int64,
}
"""Columns of `paper_table`."""


def paper_table(results: pl.DataFrame, by: str = "bucket", *, level: float = LEVEL) -> pl.DataFrame:
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
        scored and coverage (rows with a score, and their share), mean of those with its interval
        low to high, mean_missing_as_zero, floor (mean of theirs; null if one is not known) and the
        mean above it with its interval, and for a run with tools beside one without: delta (the
        mean difference over the scores both have, in [-1, 1]) with its interval, the same above the
        floor, and delta_n (how many scores those are).
    """
    matrix = score_matrix(results)
    pairs = {second: first for first, second in _pairs(matrix.runs)}
    both = {
        (task, second): paired(block, first, second)
        for task, block in matrix.blocks.items()
        for second, first in pairs.items()
    }
    rows = []
    for bucket, task, tasks in matrix.lines(by):
        means = means_of([matrix.blocks[name] for name in tasks], level)
        for r, (model, setting, budget) in enumerate(matrix.runs):
            if means.expected[r] == 0:
                continue
            row: dict[str, Any] = dict.fromkeys(SCHEMA)
            row |= {"bucket": bucket, "task": task, "over": matrix.over(bucket, task, r)}
            row |= {"n": int(means.scores[r])}
            row |= {"model": model, "budget": budget, "setting": setting}
            row |= {"samples": round(means.expected[r] / means.scores[r])}
            row |= {"scored": int(means.scored[r])}
            row |= {"coverage": means.scored[r] / means.expected[r]}
            row |= means.cells(r)
            row["mean_missing_as_zero"] = float(means.missing_as_zero[r])
            if r in pairs:
                change = difference_of([both[name, r] for name in tasks], level)
                row |= {"delta_n": change.n, "delta": change.difference}
                row |= {"delta_low": change.low, "delta_high": change.high}
                row |= {"delta_above": change.above}
                row |= {"delta_above_low": change.above_low, "delta_above_high": change.above_high}
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def _pairs(runs: Sequence[Run]) -> Iterator[tuple[int, int]]:
    """Yield the places of a run without tools and the same model's with them."""
    place = {run: i for i, run in enumerate(runs)}
    for (model, setting, budget), i in place.items():
        if setting == TOOLS and (model, BASELINE, budget) in place:
            yield place[model, BASELINE, budget], i
