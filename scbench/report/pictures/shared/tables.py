"""Tables of text tasks, drawn and printed in the same way, and the pictures made of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from scbench.base.wording import counted
from scbench.graders.shared.answer_text import Value, quote
from scbench.graders.shared.short_answers import integer
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import XY, Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.wording import shortened

# Maximum number of characters of a cell.
LONGEST = 44
# Maximum number of rows of a table; longer tables continue in another one.
_BLOCK = 26
# Maximum number of tables in a picture.
_MOST_TABLES = 10
# Pixels: of a row, of a letter, and between columns.
_ROW_HEIGHT = 21
_LETTER = 6.9
_GAP = 14
# Spaces between blocks of text.
_BLOCK_GAP = 4
# Signs that replace colours in a terminal, by role.
_SIGNS = {"right": " ok", "wrong": " WRONG", "missing": " MISSING", "note": " *"}
# Roles that have a box behind their words, and their meaning.
_LEGEND = {
    "right": "right",
    "wrong": "wrong",
    "missing": "missing",
    "note": "counts",
    "target": "requested",
}


class Cell(NamedTuple):
    """A cell of a table; its role sets the colour behind it, if there is one."""

    words: object
    role: str = ""

    @property
    def text(self) -> str:
        """The words, shortened if they are long."""
        return shortened(str(self.words), LONGEST)


Row = Sequence[Cell | object]


def text_picture(
    panels: Iterable[Panel], caption: str, text: str, words: Mapping[str, str] = _LEGEND
) -> Picture:
    """Return the picture of a text task; `words` describe each drawn role in the legend."""
    return Picture(tuple(panels), caption, tuple(words.items()), text)


def table_picture(
    title: str, head: Sequence[str], rows: Sequence[Row], caption: str
) -> Picture:
    """Return a picture with a single table."""
    panels = table_panels(title, head, rows, caption)
    return text_picture(panels, caption, table_text(head, rows))


def sum_rows(
    answered: Value | None, verdicts: Verdicts, total: int, columns: int
) -> list[Row]:
    """Return the rows below a sum: the right total, and the answer if it is wrong."""
    if not verdicts:
        return []
    blank = [""] * (columns - 2)
    rows: list[Row] = [("total", *blank, Cell(total, "right"))]
    if verdicts.wrong:
        entry: object = "none"
        if answered is not None:
            number = integer(answered)
            entry = quote(answered) if number is None else number
        rows.append(("answer", *blank, Cell(entry, "wrong")))
    return rows


def table_panels(
    title: str, head: Sequence[str], rows: Sequence[Row], alt: str
) -> list[Panel]:
    """Return a table as panels of `_BLOCK` rows each, at most `_MOST_TABLES` of them."""
    panels: list[Panel] = []
    # A table without rows still shows its head.
    for start in range(0, max(len(rows), 1), _BLOCK):
        if len(panels) == _MOST_TABLES:
            left_out = len(rows) - _MOST_TABLES * _BLOCK
            last = panels[-1]
            last_title = f"{last.title}; {counted(left_out, 'more row')} not drawn"
            panels[-1] = Panel(last_title, last.view, alt)
            break
        drawing = table_drawing(head, rows[start : start + _BLOCK])
        panels.append(Panel("continued" if panels else title, drawing, alt))
    return panels


def table_drawing(head: Sequence[str], rows: Sequence[Row]) -> Drawing:
    """Return a table with its head; cells with a role are in coloured boxes."""
    table = [row_cells(row) for row in rows]
    texts = [[cell.text for cell in cells] for cells in table]
    widths = [_LETTER * letters + _GAP for letters in column_letters([head, *texts])]
    starts = [sum(widths[:k]) for k in range(len(widths))]
    head_rows = 1 if head else 0
    height = _ROW_HEIGHT * (len(table) + head_rows) or 1
    drawing = pixel_canvas(max(sum(widths), 1.0), height, margin=6)
    # Rows may be shorter than the head, and the head shorter than rows.
    for start, words in zip(starts, head, strict=False):
        place = (start + 6, _ROW_HEIGHT / 2)
        drawing.text(place, words, "quiet", size=11, anchor="start")
    for i, cells in enumerate(table, head_rows):
        for start, width, cell in zip(starts, widths, cells, strict=False):
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
    low: XY,
    high: XY,
    role: str,
    tip: str = "",
) -> None:
    """Draw the box behind words whose role has one."""
    if role not in _LEGEND:
        return
    width = 2.5 if role in {"wrong", "missing"} else 1
    dashed = role == "missing"
    drawing.box(
        low, high, role, opacity=0.18, edge=role, width=width, dashed=dashed, tip=tip
    )


def table_text(head: Sequence[str], rows: Sequence[Row], width: int = 100) -> str:
    """Return a table as lines of text, a long one as blocks side by side."""
    table = [list(head)] if head else []
    for row in rows:
        cells = row_cells(row)
        table.append([cell.text + _SIGNS.get(cell.role, "") for cell in cells])
    letters = column_letters(table)
    lines = []
    for texts in table:
        columns = zip(texts, letters, strict=False)
        line = "  ".join(f"{words:<{count}}" for words, count in columns)
        lines.append(line.rstrip())
    if len(lines) <= _BLOCK:
        return "\n".join(lines)
    blocks = [lines[i : i + _BLOCK] for i in range(0, len(lines), _BLOCK)]
    return side_by_side(blocks, width)


def row_cells(row: Row) -> list[Cell]:
    """Return a row as cells, including those without a role."""
    return [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]


def column_letters(table: Iterable[Sequence[str]]) -> list[int]:
    """Return the letters of the longest text in each column."""
    return [max(map(len, column)) for column in zip_longest(*table, fillvalue="")]


def side_by_side(blocks: Iterable[Sequence[str]], width: int = 110) -> str:
    """Return blocks of lines side by side, in rows as needed.

    Args:
        blocks: lines of text, block by block.
        width: characters of a row.
    """
    rows: list[list[Sequence[str]]] = [[]]
    used = 0
    for block in blocks:
        needs = block_width(block)
        if rows[-1] and used + needs > width:
            rows.append([])
            used = 0
        rows[-1].append(block)
        used += needs
    return "\n\n".join(joined_blocks(row) for row in rows if row)


def joined_blocks(row: Sequence[Sequence[str]]) -> str:
    """Return the blocks of one row as text; short blocks end in empty lines."""
    widths = [block_width(block) for block in row]
    lines = []
    for parts in zip_longest(*row, fillvalue=""):
        columns = zip(parts, widths, strict=True)
        line = "".join(f"{part:<{width}}" for part, width in columns)
        lines.append(line.rstrip())
    return "\n".join(lines)


def block_width(block: Sequence[str]) -> int:
    """Return the width of a block in characters, with the gap after it."""
    return max(map(len, block), default=0) + _BLOCK_GAP
