"""Printing tables for people: on a terminal, in Markdown and in LaTeX.

A table declares its `Column`s once, beside what computes it; `sheet_of` writes the cells of a
`Sheet`, which each form prints. What cells share is in `scbench.analysis.sheets`.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple

from rich.cells import cell_len, chop_cells

from scbench.base.data import packaged_toml
from scbench.base.errors import printable

# Headings of columns that name a row, where they come first.
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
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "Δ": r"$\Delta$",
    "†": r"\dag{}",
    "±": r"$\pm$",
}
_NARROWEST = 40
_GUTTER = "  "
# Signs that a column of words has at least, before the table is broken.
_LEAST = 12
# Signs that columns which name rows may share so that no word in them is broken.
_WHOLE = 40


def notes_of(table: str) -> list[str]:
    """Return the sentences that stand below a table."""
    return [*packaged_toml("scbench.analysis", "notes.toml")[table]]


# A row of a frame, by column.
Row = Mapping[str, Any]


class Column(NamedTuple):
    """A column of a table for people.

    Attributes:
        head: heading.
        cell: what writes the cell of a row; or a key, whose value stands there as it is, and
            nothing where it is null.
        is_words: whether it holds words, which stand on the left; figures stand on the right.
        wraps: whether cells are broken where a terminal is narrow.
    """

    head: str
    cell: str | Callable[[Row], str]
    is_words: bool = False
    wraps: bool = False

    def text(self, row: Row) -> str:
        """Return the cell of a row."""
        if not isinstance(self.cell, str):
            return self.cell(row)
        return "" if row[self.cell] is None else printable(str(row[self.cell]))


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table ready to be printed.

    Attributes:
        title: what it shows.
        heads: one heading per column.
        rows: cells as text; a cell may have several lines.
        words: headings of columns that hold words; the others hold figures.
        notes: sentences to stand below.
        breaks: rows before which a new section begins.
        wraps: headings of columns whose cells are broken where a terminal is narrow.
        drops: headings of columns in the order in which a narrow terminal does without them.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[str] = frozenset({"model", "setting", "bucket", "task", "status"})
    notes: Sequence[str] = ()
    breaks: frozenset[int] = frozenset()
    wraps: frozenset[str] = frozenset()
    drops: Sequence[str] = ()


def sheet_of(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    notes: Sequence[str] = (),
    breaks: Collection[int] = (),
    drops: Sequence[str] = (),
) -> Sheet:
    """Write the cells of a table.

    Args:
        title: what it shows.
        columns: from left to right.
        rows: of the frame.
        notes: sentences to stand below.
        breaks: rows before which a new section begins.
        drops: headings in the order in which a narrow terminal does without them.
    """
    return Sheet(
        title,
        [column.head for column in columns],
        [[column.text(row) for column in columns] for row in rows],
        frozenset(column.head for column in columns if column.is_words),
        notes,
        frozenset(breaks),
        frozenset(column.head for column in columns if column.wraps),
        drops,
    )


def markdown(sheet: Sheet) -> str:
    """Return a sheet as a Markdown table."""

    def cell(text: str) -> str:
        return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>")

    lines = [
        f"**{sheet.title}**",
        "",
        f"| {' | '.join(map(cell, sheet.heads))} |",
        f"|{'|'.join('---' if head in sheet.words else '---:' for head in sheet.heads)}|",
    ]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in sheet.rows]
    lines += ["", *sheet.notes, *([""] if sheet.notes else [])]
    return "\n".join(lines)


def latex(sheet: Sheet) -> str:
    """Return a sheet as a LaTeX table in the style of booktabs; intervals go below the figures."""

    def safe(text: str) -> str:
        # After the end of a line, LaTeX takes a bracket or star for an option.
        guard = "{}" if text[:1] in {"[", "*"} else ""
        return guard + "".join(_LATEX.get(sign, sign) for sign in text)

    def cell(text: str) -> str:
        first, *below = map(safe, text.split("\n"))
        if not below:
            return first
        small = r" \\ ".join([first, *(rf"{{\scriptsize {line}}}" for line in below)])
        return rf"\shortstack[r]{{{small}}}"

    kinds = "".join("l" if head in sheet.words else "r" for head in sheet.heads)
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        rf"\caption{{{' '.join(map(safe, [f'{sheet.title}.', *sheet.notes]))}}}",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        " & ".join(map(safe, sheet.heads)) + r" \\",
        r"\midrule",
    ]
    for i, row in enumerate(sheet.rows):
        lines += [r"\midrule"] if i in sheet.breaks else []
        lines.append(" & ".join(map(cell, row)) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def terminal(sheet: Sheet, width: int | None = None) -> str:
    """Return a sheet for a terminal; without bold type if it is piped, or NO_COLOR is set.

    What is too wide loses columns in the order that the sheet states; then it is broken into tables
    one below the other, each with the columns that name its rows. No figure is ever shortened.

    Args:
        sheet: to be printed.
        width: signs in a line. None takes those of the terminal; what is piped has no end.
    """
    is_terminal = sys.stdout.isatty()
    if width is None and is_terminal:
        width = max(shutil.get_terminal_size().columns, _NARROWEST)
    table = _Table(sheet)
    shown, dropped = table.fitting(width or sys.maxsize)
    parts = table.parts(shown, width or sys.maxsize)
    bold = is_terminal and "NO_COLOR" not in os.environ
    title = textwrap.fill(sheet.title, width) if width else sheet.title
    title = f"\x1b[1m{title}\x1b[0m" if bold else title
    printed = [title, ""]
    for columns in parts:
        printed += [*table.lines(columns, width or sys.maxsize), ""]
    notes = [*sheet.notes]
    if dropped:
        notes.append(
            f"Not shown at this width: {', '.join(dropped)}. What is piped has all."
        )
    for note in notes:
        printed += textwrap.wrap(note, width) if width else [note]
    return "\n".join(printed if notes else printed[:-1])


class _Table:
    """The cells of a sheet as lines of text, and the room they take."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.rows = [[cell.split("\n") for cell in row] for row in sheet.rows]
        self.full = [
            max(map(cell_len, (head, *(line for row in self.rows for line in row[i]))))
            for i, head in enumerate(sheet.heads)
        ]
        named = takewhile(lambda head: head in KEYS, sheet.heads)
        self.keys = max(sum(1 for _ in named), 1)
        folds = [
            i < self.keys or head in sheet.wraps for i, head in enumerate(sheet.heads)
        ]
        self.least = [
            min(
                size,
                max(_LEAST * (1 + (i >= self.keys)), cell_len(head))
                if folds[i]
                else size,
            )
            for i, (size, head) in enumerate(zip(self.full, sheet.heads, strict=True))
        ]
        spare = _WHOLE - sum(self.least[: self.keys])
        for i in range(self.keys):
            words = (cell_len(word) for row in sheet.rows for word in row[i].split())
            more = max(0, min(max(words, default=0) - self.least[i], spare))
            self.least[i], spare = self.least[i] + more, spare - more

    def room(self, columns: Sequence[int], sizes: Sequence[int]) -> int:
        """Return the signs that columns take side by side."""
        return sum(sizes[i] + len(_GUTTER) for i in columns) - len(_GUTTER)

    def fitting(self, width: int) -> tuple[list[int], list[str]]:
        """Return the columns that are left at a width, and the headings of those dropped."""
        shown = list(range(len(self.sheet.heads)))
        dropped = []
        for head in self.sheet.drops:
            if self.room(shown, self.least) <= width:
                break
            places = [i for i in shown if self.sheet.heads[i] == head]
            # What tells rows apart stays.
            if places and not (places[0] < self.keys and self._differs(places[0])):
                shown = [i for i in shown if i not in places]
                dropped.append(head)
        return shown, dropped

    def _differs(self, column: int) -> bool:
        return len({row[column] for row in self.sheet.rows}) > 1

    def parts(self, shown: Sequence[int], width: int) -> list[list[int]]:
        """Return the columns of each of the tables that a table is broken into."""
        keys = [i for i in shown if i < self.keys]
        parts = [[*keys]]
        for i in shown[len(keys) :]:
            if (
                len(parts[-1]) > len(keys)
                and self.room([*parts[-1], i], self.least) > width
            ):
                parts.append([*keys])
            parts[-1].append(i)
        return parts

    def lines(self, columns: Sequence[int], width: int) -> Iterator[str]:
        """Yield the lines of a table of these columns."""
        sizes = dict.fromkeys(columns, 0) | {i: self.least[i] for i in columns}
        spare = width - self.room(columns, self.least)
        for i in columns:
            more = max(0, min(spare, self.full[i] - sizes[i]))
            sizes[i], spare = sizes[i] + more, spare - more
        yield from self._line(sizes, [[head] for head in self.sheet.heads])
        yield "─" * (sum(sizes.values()) + len(_GUTTER) * (len(sizes) - 1))
        for number, row in enumerate(self.rows):
            if number in self.sheet.breaks:
                yield ""
            yield from self._line(sizes, row)

    def _line(
        self, sizes: Mapping[int, int], row: Sequence[Sequence[str]]
    ) -> Iterator[str]:
        cells: list[list[str]] = []
        for i, size in sizes.items():
            pieces = [piece for line in row[i] for piece in _split_words(line, size)]
            is_words = self.sheet.heads[i] in self.sheet.words
            cells.append([_padded(piece, size, left=is_words) for piece in pieces])
        blank = [" " * size for size in sizes.values()]
        for side in zip_longest(*cells):
            whole = (piece or empty for piece, empty in zip(side, blank, strict=True))
            yield _GUTTER.join(whole).rstrip()


def _split_words(line: str, size: int) -> list[str]:
    """Break a line into pieces that fit, at blanks if it can be."""
    if cell_len(line) <= size:
        return [line]
    return textwrap.wrap(line, size) if line.isascii() else chop_cells(line, size)


def _padded(text: str, size: int, *, left: bool) -> str:
    blanks = " " * (size - cell_len(text))
    return text + blanks if left else blanks + text
