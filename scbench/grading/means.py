"""Scores of all runs as arrays, and the means over any lines of them: every mean is made here.

An **item** is one score of the release. Its samples are averaged first, so that each item weighs
the same however often it was tried. What is drawn independently is an **answer**: scores of one
answer stand and fall together.

**Normalized.** Of an answer, u = (score - floor) / (1 - floor), held between 0 and 1; its score is
the mean of its scores, as its floor is that of the whole answer. An answer whose floor is 1 has no
room and drops out. A task's figure is the mean of u, that of several tasks their mean with the
weights of the release.

In a text task the floor is what guessing earns on average. There u is not held at 0, or a guesser
would stand above it; who gave no answer did not guess and has u = 0.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.base.intervals import LEVEL, Floats, Part, condense, ends
from scbench.base.model import Status
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.release.manifest import weight_of

# Columns that tell runs apart; samples of one run are pooled.
RUN = ("model", "setting", "budget")
NORMALIZED = ("normalized", "normalized_low", "normalized_high")
# Columns that a table has of a line's scores; the normalized one leads.
MEANS = (*NORMALIZED, "readable", "below_floor", "mean", "low", "high", "floor")
AMOUNTS = ("output_tokens", "cost")

# Model, setting and budget.
Run = tuple[str, str | None, int | None]
Truths = npt.NDArray[np.bool_]

_GROUP = (*RUN, "bucket", "task")
# Parts of a score that are counted: whole numbers add up to the same in any order.
_UNIT = 2.0**40
_DOLLAR = 1e9
_BELOW = 1e-9


_SUMS = (
    *("points", "scored", "rows", "u", "tries", "readable", "below"),
    *(f"{name}{end}" for name in AMOUNTS for end in ("", "_reported")),
)


def usage(name: str) -> pl.Expr:
    """Return an amount that the provider reports; null where it reports none that can be."""
    amount = (
        pl.col("usage").str.json_path_match(f"$.{name}").cast(pl.Float64, strict=False)
    )
    return pl.when(amount.is_finite() & (amount >= 0)).then(amount).alias(name)


def with_floors(results: pl.DataFrame) -> pl.DataFrame:
    """Return results with a column ``floor``: older ones have none, and no floor is known."""
    if "floor" in results.columns:
        return results
    return results.with_columns(floor=pl.lit(None, pl.Float64))


def lifted() -> pl.Expr:
    """Return scores, with rows of text tasks that have no answer at their floor."""
    unlucky = (pl.col("bucket") == MANIFOLDS) & (
        pl.col("status") != Status.ANSWERED.value
    )
    unlucky &= pl.col("score").is_not_null()
    return pl.when(unlucky).then(pl.col("floor").fill_null(0.0)).otherwise("score")


class Cells:
    """What means need of results, in the space of items and runs, however many rows there are.

    Rows may be added in portions; nothing depends on those or on the order of rows.
    """

    def __init__(self) -> None:
        self._items: list[pl.DataFrame] = []
        self._answers: list[pl.DataFrame] = []
        self._parts: list[pl.DataFrame] = []

    def add(self, results: pl.DataFrame) -> None:
        """Take rows of results."""
        rows = with_floors(results)
        items = rows.group_by(*_GROUP, "id", "subtask").agg(
            points=_counted(pl.col("score")).sum(),
            scored=pl.col("score").count().cast(pl.Int64),
            rows=pl.len().cast(pl.Int64),
            floor=pl.col("floor").max(),
        )
        self._items = [_summed([*self._items, items], "id", "subtask")]
        facts = _facts_of(rows)
        # The scores of one answer may come in two portions.
        several = [task.id for task in all_tasks().values() if task.scores > 1]
        in_parts = pl.col("task").is_in(several)
        parts = facts.filter(in_parts)
        if parts.height:
            self._parts = [_joined_answers(pl.concat([*self._parts, parts]))]
        self._answers = [
            _summed([*self._answers, _answer_sums(facts.filter(~in_parts))], "id")
        ]

    def blocks(
        self, weights: Mapping[str, float] | None = None
    ) -> tuple[tuple[Run, ...], dict[str, "Block"], dict[str, str]]:
        """Return the runs in alphabetical order, the scores of each task, and its bucket.

        Args:
            weights: of tasks, in the release; where they are not named they follow from the floors.
        """
        items = pl.concat(self._items)
        answers = pl.concat([*self._answers, *map(_answer_sums, self._parts)])
        runs = items.select(RUN).unique().sort(RUN, nulls_last=False)
        numbered = runs.with_row_index("run")
        frames = []
        for cells, key in ((items, ("id", "subtask")), (answers, ("id",))):
            frame = cells.join(
                numbered, on=RUN, nulls_equal=True, maintain_order="left"
            )
            parts = frame.sort("task", *key).partition_by("task", as_dict=True)
            frames.append({str(task): part for (task,), part in parts.items()})
        blocks = {
            task: _block_of(
                task, frames[0][task], frames[1][task], runs.height, weights or {}
            )
            for task in all_tasks()
            if task in frames[0]
        }
        buckets = {task: str(frames[0][task]["bucket"][0]) for task in blocks}
        return tuple(runs.iter_rows()), blocks, buckets


def _counted(score: pl.Expr) -> pl.Expr:
    return (score * _UNIT).round().cast(pl.Int64)


def _summed(frames: Sequence[pl.DataFrame], *key: str) -> pl.DataFrame:
    """Return frames added up by run, task and key."""
    together = pl.concat(frames)
    if len(frames) == 1:
        return together
    sums = [name for name in together.columns if name in _SUMS]
    added = together.group_by(*_GROUP, *key).agg(
        pl.col(sums).sum(), pl.col("floor").max()
    )
    return added.select(together.columns)


def _facts_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what counts of each row."""
    with_usage = "usage" in rows.columns and not rows["usage"].is_null().all()
    replied = pl.col("score").is_not_null()
    return rows.select(
        *_GROUP,
        "id",
        "sample",
        "floor",
        points=_counted(lifted()).fill_null(0),
        scored=replied.cast(pl.Int64),
        readable=(replied & (pl.col("status") == Status.ANSWERED.value)).cast(pl.Int64),
        **{
            name: pl.when(replied).then(usage(name))
            if with_usage
            else pl.lit(None, pl.Float64)
            for name in AMOUNTS
        },
    )


def normalized_answers(results: pl.DataFrame) -> pl.DataFrame:
    """Return each answer's normalized score: columns of the run, task, id, sample and u.

    Answers without room, or without a score, are left out.
    """
    answers = _joined_answers(_facts_of(with_floors(results)))
    guessed = pl.when(pl.col("bucket") == MANIFOLDS).then("floor").otherwise(0.0)
    u = ((_u() - guessed) / (1 - guessed)).alias("u")
    has_room = (pl.col("scored") > 0) & (pl.col("floor") < 1)
    return answers.filter(has_room).select(*_GROUP, "id", "sample", u)


def _u() -> pl.Expr:
    """Return the normalized score of an answer; of a text task its score, see `Block.u`."""
    score, floor = pl.col("points") / _UNIT / pl.col("scored"), pl.col("floor")
    above = ((score - floor) / (1 - floor)).clip(0, 1)
    return pl.when(pl.col("bucket") == MANIFOLDS).then(score).otherwise(above)


def _joined_answers(parts: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each answer of tasks that give several scores."""
    sums, facts = (
        pl.col("points", "scored", "readable").sum(),
        pl.col("floor", *AMOUNTS).max(),
    )
    return (
        parts.group_by(*_GROUP, "id", "sample").agg(sums, facts).select(parts.columns)
    )


def _answer_sums(facts: pl.DataFrame) -> pl.DataFrame:
    """Return answers added up over samples, by instance."""
    score, floor = pl.col("points") / _UNIT / pl.col("scored"), pl.col("floor")
    is_text, is_scored = pl.col("bucket") == MANIFOLDS, pl.col("scored") > 0
    below = ~is_text & is_scored & (floor < 1) & (score < floor - _BELOW)
    has_room = is_scored & (floor < 1)
    counted = {
        "output_tokens": pl.col("output_tokens").round().cast(pl.Int64, strict=False),
        "cost": (pl.col("cost") * _DOLLAR).round().cast(pl.Int64, strict=False),
    }
    return facts.group_by(*_GROUP, "id").agg(
        u=_counted(pl.when(has_room).then(_u())).sum(),
        tries=has_room.fill_null(value=False).sum().cast(pl.Int64),
        scored=is_scored.sum().cast(pl.Int64),
        readable=(pl.col("readable") > 0).sum().cast(pl.Int64),
        below=below.fill_null(value=False).sum().cast(pl.Int64),
        floor=floor.max(),
        **{name: amount.sum() for name, amount in counted.items()},
        **{
            f"{name}_reported": amount.count().cast(pl.Int64)
            for name, amount in counted.items()
        },
    )


@dataclass(frozen=True)
class Block:
    """Scores of one task; arrays by score or answer, and run.

    Attributes:
        sums: each score summed over the samples of a run that have one; shape (scores, runs).
        counts: how many samples that are.
        rows: how many samples were expected.
        floors: of each score and run (trials in a loop have their own); NaN where it is not known.
        answers: number of the answer that each score is of, from 0.
        names: instance id of each answer.
        u: normalized score of each answer, over samples; NaN without a score, or without room. In
            a text task the score as it is, with who gave no answer at the floor.
        readable: share of an answer's samples that could be read; NaN where none has a score.
        below: share of those with room that score less than the floor.
        answer_floors: of each answer, by run.
        amounts: what was used, summed, and by how many answers it is reported; shape (4, runs).
        is_text: whether the floor is what guessing earns on average.
        weight: of the task in the release; None if each answer weighs by its room.
    """

    sums: Floats
    counts: Floats
    rows: Floats
    floors: Floats
    answers: npt.NDArray[np.int64]
    names: Sequence[str]
    u: Floats
    readable: Floats
    below: Floats
    answer_floors: Floats
    amounts: Floats
    is_text: bool
    weight: float | None

    def take(self, places: npt.NDArray[np.int64]) -> "Block":
        """Return some of the scores, with all answers."""
        per_score = ("sums", "counts", "rows", "floors", "answers")
        return replace(
            self, **{name: getattr(self, name)[places] for name in per_score}
        )

    def of(self, ids: Collection[str]) -> "Block":
        """Return the scores of some instances; each then weighs by its room."""
        inside = np.array([name in ids for name in self.names])
        scores = self.take(np.flatnonzero(inside[self.answers]))
        u, readable, below = (
            np.where(inside[:, None], part, np.nan)
            for part in (self.u, self.readable, self.below)
        )
        return replace(scores, u=u, readable=readable, below=below, weight=None)

    def per_answer(self, values: Floats) -> Floats:
        """Return values added up by answer."""
        if len(self.answers) == len(self.names) == len(np.unique(self.answers)):
            ordered = np.empty_like(values)
            ordered[self.answers] = values
            return ordered
        added = np.zeros((len(self.names), *values.shape[1:]))
        np.add.at(added, self.answers, values)
        return added

    @cached_property
    def item_means(self) -> Floats:
        """The mean over samples of each score, of shape (scores, runs); NaN where there is none."""
        with np.errstate(invalid="ignore"):
            means: Floats = self.sums / self.counts
        return means

    @cached_property
    def plain(self) -> Part:
        """The scores as they are, condensed; an answer weighs by how many scores it has."""
        present = self.counts > 0
        weights = self.per_answer(present.astype(float))
        totals = self.per_answer(np.where(present, self.item_means, 0.0))
        with np.errstate(invalid="ignore"):
            return condense(totals / weights, weights)

    @cached_property
    def guessed(self) -> Floats:
        """In text tasks, the mean floor of the answers that count, by run; else 0."""
        if not self.is_text:
            return np.zeros(self.u.shape[1])
        present = ~np.isnan(self.u)
        floors = np.where(present, self.answer_floors, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            guessed: Floats = np.nan_to_num(floors / present.sum(axis=0))
        return guessed

    @cached_property
    def normalized(self) -> Part:
        """The normalized scores, condensed, each answer once."""
        return condense(np.nan_to_num(self.u), (~np.isnan(self.u)).astype(float))

    def weights(self) -> Floats:
        """Return the task's weight by run; 0 for runs without an answer that counts."""
        n = self.normalized.weight
        each = n * (1 - self.guessed) if self.weight is None else self.weight
        return np.where(n > 0, each, 0.0)

    def unknown(self) -> Truths:
        """Return for each run whether the floor of a scored answer is not known."""
        scored = ~np.isnan(self.readable)
        return np.asarray((scored & np.isnan(self.answer_floors)).any(axis=0))


def _block_of(
    task: str,
    items: pl.DataFrame,
    answers: pl.DataFrame,
    runs: int,
    weights: Mapping[str, float],
) -> Block:
    places = items.select(
        item=pl.struct("id", "subtask").rank("dense").cast(pl.Int64) - 1,
        answer=pl.col("id").rank("dense").cast(pl.Int64) - 1,
    )
    item = places["item"].to_numpy()
    n = int(item.max()) + 1
    floors, numbers = np.full((n, runs), np.nan), np.zeros(n, dtype=np.int64)
    floors[item, items["run"].to_numpy()] = items["floor"].cast(pl.Float64).to_numpy()
    numbers[item] = places["answer"].to_numpy()
    sums, counts, rows = _by_run(items, item, n, runs, ("points", "scored", "rows"))
    answer = (
        answers.select(pl.col("id").rank("dense").cast(pl.Int64) - 1)
        .to_series()
        .to_numpy()
    )
    names = answers["id"].unique().sort().to_list()
    u, tries, scored, readable, below = _by_run(
        answers, answer, len(names), runs, ("u", "tries", "scored", "readable", "below")
    )
    answer_floors = np.full((len(names), runs), np.nan)
    answer_floors[answer, answers["run"].to_numpy()] = (
        answers["floor"].cast(pl.Float64).to_numpy()
    )
    spent = [f"{name}{end}" for name in AMOUNTS for end in ("", "_reported")]
    run = answers["run"].to_numpy()
    amounts: Floats = np.stack(
        [
            np.bincount(run, answers[name].to_numpy().astype(float), runs)
            for name in spent
        ]
    )
    amounts[2] /= _DOLLAR
    with np.errstate(invalid="ignore"):
        return Block(
            sums / _UNIT,
            counts,
            rows,
            floors,
            numbers,
            names,
            u / _UNIT / tries,
            readable / scored,
            below / tries,
            answer_floors,
            amounts,
            items["bucket"][0] == MANIFOLDS,
            weights.get(
                task, weight_of(np.fmin.reduce(answer_floors, axis=1).tolist())
            ),
        )


def _by_run(
    frame: pl.DataFrame,
    places: npt.NDArray[np.int64],
    n: int,
    runs: int,
    columns: Sequence[str],
) -> list[Floats]:
    """Return columns as arrays of shape (n, runs)."""
    run = frame["run"].to_numpy()
    arrays = []
    for column in columns:
        array = np.zeros((n, runs))
        array[places, run] = frame[column].to_numpy()
        arrays.append(array)
    return arrays


@dataclass(frozen=True, slots=True)
class Means:
    """What a line comes to; arrays with an entry per run, NaN where nothing is known.

    Attributes:
        scores: scores of one sample that a run has rows for.
        expected: rows of all samples.
        scored: rows with a score.
        normalized: the normalized score; `normalized_low` and `normalized_high` are the ends of
            its interval. NaN where no answer has room, or a floor is not known.
        readable: share of the answers with a score that could be read.
        below_floor: share of the answers with room that score less than their floor.
        mean: over the scores; `low` and `high` are the ends of its interval.
        floor: mean of the floors of these.
        missing_as_zero: the mean that counts rows without a score as zeros.
        spent: mean amounts of an answer, and how many report them, as `Block.amounts`.
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
        figures = {name: getattr(self, name)[run] for name in MEANS}
        return _known(figures)

    def amounts(self, run: int) -> dict[str, float | None]:
        """Return what an answer of one run used on average, by `AMOUNTS`."""
        return _known(dict(zip(AMOUNTS, self.spent[::2, run], strict=True)))


def _known(figures: Mapping[str, Any]) -> dict[str, float | None]:
    return {
        name: None if np.isnan(value) else float(value)
        for name, value in figures.items()
    }


def means_of(blocks: Sequence[Block], level: float = LEVEL) -> Means:
    """Return means over the scores of some tasks, with their intervals."""
    rows, counts, present, expected = (
        np.sum([part.sum(axis=0) for part in parts], axis=0)
        for parts in zip(
            *((b.rows, b.counts, b.counts > 0, b.rows > 0) for b in blocks), strict=True
        )
    )
    low, high = ends([block.plain for block in blocks], level)
    normalized = _normalized(blocks, level)
    amounts = np.sum([block.amounts for block in blocks], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.sum(
            [np.nansum(block.item_means, axis=0) for block in blocks], axis=0
        )
        whole = np.sum(
            [np.nansum(block.sums / block.rows, axis=0) for block in blocks], axis=0
        )
        floors = np.sum(
            [np.where(b.counts > 0, b.floors, 0.0).sum(axis=0) for b in blocks], axis=0
        )
        amounts[::2] /= amounts[1::2]
        return Means(
            expected,
            rows,
            counts,
            *normalized,
            _mean_share([block.readable for block in blocks]),
            _mean_share(
                [np.where(block.is_text, np.nan, block.below) for block in blocks]
            ),
            total / present,
            low,
            high,
            floors / present,
            whole / expected,
            amounts,
        )


def _mean_share(parts: Sequence[Floats]) -> Floats:
    """Return the mean over answers, leaving out those of which nothing is known."""
    together = np.concatenate(parts)
    with np.errstate(invalid="ignore"):
        shares: Floats = np.nansum(together, axis=0) / (~np.isnan(together)).sum(axis=0)
    return shares


def _normalized(blocks: Sequence[Block], level: float) -> tuple[Floats, Floats, Floats]:
    """Return the mean of tasks' normalized scores with its interval.

    In text tasks (m - g) / (1 - g) is linear in the mean m: the interval is that of the mean with
    the weights w / (1 - g), moved and stretched.
    """
    weights = np.stack([block.weights() for block in blocks])
    room = 1 - np.stack([block.guessed for block in blocks])
    stretched = weights / room
    parts = [
        replace(block.normalized, weight=weight)
        for block, weight in zip(blocks, stretched, strict=True)
    ]
    means = np.stack([np.where(part.weight > 0, part.mean, 0.0) for part in parts])
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=0)
        total = np.where(total > 0, total, np.nan)
        scale, shift = (
            stretched.sum(axis=0) / total,
            (stretched * (1 - room)).sum(axis=0) / total,
        )
        middle = (stretched * means).sum(axis=0) / total - shift
        low, high = (end * scale - shift for end in ends(parts, level))
        unknown = np.any([block.unknown() for block in blocks], axis=0)
        middle, low, high = (np.where(unknown, np.nan, x) for x in (middle, low, high))
    return middle, low, high
