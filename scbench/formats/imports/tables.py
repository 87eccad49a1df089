"""Tables of replies: CSV, Parquet, JSON Lines, with names for columns that are not ours."""

import csv
from collections.abc import Iterable, Iterator, Mapping
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
_NUMBERS = {"sample", "budget"}
_VALUES = {"answer", "usage", "run"}
# Rows of a Parquet file that are in memory.
_BLOCK = 256


# Reads a Parquet file: its columns as one line of JSON, then a line for each row.
_PARQUET = """
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
    """Return which column each field is in, from ``id=item,response=output``.

    Raises:
        PredictionsError: a field is not known or named twice, or there is none for the id.
    """
    if text is None:
        return None
    columns: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not column or name in columns:
            raise PredictionsError(
                f"--map takes id=COLUMN,response=COLUMN once each, not {pair!r}"
            )
        if name not in _FIELDS:
            raise PredictionsError(
                f"--map: no field {name!r}.{did_you_mean(name, _FIELDS)}"
            )
        columns[name] = column
    if "id" not in columns:
        raise PredictionsError("--map must say where the id is: id=COLUMN")
    return columns


def own_columns(names: Iterable[str]) -> Mapped | None:
    """Return the mapping of a table whose columns are called as ours; None if they are not."""
    columns = {name: name for name in names if name in _FIELDS}
    return (
        columns
        if "id" in columns and columns.keys() & {"response", "answer", "status"}
        else None
    )


def row_reply(row: Entry, mapped: Mapped, *, words: bool = False) -> Reply:
    """Return a row as a reply.

    Args:
        row: value by column; a column that is not there may be a path, such as output.text.
        mapped: which fields to take from where.
        words: whether every value is text, as in CSV files: numbers and JSON are read from it, and
            what is empty is not there.

    Raises:
        PredictionsError: a column is missing, or its value is not what the field takes.
    """
    fields: dict[str, Any] = {}
    for name, column in mapped.items():
        value = row[column] if column in row else dig(row, *column.split("."))
        if value is None or (words and value == ""):
            continue
        fields[name] = _typed_value(name, value) if isinstance(value, str) else value
    request = request_key(fields.pop("id", None))
    for name in _NUMBERS & fields.keys():
        request = request._replace(**{name: fields.pop(name)})
    model = fields.pop("model", None)
    return Reply(request, None if model is None else str(model), fields)


def _typed_value(name: str, text: str) -> object:
    if name in _NUMBERS:
        if text.isascii() and text.isdecimal() and len(text) <= 16:
            return int(text)
        raise PredictionsError(
            f"{name} must be a whole number from 0, not {text[:40]!r}"
        )
    if name in _VALUES:
        try:
            return parse_json(text.encode())
        except (JsonError, UnicodeEncodeError) as error:
            raise PredictionsError(f"{name} is not JSON: {error}") from None
    return text


def csv_rows(
    lines: Iterable[tuple[int, bytes]],
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file by the names in its first line, with their line numbers.

    Raises:
        PredictionsError: it is not UTF-8, or no CSV.
    """
    numbers = [0]

    def texts() -> Iterator[str]:
        for number, data in lines:
            numbers[0] = number
            yield data.decode("utf-8-sig" if number == 1 else "utf-8")

    source = texts()
    csv.field_size_limit(MAX_LINE_BYTES)
    try:
        head = next(source, "")
        mark = max(",;\t", key=head.count)
        columns = next(csv.reader([head], delimiter=mark), [])
        begun = numbers[0] + 1
        for cells in csv.reader(source, delimiter=mark, strict=True):
            if cells:
                yield begun, dict(zip(columns, cells, strict=False))
            begun = numbers[0] + 1
    except (csv.Error, UnicodeDecodeError) as error:
        message = printable(str(error))
        raise PredictionsError(f"reading stopped here: {message}") from None


def csv_columns(line: bytes) -> list[str]:
    """Return the names in the first line of what may be a CSV file; none if it is no such line."""
    text = line.decode("utf-8-sig", "replace")
    try:
        return next(csv.reader([text], delimiter=max(",;\t", key=text.count)), [])
    except csv.Error:
        return []


def parquet_columns(path: str) -> dict[str, str]:
    """Return the columns of a Parquet file, and what their types are called.

    Raises:
        PredictionsError: it is damaged.
    """
    return next(_from_parquet(path, ()))


def parquet_rows(
    path: str, columns: Iterable[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a Parquet file with their numbers, a few at a time.

    Raises:
        PredictionsError: it is damaged.
    """
    lines = _from_parquet(path, columns)
    next(lines)
    return enumerate(lines, 1)


def _from_parquet(path: str, columns: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield what a child process reads: a file that was made to can abort polars, and us too."""
    try:
        for line in lines_of_child(_PARQUET, (path, _BLOCK, [*columns])):
            yield jiter.from_json(line, allow_inf_nan=True)
    except ChildError as error:
        raise PredictionsError(f"{path} is damaged: {error}") from None
