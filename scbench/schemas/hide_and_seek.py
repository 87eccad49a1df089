"""People hiding behind a building from a sniper."""

from typing import Annotated

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Int, Number, Pair, ParamsModel, Triple

Length = Annotated[Number, Field(gt=0)]
Pixels = Annotated[Int, Field(ge=1, le=2000)]


class Params(ParamsModel):
    """A building on open ground, a crowd and a camera. Lengths are in metres."""

    people: Int = Field(ge=1, le=1000, description="number of people to place")
    building: Annotated[tuple[Length, ...], Field(min_length=3, max_length=3)] = Field(
        description="size along x, y and z of the building, whose base is centred on the origin"
    )
    person: Annotated[tuple[Length, ...], Field(min_length=3, max_length=3)] = Field(
        description="size along x, y and z of the box that a person fills"
    )
    max_distance: Length = Field(
        description="largest distance of a person's x, y position from the origin"
    )
    sniper: Triple = Field(description="position of the sniper's eye")
    look_at: Triple = Field(
        description="the point in the middle of the sniper's picture"
    )
    field_of_view: Annotated[Number, Field(gt=0, lt=90)] = Field(
        description="angle between the top and the bottom of the picture, in degrees"
    )
    image: Annotated[tuple[Pixels, ...], Field(min_length=2, max_length=2)] = Field(
        description="number of columns and of rows of the picture, in pixels"
    )
    penalty_per_pixel: Length = Field(
        description="score subtracted for each visible pixel"
    )

    @model_validator(mode="after")
    def check_sniper_is_far(self) -> "Params":
        """Refuse a sniper within reach of the people."""
        x, y, _ = self.sniper
        # No part of a person is farther from the person's place than this.
        reach = self.max_distance + self.person[0] + self.person[1]
        if x * x + y * y <= reach**2:
            raise ValueError(
                "the sniper is so close to the origin that people could be at the same place"
            )
        return self


class Person(AnswerModel):
    """One person."""

    xy: Pair = Field(description="x and y of the centre of the person's footprint")


class Answer(AnswerModel):
    """The whole crowd."""

    people: tuple[Person, ...] = Field(description="one entry per person, in any order")
