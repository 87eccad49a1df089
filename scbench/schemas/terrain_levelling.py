"""Blasts that level rough ground."""

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Int, Number, ParamsModel, WholeNumber

# Largest limit on blasts that an instance may set.
MAX_BLASTS = 20_000


class Params(ParamsModel):
    """A square height map and what counts as level."""

    heights: tuple[tuple[Number, ...], ...] = Field(
        min_length=2,
        max_length=64,
        description="height of every cell: one row per y, one value per x, both from 0",
    )
    flat_tolerance: Number = Field(
        gt=0,
        description="largest height difference between neighbouring cells of a flat region",
    )
    share: Number = Field(
        gt=0,
        le=1,
        description="increase of the largest flat region needed for a score of 1, as a share of "
        "all cells",
    )
    max_blasts: Int = Field(
        ge=1, le=MAX_BLASTS, description="maximum number of blasts in a plan"
    )

    @model_validator(mode="after")
    def check_square(self) -> "Params":
        """Refuse a height map that is not square."""
        if any(len(row) != len(self.heights) for row in self.heights):
            raise ValueError(
                f"the map must be square, with {len(self.heights)} heights in every row"
            )
        return self


class Blast(AnswerModel):
    """One blast."""

    x: WholeNumber = Field(
        description="column of the cell, from 0 at the start of a line"
    )
    y: WholeNumber = Field(
        description="row of the cell, from 0 at the first printed line"
    )
    z: Number = Field(description="depth by which the cell is lowered; above 0")


class Answer(AnswerModel):
    """The plan."""

    blasts: tuple[Blast, ...] = Field(
        description="the blasts in the order in which they go off"
    )
