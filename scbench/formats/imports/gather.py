"""Files of any form, told by what is in them, as one stream of predictions with their origins."""

import json
import os.path
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import jiter
import zstandard

from scbench.base.errors import PredictionsError, printable
from scbench.formats.imports.entries import (
    Entry,
    Reply,
    anthropic,
    bedrock,
    gemini,
    lighteval,
    lm_eval,
    openai,
    request_key,
    verifiers,
    vertex,
)
from scbench.formats.imports.harbor_jobs import is_job, read_job
from scbench.formats.imports.inspect_logs import is_inspect_archive, read_log
from scbench.formats.imports.tables import (
    Mapped,
    csv_columns,
    csv_rows,
    own_columns,
    parquet_columns,
    parquet_rows,
    read_mapping,
    row_reply,
)
from scbench.formats.predictions import (
    Problem,
    numbered_lines,
    open_predictions,
    stripped,
)

OWN_FORM = "predictions"
# Lines of a file that are looked at to tell what it is.
_MOST_TRIED = 20
# A file that is one JSON value must be read whole, and may not be larger.
_MOST_BYTES = 2**28
# How the JSON form of an Inspect log begins.
_INSPECT = re.compile(rb"\s*\{\s*\"version\"\s*:\s*\d+\s*,\s*\"status\"\s*:\s*\"")
# Keys of requests, one of each form.
_REQUEST_KEYS = {"body", "params", "request", "prompt"}
_INLINED = ("inlinedResponses", "inlined_responses")

Numbered = tuple[int, bytes]
# Line or number of an entry, and the reply in it; a line of ours as it stands; or the
# problem.
Read = tuple[int, Reply | bytes | Problem]
# First bytes of Arrow's file and stream formats.
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
_IN_MEMORY = 2**26
_MOST_NAMED = 3


_READERS: Mapping[str, Callable[[Entry, Counter[str]], Iterable[Reply]]] = {
    "OpenAI batch": lambda entry, _: openai(entry),
    "Bedrock batch": lambda entry, _: bedrock(entry),
    "Vertex batch": lambda entry, _: vertex(entry),
    "Anthropic batch": lambda entry, _: anthropic(entry),
    "Gemini batch": lambda entry, _: gemini(entry),
    "lm-evaluation-harness samples": lm_eval,
    "lighteval details": lambda entry, _: lighteval(entry),
    "verifiers traces": verifiers,
    "requests left out": lambda entry, _: [
        Reply(
            request_key(entry.get("custom_id")),
            fields={"status": "not_run", "error": str(entry.get("error"))},
        )
    ],
}


def is_own(path: str, mapped: Mapped | None = None) -> bool:
    """Return whether a file holds predictions in our own form, or nothing that is known.

    What can be read only once, such as a pipe, is taken for our own.

    Raises:
        PredictionsError: it cannot be read, or holds requests in place of replies.
    """
    if is_job(path):
        return False
    if not _is_file(path):
        return True
    head = _first_bytes(path)
    if (
        head[:4] in {b"PAR1", b"PK\x03\x04"}
        or _INSPECT.match(head)
        or head.startswith(_ARROW)
    ):
        return False
    return _file_kind(_looked_at(_numbered_entries(path)), path, mapped) == OWN_FORM


def read_file(
    path: str, kinds: Counter[str], mapped: Mapped | None = None
) -> Iterator[Read]:
    """Tell what a file is and return its entries, to be read once.

    Args:
        path: of the file; ``-`` is standard input.
        kinds: counts the entries of each kind as they are read.
        mapped: column of a table by field.

    Raises:
        ModuleNotFoundError: a library that its format needs is not installed.
        PredictionsError: it cannot be read at all.
    """
    if is_job(path):
        return _numbered_replies(read_job(path), "Harbor trials", kinds)
    head = _first_bytes(path) if _is_file(path) else b""
    if head[:4] == b"PAR1":
        return _of_parquet(path, mapped, kinds)
    if _INSPECT.match(head) or (head[:4] == b"PK\x03\x04" and is_inspect_archive(path)):
        return _numbered_replies(read_log(path), "Inspect log", kinds)
    if head.startswith(_ARROW):
        raise PredictionsError(
            f"{path} is an Arrow file; write its table as Parquet or JSON Lines"
        )
    if head[:4] == b"PK\x03\x04":
        raise PredictionsError(
            f"{path} is a zip archive, and no log of Inspect; unpack it first"
        )
    remainder = _numbered_entries(path)
    first = _looked_at(remainder)
    lines = chain(first, remainder)
    kind = _file_kind(first, path, mapped)
    if kind == OWN_FORM:
        return _own_lines(lines, kinds)
    if kind == "CSV":
        return _of_csv(lines, mapped, kinds)
    entries = _document_values(path) if kind == "JSON" else _parsed_lines(lines)
    return _entry_replies(entries, mapped, kinds)


def _is_file(path: str) -> bool:
    return path != "-" and os.path.isfile(path)  # noqa: PTH113  (Path raises for long names)


def _first_bytes(path: str) -> bytes:
    """Return how a file begins; nothing if it cannot be read, which is said when it is."""
    try:
        with open_predictions(path) as stream:
            return stream.read(4096)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        return b""


def _numbered_entries(path: str) -> Iterator[Numbered | Problem]:
    with open_predictions(path) as stream:
        yield from numbered_lines(stream, sha256())


def _looked_at(lines: Iterator[Numbered | Problem]) -> list[Numbered | Problem]:
    """Return the first lines, up to one that tells."""
    first: list[Numbered | Problem] = []
    for line in islice(lines, _MOST_TRIED):
        first.append(line)
        if not isinstance(line, Problem) and isinstance(_json_value(line[1]), dict):
            break
    return first


def _json_value(data: bytes) -> Any:  # noqa: ANN401  (JSON)
    """Return a line's JSON; None if it is none. Harnesses write NaN, which ours never read."""
    try:
        return jiter.from_json(
            stripped(data), allow_inf_nan=True, catch_duplicate_keys=True
        )
    except ValueError:
        return None


def _file_kind(
    lines: Iterable[Numbered | Problem], path: str, mapped: Mapped | None
) -> str:
    first = [stripped(line[1]) for line in lines if not isinstance(line, Problem)]
    first = [line for line in first if line]
    for entry in filter(None, map(_json_value, first)):
        if isinstance(entry, dict):
            return _kind_of_first(entry, path, mapped)
    if any(isinstance(line, Problem) for line in lines) and not first:
        is_document = _is_file(path) and _first_bytes(path).lstrip()[:1] in {b"[", b"{"}
        return "JSON" if is_document else OWN_FORM
    if first and first[0][:1] in {b"[", b"{"}:
        try:
            entries = list(_document_values(path))
        except PredictionsError:
            return OWN_FORM
        value = entries[0][1] if entries else None
        return (
            "JSON"
            if isinstance(value, dict) and (mapped or kind_of(value))
            else OWN_FORM
        )
    columns = csv_columns(first[0]) if first else []
    if own_columns(columns) or (mapped and {*mapped.values()} <= {*columns}):
        return "CSV"
    if first and (mapped or path.endswith((".csv", ".tsv"))):
        raise _unmapped(path, columns, mapped)
    return OWN_FORM


def _unmapped(
    path: str, columns: Iterable[str], mapped: Mapped | None
) -> PredictionsError:
    lacking = sorted({*mapped.values()} - {*columns}) if mapped else []
    lack = f"no column {lacking[0]!r}" if lacking else "no columns id and response"
    names = ", ".join(columns)[:200] or "none that can be read"
    return PredictionsError(
        f"{path} has {lack}; it has {names}. Say which column is which: "
        "--map id=COLUMN,response=COLUMN"
    )


def _kind_of_first(entry: Entry, path: str, mapped: Mapped | None) -> str:
    kind = kind_of(entry)
    if (
        kind is None
        and {"custom_id", "key"} & entry.keys()
        and _REQUEST_KEYS & entry.keys()
    ):
        raise PredictionsError(
            f"{path} holds requests, not replies; name the file that came back"
        )
    return OWN_FORM if kind in {None, OWN_FORM} and not mapped else "lines"


def kind_of(entry: Entry) -> str | None:
    """Return what an object is an entry of, by its keys; None if that is not known."""
    keys = entry.keys()
    has_result = isinstance(entry.get("response"), dict) or isinstance(
        entry.get("error"), dict
    )
    if "custom_id" in keys and isinstance(entry.get("result"), dict):
        return "Anthropic batch"
    if "custom_id" in keys and (has_result or {"response", "error"} <= keys):
        return "OpenAI batch"
    if "recordId" in keys and {"modelOutput", "error"} & keys:
        return "Bedrock batch"
    if (
        "request" in keys
        and "key" not in keys
        and isinstance(entry.get("response"), dict)
    ):
        return "Vertex batch"
    if "custom_id" in keys and "id" not in keys and entry.get("status") == "not_run":
        return "requests left out"
    if has_result and ("key" in keys or isinstance(entry.get("metadata"), dict)):
        return "Gemini batch"
    if {"doc_id", "doc"} <= keys and {"resps", "filtered_resps"} & keys:
        return "lm-evaluation-harness samples"
    if {"doc", "model_response"} <= keys:
        return "lighteval details"
    if isinstance(entry.get("traces"), list) and "task" in keys:
        return "verifiers traces"
    is_request = {"prompt", "images"} <= keys and not {
        "response",
        "answer",
        "status",
        "error",
    } & keys
    return OWN_FORM if "id" in keys and not is_request else None


def _own_lines(
    lines: Iterable[Numbered | Problem], kinds: Counter[str]
) -> Iterator[Read]:
    for line in lines:
        if isinstance(line, Problem):
            yield line.line or 0, line
        else:
            kinds[OWN_FORM] += bool(line[1].strip())
            yield line[0], line[1] if line[1].endswith(b"\n") else line[1] + b"\n"


def _parsed_lines(lines: Iterable[Numbered | Problem]) -> Iterator[tuple[int, Any]]:
    for line in lines:
        if isinstance(line, Problem):
            yield line.line or 0, line
        elif data := stripped(line[1]):
            value = _json_value(data)
            problem = Problem("not_json", "the line is not valid JSON", line[0])
            yield line[0], problem if value is None else value


def _document_values(path: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a file that is one JSON value: a list, or a job of Gemini's."""
    if not _is_file(path):
        raise PredictionsError(
            f"{path}: one JSON value over several lines must be in a file"
        )
    with open_predictions(path) as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise PredictionsError(
            f"{path}: one JSON value may have {_MOST_BYTES:,} bytes, not more"
        )
    value = _json_value(data)
    if value is None:
        raise PredictionsError(f"{path} is not valid JSON")
    yield from enumerate(_document_entries(value), 1)


def _document_entries(value: Any) -> list[Any]:  # noqa: ANN401  (JSON)
    for _ in range(4):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            break
        inner = next((value[key] for key in _INLINED if key in value), None)
        deeper = next(
            (value[key] for key in ("response", "dest") if key in value), None
        )
        if inner is None and (deeper is None or kind_of(value)):
            break
        value = deeper if inner is None else inner
    return [value]


def _entry_replies(
    entries: Iterable[tuple[int, Any]], mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    """Read each entry by its kind; what cannot be placed becomes a problem."""
    history: Counter[str] = Counter()
    for number, entry in entries:
        if isinstance(entry, Problem):
            yield number, entry
            continue
        kind = kind_of(entry) if isinstance(entry, dict) else None
        try:
            if kind in _READERS:
                kinds[kind] += 1  # type: ignore[index]
                for reply in _READERS[kind](entry, history):  # type: ignore[index]
                    yield number, reply
            elif isinstance(entry, dict) and (names := mapped or own_columns(entry)):
                kinds["table" if mapped else OWN_FORM] += 1
                yield number, row_reply(entry, names)
            else:
                message = "this is an entry of no format that is known; see --map"
                yield number, Problem("not_placed", message, number)
        except PredictionsError as error:
            yield number, Problem("not_placed", str(error), number)


def _of_csv(
    lines: Iterable[Numbered | Problem], mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    stopped: list[Problem] = []

    def good() -> Iterator[Numbered]:
        for line in lines:
            if isinstance(line, Problem):
                stopped.append(line)
                return
            yield line

    number = 0
    names = mapped
    try:
        for number, row in csv_rows(good()):
            names = names or own_columns(row) or {}
            kinds["CSV"] += 1
            yield number, _row_or_problem(number, row, names, words=True)
    except PredictionsError as error:
        stopped.append(Problem("unreadable", str(error), number + 1))
    for problem in stopped:
        yield problem.line or 0, problem


def _row_or_problem(
    number: int, row: Entry, names: Mapped, *, words: bool = False
) -> Reply | Problem:
    try:
        return row_reply(row, names, words=words)
    except PredictionsError as error:
        return Problem("not_placed", str(error), number)


def _of_parquet(
    path: str, mapped: Mapped | None, kinds: Counter[str]
) -> Iterator[Read]:
    columns = parquet_columns(path)
    if {"doc", "model_response"} <= columns.keys() and columns[
        "model_response"
    ] == "Struct":
        yield from _entry_replies(
            parquet_rows(path, ("doc", "model_response")), None, kinds
        )
        return
    if {"score", "failed_checks", "release_hash"} <= columns.keys():
        raise PredictionsError(
            f"{path} holds results; show them by `scbench tables {path}`"
        )
    names = mapped or own_columns(columns)
    needed = {
        column if column in columns else column.partition(".")[0]
        for column in (names or {}).values()
    }
    if names is None or needed - columns.keys():
        raise _unmapped(path, columns, mapped)
    for number, row in parquet_rows(path, sorted(needed)):
        kinds["Parquet"] += 1
        yield number, _row_or_problem(number, row, names)


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
        if not number:
            raise
        kinds[kind] += 1
        message = f"reading stopped here: {error}"
        yield number + 1, Problem("unreadable", message, number + 1)


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
        parts = []
        for path, kinds in zip(self.files, self.kinds, strict=True):
            counts = [
                f"{kind} ({count:,})" for kind, count in sorted(kinds.items()) if count
            ]
            parts.append(f"{path}: {', '.join(counts) or 'nothing that is known'}")
        return printable("; ".join(parts))


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

    @classmethod
    def of(
        cls, mapping: str | None, model: str | None, setting: str | None
    ) -> "ImportOptions":
        """Return them from options of a command; see `read_mapping` for the first."""
        return cls(read_mapping(mapping), model, setting)


def gather(
    files: Sequence[str], sink: IO[bytes], options: ImportOptions | None = None
) -> Gathered:
    """Write what files hold as lines of predictions.

    Lines of our own form are copied as they stand. An error that names no model is one of the only
    model that its file names, or else of the only one that all files name; such lines come last.

    Args:
        files: paths; ``-`` is standard input.
        sink: takes the lines.
        options: how they are read.

    Returns:
        Where each line came from, and what could not be placed.

    Raises:
        ModuleNotFoundError: a library that a format needs is not installed.
        PredictionsError: a file cannot be read at all.
    """
    options = options or ImportOptions()
    result = Gathered(files)
    models = [Counter[str]() for _ in files]
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as later:
        for place, path in enumerate(files):
            kinds = Counter[str]()
            result.kinds.append(kinds)
            for number, item in read_file(path, kinds, options.mapped):
                line = _line_or_problem(item, number, options)
                if isinstance(line, Problem):
                    result.problems.append(replace(line, file=path))
                    continue
                if isinstance(item, Reply):
                    model = options.model or item.model
                    if model is None:
                        later.write(f"{place} {number} ".encode() + line)
                        continue
                    models[place][model] += 1
                result.noted(place, number)
                sink.write(line)
        later.seek(0)
        _name_models(result, later, sink, models)
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


def _name_models(
    result: Gathered, later: IO[bytes], sink: IO[bytes], models: Sequence[Counter[str]]
) -> None:
    everywhere = sum(models, Counter[str]())
    for stored in later:
        place, number, line = stored.split(b" ", 2)
        file = int(place)
        candidates = models[file] if len(models[file]) == 1 else everywhere
        if len(candidates) > 1:
            names = ", ".join(map(repr, sorted(candidates)[:_MOST_NAMED]))
            why = f"which model it is of is not said, and there are several: {names}; add --model"
            row_id = json.loads(line)["id"]
            problem = Problem(
                "not_placed", why, int(number), row_id, result.files[file]
            )
            result.problems.append(problem)
            continue
        model = f',"model":{json.dumps(next(iter(candidates)))}' if candidates else ""
        ending = f"{model}}}\n".encode()
        result.noted(file, int(number))
        sink.write(line.rstrip(b"\n").removesuffix(b"}") + ending)
