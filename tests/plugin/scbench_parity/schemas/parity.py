"""A bit string, and its parity."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, WholeNumber


class Params(ParamsModel):
    """The bit string."""

    bits: str = Field(pattern="^[01]+$")


class Answer(AnswerModel):
    """Its parity, and how the grader is to behave."""

    bit: WholeNumber
    mood: Literal[
        "", "hang", "spin", "die", "exit", "raise", "balloon", "slow", "step", "cannot"
    ] = ""
