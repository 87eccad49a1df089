"""The grid with its blocked cells."""

from scbench.builders.shared.canvas import BLACK, Canvas, grid_picture
from scbench.schemas.hamiltonian_loop import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the grid; as symbols, blocked cells are marked X, and free ones are points."""
    symbols, blocked, numbers = (
        style == "symbols",
        {*params.blocked},
        range(1, params.size + 1),
    )
    blank = "." if symbols else ""
    cells = [["X" if (x, y) in blocked else blank for x in numbers] for y in numbers]
    fills = {} if symbols else {"X": BLACK}
    return (grid_picture(cells, 1, fills=fills, lines=not symbols, most=40),)
