"""Reading a predictions file: plain, gzip or Zstandard, line by line, whatever is in it.

Nothing here raises for what a file contains. A line that cannot be used becomes a `Problem` with
its number, and reading goes on.
"""

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import zstandard
from pydantic import ValidationError
from typing_extensions import Buffer

from scbench.base.canonical import parse_json
from scbench.base.data import packaged_toml
from scbench.base.errors import JsonError, PredictionsError, faults_of, printable
from scbench.base.model import Prediction

# Longer lines are refused unread: no answer of any task needs more.
MAX_LINE_BYTES = 16 * 2**20

_KEYS = frozenset(Prediction.model_fields)
_CHUNK = 2**20
_MAX_SHOWN = 400
_KINDS = (
    (bool, "true or false"),
    (list, "an array"),
    (str, "a string"),
    (type(None), "null"),
)
# Zstandard bytes unpacked at a time: four of them can stand for 128 KiB, and all is
# returned.
_PACKED = 512
# How files of other encodings begin: with their byte-order mark, or with a brace.
_ENCODINGS = {
    "UTF-32": rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff",
    "UTF-16": rb"\xff\xfe|\xfe\xff",
    "UTF-32LE": rb"\{\x00\x00\x00",
    "UTF-32BE": rb"\x00\x00\x00\{",
    "UTF-16LE": rb"\{\x00[^\x00]\x00",
    "UTF-16BE": rb"\x00\{\x00[^\x00]",
}
_WORDS = packaged_toml("scbench.formats", "predictions.toml")
_SYNONYMS = {
    theirs: ours for ours, names in _WORDS["synonyms"].items() for theirs in names
}
# Unknown keys of a line that are noted; a line may hold any number.
_MOST_KEYS = 10
# How the frames begin that some packers put before the first frame of content.
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_MOST_BLANKS = 65536
# Counted among unknown keys where its value is a text.
TEXT_AS_ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the input.

    Attributes:
        code: kind of problem, for programs.
        message: what is wrong and what to do.
        line: number of the line, from 1; None if it concerns the file.
        id: instance id, where known.
        file: that the line is in, if predictions were made of several files or of other programs'.
    """

    code: str
    message: str
    line: int | None = None
    id: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return (
            f"{self.file}, {place}{self.message}"
            if self.file
            else f"{place}{self.message}"
        )

    def fields(self) -> dict[str, str | int | None]:
        """Return it as JSON holds it: without a file where there is but one."""
        fields = asdict(self)
        return (
            fields
            if self.file
            else {name: fields[name] for name in fields if name != "file"}
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One usable line: its number, its bytes, the prediction in it, and keys that nobody reads."""

    number: int
    data: bytes
    prediction: Prediction
    unread: tuple[str, ...] = ()


def open_predictions(path: str) -> BinaryIO:
    """Open a predictions file for reading, unpacked as its first bytes demand; ``-`` is stdin.

    Raises:
        PredictionsError: it cannot be opened.
    """
    try:
        raw = _open_raw(path)
        stream = io.BufferedReader(raw, _CHUNK)
        head = stream.peek(4)[:4]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PredictionsError(f"cannot read {path!r}: {reason}") from None
    if head[:2] == b"\x1f\x8b":
        return cast(BinaryIO, _GzipReader(stream))
    if head == b"\x28\xb5\x2f\xfd" or _SKIPPABLE.match(head):
        return io.BufferedReader(_ZstdReader(stream), _CHUNK)
    return stream


def _open_raw(path: str) -> io.RawIOBase:
    """Open a file as a raw stream that gives all that is asked for, even from a slow pipe."""
    if path != "-":
        return cast(io.RawIOBase, Path(path).open("rb"))
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return cast(io.RawIOBase, sys.stdin.buffer)


class _GzipReader(gzip.GzipFile):
    def __init__(self, source: BinaryIO) -> None:
        super().__init__(fileobj=source)
        self._source = source

    def close(self) -> None:
        super().close()
        self._source.close()


class _ZstdReader(io.RawIOBase):
    """Unpacks Zstandard frames, and notices when the last one is cut off."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._frame = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
        self._inside = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._source.close()

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready:
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor(
                    max_window_size=2**27
                ).decompressobj()
                self._inside = False
            packed = packed or self._source.read(_PACKED)
            if not packed:
                if self._inside:
                    raise EOFError(
                        "Compressed file ended before the end-of-stream marker"
                    )
                return 0
            self._inside = True
            self._ready = memoryview(self._frame.decompress(packed))
        view = memoryview(buffer)
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


class Digest(Protocol):
    """A hash in the making."""

    def update(self, data: bytes, /) -> object:
        """Take in more bytes."""
        ...


def read_predictions(stream: BinaryIO, digest: Digest) -> Iterator[Line | Problem]:
    """Yield every line that is not blank, as a prediction or a problem; see `read_blocks`."""
    for entry in numbered_lines(stream, digest):
        if isinstance(entry, Problem):
            yield entry
        elif data := stripped(entry[1]):
            yield parse_line(data, entry[0])


def numbered_lines(
    stream: BinaryIO, digest: Digest
) -> Iterator[tuple[int, bytes] | Problem]:
    """Yield the lines of a stream as they stand with their numbers; see `read_blocks`."""
    for entry in read_blocks(stream, digest):
        if isinstance(entry, Problem):
            yield entry
            continue
        first, block = entry
        for number, start, end in line_spans(block, first):
            yield number, block[start:end]


def read_blocks(
    stream: BinaryIO, digest: Digest
) -> Iterator[tuple[int, bytes] | Problem]:
    """Yield a stream some whole lines at a time, with the number of the first, as they stand.

    A line that cannot be used is a problem in its place.

    Args:
        stream: unpacked bytes, see `open_predictions`.
        digest: is given every byte that is read.
    """
    number = 1
    try:
        while data := stream.read1(_CHUNK):  # type: ignore[attr-defined]
            encoding = foreign_encoding(data) if number == 1 else None
            if encoding:
                digest.update(data)
                yield Problem(
                    "unreadable",
                    f"this is {encoding} text, by its first bytes, and nothing of it was read; "
                    f"predictions are UTF-8: iconv -f {encoding} -t UTF-8 FILE",
                    number,
                )
                return
            end = data.rfind(b"\n") + 1
            lines, tail = data[:end], data[end:]
            if lines:  # what follows may not be readable
                digest.update(lines)
                yield number, lines
                number += lines.count(b"\n")
            if not tail:
                continue
            tail += stream.readline(MAX_LINE_BYTES + 1 - len(tail))
            digest.update(tail)
            if len(tail) <= MAX_LINE_BYTES:
                yield number, tail
            else:
                size = len(tail) + _skip_line(stream, tail, digest)
                yield Problem(
                    "line_too_long",
                    f"the line has {size:,} bytes; the limit is {MAX_LINE_BYTES:,}",
                    number,
                )
            number += 1
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Problem(
            "unreadable",
            f"reading stopped here: {_for_terminal(reason)}; lines before it were used",
            number,
        )


def foreign_encoding(data: bytes) -> str | None:
    """Return what a file is written in, by its first bytes, if that is not UTF-8."""
    return next(
        (name for name, head in _ENCODINGS.items() if re.match(head, data)), None
    )


def line_spans(
    data: bytes, first: int, step: int = 1
) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of every line of whole lines; its line break belongs to it."""
    start = 0
    number = first
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield number, start, end
        start = end
        number += step


def stripped(data: bytes) -> bytes:
    """Return a line without what does not count: blanks around it, and a byte order mark."""
    # Files that were joined have byte order marks inside, too.
    return data.removeprefix(b"\xef\xbb\xbf").strip()


def _skip_line(stream: BinaryIO, data: bytes, digest: Digest) -> int:
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = stream.readline(_CHUNK)
        digest.update(data)
        skipped += len(data)
    return skipped


def parse_line(data: bytes, number: int) -> Line | Problem:
    """Read one line of JSON as a prediction."""
    try:
        value = parse_json(data)
    except JsonError as error:
        binary = b"\x00" in data[:4096] or not _is_utf8(data[:4096])
        what = (
            "not UTF-8 text; is this a JSONL file?"
            if binary
            else _why_not_json(data, error)
        )
        return Problem("not_json", what, number)
    if not isinstance(value, dict):
        kind = next(
            (name for kinds, name in _KINDS if isinstance(value, kinds)), "a number"
        )
        return Problem(
            "not_object",
            f"a prediction is a JSON object, this is {kind}; give one prediction on each line",
            number,
        )
    row_id = value.get("id")
    short_id = row_id[:200] if isinstance(row_id, str) else None
    unread: tuple[str, ...] = ()
    if not value.keys() <= _KEYS:
        unread = tuple(
            islice((key[:60] for key in value if key not in _KEYS), _MOST_KEYS)
        )
    if isinstance(value.get("answer"), str):
        unread += (TEXT_AS_ANSWER,)
    try:
        return Line(number, data, Prediction.model_validate(value), unread)
    except ValidationError as error:
        faults = "; ".join(map(str, faults_of(error, 5)))
        if "id" not in value:
            faults += "".join(
                f" (is {key!r} the id?)" for key in unread if nearest_key(key) == "id"
            )
        return Problem("bad_prediction", _for_terminal(faults), number, short_id)


def nearest_key(key: str) -> str | None:
    """Return the key of a prediction that another one is likely meant for."""
    return _SYNONYMS.get(key) or next(
        iter(get_close_matches(key, sorted(_KEYS), n=1)), None
    )


def is_empty(path: str) -> bool:
    """Return whether a file is there, can be read, and holds nothing but some blanks."""
    if not Path(path).is_file():
        return False
    try:
        with open_predictions(path) as stream:
            data = stream.read(_MOST_BLANKS)
            return (
                len(data) < _MOST_BLANKS
                and not data.removeprefix(codecs.BOM_UTF8).strip()
            )
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):  # said when it is read
        return False


def unread_keys(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each unknown key, of so many lines."""
    for key, lines in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        if key == TEXT_AS_ANSWER:
            yield (
                f'"answer" is a text in {lines:,} line{"s" * (lines != 1)}, and no task takes one: '
                'give the object itself, or put the text into "response"'
            )
            continue
        near = nearest_key(key)
        hint = f"; is it meant for {near!r}?" if near else ""
        yield (
            f"the key {_for_terminal(key)!r} is not known and was not read, in {lines:,} "
            f"line{'s' * (lines != 1)}{hint}"
        )


def _why_not_json(data: bytes, error: JsonError) -> str:
    reason, _, column = str(error).rpartition(" at column ")
    if not column.isdecimal():
        return f"not valid JSON: {_for_terminal(str(error))}"
    reason = next(
        (plain for words, plain in _WORDS["reasons"].items() if words in reason),
        _for_terminal(reason),
    )
    near = data[max(int(column) - 21, 0) : int(column) + 19].decode(errors="replace")
    return f"not valid JSON: {reason}, at column {column}: ...{_for_terminal(near)}..."


def _is_utf8(data: bytes) -> bool:
    try:
        codecs.utf_8_decode(
            data
        )  # not final: the end of the sample may cut a character in two
    except UnicodeDecodeError:
        return False
    return True


def _for_terminal(text: str) -> str:
    """Make text from the file fit for a terminal: clipped, and without control characters."""
    if len(text) > _MAX_SHOWN:
        text = f"{text[: _MAX_SHOWN // 2]} ... {text[-_MAX_SHOWN // 4 :]}"
    return printable(text)
