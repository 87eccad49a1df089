"""Shikaku: cut a grid of cells into rectangles with one number each."""

from typing import Annotated

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Index, ParamsModel, WholeIndex


class Params(ParamsModel):
    """A grid with numbers in some of its cells."""

    width: int = Field(ge=1, description="number of columns")
    height: int = Field(ge=1, description="number of rows")
    grid: tuple[tuple[Index, ...], ...] = Field(
        description="rows from the top, cells from the left; 0 where there is no number"
    )

    @model_validator(mode="after")
    def check_grid(self) -> "Params":
        """Refuse a grid of another size."""
        has_all_rows = len(self.grid) == self.height
        if not has_all_rows or any(len(row) != self.width for row in self.grid):
            raise ValueError(f"grid must have {self.height} rows of {self.width} cells")
        return self


class Answer(AnswerModel):
    """The rectangles that the grid is cut into."""

    rectangles: tuple[
        # Left, top, right, bottom.
        Annotated[tuple[WholeIndex, ...], Field(min_length=4, max_length=4)], ...
    ] = Field(
        description="one entry per rectangle, in any order: left column, top row, right column "
        "and bottom row, counted from 0 and inclusive"
    )
