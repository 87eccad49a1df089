"""Classes of squares by how their corner labels determine the curves inside."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel
from scbench.schemas.corner_labels import CornerOrder, Squares

# The names that the prompt allows.
Behaviour = Literal["known behaviour", "three domains meeting", "ambiguous"]


class Params(ParamsModel):
    """Squares with labelled corners."""

    corner_order: CornerOrder = Field(
        description="corners in the order of each square's labels"
    )
    squares: Squares = Field(
        description="corner labels of every square, in corner_order"
    )


class Answer(AnswerModel):
    """The behaviour of every square."""

    labels: tuple[Behaviour, ...] = Field(
        description="one entry per square, in the given order: one of the three names, spelled "
        "exactly"
    )
