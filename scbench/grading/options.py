"""The options of a run.

Files of other programs, and several files, become one stream of predictions. It is
stored next to the results as ``imported.jsonl``: line numbers in results refer to it,
and later commands find the answers there. Problems name the original file and line.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from filecmp import cmp
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.canonical import sha256
from scbench.base.errors import CatalogError, PredictionsError, ResultsError
from scbench.catalog import Task, get_task
from scbench.formats.imports.gather import is_own
from scbench.formats.predictions import UNPACKING_ERRORS, Problem, open_predictions
from scbench.grading.output import (
    check_sources,
    first_source,
    is_among,
    source_names,
    summary_of,
)
from scbench.grading.rows.chunks import Shard
from scbench.grading.run_file import Described
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.machine.files import whole_file
from scbench.machine.work_folder import no_empty
from scbench.release.load import Release

if TYPE_CHECKING:
    from scbench.formats.imports.gather import ImportOptions

IMPORTED = "imported.jsonl"


# Characters of a folder name built from a path, and of the hash after it.
_LONGEST = 80
_HASH = 8
# Suffixes left out of folder names. Other dots belong to model names, such as gpt-4.1.
_PACKINGS = (".gz", ".zst")
_FORMS = (
    ".jsonl",
    ".ndjson",
    ".json",
    ".csv",
    ".parquet",
    ".arrow",
    ".eval",
    ".zip",
    ".txt",
)
# The task in the id of an answer. Blanks are bounded so that matching stays linear.
_TASK = re.compile(
    rb"""
    "id"\s{0,9}:\s{0,9}"
    (?:[0-9a-f]{8}:)?           # prefix of generated items
    ([a-z][a-z0-9_]{0,99})/
    """,
    re.VERBOSE,
)
# The status of a line without an answer.
_UNANSWERED = re.compile(
    rb"""
    "status"\s{0,9}:\s{0,9}"
    (?:blocked|missing|api_error|not_run|refused|truncated)"
    """,
    re.VERBOSE,
)
# Bytes of a file searched at a time, and the overlap of two portions, which is longer
# than any match.
_PORTION = 2**20
_OVERLAP = 120
# File errors, which are reported when the file is graded.
_READ_ERRORS = (PredictionsError, *UNPACKING_ERRORS)


@dataclass(frozen=True, slots=True)
class Imported:
    """The origin of a stream that was converted from other files.

    Attributes:
        files: the files, as they were named.
        recognised: formats of the files, as text.
        problems: entries that could not be added to the stream.
        origin: function that maps a line of the stream to its file and line.
    """

    files: Sequence[str]
    recognised: str
    problems: Sequence[Problem]
    origin: Callable[[int], tuple[str, int]]

    def with_origin(self, problem: Problem) -> Problem:
        """Return a problem of the stream with its original file and line."""
        if not problem.line or problem.file is not None:
            return problem
        file, line = self.origin(problem.line)
        return replace(problem, file=file, line=line)


def import_files(
    files: Sequence[str],
    folder: Path,
    reading: "ImportOptions",
    *,
    ours: bool = False,
    restart: bool = False,
) -> tuple[str, Imported | None]:
    """Return the path of predictions to grade; one file in scbench's format is used unchanged.

    Other files become `IMPORTED` in the folder. An existing file of this name may be
    replaced if scbench made it from the same files; a restart replaces any file.

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
    if path.exists() and is_among(path, files):
        raise ResultsError(
            f"{path} is one of the input files and would be overwritten; choose another "
            "folder with --out"
        )
    # Create the stream first: the existing file may be equal to it.
    with no_empty(folder), whole_file(path) as scratch:
        with scratch.open("wb") as sink:
            gathered = gather(files, sink, reading)
        # A summary shows that a run of scbench wrote to the folder.
        is_new = not os.path.lexists(path)
        is_replaceable = ours or is_new or summary_of(folder) is not None
        if not is_replaceable and not cmp(path, scratch, shallow=False):
            raise ResultsError(
                f"{path} was not written by scbench-grade and would be overwritten; move it "
                "elsewhere, or choose another --out"
            )
    imported = Imported(files, gathered.recognised, gathered.problems, gathered.origin)
    return str(path), imported


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    Attributes:
        predictions: path of the file, or ``-`` for standard input.
        release: the release to grade against.
        out: folder for the results.
        limits: workers, seconds and memory.
        tasks: ids or buckets of the tasks to grade; None for the tasks of the default
            config.
        partial: whether the file answers only some items on purpose.
        resume: continue an interrupted run.
        restart: discard an interrupted run.
        exclude_withdrawn: leave out instances that the release withdraws.
        shard: grade only one of several equal parts of the lines; None for all.
        cluster: address of a dask scheduler whose workers do the work; None for this machine's.
        described: metadata for runs whose lines contain none, see `read_run_file`.
        imported: the origin of the predictions, if they were converted from other files.
        copied_from: the file that the predictions were copied from; None for no copy.
        has_resume: whether the user's command has the option ``--resume``.
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
    copied_from: str | None = None
    has_resume: bool = True

    @property
    def files(self) -> Sequence[str]:
        """The files that the user named."""
        if self.imported:
            return self.imported.files
        return [self.copied_from or self.predictions]

    @property
    def stored(self) -> dict[str, object]:
        """The part of these options that ``summary.json`` contains."""
        return {
            "tasks": None if self.tasks is None else sorted(self.tasks),
            "partial": self.partial,
            "exclude_withdrawn": self.exclude_withdrawn,
            "allow_code": self.limits.allow_code,
        }


def default_folder(file: str, ending: str = "") -> Path:
    """Return the default results folder for a predictions file.

    Its name is made from the file's path below the working folder, or from the last two
    parts of the path. If that folder has results of another file, a short hash of the
    path is added.

    Args:
        file: path of the file, or ``-`` for standard input.
        ending: suffix of the name.
    """
    if file == "-":
        return Path("scbench-results", f"stdin{ending}")
    path = Path(os.path.abspath(file))  # noqa: PTH100  (links count as separate names)
    working_folder = Path.cwd()
    parts = path.parts[-2:]
    if path.is_relative_to(working_folder) and path != working_folder:
        parts = path.relative_to(working_folder).parts
    name = "-".join([*parts[:-1], without_endings(parts[-1])]).lstrip("./-")
    name = name[-_LONGEST:] or "results"
    folder = Path("scbench-results", f"{name}{ending}")
    source = first_source(folder)
    if source is None or source in source_names(folder, file):
        return folder
    path_hash = sha256(os.fsencode(os.path.relpath(path, working_folder)))[:_HASH]
    return folder.with_name(f"{name}-{path_hash}{ending}")


def without_endings(name: str) -> str:
    """Return the name of a file without its format suffixes."""
    for endings in (_PACKINGS, _FORMS):
        for ending in endings:
            if name.lower().endswith(ending):
                name = name[: -len(ending)]
                break
    return name


def tasks_in(path: str, release: Release) -> list[str] | None:
    """Return the tasks to grade if none were named and a file contains text tasks.

    These are the text tasks in the file, and the buckets of the default config if it
    has lines of them. None means the default config.
    """
    default = release.manifest.default_tasks
    records = release.manifest.tasks
    text_tasks = {task for task in records if task not in default}
    if not text_tasks or not Path(path).is_file():
        return None  # a pipe can be read only once
    tasks_of_lines = {*answers_of_tasks(path)}
    present = [task for task in records if task in text_tasks & tasks_of_lines]
    if not present:
        return None
    # Named tasks replace the default config, so its buckets must be named, too.
    buckets: dict[str, None] = {}
    if tasks_of_lines - text_tasks:
        buckets = dict.fromkeys(records[task].bucket for task in default)
    return [*buckets, *present]


def answers_of_tasks(path: str) -> Mapping[str, int]:
    """Return the approximate number of answers to each task in a file, as far as it is readable.

    Tasks whose lines have no answer are included, with 0.
    """
    stat = Path(path).stat()
    return _answers_of_tasks(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=1)
def _answers_of_tasks(path: str, _size: int, _time: int) -> Counter[str]:
    """Read a file; reuse the result while its size and modification time stay the same."""
    answers: Counter[str] = Counter()
    for portion in _portions(path):
        answers.update(task.decode() for task in _TASK.findall(portion))
        # Few files have such lines, so most portions are not split.
        if not _UNANSWERED.search(portion):
            continue
        for line in portion.split(b"\n"):
            task = _TASK.search(line)
            if task and _UNANSWERED.search(line):
                answers[task[1].decode()] -= 1
    return answers


def _portions(path: str) -> Iterator[bytes]:
    """Yield overlapping parts of a file, as far as it is readable."""
    tail = b""
    with suppress(*_READ_ERRORS), open_predictions(path) as stream:
        while portion := stream.read(_PORTION):
            # Lines within the overlap are counted twice, which hardly matters.
            yield tail + portion
            tail = portion[-_OVERLAP:]


def choose_tasks(release: Release, tasks: Sequence[str] | None) -> list[Task]:
    """Return the tasks to grade, in the release's order; by default, its default config's tasks.

    The default config does not mix text tasks with spatial ones. A bucket selects all
    of its tasks.

    Raises:
        CatalogError: a name is not a task or bucket of the release, or this installation cannot
            grade it.
    """
    graded = [get_task(name) for name in release.manifest.named_tasks(tasks)]
    for task in graded:
        if not task.available:
            raise CatalogError(f"this installation has no grader for {task.id}")
    return graded
