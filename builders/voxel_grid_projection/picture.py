"""The layers of the cube, with the cells that may not be chosen."""

from scbench.builders.shared.canvas import BLACK, Canvas, layers_picture
from scbench.builders.voxel_grid_projection.rules import extra_rules
from scbench.schemas.voxel_grid_projection import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw a grid of x and y for each z; forbidden cells are black, or # in symbols.

    Nothing if no cell is forbidden: the picture would show only the size of the cube.
    """
    if not params.forbidden_cells:
        return ()
    n = params.size
    is_symbolic = style == "symbols"
    blank = "." if is_symbolic else ""
    layers = [[[blank] * n for _ in range(n)] for _ in range(n)]
    for x, y, z in params.forbidden_cells:
        layers[z][y][x] = "#"
    fills = {} if is_symbolic else {"#": BLACK}
    return (layers_picture(layers, fills=fills, lines=not is_symbolic),)


def words(params: Params) -> dict[str, str]:
    """Return the rules, except those on cells that are drawn."""
    without_cells = params.model_copy(update={"forbidden_cells": ()})
    rules = extra_rules(without_cells, sums=False)
    return {"rules": "".join(f"{rule}\n" for rule in rules)}
