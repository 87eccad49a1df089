"""Pairs of sides of labelled squares that a curve must join."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, WholeIndexPair
from scbench.schemas.corner_labels import CornerOrder, SideOrder, Squares


class Params(ParamsModel):
    """Squares with labelled corners, and a numbering of their sides."""

    corner_order: CornerOrder = Field(
        description="corners in the order of each square's labels"
    )
    edge_order: SideOrder = Field(description="the sides with index 0, 1, 2 and 3")
    squares: Squares = Field(
        description="corner labels of every square, in corner_order"
    )


class Answer(AnswerModel):
    """The joined sides of every square."""

    # Not limited to 0 to 3, so that the grader can report the wrong index.
    edges: tuple[tuple[WholeIndexPair, ...], ...] = Field(
        description="one entry per square, in the given order: the pairs of side indices that a "
        "curve must join, the smaller index first; empty if there are none"
    )
