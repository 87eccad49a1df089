"""Reading a predictions file: plain, gzip or Zstandard, line by line, whatever is in it.

Nothing here raises for what a file contains. A line that cannot be used becomes a `Problem` with
its number, and reading goes on.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import zstandard
from pydantic import ValidationError
from typing_extensions import Buffer

from scbench.canonical import parse_json
from scbench.errors import JsonError, PredictionsError
from scbench.model import Prediction

MAX_LINE_BYTES = 16 * 2**20
"""Longer lines are refused unread: no answer of any task needs more."""

_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the input.

    Attributes:
        code: kind of problem, for programs.
        message: what is wrong and what to do.
        line: number of the line, from 1; None if it concerns the file.
        id: instance id, where known.
    """

    code: str
    message: str
    line: int | None = None
    id: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class Line:
    """One usable line: its number, its bytes, and the prediction in it."""

    number: int
    data: bytes
    prediction: Prediction


def open_predictions(path: str) -> BinaryIO:
    """Open a predictions file for reading, unpacked as its first bytes demand; ``-`` is stdin.

    Raises:
        PredictionsError: it cannot be opened.
    """
    try:
        raw: BinaryIO = (
            cast(BinaryIO, sys.stdin.buffer) if path == "-" else Path(path).open("rb")  # noqa: SIM115
        )
        stream = io.BufferedReader(cast(io.RawIOBase, raw), _CHUNK)
        head = stream.peek(4)[:4]
    except OSError as error:
        raise PredictionsError(f"cannot read {path}: {error.strerror}") from None
    if head[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if head == b"\x28\xb5\x2f\xfd":
        return io.BufferedReader(_ZstdReader(stream), _CHUNK)
    return stream


class _ZstdReader(io.RawIOBase):
    """Unpacks Zstandard frames, and notices when the last one is cut off."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._frame = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
        self._inside = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready:
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
                self._inside = False
            packed = packed or self._source.read(2**16)
            if not packed:
                if self._inside:
                    raise EOFError("Compressed file ended before the end-of-stream marker")
                return 0
            self._inside = True
            self._ready = self._frame.decompress(packed)
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
    """Yield every line of a stream, as a prediction or a problem. Blank lines are passed over.

    Args:
        stream: unpacked bytes, see `open_predictions`.
        digest: is given every byte that is read.
    """
    number = 0
    try:
        while data := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            digest.update(data)
            if len(data) > MAX_LINE_BYTES:
                size = len(data) + _skip_line(stream, data, digest)
                yield Problem(
                    "line_too_long",
                    f"the line has {size:,} bytes; the limit is {MAX_LINE_BYTES:,}",
                    number,
                )
                continue
            if number == 1:
                data = data.removeprefix(b"\xef\xbb\xbf")
            data = data.strip()
            if data:
                yield parse_line(data, number)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Problem(
            "unreadable",
            f"reading stopped here: {reason}; lines before it were used",
            number + 1,
        )


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
        binary = b"\x00" in data[:4096] or not _is_text(data[:4096])
        what = "not UTF-8 text; is this a JSONL file?" if binary else f"not valid JSON: {error}"
        return Problem("not_json", what, number)
    if not isinstance(value, dict):
        kind = {list: "an array", str: "a string", type(None): "null"}.get(type(value), "a number")
        return Problem("not_object", f"a prediction is a JSON object, this is {kind}", number)
    row_id = value.get("id")
    known = row_id[:200] if isinstance(row_id, str) else None
    try:
        return Line(number, data, Prediction.model_validate(value))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        listed = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}".removeprefix(": ")
            for fault in faults[:5]
        )
        return Problem("bad_prediction", listed.replace("Value error, ", ""), number, known)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end >= len(data)  # a character cut in two by the end of the sample
    return True
