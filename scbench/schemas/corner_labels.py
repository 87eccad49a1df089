"""Names and orders of corners and sides, for the schemas of the square tasks."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from scbench.schemas.base import Int

Corner = Literal["bottom-left", "bottom-right", "top-right", "top-left"]
Side = Literal["bottom", "right", "top", "left"]
# The corners counter-clockwise: the ring.
CORNERS: tuple[Corner, ...] = ("bottom-left", "bottom-right", "top-right", "top-left")
# The sides counter-clockwise; side i joins corners i and i + 1 of the ring.
SIDES: tuple[Side, ...] = ("bottom", "right", "top", "left")
SequenceT = TypeVar("SequenceT", bound=Sequence[str])

_FOUR = Field(min_length=4, max_length=4)


def no_repeats(names: SequenceT) -> SequenceT:
    """Return names unchanged; refuse repeated ones.

    Raises:
        ValueError: a name occurs twice.
    """
    if len(set(names)) < len(names):
        raise ValueError("must not contain duplicate names")
    return names


# The order in which a square's corner labels are written.
CornerOrder = Annotated[tuple[Corner, ...], _FOUR, AfterValidator(no_repeats)]
# The sides in the order of their indices.
SideOrder = Annotated[tuple[Side, ...], _FOUR, AfterValidator(no_repeats)]
# Corner labels of one or more squares; different integers are different classes.
Squares = Annotated[tuple[Annotated[tuple[Int, ...], _FOUR], ...], Field(min_length=1)]
