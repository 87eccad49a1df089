"""Scores of all runs as arrays, and the means, intervals and differences over any lines of them.

The unit that counts is one score of the release; samples of a run are averaged before. What is
drawn independently is an answer: the scores of one answer stand and fall together.

What stands above the floor is said in `scbench.grading.score_tables`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.analysis.results import ITEM, expected_scores
from scbench.base.intervals import (
    LEVEL,
    Floats,
    Part,
    condense,
    condense_differences,
    ends,
    ends_of_differences,
    pair_of,
)
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks, paper_tasks
from scbench.grading.score_tables import ABOVE, OVERALL, RUN, above_floor, lifted, with_floors

Run = tuple[str, str | None, int | None]
"""Model, setting and budget."""


@dataclass(frozen=True, slots=True)
class Block:
    """Scores of one task.

    Attributes:
        sums: each score summed over the samples of a run that have one; shape (scores, runs).
        counts: how many samples that are.
        lifted: sums in which rows of text tasks without an answer stand at their floor.
        rows: how many samples were expected.
        floors: of each score; NaN where it is not known.
        answers: number of the answer that each score is of, from 0.
        names: instance id of each answer.
    """

    sums: Floats
    counts: Floats
    lifted: Floats
    rows: Floats
    floors: Floats
    answers: npt.NDArray[np.int64]
    names: Sequence[str]

    def take(self, places: npt.NDArray[np.int64]) -> "Block":
        """Return some of the scores."""
        per_score = ("sums", "counts", "lifted", "rows", "floors", "answers")
        return replace(self, **{name: getattr(self, name)[places] for name in per_score})

    def of(self, ids: Collection[str]) -> "Block":
        """Return the scores of some instances."""
        in_ids = np.array([name in ids for name in self.names])
        return self.take(np.flatnonzero(in_ids[self.answers]))

    def per_answer(self, values: Floats) -> Floats:
        """Return values added up by answer."""
        added = np.zeros((int(self.answers.max(initial=-1)) + 1, *values.shape[1:]))
        np.add.at(added, self.answers, values)
        return added


@dataclass(frozen=True, slots=True)
class Matrix:
    """Scores of all runs, task by task.

    Attributes:
        runs: in alphabetical order.
        blocks: by task, in the catalogue's order.
        buckets: by task.
        release_tasks: by bucket.
    """

    runs: tuple[Run, ...]
    blocks: Mapping[str, Block]
    buckets: Mapping[str, str]
    release_tasks: Mapping[str, Collection[str]]

    def labels(self, bucket: str, task: str | None, *runs: int) -> dict[str, str | None]:
        """Return bucket, task, and over: what a line is over, if not all that its name says.

        Args:
            bucket: of the line, or "overall".
            task: of the line; None if it adds tasks up.
            runs: whose tasks count; all if none is named.
        """
        present = {
            name: self.buckets[name]
            for name, block in self.blocks.items()
            if not runs or block.rows[:, list(runs)].any(axis=0).all()
        }
        over = None if task else said_over(bucket, present, self.release_tasks)
        return {"bucket": bucket, "task": task, "over": over}

    def lines(self, by: str) -> Iterator[tuple[str, str | None, list[str]]]:
        """Yield bucket, task and the tasks that are added up, as the paper's tables run.

        The text tasks come last, and are not among those that are added up overall; over a single
        bucket there is no overall line.
        """
        further = {*self.buckets.values()} - {MANIFOLDS}
        present = {
            bucket: [task for task in self.blocks if self.buckets[task] == bucket]
            for bucket in dict.fromkeys((*BUCKETS, *sorted(further), MANIFOLDS))
        }
        present = {bucket: tasks for bucket, tasks in present.items() if tasks}
        for bucket, tasks in present.items():
            if bucket == MANIFOLDS:
                yield from self._overall(present)
            if by == "task":
                yield from ((bucket, task, [task]) for task in tasks)
            yield bucket, None, tasks
        if MANIFOLDS not in present:
            yield from self._overall(present)

    @staticmethod
    def _overall(present: Mapping[str, list[str]]) -> Iterator[tuple[str, str | None, list[str]]]:
        spatial = [bucket for bucket in present if bucket != MANIFOLDS]
        if len(spatial) > 1:
            yield OVERALL, None, [task for bucket in spatial for task in present[bucket]]


_MAX_NAMES = 3
"""Tasks that are named; of more, the number is given."""


def tasks_of(results: pl.DataFrame) -> dict[str, set[str]]:
    """Return the tasks of the release by bucket; the catalogue's if it is not installed."""
    present = dict(results.select("task", "bucket").unique().iter_rows())
    paper = {task.id for task in paper_tasks()}
    ours = [
        task.id for task in all_tasks().values() if task.id in paper or task.bucket == MANIFOLDS
    ]
    expected = expected_scores(results) or dict.fromkeys(ours)
    buckets = present | {task: all_tasks()[task].bucket for task in expected if task in all_tasks()}
    by_bucket: dict[str, set[str]] = {}
    for task, bucket in buckets.items():
        by_bucket.setdefault(bucket, set()).add(task)
    return by_bucket


def said_over(
    bucket: str, present: Mapping[str, str], release_tasks: Mapping[str, Collection[str]]
) -> str | None:
    """Return what a mean is over, if it is not all that its name says.

    Args:
        bucket: or "overall".
        present: bucket by task, of the tasks there are.
        release_tasks: of the release, by bucket.
    """
    included = (
        [name for name in BUCKETS if name in release_tasks] if bucket == OVERALL else [bucket]
    )
    expected = [
        task for task in all_tasks() for name in included if task in release_tasks.get(name, ())
    ]
    there = [task for task in expected if task in present]
    if len(there) == len(expected):
        return None
    buckets = [name for name in included if all(task in present for task in release_tasks[name])]
    if bucket == OVERALL and {present[task] for task in there} == {*buckets}:
        return " and ".join(buckets)
    words = (
        ", ".join(there) if len(there) <= _MAX_NAMES else f"{len(there)} of {len(expected)} tasks"
    )
    return f"only {words}" if len(there) <= _MAX_NAMES else words


def score_matrix(results: pl.DataFrame) -> Matrix:
    """Return results as arrays.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
    """
    cells = (
        with_floors(results)
        .group_by(*RUN, "bucket", "task", *ITEM)
        .agg(
            sum=pl.col("score").sort().sum(),
            count=pl.col("score").count(),
            lifted=lifted().sort().sum(),
            rows=pl.len(),
            floor=pl.col("floor").first(),
        )
    )
    runs = cells.select(RUN).unique().sort(RUN, nulls_last=False)
    cells = cells.join(
        runs.with_row_index("run"), on=RUN, nulls_equal=True, maintain_order="left"
    ).sort("task", *ITEM)
    parts = {str(task): part for (task,), part in cells.partition_by("task", as_dict=True).items()}
    tasks = [task for task in all_tasks() if task in parts]
    return Matrix(
        tuple(runs.iter_rows()),
        {task: _task_block(parts[task], runs.height) for task in tasks},
        {task: parts[task]["bucket"][0] for task in tasks},
        tasks_of(results),
    )


def _task_block(part: pl.DataFrame, runs: int) -> Block:
    item = part.select(pl.struct(ITEM).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    answer = part.select(pl.col("id").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    run = part["run"].to_numpy()
    n = int(item.max()) + 1
    arrays = []
    for column in ("sum", "count", "lifted", "rows"):
        array = np.zeros((n, runs))
        array[item, run] = part[column].to_numpy()
        arrays.append(array)
    floors, answers = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
    floors[item] = part["floor"].cast(pl.Float64).to_numpy()
    answers[item] = answer
    names = part["id"].unique().sort().to_list()
    sums, counts, lifted_sums, rows = arrays
    return Block(sums, counts, lifted_sums, rows, floors, answers, names)


@dataclass(frozen=True, slots=True)
class Means:
    """What a line comes to; arrays with an entry per run, NaN where nothing is known.

    Attributes:
        scores: scores of one sample that a run has rows for.
        expected: rows of all samples.
        scored: rows with a score.
        mean: of these; `low` and `high` are the ends of its interval.
        missing_as_zero: the mean that counts rows without a score as zeros.
        floor: mean of the floors of the rows with a score.
        above: the mean above the floor; `above_low` and `above_high` are the ends of its interval.
    """

    scores: Floats
    expected: Floats
    scored: Floats
    mean: Floats
    low: Floats
    high: Floats
    missing_as_zero: Floats
    floor: Floats
    above: Floats
    above_low: Floats
    above_high: Floats

    def cells(self, run: int) -> dict[str, Any]:
        """Return the figures of one run as cells of a table, see `MEANS`."""
        figures = {name: getattr(self, name)[run] for name in MEANS}
        return {name: None if np.isnan(value) else float(value) for name, value in figures.items()}


MEANS = ("mean", "low", "high", *ABOVE)
"""Columns that a table has of a line's mean."""


def means_of(blocks: Sequence[Block], level: float = LEVEL) -> Means:
    """Return means over the scores of some tasks, with their intervals."""
    sums, counts, rows = (
        np.sum([getattr(block, name).sum(axis=0) for block in blocks], axis=0)
        for name in ("sums", "counts", "rows")
    )
    lifted_sums = np.sum([block.lifted.sum(axis=0) for block in blocks], axis=0)
    floors = np.sum([_floor_sum(block) for block in blocks], axis=0)
    low, high = ends([_interval_part(block, block.sums) for block in blocks], level)
    differ = any((block.lifted != block.sums).any() for block in blocks)
    lifted_ends = (
        ends([_interval_part(block, block.lifted) for block in blocks], level)
        if differ
        else (low, high)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        floor = floors / counts
        above = (above_floor(end, floor) for end in (lifted_sums / counts, *lifted_ends))
        return Means(
            np.sum([(block.rows > 0).sum(axis=0) for block in blocks], axis=0),
            rows,
            counts,
            sums / counts,
            low,
            high,
            sums / rows,
            floor,
            *above,
        )


def _floor_sum(block: Block) -> Floats:
    summed: Floats = np.where(block.counts > 0, block.floors[:, None] * block.counts, 0.0).sum(0)
    return summed


def _interval_part(block: Block, sums: Floats) -> Part:
    weights = block.per_answer(block.counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        return condense(block.per_answer(sums) / weights, weights)


@dataclass(frozen=True, slots=True)
class Paired:
    """Differences of two runs over the scores of a task that both have.

    Attributes:
        answers: numbers of the answers, see `Block.answers`.
        weights: how many scores each answer has.
        first: each answer's scores in the first run, added up.
        second: in the second.
        lifted: their difference, second minus first, without what luck rows of text tasks lack.
        floor: sum of the floors.
    """

    answers: npt.NDArray[np.int64]
    weights: Floats
    first: Floats
    second: Floats
    lifted: Floats
    floor: float

    @property
    def differences(self) -> Floats:
        """Second minus first, added up by answer."""
        return self.second - self.first


def paired(block: Block, first: int, second: int) -> Paired:
    """Return two runs' scores of a task, answer by answer.

    Samples are averaged first: with unequal numbers of them, items would weigh differently in the
    two runs, and the difference would show that.
    """
    both = (block.counts[:, first] > 0) & (block.counts[:, second] > 0)
    common = block.take(np.flatnonzero(both))
    pair = [first, second]
    scores, raised = (
        sums[:, pair] / common.counts[:, pair] for sums in (common.sums, common.lifted)
    )
    change = raised[:, 1] - raised[:, 0]
    columns = np.column_stack([np.ones(len(scores)), scores, change])
    added = common.per_answer(columns)
    there = added[:, 0] > 0
    weights, first_sums, second_sums, raised_change = added[there].T
    return Paired(
        np.flatnonzero(there),
        weights,
        first_sums,
        second_sums,
        raised_change,
        float(common.floors.sum()),
    )


class Difference(NamedTuple):
    """The mean difference over a line, second minus first; None where nothing is known.

    Attributes:
        n: scores that both runs have.
        first_mean: mean of the first run over these.
        second_mean: of the second.
        difference: of the means; `low` and `high` are the ends of its interval.
        above: the difference above the floor, with its interval.
    """

    n: int
    first_mean: float | None
    second_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    above: float | None
    above_low: float | None
    above_high: float | None


def difference_of(pairs: Sequence[Paired], level: float = LEVEL) -> Difference:
    """Return the mean difference over some tasks, with its interval."""
    pairs = [pair for pair in pairs if len(pair.weights)]
    n = sum(pair.weights.sum() for pair in pairs)
    if not n:
        return Difference(0, *(None,) * 8)
    first, second, raised = (
        sum(float(getattr(pair, name).sum()) for pair in pairs) / n
        for name in ("first", "second", "lifted")
    )
    between = _difference_ends(pairs, [pair.differences for pair in pairs], level)
    floor = np.float64(sum(pair.floor for pair in pairs) / n)
    room = np.nan if np.isnan(floor) or floor >= 1 else 1 - floor
    of_raised = _difference_ends(pairs, [pair.lifted for pair in pairs], level)
    above = [None if np.isnan(room) else end / room for end in (raised, *of_raised)]
    return Difference(round(n), first, second, second - first, *between, *above)


def _difference_ends(
    pairs: Sequence[Paired], sums: Sequence[Floats], level: float
) -> tuple[float, float]:
    parts = [
        condense_differences((change / pair.weights)[:, None], pair.weights[:, None])
        for pair, change in zip(pairs, sums, strict=True)
    ]
    low, high = ends_of_differences(parts, level)
    first, second = pair_of(low[0], high[0])
    return first or 0.0, second or 0.0
