"""SVG shapes: the kind of shape that a path draws, one of ten."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortAnswer

# In prompts and answers, a space replaces the underscore.
Kind = Literal[
    "triangle",
    "rectangle",
    "trapezoid",
    "kite",
    "pentagon",
    "hexagon",
    "star",
    "ellipse",
    "half_ellipse",
    "sector",
]


class Params(ParamsModel):
    """A path, as the prompt prints it, and the options in the order of the prompt."""

    path: str = Field(
        min_length=1,
        max_length=12_000,
        pattern=r"^[Mm][MmLlCcAaZz0-9., -]+$",
        description="SVG path data of one closed outline, made of the commands M, L, C, A and Z",
    )
    options: tuple[Kind, ...] = Field(
        min_length=10,
        max_length=10,
        description="the kinds in the order of their letters",
    )


class Answer(AnswerModel):
    """The kind of the shape."""

    answer: ShortAnswer = Field(description="the letter or the name of one option")
