"""CSG union: one closed mesh of the union of a few solids."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from scbench.schemas.base import (
    AnswerModel,
    Index,
    Int,
    Number,
    ParamsModel,
    Triple,
    WholeIndex,
)

# Maximum numbers of vertices, faces, and corners of a face. More would take too long to grade.
_MAX_COUNT = 10_000
Length = Annotated[Number, Field(gt=0)]


class _MovedSolid(BaseModel):
    """A solid in its frame, and its rotation and translation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rotation_deg_xyz: Triple = Field(
        default=(0.0, 0.0, 0.0),
        description="degrees of rotation about x, then y, then z, which are fixed axes through "
        "the frame's origin",
    )
    translation: Triple = Field(description="added to every vertex after the rotation")


class Box(_MovedSolid):
    """A box along the axes of its frame, centred on the origin."""

    kind: Literal["box"]
    size: Annotated[tuple[Length, ...], Field(min_length=3, max_length=3)] = Field(
        description="full lengths of the edges along x, y and z"
    )


class Prism(_MovedSolid):
    """A prism, frustum or pyramid over a regular polygon, with its axis along z.

    Vertex k of each ring lies at the angle 360 k / segments from +x towards +y.
    """

    kind: Literal["prism"]
    radius_bottom: Length = Field(
        description="distance of the lower ring's vertices from the axis"
    )
    radius_top: Annotated[Number, Field(ge=0)] = Field(
        description="distance of the upper ring's vertices from the axis; 0 gives an apex"
    )
    height: Length
    segments: Annotated[Int, Field(ge=3, le=360)]
    centred_z: bool = Field(
        description="whether z runs from -height/2 to height/2 instead of 0 to height"
    )


class UvSphere(_MovedSolid):
    """A polyhedron with segments / 2 rings of vertices on a sphere, flat at both ends.

    Ring i lies at the polar angle 180 (i + 0.5) / rings from +z, and its vertex k at the angle
    360 k / segments from +x towards +y.
    """

    kind: Literal["uv_sphere"]
    radius: Length
    segments: Annotated[Int, Field(ge=4, le=360, multiple_of=2)]


class Polyhedron(_MovedSolid):
    """A convex polyhedron by its vertices and faces."""

    kind: Literal["polyhedron"]
    vertices: Annotated[tuple[Triple, ...], Field(min_length=4)]
    faces: Annotated[
        tuple[Annotated[tuple[Index, ...], Field(min_length=3)], ...],
        Field(min_length=4),
    ] = Field(description="indices of vertices, counter-clockwise as seen from outside")


Solid = Annotated[Box | Prism | UvSphere | Polyhedron, Field(discriminator="kind")]


class Params(ParamsModel):
    """The solids to unite."""

    solids: tuple[Solid, ...] = Field(min_length=1)


class Vertex(AnswerModel):
    """A vertex of the mesh."""

    xyz: Triple = Field(description="the three coordinates, in centimetres")


class Face(AnswerModel):
    """A flat polygon of the mesh."""

    vertex: Annotated[
        tuple[WholeIndex, ...], Field(min_length=3, max_length=_MAX_COUNT)
    ] = Field(
        description="positions in the list of vertices, counted from 0, counter-clockwise as "
        "seen from outside"
    )


class Mesh(AnswerModel):
    """A closed mesh of polygons."""

    vertex: tuple[Vertex, ...] = Field(
        max_length=_MAX_COUNT, description="every vertex once"
    )
    faces: tuple[Face, ...] = Field(
        max_length=_MAX_COUNT, description="every face once"
    )


class Answer(AnswerModel):
    """The union of the solids."""

    polyhedron: Mesh
