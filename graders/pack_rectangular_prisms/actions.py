"""Prisms that are placed, and taken away."""

import math
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.pack_rectangular_prisms import overlapping
from scbench.graders.shared.interaction import (
    Action,
    Observation,
    QueryError,
    first_items,
)
from scbench.schemas.base import WholeIndex
from scbench.schemas.pack_rectangular_prisms import Box, Params

BUDGET = 100
_REACH = 10**6
_LEFT, _BOXES = 40, 20
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

    def __init__(self, params: Params) -> None:
        self._listed: Counter[tuple[int, ...]] = Counter()
        for line in params.prisms:
            self._listed[tuple(sorted(line.size))] += line.count
        self._boxes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def look(self) -> Observation:
        """Return what is placed, what is left, and what holds it all."""
        left = self._listed - Counter(_edges(*box) for box in self._boxes)
        low = [min(axis) for axis in zip(*(box[0] for box in self._boxes), strict=True)]
        high = [
            max(axis) for axis in zip(*(box[1] for box in self._boxes), strict=True)
        ]
        return {
            "placed": len(self._boxes),
            "left": [
                [list(size), count] for size, count in first_items(left.items(), _LEFT)
            ],
            "bounds": [low, high],
            "volume": math.prod(_edges(low, high)) if low else 0,
            "filled": sum(math.prod(_edges(*box)) for box in self._boxes),
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        if isinstance(action, Ask):
            return {"boxes": first_items(self._boxes[action.first :], _BOXES)}
        if isinstance(action, Remove):
            if max(action.places) >= len(self._boxes):
                raise QueryError(f"there are {len(self._boxes)} prisms, counted from 0")
            gone = set(action.places)
            self._boxes = [box for i, box in enumerate(self._boxes) if i not in gone]
            return self.look()
        after = self._boxes + [(box.XyzMin, box.XyzMax) for box in action.boxes]
        for low, high in after[len(self._boxes) :]:
            if (
                max(map(abs, (*low, *high))) > _REACH
                or not self._listed[_edges(low, high)]
            ):
                raise QueryError(
                    "a box is no listed prism, or farther out than 1,000,000"
                )
        if Counter(_edges(*box) for box in after) - self._listed:
            raise QueryError("of one of these sizes, not so many are left")
        for pair in overlapping(after, range(len(after)))[:1]:
            raise QueryError(f"{after[pair[1]]} overlaps {after[pair[0]]}")
        self._boxes = after
        return self.look()

    @property
    def answer(self) -> dict[str, Any]:
        """The prisms so far."""
        return {
            "boxes": [
                {"XyzMin": list(low), "XyzMax": list(high)} for low, high in self._boxes
            ]
        }

    over = False


def _edges(low: Any, high: Any) -> tuple[int, ...]:  # noqa: ANN401  (corners, as rows or tuples)
    return tuple(sorted(b - a for a, b in zip(low, high, strict=True)))


ACTIONS = (Place, Remove, Ask)
