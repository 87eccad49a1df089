"""What a run keeps beside its results while it goes on, so that it can be cut off at any moment.

Finished chunks stand in files of their own, each written whole or not at all; outcomes of lines
judged singly stand in the journal.
"""

import hashlib
import shutil
from pathlib import Path

from scbench.errors import ResultsError
from scbench.grading.chunks import Chunk
from scbench.grading.journal import JOURNAL, Journal
from scbench.grading.survey import Part, unpack_part

PARTS = "parts"


class Store:
    """The parts and the journal of a run.

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
            self.journal = Journal(journal, resume=resume)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None

    def _tidy(self) -> None:
        """Remove what was begun and not finished."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.suffix != ".part" or path.name.startswith("."):
                path.unlink()

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:07d}.part"

    def _key(self, chunk: Chunk) -> bytes:
        digest = hashlib.blake2b(f"{self.identity} {chunk.first} {chunk.step} ".encode())
        digest.update(chunk.data)
        return digest.hexdigest().encode()

    def taken(self, chunk: Chunk) -> Part | None:
        """Return what an interrupted run found in a chunk; None if it is to be graded now."""
        if not self._resume:
            return None
        path = self._path(chunk.place)
        try:
            key, _, data = path.read_bytes().partition(b"\n")
            part, _ = unpack_part(data)
        except (FileNotFoundError, ValueError):
            return None
        if key != self._key(chunk) or part.again:
            return None
        return part

    def keep(self, chunk: Chunk, data: bytes) -> None:
        """Write the finished part of a chunk.

        Raises:
            OSError: it cannot be written.
        """
        path = self._path(chunk.place)
        begun = path.with_suffix(".begun")
        begun.write_bytes(self._key(chunk) + b"\n" + data)
        begun.replace(path)

    def read(self, index: int) -> tuple[Part, bytes]:
        """Return the part of a chunk, and its rows."""
        return unpack_part(self._path(index).read_bytes().partition(b"\n")[2])

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
