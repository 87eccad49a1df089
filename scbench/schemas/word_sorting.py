"""Putting words in order."""

from typing import Annotated, Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortList, Text

Word = Annotated[Text, Field(min_length=1, max_length=40, pattern="^[A-Za-z]+$")]
Order = Literal["ascending", "descending"]


class Params(ParamsModel):
    """Words, as printed in the prompt, and the order to sort them in."""

    words: tuple[Word, ...] = Field(
        min_length=2,
        max_length=200,
        description="no two of them differ only in case",
    )
    order: Order = Field(description="ascending: from A to Z")
    case_sensitive: bool = Field(
        description="whether all uppercase letters come before lowercase ones"
    )


class Answer(AnswerModel):
    """The words in order."""

    answer: ShortList = Field(
        description="all words in order, as an array or separated by commas"
    )
