"""A cage printed as interlocking parts. Lengths are in mm, areas in mm², volumes in mm³."""

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from scbench.schemas.base import AnswerModel, Number, Pair, ParamsModel, Text, Triple

FileType = Literal[
    "STL", "OpenSCAD", "Python Generating OpenSCAD", "Python Generating STL"
]
FILE_TYPES: tuple[FileType, ...] = get_args(FileType)


class Printing(ParamsModel):
    """Limits of the criterion on printing."""

    bed: Triple = Field(description="maximum length, depth and height of a part")
    slack: Number = Field(gt=0, description="tolerance for the size of a part")
    level: Number = Field(
        gt=0,
        description="largest distance from z = 0 of a part's lowest point and of its contact faces",
    )
    flat: Number = Field(
        gt=0, lt=1, description="smallest -z component of a contact face's normal"
    )
    hanging: Number = Field(
        gt=0, lt=1, description="smallest -z component of an overhanging face's normal"
    )
    contact_area: Number = Field(gt=0, description="minimum area on the bed")
    bridge: Number = Field(
        gt=0, description="width of the widest overhang that can be printed"
    )


class Spacing(ParamsModel):
    """Limits for the criterion on openings in each part, as it lies on the bed."""

    height: Number = Field(gt=0, description="only gaps below this height count")
    free: Number = Field(
        gt=0, description="side of a square column that must fit somewhere"
    )
    free_reach: Number = Field(
        gt=0, description="largest |x| and |y| of the column's centre"
    )
    blocked: Number = Field(
        gt=0, description="side of a square column that must not fit anywhere"
    )
    blocked_reach: Number = Field(
        gt=0, description="largest |x| and |y| of the column's centre"
    )
    ignored_area: Number = Field(
        gt=0,
        description="sets of column centres with an area up to this size are ignored",
    )


class Space(ParamsModel):
    """An upright box around the z axis."""

    sides: Pair = Field(description="lengths along x and y, centred on 0")
    z: Pair = Field(description="lowest and highest z")


class Rods(ParamsModel):
    """The rods, and the cylinders that represent them."""

    at: Number = Field(gt=0, description="|x| and |y| of the four axes")
    free: Number = Field(
        gt=0, description="diameter of the rod, which must pass through"
    )
    free_z: Pair = Field(description="lowest and highest z of the cylinder")
    gripped: Number = Field(
        gt=0, description="diameter of a cylinder that must not pass through"
    )
    gripped_z: Pair = Field(description="lowest and highest z of the cylinder")
    facets: int = Field(
        ge=8,
        le=1000,
        description="number of sides of the prisms circumscribed about the cylinders",
    )
    least: int = Field(
        ge=1, le=4, description="number of rods that each part must grip"
    )


class Survey(ParamsModel):
    """Sampling of faces for the criteria on thickness and on the gaps of the cage."""

    area: Number = Field(gt=0, description="minimum area of a face")
    upright: Number = Field(
        gt=0,
        lt=1,
        description="minimum cosine of the angle between a face's normal and an axis",
    )
    span: Number = Field(
        gt=0, description="minimum length of the shorter side of a face's bounds"
    )
    end: Number = Field(
        gt=0, description="faces with no side longer than this are ends of bars"
    )
    cell: Number = Field(
        gt=0, description="maximum width of a cell in the grid of points"
    )
    cells: int = Field(ge=1, le=64, description="maximum number of cells along a side")
    offset: Number = Field(
        gt=0, description="distance from the face at which rays start"
    )
    reach: Pair = Field(
        description="range of distances at which a hit counts, excluding both ends"
    )
    least: int = Field(
        ge=1, description="minimum number of faces with a measured distance"
    )
    bin: Number = Field(
        gt=0, description="width of the histogram's bins, which start at 0"
    )
    wanted: Pair = Field(
        description="range that must contain the median of the fullest bin"
    )
    near: Number | None = Field(
        gt=0,
        description="largest difference from the median that counts as near; null if only "
        "distances in the fullest bin are near",
    )
    share: Number = Field(
        gt=0, le=1, description="minimum share of distances near the median"
    )


class Params(ParamsModel):
    """A cage of square bars, and all limits for its parts."""

    inner: Triple = Field(
        description="lengths of the free space inside along x, y and z"
    )
    bar: Number = Field(gt=0, description="side of the square bars")
    gap: Pair = Field(description="smallest and largest gap between bars")
    rod_name: Text = Field(description="name of the rods")
    parts: int = Field(ge=1, le=64, description="number of parts")
    shown: int = Field(
        default=0,
        ge=0,
        le=64,
        exclude_if=lambda count: count == 0,
        description="number of parts of a right answer that the prompt shows; omitted if 0",
    )
    rigid: Number = Field(
        gt=0, description="tolerance for each entry of a rotation matrix"
    )
    overlap: Number = Field(
        gt=0, description="overlaps with a volume up to this size do not count"
    )
    touch: Number = Field(
        gt=0, description="maximum distance between parts that count as touching"
    )
    printing: Printing
    spacing: Spacing
    empty: Space = Field(description="space that no part may enter")
    outer: Space = Field(description="space that no part may leave")
    rods: Rods
    thickness: Survey
    gaps: Survey


def as_file_type(value: object) -> object:
    """Return the file type that a text names, ignoring case and separators."""
    if isinstance(value, str):
        words = value.lower().replace("-", " ").replace("_", " ").split()
        compact = "".join(words)
        for name in FILE_TYPES:
            if compact == name.lower().replace(" ", ""):
                return name
    return value


class Part(AnswerModel):
    """One printed part and its place in the cage."""

    fileContents: Text = Field(  # noqa: N815  (the paper's name)
        description="the part as it lies on the bed: an STL file, OpenSCAD source or a program"
    )
    fileType: Annotated[FileType, BeforeValidator(as_file_type)] = Field(  # noqa: N815
        description="type of the contents"
    )
    transform: Annotated[tuple[Number, ...], Field(min_length=16, max_length=16)] = (
        Field(
            description="4 x 4 matrix, row by row, that moves the part from the bed into the cage"
        )
    )


class Answer(AnswerModel):
    """All parts of the cage."""

    parts: tuple[Part, ...] = Field(description="one entry per part, including copies")
