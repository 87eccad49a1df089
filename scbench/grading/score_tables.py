"""Score tables by bucket and task: figures from `scbench.grading.means` and status counts.

Rows without a score are not scored 0. They lower the coverage, which is shown next to every mean,
together with the mean that would count them as zeros.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from scbench.base.model import Status
from scbench.catalog import BUCKETS, MANIFOLDS
from scbench.grading.means import (
    AMOUNTS,
    MEANS,
    RUN,
    Cells,
    Means,
    RunBlocks,
    means_of,
)

# All buckets of the paper together, without the text tasks.
OVERALL = "overall"

_GROUP = (*RUN, "bucket", "task")
_FIGURES = (*MEANS, "mean_missing_as_zero", *AMOUNTS)
_STATUSES = [status.value for status in Status]
_RUN_TYPES: dict[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
}
_SCHEMA: Mapping[str, Any] = (
    _RUN_TYPES
    | dict.fromkeys(("bucket", "task"), pl.String)
    | dict.fromkeys(("n", "samples", "scored"), pl.Int64)
    | {"coverage": pl.Float64}
    | dict.fromkeys(_FIGURES, pl.Float64)
    | dict.fromkeys(_STATUSES, pl.Int64)
)


def headline(line: Mapping[str, Any]) -> float | None:
    """Return the main score of a line of a table, from 0 to 1.

    This is the normalized score; None if no answer has room or a floor is unknown.
    Other programs get it as the score, and the mean under another name.
    """
    score: float | None = line["normalized"]
    return score


class TableLine(NamedTuple):
    """One line of a table: its bucket, its task in a table by task, and the tasks in it."""

    bucket: str
    task: str | None
    tasks: Sequence[str]


def score_table(
    results: pl.DataFrame,
    by: Literal["bucket", "task"],
    weights: Mapping[str, float] | None = None,
) -> pl.DataFrame:
    """Return one row per run and bucket (plus one for all buckets of the paper), or run and task.

    Args:
        results: rows of ``results.parquet``, with a row for every expected score.
        by: "bucket" or "task".
        weights: weights of tasks in the release; missing ones are computed from the
            floors.

    Returns:
        One row per line of the table and run, with columns:

        - model, setting, budget, bucket, and task in a table by task;
        - n, samples, scored, coverage: scores of one sample, number of samples, rows
          with a score, and their share of the expected rows;
        - normalized: the normalized score from 0 (the floor) to 1, with its interval;
          null if no answer has room above its floor, or a floor is not known;
        - readable: share of the answers with a score that could be read;
        - below_floor: share of the answers with room that score less than their floor;
          null for text tasks;
        - mean: mean score of the scored items, from 0 to 1, with its interval low to
          high (see `scbench.base.intervals`); null if there are none;
        - floor: mean of the floors of the scored items; null if one is not known;
        - mean_missing_as_zero;
        - output_tokens, cost (US dollars): means over the answers that report them;
        - one count per status.

        Runs are in alphabetical order, buckets and tasks in the paper's order. With a
        single bucket there is no overall line.
    """
    condensed = Condensed()
    condensed.add(results)
    return condensed.table(by, weights)


class Condensed:
    """Results condensed for tables: cells of means, and counts of each status.

    Rows may be added in portions; neither these nor the order of rows affects the tables.
    """

    def __init__(self) -> None:
        self._cells = Cells()
        # Each list has one frame, or none before the first rows.
        self._counts: list[pl.DataFrame] = []
        self._samples: list[pl.DataFrame] = []
        self._scores: RunBlocks | None = None

    def add(self, results: pl.DataFrame) -> None:
        """Add rows of ``results.parquet``; rows that are not in the release are left out."""
        rows = in_release(results)
        self._cells.add(rows)
        self._scores = None
        counts = rows.group_by(*_GROUP, "status").agg(rows=pl.len().cast(pl.Int64))
        all_counts = pl.concat([*self._counts, counts])
        by_status = all_counts.group_by(*_GROUP, "status")
        self._counts = [by_status.agg(pl.col("rows").sum())]
        # Samples are counted over tasks, so their numbers are needed, not their count.
        samples = pl.concat([*self._samples, rows.select(*_GROUP, "sample")])
        self._samples = [samples.unique()]

    def table(
        self, by: Literal["bucket", "task"], weights: Mapping[str, float] | None = None
    ) -> pl.DataFrame:
        """Return the `score_table` of all rows added."""
        if self._scores is None:
            self._scores = self._cells.blocks(weights)
        scores = self._scores
        lines = table_lines(scores.buckets, by)
        # Lines are in the paper's order, which no column contains.
        order = pl.DataFrame(
            [(line.bucket, line.task) for line in lines],
            schema={"bucket": pl.String, "task": pl.String},
            orient="row",
        ).with_row_index("place")
        table = pl.DataFrame(schema=_SCHEMA)
        if lines:
            table = pl.concat([self._rows_of(line, scores) for line in lines])
        table = table.join(
            order, on=["bucket", "task"], nulls_equal=True, maintain_order="left"
        )
        table = table.sort(*RUN, "place", nulls_last=False).drop("place")
        return table if by == "task" else table.drop("task")

    def _rows_of(self, line: TableLine, scores: RunBlocks) -> pl.DataFrame:
        """Return the rows of one line of a table, for the runs that have one."""
        means = means_of([scores.blocks[name] for name in line.tasks])
        coverage = means.scored / np.maximum(means.expected, 1)
        rows = pl.DataFrame(scores.runs, schema=_RUN_TYPES, orient="row").with_columns(
            bucket=pl.lit(line.bucket),
            task=pl.lit(line.task, pl.String),
            n=pl.Series(means.scores).cast(pl.Int64),
            scored=pl.Series(means.scored).cast(pl.Int64),
            coverage=pl.Series(coverage),
            **figure_columns(means),
        )
        # A run without rows in these tasks has no line.
        rows = rows.filter(pl.col("n") > 0)
        for by_run in (self._sample_counts(line), self._status_counts(line)):
            rows = rows.join(by_run, on=RUN, nulls_equal=True, maintain_order="left")
        return rows.select(list(_SCHEMA))

    def _sample_counts(self, line: TableLine) -> pl.DataFrame:
        """Return the number of different samples of each run."""
        in_line = self._samples[0].filter(pl.col("task").is_in(line.tasks))
        n_samples = pl.col("sample").n_unique().cast(pl.Int64)
        return in_line.group_by(RUN).agg(samples=n_samples)

    def _status_counts(self, line: TableLine) -> pl.DataFrame:
        """Return the number of rows of each run with each status."""
        in_line = self._counts[0].filter(pl.col("task").is_in(line.tasks))
        counts = {}
        for status in _STATUSES:
            has_status = pl.col("status") == status
            counts[status] = pl.col("rows").filter(has_status).sum()
        return in_line.group_by(RUN).agg(**counts)


def figure_columns(means: Means) -> dict[str, pl.Series]:
    """Return the figures of a line as columns with an entry per run."""
    figures = {name: getattr(means, name) for name in MEANS}
    figures["mean_missing_as_zero"] = means.missing_as_zero
    figures |= dict(zip(AMOUNTS, means.spent, strict=True))
    columns = {}
    for name, values in figures.items():
        # Null means "unknown"; NaN would spread into the means of tables.
        columns[name] = pl.Series(values, nan_to_null=True).fill_nan(None)
    return columns


def table_lines(
    buckets: Mapping[str, str], by: Literal["bucket", "task"]
) -> list[TableLine]:
    """Return the lines of a table in their order; buckets are by task."""
    if by == "task":
        return [TableLine(bucket, task, [task]) for task, bucket in buckets.items()]
    tasks_of: dict[str, list[str]] = {bucket: [] for bucket in BUCKETS}
    for task, bucket in buckets.items():
        tasks_of.setdefault(bucket, []).append(task)
    # Text tasks come last.
    text_tasks = tasks_of.pop(MANIFOLDS, [])
    lines = []
    for bucket, tasks in tasks_of.items():
        if tasks:
            lines.append(TableLine(bucket, None, tasks))
    # A single bucket has nothing to add up.
    if len(lines) > 1:
        spatial = [task for line in lines for task in line.tasks]
        lines.append(TableLine(OVERALL, None, spatial))
    if text_tasks:
        lines.append(TableLine(MANIFOLDS, None, text_tasks))
    return lines


def in_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose instance the release contains."""
    return results.filter(pl.col("instance_hash").is_not_null())


def outside_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return task and number of rows whose instance the release does not contain."""
    rows = results.filter(pl.col("instance_hash").is_null())
    return rows.group_by("task").agg(rows=pl.len().cast(pl.Int64)).sort("task")


def metadata_by_run(
    results: pl.DataFrame,
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the metadata in the lines of each run, which is usually the same for all lines."""
    metadata: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    rows = results.select(*RUN, "run_metadata").unique().drop_nulls("run_metadata")
    for *run, text in rows.sort("run_metadata").iter_rows():
        metadata.setdefault(tuple(run), []).append(json.loads(text))
    return metadata
