"""Scores of all runs as arrays, with the lines of tables.

`scbench.grading.means` computes means, and `scbench.analysis.differences` computes differences.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import polars as pl

from scbench.analysis.results import expected_scores, release_weights
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks, paper_tasks
from scbench.grading.means import Block, Cells, Run
from scbench.grading.score_tables import OVERALL

# Maximum number of named tasks; above it, only their number is shown.
_MAX_NAMES = 3


class Line(NamedTuple):
    """A line of a table.

    Attributes:
        bucket: name of the bucket, or "overall".
        task: None for a sum over tasks.
        tasks: tasks that the line covers.
    """

    bucket: str
    task: str | None
    tasks: list[str]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Scores of all runs, task by task.

    Attributes:
        runs: runs in alphabetical order.
        blocks: blocks by task, in the catalogue's order.
        buckets: buckets by task.
        release_tasks: tasks of the release, by bucket.
    """

    runs: tuple[Run, ...]
    blocks: Mapping[str, Block]
    buckets: Mapping[str, str]
    release_tasks: Mapping[str, Collection[str]]

    def labels(
        self, bucket: str, task: str | None, *runs: int
    ) -> dict[str, str | None]:
        """Return bucket, task, and over: the tasks of a line if its name suggests more tasks.

        Args:
            bucket: bucket of the line, or "overall".
            task: task of the line; None for a sum over tasks.
            runs: runs whose tasks count; all if none is named.
        """
        present = {}
        for name, block in self.blocks.items():
            # A task counts if every one of these runs has a row for it.
            if not runs or block.rows[:, list(runs)].any(axis=0).all():
                present[name] = self.buckets[name]
        over = None if task else covered_tasks(bucket, present, self.release_tasks)
        return {"bucket": bucket, "task": task, "over": over}

    def lines(self, by: str) -> Iterator[Line]:
        """Yield the lines of a table, in the order of the paper's tables.

        The text tasks come last and are not included in the overall line. With a single
        bucket there is no overall line.

        Args:
            by: "bucket" for lines of buckets only; "task" to add a line for each task.
        """
        present = self._tasks_by_bucket()
        for bucket, tasks in present.items():
            # The overall line follows the spatial buckets.
            if bucket == MANIFOLDS:
                yield from _overall_line(present)
            if by == "task":
                for task in tasks:
                    yield Line(bucket, task, [task])
            yield Line(bucket, None, tasks)
        if MANIFOLDS not in present:
            yield from _overall_line(present)

    def _tasks_by_bucket(self) -> dict[str, list[str]]:
        """Return the tasks of each bucket that has any, with the text tasks last."""
        # Tasks of plugins may have other buckets.
        further = {*self.buckets.values()} - {MANIFOLDS}
        present = {}
        for bucket in dict.fromkeys((*BUCKETS, *sorted(further), MANIFOLDS)):
            tasks = [task for task in self.blocks if self.buckets[task] == bucket]
            if tasks:
                present[bucket] = tasks
        return present


def _overall_line(present: Mapping[str, list[str]]) -> Iterator[Line]:
    """Yield the overall line, if there are several buckets of spatial tasks."""
    spatial = [tasks for bucket, tasks in present.items() if bucket != MANIFOLDS]
    # With a single bucket, overall would repeat its line.
    if len(spatial) > 1:
        yield Line(OVERALL, None, list(chain.from_iterable(spatial)))


def score_matrix(results: pl.DataFrame) -> Matrix:
    """Return results as arrays.

    Args:
        results: as returned by `scbench.analysis.results.read_results`.
    """
    cells = Cells()
    cells.add(results)
    runs, blocks, buckets = cells.blocks(release_weights(results))
    return Matrix(runs, blocks, buckets, tasks_of(results))


def tasks_of(results: pl.DataFrame) -> dict[str, set[str]]:
    """Return the release's tasks by bucket, or the catalogue's if it is not installed."""
    buckets = dict(results.select("task", "bucket").unique().iter_rows())
    tasks = all_tasks()
    expected: Collection[str] = expected_scores(results)
    if not expected:
        paper = {task.id for task in paper_tasks()}
        expected = [
            task.id
            for task in tasks.values()
            if task.id in paper or task.bucket == MANIFOLDS
        ]
    # The release's tasks without any result count as missing.
    buckets |= {name: tasks[name].bucket for name in expected if name in tasks}
    by_bucket: dict[str, set[str]] = {}
    for task, bucket in buckets.items():
        by_bucket.setdefault(bucket, set()).add(task)
    return by_bucket


def covered_tasks(
    bucket: str,
    present: Mapping[str, str],
    release_tasks: Mapping[str, Collection[str]],
) -> str | None:
    """Return the tasks or buckets that a mean covers if its name suggests more of them.

    Args:
        bucket: name of the bucket, or "overall".
        present: bucket of each present task.
        release_tasks: tasks of the release, by bucket.
    """
    included = [bucket]
    if bucket == OVERALL:
        included = [name for name in BUCKETS if name in release_tasks]
    # A task counts once for each of its buckets.
    expected = []
    for task in all_tasks():
        expected += [task for name in included if task in release_tasks.get(name, ())]
    present_tasks = [task for task in expected if task in present]
    if len(present_tasks) == len(expected):
        return None
    whole_buckets = [
        name for name in included if present.keys() >= set(release_tasks[name])
    ]
    # Whole buckets are named instead of their tasks.
    if bucket == OVERALL and {present[task] for task in present_tasks} == {
        *whole_buckets
    }:
        return " and ".join(whole_buckets)
    if len(present_tasks) > _MAX_NAMES:
        return f"{len(present_tasks)} of {len(expected)} tasks"
    return f"only {', '.join(present_tasks)}"
