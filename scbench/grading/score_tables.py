"""Bucket and task tables over results: the figures of `scbench.grading.means`, with what came back.

Rows without a score are not zeros. They lower the coverage, which is shown beside every mean,
together with the mean that would count them as zeros.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from scbench.base.model import Status
from scbench.catalog import BUCKETS, MANIFOLDS
from scbench.grading.means import AMOUNTS, MEANS, RUN, Block, Cells, Run, means_of

# All buckets of the paper together; the text tasks are never among them.
OVERALL = "overall"

_GROUP = (*RUN, "bucket", "task")
_FIGURES = (*MEANS, "mean_missing_as_zero", *AMOUNTS)


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
    | dict.fromkeys((status.value for status in Status), pl.Int64)
)


def in_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose instance the release holds."""
    return results.filter(pl.col("instance_hash").is_not_null())


class Condensed:
    """What tables need of results: cells of means, and how many rows have each status.

    Rows may be added in portions; the tables depend neither on those nor on the order of rows.
    """

    def __init__(self) -> None:
        self._cells = Cells()
        self._counts: list[pl.DataFrame] = []
        self._samples: list[pl.DataFrame] = []
        self._blocks: (
            tuple[tuple[Run, ...], dict[str, Block], dict[str, str]] | None
        ) = None

    def add(self, results: pl.DataFrame) -> None:
        """Take rows of ``results.parquet``; those that the release does not hold are left out."""
        rows = in_release(results)
        self._cells.add(rows)
        self._blocks = None
        counts = rows.group_by(*_GROUP, "status").agg(rows=pl.len().cast(pl.Int64))
        together = pl.concat([*self._counts, counts]).group_by(*_GROUP, "status")
        self._counts = [together.agg(pl.col("rows").sum())]
        self._samples = [
            pl.concat([*self._samples, rows.select(*_GROUP, "sample")]).unique()
        ]

    def table(
        self, by: Literal["bucket", "task"], weights: Mapping[str, float] | None = None
    ) -> pl.DataFrame:
        """Return what `score_table` returns of all rows taken."""
        self._blocks = runs, blocks, buckets = self._blocks or self._cells.blocks(
            weights
        )
        lines = _table_lines(buckets, by)
        frames = [self._line(runs, blocks, *line) for line in lines]
        order = pl.DataFrame(
            {
                "bucket": [line[0] for line in lines],
                "task": [line[1] for line in lines],
            },
            schema={"bucket": pl.String, "task": pl.String},
        ).with_row_index("place")
        table = pl.concat(frames) if frames else pl.DataFrame(schema=_SCHEMA)
        table = table.join(
            order, on=["bucket", "task"], nulls_equal=True, maintain_order="left"
        )
        table = table.sort(*RUN, "place", nulls_last=False).drop("place")
        return table if by == "task" else table.drop("task")

    def _line(
        self,
        runs: tuple[Run, ...],
        blocks: Mapping[str, Block],
        bucket: str,
        task: str | None,
        tasks: Collection[str],
    ) -> pl.DataFrame:
        """Return the rows of one line of a table, for the runs that have one."""
        means = means_of([blocks[name] for name in tasks])
        figures = {name: getattr(means, name) for name in MEANS}
        figures |= {"mean_missing_as_zero": means.missing_as_zero}
        figures |= dict(zip(AMOUNTS, means.spent[::2], strict=True))
        columns = pl.DataFrame(runs, schema=_RUN_TYPES, orient="row").with_columns(
            bucket=pl.lit(bucket),
            task=pl.lit(task, pl.String),
            n=pl.Series(means.scores).cast(pl.Int64),
            scored=pl.Series(means.scored).cast(pl.Int64),
            coverage=pl.Series(means.scored / np.maximum(means.expected, 1)),
            **{
                name: pl.Series(values, nan_to_null=True).fill_nan(None)
                for name, values in figures.items()
            },
        )
        of_line = pl.col("task").is_in(tasks)
        samples = self._samples[0].filter(of_line).group_by(RUN)
        counts = self._counts[0].filter(of_line).group_by(RUN)
        rows = pl.col("rows")
        return (
            columns.filter(pl.col("n") > 0)
            .join(
                samples.agg(samples=pl.col("sample").n_unique().cast(pl.Int64)),
                on=RUN,
                nulls_equal=True,
                maintain_order="left",
            )
            .join(
                counts.agg(
                    **{
                        s.value: rows.filter(pl.col("status") == s.value).sum()
                        for s in Status
                    }
                ),
                on=RUN,
                nulls_equal=True,
                maintain_order="left",
            )
            .select(list(_SCHEMA))
        )


def _table_lines(
    buckets: Mapping[str, str], by: Literal["bucket", "task"]
) -> list[tuple[str, str | None, list[str]]]:
    """Return bucket, task and the tasks that are added up, of each line in its order."""
    if by == "task":
        return [(bucket, task, [task]) for task, bucket in buckets.items()]
    order = dict.fromkeys(
        (*BUCKETS, *(b for b in buckets.values() if b != MANIFOLDS), MANIFOLDS)
    )
    of_bucket = {
        name: [t for t, bucket in buckets.items() if bucket == name] for name in order
    }
    lines = [(name, None, tasks) for name, tasks in of_bucket.items() if tasks]
    spatial = [line for line in lines if line[0] != MANIFOLDS]
    if len(spatial) > 1:  # over one there is nothing to add up
        overall = (OVERALL, None, [task for line in spatial for task in line[2]])
        lines.insert(len(spatial), overall)
    return list(lines)


def score_table(
    results: pl.DataFrame,
    by: Literal["bucket", "task"],
    weights: Mapping[str, float] | None = None,
) -> pl.DataFrame:
    """Return one row per run and bucket (and one for the paper's together), or per run and task.

    Args:
        results: rows of ``results.parquet``, with a row for every expected score.
        by: what to group by.
        weights: of tasks, in the release; where they are not named they follow from the floors.

    Returns:
        Columns model, setting, budget, bucket, (task,) n (scores of one sample), samples, scored,
        coverage (scored over expected), normalized with its interval (from 0, the floor, to 1; null
        where there is no room above the floor, or a floor is not known), readable (share of the
        answers with a score that could be read), below_floor (share of those with room that score
        less than their floor; null for text tasks), mean (of scored items, 0 to 1, null if there is
        none) with its interval low to high (see `scbench.base.intervals`), floor (mean of the
        floors of the scored items, null if one is not known), mean_missing_as_zero, mean
        output_tokens and cost (US dollars) of the answers that report them, and one count per
        status. Runs are in alphabetical order, buckets and tasks in that of the paper. Over a
        single bucket there is no line of all.
    """
    condensed = Condensed()
    condensed.add(results)
    return condensed.table(by, weights)


def metadata_by_run(
    results: pl.DataFrame,
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return what lines of each run say of how it was made; mostly the same throughout."""
    metadata: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    rows = results.select(*RUN, "run_metadata").unique().drop_nulls("run_metadata")
    for *run, text in rows.sort("run_metadata").iter_rows():
        metadata.setdefault(tuple(run), []).append(json.loads(text))
    return metadata


def outside_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return task and number of rows whose instance the release does not hold."""
    rows = results.filter(pl.col("instance_hash").is_null())
    return rows.group_by("task").agg(rows=pl.len().cast(pl.Int64)).sort("task")
