"""The kind of a file and of its entries, by their content and never by their names."""

import os.path
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from hashlib import sha256
from itertools import islice
from typing import Any

import jiter

from scbench.base.errors import PredictionsError
from scbench.formats.imports.entries import Entry
from scbench.formats.imports.harbor_jobs import is_job
from scbench.formats.imports.tables import Mapped, csv_columns, own_columns
from scbench.formats.predictions import (
    UNPACKING_ERRORS,
    Problem,
    numbered_lines,
    open_predictions,
    stripped,
)

# A line of a file with its number, or the problem of one.
NumberedLine = tuple[int, bytes] | Problem

# The kind of entries that are predictions in our own format.
OWN_FORM = "predictions"
# Number of first lines of a file that are examined.
_MAX_FIRST_LINES = 20
# Number of first bytes of a file that are examined.
_HEAD_BYTES = 4096
# Maximum size of a file with a single JSON value, which is read as a whole.
_MAX_DOCUMENT_BYTES = 2**28
_PARQUET_HEAD = b"PAR1"
_ZIP_HEAD = b"PK\x03\x04"
# First bytes of Arrow's file and stream formats.
_ARROW_HEADS = (b"ARROW1", b"\xff\xff\xff\xff")
# The beginning of an Inspect log in JSON.
_INSPECT_HEAD = re.compile(
    rb"""
    \s*\{\s*
    "version"\s*:\s*\d+\s*,\s*
    "status"\s*:\s*"
    """,
    re.VERBOSE,
)
_JSON_HEADS = (b"[", b"{")
# Every form of requests has one of these fields.
_REQUEST_FIELDS = {"body", "params", "request", "prompt"}
# Fields of a Gemini job that contain its results, and the fields that may enclose these.
_RESULT_FIELDS = ("inlinedResponses", "inlined_responses")
_WRAPPER_FIELDS = ("response", "dest")
# A list of results is inside three fields at most: dest, and the same name twice.
_MAX_DEPTH = 4


class Container(Enum):
    """The kind of a file, by its first bytes."""

    HARBOR_JOB = auto()
    PARQUET = auto()
    INSPECT_JSON = auto()
    ARROW = auto()
    ZIP = auto()
    TEXT = auto()


class TextForm(Enum):
    """The format of a text file."""

    OWN = auto()
    #: Entries, one per line.
    LINES = auto()
    #: One JSON value over several lines.
    DOCUMENT = auto()
    CSV = auto()


def container_of(path: str) -> Container:
    """Return the kind of a file; files that can be read only once, such as pipes, count as text."""
    if is_job(path):
        return Container.HARBOR_JOB
    head = first_bytes(path) if is_file(path) else b""
    if head.startswith(_PARQUET_HEAD):
        return Container.PARQUET
    if _INSPECT_HEAD.match(head):
        return Container.INSPECT_JSON
    if head.startswith(_ARROW_HEADS):
        return Container.ARROW
    if head.startswith(_ZIP_HEAD):
        return Container.ZIP
    return Container.TEXT


def is_file(path: str) -> bool:
    """Return whether a path is a regular file."""
    return path != "-" and os.path.isfile(path)  # noqa: PTH113  (Path raises for long names)


def first_bytes(path: str) -> bytes:
    """Return the beginning of a file; nothing if it cannot be read."""
    try:
        with open_predictions(path) as stream:
            return stream.read(_HEAD_BYTES)
    except UNPACKING_ERRORS:
        # The reader reports the reason.
        return b""


def numbered_entries(path: str) -> Iterator[NumberedLine]:
    """Yield the lines of a file with their numbers."""
    with open_predictions(path) as stream:
        yield from numbered_lines(stream, sha256())


def first_lines(lines: Iterator[NumberedLine]) -> list[NumberedLine]:
    """Read lines from a file until one is a JSON object, and return them."""
    beginning: list[NumberedLine] = []
    for line in islice(lines, _MAX_FIRST_LINES):
        beginning.append(line)
        if not isinstance(line, Problem) and isinstance(json_value(line[1]), dict):
            break
    return beginning


def text_form(
    beginning: Iterable[NumberedLine], path: str, mapped: Mapped | None
) -> TextForm:
    """Return the format of a text file.

    An unknown format counts as ours, because our reader explains the error.

    Args:
        beginning: first lines of the file, see `first_lines`.
        path: path of the file.
        mapped: column of a table by field.

    Raises:
        PredictionsError: the file contains requests, or a table without the required
            columns.
    """
    texts: list[bytes] = []
    has_problem = False
    for line in beginning:
        if isinstance(line, Problem):
            has_problem = True
        elif text := stripped(line[1]):
            texts.append(text)
    for text in texts:
        entry = json_value(text)
        if entry and isinstance(entry, dict):
            if is_keyed_by_id(entry) and len(texts) == 1:
                return TextForm.DOCUMENT
            return _form_by_entry(entry, path, mapped)
    if not texts:
        # A document without line breaks is one line, and may be too long to be read as such.
        if has_problem and is_file(path):
            head = first_bytes(path).lstrip()
            if head.startswith(_JSON_HEADS):
                return TextForm.DOCUMENT
        return TextForm.OWN
    if texts[0].startswith(_JSON_HEADS):
        if is_readable_document(path, mapped):
            return TextForm.DOCUMENT
        return TextForm.OWN
    columns = csv_columns(texts[0])
    own_mapping = own_columns(columns)
    has_mapped_columns = mapped and set(mapped.values()) <= set(columns)
    if own_mapping or has_mapped_columns:
        mapping = mapped or own_mapping or {}
        _check_unique(path, columns, mapping.values())
        return TextForm.CSV
    if mapped or path.endswith((".csv", ".tsv")):
        raise unmapped_error(path, columns, mapped)
    return TextForm.OWN


def _form_by_entry(entry: Entry, path: str, mapped: Mapped | None) -> TextForm:
    kind = kind_of(entry)
    has_key = "custom_id" in entry or "key" in entry
    if kind is None and has_key and _REQUEST_FIELDS & entry.keys():
        raise PredictionsError(
            f"{path} contains requests, not replies; use the provider's output file"
        )
    if kind in {None, OWN_FORM} and not mapped:
        return TextForm.OWN
    return TextForm.LINES


def is_readable_document(path: str, mapped: Mapped | None) -> bool:
    """Return whether a file is one JSON value, and its first entry is of a known kind."""
    try:
        entries = list(document_values(path))
    except PredictionsError:
        return False
    if not entries:
        return False
    _, first = entries[0]
    return isinstance(first, dict) and bool(mapped or kind_of(first))


def _check_unique(path: str, columns: Iterable[str], needed: Iterable[str]) -> None:
    """Check that no column that is read occurs twice, because either could be meant."""
    counts = Counter(columns)
    for name in needed:
        if counts[name] > 1:
            raise PredictionsError(
                f"{path} has {counts[name]} columns named {name!r}; rename or remove all but one"
            )


def unmapped_error(
    path: str, columns: Iterable[str], mapped: Mapped | None
) -> PredictionsError:
    """Return the error of a table without the required columns."""
    missing = sorted({*mapped.values()} - {*columns}) if mapped else []
    fault = f"no column {missing[0]!r}" if missing else "no columns id and response"
    names = ", ".join(columns)[:200] or "unreadable"
    return PredictionsError(
        f"{path} has {fault}; its columns are {names}. Name the columns with --map "
        "id=COLUMN,response=COLUMN"
    )


def kind_of(entry: Entry) -> str | None:
    """Return the kind of an entry by its fields; None if it is unknown.

    The order matters: entries of earlier kinds may also have the fields of later kinds.
    """
    keys = entry.keys()
    has_response = isinstance(entry.get("response"), dict)
    has_outcome = has_response or isinstance(entry.get("error"), dict)
    if "custom_id" in keys:
        if isinstance(entry.get("result"), dict):
            return "Anthropic batch"
        if has_outcome or {"response", "error"} <= keys:
            return "OpenAI batch"
    if "recordId" in keys and {"modelOutput", "error"} & keys:
        return "Bedrock batch"
    if "request" in keys and "key" not in keys and has_response:
        return "Vertex batch"
    if "custom_id" in keys and "id" not in keys and entry.get("status") == "not_run":
        return "requests left out"
    if has_outcome and ("key" in keys or isinstance(entry.get("metadata"), dict)):
        return "Gemini batch"
    if {"doc_id", "doc"} <= keys and {"resps", "filtered_resps"} & keys:
        return "lm-evaluation-harness samples"
    if {"doc", "model_response"} <= keys:
        return "lighteval details"
    if isinstance(entry.get("traces"), list) and "task" in keys:
        return "verifiers traces"
    # Lines of `scbench prompts` have an id, too.
    has_answer = {"response", "answer", "status", "error"} & keys
    is_request = {"prompt", "images"} <= keys and not has_answer
    return OWN_FORM if "id" in keys and not is_request else None


def json_value(data: bytes) -> Any:  # noqa: ANN401  (JSON)
    """Return the JSON of a line; None if it has none.

    Harnesses write NaN, which is not JSON and which predictions may not have.
    """
    try:
        return jiter.from_json(
            stripped(data), allow_inf_nan=True, catch_duplicate_keys=True
        )
    except ValueError:
        return None


def document_values(path: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a file that is one JSON value, a list or a job of Gemini, numbered.

    Raises:
        PredictionsError: the path is not a file, or the file is too large or not JSON.
    """
    if not is_file(path):
        raise PredictionsError(
            f"{path}: a JSON value that spans several lines can only be read from a file"
        )
    try:
        with open_predictions(path) as stream:
            data = stream.read(_MAX_DOCUMENT_BYTES + 1)
    except UNPACKING_ERRORS as error:
        raise PredictionsError(f"{path} cannot be unpacked: {error}") from None
    if len(data) > _MAX_DOCUMENT_BYTES:
        raise PredictionsError(
            f"{path}: a JSON value must not exceed {_MAX_DOCUMENT_BYTES:,} bytes"
        )
    value = json_value(data)
    if value is None:
        raise PredictionsError(f"{path} is not valid JSON")
    yield from enumerate(document_entries(value), 1)


def document_entries(value: Any) -> list[Any]:  # noqa: ANN401  (JSON)
    """Return the entries in a JSON value: of a list or a Gemini job, or else the value itself."""
    for _ in range(_MAX_DEPTH):
        if isinstance(value, list):
            return value
        if not isinstance(value, dict):
            break
        if is_keyed_by_id(value):
            return [_with_id(name, entry) for name, entry in value.items()]
        inner = _inner_value(value, _RESULT_FIELDS)
        if inner is None:
            inner = _inner_value(value, _WRAPPER_FIELDS)
            # A single entry may have a response as well.
            if inner is None or kind_of(value):
                break
        value = inner
    return [value]


def is_keyed_by_id(value: Entry) -> bool:
    """Return whether every key of an object is an item's id and every value is its reply."""
    return bool(value) and all(
        "/" in name and isinstance(content, dict | str)
        for name, content in value.items()
    )


def _with_id(name: str, content: Any) -> Entry:  # noqa: ANN401  (JSON)
    """Return the entry under a key; a text is a reply."""
    if isinstance(content, str):
        return {"id": name, "response": content}
    return {"id": name, **content}


def _inner_value(value: Entry, names: Iterable[str]) -> Any:  # noqa: ANN401  (JSON)
    for name in names:
        if name in value:
            return value[name]
    return None
