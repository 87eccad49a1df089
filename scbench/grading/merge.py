"""Merging shards: what one run of the whole file would have written, from the runs of its parts.

Lines are admitted anew, in the order of the file, because only the whole file shows which of two
came first and which items have none. Everything else is in the shards already.
"""

import heapq
import json
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from scbench.base import __version__
from scbench.base.errors import ResultsError
from scbench.formats.predictions import Problem
from scbench.grading.checkpoint import WORK, ResultsWriter
from scbench.grading.options import Options, choose_tasks
from scbench.grading.output import (
    FORGED,
    PROBLEMS,
    RESULTS,
    SUMMARY,
    Problems,
    check_place,
    summary_of,
)
from scbench.grading.rows.chunks import Shard
from scbench.grading.rows.columns import Completer, RunKey, column_types
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, index_of
from scbench.grading.run import finish
from scbench.grading.summary import RunFacts, RunReport
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.children import checked_parquet
from scbench.machine.work_folder import WorkFolder, interrupted
from scbench.release.load import Release

# Rows of all shards together that are in memory.
_ROWS = 65_536
_END = 2**63
# Code of the problem that reading stopped.
_STOPPED = "unreadable"


class ShardRun(NamedTuple):
    """The finished run of a shard: its folder, which one it is, and its ``summary.json``."""

    folder: Path
    shard: Shard
    summary: dict[str, Any]


class _ShardLine(NamedTuple):
    """A line of a shard that has a row, or a problem."""

    number: int
    id: str | None
    run: RunKey | None
    problem: Problem | None = None


def read_shards(folders: Sequence[Path]) -> list[ShardRun]:
    """Return the runs in folders, in order, if they are the shards of one file, and all of them.

    Raises:
        ResultsError: a folder holds no finished shard; or there are gaps, overlaps, or shards of
            different files, releases, versions or options.
    """
    runs = sorted(
        (_read_shard(folder) for folder in folders), key=lambda run: run.shard
    )
    if not runs:
        raise ResultsError("name the output folders of all shards")
    first = runs[0]
    for run in runs[1:]:
        for (name, before), after in zip(
            _alike(first).items(), _alike(run).values(), strict=True
        ):
            if before != after:
                raise ResultsError(
                    f"{first.folder} and {run.folder} do not belong together: their {name} differ: "
                    f"{_abridged_json(before)} and {_abridged_json(after)}"
                )
    for before, after in pairwise(runs):
        if before.shard == after.shard:
            raise ResultsError(
                f"shard {before.shard} is there twice: {before.folder} and {after.folder}; name "
                "each shard once"
            )
    lacking = sorted(
        set(range(1, first.shard.total + 1)) - {run.shard.number for run in runs}
    )
    if lacking:
        absent = ", ".join(f"{number}/{first.shard.total}" for number in lacking[:10])
        remainder = f" and {len(lacking) - 10} more" if len(lacking) > 10 else ""
        raise ResultsError(
            f"shard {absent}{remainder} is not there; grade it, or name its folder"
        )
    return runs


def _alike(run: ShardRun) -> dict[str, object]:
    """Return what must be the same of all shards, by what it is called."""
    return {
        "version of scbench": run.summary["scbench"],
        "release": run.summary["release"],
        "versions of graders": run.summary["graders"],
        "options": run.summary["options"],
        "predictions file (SHA-256)": run.summary["predictions"]["sha256"],
        "number of shards": run.shard.total,
    }


def _abridged_json(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _read_shard(folder: Path) -> ShardRun:
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        shard = summary["shard"]
    except OSError:
        begun = interrupted(folder / WORK)
        todo = (
            "its run was cut off, finish it with --resume"
            if begun
            else "it has no summary.json"
        )
        raise ResultsError(f"{folder} holds no finished shard: {todo}") from None
    except (ValueError, KeyError, TypeError):
        raise ResultsError(
            f"{folder}/{SUMMARY} is not what scbench-grade writes"
        ) from None
    if shard is None:
        raise ResultsError(
            f"{folder} holds a whole run; only those of --shard i/n are merged"
        )
    if not (folder / RESULTS).is_file():
        raise ResultsError(f"{folder} holds no finished shard: it has no {RESULTS}")
    number, count = map(int, shard.split("/"))
    return ShardRun(folder, Shard(number, count), summary)


def merge(runs: Sequence[ShardRun], release: Release, out: Path) -> RunReport:
    """Write into a folder what one run of the whole file would have written.

    Raises:
        ResultsError: the shards are of another release or version of scbench, are damaged, or the
            folder cannot be written.
    """
    started = time.monotonic()
    summary = runs[0].summary
    if summary["scbench"] != __version__:
        raise ResultsError(
            f"the shards were graded by scbench {summary['scbench']}, this is {__version__}; merge "
            "with the version that graded"
        )
    if summary["release"]["rows_hash"] != release.manifest.rows_hash:
        raise ResultsError(
            f"the shards were graded against release {summary['release']['version']} "
            f"({summary['release']['rows_hash'][:12]}), this is {release.version} "
            f"({release.manifest.rows_hash[:12]}); name theirs with --release"
        )
    task_names = summary["options"]["tasks"]
    tasks = choose_tasks(release, task_names)
    if {task.id: task.grader_version for task in tasks} != summary["graders"]:
        raise ResultsError(
            "the shards were graded by other graders than are installed here"
        )
    options = Options(
        str(runs[0].folder / summary["predictions"]["files"][0]),
        release,
        out,
        WorkerLimits(
            max(run.summary["workers"] for run in runs),
            None,
            0,
            summary["options"]["allow_code"],
        ),
        task_names,
        summary["options"]["partial"],
        exclude_withdrawn=summary["options"]["exclude_withdrawn"],
    )
    facts = RunFacts(
        options,
        tasks,
        summary["predictions"]["sha256"],
        started,
        sum(run.summary["resumed"] for run in runs),
        [f"shard {run.shard}: {it}" for run in runs for it in run.summary["incidents"]],
        sorted({name for run in runs for name in run.summary["walls"]}),
    )
    completer = Completer(
        index_of(release, tasks, exclude_withdrawn=options.exclude_withdrawn)
    )
    coverage = Coverage(completer.index.known_ids)
    work = _workplace(out, summary["predictions"]["sha256"])
    problems = Problems(work.path / PROBLEMS)
    try:
        rows = ResultsWriter(work.path / "rows")
        rows.add(_admitted(runs, coverage, problems))
        # Every shard read up to where reading stopped, and says so; lines without rows it counted.
        again = max(
            0, sum(run.summary["problem_counts"].get(_STOPPED, 0) for run in runs) - 1
        )
        coverage.lines = (
            sum(run.summary["predictions"]["lines"] for run in runs) - again
        )
        coverage.not_chosen = sum(run.summary["left_alone"] for run in runs)
        for run in runs:
            coverage.note(run.summary["unread_keys"])
        coverage.excluded = sum(run.summary["withdrawn"]["lines"] for run in runs)
        return finish(facts, completer, rows, problems, coverage)
    finally:
        problems.close()
        work.remove()


def _workplace(out: Path, digest: str) -> WorkFolder:
    check_place(out, (), "", None, begun=False, restart=True)
    earlier = summary_of(out)
    if earlier is not None and earlier["predictions"].get("sha256") != digest:
        raise ResultsError(
            f"{out} holds the results of other predictions; choose another --out"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        work = WorkFolder(out / WORK)
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None
    if work.previous:
        work.close()
        raise ResultsError(f"{out} holds an interrupted run; choose another --out")
    work.clear()
    return work


def _admitted(
    runs: Sequence[ShardRun], coverage: Coverage, problems: Problems
) -> Iterator[pl.DataFrame]:
    """Admit every line anew, in order; yield the rows of those that count."""
    forged: list[Problem] = []
    gone: set[int | None] = set()
    coded = heapq.merge(
        *(_shard_problems(run) for run in runs), key=lambda line: line.number
    )
    coming = next(coded, None)
    stopped = False
    for frame in _rows_by_line(runs):
        end = _END if frame.is_empty() else frame["line"][-1]
        unique = frame.unique("line", maintain_order=True).select(
            "line", "id", *RunKey._fields
        )
        lines = [
            _ShardLine(line, row_id, RunKey(*run))
            for line, row_id, *run in unique.rows()
        ]
        while coming is not None and coming.number <= end:
            lines.append(coming)
            coming = next(coded, None)
        dropped: list[int] = []
        for number, row_id, run, problem in sorted(lines, key=lambda line: line.number):
            if problem is None or problem.code in {"duplicate", "unknown_id"}:
                place = coverage.known_ids.place(row_id or "")
                key = None if run is None else coverage.run(run)
                admission = coverage.admit(number, place, key, row_id or "")
                if admission.kind is LineKind.DUPLICATE:
                    dropped.append(number)
                    gone.add(number)
                if admission.problem is not None:
                    problems.add(admission.problem, run)
            elif problem.code == FORGED:
                forged.append(problem)
            elif problem.code != _STOPPED or not stopped:
                stopped |= problem.code == _STOPPED
                problems.add(problem)
        yield frame.filter(~pl.col("line").is_in(dropped)) if dropped else frame
    for problem in sorted(forged, key=lambda problem: problem.line or 0):
        if problem.line not in gone:
            problems.add(problem)


def _shard_problems(run: ShardRun) -> Iterator[_ShardLine]:
    path = run.folder / PROBLEMS
    counted = sum(run.summary["problem_counts"].values())
    if not counted:
        return
    try:
        with path.open(encoding="utf-8") as file:
            for count, text in enumerate(file, 1):  # noqa: B007  (wanted after the loop)
                fields = json.loads(text)
                its_run = fields.pop("run", None)
                problem = Problem(**fields)
                yield _ShardLine(
                    problem.line or _END,
                    problem.id,
                    its_run and RunKey(*its_run),
                    problem,
                )
    except (OSError, ValueError, TypeError):
        raise ResultsError(
            f"{path} cannot be read; grade shard {run.shard} again"
        ) from None
    if count != counted:
        raise ResultsError(
            f"{path} holds {count} problems, its summary counts {counted}; grade shard "
            f"{run.shard} again"
        )


def _rows_by_line(runs: Sequence[ShardRun]) -> Iterator[pl.DataFrame]:
    """Yield the rows of all shards by line, then a frame without rows."""
    sources = [_slices(run, max(512, _ROWS // len(runs))) for run in runs]
    frames = [next(source, None) for source in sources]
    while any(frame is not None for frame in frames):
        end = min(frame["line"][-1] for frame in frames if frame is not None)
        ready: list[pl.DataFrame] = []
        for i, frame in enumerate(frames):
            if frame is None:
                continue
            ready.append(frame.filter(pl.col("line") <= end))
            remainder = frame.filter(pl.col("line") > end)
            frames[i] = remainder if remainder.height else next(sources[i], None)
        yield pl.concat(ready).sort("line", "subtask")
    yield pl.DataFrame(schema=column_types())


def _slices(run: ShardRun, size: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a shard, some thousand at a time, never cutting a line's rows in two."""
    path = run.folder / RESULTS
    with checked_parquet(path, ResultsError) as rows:
        lines = rows.select("line").collect()["line"]
        sound = lines.null_count() == 0 and lines.is_sorted()
        sound &= (lines % run.shard.total == run.shard.number % run.shard.total).all()
        if len(lines) != run.summary["rows"] or not sound:
            raise ResultsError(f"{path} is not of {run.shard}; grade that shard again")
        start = 0
        while start < len(lines):
            stop = min(start + size, len(lines))
            while stop < len(lines) and lines[stop] == lines[stop - 1]:
                stop += 1
            yield rows.slice(start, stop - start).collect()
            start = stop
