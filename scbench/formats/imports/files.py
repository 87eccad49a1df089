"""The entries of one file of any kind, each with its number."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from scbench.base.errors import PredictionsError
from scbench.formats.imports.batches import (
    anthropic,
    bedrock,
    gemini,
    left_out,
    openai,
    vertex,
)
from scbench.formats.imports.entries import Entry, Reply
from scbench.formats.imports.harbor_jobs import read_job
from scbench.formats.imports.harnesses import lighteval, lm_eval, verifiers
from scbench.formats.imports.inspect_logs import is_inspect_archive, read_log
from scbench.formats.imports.kinds import (
    OWN_FORM,
    Container,
    NumberedLine,
    TextForm,
    container_of,
    document_values,
    first_lines,
    json_value,
    kind_of,
    numbered_entries,
    text_form,
    unmapped_error,
)
from scbench.formats.imports.tables import (
    Mapped,
    csv_rows,
    own_columns,
    parquet_columns,
    parquet_rows,
    row_reply,
)
from scbench.formats.predictions import Problem, stripped

# The line or number of an entry, and its content: a reply, a line in our format, or a problem.
Read = tuple[int, Reply | bytes | Problem]

# Readers by the kind of an entry, see `kind_of`.
_READERS: Mapping[str, Callable[[Entry], Iterator[Reply]]] = {
    "OpenAI batch": openai,
    "Bedrock batch": bedrock,
    "Vertex batch": vertex,
    "Anthropic batch": anthropic,
    "Gemini batch": gemini,
    "lighteval details": lighteval,
    "requests left out": left_out,
}
# Readers whose result depends on earlier entries in the file.
_HISTORY_READERS: Mapping[str, Callable[[Entry, Counter[str]], Iterator[Reply]]] = {
    "lm-evaluation-harness samples": lm_eval,
    "verifiers traces": verifiers,
}
# The columns of lighteval's details that are read.
_LIGHTEVAL_COLUMNS = ("doc", "model_response")
_UNKNOWN_ENTRY = "unknown entry format; for a table, use --map"


def read_file(
    path: str, kinds: Counter[str], mapped: Mapped | None = None
) -> Iterator[Read]:
    """Find the kind of a file and return its entries, to be iterated once.

    Args:
        path: path of the file; ``-`` is standard input.
        kinds: counts the entries of each kind as they are read.
        mapped: column of a table by field.

    Raises:
        ModuleNotFoundError: a library that its format needs is not installed.
        PredictionsError: the file cannot be read at all.
    """
    container = container_of(path)
    if container is Container.HARBOR_JOB:
        return _numbered_replies(read_job(path), "Harbor trials", kinds)
    if container is Container.PARQUET:
        return parquet_replies(path, mapped, kinds)
    if container is Container.ARROW:
        raise PredictionsError(
            f"{path} is an Arrow file; convert its table to Parquet or JSON Lines"
        )
    if container is Container.ZIP and not is_inspect_archive(path):
        raise PredictionsError(
            f"{path} is a zip archive but not an Inspect log; unpack it first"
        )
    if container in {Container.ZIP, Container.INSPECT_JSON}:
        return _numbered_replies(read_log(path), "Inspect log", kinds)
    remainder = numbered_entries(path)
    beginning = first_lines(remainder)
    lines = chain(beginning, remainder)
    form = text_form(beginning, path, mapped)
    if form is TextForm.OWN:
        return own_lines(lines, kinds)
    if form is TextForm.CSV:
        return csv_replies(lines, mapped, kinds)
    if form is TextForm.DOCUMENT:
        return _entry_replies(document_values(path), mapped, kinds)
    return _entry_replies(line_values(lines), mapped, kinds)


def own_lines(lines: Iterable[NumberedLine], kinds: Counter[str]) -> Iterator[Read]:
    """Yield lines in scbench's format unchanged, each with a line break."""
    for line in lines:
        if isinstance(line, Problem):
            yield line.line or 0, line
            continue
        number, data = line
        # Blank lines are copied to preserve line numbers, but are not entries.
        if data.strip():
            kinds[OWN_FORM] += 1
        # The last line of a file may have no line break.
        yield number, data.removesuffix(b"\n") + b"\n"


def line_values(lines: Iterable[NumberedLine]) -> Iterator[tuple[int, Any]]:
    """Yield the JSON of each line that is not blank, or its problem."""
    for line in lines:
        if isinstance(line, Problem):
            yield line.line or 0, line
            continue
        number, data = line
        text = stripped(data)
        if not text:
            continue
        value = json_value(text)
        if value is None:
            value = Problem("not_json", "the line is not valid JSON", number)
        yield number, value


def _entry_replies(
    entries: Iterable[tuple[int, Any]], mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    """Read each entry by its kind; an entry that cannot be read becomes a problem."""
    history: Counter[str] = Counter()
    for number, entry in entries:
        if isinstance(entry, Problem):
            yield number, entry
            continue
        try:
            for reply in entry_replies(entry, history, mapped, kinds):
                yield number, reply
        except PredictionsError as error:
            yield number, Problem("not_placed", str(error), number)


def entry_replies(
    entry: object,
    history: Counter[str],
    mapped: Mapped | None,
    kinds: Counter[str],
) -> Iterable[Reply]:
    """Return the replies in an entry of any kind.

    Args:
        entry: a value of JSON; only objects can be read.
        history: history of the entries of the same file, see the readers.
        mapped: column of a table by field.
        kinds: counts the entry.

    Raises:
        PredictionsError: the entry cannot be read; the iterator may also raise it.
    """
    if not isinstance(entry, dict):
        raise PredictionsError(_UNKNOWN_ENTRY)
    kind = kind_of(entry)
    if kind is not None and kind != OWN_FORM:
        kinds[kind] += 1
        if kind in _HISTORY_READERS:
            return _HISTORY_READERS[kind](entry, history)
        return _READERS[kind](entry)
    columns = mapped or own_columns(entry)
    if not columns:
        raise PredictionsError(_UNKNOWN_ENTRY)
    kinds["table" if mapped else OWN_FORM] += 1
    return [row_reply(entry, columns)]


def csv_replies(
    lines: Iterable[NumberedLine], mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    """Yield the replies in the rows of a CSV file, up to the first line that cannot be read."""
    problems: list[Problem] = []
    number = 0
    columns = mapped
    try:
        for number, row in csv_rows(_lines_until_problem(lines, problems)):
            kinds["CSV"] += 1
            if isinstance(row, PredictionsError):
                yield number, Problem("not_placed", str(row), number)
                continue
            columns = columns or own_columns(row) or {}
            yield number, _row_or_problem(number, row, columns, words=True)
    except PredictionsError as error:
        problems.append(Problem("unreadable", str(error), number + 1))
    for problem in problems:
        yield problem.line or 0, problem


def _lines_until_problem(
    lines: Iterable[NumberedLine], problems: list[Problem]
) -> Iterator[tuple[int, bytes]]:
    for line in lines:
        if isinstance(line, Problem):
            problems.append(line)
            return
        yield line


def _row_or_problem(
    number: int, row: Entry, columns: Mapped, *, words: bool = False
) -> Reply | Problem:
    try:
        return row_reply(row, columns, words=words)
    except PredictionsError as error:
        return Problem("not_placed", str(error), number)


def parquet_replies(
    path: str, mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    """Yield the replies in the rows of a Parquet file.

    Raises:
        PredictionsError: the file is damaged, contains results, or has missing columns.
    """
    types = parquet_columns(path)
    if "doc" in types and types.get("model_response") == "Struct":
        rows = parquet_rows(path, _LIGHTEVAL_COLUMNS)
        yield from _entry_replies(rows, None, kinds)
        return
    if {"score", "failed_checks", "release_hash"} <= types.keys():
        raise PredictionsError(
            f"{path} contains results; show them with `scbench tables {path}`"
        )
    mapping = mapped or own_columns(types)
    if mapping is None:
        raise unmapped_error(path, types, mapped)
    needed: set[str] = set()
    for column in mapping.values():
        # A name that is not a column may be a path into one, such as output.text.
        needed.add(column if column in types else column.partition(".")[0])
    if needed - types.keys():
        raise unmapped_error(path, types, mapped)
    for column in sorted(needed):
        if types[column] == "Binary":
            raise PredictionsError(
                f"{path}: the column {column!r} has binary values; write it as text"
            )
    for number, row in parquet_rows(path, sorted(needed)):
        kinds["Parquet"] += 1
        yield number, _row_or_problem(number, row, mapping)


def _numbered_replies(
    replies: Iterable[tuple[int, Reply | PredictionsError]],
    kind: str,
    kinds: Counter[str],
) -> Iterator[Read]:
    number = 0
    try:
        for number, reply in replies:
            kinds[kind] += 1
            if isinstance(reply, PredictionsError):
                yield number, Problem("not_placed", str(reply), number)
            else:
                yield number, reply
    except PredictionsError as error:
        # If nothing of a file can be read, the whole file is refused.
        if not number:
            raise
        kinds[kind] += 1
        message = f"reading stopped here: {error}"
        yield number + 1, Problem("unreadable", message, number + 1)
