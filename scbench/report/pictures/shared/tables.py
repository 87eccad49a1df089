"""Views of text tasks: tables that are drawn and printed alike, and what was said of an answer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from scbench.graders.shared.short_answers import Value, integer, quote
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts

_ENDS = ("l", "r", "u", "d", "lr", "ud", "ld", "lu", "rd", "ru")
_JOINTS = dict(zip(map(frozenset, _ENDS), "╴╶╵╷─│┐┘┌└", strict=True))


# Characters of one cell.
LONGEST = 44
# Rows of a table; what is longer goes on beside it.
_BLOCK = 26
# Tables beside each other.
_MOST_TABLES = 10
# What stands behind words with a role in a terminal.
_SIGNS = {"right": " ok", "wrong": " WRONG", "missing": " MISSING", "note": " *"}
_WORDS = texts("text_views.legend")


def joint(sides: Collection[str], otherwise: str) -> str:
    """Return the line that joins one or two sides of a cell: l, r, u and d; else what is given."""
    return _JOINTS.get(frozenset(sides), otherwise)


def side_by_side(
    blocks: Iterable[Sequence[str]], width: int = 110, gap: int = 4
) -> str:
    """Return blocks of lines side by side, in as many rows as they need."""
    rows: list[list[Sequence[str]]] = [[]]
    used = 0
    for block in blocks:
        needs = max(map(len, block), default=0) + gap
        if rows[-1] and used + needs > width:
            rows.append([])
            used = 0
        rows[-1].append(block)
        used += needs
    return "\n\n".join("\n".join(_block_rows(row, gap)) for row in rows if row)


def _block_rows(row: Sequence[Sequence[str]], gap: int) -> Iterator[str]:
    widths = [max(map(len, block), default=0) + gap for block in row]
    for lines in zip_longest(*row, fillvalue=""):
        yield "".join(
            f"{line:<{width}}" for line, width in zip(lines, widths, strict=True)
        ).rstrip()


_ROW_HEIGHT, _LETTER, _GAP = 21, 6.9, 14


class Cell(NamedTuple):
    """A cell of a table; its role is the colour behind it, none without one."""

    words: object
    role: str = ""

    @property
    def text(self) -> str:
        """The words, cut where they are long."""
        words = str(self.words)
        return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


Row = Sequence[Cell | object]


def text_picture(
    panels: Iterable[Panel], caption: str, text: str, words: Mapping[str, str] = _WORDS
) -> Picture:
    """Return the picture of a text task; `words` are for the legend, of each role drawn."""
    return Picture(tuple(panels), caption, tuple(words.items()), text)


def table_panels(
    title: str, head: Sequence[str], rows: Sequence[Row], alt: str
) -> list[Panel]:
    """Return a table as panels: so many rows in each, and not without end."""
    blocks = [rows[i : i + _BLOCK] for i in range(0, len(rows), _BLOCK)] or [[]]
    panels = [
        Panel(title if not i else "continued", _table_drawing(head, block), alt)
        for i, block in enumerate(blocks[:_MOST_TABLES])
    ]
    if len(blocks) > _MOST_TABLES:
        last = panels[-1]
        title_of_last = (
            f"{last.title}; {len(rows) - _MOST_TABLES * _BLOCK} rows more are not drawn"
        )
        panels[-1] = Panel(title_of_last, last.view, alt)
    return panels


def _row_cells(row: Row) -> list[Cell]:
    return [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]


def _widths(table: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip_longest(*table, fillvalue="")]


def _table_drawing(head: Sequence[str], rows: Sequence[Row]) -> Drawing:
    cells = [_row_cells(row) for row in rows]
    texts = [list(head), *([cell.text for cell in row] for row in cells)]
    widths = [_LETTER * letters + _GAP for letters in _widths(texts)]
    starts = [sum(widths[:k]) for k in range(len(widths))]
    size = (max(sum(widths), 1.0), _ROW_HEIGHT * (len(cells) + bool(head)) or 1)
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=6)
    for start, words in zip(starts, head, strict=False):
        drawing.text(
            (start + 6, _ROW_HEIGHT / 2), words, "quiet", size=11, anchor="start"
        )
    for i, row in enumerate(cells, bool(head)):
        for start, width, cell in zip(starts, widths, row, strict=False):
            low = (start, _ROW_HEIGHT * i)
            high = (start + width - 2, _ROW_HEIGHT * (i + 1) - 2)
            mark(drawing, low, high, cell.role)
            place = (start + 6, _ROW_HEIGHT * (i + 0.5) - 1)
            role = "quiet" if cell.role == "quiet" else "ink"
            bold = cell.role not in {"", "quiet"}
            drawing.text(place, cell.text, role, size=12, anchor="start", bold=bold)
    return drawing


def mark(
    drawing: Drawing,
    low: tuple[float, float],
    high: tuple[float, float],
    role: str,
    tip: str = "",
) -> None:
    """Draw the box behind words that have a role, if it is one that has a box."""
    if role in _WORDS:
        strong = role in {"wrong", "missing"}
        fill: dict[str, Any] = {
            "opacity": 0.18,
            "edge": role,
            "width": 2.5 if strong else 1,
        }
        drawing.box(low, high, role, **fill, dashed=role == "missing", tip=tip)


def table_text(head: Sequence[str], rows: Sequence[Row], width: int = 100) -> str:
    """Return a table as lines of text, long ones as blocks side by side."""
    table = [list(head)] * bool(head)
    table += [
        [c.text + _SIGNS.get(c.role, "") for c in _row_cells(row)] for row in rows
    ]
    widths = _widths(table)
    lines = [
        "  ".join(
            f"{words:<{letters}}" for words, letters in zip(row, widths, strict=False)
        ).rstrip()
        for row in table
    ]
    if len(lines) <= _BLOCK:
        return "\n".join(lines)
    return side_by_side(
        [lines[i : i + _BLOCK] for i in range(0, len(lines), _BLOCK)], width
    )


def table_picture(
    title: str, head: Sequence[str], rows: Sequence[Row], caption: str
) -> Picture:
    """Return a picture that is one table."""
    return text_picture(
        table_panels(title, head, rows, caption), caption, table_text(head, rows)
    )


def sum_rows(
    answered: Value | None, verdicts: Verdicts, total: int, columns: int
) -> list[Row]:
    """Return the rows below a sum: the right one, and what was given if that is another."""
    if not verdicts:
        return []
    blank = [""] * (columns - 2)
    rows: list[Row] = [("in all", *blank, Cell(total, "right"))]
    if verdicts.wrong:
        read = None if answered is None else integer(answered)
        entry = (
            "nothing" if answered is None else quote(answered) if read is None else read
        )
        rows.append(("given", *blank, Cell(entry, "wrong")))
    return rows
