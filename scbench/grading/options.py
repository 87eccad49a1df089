"""What to grade, and how.

Files of other programs, and several files, become one stream of predictions. It is kept beside the
results, as ``imported.jsonl``: lines of results are lines of it, and whatever looks into answers
later finds them there. Problems name the file and line they came from.
"""

import os
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from filecmp import cmp
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from scbench.base.errors import CatalogError, PredictionsError, ResultsError
from scbench.catalog import Task, get_task
from scbench.formats.imports.gather import is_own
from scbench.formats.predictions import Problem, open_predictions
from scbench.grading.output import check_sources, is_ours
from scbench.grading.rows.chunks import Shard
from scbench.grading.rows.index import Described
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.files import whole_file
from scbench.machine.work_folder import no_empty
from scbench.release.load import Release

if TYPE_CHECKING:
    from scbench.formats.imports.gather import ImportOptions

IMPORTED = "imported.jsonl"


# Characters of the name of a folder that is made of a path.
_LONGEST = 80
_ID = re.compile(rb'"id"\s{0,9}:\s{0,9}"(?:[0-9a-f]{8}:)?([a-z][a-z0-9_]{0,99})/')
_PORTION = 2**20


@dataclass(frozen=True, slots=True)
class Imported:
    """What the stream was made of: what files were found to be, and entries that have no place.

    The origin of a line of the stream is a file and a line of it. The files are those that were
    named.
    """

    files: Sequence[str]
    recognised: str
    problems: Sequence[Problem]
    origin: Callable[[int], tuple[str, int]]

    def with_origin(self, problem: Problem) -> Problem:
        """Return a problem of the stream with the file and line it came from."""
        if not problem.line or problem.file is not None:
            return problem
        file, line = self.origin(problem.line)
        return replace(problem, file=file, line=line)


def take_in(
    files: Sequence[str],
    folder: Path,
    reading: "ImportOptions",
    *,
    ours: bool = False,
    restart: bool = False,
) -> tuple[str, Imported | None]:
    """Return the path of predictions to grade; one file of our own form is taken as it stands.

    Others become `IMPORTED` in the folder; what stands there under this name may be replaced if it
    is ours, and was made of the same files, unless it is a restart.

    Raises:
        PredictionsError: a file cannot be read at all.
        ResultsError: another file of this name would be lost.
    """
    if len(files) == 1 and is_own(files[0], reading.mapped):
        return files[0], None
    from scbench.formats.imports.gather import gather  # noqa: PLC0415  (few runs need it)

    path = folder / IMPORTED
    if not ours and not restart:
        check_sources(folder, files)
    for name in files:
        if os.path.exists(name) and path.exists() and path.samefile(name):  # noqa: PTH110
            raise ResultsError(
                f"{path} is among the files and would be overwritten; name --out"
            )
    with no_empty(folder), whole_file(path) as scratch:
        with scratch.open("wb") as sink:
            gathered = gather(files, sink, reading)
        replaceable = ours or not os.path.lexists(path) or is_ours(folder)
        if not replaceable and not cmp(path, scratch, shallow=False):
            raise ResultsError(
                f"{path} was not written by scbench-grade, and would be overwritten; move it "
                "away, or choose another --out"
            )
    return str(path), Imported(
        files, gathered.recognised, gathered.problems, gathered.origin
    )


@dataclass(frozen=True, slots=True)
class Options:
    """What to grade, and how.

    Attributes:
        predictions: path of the file, or ``-`` for standard input.
        release: what to grade against.
        out: folder for the results.
        tasks: ids or buckets of the tasks to grade; None for those of the default config.
        partial: whether a file that does not answer every item is meant to be so.
        limits: workers, seconds and memory.
        resume: go on with an interrupted run.
        restart: throw an interrupted run away.
        exclude_withdrawn: leave instances out that the release withdraws.
        shard: grade only one of several equal parts of the lines; None for all.
        cluster: address of a dask scheduler whose workers do the work; None for this machine's.
        described: metadata of runs whose lines have none, see `read_run_file`.
        imported: what the predictions were made of, if other files were taken in.
    """

    predictions: str
    release: Release
    out: Path
    limits: WorkerLimits
    tasks: Sequence[str] | None = None
    partial: bool = False
    resume: bool = False
    restart: bool = False
    exclude_withdrawn: bool = False
    shard: Shard | None = None
    cluster: str | None = None
    described: Described = ()
    imported: Imported | None = None

    @property
    def files(self) -> Sequence[str]:
        """The files that were named."""
        return self.imported.files if self.imported else [self.predictions]

    @property
    def stored(self) -> dict[str, object]:
        """What ``summary.json`` holds of these options."""
        return {
            "tasks": None if self.tasks is None else sorted(self.tasks),
            "partial": self.partial,
            "exclude_withdrawn": self.exclude_withdrawn,
            "allow_code": self.limits.allow_code,
        }


def default_folder(file: str) -> Path:
    """Return the folder of the results of a file, which tells files of one name apart.

    Its name is the path of the file below the working folder, or the last two parts of its path.
    """
    if file == "-":
        return Path("scbench-results", "stdin")
    path = Path(os.path.abspath(file))  # noqa: PTH100  (links are names of their own)
    here = Path.cwd()
    *above, name = (
        path.relative_to(here).parts if path.is_relative_to(here) else path.parts[-2:]
    )
    parts = [*above, name.partition(".")[0]]
    return Path(
        "scbench-results", "-".join(parts).lstrip(".-")[-_LONGEST:] or "results"
    )


def tasks_in(path: str, release: Release) -> list[str] | None:
    """Return what to grade of a file for which nothing was named, if text answers are in it.

    That is what it answers of both: the buckets of the default config if it holds any line of
    them, and those text tasks that it has lines of. None is the default config.
    """
    default = release.manifest.default_tasks
    texts = {task for task in release.manifest.tasks if task not in default}
    if not texts or not Path(path).is_file():
        return None  # a pipe is read once
    task_ids: set[str] = set()
    tail = b""
    faults = (OSError, EOFError, PredictionsError, zlib.error, zstandard.ZstdError)
    # What is wrong with a file is said when it is graded.
    with suppress(*faults), open_predictions(path) as stream:
        while portion := stream.read(_PORTION):
            task_ids.update(match.decode() for match in _ID.findall(tail + portion))
            tail = portion[-120:]
    present = [task for task in release.manifest.tasks if task in texts & task_ids]
    records = release.manifest.tasks
    buckets = (
        dict.fromkeys(records[task].bucket for task in default)
        if task_ids - texts
        else {}
    )
    return [*buckets, *present] if present else None


def choose_tasks(release: Release, tasks: Sequence[str] | None) -> list[Task]:
    """Return the tasks to grade, in the release's order; none named means its default config.

    That has no text tasks beside spatial ones. Buckets stand for all of theirs.

    Raises:
        CatalogError: a name is not a task or bucket of the release, or this installation cannot
            grade it.
    """
    graded = [get_task(name) for name in release.manifest.named_tasks(tasks)]
    for task in graded:
        if not task.available:
            raise CatalogError(f"this installation has no grader for {task.id}")
    return graded
