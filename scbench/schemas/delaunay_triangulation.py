"""Delaunay triangulation of points in the plane."""

from typing import Annotated

from pydantic import Field

from scbench.schemas.base import AnswerModel, Pair, ParamsModel, WholeIndex


class Params(ParamsModel):
    """A set of points, exact as printed."""

    points: tuple[Pair, ...] = Field(
        min_length=3,
        description="x and y of every point; a point's index is its position in this list, from "
        "0",
    )
    # The grader scales coordinates to whole numbers by it.
    decimals: int = Field(
        ge=0,
        le=9,
        description="number of decimals printed; no coordinate has more decimals",
    )


class Answer(AnswerModel):
    """All triangles of the triangulation."""

    triangles: tuple[
        Annotated[tuple[WholeIndex, ...], Field(min_length=3, max_length=3)], ...
    ] = Field(
        description="one entry per triangle: three indices of points, in any order"
    )
