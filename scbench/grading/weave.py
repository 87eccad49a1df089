"""Putting results together from parts, in the order of lines, with little in memory.

Rows pass through as frames of a few thousand. The bytes of ``results.parquet`` follow from the rows
alone, however the run was cut up: the sink forms row groups of one size anew.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.grading.columns import Columns, Completer, decode
from scbench.grading.contents import Contents
from scbench.grading.ledger import Ledger
from scbench.grading.rows import results_schema
from scbench.grading.store import Store

if TYPE_CHECKING:
    import polars as pl

_SHEET = 8192
_SHEET_BYTES = 2**25
_GROUP = 8192
_GROUP_LEAST = 256
_GROUP_BYTES = 2**26
"""A row group has `_GROUP` rows, or fewer if rows are long: it is made in memory."""
_LONG = ("answer", "checks", "metrics", "reason", "usage")
"""Columns whose texts can be long."""


def weave(
    store: Store,
    contents: Contents,
    first_lines: list[int],
    dropped: Mapping[int, Sequence[int]],
) -> "Iterator[pl.DataFrame]":
    """Yield the rows of a run's lines, in order.

    Args:
        store: what the run kept.
        contents: what was graded against.
        first_lines: number of the first line of every chunk.
        dropped: lines that do not count, by chunk.
    """
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    completer = Completer(contents)
    singles = store.journal.in_order()
    single = next(singles, None)
    for index in range(len(first_lines)):
        part, rows = store.read(index)
        frame = completer.complete(decode(rows), part.tables)
        if index in dropped:
            frame = frame.filter(~pl.col("line").is_in(list(dropped[index])))
        end = first_lines[index + 1] if index + 1 < len(first_lines) else None
        apart = Columns(contents)
        while single is not None and (end is None or single[0].line < end):
            apart.add(*single)
            single = next(singles, None)
        if len(apart):
            frame = pl.concat([frame, completer.complete(apart.frame(), apart.tables())])
            frame = frame.sort("line", "subtask")
        yield frame


def missing(contents: Contents, ledger: Ledger) -> "Iterator[pl.DataFrame]":
    """Yield the rows of items that have no line, by run and item."""
    completer = Completer(contents)
    rows = Columns(contents)
    positions = contents.known.positions
    for run, ids in ledger.missing():
        for row_id in sorted(ids):
            rows.add_missing(positions[row_id], (run.model, run.setting, run.sample, run.budget))
        if len(rows) >= _SHEET:
            yield completer.complete(rows.frame(), rows.tables())
            rows = Columns(contents)
    yield completer.complete(rows.frame(), rows.tables())


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

    def add(self, frames: "Iterable[pl.DataFrame]") -> None:
        """Take rows, in the order of results.

        Raises:
            OSError: they cannot be written.
        """
        for frame in frames:
            self._held.append(frame)
            self._rows += frame.height
            self._size += int(frame.estimated_size())
            if self._rows >= _SHEET or self._size >= _SHEET_BYTES:
                self._flush()

    def _flush(self) -> None:
        import polars as pl  # noqa: PLC0415  (as above)

        frame = pl.concat([pl.DataFrame(schema=results_schema()), *self._held])
        path = self._folder / f"{len(self._files):07d}.arrow"
        frame.write_ipc(path, compression="lz4")
        self._files.append(path)
        texts = frame.select(pl.col(_LONG).str.len_bytes().cast(pl.Int64).sum())
        self._all_text += sum(size or 0 for size in texts.row(0))
        self._all_rows += frame.height
        self._held, self._rows, self._size = [], 0, 0

    def write(self, target: Path) -> None:
        """Write all rows as Parquet.

        Args:
            target: file to write.

        Raises:
            OSError: it cannot be written.
        """
        import polars as pl  # noqa: PLC0415  (as above)

        self._flush()
        group = _GROUP
        while group > _GROUP_LEAST and group * self._all_text > _GROUP_BYTES * self._all_rows:
            group //= 2
        pl.scan_ipc(self._files).sink_parquet(
            target, compression="zstd", row_group_size=group, maintain_order=True
        )
