"""Building a round shell from toy bricks."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Number, Pair, ParamsModel, Triple

Length = Annotated[Number, Field(ge=0, le=400)]


class Params(ParamsModel):
    """The target: a round body on the table with an upright axis. Lengths are in millimetres."""

    form: Literal["hemisphere", "bowl", "wall", "ring"] = Field(
        default="hemisphere",
        description="half a hollow ball, open side down or up, a hollow cylinder, or half a torus",
    )
    inner_radius_mm: Length = Field(
        description="radius of the hollow: of the inner sphere, of the inside of the wall, or of "
        "the ring's hole on the table"
    )
    outer_radius_mm: Length = Field(
        description="outer radius: of the outer sphere, of the outside of the wall, or of the "
        "ring's rim on the table"
    )
    height_mm: Length | None = Field(
        default=None,
        description="height of a wall; null for other forms, whose radii determine it",
    )
    centre_mm: Pair = Field(
        default=(0.0, 0.0),
        exclude_if=lambda centre: centre == (0.0, 0.0),
        description="x and y of the axis; omitted if it is the z axis",
    )
    full_marks: Number = Field(
        gt=0,
        le=1,
        description="agreement of the volumes that scores 1; lower agreements are divided by it",
    )

    @model_validator(mode="after")
    def check_body(self) -> "Params":
        """Refuse radii in the wrong order, walls without height, and other forms with a height."""
        if self.inner_radius_mm >= self.outer_radius_mm:
            raise ValueError("inner_radius_mm must be below outer_radius_mm")
        is_wall = self.form == "wall"
        if is_wall != bool(self.height_mm):
            raise ValueError("height_mm must be set for a wall, and for no other form")
        return self


class Brick(AnswerModel):
    """The position and rotation of one brick."""

    # The names of the paper.
    Centroid: Triple = Field(
        description="x, y and z of the centre of the brick, in millimetres"
    )
    RotationDegrees: Number = Field(
        description="rotation about z; at 0, its 32 mm side lies along x"
    )


class Answer(AnswerModel):
    """All bricks."""

    bricks: tuple[Brick, ...] = Field(description="one entry per brick, in any order")
