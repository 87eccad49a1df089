"""Records that outlive the process: the one store of all that is kept of unfinished work.

A store is a file that only grows, a line for each record: a hash of the rest, the key, the value.
Half a line, as a kill in mid-write or a full disk leaves it, and a line that was damaged are passed
over, as if they had never been written; what is added next stands alone. Of several records of one
key the last counts. A record is handed to the operating system at once, in one piece, so a killed
process loses none, and several may add to one store.
"""

import os
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from scbench.base.canonical import sha256


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


class Store:
    """Values by key, in a file that is made when the first record is added.

    In memory are the keys alone, with the places of their records.

    Raises:
        OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, int] = {}
        self._torn = False
        self._reader: BinaryIO | None = None
        self._writer: FileIO | None = None
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._places)

    def _load(self) -> None:
        place, line = 0, b"\n"
        with open(self.path, "rb", opener=_open_no_link) as file:
            for line in file:
                record = _record_of(line)
                if record is not None:
                    self._places[record[0]] = place
                place += len(line)
        self._torn = not line.endswith(b"\n")

    def open(self) -> FileIO:
        """Open the file to add to, so that a fault of it is told before there is anything to add.

        Raises:
            OSError: it cannot be written.
        """
        if self._writer is None:
            self._writer = open(  # noqa: SIM115  (it is open as long as the store)
                self.path, "ab", buffering=0, opener=_open_no_link
            )
        return self._writer

    def place(self, key: str) -> int | None:
        """Return where the record of a key stands; None if there is none."""
        return self._places.get(key)

    def add(self, key: str, value: bytes) -> int:
        """Append a record; return where it stands.

        Keys are without blanks, values without line breaks.

        Raises:
            OSError: it cannot be written.
        """
        text = key.encode() + b" " + value
        line = sha256(text).encode() + b" " + text + b"\n"
        writer = self.open()
        remainder = memoryview(b"\n" + line if self._torn else line)
        self._torn = True
        while remainder:
            remainder = remainder[writer.write(remainder) :]
        self._torn = False
        self._places[key] = writer.tell() - len(line)
        return self._places[key]

    def read(self, place: int) -> bytes:
        """Return the value of the record that stands at a place."""
        if self._reader is None:
            self._reader = open(  # noqa: SIM115  (as above)
                self.path, "rb", opener=_open_no_link
            )
        self._reader.seek(place)
        record = _record_of(self._reader.readline())
        if record is None:
            raise OSError(f"{self.path} was changed while it was in use")
        return record[1]

    def get(self, key: str) -> bytes | None:
        """Return the value of a key; None if there is none."""
        place = self._places.get(key)
        return None if place is None else self.read(place)

    def close(self) -> None:
        """Close the file; what is asked for afterwards opens it again."""
        files, self._writer, self._reader = (self._writer, self._reader), None, None
        for file in files:
            if file is not None:
                file.close()


def _record_of(line: bytes) -> tuple[str, bytes] | None:
    """Return key and value of a line; None if it is no record, or not all of one."""
    digest, _, text = line.partition(b" ")
    key, blank, value = text[:-1].partition(b" ")
    if not blank or not line.endswith(b"\n") or digest != sha256(text[:-1]).encode():
        return None
    return key.decode(), value
