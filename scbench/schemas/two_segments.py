"""Two segments that cut a convex quadrilateral into a wanted set of polygons."""

from typing import Annotated

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Index, Number, Pair, ParamsModel

Segment = Annotated[tuple[Pair, ...], Field(min_length=2, max_length=2)]


class Counts(ParamsModel):
    """How many regions of each kind; two segments make no others."""

    triangle: Index = Field(default=0, description="regions with 3 sides")
    quadrilateral: Index = Field(default=0, description="regions with 4 sides")
    pentagon: Index = Field(default=0, description="regions with 5 sides")
    hexagon: Index = Field(default=0, description="regions with 6 sides")


class Params(ParamsModel):
    """A frame, exact as printed, and the regions wanted."""

    corners: tuple[Pair, ...] = Field(
        min_length=4,
        max_length=4,
        description="x and y of the frame's corners, counter-clockwise; strictly convex",
    )
    counts: Counts = Field(description="the regions wanted")
    coordinate_grid: tuple[Number, ...] | None = Field(
        default=None,
        min_length=1,
        description="values that coordinates may take; null for any",
    )
    snap_decimals: int = Field(
        ge=1,
        le=9,
        description="decimals to which the place along a side is rounded; the tolerance is half "
        "a unit of the last",
    )

    @model_validator(mode="after")
    def _convex(self) -> "Params":
        for i, b in enumerate(self.corners):
            a, c = self.corners[i - 1], self.corners[i - 3]
            if (b[0] - a[0]) * (c[1] - b[1]) <= (b[1] - a[1]) * (c[0] - b[0]):
                raise ValueError(f"the frame does not turn left at corner {i}")
        return self


class Answer(AnswerModel):
    """The two segments."""

    segments: tuple[Segment, ...] = Field(
        min_length=2,
        max_length=2,
        description="two segments, each as two endpoints, each as x and y",
    )
