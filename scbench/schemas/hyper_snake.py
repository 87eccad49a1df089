"""A long path in a box of any number of dimensions."""

import math
from typing import Annotated

from pydantic import FailFast, Field, model_validator, with_config
from typing_extensions import TypedDict

from scbench.schemas.base import AnswerModel, Index, Int, ParamsModel, WholeNumber

# The grader's time grows with the number of cells.
MAX_CELLS = 100_000
Cell = tuple[Index, ...]


class Params(ParamsModel):
    """A box of cells, where the snake starts, the walls and the food."""

    size: tuple[Annotated[Int, Field(ge=1)], ...] = Field(
        min_length=1, max_length=16, description="number of cells along each axis"
    )
    start: Cell = Field(description="the snake's first cell; coordinates count from 0")
    walls: tuple[Cell, ...] = Field(description="cells that the snake must not enter")
    food: tuple[Cell, ...] = Field(description="cells with food")

    @model_validator(mode="after")
    def check_cells(self) -> "Params":
        """Refuse a box that is too large, and cells that are outside it or conflict."""
        if math.prod(self.size) > MAX_CELLS:
            raise ValueError(f"the box may have at most {MAX_CELLS:,} cells")
        for cell in (self.start, *self.walls, *self.food):
            if not self.has_cell(cell):
                raise ValueError(
                    f"{list(cell)} is not a cell of a box of size {list(self.size)}"
                )
        walls = set(self.walls)
        food = set(self.food)
        if len(walls) < len(self.walls) or len(food) < len(self.food):
            raise ValueError("walls and food must not list a cell twice")
        if walls & {self.start, *food}:
            raise ValueError("walls must not include the start or a cell with food")
        return self

    def has_cell(self, cell: Cell) -> bool:
        """Whether a cell is inside the box."""
        if len(cell) != len(self.size):
            return False
        return all(c < length for c, length in zip(cell, self.size, strict=True))


# A dictionary, because creating thousands of models takes longer than grading the answer.
@with_config(AnswerModel.model_config)
class Place(TypedDict):
    """One cell of the path."""

    pos: Annotated[
        tuple[WholeNumber, ...],
        Field(description="one coordinate for each axis of the box, from 0"),
        FailFast(),
    ]


class Answer(AnswerModel):
    """The path."""

    path: tuple[Place, ...] = Field(
        min_length=1,
        description="every cell that the snake visits, in order, including the start",
    )
