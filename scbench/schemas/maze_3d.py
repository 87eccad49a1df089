"""A maze of heights with exactly one route from A to B."""

import re
from typing import Annotated, Any, ClassVar

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from scbench.schemas.base import AnswerModel, Int, ParamsModel, Text

# Maximum number of rows in a text. A longer text is not a maze, and rows need memory.
_MAX_ROWS = 1000


class Params(ParamsModel):
    """The rules for the maze."""

    size: int = Field(ge=2, le=60, description="number of rows and of columns")
    a_height: int = Field(ge=0, le=9, description="height of A")
    b_height: int = Field(ge=0, le=9, description="height of B")
    jumps: int = Field(ge=0, description="minimum number of jumps on the route")
    max_height_percent: int = Field(
        default=30,
        ge=10,
        le=100,
        description="largest share of all cells that may have the same height",
    )
    min_route_percent: int = Field(
        default=20,
        ge=0,
        le=100,
        description="minimum share of all cells that the route visits",
    )
    ends: tuple[tuple[Int, Int], tuple[Int, Int]] | None = Field(
        default=None,
        description="row and column of A and of B, from 0; null if they may be anywhere",
    )

    @model_validator(mode="after")
    def check_ends(self) -> "Params":
        """Refuse ends outside the maze, or in the same cell."""
        if not self.ends:
            return self
        start, goal = self.ends
        is_inside = min(start + goal) >= 0 and max(start + goal) < self.size
        if start == goal or not is_inside:
            raise ValueError(
                f"ends must be two different cells, with rows and columns in 0..{self.size - 1}"
            )
        return self

    @model_serializer(mode="wrap")
    def write_without_default(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        """Leave out ``ends`` if they may be anywhere."""
        # Items of the fixed list have no ends, and their rows must not change.
        fields: dict[str, Any] = handler(self)
        if not fields.get("ends"):
            fields.pop("ends", None)
        return fields


def rows_of(value: object) -> object:
    """Return the rows in one text as a list, without spaces at their ends."""
    if isinstance(value, str):
        value = value.strip().split("\n", _MAX_ROWS)
    if not isinstance(value, list | tuple):
        return value
    return [row.rstrip() if isinstance(row, str) else row for row in value]


class Answer(AnswerModel):
    """The maze, row by row."""

    # A reply may consist of the rows alone.
    BARE_TEXT: ClassVar[re.Pattern[str]] = re.compile(r"[0-9ABab]+(?:\s+[0-9ABab]+)*")

    maze: Annotated[tuple[Text, ...], BeforeValidator(rows_of)] = Field(
        description="rows from the top, one character for each cell: digits 0 to 9, one A and one B"
    )

    @model_validator(mode="before")
    @classmethod
    def accept_text(cls, value: object) -> object:
        """Accept the rows as one text, without the key."""
        return {"maze": value} if isinstance(value, str) else value
