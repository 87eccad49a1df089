"""Reading the lines of a predictions file (plain, gzip or Zstandard) with any content.

The content of a file never raises an error. A line that cannot be used becomes a
`Problem` with its number, and reading continues.
"""

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import zstandard
from pydantic import ValidationError
from typing_extensions import Buffer

from scbench.base.canonical import parse_json
from scbench.base.data import packaged_toml
from scbench.base.errors import JsonError, PredictionsError, faults_of, printable
from scbench.base.model import Prediction
from scbench.base.wording import by_frequency, counted
from scbench.machine.files import is_in_proc

# Maximum length of a line; no answer needs more.
MAX_LINE_BYTES = 16 * 2**20
# Errors of reading a file that may be packed and damaged.
UNPACKING_ERRORS = (OSError, EOFError, zlib.error, zstandard.ZstdError)
# Key that counts as unknown if its value is text.
TEXT_AS_ANSWER = "answer"

_KEYS = frozenset(Prediction.model_fields)
# Bytes that are read at a time.
_CHUNK = 2**20
# Zstandard bytes that are unpacked at a time: 4 of them can unpack to 128 KiB, and the library
# returns all of that.
_PACKED_CHUNK = 512
# Maximum memory that a Zstandard file may require.
_ZSTD_WINDOW = 2**27
_GZIP_HEAD = b"\x1f\x8b"
_ZSTD_HEAD = b"\x28\xb5\x2f\xfd"
# The header of frames without content, which some packers write before the first frame
# with content.
_SKIPPABLE_HEAD = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
# The beginning of files in other encodings: a byte order mark, or a brace.
_ENCODINGS = {
    "UTF-32": rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff",
    "UTF-16": rb"\xff\xfe|\xfe\xff",
    "UTF-32LE": rb"\{\x00\x00\x00",
    "UTF-32BE": rb"\x00\x00\x00\{",
    "UTF-16LE": rb"\{\x00[^\x00]\x00",
    "UTF-16BE": rb"\x00\{\x00[^\x00]",
}
# JSON values other than objects; all others are numbers.
_KIND_NAMES = {
    bool: "true or false",
    list: "an array",
    str: "a string",
    type(None): "null",
}
_WORDS = packaged_toml("scbench.formats", "predictions.toml")
# Our names of keys, by the names that other programs use.
_SYNONYMS: dict[str, str] = {
    theirs: ours for ours, names in _WORDS["synonyms"].items() for theirs in names
}
# Maximum number of unknown keys recorded per line, and of their characters.
_MAX_UNKNOWN_KEYS = 10
_MAX_KEY = 60
_MAX_ID = 200
# Maximum number of validation errors reported per line.
_MAX_FAULTS = 5
# Characters of a quotation.
_MAX_QUOTED = 400
# Bytes around an error of JSON that are quoted.
_BYTES_AROUND = 20
# Bytes of a line that show whether it is text or binary data.
_SAMPLE_BYTES = 4096
# A file with more blank bytes than this does not count as empty.
_MAX_BLANKS = 65536


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in the input.

    Attributes:
        code: kind of problem, for programs.
        message: the error, and what to do.
        line: number of the line, from 1; None if the problem concerns the whole file.
        id: instance id, where known.
        file: the line's file, if there are several files or another program wrote them.
    """

    code: str
    message: str
    line: int | None = None
    id: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        text = f"line {self.line}: {self.message}" if self.line else self.message
        return f"{self.file}, {text}" if self.file else text

    def fields(self) -> dict[str, str | int | None]:
        """Return the fields of the problem for JSON, without the file if there is only one."""
        # `asdict` would take ten times as long, and a file may have a million problems.
        fields = {name: getattr(self, name) for name in Problem.__slots__}
        if not self.file:
            del fields["file"]
        return fields


CHANGED_FILE = Problem(
    "changed_file",
    "the file changed while it was being read, so some graded answers may be outdated; "
    "once the file no longer changes, grade it again with --restart",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that can be graded.

    Attributes:
        number: number of the line, from 1.
        data: bytes of the line.
        prediction: the prediction in it.
        unread: unknown keys, which were not read.
    """

    number: int
    data: bytes
    prediction: Prediction
    unread: tuple[str, ...] = ()


class Digest(Protocol):
    """A hash that is being computed."""

    def update(self, data: bytes, /) -> object:
        """Add more bytes."""
        ...


# Files


def open_predictions(path: str) -> BinaryIO:
    """Open a predictions file for reading, unpacked if its first bytes say so; ``-`` is stdin.

    Raises:
        PredictionsError: the file cannot be opened.
    """
    try:
        return unpacked_stream(_open_raw(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PredictionsError(f"cannot read {path!r}: {reason}") from None


def unpacked_stream(raw: io.RawIOBase | BinaryIO) -> BinaryIO:
    """Return a stream of an open file, unpacked if its first bytes say so.

    Closing it also closes the file.

    Raises:
        OSError: the first bytes cannot be read.
    """
    stream = io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK)
    head = stream.peek(4)[:4]
    if head.startswith(_GZIP_HEAD):
        return cast(BinaryIO, _GzipReader(stream))
    if head == _ZSTD_HEAD or _SKIPPABLE_HEAD.match(head):
        return io.BufferedReader(_ZstdReader(stream), _CHUNK)
    return stream


def _open_raw(path: str) -> io.RawIOBase:
    # Both are buffered, so reads return full blocks even from a slow pipe.
    if path != "-":
        if is_in_proc(Path(path).stat()):
            raise ValueError("it is in /proc")
        stream = cast(io.RawIOBase, Path(path).open("rb"))  # noqa: SIM115  (returned)
        # A terminal is typed into; other devices, such as /dev/zero, may never end.
        is_device = Path(path).is_char_device() or Path(path).is_block_device()
        if is_device and not stream.isatty():
            stream.close()
            raise ValueError("it is a device")
        return stream
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return cast(io.RawIOBase, sys.stdin.buffer)


class _GzipReader(gzip.GzipFile):
    """Unpacks gzip; closing it also closes the packed file."""

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
        self._begin_frame()
        # Bytes that are unpacked, but not read yet.
        self._ready = memoryview(b"")

    def _begin_frame(self) -> None:
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = decompressor.decompressobj()
        self._has_begun = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._source.close()

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready:
            packed = b""
            if self._frame.eof:
                packed = self._frame.unused_data
                self._begin_frame()
            packed = packed or self._source.read(_PACKED_CHUNK)
            if not packed:
                if self._has_begun:
                    raise EOFError(
                        "Compressed file ended before the end-of-stream marker"
                    )
                return 0
            self._has_begun = True
            self._ready = memoryview(self._frame.decompress(packed))
        view = memoryview(buffer)
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def is_empty(path: str) -> bool:
    """Return whether a file exists, can be read, and contains only whitespace."""
    if not Path(path).is_file():
        return False
    try:
        with open_predictions(path) as stream:
            data = stream.read(_MAX_BLANKS)
    except UNPACKING_ERRORS:
        # The reader reports the reason.
        return False
    return len(data) < _MAX_BLANKS and not stripped(data)


def foreign_encoding(data: bytes) -> str | None:
    """Return the encoding of a file by its first bytes; None if it may be UTF-8."""
    for name, head in _ENCODINGS.items():
        if re.match(head, data):
            return name
    return None


# Lines


def read_predictions(stream: BinaryIO, digest: Digest) -> Iterator[Line | Problem]:
    """Yield every line that is not blank, as a prediction or a problem; see `read_blocks`."""
    for entry in numbered_lines(stream, digest):
        if isinstance(entry, Problem):
            yield entry
            continue
        number, line = entry
        data = stripped(line)
        if data:
            yield parse_line(data, number)


def numbered_lines(
    stream: BinaryIO, digest: Digest
) -> Iterator[tuple[int, bytes] | Problem]:
    """Yield the lines of a stream unchanged, with their numbers; see `read_blocks`."""
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
    """Yield blocks of whole lines of a stream, each with the number of its first line.

    A line that cannot be used is replaced by a problem.

    Args:
        stream: unpacked bytes, see `open_predictions`.
        digest: receives every byte that is read.
    """
    number = 1
    try:
        while data := stream.read1(_CHUNK):  # type: ignore[attr-defined]
            encoding = foreign_encoding(data) if number == 1 else None
            if encoding:
                digest.update(data)
                yield Problem(
                    "unreadable",
                    (
                        f"the file is {encoding} text, so nothing was read; predictions must "
                        f"be UTF-8: iconv -f {encoding} -t UTF-8 FILE"
                    ),
                    number,
                )
                return
            end = data.rfind(b"\n") + 1
            lines = data[:end]
            tail = data[end:]
            # This comes before completing the tail, which may fail.
            if lines:
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
                    f"the line is {size:,} bytes long; the limit is {MAX_LINE_BYTES:,}",
                    number,
                )
            number += 1
    except UNPACKING_ERRORS as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Problem(
            "unreadable",
            f"reading stopped here: {quoted(reason)}; earlier lines were used",
            number,
        )


def _skip_line(stream: BinaryIO, data: bytes, digest: Digest) -> int:
    """Read to the end of a line that begins with some data; return the number of bytes."""
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = stream.readline(_CHUNK)
        digest.update(data)
        skipped += len(data)
    return skipped


def line_spans(
    data: bytes, first: int, step: int = 1
) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of every line in a block; a line includes its line break."""
    start = 0
    number = first
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield number, start, end
        start = end
        number += step


def stripped(data: bytes) -> bytes:
    """Return a line without surrounding whitespace or a byte order mark."""
    # Concatenated files also have byte order marks inside.
    return data.removeprefix(codecs.BOM_UTF8).strip()


def parse_line(data: bytes, number: int) -> Line | Problem:
    """Read one line of JSON as a prediction."""
    try:
        value = parse_json(data)
    except JsonError as error:
        return Problem("not_json", describe_json_error(data, error), number)
    if not isinstance(value, dict):
        kind = _KIND_NAMES.get(type(value), "a number")
        return Problem(
            "not_object",
            (
                f"a prediction must be a JSON object, but this line is {kind}; write one "
                "prediction per line"
            ),
            number,
        )
    unread = _unknown_keys(value)
    if isinstance(value.get("answer"), str):
        unread += (TEXT_AS_ANSWER,)
    try:
        prediction = Prediction.model_validate(value)
    except ValidationError as error:
        message = "; ".join(map(str, faults_of(error, _MAX_FAULTS)))
        if "id" not in value:
            for key in unread:
                if nearest_key(key) == "id" or key.lower().endswith("id"):
                    message += f" (is {key!r} the id?)"
        row_id = value.get("id")
        short_id = row_id[:_MAX_ID] if isinstance(row_id, str) else None
        return Problem("bad_prediction", quoted(message), number, short_id)
    return Line(number, data, prediction, unread)


def _unknown_keys(value: Mapping[str, Any]) -> tuple[str, ...]:
    if value.keys() <= _KEYS:
        return ()
    unknown = (key[:_MAX_KEY] for key in value if key not in _KEYS)
    return tuple(islice(unknown, _MAX_UNKNOWN_KEYS))


# Messages


def describe_json_error(data: bytes, error: JsonError) -> str:
    """Return a plain description of why a line is not JSON."""
    sample = data[:_SAMPLE_BYTES]
    if b"\x00" in sample or not is_utf8(sample):
        return "not UTF-8 text; is this a JSON Lines file?"
    reason, _, column = str(error).rpartition(" at column ")
    if not column.isdecimal():
        return f"not valid JSON: {quoted(str(error))}"
    for words, plain in _WORDS["reasons"].items():
        if words in reason:
            reason = plain
            break
    else:
        reason = quoted(reason)
    place = int(column) - 1
    near = data[max(place - _BYTES_AROUND, 0) : place + _BYTES_AROUND]
    quotation = quoted(near.decode(errors="replace"))
    return f"not valid JSON: {reason}, at column {column}: ...{quotation}..."


def is_utf8(sample: bytes) -> bool:
    """Return whether the beginning of a text is UTF-8; it may end within a character."""
    try:
        codecs.utf_8_decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def nearest_key(key: str) -> str | None:
    """Return the key of a prediction that an unknown key probably means."""
    if key in _SYNONYMS:
        return _SYNONYMS[key]
    matches = get_close_matches(key, sorted(_KEYS), n=1)
    return matches[0] if matches else None


def unread_keys(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each unknown key.

    Args:
        counts: number of lines by key.
    """
    for key, number in by_frequency(counts):
        lines = counted(number, "line")
        if key == TEXT_AS_ANSWER:
            yield (
                f'"answer" is text in {lines}, but every task needs an object there; '
                'put text into "response"'
            )
            continue
        near = nearest_key(key)
        hint = f"; did you mean {near!r}?" if near else ""
        yield f"unknown key {quoted(key)!r} ignored in {lines}{hint}"


def quoted(text: str) -> str:
    """Make text of a file safe for a terminal: clipped, without control characters."""
    if len(text) > _MAX_QUOTED:
        text = f"{text[: _MAX_QUOTED // 2]} ... {text[-_MAX_QUOTED // 4 :]}"
    return printable(text)
