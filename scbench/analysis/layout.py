"""Printing tables for people: on a terminal, in Markdown and in LaTeX.

A table declares its `Column`s once, beside what computes it; `sheet_of` writes the cells of a
`Sheet`, which each form prints. What cells share is in `scbench.analysis.sheets`.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scbench.base.data import packaged_toml
from scbench.base.errors import printable


def notes_of(table: str) -> list[str]:
    """Return the sentences that stand below a table."""
    return [*packaged_toml("scbench.analysis", "notes.toml")[table]]


Row = Mapping[str, Any]
"""A row of a frame, by column."""


class Column(NamedTuple):
    """A column of a table for people.

    Attributes:
        head: heading.
        cell: what writes the cell of a row; or a key, whose value stands there as it is, and
            nothing where it is null.
        is_words: whether it holds words, which stand on the left; figures stand on the right.
        wraps: whether cells are broken where a terminal is narrow; others are cut.
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
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[str] = frozenset({"model", "setting", "bucket", "task", "status"})
    notes: Sequence[str] = ()
    breaks: frozenset[int] = frozenset()
    wraps: frozenset[str] = frozenset()


def sheet_of(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    notes: Sequence[str] = (),
    breaks: Collection[int] = (),
) -> Sheet:
    """Write the cells of a table.

    Args:
        title: what it shows.
        columns: from left to right.
        rows: of the frame.
        notes: sentences to stand below.
        breaks: rows before which a new section begins.
    """
    return Sheet(
        title,
        [column.head for column in columns],
        [[column.text(row) for column in columns] for row in rows],
        frozenset(column.head for column in columns if column.is_words),
        notes,
        frozenset(breaks),
        frozenset(column.head for column in columns if column.wraps),
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


def terminal(sheet: Sheet) -> str:
    """Return a sheet for a terminal; without colours if it is piped, or NO_COLOR is set."""
    from io import StringIO  # noqa: PLC0415

    from rich import box  # noqa: PLC0415  (not wanted for the other formats)
    from rich.console import Console  # noqa: PLC0415
    from rich.measure import Measurement  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(
        title=Text(sheet.title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for head in sheet.heads:
        justify = "left" if head in sheet.words else "right"
        table.add_column(Text(head), justify=justify, no_wrap=head not in sheet.wraps)  # type: ignore[arg-type]
    for i, row in enumerate(sheet.rows):
        if i in sheet.breaks:
            table.add_section()
        table.add_row(*(Text(cell) for cell in row))
    is_terminal = sys.stdout.isatty()
    console = Console(
        file=StringIO(),
        force_terminal=is_terminal,
        no_color="NO_COLOR" in os.environ,
        width=None if is_terminal else 200,
    )
    if not is_terminal:  # what is piped is never cut
        endless = console.options.update(width=100_000)
        console.width = max(200, Measurement.get(console, endless, table).maximum)
    console.print(table)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join([*(line.rstrip() for line in text.splitlines()), *sheet.notes])
