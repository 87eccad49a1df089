"""Prisms that are placed, and taken away."""

import math
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.pack_rectangular_prisms import (
    edges_of,
    overlapping,
    prisms_of,
)
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.base import WholeIndex
from scbench.schemas.pack_rectangular_prisms import Box, Params

BUDGET = 100
# Largest coordinate of a box.
_REACH = 10**6
# Sizes and boxes that are listed.
_SIZES = 40
_BOXES = 20
Boxes = Annotated[tuple[Box, ...], Field(min_length=1, max_length=50)]


class Place(Action):
    """Place prisms.

    {"action": "place", "boxes": [{"XyzMin": [0, 0, 0], "XyzMax": [2, 3, 1]}]}, of the form of an
    answer (at most 50), each of a size of which one is left, none overlapping another. You are told
    how many are `placed`, what is `left` ([edges, how many], the first 40 sizes), the smallest and
    the largest corner of the `bounds` of all, their `volume`, and how much of it is `filled`.
    """

    action: Literal["place"]
    boxes: Boxes


class Remove(Action):
    """Take prisms away, by places from 0: {"action": "remove", "places": [0, 3]}; see `place`."""

    action: Literal["remove"]
    places: Annotated[tuple[WholeIndex, ...], Field(min_length=1, max_length=50)]


class Ask(Action):
    """See twenty `boxes`, as two corners, from a place on: {"action": "ask", "first": 0}."""

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
        boxes = [
            {"XyzMin": list(low), "XyzMax": list(high)} for low, high in self._boxes
        ]
        return {"boxes": boxes}

    def look(self) -> Observation:
        """Return the number of boxes, the sizes that are left, and the bounds of all."""
        sizes = [edges_of(low, high) for low, high in self._boxes]
        remaining = [
            [list(size), count]
            for size, count in (self._listed - Counter(sizes)).items()
        ]
        low: list[int] = []
        high: list[int] = []
        if self._boxes:
            low = [min(box[0][axis] for box in self._boxes) for axis in range(3)]
            high = [max(box[1][axis] for box in self._boxes) for axis in range(3)]
        return {
            "placed": len(self._boxes),
            "left": remaining[:_SIZES],
            "bounds": [low, high],
            "volume": math.prod(edges_of(low, high)) if self._boxes else 0,
            "filled": sum(math.prod(size) for size in sizes),
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        if isinstance(action, Ask):
            return {"boxes": self._boxes[action.first : action.first + _BOXES]}
        if isinstance(action, Remove):
            if max(action.places) >= len(self._boxes):
                raise QueryError(f"there are {len(self._boxes)} prisms, counted from 0")
            gone = set(action.places)
            self._boxes = [box for i, box in enumerate(self._boxes) if i not in gone]
            return self.look()
        boxes = [(box.XyzMin, box.XyzMax) for box in action.boxes]
        for low, high in boxes:
            far = max(map(abs, low + high)) > _REACH
            if far or not self._listed[edges_of(low, high)]:
                raise QueryError(
                    "a box is no listed prism, or farther out than 1,000,000"
                )
        after = self._boxes + boxes
        if Counter(edges_of(low, high) for low, high in after) - self._listed:
            raise QueryError("of one of these sizes, not so many are left")
        pairs = overlapping(after, range(len(after)))
        if pairs:
            first, second = pairs[0]
            raise QueryError(f"{after[second]} overlaps {after[first]}")
        self._boxes = after
        return self.look()


# Last, because it names the classes above.
ACTIONS = (Place, Remove, Ask)
