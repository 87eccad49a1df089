"""The journal: outcomes of lines judged singly, kept while a run goes on.

A cut-off run finds them again, and the results are put together from them. Only places in the file
are kept in memory.
"""

import contextlib
import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from scbench.base.canonical import sha256
from scbench.grading.rows.columns import Head
from scbench.grading.rows.wire import WireOutcome, WireVerdict

JOURNAL = "journal.jsonl"


def journal_key(identity: str, number: int | None, digest: str | None) -> str:
    """Return what an outcome depends on: what is the same for the run, and line and its hash."""
    return sha256(f"{identity} {number} {digest}")


def _no_link(path: str, flags: int) -> int:
    """Open a file, and none that a link names."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


class OutcomeJournal:
    """Outcomes finished so far, one JSON line per line of input.

    Args:
        path: of the file; made if it does not exist.
        resume: take over what an interrupted run left there.

    Raises:
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        self._earlier: dict[str, int] = {}
        self._lines = array("Q")
        self._places = array("Q")
        if resume and path.exists():
            self._load()
        self._file: IO[bytes] = open(  # noqa: SIM115  (it is open as long as the journal)
            path, "ab" if resume else "wb", opener=_no_link
        )
        self._end = self._file.tell()
        self._reader: IO[bytes] | None = None

    def _load(self) -> None:
        place = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):  # cut off by the kill
                    break
                # Damaged lines, and those worth a second try, are judged anew.
                with contextlib.suppress(ValueError, TypeError):
                    key, again, _, _ = json.loads(line)
                    if isinstance(key, str) and again is False:
                        self._earlier[key] = place
                place += len(line)
        os.truncate(self.path, place)

    def find(self, key: str, line: int) -> bool:
        """Return whether an interrupted run left this outcome; it is then taken over."""
        place = self._earlier.get(key)
        if place is None:
            return False
        try:
            self._read(place)
        except (ValueError, TypeError):
            return False
        self._lines.append(line)
        self._places.append(place)
        return True

    def add(self, key: str, head: Head, outcome: WireOutcome, *, again: bool) -> None:
        """Append an outcome and hand it to the operating system.

        With ``again`` a resumed run judges the line once more; for the key see `journal_key`.
        """
        text = json.dumps([key, again, head, outcome], ensure_ascii=False)
        self._lines.append(head.line or 0)
        self._places.append(self._end)
        self._end += self._file.write(text.encode() + b"\n")
        self._file.flush()

    def in_order(self) -> Iterator[tuple[Head, WireOutcome]]:
        """Yield the outcomes of this run by line."""
        for _, place in sorted(zip(self._lines, self._places, strict=True)):
            yield self._read(place)

    def _read(self, place: int) -> tuple[Head, WireOutcome]:
        if self._reader is None:
            self._reader = self.path.open("rb")
        self._reader.seek(place)
        _, _, head, (status, scores, *more) = json.loads(self._reader.readline())
        verdicts = tuple(WireVerdict(*scored) for scored in scores)
        return Head.read(head), WireOutcome(status, verdicts, *more)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._reader is not None:
            self._reader.close()
