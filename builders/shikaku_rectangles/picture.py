"""The grid with its clues."""

from scbench.builders.shared.canvas import Canvas, grid_picture
from scbench.schemas.shikaku_rectangles import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the grid; as symbols, blank cells are dots and there are no lines."""
    blank = "." if style == "symbols" else ""
    cells = [[str(clue) if clue else blank for clue in row] for row in params.grid]
    letters = max(len(text) for row in cells for text in row)
    return (grid_picture(cells, lines=not blank, letters=letters, most=40),)
