"""But-for causation: would the outcome have happened without another event?"""

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from scbench.schemas.base import AnswerModel, Index, ParamsModel, Text, WholeNumber

# Whether the outcome would have happened without one event, or which events were necessary.
Question = Literal["but_for", "necessary_set"]
_Word = Annotated[Text, Field(min_length=1, max_length=60)]
# Subject, infinitive, present, past, participle.
_Phrase = tuple[_Word, _Word, _Word, _Word, _Word]
# An event, and whether it happens.
_Literal = tuple[Index, StrictBool]
_Rule = tuple[Index, Literal["all", "any"], tuple[_Literal, ...]]


class Params(ParamsModel):
    """A story of events and rules, as the prompt prints it."""

    story: Annotated[Text, Field(pattern="^[a-z_]+$", max_length=40)] = Field(
        description="id of the setting"
    )
    opening: Annotated[Text, Field(min_length=1, max_length=200)] = Field(
        description="first sentence of the story"
    )
    events: tuple[_Phrase, ...] = Field(
        min_length=2,
        max_length=60,
        description="each event in words: the subject, then the infinitive, present, past and "
        "participle of the verb",
    )
    rules: tuple[_Rule, ...] = Field(
        min_length=1,
        max_length=60,
        description="an event, whether all or any of its conditions are needed, and the "
        "conditions. A condition is an event, and whether it must happen or must not "
        "happen. The first event happens if and only if its conditions are met",
    )
    told: tuple[_Literal, ...] = Field(
        min_length=1,
        max_length=60,
        description="events without a rule, and whether they happened",
    )
    outcome: Index = Field(description="the event that the question is about")
    question: Question = Field(
        description="a question about one event, or about all necessary events"
    )
    candidates: tuple[Index, ...] = Field(
        min_length=1,
        max_length=26,
        description="the event that is removed, or all events to choose from",
    )
    style: Index = Field(description="number that selects the wording of the prompt")


class Answer(AnswerModel):
    """Yes or no, or the letters of the necessary events."""

    answer: StrictBool | WholeNumber | Text | tuple[WholeNumber | Text, ...] = Field(
        description="yes or no; or the letters of all necessary events, as a list"
    )
