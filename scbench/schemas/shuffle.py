"""Tracking who has which thing through some swaps."""

from typing import Annotated, Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortAnswer, Text

Domain = Literal["dancing", "books", "soccer", "gifts", "balls"]
# The marker before each event; without one, the events are one paragraph.
AnchorFormat = Literal[
    "none", "number", "roman", "hex", "letter", "bullet", "ordinal", "step", "clock"
]
Name = Annotated[Text, Field(min_length=2, max_length=40, pattern="^[A-Za-z' -]+$")]
Person = Annotated[int, Field(ge=0, le=11)]
Wording = Annotated[int, Field(ge=0, le=99)]
# Whether two people swap, the two people, and the number of the sentence.
Event = tuple[bool, Person, Person, Wording]


class Params(ParamsModel):
    """A story of swaps, as printed in the prompt."""

    domain: Domain = Field(description="what is swapped")
    people: tuple[Name, ...] = Field(min_length=3, max_length=12)
    things: tuple[Name, ...] = Field(
        min_length=3,
        max_length=12,
        description="the thing that each person has at the start",
    )
    events: tuple[Event, ...] = Field(
        max_length=400,
        description="all events in order: whether the event is a swap, two people, and the "
        "number of the sentence",
    )
    asked: Person = Field(description="the person in the question")
    options: tuple[Name, ...] = Field(
        min_length=3,
        max_length=12,
        description="all things, in the order of their letters",
    )
    anchor_format: AnchorFormat = Field(description="marker before each event")
    opening: Wording = Field(description="number of the opening sentence")


class Answer(AnswerModel):
    """What the person has at the end."""

    answer: ShortAnswer = Field(description="the letter of an option")
