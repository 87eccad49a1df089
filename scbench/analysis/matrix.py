"""Scores of all runs as arrays with the lines of tables, and differences over any of these.

Means are made in `scbench.grading.means`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from scbench.analysis.results import expected_scores, release_weights
from scbench.base.intervals import (
    LEVEL,
    Floats,
    condense_differences,
    ends_of_differences,
)
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks, paper_tasks
from scbench.grading.means import Block, Cells, Run
from scbench.grading.score_tables import OVERALL

# Tasks that are named; of more, the number is given.
_MAX_NAMES = 3


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

    def labels(
        self, bucket: str, task: str | None, *runs: int
    ) -> dict[str, str | None]:
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
    def _overall(
        present: Mapping[str, list[str]],
    ) -> Iterator[tuple[str, str | None, list[str]]]:
        spatial = [bucket for bucket in present if bucket != MANIFOLDS]
        if len(spatial) > 1:
            yield (
                OVERALL,
                None,
                [task for bucket in spatial for task in present[bucket]],
            )


def tasks_of(results: pl.DataFrame) -> dict[str, set[str]]:
    """Return the tasks of the release by bucket; the catalogue's if it is not installed."""
    present = dict(results.select("task", "bucket").unique().iter_rows())
    paper = {task.id for task in paper_tasks()}
    ours = [
        task.id
        for task in all_tasks().values()
        if task.id in paper or task.bucket == MANIFOLDS
    ]
    expected = expected_scores(results) or dict.fromkeys(ours)
    buckets = present | {
        task: all_tasks()[task].bucket for task in expected if task in all_tasks()
    }
    by_bucket: dict[str, set[str]] = {}
    for task, bucket in buckets.items():
        by_bucket.setdefault(bucket, set()).add(task)
    return by_bucket


def said_over(
    bucket: str,
    present: Mapping[str, str],
    release_tasks: Mapping[str, Collection[str]],
) -> str | None:
    """Return what a mean is over, if it is not all that its name says.

    Args:
        bucket: or "overall".
        present: bucket by task, of the tasks there are.
        release_tasks: of the release, by bucket.
    """
    included = (
        [name for name in BUCKETS if name in release_tasks]
        if bucket == OVERALL
        else [bucket]
    )
    expected = [
        task
        for task in all_tasks()
        for name in included
        if task in release_tasks.get(name, ())
    ]
    there = [task for task in expected if task in present]
    if len(there) == len(expected):
        return None
    buckets = [
        name
        for name in included
        if all(task in present for task in release_tasks[name])
    ]
    if bucket == OVERALL and {present[task] for task in there} == {*buckets}:
        return " and ".join(buckets)
    words = (
        ", ".join(there)
        if len(there) <= _MAX_NAMES
        else f"{len(there)} of {len(expected)} tasks"
    )
    return f"only {words}" if len(there) <= _MAX_NAMES else words


def score_matrix(results: pl.DataFrame) -> Matrix:
    """Return results as arrays.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
    """
    cells = Cells()
    cells.add(results)
    runs, blocks, buckets = cells.blocks(release_weights(results))
    return Matrix(runs, blocks, buckets, tasks_of(results))


@dataclass(frozen=True, slots=True)
class Paired:
    """Differences of two runs over the scores of a task that both have.

    Attributes:
        answers: numbers of the answers, see `Block.answers`.
        weights: how many scores each answer has.
        first: each answer's scores in the first run, added up.
        second: in the second.
        u: normalized scores of both runs, of shape (2, answers), see `Block.u`; NaN without room.
        weight: of the task in the normalized score.
        guessed: mean floor of a text task's answers with room; else 0.
        is_known: whether the floors of all answers are.
        is_plain: whether scores stand for normalized ones, see `without_floors`.
    """

    answers: npt.NDArray[np.int64]
    weights: Floats
    first: Floats
    second: Floats
    u: Floats
    weight: float
    guessed: float
    is_known: bool
    is_plain: bool = False

    def without_floors(self) -> "Paired":
        """Return scores in place of normalized ones: each weighs the same, as in the mean."""
        u = np.stack([self.first, self.second]) / self.weights
        weight = float(self.weights.sum())
        return replace(
            self, u=u, weight=weight, guessed=0.0, is_known=True, is_plain=True
        )

    @property
    def differences(self) -> Floats:
        """Second minus first, added up by answer."""
        return self.second - self.first

    @property
    def gains(self) -> Floats:
        """Normalized second minus first by answer; NaN without room."""
        gains: Floats = (self.u[1] - self.u[0]) / (1 - self.guessed)
        return gains

    @property
    def room(self) -> npt.NDArray[np.bool_]:
        """Which answers have room above their floors."""
        room: npt.NDArray[np.bool_] = ~np.isnan(self.u[0])
        return room


def paired(block: Block, first: int, second: int) -> Paired:
    """Return two runs' scores of a task, answer by answer.

    Samples are averaged first: with unequal numbers of them, items would weigh differently in the
    two runs, and the difference would show that.
    """
    pair = [first, second]
    common = block.take(np.flatnonzero((block.counts[:, pair] > 0).all(axis=1)))
    columns = np.column_stack([np.ones(len(common.sums)), common.item_means[:, pair]])
    added = common.per_answer(columns)
    there = np.flatnonzero(added[:, 0] > 0)
    u, floors = block.u[there][:, pair].T, block.answer_floors[there][:, pair]
    has_room = ~np.isnan(u).any(axis=0)
    by_run = (
        floors[has_room].mean(axis=0)
        if block.is_text and has_room.any()
        else np.zeros(2)
    )
    guessed = float(by_run.mean())
    weight = (
        block.weight
        if block.weight is not None
        else float(has_room.sum()) * (1 - guessed)
    )
    if by_run[0] != by_run[1]:  # trials with different numbers of answers
        u, guessed = (u - by_run[:, None]) / (1 - by_run[:, None]), 0.0
    weights, first_sums, second_sums = added[there].T
    return Paired(
        there,
        weights,
        first_sums,
        second_sums,
        np.where(has_room, u, np.nan),
        weight if has_room.any() else 0.0,
        guessed,
        not np.isnan(floors).any(),
    )


class Difference(NamedTuple):
    """The mean difference over a line, second minus first; None where nothing is known.

    Attributes:
        n: scores that both runs have.
        first_normalized: normalized score of the first run over these.
        second_normalized: of the second.
        difference: of the two; `low` and `high` are the ends of its interval.
        first_mean: mean of the first run's scores.
        second_mean: of the second's.
        of_means: their difference; `of_means_low` and `of_means_high` are the ends of its interval.
    """

    n: int
    first_normalized: float | None = None
    second_normalized: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    first_mean: float | None = None
    second_mean: float | None = None
    of_means: float | None = None
    of_means_low: float | None = None
    of_means_high: float | None = None


def difference_of(pairs: Sequence[Paired], level: float = LEVEL) -> Difference:
    """Return the mean difference over some tasks, with its interval."""
    pairs = [pair for pair in pairs if len(pair.weights)]
    n = sum(pair.weights.sum() for pair in pairs)
    if not n:
        return Difference(0)
    first, second = (
        sum(float(getattr(pair, name).sum()) for pair in pairs) / n
        for name in ("first", "second")
    )
    parts = [
        condense_differences(
            (pair.differences / pair.weights)[:, None], pair.weights[:, None]
        )
        for pair in pairs
    ]
    low, high = (float(end[0]) for end in ends_of_differences(parts, level))
    normalized = _normalized_difference(pairs, level)
    return Difference(round(n), *normalized, first, second, second - first, low, high)


def _normalized_difference(
    pairs: Sequence[Paired], level: float
) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    total = sum(pair.weight for pair in pairs)
    if not total or not all(pair.is_known for pair in pairs):
        return (None,) * 5
    pairs = [pair for pair in pairs if pair.weight]
    first, second = (
        sum(
            pair.weight
            * (float(pair.u[i][pair.room].mean()) - pair.guessed)
            / (1 - pair.guessed)
            for pair in pairs
        )
        / total
        for i in (0, 1)
    )
    # Differences of text tasks are stretched by 1 / (1 - g), see `scbench.grading.means`.
    parts, scale = [], 0.0
    for pair in pairs:
        stretched = pair.weight / (1 - pair.guessed)
        scale += stretched / total
        part = condense_differences((pair.u[1] - pair.u[0])[pair.room][:, None])
        parts.append(replace(part, weight=np.array([stretched])))
    low, high = (scale * float(end[0]) for end in ends_of_differences(parts, level))
    return first, second, second - first, low, high
