"""Merging shards: the runs of a file's parts give the results of one run of the whole file.

Lines are admitted again in file order, because only the whole file shows which of two
lines came first and which items are missing. Everything else is already in the shards.
"""

import heapq
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
from pydantic import BaseModel, Field, NonNegativeInt, ValidationError

from scbench.base import __version__
from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, ResultsError, faults_of
from scbench.base.wording import counted
from scbench.catalog import Task
from scbench.formats.predictions import Problem
from scbench.grading.checkpoint import WORK
from scbench.grading.options import Options, choose_tasks
from scbench.grading.output import (
    PROBLEMS,
    RESULTS,
    SUMMARY,
    Problems,
    check_place,
    summary_of,
)
from scbench.grading.results import ResultsWriter
from scbench.grading.rows.chunks import Shard
from scbench.grading.rows.columns import RunKey, column_types
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, index_of
from scbench.grading.rows.wire import FORGED
from scbench.grading.run import finish
from scbench.grading.summary import RunFacts, RunReport
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.children import checked_parquet
from scbench.machine.files import read_regular
from scbench.machine.work_folder import WorkFolder, interrupted
from scbench.release.load import Release

# Maximum rows of all shards in memory, and minimum rows of one shard.
_ROWS = 65_536
_LEAST_ROWS = 512
# I/N as in a summary.
_SHARD = re.compile(r"([1-9][0-9]{0,17})/([1-9][0-9]{0,17})")
# Larger than any line number.
_END = 2**63
# Code of the problem that reading stopped.
_STOPPED = "unreadable"
# Problems that depend on the order of lines; a merge finds them again.
_FOUND_ANEW = {"duplicate", "too_many_runs", "unknown_id"}
# Maximum number of missing shards in a message, and of characters of a value.
_NAMED = 10
_ABRIDGED = 200


class _Release(BaseModel):
    version: str
    rows_hash: str


class _Predictions(BaseModel):
    files: Annotated[list[str], Field(min_length=1)]
    sha256: str
    lines: NonNegativeInt


class _Options(BaseModel):
    tasks: list[str] | None
    partial: bool
    exclude_withdrawn: bool
    allow_code: bool


class _Withdrawn(BaseModel):
    lines: NonNegativeInt


class _SummaryForm(BaseModel):
    """The parts of a shard's summary that a merge reads."""

    scbench: str
    release: _Release
    graders: dict[str, int]
    predictions: _Predictions
    options: _Options
    withdrawn: _Withdrawn
    rows: NonNegativeInt
    workers: NonNegativeInt
    resumed: NonNegativeInt
    left_alone: NonNegativeInt
    incidents: list[str]
    walls: list[str]
    problem_counts: dict[str, NonNegativeInt]
    unread_keys: dict[str, NonNegativeInt]


class ShardRun(NamedTuple):
    """The finished run of a shard: its folder, its number, and its ``summary.json``."""

    folder: Path
    shard: Shard
    summary: dict[str, Any]


class ShardLine(NamedTuple):
    """A line of a shard that has a row, or a problem."""

    number: int
    id: str | None
    run: RunKey | None
    problem: Problem | None = None


def read_shards(folders: Sequence[Path]) -> list[ShardRun]:
    """Return the runs in folders, in order, if they are exactly the shards of one file.

    Raises:
        ResultsError: a folder contains no finished shard; or there are gaps, overlaps, or shards of
            different files, releases, versions or options.
    """
    runs = sorted((read_shard(folder) for folder in folders), key=lambda run: run.shard)
    if not runs:
        raise ResultsError("give the output folders of all shards")
    for run in runs[1:]:
        check_alike(runs[0], run)
    for before, after in pairwise(runs):
        if before.shard == after.shard:
            raise ResultsError(
                f"shard {before.shard} was given twice: {before.folder} and "
                f"{after.folder}; give each shard once"
            )
    total = runs[0].shard.total
    numbers = {run.shard.number for run in runs}
    absent = total - len(numbers)
    if absent:
        missing = (f"{n}/{total}" for n in range(1, total + 1) if n not in numbers)
        # There may be millions.
        names = ", ".join(islice(missing, _NAMED))
        remainder = f" and {absent - _NAMED:,} more" if absent > _NAMED else ""
        raise ResultsError(
            f"missing shards: {names}{remainder}; grade them, or name their folders"
        )
    return runs


def read_shard(folder: Path) -> ShardRun:
    """Return the finished run of a shard in a folder.

    Raises:
        ResultsError: there is no such run, or its summary was changed.
    """
    not_ours = ResultsError(f"{folder}/{SUMMARY} was not written by scbench-grade")
    try:
        summary = parse_json(read_regular(folder / SUMMARY))
    except OSError:
        reason = "it has no summary.json"
        if interrupted(folder / WORK):
            reason = "its run was interrupted; continue it with --resume"
        raise ResultsError(f"{folder} contains no finished shard: {reason}") from None
    except JsonError:
        raise not_ours from None
    if not isinstance(summary, dict) or "shard" not in summary:
        raise not_ours
    if summary["shard"] is None:
        raise ResultsError(
            f"{folder} contains a run without --shard; only shards can be merged"
        )
    if not (folder / RESULTS).is_file():
        raise ResultsError(f"{folder} contains no finished shard: it has no {RESULTS}")
    try:
        _SummaryForm.model_validate(summary, strict=True)
    except ValidationError as error:
        (fault,) = faults_of(error, 1)
        raise ResultsError(
            f"{folder}/{SUMMARY} was changed ({fault}); grade this shard again"
        ) from None
    parts = _SHARD.fullmatch(str(summary["shard"]))
    shard = Shard(*map(int, parts.groups())) if parts else None
    if shard is None or shard.number > shard.total:
        raise ResultsError(
            f"{folder}/{SUMMARY} was changed (shard); grade this shard again"
        )
    return ShardRun(folder, shard, summary)


def check_alike(first: ShardRun, run: ShardRun) -> None:
    """Check that two runs are shards of one file graded in the same way."""
    expected = shared_facts(first)
    for name, value in shared_facts(run).items():
        if value != expected[name]:
            raise ResultsError(
                f"{first.folder} and {run.folder} are not shards of one run: different "
                f"{name} ({abridged_json(expected[name])} and {abridged_json(value)})"
            )


def shared_facts(run: ShardRun) -> dict[str, object]:
    """Return the facts that must be equal in all shards, by name."""
    return {
        "version of scbench": run.summary["scbench"],
        "release": run.summary["release"],
        "versions of graders": run.summary["graders"],
        "options": run.summary["options"],
        "predictions file (SHA-256)": run.summary["predictions"]["sha256"],
        "number of shards": run.shard.total,
    }


def abridged_json(value: object) -> str:
    """Return the beginning of a value's JSON."""
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _ABRIDGED else f"{text[:_ABRIDGED]}..."


def merge(runs: Sequence[ShardRun], release: Release, out: Path) -> RunReport:
    """Write the results of one run of the whole file into a folder.

    Raises:
        ResultsError: the shards are of another release or version of scbench, are damaged, or the
            folder cannot be written.
    """
    started = time.monotonic()
    summary = runs[0].summary
    tasks = check_versions(summary, release)
    digest = summary["predictions"]["sha256"]
    options = options_of(runs, release, out)
    incidents: list[str] = []
    protections: set[str] = set()
    for run in runs:
        for incident in run.summary["incidents"]:
            message = f"shard {run.shard}: {incident}"
            incidents.append(message)
        protections.update(run.summary["walls"])
    resumed = sum(run.summary["resumed"] for run in runs)
    facts = RunFacts(
        options, tasks, digest, started, resumed, incidents, sorted(protections)
    )
    index = index_of(release, tasks, exclude_withdrawn=options.exclude_withdrawn)
    coverage = Coverage(index.known_ids)
    work = open_work_folder(out, digest)
    problems = Problems(work.path / PROBLEMS)
    try:
        rows = ResultsWriter(work.path / "rows")
        rows.add(admitted_rows(runs, coverage, problems))
        count_lines(runs, coverage)
        return finish(facts, index, rows, problems, coverage)
    finally:
        problems.close()
        work.remove()


def check_versions(summary: Mapping[str, Any], release: Release) -> list[Task]:
    """Return the graded tasks after checking version and release of the shards."""
    if summary["scbench"] != __version__:
        raise ResultsError(
            f"the shards were graded by scbench {summary['scbench']}, but scbench {__version__} is "
            "installed; merge with the version that graded them"
        )
    if summary["release"]["rows_hash"] != release.manifest.rows_hash:
        raise ResultsError(
            f"the shards were graded against release {summary['release']['version']} "
            f"({summary['release']['rows_hash'][:12]}), but this is release {release.version} "
            f"({release.manifest.rows_hash[:12]}); give their release with --release"
        )
    tasks = choose_tasks(release, summary["options"]["tasks"])
    if {task.id: task.grader_version for task in tasks} != summary["graders"]:
        raise ResultsError(
            "the shards were graded by grader versions other than those installed here"
        )
    return tasks


def options_of(runs: Sequence[ShardRun], release: Release, out: Path) -> Options:
    """Return the options of the run of the whole file."""
    first = runs[0]
    stored = first.summary["options"]
    workers = max(run.summary["workers"] for run in runs)
    return Options(
        str(first.folder / first.summary["predictions"]["files"][0]),
        release,
        out,
        WorkerLimits(workers, None, 0, stored["allow_code"]),
        stored["tasks"],
        stored["partial"],
        exclude_withdrawn=stored["exclude_withdrawn"],
    )


def open_work_folder(out: Path, digest: str) -> WorkFolder:
    """Open the folder for unfinished files of a merge; other results must not be overwritten."""
    check_place(out, (), "", None, begun=False, restart=True)
    earlier = summary_of(out)
    if earlier is not None and earlier["predictions"].get("sha256") != digest:
        raise ResultsError(
            f"{out} contains results of other predictions; choose another --out"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        work = WorkFolder(out / WORK)
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    if work.previous:
        work.close()
        raise ResultsError(f"{out} contains an interrupted run; choose another --out")
    # A merge is quick, so an interrupted merge starts over.
    work.clear()
    return work


def count_lines(runs: Sequence[ShardRun], coverage: Coverage) -> None:
    """Take the counts of lines from the shards; lines without rows were not admitted again."""
    # Every shard reports where reading stopped, but it is one problem of the file.
    stops = sum(run.summary["problem_counts"].get(_STOPPED, 0) for run in runs)
    lines = sum(run.summary["predictions"]["lines"] for run in runs)
    coverage.lines = lines - max(0, stops - 1)
    coverage.not_chosen = sum(run.summary["left_alone"] for run in runs)
    for run in runs:
        coverage.note(run.summary["unread_keys"])
    coverage.excluded = sum(run.summary["withdrawn"]["lines"] for run in runs)


def admitted_rows(
    runs: Sequence[ShardRun], coverage: Coverage, problems: Problems
) -> Iterator[pl.DataFrame]:
    """Admit every line again, in order; yield the rows of the lines that count."""
    readmission = Readmission(coverage, problems)
    problem_lines = heapq.merge(
        *map(shard_problems, runs), key=lambda line: line.number
    )
    next_problem = next(problem_lines, None)
    for frame in rows_by_line(runs):
        end = _END if frame.is_empty() else frame["line"][-1]
        lines = lines_with_rows(frame)
        # Problems of lines without rows come between problems of lines with rows.
        while next_problem is not None and next_problem.number <= end:
            lines.append(next_problem)
            next_problem = next(problem_lines, None)
        lines.sort(key=lambda line: line.number)
        duplicates = [line.number for line in lines if readmission.is_duplicate(line)]
        yield frame.filter(~pl.col("line").is_in(duplicates)) if duplicates else frame
    readmission.add_forgeries()


@dataclass(slots=True)
class Readmission:
    """The second admission of lines, in file order.

    Attributes:
        coverage: counts the lines.
        problems: receives their problems.
        duplicates: numbers of the lines that an earlier line replaces.
        forgeries: answers that imitate a grader; each is a problem only if its line counts, which
            is known when all lines are admitted.
        has_stopped: whether a shard has reported that reading stopped. Every shard reports it, but
            it is one problem of the file.
    """

    coverage: Coverage
    problems: Problems
    duplicates: set[int | None] = field(default_factory=set)
    forgeries: list[Problem] = field(default_factory=list)
    has_stopped: bool = False

    def is_duplicate(self, line: ShardLine) -> bool:
        """Admit a line, or record its problem; return whether an earlier line replaces it."""
        problem = line.problem
        if problem is None or problem.code in _FOUND_ANEW:
            kind = admit(line, self.coverage, self.problems)
            if kind is LineKind.DUPLICATE:
                self.duplicates.add(line.number)
                return True
        elif problem.code == FORGED:
            self.forgeries.append(problem)
        elif problem.code != _STOPPED:
            self.problems.add(problem)
        elif not self.has_stopped:
            self.has_stopped = True
            self.problems.add(problem)
        return False

    def add_forgeries(self) -> None:
        """Add the forgeries in lines that count, after the last line."""
        for problem in sorted(self.forgeries, key=lambda problem: problem.line or 0):
            if problem.line not in self.duplicates:
                self.problems.add(problem)


def lines_with_rows(frame: pl.DataFrame) -> list[ShardLine]:
    """Return the lines that have rows, in order."""
    unique = frame.unique("line", maintain_order=True)
    columns = unique.select("line", "id", *RunKey._fields)
    lines = []
    for number, row_id, *run in columns.rows():
        lines.append(ShardLine(number, row_id, RunKey(*run)))
    return lines


def admit(line: ShardLine, coverage: Coverage, problems: Problems) -> LineKind:
    """Admit a line and add its problem, if any; return its fate."""
    row_id = line.id or ""
    place = coverage.known_ids.place(row_id)
    run = None if line.run is None else coverage.run(line.run)
    admission = coverage.admit(line.number, place, run, row_id)
    if admission.problem is not None:
        problems.add(admission.problem, line.run)
    return admission.kind


def shard_problems(run: ShardRun) -> Iterator[ShardLine]:
    """Yield the problems of a shard as lines; problems of the whole file come last."""
    path = run.folder / PROBLEMS
    expected = sum(run.summary["problem_counts"].values())
    if not expected:
        return
    count = 0
    try:
        with path.open(encoding="utf-8") as file:
            for text in file:
                count += 1
                fields = json.loads(text)
                key = fields.pop("run", None)
                problem = Problem(**fields)
                run_key = RunKey(*key) if key else None
                number = problem.line or _END
                yield ShardLine(number, problem.id, run_key, problem)
    except (OSError, ValueError, TypeError):
        raise ResultsError(
            f"{path} cannot be read; grade shard {run.shard} again"
        ) from None
    if count != expected:
        raise ResultsError(
            f"{path} contains {counted(count, 'problem')}, but its summary counts "
            f"{expected:,}; grade shard {run.shard} again"
        )


def rows_by_line(runs: Sequence[ShardRun]) -> Iterator[pl.DataFrame]:
    """Yield the rows of all shards by line, then a frame without rows."""
    size = max(_LEAST_ROWS, _ROWS // len(runs))
    slices = [row_slices(run, size) for run in runs]
    frames = [next(source, None) for source in slices]
    while any(frame is not None for frame in frames):
        # The rows of every shard up to this line are in memory.
        end = min(frame["line"][-1] for frame in frames if frame is not None)
        ready: list[pl.DataFrame] = []
        for i, frame in enumerate(frames):
            if frame is None:
                continue
            ready.append(frame.filter(pl.col("line") <= end))
            remainder = frame.filter(pl.col("line") > end)
            frames[i] = remainder if remainder.height else next(slices[i], None)
        yield pl.concat(ready).sort("line", "subtask")
    yield pl.DataFrame(schema=column_types())


def row_slices(run: ShardRun, size: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a shard, a few thousand at a time, never splitting the rows of one line."""
    path = run.folder / RESULTS
    with checked_parquet(path, ResultsError) as rows:
        foreign = ResultsError(
            f"{path} does not belong to {run.shard}; grade that shard again"
        )
        if rows.collect_schema() != column_types():
            raise foreign
        values = rows.select("line", "score").collect()
        lines = values["line"]
        scores = values["score"].drop_nulls()
        has_all_rows = len(lines) == run.summary["rows"]
        # NaN is not between 0 and 1 either.
        has_valid_scores = scores.is_between(0, 1).all()
        if not (has_all_rows and has_valid_scores and are_of_shard(lines, run.shard)):
            raise foreign
        start = 0
        while start < len(lines):
            stop = min(start + size, len(lines))
            # Extend the slice to the last row of its last line.
            while stop < len(lines) and lines[stop] == lines[stop - 1]:
                stop += 1
            yield rows.slice(start, stop - start).collect()
            start = stop


def are_of_shard(lines: pl.Series, shard: Shard) -> bool:
    """Return whether line numbers are sorted, and each is a line of this shard."""
    if lines.null_count() or not lines.is_sorted():
        return False
    # The rule of `Shard.contains`, for all lines.
    is_in_shard = lines % shard.total == shard.number % shard.total
    return bool(((lines > 0) & is_in_shard).all())
