"""Counting letters in some words of a row; other words do not count."""

from typing import Annotated

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortAnswer, Text

Word = Annotated[Text, Field(min_length=1, max_length=40, pattern="^[A-Za-z]+$")]


class Params(ParamsModel):
    """A row of words, as printed in the prompt."""

    words: tuple[tuple[Word, bool], ...] = Field(
        min_length=1,
        max_length=200,
        description="each word, and whether its letters are counted",
    )
    letters: str = Field(
        min_length=1,
        max_length=3,
        pattern="^[a-z]+$",
        description="the letters to count",
    )


class Answer(AnswerModel):
    """How often the letters occur in the marked words."""

    answer: ShortAnswer = Field(description="a whole number")
