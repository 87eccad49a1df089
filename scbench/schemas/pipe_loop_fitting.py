"""A closed loop of pipes, one metre each, inside a square."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Int, Number, ParamsModel

Length = Annotated[Number, Field(ge=0, le=1000)]
# At a straight joint, the interior angle is 180 degrees.
Degrees = Annotated[Number, Field(ge=1, le=179)]


class AngleRange(ParamsModel):
    """Every interior angle lies between two limits."""

    type: Literal["angle_range"] = "angle_range"
    min_deg: Degrees = Field(description="smallest interior angle, in degrees")
    max_deg: Degrees = Field(
        description="largest interior angle, in degrees; 180 is straight"
    )


class CentroidBox(ParamsModel):
    """The mean of the joints lies in an axis-parallel box; limits in metres."""

    type: Literal["centroid_box"] = "centroid_box"
    xmin: Length
    xmax: Length
    ymin: Length
    ymax: Length


class TouchWalls(ParamsModel):
    """Joints lie on a number of different walls."""

    type: Literal["must_touch_boundary"] = "must_touch_boundary"
    walls: Int = Field(ge=1, le=4, description="minimum number of different walls")
    tolerance: Length = Field(
        description="largest distance at which a joint touches a wall, in metres"
    )


class MinTurns(ParamsModel):
    """Some joints are not straight."""

    type: Literal["min_turns"] = "min_turns"
    turns: Int = Field(
        ge=1, description="minimum number of joints that are not straight"
    )


class MaxStraightRun(ParamsModel):
    """Only short runs of joints are straight."""

    type: Literal["max_straight_run"] = "max_straight_run"
    joints: Int = Field(
        ge=0, description="maximum number of straight joints in a row, around the loop"
    )


class CoverQuadrants(ParamsModel):
    """Each quadrant of the square has a joint inside it."""

    type: Literal["coverage_quadrants"] = "coverage_quadrants"


class WallMargin(ParamsModel):
    """Joints keep away from the walls."""

    type: Literal["avoid_margin"] = "avoid_margin"
    margin: Length = Field(
        description="minimum distance of a joint from every wall, in metres"
    )


class HullArea(ParamsModel):
    """The convex hull of the joints is large."""

    type: Literal["min_convex_hull_area"] = "min_convex_hull_area"
    area: Annotated[Number, Field(ge=0)] = Field(
        description="minimum area, in square metres"
    )


class FixedStart(ParamsModel):
    """The first joint in the list lies near a certain point."""

    type: Literal["fixed_start"] = "fixed_start"
    x: Length
    y: Length
    tolerance: Length = Field(description="largest distance from the point, in metres")


class JointSeparation(ParamsModel):
    """Joints that are not connected by a pipe keep away from each other."""

    type: Literal["min_point_separation"] = "min_point_separation"
    distance: Length = Field(description="minimum distance, in metres")


# In JSON, the type selects the class.
Constraint = Annotated[
    AngleRange
    | CentroidBox
    | TouchWalls
    | MinTurns
    | MaxStraightRun
    | CoverQuadrants
    | WallMargin
    | HullArea
    | FixedStart
    | JointSeparation,
    Field(discriminator="type"),
]


class Params(ParamsModel):
    """A square room, a number of pipes, and the constraints on their loop."""

    pipes: Int = Field(
        ge=3, description="number of pipes, each 1 m long; also the number of joints"
    )
    side: Int = Field(ge=1, le=1000, description="side of the square in metres")
    length_tolerance: Number = Field(
        gt=0,
        le=0.1,
        description="tolerance for the length of a pipe (1 m), in metres",
    )
    crossings: Int = Field(
        ge=0, le=50, description="exact number of times the loop must cross itself"
    )
    constraints: tuple[Constraint, ...] = Field(
        description="extra constraints, at most one of each type"
    )

    @model_validator(mode="after")
    def check_types(self) -> "Params":
        """Refuse two constraints of one type."""
        types = {constraint.type for constraint in self.constraints}
        if len(types) < len(self.constraints):
            raise ValueError("two constraints have the same type")
        return self


class Joint(AnswerModel):
    """A place where two pipes meet."""

    x: Number = Field(description="metres from the left wall")
    y: Number = Field(description="metres from the bottom wall")


class Answer(AnswerModel):
    """The joints of the loop."""

    points: tuple[Joint, ...] = Field(
        description="all joints in order around the loop; do not repeat the first joint at the "
        "end"
    )
