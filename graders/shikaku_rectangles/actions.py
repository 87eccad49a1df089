"""Placing rectangles on the grid and removing them."""

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.interaction import (
    Action,
    Observation,
    QueryError,
    first_items,
)
from scbench.schemas.base import WholeIndex
from scbench.schemas.shikaku_rectangles import Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 150
# Maximum open clues and fitting rectangles in an observation.
_OPEN = 100
_FITS = 40
Line = Annotated[WholeIndex, Field(le=10**6)]
Rectangle = Annotated[tuple[Line, ...], Field(min_length=4, max_length=4)]
Rectangles = Annotated[tuple[Rectangle, ...], Field(min_length=1, max_length=50)]
Cells = set[tuple[int, ...]]


class Place(Action):
    """Place rectangles.

    {"action": "place", "rectangles": [[0, 0, 1, 0]]} places at most 50, written as in an answer.
    They must not overlap each other or rectangles placed before. You get the number of `placed`
    rectangles, the number of `uncovered` cells, and the first 100 `open` clues, which no rectangle
    covers, as [column, row, number].
    """

    action: Literal["place"]
    rectangles: Rectangles


class Remove(Action):
    """Remove placed rectangles: {"action": "remove", "rectangles": [[0, 0, 1, 0]]}.

    You get the same result as from `place`.
    """

    action: Literal["remove"]
    rectangles: Rectangles


class Ask(Action):
    """List the rectangles that fit a clue: {"action": "ask", "clue": [2, 0]}.

    They contain the clue, have its area, contain no other clue and overlap no placed rectangle.
    You get their number as `count`, and the first 40 as `fits`. A rectangle that fits need not be
    part of the solution.
    """

    action: Literal["ask"]
    clue: Annotated[tuple[Line, ...], Field(min_length=2, max_length=2)]


class Play:
    """The rectangles so far."""

    over = False

    def __init__(self, params: Params) -> None:
        self._width = params.width
        self._height = params.height
        self._clues: dict[tuple[int, ...], int] = {}
        for y, row in enumerate(params.grid):
            for x, number in enumerate(row):
                if number:
                    self._clues[x, y] = number
        self._cells_of: dict[tuple[int, ...], Cells] = {}

    @property
    def answer(self) -> dict[str, Any]:
        """The rectangles so far."""
        return {"rectangles": [list(rectangle) for rectangle in self._cells_of]}

    def look(self) -> Observation:
        """Return the number of rectangles, of uncovered cells, and the open clues."""
        covered = union_of(self._cells_of)
        open_clues = []
        for cell, number in self._clues.items():
            is_open = cell not in covered
            if is_open:
                open_clues.append([*cell, number])
        return {
            "placed": len(self._cells_of),
            "uncovered": self._width * self._height - len(covered),
            "open": first_items(open_clues, _OPEN),
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry out an action; a `QueryError` changes nothing."""
        if isinstance(action, Ask):
            return self._possible(action.clue)
        after = dict(self._cells_of)
        for rectangle in action.rectangles:
            if isinstance(action, Remove):
                if after.pop(rectangle, None) is None:
                    raise QueryError(f"{list(rectangle)} is not placed")
                continue
            cells = self._cells(*rectangle)
            if not cells.isdisjoint(union_of(after)):
                raise QueryError(f"{list(rectangle)} overlaps another rectangle")
            after[rectangle] = cells
        self._cells_of = after
        return self.look()

    def _possible(self, clue: tuple[int, ...]) -> Observation:
        """Return the rectangles that fit a clue, see `Ask`."""
        area = self._clues.get(clue)
        if area is None:
            raise QueryError(f"there is no clue at {list(clue)}")
        x, y = clue
        occupied = (self._clues.keys() | union_of(self._cells_of)) - {clue}
        rectangles = []
        for width in range(1, min(area, self._width) + 1):
            if area % width:
                continue
            height = area // width
            # Every place where a rectangle of this shape contains the clue.
            lefts = range(max(0, x - width + 1), min(x, self._width - width) + 1)
            tops = range(max(0, y - height + 1), min(y, self._height - height) + 1)
            for left, top in product(lefts, tops):
                corners = [left, top, left + width - 1, top + height - 1]
                if occupied.isdisjoint(self._cells(*corners)):
                    rectangles.append(corners)
        return {"count": len(rectangles), "fits": first_items(rectangles, _FITS)}

    def _cells(self, left: int, top: int, right: int, bottom: int) -> Cells:
        if not (left <= right < self._width and top <= bottom < self._height):
            raise QueryError(
                f"{[left, top, right, bottom]} is not a rectangle inside the grid"
            )
        return set(product(range(left, right + 1), range(top, bottom + 1)))


def union_of(cells_of: Mapping[tuple[int, ...], Cells]) -> Cells:
    """Return all cells of some rectangles."""
    return set().union(*cells_of.values())


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Place, Remove, Ask)
