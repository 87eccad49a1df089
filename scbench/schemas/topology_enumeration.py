"""Corner patterns that force all classes of a square or polygon to meet."""

from typing import Annotated, Any

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from scbench.schemas.base import AnswerModel, Int, ParamsModel, Text, WholeNumber
from scbench.schemas.corner_labels import CORNERS

# Corner names by number of corners, counter-clockwise.
POLYGONS: dict[int, tuple[str, ...]] = {
    4: CORNERS,
    **{k: tuple("ABCDEFGH"[:k]) for k in (5, 6, 7, 8)},
}


class Params(ParamsModel):
    """A question about all corner patterns of a square, or a polygon of up to eight corners."""

    n_classes: Int = Field(
        ge=2, le=4, description="classes inside, each of them at some corner"
    )
    corner_order: tuple[Text, ...] = Field(
        min_length=4,
        max_length=8,
        description="corner names in the order of a pattern's labels",
    )
    known: Text = Field(
        default="",
        pattern=r"^([?xyzw]{4,8})?$",
        description="what is known of the pattern, in the same order: equal letters for equal "
        "labels, ? for unknown; empty if nothing is",
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Params":
        k = len(self.corner_order)
        if sorted(self.corner_order) != sorted(POLYGONS[k]):
            raise ValueError(
                f"corner_order must hold each of {', '.join(POLYGONS[k])} once"
            )
        if self.known and len(self.known) != k:
            raise ValueError(f"known must be empty or have {k} characters")
        return self

    @model_serializer(mode="wrap")
    def _plain(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The paper's questions are two facts each, and stay so when written out.
        fields: dict[str, Any] = handler(self)
        return {key: value for key, value in fields.items() if key != "known" or value}


class Answer(AnswerModel):
    """All patterns that force the meeting."""

    configs: tuple[
        Annotated[tuple[WholeNumber, ...], Field(min_length=4, max_length=8)], ...
    ] = Field(
        description="one entry per pattern: one label for each corner, in the order of the "
        "prompt"
    )
