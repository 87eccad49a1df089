"""The picture that a polynomial has to redraw."""

from scbench.builders.shared.canvas import BLACK, WHITE, Canvas, grid_picture
from scbench.schemas.polynomial_curve_fitting import Params


def draw(params: Params, style: str) -> tuple[Canvas, ...]:
    """Draw the cells, either filled or as # and dots."""
    fills = {} if style == "symbols" else {"#": BLACK, ".": WHITE}
    return (grid_picture(params.grid, fills=fills, lines=False),)
