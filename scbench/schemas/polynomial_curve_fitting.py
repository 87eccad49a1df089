"""One formula whose sign redraws a two-colour picture."""

import re
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, ParamsModel, Text


class Params(ParamsModel):
    """A square picture in two colours; both occur."""

    grid: tuple[Annotated[str, Field(pattern="^[#.]+$")], ...] = Field(
        min_length=2,
        max_length=128,
        description="rows from the top, # or . for every cell",
    )
    max_degree: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda degree: degree is None,
        description="largest total degree of the formula as written; omitted if there is no "
        "limit",
    )

    @model_validator(mode="after")
    def check_grid(self) -> "Params":
        """Refuse a grid that is not square or has one colour."""
        if any(len(row) != len(self.grid) for row in self.grid):
            raise ValueError("the grid is not square")
        if len(set("".join(self.grid))) < 2:
            raise ValueError("the grid has only one colour")
        return self


class Answer(AnswerModel):
    """The formula, as a small piece of Python text that is parsed but never run."""

    # A reply may consist of the function alone.
    BARE_TEXT: ClassVar[re.Pattern[str]] = re.compile(r"def\s.*", re.DOTALL)

    function: Text = Field(
        description="text of one function f(x, y) that consists of a single return of a "
        "polynomial"
    )
