"""Placing and removing prisms."""

import math
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.base.wording import counted
from scbench.graders.pack_rectangular_prisms import (
    edges_of,
    overlapping,
    prisms_of,
)
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.base import WholeIndex
from scbench.schemas.pack_rectangular_prisms import Box, Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100
# Largest coordinate of a box.
_REACH = 10**6
# Maximum sizes and boxes in an observation.
_SIZES = 40
_BOXES = 20
Boxes = Annotated[tuple[Box, ...], Field(min_length=1, max_length=50)]


class Place(Action):
    """Place prisms.

    {"action": "place", "boxes": [{"XyzMin": [0, 0, 0], "XyzMax": [2, 3, 1]}]}: at most 50 boxes in
    the form of an answer. Each has the size of a prism that is not placed yet, and none overlaps
    another. You get the number of boxes `placed`, the prisms `left` ([edges, number], at most 40
    sizes), the smallest and the largest corner of the `bounds` of all boxes, the `volume` of these
    bounds, and how much of it is `filled`.
    """

    action: Literal["place"]
    boxes: Boxes


class Remove(Action):
    """Remove the prisms at positions, counted from 0; you get the same result as after `place`.

    {"action": "remove", "places": [0, 3]}
    """

    action: Literal["remove"]
    places: Annotated[tuple[WholeIndex, ...], Field(min_length=1, max_length=50)]


class Ask(Action):
    """List twenty `boxes` from position `first`, as two corners: {"action": "ask", "first": 0}."""

    action: Literal["ask"]
    first: WholeIndex


class Play:
    """The prisms so far."""

    over = False

    def __init__(self, params: Params) -> None:
        self._listed = prisms_of(params).counts
        self._boxes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    @property
    def answer(self) -> dict[str, Any]:
        """The prisms so far."""
        boxes = []
        for low, high in self._boxes:
            box = {"XyzMin": list(low), "XyzMax": list(high)}
            boxes.append(box)
        return {"boxes": boxes}

    def look(self) -> Observation:
        """Return the number of boxes, the remaining sizes, and the bounds of all boxes."""
        sizes = [edges_of(low, high) for low, high in self._boxes]
        unplaced = self._listed - Counter(sizes)
        remaining = [[list(size), count] for size, count in unplaced.items()]
        low: list[int] = []
        high: list[int] = []
        if self._boxes:
            for axis in range(3):
                low.append(min(corner[axis] for corner, _ in self._boxes))
                high.append(max(corner[axis] for _, corner in self._boxes))
        return {
            "placed": len(self._boxes),
            "left": remaining[:_SIZES],
            "bounds": [low, high],
            "volume": math.prod(edges_of(low, high)) if self._boxes else 0,
            "filled": sum(math.prod(size) for size in sizes),
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry out an action; a `QueryError` changes nothing."""
        if isinstance(action, Ask):
            return {"boxes": self._boxes[action.first : action.first + _BOXES]}
        if isinstance(action, Remove):
            if max(action.places) >= len(self._boxes):
                raise QueryError(
                    f"only {counted(len(self._boxes), 'prism')} placed so far; positions count "
                    "from 0"
                )
            removed = set(action.places)
            self._boxes = [box for i, box in enumerate(self._boxes) if i not in removed]
            return self.look()
        boxes = [(box.XyzMin, box.XyzMax) for box in action.boxes]
        for low, high in boxes:
            far = max(map(abs, low + high)) > _REACH
            if far or not self._listed[edges_of(low, high)]:
                raise QueryError(
                    "a box is not a listed prism, or a coordinate is beyond 1,000,000"
                )
        after = self._boxes + boxes
        if Counter(edges_of(low, high) for low, high in after) - self._listed:
            raise QueryError("there are not enough prisms of one of these sizes left")
        pairs = overlapping(after, range(len(after)))
        if pairs:
            first, second = pairs[0]
            raise QueryError(f"box {after[second]} overlaps box {after[first]}")
        self._boxes = after
        return self.look()


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Place, Remove, Ask)
