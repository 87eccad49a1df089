"""Several files of any form as one stream of predictions, with where each line came from."""

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from tempfile import SpooledTemporaryFile
from typing import IO

from scbench.base.errors import PredictionsError, printable
from scbench.formats.imports.files import read_file
from scbench.formats.imports.replies import Reply
from scbench.formats.imports.tables import Mapped
from scbench.formats.predictions import Problem

_IN_MEMORY = 2**26
_MOST_NAMED = 3


@dataclass(slots=True)
class Gathered:
    """What came of the files.

    Attributes:
        files: as they were named.
        kinds: how many entries of each kind each of them held.
        problems: entries that could not be placed, with file and line.
    """

    files: Sequence[str]
    kinds: list[Counter[str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _file: "array[int]" = field(default_factory=lambda: array("I"))
    _line: "array[int]" = field(default_factory=lambda: array("Q"))

    def origin(self, line: int) -> tuple[str, int]:
        """Return the file and the line, or number of the entry, that a line was made of."""
        return self.files[self._file[line - 1]], self._line[line - 1]

    def noted(self, file: int, line: int) -> None:
        """Note where the next line comes from."""
        self._file.append(file)
        self._line.append(line)

    @property
    def recognised(self) -> str:
        """What was found, in a sentence without an end."""
        told = []
        for path, kinds in zip(self.files, self.kinds, strict=True):
            counts = [f"{kind} ({count:,})" for kind, count in sorted(kinds.items()) if count]
            told.append(f"{path}: {', '.join(counts) or 'nothing that is known'}")
        return printable("; ".join(told))


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How files are read.

    Attributes:
        mapped: column of a table by field.
        model: name of the model, in place of what files of other programs say.
        setting: no_tools or tools, for what files of other programs hold.
    """

    mapped: Mapped | None = None
    model: str | None = None
    setting: str | None = None


def gather(files: Sequence[str], sink: IO[bytes], wanted: ImportOptions | None = None) -> Gathered:
    """Write what files hold as lines of predictions.

    Lines of our own form are copied as they stand. An error that names no model is one of the only
    model that its file names, or else of the only one that all files name; such lines come last.

    Args:
        files: paths; ``-`` is standard input.
        sink: takes the lines.
        wanted: how they are read.

    Returns:
        Where each line came from, and what could not be placed.

    Raises:
        ModuleNotFoundError: a library that a format needs is not installed.
        PredictionsError: a file cannot be read at all.
    """
    wanted = wanted or ImportOptions()
    found = Gathered(files)
    models = [Counter[str]() for _ in files]
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as later:
        for place, path in enumerate(files):
            source = read_file(path, wanted.mapped)
            found.kinds.append(source.kinds)
            for number, made in source.entries:
                _take(found, place, number, made, sink, later, wanted, models[place])
        later.seek(0)
        _name_models(found, later, sink, models)
    return found


def _take(
    found: Gathered,
    place: int,
    number: int,
    made: Reply | bytes | Problem,
    sink: IO[bytes],
    later: IO[bytes],
    wanted: ImportOptions,
    models: Counter[str],
) -> None:
    """Write one entry, or keep it for later if it does not say whose it is."""
    if isinstance(made, Problem):
        found.problems.append(replace(made, file=found.files[place]))
        return
    if isinstance(made, bytes):
        found.noted(place, number)
        sink.write(made)
        return
    try:
        line = made.line(wanted.model, wanted.setting)
    except PredictionsError as error:
        problem = Problem("not_placed", str(error), number, made.request.id, found.files[place])
        found.problems.append(problem)
        return
    named = wanted.model or made.model
    if named is None:
        later.write(f"{place} {number} ".encode() + line)
        return
    models[named] += 1
    found.noted(place, number)
    sink.write(line)


def _name_models(
    found: Gathered, later: IO[bytes], sink: IO[bytes], models: Sequence[Counter[str]]
) -> None:
    """Write what names no model as that of the only one there is."""
    everywhere = sum(models, Counter[str]())
    for held in later:
        place, number, line = held.split(b" ", 2)
        file = int(place)
        known = models[file] if len(models[file]) == 1 else everywhere
        if len(known) > 1:
            names = ", ".join(map(repr, sorted(known)[:_MOST_NAMED]))
            said = f"which model it is of is not said, and there are several: {names}; add --model"
            row_id = json.loads(line)["id"]
            path = found.files[file]
            found.problems.append(Problem("not_placed", said, int(number), row_id, path))
            continue
        named = f',"model":{json.dumps(next(iter(known)))}}}\n'.encode() if known else b"}\n"
        found.noted(file, int(number))
        sink.write(line.rstrip(b"\n").removesuffix(b"}") + named)
