"""Prompt pictures of the ground, with its heights."""

from itertools import chain

from scbench.builders.shared.canvas import Canvas, grid_picture
from scbench.schemas.terrain_levelling import Params


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the grid with the height of each cell; nothing if a height has more than one decimal."""
    cells: list[list[str]] = []
    for row in params.heights:
        # -0.0 + 0.0 is 0.0, which is written without a sign.
        texts = [f"{height + 0.0:.1f}" for height in row]
        if list(map(float, texts)) != list(row):
            return ()
        cells.append(texts)
    letters = max(map(len, chain(*cells)))
    return (grid_picture(cells, letters=letters),)
