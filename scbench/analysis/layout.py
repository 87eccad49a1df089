"""Display tables: columns and cells, and their output as Markdown and LaTeX.

The module that computes a table also defines its `Column`s. `sheet_of` formats the
cells into a `Sheet`, which is then printed as Markdown, LaTeX or text.
`scbench.analysis.sheets` has cells that tables share;
`scbench.analysis.terminal_tables` prints tables on terminals.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scbench.base.data import packaged_toml
from scbench.base.errors import printable

# A row of a frame, by column.
Row = Mapping[str, Any]
# The heading of a column, or the headings of columns that are dropped together.
Drop = str | tuple[str, ...]

# Characters with which Markdown begins HTML, a character's number, code, a link or a cell.
_MARKDOWN = re.compile(r"[\\|`<>\[\]]|&(?=[#\w])")
# Special characters of LaTeX, and characters that its fonts do not have.
_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
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


class Column(NamedTuple):
    """A column of a display table.

    Attributes:
        head: heading.
        cell: a function that formats the cell of a row, or a key whose value is shown unchanged
            (null is shown as nothing).
        is_words: whether it contains words, which are left-aligned; numbers are
            right-aligned.
        wraps: whether cells wrap on a narrow terminal.
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
        title: its subject.
        heads: one heading per column.
        rows: cells as text; a cell may have several lines.
        words: headings of columns of words; all others have numbers.
        notes: notes below the table.
        breaks: rows before which a new section begins.
        wraps: headings of columns whose cells wrap on a narrow terminal.
        drops: headings of columns in the order in which a narrow terminal drops them; columns
            that are dropped together are a tuple.
        one_line: whether columns are dropped before names are broken over lines.
        explanations: the notes that explain one column, by its heading.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: frozenset[str] = frozenset({"model", "setting", "bucket", "task", "status"})
    notes: Sequence[str] = ()
    breaks: frozenset[int] = frozenset()
    wraps: frozenset[str] = frozenset()
    drops: Sequence[Drop] = ()
    one_line: bool = False
    explanations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Titles quote results, such as the name of their release.
        object.__setattr__(self, "title", printable(self.title))

    def notes_on(self, heads: Collection[str]) -> list[str]:
        """Return the notes below a table that shows only the columns with these headings."""
        hidden = {note for head, note in self.explanations.items() if head not in heads}
        return [note for note in self.notes if note not in hidden]


def notes_of(table: str) -> list[str]:
    """Return the notes below a table."""
    return [*packaged_toml("scbench.analysis", "notes.toml")[table]]


def explanations_of(table: str) -> Mapping[str, str]:
    """Return the notes that explain one column of a table, by its heading."""
    notes: Mapping[str, str] = packaged_toml("scbench.analysis", "notes.toml")[
        "columns"
    ][table]
    return notes


def sheet_of(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    notes: Sequence[str] = (),
    breaks: Collection[int] = (),
    drops: Sequence[Drop] = (),
    *,
    one_line: bool = False,
) -> Sheet:
    """Format the cells of a table.

    Args:
        title: its subject.
        columns: columns from left to right.
        rows: rows of the frame.
        notes: notes below the table.
        breaks: rows before which a new section begins.
        drops: see `Sheet`.
        one_line: whether columns are dropped before names are broken over lines.
    """
    return Sheet(
        title,
        heads=[column.head for column in columns],
        rows=[[column.text(row) for column in columns] for row in rows],
        words=frozenset(column.head for column in columns if column.is_words),
        notes=notes,
        breaks=frozenset(breaks),
        wraps=frozenset(column.head for column in columns if column.wraps),
        drops=drops,
        one_line=one_line,
    )


def markdown(sheet: Sheet) -> str:
    """Return a sheet as a Markdown table."""
    rules = ("---" if head in sheet.words else "---:" for head in sheet.heads)
    lines = [
        f"**{markdown_text(sheet.title)}**",
        "",
        _markdown_row(sheet.heads),
        f"|{'|'.join(rules)}|",
    ]
    lines += map(_markdown_row, sheet.rows)
    lines += ["", *sheet.notes]
    if sheet.notes:
        lines.append("")
    return "\n".join(lines)


def _markdown_row(cells: Sequence[str]) -> str:
    escaped = [markdown_text(cell).replace("\n", "<br>") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows as it is, without HTML, links, pictures or code."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def latex(sheet: Sheet) -> str:
    """Return a sheet as a LaTeX table in booktabs style, with intervals below the figures."""
    kinds = ("l" if head in sheet.words else "r" for head in sheet.heads)
    caption = " ".join(map(latex_text, [f"{sheet.title}.", *sheet.notes]))
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{''.join(kinds)}}}",
        r"\toprule",
        _latex_row(map(latex_text, sheet.heads)),
        r"\midrule",
    ]
    for i, row in enumerate(sheet.rows):
        if i in sheet.breaks:
            lines.append(r"\midrule")
        lines.append(_latex_row(map(latex_cell, row)))
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def latex_text(text: str) -> str:
    """Return a text with LaTeX's special characters escaped."""
    # At the start of a line, LaTeX would read a bracket or star as an option.
    guard = "{}" if text[:1] in {"[", "*"} else ""
    return guard + "".join(_LATEX.get(sign, sign) for sign in text)


def latex_cell(text: str) -> str:
    """Return a cell with all lines below the first in small type."""
    first, *below = map(latex_text, text.split("\n"))
    if not below:
        return first
    small = [rf"{{\scriptsize {line}}}" for line in below]
    stack = r" \\ ".join([first, *small])
    return rf"\shortstack[r]{{{stack}}}"
