"""Putting results together from finished chunks, in the order of lines, with little in memory.

Rows pass through as frames of a few thousand. The bytes of ``results.parquet`` follow from the rows
alone, however the run was cut up: the sink forms row groups of one size anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scbench.grading.checkpoint.parts import Checkpoint
from scbench.grading.rows.columns import Completer, RowMaker, text_bytes
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.schema import column_types

if TYPE_CHECKING:
    import polars as pl

_HELD_ROWS = 8192
_HELD_BYTES = 2**25
_GROUP = 8192
_GROUP_LEAST = 256
_GROUP_BYTES = 2**26
"""A row group has `_GROUP` rows, or fewer if rows are long: it is made in memory."""
_END = 2**63


class ChunkRows(NamedTuple):
    """The finished rows of a chunk, in a file of their own.

    Attributes:
        first: number of the chunk's first line.
        rows: how many there are.
        text: bytes of their long texts.
        dropped: lines that do not count.
    """

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
) -> "Iterator[pl.DataFrame | RowsFile]":
    """Yield the rows of a run's lines, in order.

    Args:
        checkpoint: what the run kept.
        completer: for what was graded against.
        chunks: all of them, in order.
    """
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    outcomes = checkpoint.journal.in_order()
    coming = next(outcomes, None)
    for place, chunk in enumerate(chunks):
        end = chunks[place + 1].first if place + 1 < len(chunks) else _END
        apart = RowMaker(completer)
        while coming is not None and (coming[0].line or 0) < end:
            apart.add(*coming)
            coming = next(outcomes, None)
        path = checkpoint.rows_file(place)
        if chunk.rows and (len(apart) or chunk.dropped):
            rows = pl.read_ipc(path).filter(~pl.col("line").is_in(list(chunk.dropped)))
            yield pl.concat([rows, apart.frame()]).sort("line", "subtask")
        elif chunk.rows:
            yield RowsFile(path, chunk.rows, chunk.text)
        elif len(apart):
            yield apart.frame()


def missing(completer: Completer, coverage: Coverage) -> "Iterator[pl.DataFrame]":
    """Yield the rows of items that have no line, by run and item."""
    rows = RowMaker(completer)
    for run, ids in coverage.missing():
        for row_id in sorted(ids):
            rows.add_missing(coverage.known_ids.positions[row_id], run)
        if len(rows) >= _HELD_ROWS:
            yield rows.frame()
            rows = RowMaker(completer)
    yield rows.frame()


class ResultsWriter:
    """Rows on their way to a results file, in files of some thousand rows.

    Args:
        folder: to write them into; made, and the caller's to remove.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._frames: list[pl.DataFrame] = []
        self._rows = self._size = 0
        self._all_rows = self._all_text = 0
        self._files: list[Path] = []

    def add(self, frames: "Iterable[pl.DataFrame | RowsFile]") -> None:
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
        import polars as pl  # noqa: PLC0415  (as above)

        if self._rows:
            frame = pl.concat(self._frames)
            path = self._folder / f"{len(self._files):07d}.arrow"
            frame.write_ipc(path, compression="lz4")
            self._note(path, frame.height, text_bytes(frame))
        self._frames, self._rows, self._size = [], 0, 0

    def _note(self, path: Path, rows: int, text: int) -> None:
        self._files.append(path)
        self._all_rows += rows
        self._all_text += text

    def write(self, target: Path) -> None:
        """Write all rows as Parquet.

        Args:
            target: file to write.

        Raises:
            OSError: it cannot be written.
        """
        import polars as pl  # noqa: PLC0415  (as above)

        self._flush()
        if not self._files:
            pl.DataFrame(schema=column_types()).write_ipc(self._folder / "none.arrow")
            self._files.append(self._folder / "none.arrow")
        group = _GROUP
        while group > _GROUP_LEAST and group * self._all_text > _GROUP_BYTES * self._all_rows:
            group //= 2
        pl.scan_ipc(self._files).sink_parquet(
            target, compression="zstd", row_group_size=group, maintain_order=True
        )
