"""The grid with its blocked cells."""

from scbench.builders.shared.canvas import BLACK, Canvas, grid_picture
from scbench.schemas.hamiltonian_loop import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the grid; in the style of symbols, blocked cells are marked X and free cells are dots.

    Draw nothing if no cell is blocked: the picture would show only the size of the grid.
    """
    if not params.blocked:
        return ()
    free = ""
    fills = {"X": BLACK}
    if style == "symbols":
        free = "."
        fills = {}
    cells = [[free] * params.size for _ in range(params.size)]
    for x, y in params.blocked:
        cells[y - 1][x - 1] = "X"
    return (grid_picture(cells, 1, fills=fills, lines=not free, most=40),)
