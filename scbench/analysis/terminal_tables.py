"""Tables for terminals of any width.

If a table is too wide, columns are dropped in the order that its sheet defines. If it
is still too wide, it is split into tables below each other, each with the columns that
name the rows. Dropped columns are shown after all if these tables have space for them.
Numbers are never shortened.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from scbench.analysis.layout import Sheet

# Headings of first columns that name a row.
KEYS = frozenset(
    {
        "model",
        "setting",
        "budget",
        "task",
        "bucket",
        "item",
        "turn",
        "run",
        "parameter",
        "subtask",
    }
)
# The narrowest terminal, in characters.
_NARROWEST = 40
_GUTTER = "  "
# The narrowest column of words before the table is split, in characters.
_LEAST = 12
# Words that name rows are not broken if their columns have at most this total width.
_WHOLE = 40


class _Columns(NamedTuple):
    """The columns that fit, and the headings of the dropped ones."""

    fitting: list[int]
    dropped: list[str]


def terminal(sheet: Sheet, width: int | None = None) -> str:
    """Return a sheet as text; the title is bold on a terminal unless NO_COLOR is set.

    Args:
        sheet: sheet to print.
        width: characters in a line. None: width of the terminal; unlimited if output is piped.
    """
    is_terminal = sys.stdout.isatty()
    if width is None and is_terminal:
        width = max(shutil.get_terminal_size().columns, _NARROWEST)
    room = width or sys.maxsize
    title = textwrap.fill(sheet.title, width) if width else sheet.title
    if is_terminal and "NO_COLOR" not in os.environ:
        title = f"\x1b[1m{title}\x1b[0m"
    printed = [title, ""]
    table = _Table(sheet)
    fitting, dropped = table.columns_at(room)
    for columns in table.parts(fitting, room):
        printed += [*table.lines(columns, room), ""]
    notes = sheet.notes_on([sheet.heads[i] for i in fitting])
    if dropped:
        notes.append(
            f"Hidden at this width: {', '.join(dropped)}. Widen the terminal or pipe the output "
            "to see all columns."
        )
    # The last table ends with a blank line, which separates it from the notes.
    if not notes:
        printed.pop()
    for note in notes:
        printed += textwrap.wrap(note, width) if width else [note]
    return "\n".join(printed)


class _Table:
    """The cells of a sheet as lines of text, and their widths.

    Attributes:
        sheet: sheet to print.
        rows: lines of each cell.
        keys: number of columns that name a row.
        full: width of each column without line breaks.
        least: minimum width of each column.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.rows = [[cell.split("\n") for cell in row] for row in sheet.rows]
        key_heads = list(takewhile(KEYS.__contains__, sheet.heads))
        self.keys = max(len(key_heads), 1)
        self.full = [self._full_size(i) for i in range(len(sheet.heads))]
        self.least = [self._least_size(i) for i in range(len(sheet.heads))]
        spare = _WHOLE - sum(self.least[: self.keys])
        for i in range(self.keys):
            words = " ".join(row[i] for row in sheet.rows).split()
            longest = max(map(cell_len, words), default=0)
            growth = max(0, min(longest - self.least[i], spare))
            self.least[i] += growth
            spare -= growth

    def _full_size(self, column: int) -> int:
        lines = [line for row in self.rows for line in row[column]]
        return max(map(cell_len, [self.sheet.heads[column], *lines]))

    def _least_size(self, column: int) -> int:
        head = self.sheet.heads[column]
        is_key = column < self.keys
        if not is_key and head not in self.sheet.wraps:
            return self.full[column]
        # Columns of words that do not name rows are wider.
        least = _LEAST if is_key else 2 * _LEAST
        return min(self.full[column], max(least, cell_len(head)))

    def room(self, columns: Sequence[int], sizes: Sequence[int]) -> int:
        """Return the total width of columns side by side."""
        return sum(sizes[i] + len(_GUTTER) for i in columns) - len(_GUTTER)

    def columns_at(self, width: int) -> _Columns:
        """Return the columns that fit at a width, and the headings of those dropped."""
        fitting = list(range(len(self.sheet.heads)))
        dropped: list[list[int]] = []
        sizes = self.full if self.sheet.one_line else self.least
        for drop in self.sheet.drops:
            if self.room(fitting, sizes) <= width:
                break
            heads = [drop] if isinstance(drop, str) else drop
            places = [i for i in fitting if self.sheet.heads[i] in heads]
            if not places:
                continue
            # A column that distinguishes rows stays.
            if places[0] < self.keys and self._differs(places[0]):
                continue
            fitting = [i for i in fitting if i not in places]
            dropped.append(places)
        # The columns dropped last are the most important.
        for places in reversed([*dropped]):
            wider = sorted([*fitting, *places])
            if self._has_space(fitting, wider, width, sizes):
                fitting = wider
                dropped.remove(places)
        hidden = [self.sheet.heads[i] for places in dropped for i in places]
        return _Columns(fitting, hidden)

    def _has_space(
        self,
        columns: Sequence[int],
        wider: Sequence[int],
        width: int,
        sizes: Sequence[int],
    ) -> bool:
        """Return whether more columns still fit side by side, or into the same number of tables."""
        if self.room(columns, sizes) <= width:
            return self.room(wider, sizes) <= width
        return len(self.parts(wider, width)) <= len(self.parts(columns, width))

    def _differs(self, column: int) -> bool:
        return len({row[column] for row in self.sheet.rows}) > 1

    def parts(self, columns: Sequence[int], width: int) -> list[list[int]]:
        """Return the columns of each table that a wide table is split into."""
        keys = [i for i in columns if i < self.keys]
        parts = [list(keys)]
        for i in columns[len(keys) :]:
            is_full = self.room([*parts[-1], i], self.least) > width
            if is_full and len(parts[-1]) > len(keys):
                parts.append(list(keys))
            parts[-1].append(i)
        return parts

    def lines(self, columns: Sequence[int], width: int) -> Iterator[str]:
        """Yield the lines of a table of these columns."""
        sizes = {}
        spare = width - self.room(columns, self.least)
        for i in columns:
            growth = max(0, min(spare, self.full[i] - self.least[i]))
            sizes[i] = self.least[i] + growth
            spare -= growth
        yield from self._line(sizes, [[head] for head in self.sheet.heads])
        yield "─" * (sum(sizes.values()) + len(_GUTTER) * (len(sizes) - 1))
        for i, row in enumerate(self.rows):
            if i in self.sheet.breaks:
                yield ""
            yield from self._line(sizes, row)

    def _line(
        self, sizes: Mapping[int, int], row: Sequence[Sequence[str]]
    ) -> Iterator[str]:
        """Yield the lines of a row with wrapped cells."""
        cells: list[list[str]] = []
        for i, size in sizes.items():
            is_words = self.sheet.heads[i] in self.sheet.words
            pieces = []
            for line in row[i]:
                for piece in split_words(line, size):
                    blanks = " " * (size - cell_len(piece))
                    pieces.append(piece + blanks if is_words else blanks + piece)
            cells.append(pieces)
        empty = [" " * size for size in sizes.values()]
        for pieces_of_line in zip_longest(*cells):
            padded = [
                piece or blanks
                for piece, blanks in zip(pieces_of_line, empty, strict=True)
            ]
            yield _GUTTER.join(padded).rstrip()


def split_words(line: str, size: int) -> list[str]:
    """Break a line into pieces that fit, at spaces if possible."""
    if cell_len(line) <= size:
        return [line]
    return textwrap.wrap(line, size) if line.isascii() else chop_cells(line, size)
