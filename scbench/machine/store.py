"""A record store that survives the process; it keeps unfinished work.

A store is an append-only file with one line per record: a hash of the rest of the line, the key and
the value, separated by spaces. Damaged lines are skipped as if they had never been
written. An incomplete last line (killed process or full disk) is skipped, too; the next
record starts a new line. If a key has several records, the last one is used.

Records are not buffered, so a killed process loses none. Several processes may append to one file;
each sees its records, and those present when it opened the file.
"""

import os
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from scbench.base.canonical import sha256
from scbench.machine.files import check_regular


class Record(NamedTuple):
    """A record of a store."""

    key: str
    value: bytes


class Store:
    """Values by key, in a file that is created when the first record is added.

    Only keys and places of records are in memory. The place of a record is the byte
    offset of its line.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # Byte offset of the latest record, by key.
        self._places: dict[str, int] = {}
        # Whether the file ends in the middle of a line.
        self._is_torn = False
        self._reader: BinaryIO | None = None
        self._writer: FileIO | None = None
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._places)

    def _load(self) -> None:
        place = 0
        # An empty file does not end in the middle of a line.
        last_line = b"\n"
        with open(self.path, "rb", opener=_open_regular) as file:
            for line in file:
                record = parse_record(line)
                if record is not None:
                    self._places[record.key] = place
                place += len(line)
                last_line = line
        self._is_torn = not last_line.endswith(b"\n")

    def open(self) -> FileIO:
        """Open the file for appending, so that errors show up before the first record is added.

        Raises:
            OSError: the file cannot be written.
        """
        if self._writer is None:
            self._writer = open(  # noqa: SIM115  (open until `close`)
                self.path, "ab", buffering=0, opener=_open_regular
            )
        return self._writer

    def place(self, key: str) -> int | None:
        """Return the place of the record of a key; None if there is none."""
        return self._places.get(key)

    def add(self, key: str, value: bytes) -> int:
        """Append a record; return its place.

        Args:
            key: must not contain a space or line break.
            value: must not contain a line break.

        Raises:
            ValueError: the key or value cannot be stored.
            OSError: the record cannot be written.
        """
        if " " in key or "\n" in key or b"\n" in value:
            raise ValueError(
                f"a record of {key!r} must not contain a space or line break"
            )
        text = key.encode() + b" " + value
        line = sha256(text).encode() + b" " + text + b"\n"
        writer = self.open()
        # A line break ends the incomplete line, so that this record starts a new one.
        line_break = b"\n" if self._is_torn else b""
        remainder = memoryview(line_break + line)
        # A full disk may accept only part of the line, so the file counts as torn until
        # the whole line is written.
        self._is_torn = True
        while remainder:
            size = writer.write(remainder)
            remainder = remainder[size:]
        self._is_torn = False
        # After an append, the position is the end of the bytes just written, also if another
        # process has made the file longer. A record mixed with another process's bytes
        # is a damaged line.
        place = writer.tell() - len(line)
        self._places[key] = place
        return place

    def get(self, key: str) -> bytes | None:
        """Return the value of a key; None if there is none."""
        place = self._places.get(key)
        return None if place is None else self.read(place)

    def read(self, place: int) -> bytes:
        """Return the value of the record at a place.

        Raises:
            OSError: there is no valid record at this place, or the file cannot be read.
        """
        if self._reader is None:
            self._reader = open(  # noqa: SIM115  (open until `close`)
                self.path, "rb", opener=_open_regular
            )
        self._reader.seek(place)
        record = parse_record(self._reader.readline())
        if record is None:
            raise OSError(f"{self.path} changed while it was in use")
        return record.value

    def close(self) -> None:
        """Close the file; later calls open it again."""
        # Forget the files first, because closing may fail and the store must stay
        # usable.
        files = (self._writer, self._reader)
        self._writer = None
        self._reader = None
        for file in files:
            if file is not None:
                file.close()


def _open_regular(path: str, flags: int) -> int:
    """Open a regular file without following symbolic links, which could lead out of the folder.

    Opening a named pipe would wait for another process, and a device may never end.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        check_regular(descriptor, Path(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def parse_record(line: bytes) -> Record | None:
    """Return the record of a line; None if the line is damaged or incomplete."""
    if not line.endswith(b"\n"):
        return None
    digest, _, content = line[:-1].partition(b" ")
    if digest != sha256(content).encode():
        return None
    # A line not written by a store may have a valid hash but no key, or a key that is not UTF-8.
    key, separator, value = content.partition(b" ")
    return Record(key.decode(errors="replace"), value) if separator else None
