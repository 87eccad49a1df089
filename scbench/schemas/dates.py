"""Dates: the date of an event in a short story, which depends on other dates."""

from typing import Annotated, Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, Index, Int, ParamsModel, ShortAnswer, Text

# Dates in the story: 03/05/2024, March 5, 2024, the 65th day of 2024, or a number of days before or
# after 03/01/2024.
DateFormat = Literal["MM_DD_YYYY", "NATURAL_LANGUAGE", "ORDINAL_DAY", "RELATIVE_OFFSET"]

# Kinds of steps from one event to another; see `Params.steps`.
StepKind = Literal[
    "days",
    "weeks",
    "months",
    "years",
    "counted_day",
    "weekday_after",
    "weekday_before",
    "month_last",
    "month_first",
]

_Phrase = Annotated[Text, Field(min_length=1, max_length=200)]
# The first full year of the Gregorian calendar, and a last year that leaves room for offsets.
_Year = Annotated[Int, Field(ge=1583, le=9000)]
_Month = Annotated[Int, Field(ge=1, le=12)]
_Day = Annotated[Int, Field(ge=1, le=31)]
_Amount = Annotated[Int, Field(ge=-4000, le=4000)]


class Params(ParamsModel):
    """A story about some events, as printed in the prompt. The bounds keep all years in range."""

    story: Annotated[Text, Field(pattern="^[a-z_]+$", max_length=40)] = Field(
        description="id of the scenario"
    )
    opening: _Phrase = Field(
        description="first sentence of the story, or one for each of two scenarios"
    )
    events: tuple[_Phrase, ...] = Field(
        min_length=1, max_length=20, description="names of the events"
    )
    date_format: DateFormat = Field(description="how the story writes dates")
    given: tuple[tuple[Index, _Year, _Month, _Day, _Amount], ...] = Field(
        min_length=1,
        max_length=20,
        description="events with a date in the story: event, year, month, day, and the number of "
        "days from that date to the event. If the story states a day of the year, "
        "that date is January 1, and the number for January 1 is 0",
    )
    steps: tuple[tuple[Index, StepKind, _Amount, Index], ...] = Field(
        max_length=20,
        description="event, kind, amount, and the other event, from which it is counted. days, "
        "weeks, months, years: this amount later, or earlier if negative; "
        "counted_day: the day with this number if the day of the other event is "
        "number 1; weekday_after, weekday_before: the first such weekday strictly "
        "after, or the last one strictly before (0 for Monday); month_last: the last "
        "day of the same month; month_first: the first day of the next month",
    )
    asked: Index = Field(description="the event whose date is requested")
    style: Index = Field(description="number that selects the wording of the prompt")


class Answer(AnswerModel):
    """The date of the event."""

    answer: ShortAnswer = Field(description="the date as MM/DD/YYYY")
