"""Earthworks in a voxel world that make rain leave the required lakes."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core.core_schema import ValidatorFunctionWrapHandler

from scbench.schemas.base import AnswerModel, Index, Int, Number, ParamsModel

Material = Literal["Air", "Rock"]
Cell = Annotated[tuple[Index, ...], Field(min_length=3, max_length=3)]
Column = Annotated[tuple[Index, ...], Field(min_length=2, max_length=2)]
Positive = Annotated[int, Field(ge=1)]


class Zone(ParamsModel):
    """A box of cells, including both corners."""

    low: Cell = Field(description="smallest x, y, z")
    high: Cell = Field(description="largest x, y, z")


class GroundBox(Zone):
    """A box that shapes the ground before the answer's boxes."""

    material: Material


class LakeSurface(ParamsModel):
    """One lake with many columns."""

    kind: Literal["lake_surface"]
    min_columns: Positive


class WideLakes(ParamsModel):
    """Several lakes, each with a square block of columns."""

    kind: Literal["wide_lakes"]
    lakes: Positive
    side: Positive


class HighWater(ParamsModel):
    """Water high above the ground."""

    kind: Literal["high_water"]
    min_z: Index
    min_voxels: Positive


class HiddenWater(ParamsModel):
    """Water under rock, none of it visible."""

    kind: Literal["hidden_water"]
    min_voxels: Positive


class LakesOnLevels(ParamsModel):
    """Several lakes on different levels."""

    kind: Literal["lakes_on_levels"]
    lakes: Positive
    levels: Positive


class DeepWater(ParamsModel):
    """A tall column of water."""

    kind: Literal["deep_water"]
    min_depth: Positive


class LargeLakes(ParamsModel):
    """Several lakes, each with a minimum volume."""

    kind: Literal["large_lakes"]
    lakes: Positive
    min_voxels: Positive


class RingLake(ParamsModel):
    """A lake around a dry square."""

    kind: Literal["ring_lake"]
    dry_side: Positive


class WaterLevels(ParamsModel):
    """Water on some levels, and none on some others."""

    kind: Literal["water_levels"]
    water_at: Annotated[tuple[Index, ...], Field(min_length=1)]
    dry_at: tuple[Index, ...]


class ExactVolume(ParamsModel):
    """An exact amount of water."""

    kind: Literal["exact_volume"]
    voxels: Positive


class HiddenLakes(ParamsModel):
    """Several lakes under rock, none of them visible."""

    kind: Literal["hidden_lakes"]
    lakes: Positive
    min_voxels: Positive


Goal = Annotated[
    LakeSurface
    | WideLakes
    | HighWater
    | HiddenWater
    | LakesOnLevels
    | DeepWater
    | LargeLakes
    | RingLake
    | WaterLevels
    | ExactVolume
    | HiddenLakes,
    Field(discriminator="kind"),
]


class Params(ParamsModel):
    """A world, its rain, and the goal for the water."""

    width: int = Field(ge=8, le=64, description="number of cells along x and along y")
    height: int = Field(
        ge=4, le=8, description="number of cells along z, which points up"
    )
    rock_layers: int = Field(
        ge=2, description="number of layers, from z = 0, that are rock at the start"
    )
    ground: tuple[GroundBox, ...] = Field(
        description="boxes that shape the ground, in order"
    )
    protected: tuple[Zone, ...] = Field(
        description="zones that no box in an answer may overlap"
    )
    rain: Annotated[tuple[Column, ...], Field(min_length=1)] = Field(
        description="x and y of the columns that get one drop each in every round"
    )
    max_boxes: int | None = Field(
        ge=1, description="maximum number of boxes in an answer; null for no limit"
    )
    goal: Goal

    @model_validator(mode="after")
    def check_inside(self) -> "Params":
        """Refuse a world without air, and boxes or rain outside the world."""
        if self.rock_layers >= self.height:
            raise ValueError(
                "rock_layers must be below height, so that there is a layer of air"
            )
        top = (self.width - 1, self.width - 1, self.height - 1)
        for box in (*self.ground, *self.protected):
            for low, high, limit in zip(box.low, box.high, top, strict=True):
                if not low <= high <= limit:
                    raise ValueError(
                        f"the box from {box.low} to {box.high} must be inside the world"
                    )
        if any(max(column) >= self.width for column in self.rain):
            raise ValueError(
                f"the rain columns must be inside the world, with x and y below {self.width}"
            )
        return self


Coordinate = Annotated[Int | Number, WithJsonSchema({"type": "number"})]
Corner = Annotated[tuple[Coordinate, ...], Field(min_length=3, max_length=3)]


class Earthwork(AnswerModel):
    """One box of cells that becomes air or rock."""

    xyzMin: Corner = Field(description="smallest x, y and z of the box")  # noqa: N815
    xyzMax: Corner = Field(description="largest x, y and z of the box, inclusive")  # noqa: N815
    material: Material = Field(
        description="the material that every cell of the box becomes"
    )


def valid_or_none(
    value: object, read: ValidatorFunctionWrapHandler
) -> Earthwork | None:
    """Return a box, or None if it is invalid, so that the other boxes still count."""
    try:
        earthwork: Earthwork = read(value)
    except ValidationError:
        return None
    return earthwork


# An invalid box becomes None, which keeps its position, and the grader ignores it.
Earthworks = tuple[
    Annotated[Earthwork | SkipJsonSchema[None], WrapValidator(valid_or_none)], ...
]


class Answer(AnswerModel):
    """A list of earthworks."""

    earthworks: Earthworks = Field(
        description="boxes in the order in which they are applied"
    )
