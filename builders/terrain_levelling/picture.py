"""The ground, with its heights."""

from scbench.builders.shared.canvas import Canvas, grid_picture
from scbench.schemas.terrain_levelling import Params


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the grid with the height of each cell in it."""
    cells = [[f"{height:.1f}" for height in row] for row in params.heights]
    if any(
        float(text) != h
        for row, hs in zip(cells, params.heights, strict=True)
        for text, h in zip(row, hs, strict=True)
    ):
        return ()  # finer than what is printed
    return (
        grid_picture(cells, letters=max(len(text) for row in cells for text in row)),
    )
