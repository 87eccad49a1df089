"""Boolean logic: the truth value of an expression."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortTruth

# Format of truth values in the prompt.
Format = Literal["TRUE_FALSE", "T_F", "ON_OFF", "BINARY", "YES_NO"]

# The words for true and false in each format.
LITERALS: dict[Format, tuple[str, str]] = {
    "TRUE_FALSE": ("TRUE", "FALSE"),
    "T_F": ("T", "F"),
    "ON_OFF": ("ON", "OFF"),
    "BINARY": ("1", "0"),
    "YES_NO": ("YES", "NO"),
}


class Params(ParamsModel):
    """One or more expressions, as printed in the prompt."""

    expression: str = Field(
        min_length=1,
        max_length=40_000,
        pattern=r"^[A-Z01() ]+(?:\n[A-Z01() ]+)*$",
        description="truth values in this format, NOT, AND, XOR, OR and brackets; one expression "
        "on each line",
    )
    format: Format = Field(description="how truth values are written")


class Answer(AnswerModel):
    """The truth values of all expressions."""

    answer: ShortTruth = Field(
        description="the truth value in the prompt's words; separate several values with spaces"
    )
