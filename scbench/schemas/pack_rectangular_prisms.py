"""Rectangular prisms to be packed into the smallest box."""

from typing import Annotated

from pydantic import Field

from scbench.schemas.base import AnswerModel, Int, ParamsModel, WholeNumber

Corner = Annotated[tuple[WholeNumber, ...], Field(min_length=3, max_length=3)]
Side = Annotated[Int, Field(ge=1)]


class Prisms(ParamsModel):
    """Some prisms of one size."""

    count: Int = Field(ge=1, description="number of these prisms")
    size: Annotated[tuple[Side, ...], Field(min_length=3, max_length=3)] = Field(
        description="lengths of the edges, in any order"
    )


class Params(ParamsModel):
    """A list of prisms, and the required density of the packing."""

    prisms: tuple[Prisms, ...] = Field(min_length=1, description="all prisms, by size")
    full_marks_percent: Int = Field(
        ge=1,
        le=100,
        description="share of the bounding box, in percent, that must be filled for a score of 1",
    )


class Box(AnswerModel):
    """The position of one prism."""

    # The names of the paper.
    XyzMin: Corner = Field(
        description="its corner with the smallest coordinates: x, y, z"
    )
    XyzMax: Corner = Field(
        description="its corner with the largest coordinates: x, y, z"
    )


class Answer(AnswerModel):
    """The positions of all prisms."""

    boxes: tuple[Box, ...] = Field(description="one entry per prism, in any order")
