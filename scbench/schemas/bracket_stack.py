"""Closing what is open in a sequence of brackets."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortList

# The kinds of brackets, in the order in which they come into use.
PAIRS = ("()", "[]", "{}", "<>")


class Params(ParamsModel):
    """A sequence of brackets, as the prompt prints it; something in it is still open."""

    sequence: str = Field(
        min_length=1,
        max_length=2_000,
        pattern=r"^[()\[\]{}<>]+$",
        description="brackets; every closing one closes the one opened last",
    )


class Answer(AnswerModel):
    """The brackets that close what is open."""

    answer: ShortList = Field(description="closing brackets, in order")
