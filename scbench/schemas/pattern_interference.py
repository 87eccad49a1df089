"""Continuing a sequence whose rules interfere with each other."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortList

# Rules that make a term, and rules that change it afterwards.
Making = Literal["add", "subtract", "multiply", "add_digits"]
Changing = Literal["every", "divisible", "repeat"]


class BaseRule(ParamsModel):
    """How a term is made from the one before it."""

    kind: Making
    amount: int = Field(
        ge=0, le=100, description="what is added, taken away or multiplied by"
    )


class Interference(ParamsModel):
    """When and by how much a new term is changed."""

    kind: Changing
    n: int = Field(
        ge=0, le=100, description="every n-th term, or terms that n divides; else 0"
    )
    amount: int = Field(
        ge=-100, le=100, description="what is added; negative to take away"
    )


class Params(ParamsModel):
    """A sequence: its first term and its rules."""

    start: int = Field(ge=0, le=999)
    modulus: int = Field(
        ge=10, le=1000, description="terms are remainders of a division by it"
    )
    base: tuple[BaseRule, ...] = Field(
        min_length=1, max_length=3, description="used in turn"
    )
    interference: tuple[Interference, ...] = Field(
        max_length=3, description="applied in order"
    )
    shown: int = Field(ge=3, le=60, description="number of terms that the prompt shows")
    asked: int = Field(ge=1, le=200, description="number of terms asked for")


class Answer(AnswerModel):
    """The terms that follow."""

    answer: ShortList = Field(
        description="whole numbers in order, as an array or with commas"
    )
