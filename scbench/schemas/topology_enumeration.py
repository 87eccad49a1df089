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
    5: tuple("ABCDE"),
    6: tuple("ABCDEF"),
    7: tuple("ABCDEFG"),
    8: tuple("ABCDEFGH"),
}


class Params(ParamsModel):
    """A question about all corner patterns of a polygon with four to eight corners."""

    n_classes: Int = Field(
        ge=2,
        le=4,
        description="number of classes inside; each occurs at one corner or more",
    )
    corner_order: tuple[Text, ...] = Field(
        min_length=4,
        max_length=8,
        description="corner names in the order of a pattern's labels",
    )
    known: Text = Field(
        default="",
        pattern=r"^([?xyzw]{4,8})?$",
        description="known part of the pattern, in the same order: equal letters for equal "
        "labels, ? for unknown; empty if nothing is known",
    )

    @model_validator(mode="after")
    def check_corners(self) -> "Params":
        """Refuse corner names that do not belong to the polygon, and patterns of wrong length."""
        count = len(self.corner_order)
        corners = POLYGONS[count]
        if sorted(self.corner_order) != sorted(corners):
            raise ValueError(
                f"corner_order must contain each of {', '.join(corners)} once"
            )
        if self.known and len(self.known) != count:
            raise ValueError(f"known must be empty or have {count} characters")
        return self

    @model_serializer(mode="wrap")
    def write_without_default(
        self, handler: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        """Leave out ``known`` if it is empty."""
        # The paper's questions have two parameters each, and their rows must not change.
        fields: dict[str, Any] = handler(self)
        if not fields.get("known"):
            fields.pop("known", None)
        return fields


class Answer(AnswerModel):
    """All patterns that force the classes to meet."""

    configs: tuple[
        Annotated[tuple[WholeNumber, ...], Field(min_length=4, max_length=8)], ...
    ] = Field(
        description="one entry per pattern: one label for each corner, in the order of the "
        "prompt"
    )
