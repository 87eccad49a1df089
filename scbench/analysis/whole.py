"""What a line of a table is over, where that is less than its name says."""

from collections.abc import Collection, Mapping

import polars as pl

from scbench.analysis.results import expected_scores
from scbench.catalog import BUCKETS, MANIFOLDS, all_tasks, paper_tasks
from scbench.grading.score_tables import OVERALL

_NAMED = 3
"""Tasks that are named; of more, the number is given."""


def tasks_of(results: pl.DataFrame) -> dict[str, set[str]]:
    """Return the tasks of the release by bucket; the catalogue's if it is not installed."""
    held = dict(results.select("task", "bucket").unique().iter_rows())
    paper = {task.id for task in paper_tasks()}
    ours = [
        task.id for task in all_tasks().values() if task.id in paper or task.bucket == MANIFOLDS
    ]
    known = expected_scores(results) or dict.fromkeys(ours)
    buckets = held | {task: all_tasks()[task].bucket for task in known if task in all_tasks()}
    whole: dict[str, set[str]] = {}
    for task, bucket in buckets.items():
        whole.setdefault(bucket, set()).add(task)
    return whole


def said_over(
    bucket: str, held: Mapping[str, str], whole: Mapping[str, Collection[str]]
) -> str | None:
    """Return what a mean is over, if it is not all that its name says.

    Args:
        bucket: or "overall".
        held: bucket by task, of the tasks there are.
        whole: tasks of the release, by bucket.
    """
    asked = [name for name in BUCKETS if name in whole] if bucket == OVERALL else [bucket]
    wanted = [task for task in all_tasks() for name in asked if task in whole.get(name, ())]
    there = [task for task in wanted if task in held]
    if len(there) == len(wanted):
        return None
    buckets = [name for name in asked if all(task in held for task in whole[name])]
    if bucket == OVERALL and {held[task] for task in there} == {*buckets}:
        return " and ".join(buckets)
    few = ", ".join(there) if len(there) <= _NAMED else f"{len(there)} of {len(wanted)} tasks"
    return f"only {few}" if len(there) <= _NAMED else few
