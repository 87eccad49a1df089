"""Blocks of plain text side by side, for terminals."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest


def side_by_side(blocks: Iterable[Sequence[str]], width: int = 110, gap: int = 4) -> str:
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
    return "\n\n".join("\n".join(_joined(row, gap)) for row in rows if row)


def _joined(row: Sequence[Sequence[str]], gap: int) -> Iterator[str]:
    widths = [max(map(len, block), default=0) + gap for block in row]
    for lines in zip_longest(*row, fillvalue=""):
        yield "".join(
            f"{line:<{width}}" for line, width in zip(lines, widths, strict=True)
        ).rstrip()
