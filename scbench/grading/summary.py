"""The summary of a run: tables and counts of its rows, remarks, and ``summary.json``.

Remarks are sentences without which score tables could be misread; they are shown below each table.
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
from scbench.base.wording import counted
from scbench.catalog import Task, all_tasks
from scbench.formats.predictions import Problem
from scbench.grading.means import RUN
from scbench.grading.options import Options
from scbench.grading.output import readable_name, sources
from scbench.grading.rows.coverage import Coverage
from scbench.grading.score_tables import Condensed, metadata_by_run, outside_release
from scbench.machine.tables import scan_parquet
from scbench.release.load import Release

# Columns that a tally reads from every row.
_NEEDED = (
    "id",
    "task",
    "bucket",
    "subtask",
    "model",
    "setting",
    "sample",
    "budget",
    "status",
    "score",
    "floor",
    "usage",
    "instance_hash",
    "run_metadata",
)
# Maximum number of rows in memory.
_ROWS = 65_536
_TABLES: tuple[Literal["bucket"], Literal["task"]] = ("bucket", "task")
# Maximum number of reasons for grader errors in a summary.
_FAILURES = 20
# Parts of a message that vary between calls that failed for the same reason: provider
# ids, UUIDs and other hexadecimal ids, and token counts.
_PREFIXED_ID = r"\b(?:req|resp|msg|chatcmpl)[-_][\w-]+"
_HEXADECIMAL_ID = r"\b[0-9a-f]{8}[0-9a-f-]*\b"
_COUNT_OF_TOKENS = r"\b\d[\d,]{3,}\b"
_CALL_IDS = f"{_PREFIXED_ID}|{_HEXADECIMAL_ID}|{_COUNT_OF_TOKENS}"
# Statuses of loop trials that stopped without an answer.
_CUT = [status.value for status in (Status.REFUSED, Status.TRUNCATED, Status.UNPARSED)]


def grader_differences(
    release: Release, tasks: Sequence[Task]
) -> dict[str, dict[str, int]]:
    """Return tasks whose grader version differs from the release's."""
    differences: dict[str, dict[str, int]] = {}
    for task in tasks:
        frozen = release.manifest.tasks[task.id].grader_version
        if frozen != task.grader_version:
            versions = {"release": frozen, "installed": task.grader_version}
            differences[task.id] = versions
    return differences


def remarks(
    release: Release,
    tasks: Sequence[Task],
    withdrawn: Mapping[str, Any] | None = None,
    fingerprints: Mapping[str, Sequence[str]] = MappingProxyType({}),
    runs: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """Yield the remarks on scores.

    Args:
        release: the release that was graded against.
        tasks: graded tasks.
        withdrawn: entry of the same name in the summary.
        fingerprints: fingerprints of the grading machines, by task.
        runs: entry of the same name in the summary.
    """
    differences = grader_differences(release, tasks)
    if differences:
        versions = ", ".join(
            f"{task} v{versions['installed']} (release: v{versions['release']})"
            for task, versions in differences.items()
        )
        yield (
            f"Graded with grader versions other than those of release {release.version}: "
            f"{versions}. Do not compare these scores with scores from the release's own "
            "graders."
        )
    yield from machine_remarks(release, fingerprints)
    yield from setting_remarks(runs)
    yield from loop_remarks(runs)
    if withdrawn and withdrawn["excluded"] and withdrawn["instances"]:
        items = counted(len(withdrawn["instances"]), "withdrawn item")
        scores = counted(withdrawn["scores"], "score")
        lines = counted(withdrawn["lines"], "line")
        yield f"Excluded: {items} ({scores}, {lines})."


def machine_remarks(
    release: Release, fingerprints: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield a remark on each task graded on a machine that differs from the release's."""
    for task, prints in fingerprints.items():
        record = release.manifest.tasks.get(task)
        release_print = record.fingerprint if record else None
        foreign = [name for name in prints if name != release_print]
        if release_print is not None and foreign:
            yield (
                f"{task} ran on a machine that does not compute exactly like the release's "
                f"(fingerprint {', '.join(foreign)}, release: {release_print}), so its "
                "scores may differ slightly. Compare only scores from the same kind of "
                "machine."
            )


def setting_remarks(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a remark on each model for which only some lines name a setting."""
    settings: dict[str, set[str | None]] = {}
    for run in runs:
        settings.setdefault(run["model"], set()).add(run["setting"])
    for model, values in settings.items():
        names = sorted(filter(None, values))
        if names and None in values:
            yield (
                f"Lines of {model!r} without a setting count as a separate run from those "
                f"with {' and '.join(names)}; give all lines of a run the same setting."
            )


def loop_remarks(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield remarks on runs whose answers come from a loop."""
    looped = sorted({run["setting"] for run in runs if run["setting"] in LOOP_SETTINGS})
    if not looped:
        return
    yield (
        f"Setting {', '.join(looped)}: these answers come from a loop, so do not "
        "compare them with answers given without a loop. `scbench samples` shows "
        "their scores by turn."
    )
    for run in runs:
        cut = run.get("cut")
        if cut:
            ways = ", ".join(f"{count} {status}" for status, count in cut.items())
            yield (
                f"Trials of {run['model']!r} in setting {run['setting']}: {run['trials']:,}. "
                f"Those that stopped without an answer count as 0 ({ways})."
            )


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts and score tables of a results file.

    Attributes:
        rows: number of rows.
        unscored: rows without a score.
        tables: score tables by bucket and by task.
        outside: rows of each task that the release does not contain.
        grader_errors: number of rows for which a grader failed.
        failed: for each reason, the first row's line and id, and the number of rows.
        not_run: task, reason and number of answers that this installation cannot grade.
        calls: status, reason (without ids) and number of calls that failed.
        tasks: tasks that have rows.
        fingerprints: fingerprints of the grading machines, by task.
        runs: each run with the metadata in its lines.
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
    """Read a results file, some rows at a time, and return its tally.

    Tasks have the weights of the release, or weights computed from the floors of the rows.
    """
    lazy = scan_parquet(path)
    condensed = Condensed()
    outside: Counter[str] = Counter()
    rows = 0
    unscored = 0
    errors = 0
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
        # It has few distinct values, so memory use stays small.
        metadata = [pl.concat([*metadata, part.select(*RUN, "run_metadata")]).unique()]
    # Tables without rows need the columns of results.
    if not rows:
        condensed.add(lazy.select(_NEEDED).collect())
    return Tally(
        rows,
        unscored,
        {by: condensed.table(by, weights) for by in _TABLES},
        [{"task": task, "rows": count} for task, count in sorted(outside.items())],
        errors,
        grader_failures(lazy),
        answers_not_run(lazy),
        failed_calls(lazy),
        frozenset(tasks),
        fingerprints_in(lazy),
        runs_with_metadata(metadata[0], trials_by_run(lazy)) if metadata else [],
    )


def grader_failures(results: pl.LazyFrame) -> list[dict[str, Any]]:
    """Return reason, first line and id, and number of rows for each grader failure."""
    failed = results.filter(pl.col("status") == Status.GRADER_ERROR.value)
    by_reason = failed.group_by("reason", maintain_order=True).agg(
        pl.first("line", "id"), rows=pl.len()
    )
    return by_reason.head(_FAILURES).collect(engine="streaming").to_dicts()


def answers_not_run(results: pl.LazyFrame) -> list[tuple[str, str, int]]:
    """Return task, reason and number of answers that this installation cannot grade."""
    absent = results.filter(
        (pl.col("status") == Status.NOT_RUN.value)
        & pl.col("answer_source").is_not_null()
    )
    counts = absent.group_by("task", "reason", maintain_order=True).agg(pl.len())
    return counts.collect(engine="streaming").rows()


def failed_calls(results: pl.LazyFrame) -> list[tuple[str, str, int]]:
    """Return status, reason and number of calls without a reply, the most frequent first.

    Reasons that differ only in ids and token counts are merged under one of them.
    """
    lost = [Status.API_ERROR.value, Status.BLOCKED.value]
    kind = pl.col("reason").str.replace_all(_CALL_IDS, "...").alias("kind")
    rows = results.filter(pl.col("status").is_in(lost))
    groups = rows.group_by("status", kind).agg(
        pl.col("reason").min(), pl.col("line").n_unique().alias("calls")
    )
    counts = groups.select("status", "reason", "calls")
    order = counts.sort("calls", "status", "reason", descending=[True, False, False])
    return order.collect(engine="streaming").rows()


def trials_by_run(results: pl.LazyFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the number of trials of each loop run, and of trials cut short, by status."""
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
        if status in _CUT:
            about["cut"][status] = count
    return counts


def fingerprints_in(results: pl.LazyFrame) -> dict[str, list[str]]:
    """Return the fingerprints of the machines that graded, by task; most tasks have none."""
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
    by_task = sorted(prints.partition_by("task", as_dict=True).items())
    return {task: sorted(part["fingerprint"]) for (task,), part in by_task}


def runs_with_metadata(
    metadata: pl.DataFrame, trials: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return each run with the metadata in its lines, and the trials of those in a loop."""
    by_run = metadata_by_run(metadata)
    runs = []
    for run in metadata.select(RUN).unique().sort(RUN, nulls_last=False).iter_rows():
        fields = dict(zip(RUN, run, strict=True))
        fields["metadata"] = by_run.get(run, [])
        fields |= trials.get(run, {})
        runs.append(fields)
    return runs


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run before its rows are counted.

    Attributes:
        options: options of the run.
        tasks: graded tasks.
        digest: SHA-256 of the whole file, unpacked.
        started: monotonic time.
        resumed: lines taken over from an interrupted run.
        incidents: messages about workers that failed.
        protections: protections around child programs, if any; None for this machine's.
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
    """The report of a run.

    Attributes:
        path: path of ``results.parquet``.
        tally: counts and tables of the results.
        problems: the first thousand problems of the input.
        problem_counts: number of all problems, by code.
        incidents: sentences about workers that failed.
        resumed: lines taken over from an interrupted run.
        left_alone: lines of tasks that were not selected.
        remarks: sentences that prevent misreading the tables.
        warnings: warnings about input that is probably not as intended.
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

    def __repr__(self) -> str:
        problems = self.problem_counts.total()
        return f"<RunReport: {self.tally.rows} rows, {problems} problems, {self.path}>"

    def _repr_html_(self) -> str:
        return str(self.tables["bucket"]._repr_html_())

    @cached_property
    def results(self) -> pl.DataFrame:
        """All rows, read from the file on first use, because large runs have gigabytes."""
        return scan_parquet(self.path).collect()

    @property
    def tables(self) -> dict[Literal["bucket", "task"], pl.DataFrame]:
        """Score tables by bucket and by task, see `scbench.grading.score_tables`."""
        return self.tally.tables

    @property
    def grader_errors(self) -> int:
        """Number of rows for which a grader failed."""
        return self.tally.grader_errors

    @property
    def exit_code(self) -> int:
        """Exit code: 3 after grader errors, 1 after problems in the input, otherwise 0."""
        if self.grader_errors:
            return 3
        return 1 if self.problem_counts else 0


def summarize(facts: RunFacts, report: RunReport, coverage: Coverage) -> dict[str, Any]:
    """Return the content of ``summary.json`` of a run."""
    options = facts.options
    counts = report.tally
    withdrawn = {
        "excluded": options.exclude_withdrawn,
        **withdrawn_instances(options.release, facts.tasks),
        "lines": coverage.excluded,
    }
    predictions = {
        "file": readable_name(Path(options.predictions).name),
        "files": sources(options.out, options.files),
        "sha256": facts.digest,
        "lines": coverage.lines,
    }
    if options.imported:
        predictions["made_of"] = options.imported.recognised
    return {
        "scbench": __version__,
        "release": {
            "version": options.release.version,
            "rows_hash": options.release.manifest.rows_hash,
        },
        "graders": {task.id: task.grader_version for task in facts.tasks},
        "grader_differences": grader_differences(options.release, facts.tasks),
        "fingerprints": counts.fingerprints,
        "withdrawn": withdrawn,
        "predictions": predictions,
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
        "walls": protections_of(facts, counts.tasks),
        "resumed": report.resumed,
        "left_alone": report.left_alone,
        "seconds": round(time.monotonic() - facts.started, 3),
        "workers": options.limits.workers,
        "platform": f"{platform.system()} {platform.machine()} Python {platform.python_version()}",
    }


def withdrawn_instances(release: Release, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return the ids of the withdrawn instances of graded tasks, and how many scores they have."""
    withdrawn = release.manifest.withdrawn
    if not withdrawn:
        return {"instances": [], "scores": 0}
    rows = release.instances({task.id for task in tasks}).values()
    present = [row for row in rows if row.id in withdrawn]
    return {
        "instances": [row.id for row in present],
        "scores": sum(row.scores for row in present),
    }


def protections_of(facts: RunFacts, present: frozenset[str]) -> list[str]:
    """Return the protections around child programs; empty without child programs."""
    if not any(task.isolated and task.id in present for task in facts.tasks):
        return []
    if facts.protections is not None:
        return list(facts.protections)
    from scbench.machine import sandbox  # noqa: PLC0415  (few runs have children)

    return list(sandbox.protections())
