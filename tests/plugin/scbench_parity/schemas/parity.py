"""A bit string, and its parity."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, WholeNumber

MOODS = "^(|hang|spin|die|exit|raise|balloon|slow|cannot|(gate|step) /.*)$"


class Params(ParamsModel):
    """The bit string."""

    bits: str = Field(pattern="^[01]+$")


class Answer(AnswerModel):
    """Its parity, and the behaviour of the grader."""

    bit: WholeNumber
    mood: str = Field("", pattern=MOODS)
