"""What a run keeps beside its results while it goes on, so that it can be cut off at any moment.

A finished chunk stands in two files of its own, each written whole or not at all: its rows, then
the account of its lines. Outcomes of lines judged singly stand in the journal.
"""

import hashlib
import shutil
from pathlib import Path

from scbench.errors import ResultsError
from scbench.grading.checkpoint.journal import JOURNAL, OutcomeJournal, journal_key
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import Head
from scbench.grading.rows.survey import ChunkAccount, PackedChunk, read_account

PARTS = "parts"


class Checkpoint:
    """The finished chunks and outcomes of a run.

    Args:
        folder: the output folder; made if it does not exist.
        identity: of all that rows depend on besides their line.
        resume: take over what an interrupted run left.
        restart: throw away what an interrupted run left.

    Raises:
        ResultsError: the folder holds an interrupted run and neither is said, or it is not
            writable.
    """

    def __init__(self, folder: Path, identity: str, *, resume: bool, restart: bool) -> None:
        self.folder = folder / PARTS
        self.identity = identity
        self._resume = resume
        journal = folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if (journal.exists() or self.folder.exists()) and not (resume or restart):
                raise ResultsError(
                    f"{folder} holds an interrupted run; go on with --resume, "
                    "throw it away with --restart, or choose another --out"
                )
            if self.folder.exists():
                if not resume:
                    shutil.rmtree(self.folder)
                else:
                    self._tidy()
            self.folder.mkdir(exist_ok=True)
            self.journal = OutcomeJournal(journal, resume=resume)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None

    def _tidy(self) -> None:
        """Remove what was begun and not finished."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.suffix not in {".part", ".arrow"} or path.name.startswith("."):
                path.unlink()

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:07d}.part"

    def rows_file(self, index: int) -> Path:
        """Return the file that holds the rows of a chunk, if it has any."""
        return self._path(index).with_suffix(".arrow")

    def _key(self, chunk: Chunk) -> bytes:
        digest = hashlib.blake2b(f"{self.identity} {chunk.first} {chunk.step} ".encode())
        digest.update(chunk.data)
        return digest.hexdigest().encode()

    def taken(self, chunk: Chunk) -> ChunkAccount | None:
        """Return what an interrupted run found in a chunk; None if it is to be graded now."""
        if not self._resume:
            return None
        path = self._path(chunk.place)
        try:
            key, _, account = path.read_bytes().partition(b"\n")
            found = read_account(account)
            size = self.rows_file(chunk.place).stat().st_size if found.size else 0
        except (FileNotFoundError, ValueError):
            return None
        return None if size != found.size or key != self._key(chunk) or found.again else found

    def keep(self, chunk: Chunk, done: PackedChunk) -> ChunkAccount:
        """Write the account and rows of a finished chunk; return the account.

        Raises:
            OSError: it cannot be written.
        """
        account, rows = done
        if rows:
            _write(self.rows_file(chunk.place), rows)
        _write(self._path(chunk.place), self._key(chunk) + b"\n" + account)
        return read_account(account)

    def key(self, head: Head) -> str:
        """Return the key under which the journal keeps the outcome of a line."""
        return journal_key(self.identity, head.line, head.digest)

    def close(self) -> None:
        """Leave everything for a later run, unless there is nothing."""
        self.journal.close()
        if self.journal.path.stat().st_size == 0:
            self.journal.path.unlink()
            if not any(self.folder.glob("*.part")):
                shutil.rmtree(self.folder)

    def remove(self) -> None:
        """Take everything away: the results are written."""
        self.journal.close()
        shutil.rmtree(self.folder)
        self.journal.path.unlink()


def _write(path: Path, data: bytes) -> None:
    begun = path.with_suffix(".begun")
    begun.write_bytes(data)
    begun.replace(path)
