"""The squares with their labels."""

from scbench.builders.shared import corner_labels
from scbench.builders.shared.canvas import Canvas
from scbench.schemas.enumerate_edges import Params


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the squares."""
    return (corner_labels.draw_squares(params.squares, params.corner_order),)


def words(params: Params) -> dict[str, str]:
    """Return the words that replace the squares in the prompt."""
    return corner_labels.picture_words(params.corner_order)
