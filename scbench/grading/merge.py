"""Merging shards: what one run of the whole file would have written, from the runs of its parts.

Lines are entered into a ledger anew, in the order of the file, because only the whole file shows
which of two lines came first and which items have none. Everything else is in the shards already.
"""

import heapq
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.errors import ResultsError
from scbench.grading.checkpoint.assemble import Sheets, missing
from scbench.grading.checkpoint.journal import JOURNAL
from scbench.grading.checkpoint.parts import PARTS
from scbench.grading.output import RESULTS, SUMMARY
from scbench.grading.problems import PROBLEMS, Problems
from scbench.grading.rows.chunks import Shard
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import Ledger
from scbench.grading.rows.index import contents_of
from scbench.grading.rows.schema import RunKey, results_schema
from scbench.grading.run import Options, Report, choose_tasks, finish
from scbench.grading.summary import Facts
from scbench.grading.workers.scheduler import Limits
from scbench.predictions import Problem
from scbench.release.load import Release
from scbench.version import __version__

if TYPE_CHECKING:
    import polars as pl

_ROWS = 65_536
"""Rows of all shards together that are in memory."""
_ALIKE = {
    "scbench": "version of scbench",
    "release": "release",
    "graders": "versions of graders",
    "options": "options",
}
_END = 2**63


@dataclass(frozen=True, slots=True)
class ShardRun:
    """The finished run of a shard.

    Attributes:
        folder: its output.
        shard: which one it is.
        summary: content of its ``summary.json``.
    """

    folder: Path
    shard: Shard
    summary: dict[str, Any]


class _Told(NamedTuple):
    """A problem of a shard."""

    line: int
    problem: Problem
    run: tuple[Any, ...] | None


def read_shards(folders: Sequence[Path]) -> list[ShardRun]:
    """Return the runs in folders, in order, if they are the shards of one file, and all of them.

    Raises:
        ResultsError: a folder holds no finished shard; or there are gaps, overlaps, or shards of
            different files, releases, versions or options.
    """
    runs = sorted((_read(folder) for folder in folders), key=lambda run: run.shard)
    if not runs:
        raise ResultsError("name the output folders of all shards")
    first = runs[0]
    for run in runs[1:]:
        for key, name in _ALIKE.items():
            _same(first, run, name, first.summary[key], run.summary[key])
        files = [each.summary["predictions"]["sha256"] for each in (first, run)]
        _same(first, run, "predictions file (SHA-256)", *files)
        counts = [each.shard.total for each in (first, run)]
        _same(first, run, "number of shards", *counts)
    for one, other in pairwise(runs):
        if one.shard == other.shard:
            raise ResultsError(
                f"shard {one.shard} is there twice: {one.folder} and {other.folder}; name each "
                "shard once"
            )
    lacking = sorted(set(range(1, first.shard.total + 1)) - {run.shard.number for run in runs})
    if lacking:
        named = ", ".join(f"{number}/{first.shard.total}" for number in lacking[:10])
        more = f" and {len(lacking) - 10} more" if len(lacking) > 10 else ""
        raise ResultsError(f"shard {named}{more} is not there; grade it, or name its folder")
    return runs


def _same(first: ShardRun, run: ShardRun, name: str, one: object, other: object) -> None:
    if one != other:
        raise ResultsError(
            f"{first.folder} and {run.folder} do not belong together: their {name} differ: "
            f"{_shown(one)} and {_shown(other)}"
        )


def _shown(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _read(folder: Path) -> ShardRun:
    try:
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        shard = summary["shard"]
    except OSError:
        begun = (folder / PARTS).exists() or (folder / JOURNAL).exists()
        todo = "its run was cut off, finish it with --resume" if begun else "it has no summary.json"
        raise ResultsError(f"{folder} holds no finished shard: {todo}") from None
    except (ValueError, KeyError, TypeError):
        raise ResultsError(f"{folder}/{SUMMARY} is not what scbench-grade writes") from None
    if shard is None:
        raise ResultsError(f"{folder} holds a whole run; only those of --shard i/n are merged")
    if not (folder / RESULTS).is_file():
        raise ResultsError(f"{folder} holds no finished shard: it has no {RESULTS}")
    number, count = map(int, shard.split("/"))
    return ShardRun(folder, Shard(number, count), summary)


def merge(runs: Sequence[ShardRun], release: Release, out: Path) -> Report:
    """Write what one run of the whole file would have written.

    Args:
        runs: as `read_shards` returns them.
        release: that they were graded against.
        out: folder for the results.

    Raises:
        ResultsError: the shards are of another release or version of scbench, are damaged, or the
            folder cannot be written.
    """
    started = time.monotonic()
    given = runs[0].summary
    if given["scbench"] != __version__:
        raise ResultsError(
            f"the shards were graded by scbench {given['scbench']}, this is {__version__}; merge "
            "with the version that graded"
        )
    if given["release"]["rows_hash"] != release.manifest.rows_hash:
        raise ResultsError(
            f"the shards were graded against release {given['release']['version']} "
            f"({given['release']['rows_hash'][:12]}), this is {release.version} "
            f"({release.manifest.rows_hash[:12]}); name theirs with --release"
        )
    chosen = given["options"]["tasks"]
    tasks = choose_tasks(release, chosen)
    if {task.id: task.grader_version for task in tasks} != given["graders"]:
        raise ResultsError("the shards were graded by other graders than are installed here")
    options = Options(
        given["predictions"]["file"],
        release,
        out,
        Limits(
            max(run.summary["workers"] for run in runs), None, 0, given["options"]["allow_code"]
        ),
        chosen,
        given["options"]["partial"],
        exclude_withdrawn=given["options"]["exclude_withdrawn"],
    )
    contents = contents_of(release, tasks, exclude_withdrawn=options.exclude_withdrawn)
    known = contents.known
    ledger = Ledger(known.positions, known.tasks, known.chosen, known.excluded)
    for run in runs:
        ledger.left_alone += run.summary["left_alone"]
        ledger.left_out += run.summary["withdrawn"]["lines"]
        ledger.lines += run.summary["predictions"]["lines"]
    folder = _workplace(out)
    problems = Problems(folder / PROBLEMS)
    try:
        rows = Sheets(folder / "sheets")
        rows.add(_entered(runs, ledger, problems))
        if not ledger.lines:
            problems.add(Problem("empty", "the file holds no predictions"))
        if not options.partial:
            problems.extend(ledger.incomplete())
        rows.add(missing(Completer(contents), ledger))
        facts = Facts(
            options,
            tasks,
            given["predictions"]["sha256"],
            sorted({wall for run in runs for wall in run.summary["walls"]}),
        )
        incidents = [f"shard {run.shard}: {it}" for run in runs for it in run.summary["incidents"]]
        resumed = sum(run.summary["resumed"] for run in runs)
        return finish(facts, rows, problems, ledger, incidents, resumed, started)
    finally:
        problems.close()
        shutil.rmtree(folder)


def _workplace(out: Path) -> Path:
    if (out / PARTS).exists() or (out / JOURNAL).exists():
        raise ResultsError(f"{out} holds an interrupted run; choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".merge-", dir=out))
    except OSError as error:
        raise ResultsError(f"cannot write to {out}: {error.strerror}") from None


def _entered(
    runs: Sequence[ShardRun], ledger: Ledger, problems: Problems
) -> "Iterator[pl.DataFrame]":
    """Enter every line into the ledger, in order; yield the rows of those that count."""
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per merge)

    told = heapq.merge(*(_problems(run) for run in runs), key=lambda entry: entry.line)
    coming = next(told, None)
    stopped = False
    columns = ("line", "id", "model", "setting", "sample", "budget")
    for frame in _in_order(runs):
        end = _END if frame.is_empty() else frame["line"][-1]
        events: list[tuple[int, str | None, tuple[Any, ...] | None, Problem | None]] = []
        lines = frame.unique("line", maintain_order=True)
        inside = lines["instance_hash"].is_not_null()
        for (line, row_id, *run), held in zip(lines.select(columns).rows(), inside, strict=True):
            events.append((line, row_id if held else None, tuple(run), None))
        while coming is not None and coming.line <= end:
            events.append((coming.line, coming.problem.id, coming.run, coming.problem))
            coming = next(told, None)
        dropped: list[int] = []
        for line, row_id, its_run, problem in sorted(events, key=lambda event: event[0]):
            if its_run is not None:
                book = ledger.open_run(RunKey(*its_run))
                if row_id is None:
                    continue
                position = ledger.known.positions[row_id]
                if book[position]:
                    dropped.append(line)
                    again = ledger.duplicate(line, position, book[position])
                    problems.add(again, run=its_run)
                else:
                    book[position] = line
            elif problem is not None and problem.code == "unreadable":
                # Every shard read up to here.
                ledger.lines -= stopped
                if not stopped:
                    problems.add(problem)
                stopped = True
            elif problem is not None and problem.code == "unknown_id" and row_id is not None:
                problems.add(ledger.unknown(line, row_id))
            elif problem is not None:
                problems.add(problem)
        yield frame.filter(~pl.col("line").is_in(dropped)) if dropped else frame


def _problems(run: ShardRun) -> Iterator[_Told]:
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
                yield _Told(problem.line or _END, problem, its_run and tuple(its_run))
    except (OSError, ValueError, TypeError):
        raise ResultsError(f"{path} cannot be read; grade shard {run.shard} again") from None
    if count != counted:
        raise ResultsError(
            f"{path} holds {count} problems, its summary counts {counted}; grade shard "
            f"{run.shard} again"
        )


def _in_order(runs: Sequence[ShardRun]) -> "Iterator[pl.DataFrame]":
    """Yield the rows of all shards by line, then a frame without rows."""
    import polars as pl  # noqa: PLC0415  (as above)

    sources = [_slices(run, max(512, _ROWS // len(runs))) for run in runs]
    held = [next(source, None) for source in sources]
    while any(frame is not None for frame in held):
        end = min(frame["line"][-1] for frame in held if frame is not None)
        ready: list[pl.DataFrame] = []
        for i, frame in enumerate(held):
            if frame is None:
                continue
            ready.append(frame.filter(pl.col("line") <= end))
            rest = frame.filter(pl.col("line") > end)
            held[i] = rest if rest.height else next(sources[i], None)
        yield pl.concat(ready).sort("line", "subtask")
    yield pl.DataFrame(schema=results_schema())


def _slices(run: ShardRun, size: int) -> "Iterator[pl.DataFrame]":
    """Yield the rows of a shard, some thousand at a time, never cutting a line's rows in two."""
    import polars as pl  # noqa: PLC0415  (as above)

    path = run.folder / RESULTS
    try:
        lines = pl.read_parquet(path, columns=["line"])["line"]
        sound = lines.null_count() == 0 and lines.is_sorted()
        sound &= (lines % run.shard.total == run.shard.number % run.shard.total).all()
        if len(lines) != run.summary["rows"] or not sound:
            raise ResultsError(f"{path} is not of {run.shard}; grade that shard again")
        start = 0
        while start < len(lines):
            stop = min(start + size, len(lines))
            while stop < len(lines) and lines[stop] == lines[stop - 1]:
                stop += 1
            yield pl.scan_parquet(path).slice(start, stop - start).collect()
            start = stop
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise ResultsError(f"{path} cannot be read as Parquet: {first}") from None
