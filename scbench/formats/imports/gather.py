"""Files of any kind as one stream of predictions, with the origin of every line."""

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from tempfile import SpooledTemporaryFile
from typing import IO

from scbench.base.errors import PredictionsError, printable
from scbench.formats.imports.entries import Reply
from scbench.formats.imports.files import read_file
from scbench.formats.imports.kinds import (
    Container,
    TextForm,
    container_of,
    first_lines,
    is_file,
    numbered_entries,
    text_form,
)
from scbench.formats.imports.tables import Mapped, read_mapping
from scbench.formats.predictions import CHANGED_FILE, Problem
from scbench.machine.files import file_state

# Maximum bytes of lines without a model in memory; more are written to a file.
_MAX_IN_MEMORY = 2**26
# Maximum number of models in a message.
_MAX_NAMES = 3


@dataclass(slots=True)
class Gathered:
    """The origin of every line, and the entries that could not be read.

    Attributes:
        files: the files, as the user named them.
        kinds: number of entries of each kind, by file.
        problems: entries that could not become predictions, with file and line.
    """

    files: Sequence[str]
    kinds: list[Counter[str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    # File and line of each line that was written.
    _file: "array[int]" = field(default_factory=lambda: array("I"))
    _line: "array[int]" = field(default_factory=lambda: array("Q"))

    def origin(self, line: int) -> tuple[str, int]:
        """Return the file of a line (counted from 1), and the number of its line or entry there."""
        return self.files[self._file[line - 1]], self._line[line - 1]

    def add_origin(self, file: int, line: int) -> None:
        """Record the origin of the next line."""
        self._file.append(file)
        self._line.append(line)

    @property
    def recognised(self) -> str:
        """The kinds of entries in each file, as a sentence without a full stop."""
        files = []
        for path, kinds in zip(self.files, self.kinds, strict=True):
            counts = [
                f"{kind} ({count:,})" for kind, count in sorted(kinds.items()) if count
            ]
            files.append(f"{path}: {', '.join(counts) or 'no known format'}")
        return printable("; ".join(files))


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The user's options for files of other programs.

    Attributes:
        mapped: column of a table by field.
        model: replaces the model that a file names.
        setting: no_tools or tools; replaces the setting of a file.
    """

    mapped: Mapped | None = None
    model: str | None = None
    setting: str | None = None

    @classmethod
    def of(
        cls, mapping: str | None, model: str | None, setting: str | None
    ) -> "ImportOptions":
        """Return the options of a command line; see `read_mapping` for `mapping`."""
        return cls(read_mapping(mapping), model, setting)


def is_own(path: str, mapped: Mapped | None = None) -> bool:
    """Return whether a file contains predictions in our own format, or an unknown one.

    Pipes and other files that can be read only once count as our own format.

    Raises:
        PredictionsError: the file cannot be read, or contains requests instead of
            replies.
    """
    if container_of(path) is not Container.TEXT:
        return False
    if not is_file(path):
        return True
    beginning = first_lines(numbered_entries(path))
    return text_form(beginning, path, mapped) is TextForm.OWN


def gather(
    files: Sequence[str], sink: IO[bytes], options: ImportOptions | None = None
) -> Gathered:
    """Write the contents of files as lines of predictions.

    Lines in scbench's format are copied unchanged. An error without a model is assigned to the only
    model in its file, or else to the only one in all files; such lines come last.

    Args:
        files: paths; ``-`` is standard input.
        sink: receives the lines.
        options: options for files of other programs.

    Returns:
        The origin of every line, and the entries that could not become predictions.

    Raises:
        ModuleNotFoundError: a library that a format needs is not installed.
        PredictionsError: a file cannot be read at all.
    """
    options = options or ImportOptions()
    result = Gathered(files)
    models = [Counter[str]() for _ in files]
    with SpooledTemporaryFile(max_size=_MAX_IN_MEMORY) as unnamed:
        for place, path in enumerate(files):
            kinds = Counter[str]()
            result.kinds.append(kinds)
            state_before = file_state(path)
            for number, item in read_file(path, kinds, options.mapped):
                line = _line_or_problem(item, number, options)
                if isinstance(line, Problem):
                    result.problems.append(replace(line, file=path))
                    continue
                if isinstance(item, Reply):
                    model = options.model or item.model
                    if model is None:
                        # Its model may be named later, or in another file.
                        unnamed.write(f"{place} {number} ".encode() + line)
                        continue
                    models[place][model] += 1
                result.add_origin(place, number)
                sink.write(line)
            if file_state(path) != state_before:
                result.problems.append(replace(CHANGED_FILE, file=path))
        unnamed.seek(0)
        _write_unnamed(unnamed, models, result, sink)
    return result


def _line_or_problem(
    item: Reply | bytes | Problem, number: int, options: ImportOptions
) -> bytes | Problem:
    if not isinstance(item, Reply):
        return item
    try:
        return item.line(options.model, options.setting)
    except PredictionsError as error:
        return Problem("not_placed", str(error), number, item.request.id)


def _write_unnamed(
    unnamed: IO[bytes],
    models: Sequence[Counter[str]],
    result: Gathered,
    sink: IO[bytes],
) -> None:
    """Write the lines without a model, if only one model is possible."""
    all_models = sum(models, Counter[str]())
    for stored in unnamed:
        place, number, line = stored.split(b" ", 2)
        file = int(place)
        candidates = models[file] if len(models[file]) == 1 else all_models
        names = sorted(candidates)
        if len(names) > 1:
            examples = ", ".join(map(repr, names[:_MAX_NAMES]))
            message = (
                f"the entry names no model, and the file names several: {examples}; add "
                "--model"
            )
            row_id = json.loads(line)["id"]
            problem = Problem(
                "not_placed", message, int(number), row_id, result.files[file]
            )
            result.problems.append(problem)
            continue
        result.add_origin(file, int(number))
        if names:
            # The line is a JSON object: the model becomes its last field.
            unclosed = line.rstrip(b"\n").removesuffix(b"}")
            line = unclosed + f',"model":{json.dumps(names[0])}}}\n'.encode()
        sink.write(line)
