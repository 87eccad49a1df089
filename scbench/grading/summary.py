"""What a run came to: tables and counts of its rows, remarks, and the content of ``summary.json``.

Remarks are sentences without which score tables could be misread; they stand below each table.
"""

import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import polars as pl

from scbench.base import __version__
from scbench.base.model import LOOP_SETTINGS, Status
from scbench.catalog import Task, all_tasks
from scbench.formats.predictions import Problem
from scbench.grading.means import RUN
from scbench.grading.options import Options
from scbench.grading.output import sources
from scbench.grading.rows.coverage import Coverage
from scbench.grading.score_tables import Condensed, metadata_by_run, outside_release
from scbench.machine.tables import scan_parquet
from scbench.release.load import Release

_NEEDED = (
    *("id", "task", "bucket", "subtask", "model", "setting", "sample", "budget"),
    *("status", "score", "floor", "usage", "instance_hash", "run_metadata"),
)
_ROWS = 65_536
_TABLES: tuple[Literal["bucket"], Literal["task"]] = ("bucket", "task")
_FAILURES = 20
# What tells calls apart that failed for one reason: ids, and counts of tokens.
_CALL_IDS = (
    r"\b(?:req|resp|msg|chatcmpl)[-_][\w-]+|\b[0-9a-f]{8}[0-9a-f-]*\b|\b\d[\d,]{3,}\b"
)


def grader_differences(
    release: Release, tasks: Sequence[Task]
) -> dict[str, dict[str, int]]:
    """Return tasks whose grader is not of the version that the release was frozen with."""
    frozen = {
        task: record.grader_version for task, record in release.manifest.tasks.items()
    }
    return {
        task.id: {"release": frozen[task.id], "installed": task.grader_version}
        for task in tasks
        if frozen[task.id] != task.grader_version
    }


def remarks(
    release: Release,
    tasks: Sequence[Task],
    withdrawn: Mapping[str, Any] | None = None,
    fingerprints: Mapping[str, Sequence[str]] = MappingProxyType({}),
    runs: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """Yield what must be said of scores, from a release, the graded tasks, and parts of a summary.

    Fingerprints are of the machines that judged, by task.
    """
    differences = grader_differences(release, tasks)
    if differences:
        versions = ", ".join(
            f"{task} v{versions['installed']} (release: v{versions['release']})"
            for task, versions in differences.items()
        )
        yield (
            f"Graded with other grader versions than those of release {release.version}: "
            f"{versions}. "
            "Do not compare with scores of the release's own graders."
        )
    yield from _machines(release, fingerprints)
    yield from _split(runs)
    looped = sorted({run["setting"] for run in runs if run["setting"] in LOOP_SETTINGS})
    if looped:
        yield (
            f"Setting {', '.join(looped)}: answers given in a loop, which compare with no answers "
            "given at once. `scbench samples` has their scores by turn."
        )
        cut = [run for run in runs if run.get("cut")]
        for run in cut:
            ways = ", ".join(
                f"{count} {status}" for status, count in run["cut"].items()
            )
            yield (
                f"Of {run['trials']} trials of {run['model']!r} in setting {run['setting']}, these "
                f"stopped without an answer and count as 0: {ways}."
            )
    if withdrawn and withdrawn["excluded"] and withdrawn["instances"]:
        counts = {
            "withdrawn item": len(withdrawn["instances"]),
            "score": withdrawn["scores"],
            "line": withdrawn["lines"],
        }
        items, *details = (
            f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items()
        )
        yield f"Left out: {items} ({', '.join(details)})."


def _machines(
    release: Release, fingerprints: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for task, prints in fingerprints.items():
        record = release.manifest.tasks.get(task)
        own_print = record.fingerprint if record else None
        foreign = [name for name in prints if name != own_print]
        if own_print is not None and foreign:
            yield (
                f"{task} was simulated on a machine that does not compute like the release's "
                f"(fingerprint {', '.join(foreign)}, release: {own_print}): its scores may differ "
                "a little. Compare with scores from one kind of machine."
            )


def _split(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each model of which some lines alone name a setting."""
    settings: dict[str, set[str | None]] = {}
    for run in runs:
        settings.setdefault(run["model"], set()).add(run["setting"])
    for model, values in settings.items():
        names = sorted(filter(None, values))
        if names and None in values:
            yield (
                f"Lines of {model!r} without a setting are counted as another run than those with "
                f"{' and '.join(names)}; give all lines of a run the same setting."
            )


@dataclass(frozen=True, slots=True)
class Tally:
    """What a results file comes to: counts of its rows, score tables by bucket and by task.

    Of calls that failed, what the provider said and how many, without what tells calls apart.
    Of rows that a grader failed on, by reason, line and id of the first, and how many; of answers
    that this installation cannot grade, task, reason and number; of the runs, what lines say of how
    they were made.
    """

    rows: int
    unscored: int
    tables: dict[Literal["bucket", "task"], pl.DataFrame]
    outside: list[dict[str, Any]]
    grader_errors: int
    failed: list[dict[str, Any]]
    not_run: list[tuple[str, str, int]]
    calls: list[tuple[str, str, int]]
    tasks: frozenset[str]
    fingerprints: dict[str, list[str]]
    runs: list[dict[str, Any]]


def tally(path: Path, weights: Mapping[str, float] | None = None) -> Tally:
    """Read a results file, some rows at a time, and return what it comes to.

    Tasks weigh as in the release, or as follows from the floors of the rows.
    """
    lazy = scan_parquet(path)
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
        (pl.col("status") == Status.NOT_RUN.value)
        & pl.col("answer_source").is_not_null()
    )
    counts = absent.group_by("task", "reason", maintain_order=True).agg(pl.len())
    return Tally(
        rows,
        unscored,
        {by: condensed.table(by, weights) for by in _TABLES},
        [{"task": task, "rows": count} for task, count in sorted(outside.items())],
        errors,
        failed.group_by("reason", maintain_order=True)
        .agg(pl.first("line", "id"), rows=pl.len())
        .head(_FAILURES)
        .collect(engine="streaming")
        .to_dicts(),
        counts.collect(engine="streaming").rows(),
        _failed_calls(lazy),
        frozenset(tasks),
        fingerprints_in(lazy),
        _runs(pl.concat(metadata), _cut_trials(lazy)) if metadata else [],
    )


def _failed_calls(results: pl.LazyFrame) -> list[tuple[str, str, int]]:
    """Return status, reason and number of calls without a reply, the most frequent first."""
    lost = [Status.API_ERROR.value, Status.BLOCKED.value]
    reason = pl.col("reason").str.replace_all(_CALL_IDS, "...").alias("reason")
    rows = results.filter(pl.col("status").is_in(lost))
    counts = rows.group_by("status", reason).agg(
        pl.col("line").n_unique().alias("calls")
    )
    order = counts.sort("calls", "status", "reason", descending=[True, False, False])
    return order.collect(engine="streaming").rows()


def _cut_trials(results: pl.LazyFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return, of each run in a loop, the number of trials, and of those cut, by status."""
    cut = [
        status.value for status in (Status.REFUSED, Status.TRUNCATED, Status.UNPARSED)
    ]
    trials = (
        results.filter(pl.col("setting").is_in(LOOP_SETTINGS))
        .group_by(*RUN, "status")
        .agg(pl.struct("id", "sample").n_unique())
        .sort("status")
        .collect(engine="streaming")
    )
    counts: dict[tuple[Any, ...], dict[str, Any]] = {}
    for *run, status, count in trials.iter_rows():
        about = counts.setdefault(tuple(run), {"trials": 0, "cut": {}})
        about["trials"] += count
        if status in cut:
            about["cut"][status] = count
    return counts


def fingerprints_in(results: pl.LazyFrame) -> dict[str, list[str]]:
    """Return the fingerprints of the machines that judged, by task; most tasks have none."""
    names = [task.id for task in all_tasks().values() if task.fingerprinted]
    prints = (
        results.filter(pl.col("task").is_in(names))
        .select(
            "task", fingerprint=pl.col("metrics").str.json_path_match("$.fingerprint")
        )
        .drop_nulls()
        .unique()
        .collect(engine="streaming")
    )
    return {
        task: sorted(part["fingerprint"])
        for (task,), part in sorted(prints.partition_by("task", as_dict=True).items())
    }


def _runs(
    metadata: pl.DataFrame, loops: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    by_run = metadata_by_run(metadata)
    runs = metadata.select(RUN).unique().sort(RUN, nulls_last=False)
    return [
        dict(zip(RUN, run, strict=True))
        | {"metadata": by_run.get(run, []), **loops.get(run, {})}
        for run in runs.iter_rows()
    ]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run before its rows are counted; it started on the monotonic clock.

    The digest is of the whole file, unpacked. Protections stood around child programs, if there
    were any; None stands for this machine's.
    """

    options: Options
    tasks: Sequence[Task]
    digest: str
    started: float
    resumed: int
    incidents: list[str]
    protections: Sequence[str] | None = None


@dataclass(repr=False)
class RunReport:
    """What a run came to: the tally of ``results.parquet``, and the content of ``summary.json``.

    Problems of the input are the first thousand, and counted all by code; incidents are those of
    workers. Of lines, those from an interrupted run are counted, and those of tasks that were not
    chosen. Without remarks the tables could be misread; warnings are of what was read, but is
    likely not as it was meant.
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

    def __repr__(self) -> str:
        problems = self.problem_counts.total()
        return f"<RunReport: {self.tally.rows} rows, {problems} problems, {self.path}>"

    def _repr_html_(self) -> str:
        return str(self.tables["bucket"]._repr_html_())

    @cached_property
    def results(self) -> pl.DataFrame:
        """All rows, read from the file when first asked for: a large run's are gigabytes."""
        return scan_parquet(self.path).collect()

    @property
    def tables(self) -> dict[Literal["bucket", "task"], pl.DataFrame]:
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
    withdrawn = release.manifest.withdrawn
    rows = release.instances({task.id for task in tasks}).values() if withdrawn else ()
    present = [row for row in rows if row.id in withdrawn]
    return {
        "instances": [row.id for row in present],
        "scores": sum(row.scores for row in present),
    }


def summarize(facts: RunFacts, report: RunReport, coverage: Coverage) -> dict[str, Any]:
    """Return the content of ``summary.json`` for what a run came to."""
    options = facts.options
    files = sources(options.out, options.files)
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
            "file": Path(options.predictions)
            .name.encode("utf-8", "backslashreplace")
            .decode(),
            "files": files,
            "sha256": facts.digest,
            "lines": coverage.lines,
            **({"made_of": options.imported.recognised} if options.imported else {}),
        },
        "shard": str(options.shard) if options.shard else None,
        "options": options.stored,
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
