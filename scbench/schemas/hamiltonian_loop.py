"""A closed tour of the free cells of a square grid."""

from typing import Annotated

from pydantic import Field, model_validator, with_config
from typing_extensions import TypedDict

from scbench.schemas.base import AnswerModel, Int, ParamsModel, WholeNumber


class Params(ParamsModel):
    """A square grid with some cells blocked."""

    size: int = Field(ge=2, le=100, description="number of columns and of rows")
    blocked: tuple[
        Annotated[tuple[Int, ...], Field(min_length=2, max_length=2)], ...
    ] = Field(
        description="column x and row y of every blocked cell, both from 1; row 1 is at the top"
    )

    @model_validator(mode="after")
    def check_blocked_cells(self) -> "Params":
        """Refuse blocked cells outside the grid, repeated ones, and too many of them."""
        for cell in self.blocked:
            if min(cell) < 1 or max(cell) > self.size:
                raise ValueError(
                    f"blocked cell {list(cell)} must have coordinates from 1 to {self.size}"
                )
        if len(set(self.blocked)) < len(self.blocked):
            raise ValueError("blocked must not list a cell twice")
        # With two free cells, moving there and back would satisfy every rule of the
        # grader.
        if self.size**2 - len(self.blocked) < 4:
            raise ValueError("a loop needs at least 4 free cells")
        return self


# A dictionary, because creating hundreds of models takes longer than grading the answer.
@with_config(AnswerModel.model_config)
class Step(TypedDict):
    """One cell of the tour."""

    xy: Annotated[
        tuple[WholeNumber, ...],
        Field(
            min_length=2, max_length=2, description="column x and row y, both from 1"
        ),
    ]


class Answer(AnswerModel):
    """The tour."""

    steps: tuple[Step, ...] = Field(
        min_length=1,
        description="every free cell once, in the order of the tour; do not repeat the first "
        "cell at the end",
    )
