"""The squares with their labels, as a picture."""

from scbench.builders.shared.canvas import Canvas
from scbench.builders.shared.corner_labels import draw_squares, picture_words
from scbench.schemas.classify_behaviour import Params


def draw(params: Params, _style: str) -> tuple[Canvas, ...]:
    """Draw the squares."""
    return (draw_squares(params.squares, params.corner_order),)


def words(params: Params) -> dict[str, str]:
    """Return the words that replace the squares in the prompt."""
    return picture_words(params.corner_order)
