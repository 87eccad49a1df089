"""Putting results together from parts, in the order of lines, with little in memory.

Rows pass through as frames of a few thousand. The bytes of ``results.parquet`` follow from the rows
alone, however the run was cut up: the sink forms row groups of one size anew.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scbench.grading.checkpoint.parts import Store
from scbench.grading.rows.columns import Columns, Completer, text_bytes
from scbench.grading.rows.coverage import Ledger
from scbench.grading.rows.schema import results_schema

if TYPE_CHECKING:
    import polars as pl

_SHEET = 8192
_SHEET_BYTES = 2**25
_GROUP = 8192
_GROUP_LEAST = 256
_GROUP_BYTES = 2**26
"""A row group has `_GROUP` rows, or fewer if rows are long: it is made in memory."""


class Sheet(NamedTuple):
    """The finished rows of a chunk, in a file of their own.

    Attributes:
        first: number of the chunk's first line.
        rows: how many there are.
        text: bytes of their long texts.
    """

    first: int
    rows: int
    text: int


class Ready(NamedTuple):
    """A file of rows that is part of the results as it stands; see `Sheet`."""

    path: Path
    rows: int
    text: int


def weave(
    store: Store,
    completer: Completer,
    sheets: Sequence[Sheet],
    dropped: Mapping[int, Sequence[int]],
) -> "Iterator[pl.DataFrame | Ready]":
    """Yield the rows of a run's lines, in order.

    Args:
        store: what the run kept.
        completer: for what was graded against.
        sheets: of every chunk, in order.
        dropped: lines that do not count, by chunk.
    """
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    singles = store.journal.in_order()
    single = next(singles, None)
    for index, sheet in enumerate(sheets):
        end = sheets[index + 1].first if index + 1 < len(sheets) else None
        apart = Columns(completer)
        while single is not None and (end is None or single[0].line < end):
            apart.add(*single)
            single = next(singles, None)
        path = store.sheet(index)
        if sheet.rows and (len(apart) or index in dropped):
            rows = pl.read_ipc(path).filter(~pl.col("line").is_in(list(dropped.get(index, ()))))
            yield pl.concat([rows, apart.frame()]).sort("line", "subtask")
        elif sheet.rows:
            yield Ready(path, sheet.rows, sheet.text)
        elif len(apart):
            yield apart.frame()


def missing(completer: Completer, ledger: Ledger) -> "Iterator[pl.DataFrame]":
    """Yield the rows of items that have no line, by run and item."""
    rows = Columns(completer)
    positions = completer.contents.known.positions
    for run, ids in ledger.missing():
        for row_id in sorted(ids):
            rows.add_missing(positions[row_id], (run.model, run.setting, run.sample, run.budget))
        if len(rows) >= _SHEET:
            yield rows.frame()
            rows = Columns(completer)
    yield rows.frame()


class Sheets:
    """Rows on their way to a results file, in files of some thousand rows.

    Args:
        folder: to write them into; made, and the caller's to remove.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._held: list[pl.DataFrame] = []
        self._rows = self._size = 0
        self._all_rows = self._all_text = 0
        self._files: list[Path] = []

    def add(self, frames: "Iterable[pl.DataFrame | Ready]") -> None:
        """Take rows, in the order of results; files must stay until `write`.

        Raises:
            OSError: they cannot be written.
        """
        for frame in frames:
            if isinstance(frame, Ready):
                self._flush()
                self._note(*frame)
                continue
            self._held.append(frame)
            self._rows += frame.height
            self._size += int(frame.estimated_size())
            if self._rows >= _SHEET or self._size >= _SHEET_BYTES:
                self._flush()

    def _flush(self) -> None:
        import polars as pl  # noqa: PLC0415  (as above)

        if self._rows:
            frame = pl.concat(self._held)
            path = self._folder / f"{len(self._files):07d}.arrow"
            frame.write_ipc(path, compression="lz4")
            self._note(path, frame.height, text_bytes(frame))
        self._held, self._rows, self._size = [], 0, 0

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
            pl.DataFrame(schema=results_schema()).write_ipc(self._folder / "none.arrow")
            self._files.append(self._folder / "none.arrow")
        group = _GROUP
        while group > _GROUP_LEAST and group * self._all_text > _GROUP_BYTES * self._all_rows:
            group //= 2
        pl.scan_ipc(self._files).sink_parquet(
            target, compression="zstd", row_group_size=group, maintain_order=True
        )
