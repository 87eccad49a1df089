"""What a line of a table is over, where that is less than its name says."""

from collections.abc import Collection, Mapping

import polars as pl

from scbench.analysis.results import expected_scores
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks, paper_tasks
from scbench.grading.score_tables import OVERALL

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
        held: bucket by task, of the tasks there are.
        release_tasks: of the release, by bucket.
    """
    included = [name for name in BUCKETS if name in release_tasks] if bucket == OVERALL else [bucket]
    expected = [task for task in all_tasks() for name in included if task in release_tasks.get(name, ())]
    there = [task for task in expected if task in present]
    if len(there) == len(expected):
        return None
    buckets = [name for name in included if all(task in present for task in release_tasks[name])]
    if bucket == OVERALL and {present[task] for task in there} == {*buckets}:
        return " and ".join(buckets)
    words = ", ".join(there) if len(there) <= _MAX_NAMES else f"{len(there)} of {len(expected)} tasks"
    return f"only {words}" if len(there) <= _MAX_NAMES else words
