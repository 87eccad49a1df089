"""The grid with its clues."""

from itertools import chain

from scbench.builders.shared.canvas import Canvas, grid_picture
from scbench.schemas.shikaku_rectangles import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the grid; in the style of symbols, blank cells are dots and there are no lines."""
    blank = "." if style == "symbols" else ""
    cells = []
    for row in params.grid:
        texts = [str(clue or blank) for clue in row]
        cells.append(texts)
    letters = max(map(len, chain(*cells)))
    return (grid_picture(cells, lines=not blank, letters=letters, most=40),)
