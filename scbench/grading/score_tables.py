"""Bucket and task tables over results.

Every score counts the same: a mean is the sum of scores over the number of scores, never a mean of
means. Rows without a score are not zeros. They lower the coverage, which is shown beside every
mean, together with the mean that would count them as zeros.

**Above the floor.** An instance's floor is what the best answer without insight scores, for short
answers what guessing gets. A mean above the floor is (mean - floor) / (1 - floor), over the same
scores: 0 is no insight, 1 all right, and less than 0 worse than none. Instances weigh as much as
they have room above their floors. Who gave no answer to a text task did not guess, so such a row
stands at its floor.
"""

import json
import math
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from scbench.base.intervals import Floats, Part, condense, ends, pair_of
from scbench.base.model import Status
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks

RUN = ("model", "setting", "budget")
"""Columns that tell runs apart; samples of one run are pooled."""
OVERALL = "overall"
"""All buckets of the paper together; the text tasks are never among them."""
ABOVE = ("floor", "above", "above_low", "above_high")
"""Columns on what lies above the floor."""


def in_release(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose instance the release holds."""
    return results.filter(pl.col("instance_hash").is_not_null())


class _Parts(NamedTuple):
    """Rows by status and score; samples; items with their scores: each by run, bucket and task."""

    counts: pl.DataFrame
    samples: pl.DataFrame
    items: pl.DataFrame


class Condensed:
    """What tables need of results, in the space of items and runs, however many rows there are.

    Rows may be added in portions; the tables depend neither on those nor on the order of rows.
    """

    def __init__(self) -> None:
        self._counts: list[pl.DataFrame] = []
        self._samples: list[pl.DataFrame] = []
        self._items: list[pl.DataFrame] = []

    def add(self, results: pl.DataFrame) -> None:
        """Take rows of ``results.parquet``; those that the release does not hold are left out."""
        rows = in_release(with_floors(results))
        counts = rows.group_by(*_GROUP, "status", "score").agg(rows=pl.len().cast(pl.Int64))
        together = pl.concat([*self._counts, counts]).group_by(*_GROUP, "status", "score")
        self._counts = [together.agg(pl.col("rows").sum())]
        self._samples = [pl.concat([*self._samples, rows.select(*_GROUP, "sample")]).unique()]
        # Whole numbers: floats would add up to sums that depend on the portions.
        points, raised = (
            (score * _UNIT).round().cast(pl.Int64).sum() for score in (pl.col("score"), lifted())
        )
        items = rows.group_by(*_GROUP, *_ITEM).agg(
            points=points,
            lifted=raised,
            scored=pl.col("score").count().cast(pl.Int64),
            floor=pl.col("floor").max(),
        )
        together = pl.concat([*self._items, items]).group_by(*_GROUP, *_ITEM)
        sums = pl.col("points", "lifted", "scored").sum()
        self._items = [together.agg(sums, pl.col("floor").max())]

    def table(self, by: Literal["bucket", "task"]) -> pl.DataFrame:
        """Return what `score_table` returns of all rows taken."""
        groups = ["bucket", "task"] if by == "task" else ["bucket"]
        parts = _Parts(*map(pl.concat, (self._counts, self._samples, self._items)))
        table = _aggregate(parts, groups)
        if by == "bucket":
            spatial = _Parts(*(part.filter(pl.col("bucket") != MANIFOLDS) for part in parts))
            if spatial.items["bucket"].n_unique() > 1:  # over one there is nothing to add up
                overall = (part.with_columns(bucket=pl.lit(OVERALL)) for part in spatial)
                table = pl.concat([table, _aggregate(_Parts(*overall), groups)])
        order = {name: i for i, name in enumerate([*BUCKETS, OVERALL, MANIFOLDS])}
        tasks = {name: i for i, name in enumerate(all_tasks())}
        keys = [pl.col("bucket").replace_strict(order, default=len(order), return_dtype=pl.Int64)]
        if by == "task":
            key = pl.col("task").replace_strict(tasks, default=len(tasks), return_dtype=pl.Int64)
            keys.append(key)
        return table.sort(*RUN, *keys, nulls_last=False, maintain_order=True)


def with_floors(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with a column ``floor``: older ones have none, and no floor is known."""
    if "floor" in results.columns:
        return results
    return results.with_columns(floor=pl.lit(None, pl.Float64))


def lifted() -> pl.Expr:
    """Return scores, with rows of text tasks that have no answer at their floor."""
    unlucky = (pl.col("bucket") == MANIFOLDS) & (pl.col("status") != Status.ANSWERED.value)
    unlucky &= pl.col("score").is_not_null()
    return pl.when(unlucky).then(pl.col("floor").fill_null(0.0)).otherwise("score")


def above_floor(mean: Floats, floor: Floats) -> Floats:
    """Return (mean - floor) / (1 - floor); NaN where there is no room above the floor."""
    with np.errstate(invalid="ignore", divide="ignore"):
        above: Floats = np.where(floor < 1, (mean - floor) / (1 - floor), np.nan)
    return above


_GROUP = (*RUN, "bucket", "task")
_ITEM = ("id", "subtask")
_UNIT = 2.0**40
"""Parts of a score that are counted."""


def score_table(results: pl.DataFrame, by: Literal["bucket", "task"]) -> pl.DataFrame:
    """Return one row per run and bucket (and one for the paper's together), or per run and task.

    Args:
        results: rows of ``results.parquet``, with a row for every expected score.
        by: what to group by.

    Returns:
        Columns model, setting, budget, bucket, (task,) n (scores of one sample), samples, scored,
        coverage (scored over expected), mean (of scored rows, 0 to 1, null if there is none) with
        its interval low to high (see `scbench.base.intervals`), floor (mean of the floors of the
        scored rows, null if one is not known) and the mean above it with its interval (null where
        there is no room), mean_missing_as_zero, and one count per status. Runs are in alphabetical
        order, buckets and tasks in that of the paper. Over a single bucket there is no line of all.
    """
    condensed = Condensed()
    condensed.add(results)
    return condensed.table(by)


def _aggregate(parts: _Parts, groups: list[str]) -> pl.DataFrame:
    keys = [*RUN, *groups]
    rows, score = pl.col("rows"), pl.col("score")
    # Floats are added in the order of their values: any other would depend on that of the rows.
    sums = (
        parts.counts.sort("score", "status")
        .group_by(keys, maintain_order=True)
        .agg(
            scored=rows.filter(score.is_not_null()).sum(),
            total=rows.sum(),
            points=(score * rows).sum(),
            **{
                status.value: rows.filter(pl.col("status") == status.value).sum()
                for status in Status
            },
        )
    )
    n = parts.items.group_by(keys).agg(n=pl.struct("id", "subtask").n_unique().cast(pl.Int64))
    samples = parts.samples.group_by(keys).agg(samples=pl.col("sample").n_unique().cast(pl.Int64))
    some = pl.col("scored") > 0
    between = _intervals(parts.items, keys)
    return (
        sums.join(n, on=keys, nulls_equal=True, maintain_order="left")
        .join(samples, on=keys, nulls_equal=True, maintain_order="left")
        .join(between, on=keys, nulls_equal=True, maintain_order="left")
        .select(
            *keys,
            "n",
            "samples",
            "scored",
            coverage=pl.col("scored") / pl.col("total"),
            mean=pl.when(some).then(pl.col("points") / pl.col("scored")),
            low=pl.col("low"),
            high=pl.col("high"),
            **{name: pl.col(name) for name in ABOVE},
            mean_missing_as_zero=pl.col("points") / pl.col("total"),
            **{status.value: pl.col(status.value) for status in Status},
        )
    )


def _intervals(items: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    # No floor is needed of an item without a score; one that is not known makes the sum NaN.
    floors = pl.when(pl.col("scored") > 0).then(
        pl.col("floor").fill_null(np.nan) * pl.col("scored")
    )
    answers = items.group_by(*_GROUP, "id").agg(
        pl.col("points", "lifted", "scored").sum(), floors=floors.fill_null(0.0).sort().sum()
    )
    lines: dict[tuple[Any, ...], list[_Line]] = {}
    for key, part in answers.sort("task", "id").group_by(
        [*keys, *([] if "task" in keys else ["task"])], maintain_order=True
    ):
        counts = part["scored"].to_numpy().astype(np.float64)
        plain, raised = (
            condense(part[name].to_numpy() / _UNIT / np.where(counts > 0, counts, 1), counts)
            for name in ("points", "lifted")
        )
        line = _Line(
            plain,
            raised,
            float(part["lifted"].sum()) / _UNIT,
            float(part["floors"].sum()),
            float(counts.sum()),
        )
        lines.setdefault(key[: len(keys)], []).append(line)
    rows = [dict(zip(keys, key, strict=True)) | _ends(parts) for key, parts in lines.items()]
    types: dict[str, pl.DataType] = {name: items.schema[name] for name in keys}
    types |= dict.fromkeys(("low", "high", *ABOVE), pl.Float64())
    return pl.DataFrame(rows, schema=types)


class _Line(NamedTuple):
    """One task's share of a line: answers, the same lifted, and sums of these, floors, counts."""

    plain: Part
    raised: Part
    points: float
    floors: float
    scored: float


def _ends(parts: list[_Line]) -> dict[str, float | None]:
    low, high = pair_of(*map(float, ends([part.plain for part in parts])))
    between = ends([part.raised for part in parts])
    scored = sum(part.scored for part in parts) or np.nan
    mean, floor = (
        np.asarray(math.fsum(getattr(part, name) for part in parts) / scored)
        for name in ("points", "floors")
    )
    above = (above_floor(value, floor) for value in (mean, *between))
    values = dict(zip(ABOVE, (float(floor), *map(float, above)), strict=True))
    cells = {name: None if math.isnan(value) else value for name, value in values.items()}
    return {"low": low, "high": high} | cells


def metadata_by_run(results: pl.DataFrame) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
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
