"""What a run keeps beside its results while it goes on, so that it can be cut off at any moment.

A finished chunk stands in two files of its own, each written whole or not at all: its rows, then
the account of its lines. Outcomes of lines judged singly stand in the journal.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scbench.base.errors import ResultsError
from scbench.grading.checkpoint.journal import JOURNAL, OutcomeJournal, journal_key
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import Head
from scbench.grading.rows.survey import ChunkAccount, PackedChunk, read_account
from scbench.machine.work_folder import WorkFolder, remove

WORK = ".scbench"
"""Name of the folder, inside that for results, which holds all that a run keeps."""
PARTS = "parts"


class Checkpoint:
    """The finished chunks and outcomes of a run.

    Attributes:
        remarks: what is to be told of the folder.

    Args:
        folder: the output folder; made if it does not exist.
        identity: of all that rows depend on besides their line.
        resume: take over what an interrupted run left.
        restart: throw away what an interrupted run left.

    Raises:
        ResultsError: the folder holds an interrupted run and neither is said, another process is
            at work there, or it is not writable.
    """

    def __init__(self, folder: Path, identity: str, *, resume: bool, restart: bool) -> None:
        self.identity = identity
        self._resume = resume
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.work = WorkFolder(folder / WORK)
            if self.work.previous and not (resume or restart):
                self.work.close()
                raise ResultsError(
                    f"{folder} holds an interrupted run; continue it with --resume, "
                    "throw it away with --restart, or choose another --out"
                )
            self.remarks = list(self._remarks())
            self.folder = self.work.path / PARTS
            if not resume:
                self.work.clear()
            elif self.folder.exists():
                self._tidy()
            self.folder.mkdir(exist_ok=True)
            self.journal = OutcomeJournal(self.work.path / JOURNAL, resume=resume)
            self.work.mark(identity)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None

    def _remarks(self) -> Iterator[str]:
        if not self.work.locked:
            yield (
                f"the file system of {self.work.path} cannot lock files: "
                "let no two runs write to it at once"
            )
        if self._resume and self.work.previous not in {"", self.identity}:
            yield (
                "the interrupted run was graded with another release, version or options: "
                "nothing of it can be taken over, all lines are graded anew"
            )

    def _tidy(self) -> None:
        """Remove what was begun and not finished."""
        for path in self.folder.iterdir():
            if path.suffix not in {".part", ".arrow"} or path.is_symlink() or path.is_dir():
                remove(path)

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

    def close(self) -> bool:
        """Leave everything for a later run, unless there is nothing; return whether there is."""
        with suppress(OSError):  # of a full disk
            self.journal.close()
        kept = self.journal.path.stat().st_size > 0 or any(self.folder.glob("*.part"))
        if kept:
            self.work.close()
        else:
            self.work.remove()
        return kept

    def remove(self) -> None:
        """Take everything away: the results are written."""
        self.journal.close()
        self.work.remove()


def _write(path: Path, data: bytes) -> None:
    begun = path.with_suffix(".begun")
    begun.write_bytes(data)
    begun.replace(path)
