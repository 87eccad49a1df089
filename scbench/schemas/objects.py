"""Counting the things in a list that belong to certain groups."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortAnswer, Text

# The marker before each entry; without one, the entries are one sentence.
AnchorFormat = Literal["none", "number", "roman", "hex", "letter", "bullet"]
Name = Annotated[
    Text, Field(min_length=1, max_length=40, pattern="^[a-z]+(?: [a-z]+)*$")
]
Adjective = Annotated[Text, Field(max_length=40, pattern="^[a-z]*$")]
Quantity = Annotated[
    Text, Field(min_length=1, max_length=60, pattern="^(?:[0-9]+|[a-z -]+)$")
]
# A number in digits or words, an adjective or nothing, the noun, and its group.
Entry = tuple[Quantity, Adjective, Name, Name]


class Params(ParamsModel):
    """A list of things, as printed in the prompt, and the groups to count."""

    # Printing the groups in the prompt would give away the answer.
    unprinted: ClassVar = {"entries": 3}

    entries: tuple[Entry, ...] = Field(
        min_length=1,
        max_length=400,
        description="quantity, adjective or empty text, noun, and the group of the noun",
    )
    groups: tuple[Name, ...] = Field(
        min_length=1, max_length=20, description="groups that are counted"
    )
    anchor_format: AnchorFormat = Field(description="marker before each entry")
    opening: int = Field(ge=0, le=99, description="number of the opening sentence")


class Answer(AnswerModel):
    """The number of things in the groups."""

    answer: ShortAnswer = Field(description="a whole number")
