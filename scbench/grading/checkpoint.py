"""What a run keeps beside its results while it goes on, and how finished rows come together.

A run can be cut off at any moment. Its store holds the account of each finished chunk, whose rows
stand in a file of Arrow that was written first, and the outcomes of lines judged singly. At the end
rows pass through as frames of a few thousand, in the order of lines. The bytes of
``results.parquet`` follow from the rows alone, however the run was cut up: the sink forms row
groups of one size anew.
"""

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import polars as pl

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import (
    Completer,
    Head,
    RowMaker,
    column_types,
    text_bytes,
)
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.survey import ChunkAccount, PackedChunk, read_account
from scbench.grading.rows.wire import WireOutcome, WireVerdict
from scbench.machine.files import write_whole
from scbench.machine.store import Store
from scbench.machine.tables import scan_arrow, write_arrow
from scbench.machine.work_folder import WorkFolder, remove

# Name of the folder, inside that for results, which holds all that a run keeps.
WORK = ".scbench"
JOURNAL = "journal"
PARTS = "parts"
# Begins the keys of outcomes that a resumed run does not take over.
AGAIN = "again-"

_HELD_ROWS = 8192
_HELD_BYTES = 2**25
_GROUP = 8192
_GROUP_LEAST = 256
# A row group has `_GROUP` rows, or fewer if rows are long: it is made in memory.
_GROUP_BYTES = 2**26
_END = 2**63


class Checkpoint:
    """The finished chunks and outcomes of a run, and remarks on its output folder, which is made.

    The identity is of all that rows depend on besides their line. What an interrupted run left is
    taken over to resume, or thrown away to restart.

    Raises:
        ResultsError: the folder holds an interrupted run and neither is said, another process is
            at work there, or it is not writable.
    """

    def __init__(
        self, folder: Path, identity: str, *, resume: bool, restart: bool
    ) -> None:
        self.identity = identity
        self._resume = resume
        self._rows_files: dict[int, Path] = {}
        self._lines, self._places = array("Q"), array("Q")
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
            self._store = Store(self.work.path / JOURNAL)
            # Held from the start: where no more files may be open, its place serves to tidy up.
            self._store.open()
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
            if path.suffix != ".arrow" or path.is_symlink() or path.is_dir():
                remove(path)

    def rows_file(self, place: int) -> Path:
        """Return the file that holds the rows of a chunk, if it has any."""
        return self._rows_files[place]

    def _chunk_key(self, chunk: Chunk) -> str:
        digest = hashlib.blake2b(
            f"{self.identity} {chunk.first} {chunk.step} ".encode(), digest_size=32
        )
        digest.update(chunk.data)
        key = digest.hexdigest()
        self._rows_files[chunk.place] = self.folder / f"{key}.arrow"
        return key

    def find_chunk(self, chunk: Chunk) -> ChunkAccount | None:
        """Return what an interrupted run found in a chunk; None if it is to be graded now."""
        data = self._store.get(self._chunk_key(chunk)) if self._resume else None
        if data is None:
            return None
        account = read_account(data)
        rows = self.rows_file(chunk.place)
        size = rows.stat().st_size if account.size and rows.exists() else 0
        return None if size != account.size or account.again else account

    def keep_chunk(self, chunk: Chunk, done: PackedChunk) -> ChunkAccount:
        """Write the account and rows of a finished chunk; return the account.

        Raises:
            OSError: it cannot be written.
        """
        account, rows = done
        key = self._chunk_key(chunk)
        if rows:
            write_whole(
                self.rows_file(chunk.place), lambda path: path.write_bytes(rows)
            )
        self._store.add(key, account)
        return read_account(account)

    def _outcome_key(self, head: Head) -> str:
        return sha256(f"{self.identity} {head.line} {head.digest}")

    def find_outcome(self, head: Head) -> bool:
        """Return whether an interrupted run left the outcome of a line; it is then taken over."""
        place = self._store.place(self._outcome_key(head)) if self._resume else None
        if place is None:
            return False
        self._lines.append(head.line or 0)
        self._places.append(place)
        return True

    def keep_outcome(self, head: Head, outcome: WireOutcome, *, again: bool) -> None:
        """Write the outcome of a line; with ``again`` a resumed run judges the line once more.

        Raises:
            OSError: it cannot be written.
        """
        key = AGAIN * again + self._outcome_key(head)
        text = json.dumps([head, outcome], ensure_ascii=False)
        self._lines.append(head.line or 0)
        self._places.append(self._store.add(key, text.encode()))

    def outcomes(self) -> Iterator[tuple[Head, WireOutcome]]:
        """Yield the outcomes of this run by line."""
        for _, place in sorted(zip(self._lines, self._places, strict=True)):
            head, (status, scores, *fields) = json.loads(self._store.read(place))
            verdicts = tuple(WireVerdict(*scored) for scored in scores)
            yield Head.read(head), WireOutcome(status, verdicts, *fields)

    def close(self) -> bool:
        """Leave everything for a later run, unless there is nothing; return whether there is."""
        with suppress(OSError):  # of a full disk
            self._store.close()
        if len(self._store):
            self.work.close()
        else:
            self.work.remove()
        return len(self._store) > 0

    def remove(self) -> None:
        """Take everything away: the results are written."""
        self._store.close()
        self.work.remove()


class ChunkRows(NamedTuple):
    """The rows of a chunk: its first line, bytes of long texts, and lines that do not count."""

    first: int
    rows: int
    text: int
    dropped: Sequence[int] = ()


class RowsFile(NamedTuple):
    """A file of rows that is part of the results as it stands; see `ChunkRows`."""

    path: Path
    rows: int
    text: int


def assemble(
    checkpoint: Checkpoint, completer: Completer, chunks: Sequence[ChunkRows]
) -> Iterator[pl.DataFrame | RowsFile]:
    """Yield the rows of a run's lines, in the order of its chunks."""
    outcomes = checkpoint.outcomes()
    coming = next(outcomes, None)
    for place, chunk in enumerate(chunks):
        end = chunks[place + 1].first if place + 1 < len(chunks) else _END
        apart = RowMaker(completer)
        while coming is not None and (coming[0].line or 0) < end:
            apart.add(*coming)
            coming = next(outcomes, None)
        path = checkpoint.rows_file(place)
        if chunk.rows and (len(apart) or chunk.dropped):
            dropped = pl.col("line").is_in(list(chunk.dropped))
            rows = scan_arrow([path]).filter(~dropped).collect()
            yield pl.concat([rows, apart.frame()]).sort("line", "subtask")
        elif chunk.rows:
            yield RowsFile(path, chunk.rows, chunk.text)
        elif len(apart):
            yield apart.frame()


def missing(
    completer: Completer, coverage: Coverage, *, partial: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the rows of items that have no line, by run and item; see `Coverage.missing`."""
    rows = RowMaker(completer)
    for run, ids in coverage.missing(partial=partial):
        for row_id in sorted(ids):
            rows.add_missing(coverage.known_ids.positions[row_id], run)
        if len(rows) >= _HELD_ROWS:
            yield rows.frame()
            rows = RowMaker(completer)
    yield rows.frame()


class ResultsWriter:
    """Rows on their way to a results file, in a folder of files of some thousand rows."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._frames: list[pl.DataFrame] = []
        self._rows = self._size = 0
        self._all_rows = self._all_text = 0
        self._files: list[Path] = []

    def add(self, frames: Iterable[pl.DataFrame | RowsFile]) -> None:
        """Take rows, in the order of results; files must stay until `write`.

        Raises:
            OSError: they cannot be written.
        """
        for frame in frames:
            if isinstance(frame, RowsFile):
                self._flush()
                self._note(*frame)
                continue
            self._frames.append(frame)
            self._rows += frame.height
            self._size += int(frame.estimated_size())
            if self._rows >= _HELD_ROWS or self._size >= _HELD_BYTES:
                self._flush()

    def _flush(self) -> None:
        if self._rows:
            frame = pl.concat(self._frames)
            path = self._folder / f"{len(self._files):07d}.arrow"
            write_arrow(path, frame)
            self._note(path, frame.height, text_bytes(frame))
        self._frames, self._rows, self._size = [], 0, 0

    def _note(self, path: Path, rows: int, text: int) -> None:
        self._files.append(path)
        self._all_rows += rows
        self._all_text += text

    def write(self, target: Path) -> None:
        """Write all rows as Parquet.

        Raises:
            OSError: it cannot be written.
        """
        self._flush()
        if not self._files:
            path = self._folder / "none.arrow"
            write_arrow(path, pl.DataFrame(schema=column_types()))
            self._files.append(path)
        group = _GROUP
        while (
            group > _GROUP_LEAST
            and group * self._all_text > _GROUP_BYTES * self._all_rows
        ):
            group //= 2
        with target.open("wb") as file:
            scan_arrow(self._files).sink_parquet(
                file, compression="zstd", row_group_size=group, maintain_order=True
            )
