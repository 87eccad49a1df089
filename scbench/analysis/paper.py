"""Tables in the paper's form: a mean per model without tools, and what tools add to it.

Every score counts the same, in a task, a bucket and overall; means are computed from unrounded
scores and rounded once, by whoever prints them as the paper does. Differences are taken
over the scores that both runs have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.resample import LEVEL, RESAMPLES, Floats, Sums, interval, resample, total
from scbench.analysis.results import ITEM
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.grading.score_tables import OVERALL, RUN

BASELINE, TOOLS = "no_tools", "tools"

SCHEMA: Mapping[str, Any] = {
    "bucket": pl.String,
    "task": pl.String,
    "n": pl.Int64,
    "model": pl.String,
    "budget": pl.Int64,
    "setting": pl.String,
    "samples": pl.Int64,
    "scored": pl.Int64,
    "coverage": pl.Float64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "mean_missing_as_zero": pl.Float64,
    "delta": pl.Float64,
    "delta_low": pl.Float64,
    "delta_high": pl.Float64,
    "delta_n": pl.Int64,
}
"""Columns of `paper_table`."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Scores of all runs, task by task.

    Attributes:
        runs: model, setting and budget of each run, in alphabetical order.
        scores: by task, arrays of shape (scores of the task, runs).
        expected: rows a run has, scored or not: by task, an array of length runs.
        items: scores of one sample that a run has rows for: by task, an array of length runs.
        buckets: by task.
    """

    runs: tuple[tuple[str, str | None, int | None], ...]
    scores: Mapping[str, Sums]
    expected: Mapping[str, Floats]
    items: Mapping[str, Floats]
    buckets: Mapping[str, str]

    def groups(self, by: str) -> Iterator[tuple[str, str | None, list[str]]]:
        """Yield bucket, task and the tasks that are added up, as the paper's tables run.

        The text tasks come last, and are not among those that are added up overall.
        """
        spatial = [task for task in self.scores if self.buckets[task] != MANIFOLDS]
        for bucket in [*BUCKETS, MANIFOLDS]:
            if bucket == MANIFOLDS and spatial:
                yield OVERALL, None, spatial
            tasks = [task for task in self.scores if self.buckets[task] == bucket]
            if by == "task":
                yield from ((bucket, task, [task]) for task in tasks)
            if tasks:
                yield bucket, None, tasks


def score_matrix(results: pl.DataFrame) -> Matrix:
    """Return results as arrays.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
    """
    cells = results.group_by(*RUN, "bucket", "task", *ITEM).agg(
        sum=pl.col("score").sum(), count=pl.col("score").count(), rows=pl.len()
    )
    runs = cells.select(RUN).unique().sort(RUN, nulls_last=False)
    order = {task: i for i, task in enumerate(all_tasks())}
    cells = cells.join(
        runs.with_row_index("run"), on=RUN, nulls_equal=True, maintain_order="left"
    ).sort("task", *ITEM)
    scores: dict[str, Sums] = {}
    expected: dict[str, Floats] = {}
    items: dict[str, Floats] = {}
    buckets: dict[str, str] = {}
    for (task,), part in sorted(
        cells.partition_by("task", as_dict=True).items(), key=lambda pair: order[str(pair[0][0])]
    ):
        item = part.select(pl.struct(ITEM).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
        run = part["run"].to_numpy()
        arrays = []
        for column in ("sum", "count", "rows"):
            array = np.zeros((int(item.max()) + 1, runs.height))
            array[item, run] = part[column].to_numpy()
            arrays.append(array)
        scores[str(task)] = Sums(arrays[0], arrays[1])
        expected[str(task)] = arrays[2].sum(axis=0)
        items[str(task)] = (arrays[2] > 0).sum(axis=0, dtype=np.float64)
        buckets[str(task)] = part["bucket"][0]
    return Matrix(tuple(runs.iter_rows()), scores, expected, items, buckets)


def paper_table(
    results: pl.DataFrame,
    by: str = "bucket",
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return means with bootstrap intervals, and what tools change.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        by: ``bucket`` (a row per bucket and run, and one overall, without the text tasks) or
            ``task`` (a row per task as well, before its bucket's).
        resamples: bootstrap resamples; 0 for no intervals.
        seed: of the bootstrap.
        level: of the intervals.

    Returns:
        One row per line of the table and run, with columns `SCHEMA`: bucket ("overall" for all),
        task (null for a bucket), n (scores of one sample that the run has rows for), model, budget,
        setting, samples, scored and coverage (rows with a score, and their share), mean of those
        with its interval low to high, mean_missing_as_zero, and for a run with tools beside one
        without: delta (the mean difference over the scores both have, in [-1, 1]) with its
        interval, and delta_n (how many those are).
    """
    matrix = score_matrix(results)
    pairs = list(_pairs(matrix.runs))
    scores = {task: _with_pairs(sums, pairs) for task, sums in matrix.scores.items()}
    drawn = resample(scores, resamples, seed) if resamples else None
    rows = []
    for bucket, task, tasks in matrix.groups(by):
        found = total(_summed(scores[name]) for name in tasks)
        draws = total(drawn[name] for name in tasks).means if drawn is not None else None
        expected = np.sum([matrix.expected[name] for name in tasks], axis=0)
        items = np.sum([matrix.items[name] for name in tasks], axis=0)
        for r, (model, setting, budget) in enumerate(matrix.runs):
            if expected[r] == 0:
                continue
            row: dict[str, Any] = dict.fromkeys(SCHEMA)
            row |= {"bucket": bucket, "task": task, "n": int(items[r])}
            row |= {"model": model, "budget": budget, "setting": setting}
            row |= {"samples": round(expected[r] / items[r])}
            row |= {"scored": int(found.counts[r]), "coverage": found.counts[r] / expected[r]}
            row["mean"] = _known(found.means[r])
            row["mean_missing_as_zero"] = found.sums[r] / expected[r]
            if draws is not None:
                row["low"], row["high"] = interval(draws[:, r], level)
            rows.append(row)
            for p, (without, with_tools) in enumerate(pairs):
                if with_tools != r:
                    continue
                a, b = (len(matrix.runs) + 2 * p + i for i in (0, 1))
                both = [_paired(matrix.scores[name], without, with_tools) for name in tasks]
                row["delta"] = _known(found.means[b] - found.means[a])
                row["delta_n"] = int(np.concatenate(both).sum())
                if draws is not None:
                    row["delta_low"], row["delta_high"] = interval(draws[:, b] - draws[:, a], level)
    return pl.DataFrame(rows, schema=SCHEMA)


def _pairs(runs: Sequence[tuple[str, str | None, int | None]]) -> Iterator[tuple[int, int]]:
    """Yield the places of a run without tools and the same model's with them."""
    place = {run: i for i, run in enumerate(runs)}
    for (model, setting, budget), i in place.items():
        if setting == TOOLS and (model, BASELINE, budget) in place:
            yield place[model, BASELINE, budget], i


def _paired(scores: Sums, first: int, second: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    both: np.ndarray[Any, np.dtype[np.bool_]] = (scores.counts[:, first] > 0) & (
        scores.counts[:, second] > 0
    )
    return both


def _with_pairs(scores: Sums, pairs: Sequence[tuple[int, int]]) -> Sums:
    """Append two columns for each pair of runs: their scores where both have one.

    Samples are averaged first: with unequal numbers of them, items would weigh differently in the
    two runs, and the difference would show that.
    """
    columns: list[tuple[Floats, Floats]] = []
    for first, second in pairs:
        both = _paired(scores, first, second)
        means = scores.means
        columns += (
            (np.where(both, means[:, run], 0.0), both.astype(np.float64)) for run in (first, second)
        )
    if not columns:
        return scores
    sums, counts = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Sums(np.hstack([scores.sums, sums]), np.hstack([scores.counts, counts]))


def _summed(scores: Sums) -> Sums:
    return Sums(scores.sums.sum(axis=0), scores.counts.sum(axis=0))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
