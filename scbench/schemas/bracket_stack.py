"""Closing the open brackets of a sequence."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortList

# The kinds of brackets, in order of introduction.
PAIRS = ("()", "[]", "{}", "<>")


class Params(ParamsModel):
    """A sequence of brackets, as the prompt prints it, with at least one open bracket."""

    sequence: str = Field(
        min_length=1,
        max_length=2_000,
        pattern=r"^[()\[\]{}<>]+$",
        description="brackets; every closing bracket closes the last one still open",
    )


class Answer(AnswerModel):
    """The brackets that close all open ones."""

    answer: ShortList = Field(description="closing brackets, in order")
