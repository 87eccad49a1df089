"""The layers of the cube, with the cells that may not be chosen."""

import numpy as np

from scbench.builders.shared.canvas import BLACK, Canvas, layers_picture
from scbench.builders.voxel_grid_projection.rules import extra_rules
from scbench.schemas.voxel_grid_projection import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw a grid of x and y for each z; forbidden cells are black, or # in the style of symbols.

    Draw nothing if no cell is forbidden: the picture would show only the size of the cube.
    """
    if not params.forbidden_cells:
        return ()
    blank = ""
    fills = {"#": BLACK}
    if style == "symbols":
        blank = "."
        fills = {}
    layers = np.full((params.size,) * 3, blank, dtype=object)
    for x, y, z in params.forbidden_cells:
        layers[z, y, x] = "#"
    return (layers_picture(layers.tolist(), fills=fills, lines=not blank),)


def words(params: Params) -> dict[str, str]:
    """Return the rules, except rules on cells that are drawn."""
    without_cells = params.model_copy(update={"forbidden_cells": ()})
    return {"rules": extra_rules(without_cells, sums=False)}
