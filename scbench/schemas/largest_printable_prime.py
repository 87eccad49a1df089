"""A tower of printed digits that read as a prime number."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, Int, Number, ParamsModel, Text, WholeDigit

Digit = Annotated[Int, Field(ge=0, le=9)]
Orientation = Literal[
    "flat", "flippedX", "flippedY", "rotate180Z", "rotate90X", "rotate90Y"
]
# A seven-segment display.
Segments = Annotated[Text, Field(pattern="^a?b?c?d?e?f?g?$", min_length=2)]


class Params(ParamsModel):
    """Shapes of the digits, permitted digits, and the condition for full marks."""

    segments: Annotated[tuple[Segments, ...], Field(min_length=10, max_length=10)] = (
        Field(
            description="segments of the digits 0 to 9: a top, b upper right, c lower right, "
            "d bottom, e lower left, f upper left, g middle"
        )
    )
    digits: Annotated[tuple[Digit, ...], Field(min_length=1)] = Field(
        description="permitted digits, ascending"
    )
    orientations: Annotated[tuple[Orientation, ...], Field(min_length=1)] = Field(
        description="permitted orientations"
    )
    group: Int = Field(
        ge=2,
        le=4,
        description="digits per group, counted from the end; no two groups may be equal",
    )
    max_digits: Annotated[Int, Field(ge=1)] | None = Field(
        default=None,
        description="maximum number of digits, if there is a limit",
    )
    target_height_mm: Number = Field(
        ge=0,
        description="height that the tower must exceed for full marks, a multiple of 0.1 mm",
    )
    short_factor: Number = Field(
        ge=0,
        le=1,
        description="factor applied to the score of a tower that does not exceed the target "
        "height",
    )
    best_digits: Int = Field(ge=1, description="number of digits that scores 1")

    @model_validator(mode="after")
    def check_shapes(self) -> "Params":
        """Refuse unusual shapes of 1, 3 and 7, missing flat digits, and unsorted digits."""
        # The rules for upright digits assume these shapes.
        shapes = [self.segments[digit] for digit in (1, 3, 7)]
        if shapes != ["bc", "abcdg", "abc"]:
            raise ValueError(
                "segments must give 1, 3 and 7 their usual shapes: bc, abcdg and abc"
            )
        if "flat" not in self.orientations:
            raise ValueError("orientations must include flat")
        if sorted(set(self.digits)) != list(self.digits):
            raise ValueError("digits must be in ascending order, without repeats")
        return self


class PrintedDigit(AnswerModel):
    """One digit of the tower."""

    digit: WholeDigit = Field(description="value of the digit")
    orientation: Orientation = Field(description="orientation of the digit")


class Answer(AnswerModel):
    """The whole tower."""

    numberSequence: tuple[PrintedDigit, ...] = Field(  # noqa: N815  (the key of the paper)
        description="the digits from the bottom to the top, which is their order in the number"
    )
