"""Two segments that cut a convex quadrilateral into a required set of polygons."""

from typing import Annotated

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Index, Number, Pair, ParamsModel

Segment = Annotated[tuple[Pair, ...], Field(min_length=2, max_length=2)]


class Counts(ParamsModel):
    """Number of regions of each kind; two segments cannot create other kinds."""

    triangle: Index = Field(default=0, description="regions with 3 sides")
    quadrilateral: Index = Field(default=0, description="regions with 4 sides")
    pentagon: Index = Field(default=0, description="regions with 5 sides")
    hexagon: Index = Field(default=0, description="regions with 6 sides")


class Params(ParamsModel):
    """A frame, exact as printed, and the wanted regions."""

    corners: tuple[Pair, ...] = Field(
        min_length=4,
        max_length=4,
        description="x and y of the frame's corners, counter-clockwise; strictly convex",
    )
    counts: Counts = Field(description="the wanted regions")
    coordinate_grid: tuple[Number, ...] | None = Field(
        default=None,
        min_length=1,
        description="values that coordinates may take; null for any",
    )
    snap_decimals: int = Field(
        ge=1,
        le=9,
        description="decimals to which positions along a side are rounded; the tolerance is half "
        "a unit of the last decimal",
    )

    @model_validator(mode="after")
    def check_convex(self) -> "Params":
        """Refuse a frame that is not strictly convex and counter-clockwise."""
        for i, corner in enumerate(self.corners):
            before = self.corners[i - 1]
            # With four corners, the third one before is the next one.
            after = self.corners[i - 3]
            ax = corner[0] - before[0]
            ay = corner[1] - before[1]
            bx = after[0] - corner[0]
            by = after[1] - corner[1]
            # The frame turns left where the cross product of two sides is positive.
            if ax * by <= ay * bx:
                raise ValueError(
                    f"corner {i} of the frame is not convex and counter-clockwise"
                )
        return self


class Answer(AnswerModel):
    """The two segments."""

    segments: tuple[Segment, ...] = Field(
        min_length=2,
        max_length=2,
        description="two segments; each is two endpoints, and each endpoint is x and y",
    )
