"""Bucket and task tables over results.

Every score counts the same: a mean is the sum of scores over the number of scores, never a mean of
means (spec: analysis, section 2). Rows without a score are not zeros. They lower the
coverage, which is shown beside every mean, together with the mean that would count them as zeros.
"""

from typing import Literal

import polars as pl

from scbench.analysis.results import RUN
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
from scbench.model import Status

OVERALL = "overall"
"""All buckets of the paper together; the text tasks are never among them."""


def in_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose instance the release holds."""
    return results.filter(pl.col("instance_hash").is_not_null())


def score_table(results: pl.DataFrame, by: Literal["bucket", "task"]) -> pl.DataFrame:
    """Return one row per run and bucket (and one for the paper's together), or per run and task.

    Args:
        results: rows of ``results.parquet``, with a row for every expected score.
        by: what to group by.

    Returns:
        Columns model, setting, budget, bucket, (task,) n (scores of one sample), samples, scored,
        coverage (scored over expected), mean (of scored rows, 0 to 1, null if there is none),
        mean_missing_as_zero, and one count per status. Runs are in alphabetical order, buckets and
        tasks in that of the paper.
    """
    rows = in_release(results)
    groups = ["bucket", "task"] if by == "task" else ["bucket"]
    table = _aggregate(rows, groups)
    if by == "bucket":
        spatial = rows.filter(pl.col("bucket") != MANIFOLDS)
        table = pl.concat([table, _aggregate(spatial.with_columns(bucket=pl.lit(OVERALL)), groups)])
    order = {name: i for i, name in enumerate([*BUCKETS, OVERALL, MANIFOLDS])}
    tasks = {name: i for i, name in enumerate(all_tasks())}
    keys = [pl.col("bucket").replace_strict(order, default=len(order), return_dtype=pl.Int64)]
    if by == "task":
        keys.append(pl.col("task").replace_strict(tasks, default=len(tasks), return_dtype=pl.Int64))
    return table.sort(*RUN, *keys, nulls_last=False, maintain_order=True)


def _aggregate(rows: pl.DataFrame, groups: list[str]) -> pl.DataFrame:
    scored = pl.col("score").is_not_null()
    return (
        rows.group_by(*RUN, *groups, maintain_order=True)
        .agg(
            n=pl.struct("id", "subtask").n_unique(),
            samples=pl.col("sample").n_unique(),
            scored=scored.sum(),
            coverage=scored.mean(),
            mean=pl.col("score").mean(),
            mean_missing_as_zero=pl.col("score").fill_null(0.0).mean(),
            **{status.value: (pl.col("status") == status.value).sum() for status in Status},
        )
        # Texts may come as categories, which take a tenth of the memory.
        .with_columns(pl.col("model", "setting", *groups).cast(pl.String))
        .with_columns(pl.col("n", "samples", "scored", *Status).cast(pl.Int64))
    )


def outside_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return task and number of rows whose instance the release does not hold."""
    rows = results.filter(pl.col("instance_hash").is_null())
    counts = rows.group_by("task").agg(rows=pl.len().cast(pl.Int64))
    return counts.cast({"task": pl.String}).sort("task")
