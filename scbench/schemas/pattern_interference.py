"""Continuing a sequence whose rules interfere with each other."""

from typing import Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortList

# Rules that make a term, and rules that change it afterwards.
Making = Literal["add", "subtract", "multiply", "add_digits"]
Changing = Literal["every", "divisible", "repeat"]


class BaseRule(ParamsModel):
    """A rule that makes a term from the one before it."""

    kind: Making
    amount: int = Field(
        ge=0,
        le=100,
        description="number to add, subtract or multiply by; 0 for digits",
    )


class Interference(ParamsModel):
    """A rule that changes some new terms."""

    kind: Changing
    n: int = Field(
        ge=0,
        le=100,
        description="n for every n-th term, or for multiples of n; otherwise 0",
    )
    amount: int = Field(
        ge=-100, le=100, description="number that is added; negative to subtract"
    )


class Params(ParamsModel):
    """A sequence: its first term and its rules."""

    start: int = Field(ge=0, le=999)
    modulus: int = Field(
        ge=10, le=1000, description="terms are remainders after division by this number"
    )
    base: tuple[BaseRule, ...] = Field(
        min_length=1,
        max_length=3,
        description="rules that take turns to make the next term",
    )
    interference: tuple[Interference, ...] = Field(
        max_length=3, description="rules that change some terms, applied in this order"
    )
    shown: int = Field(ge=3, le=60, description="number of terms that the prompt shows")
    asked: int = Field(ge=1, le=200, description="number of requested terms")


class Answer(AnswerModel):
    """The next terms."""

    answer: ShortList = Field(
        description="whole numbers in order, as an array or separated by commas"
    )
