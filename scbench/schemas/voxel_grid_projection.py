"""A set of grid cells with full projections and no symmetry."""

from typing import Annotated

from pydantic import Field, field_serializer, model_validator

from scbench.schemas.base import AnswerModel, Index, ParamsModel, Triple


class Residue(ParamsModel):
    """A residue class: the whole numbers that leave this remainder."""

    modulus: int = Field(ge=2, le=100, description="divisor of the sums")
    remainder: Index = Field(description="remainder, below the modulus")

    @model_validator(mode="after")
    def check_remainder(self) -> "Residue":
        """Refuse a remainder that is not below the modulus."""
        if self.remainder >= self.modulus:
            raise ValueError("the remainder is not below the modulus")
        return self


class Params(ParamsModel):
    """The grid, the number of cells to choose, and the forbidden cells."""

    size: int = Field(
        ge=2, le=32, description="number of cells along each side of the cube"
    )
    cells: int = Field(ge=1, description="number of cells to choose")
    forbidden_digit: int | None = Field(
        default=None,
        ge=0,
        le=9,
        description="decimal digit that no x + y + z may contain",
    )
    forbidden_residue: Residue | None = Field(
        default=None, description="residue class that no x + y + z may be in"
    )
    forbidden_cells: tuple[
        Annotated[tuple[Index, ...], Field(min_length=3, max_length=3)], ...
    ] = Field(default=(), description="forbidden cells, as x, y, z")
    connected: bool = Field(
        default=False,
        description="whether the cells must be connected through shared faces",
    )


class Voxel(AnswerModel):
    """One cell."""

    xyz: Triple = Field(description="x, y and z of the cell, whole numbers from 0")

    @field_serializer("xyz")
    def write_whole_numbers(self, xyz: tuple[float, ...]) -> list[float]:
        """Write whole numbers without a decimal point."""
        return [int(value) if value.is_integer() else value for value in xyz]


class Answer(AnswerModel):
    """The cells that are chosen."""

    voxels: tuple[Voxel, ...] = Field(
        description="every chosen cell once, in any order"
    )
