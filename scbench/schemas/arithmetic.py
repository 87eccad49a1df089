"""Arithmetic: the value of an expression."""

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortNumber


class Params(ParamsModel):
    """An expression, as the prompt prints it."""

    expression: str = Field(
        min_length=1,
        max_length=10_000,
        # The grader evaluates this grammar itself; nothing is executed.
        pattern=r"^[0-9+\-*/() ]+$",
        description="whole numbers, + - * / and brackets; a minus sign at the start, after an "
        "operator or after an opening bracket is the sign of the number after it",
    )


class Answer(AnswerModel):
    """The value of the expression."""

    answer: ShortNumber = Field(
        description='the value: a whole number, or a fraction such as "2/3" as a string'
    )
