"""Scores of all runs as arrays, and their means; every mean is computed here.

Here, each score of the release counts as one **item**. Its samples are averaged first,
so that each item has the same weight, regardless of the number of samples. The
independent unit is an **answer**: the scores of one answer are correlated.

**Normalized.** For an answer, u = (score - floor) / (1 - floor), clipped to 0 and 1.
An answer with several scores is scored by their mean, because its floor applies to the
whole answer. An answer whose floor is 1 has no room and is left out. A task's score is
the mean of u. The score of several tasks is their weighted mean, with the weights of
the release.

In a text task, the floor is the mean score of guessing, and u is not clipped at 0,
because otherwise a guesser would have a positive mean. A model that gave no answer did
not guess and has u = 0.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.base.intervals import LEVEL, Floats, Part, condense, mean_interval
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.release.manifest import weight_of

# Columns that distinguish runs; samples of one run are pooled.
RUN = ("model", "setting", "budget")
# Columns for a line's scores in tables, the normalized score first.
MEANS = (
    "normalized",
    "normalized_low",
    "normalized_high",
    "readable",
    "below_floor",
    "mean",
    "low",
    "high",
    "floor",
)
AMOUNTS = ("output_tokens", "cost")
# For each amount, the number of answers that report it.
_REPORT_COUNTS = ("output_tokens_reported", "cost_reported")

# Model, setting and budget.
Run = tuple[str, str | None, int | None]
Truths = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

_GROUP = (*RUN, "bucket", "task")
# Scores are counted in integers of this unit, whose sums do not depend on the order.
_UNIT = 2.0**40
_DOLLAR = 1e9
# Units in which each amount is summed.
_AMOUNT_UNITS = np.array([1.0, _DOLLAR])
# A score further below its floor than this is not a rounding error.
_BELOW = 1e-9
# Columns that are summed when frames are joined.
_SUMS = (
    "points",
    "scored",
    "rows",
    "u",
    "tries",
    "readable",
    "below",
    "output_tokens",
    "output_tokens_reported",
    "cost",
    "cost_reported",
)


class RunBlocks(NamedTuple):
    """The scores of all runs.

    Attributes:
        runs: runs in alphabetical order.
        blocks: the scores of each task.
        buckets: the bucket of each task.
    """

    runs: tuple[Run, ...]
    blocks: dict[str, "Block"]
    buckets: dict[str, str]


class Cells:
    """Results condensed to arrays over items and runs, for any number of rows.

    Rows may be added in portions; neither the portions nor the order of rows affects
    the result.
    """

    def __init__(self) -> None:
        # Each list has one frame, or none before the first rows.
        self._items: list[pl.DataFrame] = []
        self._answers: list[pl.DataFrame] = []
        # Answers of tasks with several scores, which may be split over two portions.
        self._parts: list[pl.DataFrame] = []

    def add(self, results: pl.DataFrame) -> None:
        """Take rows of results."""
        rows = with_floors(results)
        items = rows.group_by(*_GROUP, "id", "subtask").agg(
            points=in_units(pl.col("score")).sum(),
            scored=pl.col("score").count().cast(pl.Int64),
            rows=pl.len().cast(pl.Int64),
            floor=pl.col("floor").max(),
        )
        self._items = [sum_frames([*self._items, items], "id", "subtask")]
        facts = answer_facts(rows)
        # Answers with one score can be added up immediately.
        several_scores = [task.id for task in all_tasks().values() if task.scores > 1]
        in_parts = pl.col("task").is_in(several_scores)
        parts = facts.filter(in_parts)
        if parts.height:
            self._parts = [join_answers(pl.concat([*self._parts, parts]))]
        answers = sum_answers(facts.filter(~in_parts))
        self._answers = [sum_frames([*self._answers, answers], "id")]

    def blocks(self, weights: Mapping[str, float] | None = None) -> RunBlocks:
        """Return the scores of all runs as arrays.

        Args:
            weights: weights of tasks in the release; missing ones are computed from the
                floors.
        """
        items = pl.concat(self._items)
        answers = pl.concat([*self._answers, *map(sum_answers, self._parts)])
        runs = items.select(RUN).unique().sort(RUN, nulls_last=False)
        numbered = runs.with_row_index("run")
        items_by_task = split_by_task(items, numbered, "id", "subtask")
        answers_by_task = split_by_task(answers, numbered, "id")
        blocks: dict[str, Block] = {}
        buckets: dict[str, str] = {}
        for task in all_tasks():
            if task not in items_by_task:
                continue
            task_items = items_by_task[task]
            weight = None if weights is None else weights.get(task)
            blocks[task] = block_of(
                task_items, answers_by_task[task], runs.height, weight
            )
            buckets[task] = str(task_items["bucket"][0])
        return RunBlocks(tuple(runs.iter_rows()), blocks, buckets)


def split_by_task(
    cells: pl.DataFrame, numbered_runs: pl.DataFrame, *key: str
) -> dict[str, pl.DataFrame]:
    """Return cells by task, sorted by a key, with the number of their run."""
    frame = cells.join(numbered_runs, on=RUN, nulls_equal=True, maintain_order="left")
    parts = frame.sort("task", *key).partition_by("task", as_dict=True)
    return {str(task): part for (task,), part in parts.items()}


def in_units(score: pl.Expr) -> pl.Expr:
    """Return scores as integers in units of `_UNIT`."""
    return (score * _UNIT).round().cast(pl.Int64)


def sum_frames(frames: Sequence[pl.DataFrame], *key: str) -> pl.DataFrame:
    """Return frames summed by run, task and key."""
    joined = pl.concat(frames)
    if len(frames) == 1:
        return joined
    sums = [name for name in joined.columns if name in _SUMS]
    added = joined.group_by(*_GROUP, *key).agg(
        pl.col(sums).sum(), pl.col("floor").max()
    )
    return added.select(joined.columns)


def usage(name: str) -> pl.Expr:
    """Return an amount that the provider reports; null if it reports none, or an impossible one."""
    text = pl.col("usage").str.json_path_match(f"$.{name}")
    amount = text.cast(pl.Float64, strict=False)
    return pl.when(amount.is_finite() & (amount >= 0)).then(amount).alias(name)


def with_floors(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with a column ``floor``; for older results without it, floors are unknown."""
    if "floor" in results.columns:
        return results
    return results.with_columns(floor=pl.lit(None, pl.Float64))


def scores_with_guesses() -> pl.Expr:
    """Return scores; rows of text tasks without an answer get their floor."""
    is_text = pl.col("bucket") == MANIFOLDS
    is_unanswered = pl.col("status") != Status.ANSWERED.value
    counts_as_guess = is_text & is_unanswered & pl.col("score").is_not_null()
    return (
        pl.when(counts_as_guess).then(pl.col("floor").fill_null(0.0)).otherwise("score")
    )


def answer_facts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the relevant facts of each row: points, whether it has a score, amounts."""
    has_score = pl.col("score").is_not_null()
    is_readable = has_score & (pl.col("status") == Status.ANSWERED.value)
    has_usage = "usage" in rows.columns and not rows["usage"].is_null().all()
    amounts: dict[str, pl.Expr] = {}
    for name in AMOUNTS:
        if has_usage:
            amounts[name] = pl.when(has_score).then(usage(name))
        else:
            amounts[name] = pl.lit(None, pl.Float64)
    return rows.select(
        *_GROUP,
        "id",
        "sample",
        "floor",
        points=in_units(scores_with_guesses()).fill_null(0),
        scored=has_score.cast(pl.Int64),
        readable=is_readable.cast(pl.Int64),
        **amounts,
    )


def join_answers(parts: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each answer of tasks that give several scores."""
    # Every row of an answer has its floor and its amounts, or null.
    joined = parts.group_by(*_GROUP, "id", "sample").agg(
        pl.col("points", "scored", "readable").sum(), pl.col("floor", *AMOUNTS).max()
    )
    return joined.select(parts.columns)


def sum_answers(facts: pl.DataFrame) -> pl.DataFrame:
    """Return answers summed over samples, by instance."""
    floor = pl.col("floor")
    is_text = pl.col("bucket") == MANIFOLDS
    is_scored = pl.col("scored") > 0
    has_room = is_scored & (floor < 1)
    is_below = ~is_text & has_room & (answer_score() < floor - _BELOW)
    tokens = pl.col("output_tokens").round().cast(pl.Int64, strict=False)
    cost = (pl.col("cost") * _DOLLAR).round().cast(pl.Int64, strict=False)
    return facts.group_by(*_GROUP, "id").agg(
        u=in_units(pl.when(has_room).then(answer_u())).sum(),
        tries=has_room.fill_null(value=False).sum().cast(pl.Int64),
        scored=is_scored.sum().cast(pl.Int64),
        readable=(pl.col("readable") > 0).sum().cast(pl.Int64),
        below=is_below.fill_null(value=False).sum().cast(pl.Int64),
        floor=floor.max(),
        output_tokens=tokens.sum(),
        cost=cost.sum(),
        output_tokens_reported=tokens.count().cast(pl.Int64),
        cost_reported=cost.count().cast(pl.Int64),
    )


def answer_score() -> pl.Expr:
    """Return the score of an answer: the mean of its scores."""
    return pl.col("points") / _UNIT / pl.col("scored")


def answer_u() -> pl.Expr:
    """Return the normalized score of an answer; for a text task its plain score, see `Block.u`."""
    score = answer_score()
    floor = pl.col("floor")
    above = ((score - floor) / (1 - floor)).clip(0, 1)
    return pl.when(pl.col("bucket") == MANIFOLDS).then(score).otherwise(above)


def normalized_answers(results: pl.DataFrame) -> pl.DataFrame:
    """Return each answer's normalized score, with columns for run, task, id, sample and u.

    Answers without room, or without a score, are left out.
    """
    answers = join_answers(answer_facts(with_floors(results)))
    guessed = pl.when(pl.col("bucket") == MANIFOLDS).then("floor").otherwise(0.0)
    u = ((answer_u() - guessed) / (1 - guessed)).alias("u")
    has_room = (pl.col("scored") > 0) & (pl.col("floor") < 1)
    return answers.filter(has_room).select(*_GROUP, "id", "sample", u)


@dataclass(frozen=True)
class Block:
    """The scores of one task: arrays with a row per score or answer, and a column per run.

    Attributes:
        sums: each score summed over the samples of a run that have one; shape (scores, runs).
        counts: number of these samples.
        rows: number of expected samples.
        floors: floor of each score and run (trials in a loop have separate ones); NaN
            if unknown.
        answers: number of the answer that each score belongs to, from 0.
        names: instance id of each answer.
        u: normalized score of each answer, over samples; NaN without a score, or
            without room. In a text task, the plain score; missing answers get the
            floor.
        readable: share of an answer's samples that could be read; NaN without a score.
        below: share of samples with room that score less than the floor.
        answer_floors: floors of each answer, by run.
        amounts: sum of each of `AMOUNTS` over answers; shape (amounts, runs).
        reports: number of the answers that report each amount, in the same shape.
        is_text: whether the floor is the mean score of guessing.
        weight: weight of the task in the release; None if each answer is weighted by
            its room.
    """

    sums: Floats
    counts: Floats
    rows: Floats
    floors: Floats
    answers: Integers
    names: Sequence[str]
    u: Floats
    readable: Floats
    below: Floats
    answer_floors: Floats
    amounts: Floats
    reports: Floats
    is_text: bool
    weight: float | None

    def take(self, places: Integers) -> "Block":
        """Return a part of the scores, with all answers."""
        return replace(
            self,
            sums=self.sums[places],
            counts=self.counts[places],
            rows=self.rows[places],
            floors=self.floors[places],
            answers=self.answers[places],
        )

    def of(self, ids: Collection[str]) -> "Block":
        """Return the scores of some instances, each weighted by its room."""
        inside = np.array([name in ids for name in self.names])
        scores = self.take(np.flatnonzero(inside[self.answers]))
        return replace(
            scores,
            u=np.where(inside[:, None], self.u, np.nan),
            readable=np.where(inside[:, None], self.readable, np.nan),
            below=np.where(inside[:, None], self.below, np.nan),
            weight=None,
        )

    def per_answer(self, values: Floats) -> Floats:
        """Return values summed by answer."""
        # Most tasks give each answer one score, so there is nothing to add.
        answers_with_score = len(np.unique(self.answers))
        if len(self.answers) == len(self.names) == answers_with_score:
            ordered = np.empty_like(values)
            ordered[self.answers] = values
            return ordered
        added = np.zeros((len(self.names), *values.shape[1:]))
        np.add.at(added, self.answers, values)
        return added

    @cached_property
    def item_means(self) -> Floats:
        """The mean over samples of each score, shape (scores, runs); NaN without samples."""
        with np.errstate(invalid="ignore"):
            means: Floats = self.sums / self.counts
        return means

    @cached_property
    def plain(self) -> Part:
        """The plain scores, condensed; answers are weighted by their number of scores."""
        # A missing score must not make the sum of its answer NaN.
        is_present = self.counts > 0
        weights = self.per_answer(is_present.astype(float))
        totals = self.per_answer(np.where(is_present, self.item_means, 0.0))
        with np.errstate(invalid="ignore"):
            return condense(totals / weights, weights)

    @cached_property
    def guessed(self) -> Floats:
        """In text tasks, the mean floor of the relevant answers, by run; otherwise 0."""
        if not self.is_text:
            return np.zeros(self.u.shape[1])
        is_present = ~np.isnan(self.u)
        floors = np.where(is_present, self.answer_floors, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            guessed: Floats = np.nan_to_num(floors / is_present.sum(axis=0))
        return guessed

    @cached_property
    def normalized(self) -> Part:
        """The normalized scores, condensed, each answer once."""
        is_present = ~np.isnan(self.u)
        return condense(np.nan_to_num(self.u), is_present.astype(float))

    def weights(self) -> Floats:
        """Return the task's weight by run; 0 for runs without a relevant answer."""
        answers = self.normalized.weight
        # Without a task weight, each answer is weighted by its room.
        weight = answers * (1 - self.guessed) if self.weight is None else self.weight
        return np.where(answers > 0, weight, 0.0)

    def unknown(self) -> Truths:
        """Return for each run whether the floor of a scored answer is unknown."""
        scored = ~np.isnan(self.readable)
        return np.asarray((scored & np.isnan(self.answer_floors)).any(axis=0))


def block_of(
    items: pl.DataFrame, answers: pl.DataFrame, runs: int, weight: float | None
) -> Block:
    """Return the scores of one task.

    Args:
        items: cells of its items.
        answers: cells of its answers.
        runs: number of runs.
        weight: weight of the task in the release; None to compute it from the floors.
    """
    # Numbers of items and answers from 0; cells of one item in several runs share them.
    item_number = pl.struct("id", "subtask").rank("dense").cast(pl.Int64) - 1
    answer_number = pl.col("id").rank("dense").cast(pl.Int64) - 1
    numbers = items.select(item=item_number, answer=answer_number)
    item_rows = numbers["item"].to_numpy()
    answers_of_items = np.zeros(int(item_rows.max()) + 1, dtype=np.int64)
    answers_of_items[item_rows] = numbers["answer"].to_numpy()
    item_grid = Grid(items, item_rows, (len(answers_of_items), runs))

    # Numbers follow the sorted ids, like the names.
    names = answers["id"].unique().sort().to_list()
    answer_rows = answers.select(answer_number).to_series().to_numpy()
    answer_grid = Grid(answers, answer_rows, (len(names), runs))
    answer_floors = answer_grid.filled("floor", missing=np.nan)
    tries = answer_grid.filled("tries")
    with np.errstate(invalid="ignore"):
        if weight is None:
            # The floor of an answer in any run; trials in a loop have separate floors.
            known_floors = np.fmin.reduce(answer_floors, axis=1)
            weight = weight_of(known_floors.tolist())
        return Block(
            sums=item_grid.filled("points") / _UNIT,
            counts=item_grid.filled("scored"),
            rows=item_grid.filled("rows"),
            floors=item_grid.filled("floor", missing=np.nan),
            answers=answers_of_items,
            names=names,
            u=answer_grid.filled("u") / _UNIT / tries,
            readable=answer_grid.filled("readable") / answer_grid.filled("scored"),
            below=answer_grid.filled("below") / tries,
            answer_floors=answer_floors,
            amounts=sums_by_run(answers, AMOUNTS, runs) / _AMOUNT_UNITS[:, None],
            reports=sums_by_run(answers, _REPORT_COUNTS, runs),
            is_text=items["bucket"][0] == MANIFOLDS,
            weight=weight,
        )


class Grid(NamedTuple):
    """Cells of a task, and their places in arrays of items (or answers) and runs.

    Attributes:
        frame: the cells, with the number of their run.
        rows: number of the item or answer of each cell.
        shape: number of items or answers, and of runs.
    """

    frame: pl.DataFrame
    rows: Integers
    shape: tuple[int, int]

    def filled(self, column: str, missing: float = 0.0) -> Floats:
        """Return the values of a column as an array of this shape."""
        array = np.full(self.shape, missing)
        values = self.frame[column].cast(pl.Float64).to_numpy()
        array[self.rows, self.frame["run"].to_numpy()] = values
        return array


def sums_by_run(answers: pl.DataFrame, names: Sequence[str], runs: int) -> Floats:
    """Return the sums of some columns over the answers of each run; shape (columns, runs)."""
    answer_run = answers["run"].to_numpy()
    sums = []
    for name in names:
        values = answers[name].to_numpy().astype(float)
        sums.append(np.bincount(answer_run, values, runs))
    return np.stack(sums)


@dataclass(frozen=True, slots=True)
class Means:
    """The figures of a line as arrays with an entry per run; NaN if unknown.

    Attributes:
        scores: number of scores of one sample.
        expected: number of rows of all samples.
        scored: number of rows with a score.
        normalized: the normalized score; `normalized_low` and `normalized_high` are the ends of
            its interval. NaN if no answer has room or a floor is unknown.
        readable: share of the answers with a score that could be read.
        below_floor: share of the answers with room that score less than their floor.
        mean: mean of the scores; `low` and `high` are the ends of its interval.
        floor: mean of their floors.
        missing_as_zero: the mean that counts rows without a score as zeros.
        spent: mean of each of `AMOUNTS` over the answers that report it; shape (amounts, runs).
    """

    scores: Floats
    expected: Floats
    scored: Floats
    normalized: Floats
    normalized_low: Floats
    normalized_high: Floats
    readable: Floats
    below_floor: Floats
    mean: Floats
    low: Floats
    high: Floats
    floor: Floats
    missing_as_zero: Floats
    spent: Floats

    def cells(self, run: int) -> dict[str, float | None]:
        """Return the figures of one run as cells of a table, see `MEANS`."""
        return {name: known_number(getattr(self, name)[run]) for name in MEANS}

    def amounts(self, run: int) -> dict[str, float | None]:
        """Return the mean amounts per answer in one run, by `AMOUNTS`."""
        pairs = zip(AMOUNTS, self.spent[:, run], strict=True)
        return {name: known_number(value) for name, value in pairs}


def known_number(value: float) -> float | None:
    """Return a number; None for NaN."""
    return None if np.isnan(value) else float(value)


def means_of(blocks: Sequence[Block], level: float = LEVEL) -> Means:
    """Return means over the scores of some tasks, with their intervals."""
    scored = sum_over(block.counts for block in blocks)
    present = sum_over(block.counts > 0 for block in blocks)
    rows = sum_over(block.rows for block in blocks)
    expected = sum_over(block.rows > 0 for block in blocks)
    low, high = mean_interval([block.plain for block in blocks], level)
    normalized = normalized_mean(blocks, level)
    # In a text task, a guesser is below the floor half of the time, so this share is
    # meaningless.
    below = [np.where(block.is_text, np.nan, block.below) for block in blocks]
    floors = sum_over(np.where(b.counts > 0, b.floors, 0.0) for b in blocks)
    # A run without scores has 0 / 0.
    with np.errstate(invalid="ignore", divide="ignore"):
        totals = [np.nansum(block.item_means, axis=0) for block in blocks]
        as_zero = [np.nansum(block.sums / block.rows, axis=0) for block in blocks]
        amounts = np.sum([block.amounts for block in blocks], axis=0)
        reports = np.sum([block.reports for block in blocks], axis=0)
        return Means(
            scores=expected,
            expected=rows,
            scored=scored,
            normalized=normalized.middle,
            normalized_low=normalized.low,
            normalized_high=normalized.high,
            readable=mean_share([block.readable for block in blocks]),
            below_floor=mean_share(below),
            mean=np.sum(totals, axis=0) / present,
            low=low,
            high=high,
            floor=floors / present,
            missing_as_zero=np.sum(as_zero, axis=0) / expected,
            spent=amounts / reports,
        )


def sum_over(parts: Iterable[npt.NDArray[Any]]) -> Floats:
    """Return the sums by run of arrays of shape (scores, runs), one for each task."""
    sums: Floats = np.sum([part.sum(axis=0) for part in parts], axis=0)
    return sums


def mean_share(parts: Sequence[Floats]) -> Floats:
    """Return the mean over answers without a missing value."""
    joined = np.concatenate(parts)
    total = np.nansum(joined, axis=0)
    count = (~np.isnan(joined)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        shares: Floats = total / count
    return shares


class MeanWithInterval(NamedTuple):
    """A mean with the ends of its interval, by run."""

    middle: Floats
    low: Floats
    high: Floats


def normalized_mean(blocks: Sequence[Block], level: float) -> MeanWithInterval:
    """Return the mean of tasks' normalized scores with its interval.

    In text tasks (m - g) / (1 - g) is linear in the mean m, so its interval is the
    interval of the mean with the weights w / (1 - g), shifted and scaled.
    """
    # (m - g) / (1 - g) is m / room - g / room.
    weights = np.stack([block.weights() for block in blocks])
    room = 1 - np.stack([block.guessed for block in blocks])
    stretched = weights / room
    parts = []
    for block, weight in zip(blocks, stretched, strict=True):
        parts.append(replace(block.normalized, weight=weight))
    means = np.stack([np.where(part.weight > 0, part.mean, 0.0) for part in parts])
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=0)
        # A weight of 0 means that no answer has room: the mean is NaN, not a division
        # by zero.
        total = np.where(total > 0, total, np.nan)
        scale = stretched.sum(axis=0) / total
        shift = (stretched * (1 - room)).sum(axis=0) / total
        middle = (stretched * means).sum(axis=0) / total - shift
        low, high = mean_interval(parts, level)
        # A mean over only the known floors would look like a mean over all.
        unknown = np.any([block.unknown() for block in blocks], axis=0)
        return MeanWithInterval(
            np.where(unknown, np.nan, middle),
            np.where(unknown, np.nan, low * scale - shift),
            np.where(unknown, np.nan, high * scale - shift),
        )
