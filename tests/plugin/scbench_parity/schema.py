"""A bit string, and its parity."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, Int, ParamsModel, Text


class Params(ParamsModel):
    """The bit string."""

    bits: str = Field(pattern="^[01]+$")


class Answer(AnswerModel):
    """Its parity, and how the grader is to behave."""

    bit: Int
    mood: Text = ""
