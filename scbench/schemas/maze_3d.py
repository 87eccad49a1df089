"""A maze of heights with exactly one route from A to B."""

import re
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from scbench.schemas.base import AnswerModel, ParamsModel, Text

_MOST_ROWS = 1000
"""A text is not cut into more: it is no maze, and each piece takes memory."""


class Params(ParamsModel):
    """What the maze must keep."""

    size: int = Field(ge=2, le=60, description="rows and columns")
    a_height: int = Field(ge=0, le=9, description="height of A")
    b_height: int = Field(ge=0, le=9, description="height of B")
    jumps: int = Field(ge=0, description="least number of jumps on the route")
    max_height_percent: int = Field(
        default=30, ge=10, le=100, description="largest share of all cells that one height may fill"
    )
    min_route_percent: int = Field(
        default=20, ge=0, le=100, description="least share of all cells that the route visits"
    )


def _rows_of(value: object) -> object:
    """Return rows given as one text as a list, and every row without blanks at its end."""
    if isinstance(value, str):
        value = value.strip().split("\n", _MOST_ROWS)
    if not isinstance(value, list | tuple):
        return value
    return [row.rstrip() if isinstance(row, str) else row for row in value]


class Answer(AnswerModel):
    """The maze, row by row."""

    BARE_TEXT: ClassVar[re.Pattern[str]] = re.compile(r"[0-9ABab]+(?:\s+[0-9ABab]+)*")

    maze: Annotated[tuple[Text, ...], BeforeValidator(_rows_of)] = Field(
        description="rows from the top, one character for each cell: digits 0 to 9, one A and one B"
    )

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: object) -> object:
        return {"maze": value} if isinstance(value, str) else value
