"""The layers of the cube, with the cells that may not be chosen."""

from scbench.builders.shared.canvas import BLACK, Canvas, layers_picture
from scbench.schemas.voxel_grid_projection import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw a grid of x and y for each z; as symbols, # is what is black otherwise."""
    symbols, barred, numbers = (
        style == "symbols",
        {*params.forbidden_cells},
        range(params.size),
    )
    blank = "." if symbols else ""
    layers = [
        [["#" if (x, y, z) in barred else blank for x in numbers] for y in numbers]
        for z in numbers
    ]
    fills = {} if symbols else {"#": BLACK}
    return (layers_picture(layers, fills=fills, lines=not symbols),)


def words(params: Params) -> dict[str, str]:
    """Return the rules but for the cells that are drawn."""
    from scbench.builders.voxel_grid_projection import extra_rules  # noqa: PLC0415  (it is above)

    drawn = params.model_copy(update={"forbidden_cells": ()})
    return {"rules": "".join(f"{rule}\n" for rule in extra_rules(drawn, sums=False))}
