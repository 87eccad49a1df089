"""Recommending the film that is most similar to those that somebody likes."""

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
    """Films that are liked, films to choose from, and how likeness is measured."""

    # Prompts with titles only print no genres and themes.
    unprinted: ClassVar = {"liked": 2, "choices": 2}

    liked: tuple[Film, ...] = Field(min_length=1, max_length=12)
    choices: tuple[Film, ...] = Field(min_length=2, max_length=12)
    genre_weight: int = Field(ge=0, le=100, description="points for a genre in common")
    theme_weight: int = Field(ge=0, le=100, description="points for a theme in common")
    template: Template = Field(description="how genres and themes are told")
    opening: int = Field(
        ge=0, le=99, description="which opening sentence the prompt has"
    )


class Answer(AnswerModel):
    """The film that is most like those that are liked."""

    answer: ShortAnswer = Field(description="the letter or the title of a choice")
