"""Covering a flat target with the shadows of unit tetrahedra."""

from typing import Annotated

from pydantic import Field

from scbench.schemas.base import AnswerModel, Number, Pair, ParamsModel, Text

# A closed polygon, without its first corner repeated at the end.
Ring = Annotated[tuple[Pair, ...], Field(min_length=3)]


class Params(ParamsModel):
    """A target in the plane z = 0, exact as printed."""

    title: Text = Field(
        description="short description of the target; the corners define it exactly"
    )
    exterior: Ring = Field(
        description="x and y of the outline's corners, counter-clockwise, none repeated"
    )
    holes: tuple[Ring, ...] = Field(
        description="x and y of the corners of every hole, clockwise, none repeated"
    )
    divisor: Number = Field(gt=0, le=1, description="divisor of the score")


class Pose(AnswerModel):
    """The pose of one tetrahedron, which is first rotated about the origin, then moved."""

    x: Number = Field(description="translation along x")
    y: Number = Field(description="translation along y")
    z: Number = Field(description="translation along z")
    q0: Number = Field(description="scalar part of the quaternion")
    q1: Number = Field(description="x part of the quaternion")
    q2: Number = Field(description="y part of the quaternion")
    q3: Number = Field(description="z part of the quaternion")


class Answer(AnswerModel):
    """All tetrahedra."""

    tetrahedrons: tuple[Pose, ...] = Field(
        description="one entry per tetrahedron, in any order"
    )
