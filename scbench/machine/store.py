"""Stores of records that outlive the process: for everything that is kept of unfinished work.

A store is a file that only grows, with a line for each record: a hash of the rest, the key, the
value. Half a line, as a kill in mid-write or a full disk leaves it, and damaged lines are skipped,
as if they had never been written; the next record starts a new line. Of several records of one key
the last counts. A record is handed to the operating system at once, in one piece, so a killed
process loses none, and several processes may add to one store.
"""

import os
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from scbench.base.canonical import sha256


class Record(NamedTuple):
    """A record of a store."""

    key: str
    value: bytes


class Store:
    """Values by key, in a file that is made when the first record is added.

    Only the keys are in memory, with the places of their records.

    Raises:
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # Bytes before the line of the last record of each key.
        self._places: dict[str, int] = {}
        # Whether the file ends with half a line.
        self._is_torn = False
        self._reader: BinaryIO | None = None
        self._writer: FileIO | None = None
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._places)

    def _load(self) -> None:
        place = 0
        line = b"\n"
        with open(self.path, "rb", opener=_open_no_link) as file:
            for line in file:
                record = parse_record(line)
                if record is not None:
                    self._places[record.key] = place
                place += len(line)
        self._is_torn = not line.endswith(b"\n")

    def open(self) -> FileIO:
        """Open the file to add to, so that its faults show before there is anything to add.

        Raises:
            OSError: it cannot be written.
        """
        if self._writer is None:
            self._writer = open(  # noqa: SIM115  (it is open as long as the store)
                self.path, "ab", buffering=0, opener=_open_no_link
            )
        return self._writer

    def place(self, key: str) -> int | None:
        """Return the place of the record of a key; None if there is none."""
        return self._places.get(key)

    def add(self, key: str, value: bytes) -> int:
        """Append a record; return its place.

        Keys are without blanks, values without line breaks.

        Raises:
            OSError: it cannot be written.
        """
        text = key.encode() + b" " + value
        line = sha256(text).encode() + b" " + text + b"\n"
        writer = self.open()
        remainder = memoryview(b"\n" + line if self._is_torn else line)
        # Until all of it is written: a full disk may take a part.
        self._is_torn = True
        while remainder:
            size = writer.write(remainder)
            remainder = remainder[size:]
        self._is_torn = False
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
            OSError: there is none, or it cannot be read.
        """
        if self._reader is None:
            self._reader = open(  # noqa: SIM115  (as above)
                self.path, "rb", opener=_open_no_link
            )
        self._reader.seek(place)
        record = parse_record(self._reader.readline())
        if record is None:
            raise OSError(f"{self.path} was changed while it was in use")
        return record.value

    def close(self) -> None:
        """Close the file; later calls open it again."""
        files = (self._writer, self._reader)
        self._writer = None
        self._reader = None
        for file in files:
            if file is not None:
                file.close()


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def parse_record(line: bytes) -> Record | None:
    """Return the record of a line; None if it is no record, or not all of one."""
    digest, _, text = line.partition(b" ")
    content = text[:-1]
    if not line.endswith(b"\n") or digest != sha256(content).encode():
        return None
    key, blank, value = content.partition(b" ")
    return Record(key.decode(), value) if blank else None
