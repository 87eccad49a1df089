"""What a run came to, and the content of ``summary.json``."""

import platform
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scbench.base.version import __version__
from scbench.catalog import Task
from scbench.formats.predictions import Problem
from scbench.grading.options import Options
from scbench.grading.remarks import grader_differences
from scbench.grading.rows.coverage import Coverage
from scbench.grading.tally import Tally
from scbench.release.load import Release

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run before its rows are counted.

    Attributes:
        options: what was graded, and how.
        tasks: that were graded.
        digest: SHA-256 of the whole file, unpacked.
        started: on the monotonic clock.
        resumed: lines taken over from an interrupted run.
        incidents: what happened to workers.
        protections: that stood around child programs, if there were any; None for this machine's.
    """

    options: Options
    tasks: Sequence[Task]
    digest: str
    started: float
    resumed: int
    incidents: list[str]
    protections: Sequence[str] | None = None


@dataclass
class RunReport:
    """What a run came to.

    Attributes:
        path: of ``results.parquet``.
        tally: counts and tables of it.
        problems: what is wrong with the input: the first thousand; `problem_counts` has all.
        problem_counts: number of problems by code.
        incidents: what happened to workers.
        resumed: lines taken over from an interrupted run.
        left_alone: lines of tasks that were not chosen.
        remarks: sentences without which the tables could be misread.
        warnings: what of the input was read, but is likely not as it was meant.
        summary: the content of ``summary.json``.
    """

    path: Path
    tally: Tally
    problems: list[Problem]
    problem_counts: Counter[str]
    incidents: list[str]
    resumed: int
    left_alone: int
    remarks: list[str]
    warnings: list[str]
    summary: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def results(self) -> "pl.DataFrame":
        """All rows, read from the file when first asked for: a large run's are gigabytes."""
        import polars as pl  # noqa: PLC0415  (heavy; few callers want the rows)

        return pl.read_parquet(self.path)

    @property
    def tables(self) -> "dict[Literal['bucket', 'task'], pl.DataFrame]":
        """Score tables by bucket and by task, see `scbench.grading.score_tables`."""
        return self.tally.tables

    @property
    def grader_errors(self) -> int:
        """Number of rows that a grader failed on."""
        return self.tally.grader_errors

    @property
    def exit_code(self) -> int:
        """0 graded, 1 problems in the input, 3 grader errors."""
        return 3 if self.grader_errors else 1 if self.problem_counts else 0


def _withdrawn(release: Release, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return what a summary says of withdrawn instances of tasks."""
    withdrawn = release.manifest.withdrawn
    rows = release.instances({task.id for task in tasks}).values() if withdrawn else ()
    present = [row for row in rows if row.id in withdrawn]
    return {"instances": [row.id for row in present], "scores": sum(row.scores for row in present)}


def summarize(facts: RunFacts, report: RunReport, coverage: Coverage) -> dict[str, Any]:
    """Return the content of ``summary.json`` for what a run came to."""
    options = facts.options
    # Names of files need not be UTF-8.
    name = options.predictions.encode("utf-8", "backslashreplace").decode()
    counts = report.tally
    return {
        "scbench": __version__,
        "release": {
            "version": options.release.version,
            "rows_hash": options.release.manifest.rows_hash,
        },
        "graders": {task.id: task.grader_version for task in facts.tasks},
        "grader_differences": grader_differences(options.release, facts.tasks),
        "fingerprints": counts.fingerprints,
        "withdrawn": {
            "excluded": options.exclude_withdrawn,
            **_withdrawn(options.release, facts.tasks),
            "lines": coverage.excluded,
        },
        "predictions": {
            "file": "-" if name == "-" else Path(name).name,
            "sha256": facts.digest,
            "lines": coverage.lines,
            **({"made_of": options.imported.recognised} if options.imported else {}),
        },
        "shard": str(options.shard) if options.shard else None,
        "options": {
            "tasks": None if options.tasks is None else sorted(options.tasks),
            "partial": options.partial,
            "exclude_withdrawn": options.exclude_withdrawn,
            "allow_code": options.limits.allow_code,
        },
        "partial": options.partial or options.tasks is not None,
        "rows": counts.rows,
        "runs": counts.runs,
        "exit_code": report.exit_code,
        "buckets": counts.tables["bucket"].to_dicts(),
        "tasks": counts.tables["task"].to_dicts(),
        "not_in_release": counts.outside,
        "problem_counts": dict(report.problem_counts),
        "problems": [problem.fields() for problem in report.problems],
        "unread_keys": dict(coverage.unread),
        "warnings": report.warnings,
        "grader_errors": report.grader_errors,
        "incidents": report.incidents,
        "walls": _protections(facts, counts.tasks),
        "resumed": report.resumed,
        "left_alone": report.left_alone,
        "seconds": round(time.monotonic() - facts.started, 3),
        "workers": options.limits.workers,
        "platform": f"{platform.system()} {platform.machine()} Python {platform.python_version()}",
    }


def _protections(facts: RunFacts, present: frozenset[str]) -> list[str]:
    """Return what stood around child programs; nothing if there were no children."""
    if not any(task.isolated and task.id in present for task in facts.tasks):
        return []
    if facts.protections is not None:
        return list(facts.protections)
    from scbench.machine import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.protections())
