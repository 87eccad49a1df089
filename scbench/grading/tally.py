"""Tables and counts of a results file, from the columns they need."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scbench.base.model import Status
from scbench.catalog import all_tasks

if TYPE_CHECKING:
    import polars as pl

_NEEDED = (
    *("id", "task", "bucket", "subtask", "model", "setting", "sample", "budget"),
    *("status", "score", "floor", "instance_hash", "run_metadata"),
)
_ROWS = 65_536
_FAILURES = 20


@dataclass(frozen=True, slots=True)
class Tally:
    """What a results file comes to.

    Attributes:
        rows: how many it has.
        unscored: how many of them have no score.
        tables: score tables by bucket and by task, see `scbench.grading.score_tables`.
        outside: task and number of rows whose instance the release does not hold.
        grader_errors: rows that a grader failed on.
        failed: line, id and reason of the first of them.
        not_run: task, reason and number of rows with an answer that this installation cannot grade.
        tasks: tasks that have rows.
        fingerprints: see `fingerprints_in`.
        runs: model, setting and budget of each, with what its lines say of how it was made.
    """

    rows: int
    unscored: int
    tables: "dict[Literal['bucket', 'task'], pl.DataFrame]"
    outside: list[dict[str, Any]]
    grader_errors: int
    failed: list[dict[str, Any]]
    not_run: list[tuple[str, str, int]]
    tasks: frozenset[str]
    fingerprints: dict[str, list[str]]
    runs: list[dict[str, Any]]


def tally(path: Path) -> Tally:
    """Read a results file, some rows at a time, and return what it comes to."""
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    from scbench.grading.score_tables import (  # noqa: PLC0415  (polars)
        RUN,
        Condensed,
        outside_release,
    )

    lazy = pl.scan_parquet(path)
    condensed = Condensed()
    outside: Counter[str] = Counter()
    rows = unscored = errors = 0
    tasks: set[str] = set()
    metadata: list[pl.DataFrame] = []
    while True:
        part = lazy.select(_NEEDED).slice(rows, _ROWS).collect()
        if part.is_empty():
            break
        rows += part.height
        unscored += part["score"].null_count()
        errors += part.filter(pl.col("status") == Status.GRADER_ERROR.value).height
        tasks.update(part["task"].unique())
        outside.update(dict(outside_release(part).iter_rows()))
        condensed.add(part)
        metadata = [pl.concat([*metadata, part.select(*RUN, "run_metadata")]).unique()]
    if not rows:
        condensed.add(lazy.select(_NEEDED).collect())
    failed = lazy.filter(pl.col("status") == Status.GRADER_ERROR.value)
    absent = lazy.filter(
        (pl.col("status") == Status.NOT_RUN.value) & pl.col("answer_source").is_not_null()
    )
    counts = absent.group_by("task", "reason", maintain_order=True).agg(pl.len())
    return Tally(
        rows,
        unscored,
        {"bucket": condensed.table("bucket"), "task": condensed.table("task")},
        [{"task": task, "rows": count} for task, count in sorted(outside.items())],
        errors,
        failed.select("line", "id", "reason")
        .head(_FAILURES)
        .collect(engine="streaming")
        .to_dicts(),
        counts.collect(engine="streaming").rows(),
        frozenset(tasks),
        fingerprints_in(lazy),
        _runs(pl.concat(metadata)) if metadata else [],
    )


def fingerprints_in(results: "pl.LazyFrame") -> dict[str, list[str]]:
    """Return the fingerprints of the machines that judged, by task; of most tasks there are none.

    Args:
        results: columns task and metrics.
    """
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    names = [task.id for task in all_tasks().values() if task.fingerprinted]
    prints = (
        results.filter(pl.col("task").is_in(names))
        .select("task", fingerprint=pl.col("metrics").str.json_path_match("$.fingerprint"))
        .drop_nulls()
        .unique()
        .collect(engine="streaming")
    )
    return {
        task: sorted(part["fingerprint"])
        for (task,), part in sorted(prints.partition_by("task", as_dict=True).items())
    }


def _runs(metadata: "pl.DataFrame") -> list[dict[str, Any]]:
    from scbench.grading.score_tables import RUN, metadata_by_run  # noqa: PLC0415  (polars)

    by_run = metadata_by_run(metadata)
    runs = metadata.select(RUN).unique().sort(RUN, nulls_last=False)
    return [
        dict(zip(RUN, run, strict=True)) | {"metadata": by_run.get(run, [])}
        for run in runs.iter_rows()
    ]
