"""The results of a run: rows of chunks and of single lines, joined in the order of lines.

Rows are processed in frames of a few thousand. The bytes of ``results.parquet`` depend
only on the rows, because row groups have a fixed size.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

from scbench.grading.checkpoint import Checkpoint, ChunkRows
from scbench.grading.rows.columns import column_types
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import ReleaseIndex
from scbench.grading.rows.table import RowMaker, text_bytes
from scbench.machine.tables import scan_arrow, write_arrow

# Maximum rows and bytes in memory before they are written to a separate file.
_HELD_ROWS = 8192
_HELD_BYTES = 2**25
# A row group has `_GROUP` rows, or fewer if rows are long, because it is built in
# memory.
_GROUP = 8192
_GROUP_LEAST = 256
_GROUP_BYTES = 2**26
# Larger than any line number.
_END = 2**63


class RowsFile(NamedTuple):
    """A file of rows that becomes part of the results unchanged; see `ChunkRows`."""

    path: Path
    rows: int
    text: int


def assemble(
    checkpoint: Checkpoint, index: ReleaseIndex, chunks: Sequence[ChunkRows]
) -> Iterator[pl.DataFrame | RowsFile]:
    """Yield the rows of a run's lines, in the order of its chunks."""
    outcomes = checkpoint.outcomes()
    coming = next(outcomes, None)
    ends = [following.first for _, following in pairwise(chunks)]
    ends.append(_END)
    for place, (chunk, end) in enumerate(zip(chunks, ends, strict=False)):
        single_lines = RowMaker(index)
        while coming is not None and (coming.head.line or 0) < end:
            single_lines.add(coming.head, coming.outcome)
            coming = next(outcomes, None)
        path = checkpoint.rows_file(place)
        # Files of rows are passed on unread, unless lines must be added or left out.
        if chunk.rows and (len(single_lines) or chunk.dropped):
            is_dropped = pl.col("line").is_in(list(chunk.dropped))
            rows = scan_arrow([path]).filter(~is_dropped).collect()
            yield pl.concat([rows, single_lines.frame()]).sort("line", "subtask")
        elif chunk.rows:
            yield RowsFile(path, chunk.rows, chunk.text)
        elif len(single_lines):
            yield single_lines.frame()


def missing(
    index: ReleaseIndex, coverage: Coverage, *, partial: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the rows of items that have no line, by run and item; see `Coverage.missing`."""
    rows = RowMaker(index)
    for run, ids in coverage.missing(partial=partial):
        for row_id in sorted(ids):
            rows.add_missing(coverage.known_ids.positions[row_id], run)
        if len(rows) >= _HELD_ROWS:
            yield rows.frame()
            rows = RowMaker(index)
    yield rows.frame()


# Bytes that are written to find out whether a disk is full.
_PROBE = 2**20


class ResultsWriter:
    """Rows for a results file, stored in a folder of files with a few thousand rows each."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        # Rows in memory.
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._size = 0
        # Rows in files.
        self._files: list[Path] = []
        self._all_rows = 0
        self._all_text = 0

    def add(self, frames: Iterable[pl.DataFrame | RowsFile]) -> None:
        """Add rows in the order of results; files must exist until `write`.

        Raises:
            OSError: the rows cannot be written.
        """
        for frame in frames:
            if isinstance(frame, RowsFile):
                # Write earlier rows first.
                self._flush()
                self._add_file(frame)
                continue
            self._frames.append(frame)
            self._rows += frame.height
            self._size += int(frame.estimated_size())
            if self._rows >= _HELD_ROWS or self._size >= _HELD_BYTES:
                self._flush()

    def _flush(self) -> None:
        """Write the rows in memory to a file."""
        if self._rows:
            frame = pl.concat(self._frames)
            path = self._folder / f"{len(self._files):07d}.arrow"
            write_arrow(path, frame)
            self._add_file(RowsFile(path, frame.height, text_bytes(frame)))
        self._frames = []
        self._rows = 0
        self._size = 0

    def _add_file(self, file: RowsFile) -> None:
        self._files.append(file.path)
        self._all_rows += file.rows
        self._all_text += file.text

    def write(self, target: Path) -> None:
        """Write all rows as Parquet.

        Raises:
            OSError: the file cannot be written.
        """
        self._flush()
        if not self._files:
            path = self._folder / "none.arrow"
            write_arrow(path, pl.DataFrame(schema=column_types()))
            self._files.append(path)
        rows = scan_arrow(self._files)
        with target.open("wb") as file:
            try:
                rows.sink_parquet(
                    file,
                    compression="zstd",
                    row_group_size=self.group_size(),
                    maintain_order=True,
                )
            except pl.exceptions.PolarsError:
                # At the end of a file, polars does not say why it cannot be written: because the
                # disk is full, as a rule. Then this raises an `OSError`.
                file.write(bytes(_PROBE))
                file.flush()
                raise

    def group_size(self) -> int:
        """Return the number of rows in a row group, which is lower if texts are long."""
        group = _GROUP
        # Rows x (text / rows) without a division.
        while (
            group > _GROUP_LEAST
            and group * self._all_text > _GROUP_BYTES * self._all_rows
        ):
            group //= 2
        return group
