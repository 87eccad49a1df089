"""Recommending the film that has the most in common with some liked films."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from scbench.schemas.base import AnswerModel, ParamsModel, ShortAnswer, Text

# Genres and themes in the prompt: in lists, in sentences, or not at all.
Template = Literal["list", "prose", "titles"]
Title = Annotated[Text, Field(min_length=1, max_length=120)]
Year = Annotated[int, Field(ge=1890, le=2100)]
Tags = Annotated[
    tuple[Annotated[Text, Field(min_length=1, max_length=40)], ...],
    Field(max_length=12),
]
# Title, year, genres and themes.
Film = tuple[Title, Year, Tags, Tags]


class Params(ParamsModel):
    """Liked films, films to choose from, and how they are compared."""

    # Prompts with titles only print no genres and themes.
    unprinted: ClassVar = {"liked": 2, "choices": 2}

    liked: tuple[Film, ...] = Field(min_length=1, max_length=12)
    choices: tuple[Film, ...] = Field(min_length=2, max_length=12)
    genre_weight: int = Field(
        ge=0, le=100, description="points for each genre in common"
    )
    theme_weight: int = Field(
        ge=0, le=100, description="points for each theme in common"
    )
    template: Template = Field(description="how the prompt prints genres and themes")
    opening: int = Field(ge=0, le=99, description="number of the opening sentence")


class Answer(AnswerModel):
    """The film that has the most in common with the liked films."""

    answer: ShortAnswer = Field(description="the letter or the title of a choice")
