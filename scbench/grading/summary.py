"""The content of ``summary.json``: what was graded, how, and what came of it."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scbench.catalog import Task
from scbench.grading.remarks import grader_differences
from scbench.grading.rows.coverage import Ledger
from scbench.release.load import Release
from scbench.version import __version__

if TYPE_CHECKING:
    from scbench.grading.run import Options, Report


@dataclass(frozen=True, slots=True)
class Facts:
    """What a summary says of the input.

    Attributes:
        options: of the run.
        tasks: that were graded.
        digest: SHA-256 of the whole file, unpacked.
        walls: that stood around child programs, if there were any; None for this machine's.
    """

    options: "Options"
    tasks: Sequence[Task]
    digest: str
    walls: Sequence[str] | None = None


def _withdrawn(release: Release, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return what a summary says of withdrawn instances of tasks."""
    withdrawn = release.manifest.withdrawn
    chosen = {task.id for task in tasks}
    held = [
        row
        for row in (release.instances(chosen).values() if withdrawn else ())
        if row.id in withdrawn
    ]
    return {
        "instances": [row.id for row in held],
        "scores": sum(row.scores for row in held),
    }


def summarize(facts: Facts, report: "Report", ledger: Ledger, seconds: float) -> dict[str, Any]:
    """Return the summary of a run.

    Args:
        facts: of the input.
        report: what the run came to.
        ledger: that took every line.
        seconds: how long it took.
    """
    options = facts.options
    name = options.predictions
    counts = report.tally
    return {
        "scbench": __version__,
        "release": {
            "version": options.release.version,
            "rows_hash": options.release.manifest.rows_hash,
        },
        "graders": {task.id: task.grader_version for task in facts.tasks},
        "grader_differences": grader_differences(options.release, facts.tasks),
        "withdrawn": {
            "excluded": options.exclude_withdrawn,
            **_withdrawn(options.release, facts.tasks),
            "lines": ledger.left_out,
        },
        "predictions": {
            "file": "-" if name == "-" else Path(name).name,
            "sha256": facts.digest,
            "lines": ledger.lines,
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
        "exit_code": report.exit_code,
        "buckets": counts.tables["bucket"].to_dicts(),
        "tasks": counts.tables["task"].to_dicts(),
        "not_in_release": counts.outside,
        "problem_counts": dict(report.problem_counts),
        "problems": [asdict(problem) for problem in report.problems],
        "grader_errors": report.grader_errors,
        "incidents": report.incidents,
        "walls": _walls(facts, counts.tasks),
        "resumed": report.resumed,
        "left_alone": report.left_alone,
        "seconds": round(seconds, 3),
        "workers": options.limits.workers,
        "platform": f"{platform.system()} {platform.machine()} Python {platform.python_version()}",
    }


def _walls(facts: Facts, seen: frozenset[str]) -> list[str]:
    """Return the walls that stood around child programs; none if there were no children."""
    if not any(task.isolated and task.id in seen for task in facts.tasks):
        return []
    if facts.walls is not None:
        return list(facts.walls)
    from scbench import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.walls())
