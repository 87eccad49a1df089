"""Files of other programs, and several files, as the one stream of predictions that is graded.

The stream is kept beside the results, as ``imported.jsonl``: lines of results are lines of it, and
whatever looks into answers later finds them there. Problems name the file and line they came from.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from filecmp import cmp
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.errors import ResultsError
from scbench.formats.imports.files import is_own
from scbench.formats.predictions import Problem
from scbench.grading.output import is_ours
from scbench.machine.files import whole_file
from scbench.machine.work_folder import no_empty

if TYPE_CHECKING:
    from scbench.formats.imports.gather import Wanted

IMPORTED = "imported.jsonl"


@dataclass(frozen=True, slots=True)
class Imported:
    """What the stream was made of.

    Attributes:
        recognised: what each file was found to be, in a sentence.
        problems: entries that could not be placed.
        origin: gives the file and line that a line of the stream was made of.
    """

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
    files: Sequence[str], folder: Path, reading: "Wanted", *, ours: bool = False
) -> tuple[str, Imported | None]:
    """Return the path of predictions to grade; one file of our own form is taken as it stands.

    Args:
        files: as the user named them.
        folder: where `IMPORTED` is written, unless there is no need.
        reading: how files of other programs are read.
        ours: whether what stands there under this name may be replaced in any case.

    Raises:
        PredictionsError: a file cannot be read at all.
        ResultsError: another file of this name would be lost.
    """
    if len(files) == 1 and is_own(files[0], reading.mapped):
        return files[0], None
    from scbench.formats.imports.gather import gather  # noqa: PLC0415  (few runs need it)

    path = folder / IMPORTED
    for name in files:
        if os.path.exists(name) and path.exists() and path.samefile(name):  # noqa: PTH110
            raise ResultsError(f"{path} is among the files and would be overwritten; name --out")
    with no_empty(folder), whole_file(path) as scratch:
        with scratch.open("wb") as sink:
            gathered = gather(files, sink, reading)
        replaceable = ours or not os.path.lexists(path) or is_ours(folder)
        if not replaceable and not cmp(path, scratch, shallow=False):
            raise ResultsError(
                f"{path} was not written by scbench-grade, and would be overwritten; move it "
                "away, or choose another --out"
            )
    return str(path), Imported(gathered.recognised, gathered.problems, gathered.origin)
