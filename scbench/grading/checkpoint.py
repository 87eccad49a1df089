"""The store of a run: finished chunks and outcomes, until the results are written.

A run can be interrupted at any moment. The journal contains the account of each
finished chunk and the outcomes of lines graded separately. The rows of a chunk are in
an Arrow file, which is written before the account.
"""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter
from pydantic_core import to_json

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.lines import ChunkAccount, GradedLine, Head
from scbench.grading.rows.wire import WireOutcome
from scbench.machine.files import write_whole
from scbench.machine.store import Store
from scbench.machine.work_folder import WorkFolder, remove

# Version of the format of the records and files. It is part of the identity of a run
# (see `scbench.grading.run`), so runs of another version are not continued.
FORMAT = 2
# Name of the folder inside the output folder that contains the store of a run.
WORK = ".scbench"
JOURNAL = "journal"
PARTS = "parts"
# Prefix of keys of outcomes that a resumed run should grade again.
AGAIN = "again-"

# The remark on results that this user has not computed.
FOREIGN_RUN = (
    "you did not start the interrupted run on this machine; if you do not trust its results, "
    "start over with --restart"
)

# Building a reader is slow, so each is built only when its first record is read; most
# runs read none.
reader_of = cache(TypeAdapter)


class ChunkRows(NamedTuple):
    """The rows of a finished chunk.

    Attributes:
        first: number of its first line.
        rows: number of rows.
        text: size in bytes of the rows' long text columns.
        dropped: lines that do not count because an earlier line answers the same item.
    """

    first: int
    rows: int
    text: int
    dropped: Sequence[int] = ()


def read_account(data: bytes) -> ChunkAccount:
    """Return the account in a record of the journal."""
    account: ChunkAccount = reader_of(ChunkAccount).validate_json(data)
    return account


class Checkpoint:
    """The finished chunks and outcomes of a run.

    The output folder is created. With ``resume``, the results of an interrupted run are reused;
    with ``restart``, they are discarded.

    Attributes:
        identity: hash of everything that rows depend on, except their lines.
        work: the folder of the store.
        folder: the folder in it for the Arrow files of rows.
        remarks: messages to the user about the output folder.

    Raises:
        ResultsError: the folder contains an interrupted run and neither option is set,
            another process uses it, or it is not writable.
    """

    def __init__(
        self, folder: Path, identity: str, *, resume: bool, restart: bool
    ) -> None:
        self.identity = identity
        self._resume = resume
        self._rows_files: dict[int, Path] = {}
        # Line number and place in the journal (see `Store`) of each outcome of this run. There may
        # be millions, so they are packed into arrays.
        self._lines = array("Q")
        self._places = array("Q")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.work = WorkFolder(folder / WORK)
            if self.work.previous and not (resume or restart):
                self.work.close()
                raise ResultsError(
                    f"{folder} contains an interrupted run; continue it with --resume, "
                    "discard it with --restart, or choose another --out"
                )
            # Before `clear` and `mark`, which change the folder.
            self.remarks = list(self._remarks())
            self.folder = self.work.path / PARTS
            if not (resume and self._may_be_continued()):
                # In a new folder there is nothing to clear.
                self.work.clear()
            elif self.folder.is_symlink() or self.folder.is_file():
                # Not ours: the files behind a link belong to somebody else.
                remove(self.folder)
            elif self.folder.exists():
                self._remove_unfinished()
            self.folder.mkdir(exist_ok=True)
            self._store = Store(self.work.path / JOURNAL)
            # Opened now, so that closing it frees a descriptor for cleaning up if the
            # process runs out of them.
            self._store.open()
            self.work.mark(identity)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None

    def _may_be_continued(self) -> bool:
        """Return whether the folder contains this run, or this user's records of other runs.

        In any other folder, records of this run are forged, whatever the marker says.
        """
        previous = self.work.previous
        return previous != "" and (previous == self.identity or self.work.is_own())

    def _remarks(self) -> Iterator[str]:
        if not self.work.locked:
            yield (
                f"the file system of {self.work.path} cannot lock files; make sure that "
                "only one run writes to it"
            )
        previous = self.work.previous
        # Keys contain the identity, so this user's records of other runs are never found.
        if self._resume and previous not in {"", self.identity}:
            yield (
                "the interrupted run used another release, version or options, so all "
                "lines are graded again"
            )
        elif self._resume and previous and not self.work.is_own():
            yield FOREIGN_RUN

    def _remove_unfinished(self) -> None:
        """Remove unfinished files, and everything that this class does not write."""
        for path in self.folder.iterdir():
            if path.suffix != ".arrow" or path.is_symlink() or path.is_dir():
                remove(path)

    def rows_file(self, place: int) -> Path:
        """Return the file for the rows of a chunk; it exists if the chunk has rows.

        `keep_chunk`, or `find_chunk` of a resumed run, must have been called for the chunk.
        """
        return self._rows_files[place]

    def find_chunk(self, chunk: Chunk) -> ChunkAccount | None:
        """Return an interrupted run's account of a chunk; None if it must be graded now."""
        if not self._resume:
            return None
        data = self._store.get(self._register_chunk(chunk))
        if data is None:
            return None
        account = read_account(data)
        rows = self.rows_file(chunk.place)
        # A chunk without rows has no file; its account has size 0.
        size = rows.stat().st_size if account.size and rows.exists() else 0
        if account.again or size != account.size:
            return None
        return account

    def keep_chunk(self, chunk: Chunk, account: ChunkAccount, table: bytes) -> None:
        """Write the rows of a finished chunk, then its account.

        Raises:
            OSError: the rows or the account cannot be written.
        """
        key = self._register_chunk(chunk)
        if table:
            path = self.rows_file(chunk.place)
            write_whole(path, lambda scratch: scratch.write_bytes(table))
        self._store.add(key, to_json(account))

    def _register_chunk(self, chunk: Chunk) -> str:
        """Return the key of a chunk's account, and record the file for its rows."""
        head = f"{self.identity} {chunk.first} {chunk.step} ".encode()
        digest = hashlib.blake2b(head, digest_size=32)
        digest.update(chunk.data)
        key = digest.hexdigest()
        self._rows_files[chunk.place] = self.folder / f"{key}.arrow"
        return key

    def find_outcome(self, head: Head) -> bool:
        """Reuse an interrupted run's outcome of a line; return whether there is one."""
        if not self._resume:
            return False
        place = self._store.place(self._outcome_key(head))
        if place is None:
            return False
        self._note_outcome(head, place)
        return True

    def keep_outcome(self, head: Head, outcome: WireOutcome, *, again: bool) -> None:
        """Write the outcome of a line; with ``again``, a resumed run grades the line again.

        Raises:
            OSError: the outcome cannot be written.
        """
        key = self._outcome_key(head)
        if again:
            # `find_outcome` looks for the key without prefix, so it will not find this
            # one.
            key = AGAIN + key
        record = to_json(GradedLine(head, outcome))
        self._note_outcome(head, self._store.add(key, record))

    def _outcome_key(self, head: Head) -> str:
        return sha256(f"{self.identity} {head.line} {head.digest}")

    def _note_outcome(self, head: Head, place: int) -> None:
        # Lines of a chunk always have a number.
        self._lines.append(head.line or 0)
        self._places.append(place)

    def outcomes(self) -> Iterator[GradedLine]:
        """Yield the outcomes of this run in order of line numbers."""
        for _, place in sorted(zip(self._lines, self._places, strict=True)):
            yield reader_of(GradedLine).validate_json(self._store.read(place))

    def close(self) -> bool:
        """Close the store, and remove it if empty; return whether it still exists."""
        # Closing may fail on a full disk; records already written remain valid.
        with suppress(OSError):
            self._store.close()
        if len(self._store):
            self.work.close()
        else:
            self.work.remove()
        return len(self._store) > 0

    def remove(self) -> None:
        """Remove everything once the results have been written."""
        self._store.close()
        self.work.remove()
