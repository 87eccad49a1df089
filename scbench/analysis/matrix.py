"""Scores of all runs as arrays, and the means, intervals and differences over any lines of them.

The unit that counts is one score of the release; samples of a run are averaged before. What is
drawn independently is an answer: the scores of one answer stand and fall together.

What stands above the floor is said in `scbench.grading.score_tables`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.analysis.results import ITEM
from scbench.analysis.whole import said_over, tasks_of
from scbench.base.intervals import (
    LEVEL,
    Floats,
    Part,
    condense,
    ends,
)
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks
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
        return Block(
            self.sums[places],
            self.counts[places],
            self.lifted[places],
            self.rows[places],
            self.floors[places],
            self.answers[places],
            self.names,
        )

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

    def over(self, bucket: str, task: str | None, *runs: int) -> str | None:
        """Return what a line is over, if it is not all that its name says.

        Args:
            bucket: of the line, or "overall".
            task: of the line; None if it adds tasks up.
            runs: whose tasks count; all if none is named.
        """
        if task:
            return None
        present = {
            name: self.buckets[name]
            for name, block in self.blocks.items()
            if not runs or block.rows[:, list(runs)].any(axis=0).all()
        }
        return said_over(bucket, present, self.release_tasks)

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
        {task: _block(parts[task], runs.height) for task in tasks},
        {task: parts[task]["bucket"][0] for task in tasks},
        tasks_of(results),
    )


def _block(part: pl.DataFrame, runs: int) -> Block:
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
    low, high = ends([_part(block, block.sums) for block in blocks], level)
    differ = any((block.lifted != block.sums).any() for block in blocks)
    lifted_ends = (
        ends([_part(block, block.lifted) for block in blocks], level) if differ else (low, high)
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


def _part(block: Block, sums: Floats) -> Part:
    weights = block.per_answer(block.counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        return condense(block.per_answer(sums) / weights, weights)
