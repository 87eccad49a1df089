"""Tables of replies: CSV, Parquet and JSON Lines, whose column names may differ from ours."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

import jiter

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, PredictionsError, did_you_mean, printable
from scbench.base.model import Prediction
from scbench.formats.imports.entries import Entry, Reply, dig, request_key
from scbench.formats.predictions import MAX_LINE_BYTES
from scbench.machine.children import ChildError, lines_of_child

# Column of a table by field of a prediction.
Mapped = Mapping[str, str]

_FIELDS = tuple(Prediction.model_fields)
# Fields that are whole numbers, and fields that are JSON; in CSV both are text.
_NUMBER_FIELDS = {"sample", "budget"}
_JSON_FIELDS = {"answer", "usage", "run"}
_MAX_DIGITS = 16
# A fraction of only zeros, as in 16000.0.
_ZERO_FRACTION = re.compile(r"(?<=[0-9])\.0{1,9}\Z")
_DELIMITERS = ",;\t"
# Rows of a Parquet file in memory at a time.
_BLOCK_ROWS = 256
# Reads a Parquet file: its columns as one line of JSON, then a line for each row.
_PARQUET_READER = """
import polars as pl
path, block, names = arguments
frame = pl.scan_parquet(open(path, "rb"))
kinds = {name: str(kind.base_type()) for name, kind in frame.collect_schema().items()}
print(json.dumps(kinds), flush=True)
if names:
    count = frame.select(pl.len()).collect().item()
    for start in range(0, count, block):
        frame.select(names).slice(start, block).collect().write_ndjson(sys.stdout.buffer)
"""


def read_mapping(text: str | None) -> Mapped | None:
    """Return the column of each field from an option such as ``id=item,response=output``.

    Raises:
        PredictionsError: a field is unknown or repeated, or the id has no column.
    """
    if text is None:
        return None
    columns: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not column or name in columns:
            raise PredictionsError(
                f"--map must be id=COLUMN,response=COLUMN, each field once, not {pair!r}"
            )
        if name not in _FIELDS:
            raise PredictionsError(
                f"--map: unknown field {name!r}.{did_you_mean(name, _FIELDS)}"
            )
        columns[name] = column
    if "id" not in columns:
        raise PredictionsError("--map must name the column of ids: id=COLUMN")
    return columns


def own_columns(names: Iterable[str]) -> Mapped | None:
    """Return the mapping of a table whose columns are named like our fields; None for others."""
    columns = {name: name for name in names if name in _FIELDS}
    has_reply = columns.keys() & {"response", "answer", "status"}
    return columns if "id" in columns and has_reply else None


def row_reply(row: Entry, mapped: Mapped, *, words: bool = False) -> Reply:
    """Return the reply in a row.

    Args:
        row: value by column.
        mapped: column by field; if the row has no such column, a path into one, such as
            output.text.
        words: whether every value is text, as in CSV, where empty values are missing.

    Raises:
        PredictionsError: the id is missing, or a value does not fit its field.
    """
    fields: dict[str, Any] = {}
    for name, column in mapped.items():
        value = row[column] if column in row else dig(row, *column.split("."))
        is_absent = value is None or (words and value == "")
        if not is_absent:
            fields[name] = _typed_value(name, value)
    request = request_key(fields.pop("id", None))
    for name in _NUMBER_FIELDS & fields.keys():
        request = request._replace(**{name: fields.pop(name)})
    model = fields.pop("model", None)
    return Reply(request, None if model is None else str(model), fields)


def _typed_value(name: str, value: object) -> object:
    """Return a value converted for its field: numbers and JSON are read from text."""
    if not isinstance(value, str):
        # Libraries turn a column of whole numbers into floats if it has an empty cell.
        if isinstance(value, float) and value.is_integer() and name in _NUMBER_FIELDS:
            return int(value)
        return value
    if name in _NUMBER_FIELDS:
        value = _ZERO_FRACTION.sub("", value)
        # int() also accepts digits of other scripts, and any number of them.
        is_number = value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS
        if not is_number:
            raise PredictionsError(
                f"{name} must be a whole number of at least 0, not {value[:40]!r}"
            )
        return int(value)
    if name not in _JSON_FIELDS:
        return value
    try:
        return parse_json(value.encode())
    except (JsonError, UnicodeEncodeError) as error:
        advice = ""
        if name == "answer":
            advice = "; if the column contains replies in prose, name it response"
        raise PredictionsError(f"{name} is not JSON: {error}{advice}") from None


def csv_rows(
    lines: Iterable[tuple[int, bytes]],
) -> Iterator[tuple[int, dict[str, str] | PredictionsError]]:
    """Yield the rows of a CSV file by the names in its first line, with their line numbers.

    A row with more values than columns is an error, because a value with an unquoted comma would
    be cut off.

    Args:
        lines: all lines of the file with their numbers, from 1.

    Raises:
        PredictionsError: the file is not UTF-8, or not CSV.
    """
    texts = (
        data.decode("utf-8-sig" if number == 1 else "utf-8") for number, data in lines
    )
    csv.field_size_limit(MAX_LINE_BYTES)
    try:
        head = next(texts, "")
        delimiter = _delimiter_of(head)
        columns = next(csv.reader([head], delimiter=delimiter), [])
        rows = csv.reader(texts, delimiter=delimiter, strict=True)
        # A row may have several lines; the parser counts lines from the one below the
        # heading.
        first_line = 2
        for cells in rows:
            surplus = cells[len(columns) :]
            if any(surplus):
                message = (
                    f"the row has {len(cells)} values for {len(columns)} columns; "
                    "quote values that contain the separator"
                )
                yield first_line, PredictionsError(message)
            elif cells:
                # A short row ends with empty values.
                values = [*cells, *repeat("", len(columns) - len(cells))]
                yield first_line, dict(zip(columns, values, strict=False))
            first_line = rows.line_num + 2
    except (csv.Error, UnicodeDecodeError) as error:
        message = printable(str(error))
        raise PredictionsError(f"reading stopped here: {message}") from None


def csv_columns(line: bytes) -> list[str]:
    """Return the names in the first line of a possible CSV file; none if it is not CSV."""
    head = line.decode("utf-8-sig", "replace")
    try:
        return next(csv.reader([head], delimiter=_delimiter_of(head)), [])
    except csv.Error:
        return []


def _delimiter_of(head: str) -> str:
    return max(_DELIMITERS, key=head.count)


def parquet_columns(path: str) -> dict[str, str]:
    """Return the columns of a Parquet file with the names of their types.

    Raises:
        PredictionsError: the file is damaged.
    """
    return next(_parquet_lines(path, ()))


def parquet_rows(
    path: str, columns: Iterable[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a Parquet file with their numbers, a block at a time.

    Raises:
        PredictionsError: the file is damaged.
    """
    lines = _parquet_lines(path, columns)
    # The first line has the columns.
    next(lines)
    return enumerate(lines, 1)


def _parquet_lines(path: str, columns: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a child process: a malicious file can make polars abort the process."""
    try:
        for line in lines_of_child(_PARQUET_READER, (path, _BLOCK_ROWS, [*columns])):
            yield jiter.from_json(line, allow_inf_nan=True)
    except ChildError as error:
        raise PredictionsError(f"{path} is damaged: {error}") from None
