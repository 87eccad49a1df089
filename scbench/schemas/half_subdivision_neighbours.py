"""Neighbours of one leaf in a square or cube that is divided by repeated halving."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from scbench.schemas.base import AnswerModel, ParamsModel, Text

Axis = Literal["x", "y", "z"]
# The axes of each dimension.
AXES: dict[str, tuple[Axis, ...]] = {"2D": ("x", "y"), "3D": ("x", "y", "z")}
Leaf = Annotated[Text, Field(pattern=r"^[01]+$")]
Label = Annotated[Text, Field(pattern=r"^(?:[01]+)?$")]


class Params(ParamsModel):
    """A tree of halvings and one of its leaves."""

    dimension: Literal["2D", "3D"] = Field(
        description="2D: the unit square; 3D: the unit cube"
    )
    axis_cycle: tuple[Axis, ...] = Field(
        min_length=1,
        description="a box at depth d is halved along the axis at index d modulo the length of "
        "this list",
    )
    leaves: tuple[Leaf, ...] = Field(
        min_length=2,
        description="path of every leaf from the root, depth first: 0 is the lower half, 1 the "
        "upper half",
    )
    target: Leaf = Field(description="the leaf whose neighbours are requested")

    @model_validator(mode="after")
    def check_tree(self) -> "Params":
        """Refuse an axis outside the dimension, an unknown target, and an incomplete tree."""
        if not set(self.axis_cycle) <= set(AXES[self.dimension]):
            raise ValueError("axis_cycle must not contain z: a square has only x and y")
        if self.target not in self.leaves:
            raise ValueError(f"the target {self.target!r} must be one of the leaves")
        # Read as binary fractions, the leaves of a whole tree tile [0, 1) from left to right. Here
        # they are in units of the deepest leaf.
        depth = max(map(len, self.leaves))
        end = 0
        for leaf in self.leaves:
            levels_below = depth - len(leaf)
            if int(leaf, 2) << levels_below != end:
                raise ValueError(
                    f"leaf {leaf!r} does not start where the previous leaf ends; list all "
                    "leaves of the tree in order"
                )
            end += 1 << levels_below
        if end != 1 << depth:
            raise ValueError("leaves are missing at the end of the tree")
        return self


class Answer(AnswerModel):
    """All neighbours of the target."""

    neighbors: tuple[Label, ...] = Field(
        description="the label of every neighbouring leaf once, as a string of 0s and 1s, in any "
        "order"
    )
