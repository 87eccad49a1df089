"""A maze of heights with exactly one route from A to B."""

from pydantic import ConfigDict, Field, RootModel

from scbench.schemas.base import ParamsModel, Text


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


class Answer(RootModel[Text]):
    """The maze as bare text: a line for every row, a character for every cell."""

    model_config = ConfigDict(frozen=True)

    root: Text = Field(description="rows from the top, each of digits 0 to 9, one A and one B")
