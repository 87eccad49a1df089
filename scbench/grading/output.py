"""The output of a run: files that are written completely or not at all, and problems of lines."""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from pydantic import BaseModel, JsonValue, ValidationError

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, ResultsError
from scbench.formats.predictions import Problem
from scbench.grading.checkpoint import WORK
from scbench.grading.rows.columns import RunKey
from scbench.machine.files import read_regular, write_whole

# Maximum number of problems listed in a summary.
SUMMARISED = 1000


RESULTS = "results.parquet"
SUMMARY = "summary.json"
PROBLEMS = "problems.jsonl"
OUTPUTS = (RESULTS, SUMMARY, PROBLEMS)
# File in the work folder of an unfinished run with the names of the graded files.
SOURCES = "sources.json"
# Every page by scbench contains this text within the first bytes.
_GENERATOR = b'<meta name="generator" content="scbench '
_HEAD = 2**16


class _Graded(BaseModel):
    file: str
    # Summaries of earlier versions name a single file.
    files: list[str] | None = None


class _Release(BaseModel):
    version: str


class _SummaryForm(BaseModel):
    """The parts of a summary that decide whether its results can be replaced."""

    release: _Release
    predictions: _Graded
    options: dict[str, JsonValue]
    shard: str | None


class Problems:
    """Accepts problems in line order, and writes them to a file, one JSON object per line.

    Lines of converted files are located in the original files.

    Attributes:
        path: path of the file.
        counts: number of problems by code.
        first: the first ones, for the summary.
    """

    def __init__(
        self, path: Path, locate: Callable[[Problem], Problem] | None = None
    ) -> None:
        self._locate = locate
        self.counts: Counter[str] = Counter()
        self.first: list[Problem] = []
        self.path = path
        # Most runs have no problem, so the file is created with the first one.
        self._file: IO[str] | None = None

    def add(self, problem: Problem, run: RunKey | None = None) -> None:
        """Record a problem; `run` is the run of a line that gets a row."""
        if self._locate is not None:
            problem = self._locate(problem)
        self.counts[problem.code] += 1
        if len(self.first) < SUMMARISED:
            self.first.append(problem)
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8")
        fields: dict[str, object] = {**problem.fields()}
        if run is not None:
            fields["run"] = run
        self._file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def place(self, target: Path, *, keep: bool) -> None:
        """Move the file to its final place, or remove the file of an earlier run."""
        self.close()
        if keep and self.counts:
            self.path.replace(target)
        else:
            target.unlink(missing_ok=True)


def readable_name(name: str) -> str:
    """Return the name of a file as text: names need not be UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def sources(folder: Path, files: Sequence[str]) -> list[str]:
    """Return files as paths relative to the results folder, as in a summary."""
    names = []
    for file in files:
        path = file if file == "-" else os.path.relpath(file, folder)
        names.append(readable_name(path))
    return names


def write_sources(work: Path, folder: Path, files: Sequence[str]) -> None:
    """Write the names of the files of an unfinished run into its work folder."""
    text = json.dumps(sources(folder, files))
    write_whole(work / SOURCES, lambda path: path.write_text(text, "utf-8"))


def first_source(folder: Path) -> str | None:
    """Return the first file of the run in a folder, finished or not; None if unknown."""
    try:
        names = parse_json(read_regular(folder / WORK / SOURCES))
    except (OSError, JsonError):
        summary = summary_of(folder) or {"predictions": {}}
        predictions = summary["predictions"]
        names = predictions.get("files") or [predictions.get("file")]
    first = names[0] if isinstance(names, list) and names else None
    return first if isinstance(first, str) else None


def source_names(folder: Path, file: str) -> list[str]:
    """Return the names that `first_source` may return for a file and a results folder."""
    # Summaries of earlier versions contain only the last part of the path.
    return [*sources(folder, [file]), readable_name(Path(file).name)]


def check_sources(folder: Path, files: Sequence[str]) -> None:
    """Check that a folder contains no results of other files.

    Raises:
        ResultsError: the folder contains results of other files.
    """
    earlier = summary_of(folder)
    if earlier is None:
        return
    names = sources(folder, files)
    stored = earlier["predictions"].get("files")
    if stored is None:  # a summary of an earlier version names a single file
        names = [Path(file).name for file in files]
        stored = [earlier["predictions"]["file"]]
    if names != stored or "-" in names:  # the content of a pipe is unknown
        refuse(folder, earlier, f"the results of {', '.join(stored[:5])}")


def refuse(folder: Path, earlier: Mapping[str, Any], contents: str) -> NoReturn:
    """Refuse to overwrite results; `earlier` is their summary."""
    raise ResultsError(
        f"{folder} contains {contents} on release {earlier['release']['version']}, which "
        "would be overwritten; choose another --out, or replace them with --restart"
    )


def check_place(
    folder: Path,
    files: Sequence[str],
    release: str,
    options: Mapping[str, object] | None,
    *,
    begun: bool,
    restart: bool,
) -> None:
    """Check that results can be written to a folder and overwrite only results of the same run.

    Only a restart replaces results of other files, of another release, or of other
    options. A different --partial is allowed: it only affects rows without an answer.

    Raises:
        ResultsError: an existing file would be lost.
    """
    outputs = [folder / name for name in OUTPUTS if os.path.lexists(folder / name)]
    for path in outputs:
        if is_among(path, files):
            raise ResultsError(
                f"{path} is the predictions file and would be overwritten; choose another "
                "--out"
            )
        if path.is_dir():
            raise ResultsError(
                f"{path} is a folder; move it elsewhere, or choose another --out"
            )
    # Results next to an interrupted run are the ones it would have replaced.
    if not outputs or begun:
        return
    earlier = summary_of(folder)
    if earlier is None:
        raise ResultsError(
            f"{outputs[0]} was not written by scbench-grade and would be overwritten; move it "
            "elsewhere, or choose another --out"
        )
    if restart:
        return
    check_sources(folder, files)
    if earlier["release"]["version"] != release:
        refuse(folder, earlier, "results")
    before = earlier["options"] | {"shard": earlier["shard"]}
    for name, value in (options or {}).items():
        stored = before.get(name)
        if name != "partial" and stored != value:
            refuse(folder, earlier, f"results with {name} {option_words(stored)}")


def is_among(path: Path, files: Sequence[str]) -> bool:
    """Return whether a path is one of several files under any name; ``-`` never is."""
    present = [Path(file) for file in files if file != "-" and os.path.exists(file)]  # noqa: PTH110
    return any(path.samefile(file) for file in present)


def option_words(value: object) -> str:
    """Return an option's value for a message."""
    return ", ".join(value) if isinstance(value, list) else str(value).lower()


def check_report(path: Path, predictions: str) -> None:
    """Check that a report can be written to a path and overwrites only an earlier report.

    Raises:
        ResultsError: the existing file is not a report by scbench.
    """
    if not os.path.lexists(path):
        return
    # Links are not read, because they may point to any file.
    head = b""
    if path.is_file() and not path.is_symlink():
        with path.open("rb") as file:
            head = file.read(_HEAD)
    is_same = predictions != "-" and path.exists() and path.samefile(predictions)
    if is_same or _GENERATOR not in head:
        raise ResultsError(
            f"{path} is not a report by scbench and would be overwritten; move it elsewhere, or "
            "choose another --out"
        )


def summary_of(folder: Path) -> dict[str, Any] | None:
    """Return the summary of the run whose results a folder contains; None if there is none."""
    try:
        summary = parse_json(read_regular(folder / SUMMARY))
        _SummaryForm.model_validate(summary)
    except (OSError, JsonError, ValidationError):
        return None
    return cast("dict[str, Any]", summary)


def write_results(folder: Path, results: Path, summary: Mapping[str, Any]) -> None:
    """Move results and summary into place, each completely or not at all.

    The finished results are moved there, on the same file system; the summary is written as JSON.

    Raises:
        ResultsError: the folder cannot be written.
    """
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    try:
        results.replace(folder / RESULTS)
        write_whole(folder / SUMMARY, lambda path: path.write_text(text, "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None
