"""Rectangles that are placed on the grid, and taken away."""

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

BUDGET = 150
_OPEN, _FITS = 100, 40
Line = Annotated[WholeIndex, Field(le=10**6)]
Rectangle = Annotated[tuple[Line, ...], Field(min_length=4, max_length=4)]
Rectangles = Annotated[tuple[Rectangle, ...], Field(min_length=1, max_length=50)]
Cells = set[tuple[int, ...]]


class Place(Action):
    """Place rectangles.

    {"action": "place", "rectangles": [[0, 0, 1, 0]]}, of the form of an answer (at most 50), which
    share no cell with each other or with those placed. You are told how many are `placed`, how
    many cells are `uncovered`, and the first 100 clues that are `open`, [column, row, number].
    """

    action: Literal["place"]
    rectangles: Rectangles


class Remove(Action):
    """Take some away: {"action": "remove", "rectangles": [[0, 0, 1, 0]]}; told is as by `place`."""

    action: Literal["remove"]
    rectangles: Rectangles


class Ask(Action):
    """See which rectangles could be a clue's own.

    {"action": "ask", "clue": [2, 0]}: how many (`count`) have its area, hold no other clue and
    share no cell with those placed, and the first 40 (`fits`). Whether one is right is not said.
    """

    action: Literal["ask"]
    clue: Annotated[tuple[Line, ...], Field(min_length=2, max_length=2)]


class Play:
    """The rectangles so far."""

    def __init__(self, params: Params) -> None:
        self._width, self._height = params.width, params.height
        at = product(range(params.height), range(params.width))
        self._clues = {(x, y): params.grid[y][x] for y, x in at if params.grid[y][x]}
        self._placed: dict[tuple[int, ...], Cells] = {}

    def _cells(self, left: int, top: int, right: int, bottom: int) -> Cells:
        if not (left <= right < self._width and top <= bottom < self._height):
            raise QueryError(
                f"{[left, top, right, bottom]} is no rectangle in the grid"
            )
        return set(product(range(left, right + 1), range(top, bottom + 1)))

    def look(self) -> Observation:
        """Return what is placed and what is left."""
        covered: Cells = set().union(*self._placed.values())
        clues = ([*at, n] for at, n in self._clues.items() if at not in covered)
        uncovered = self._width * self._height - len(covered)
        listed = first_items(clues, _OPEN)
        return {"placed": len(self._placed), "uncovered": uncovered, "open": listed}

    def _fits(self, clue: tuple[int, ...]) -> Observation:
        area = self._clues.get((clue[0], clue[1]))
        if area is None:
            raise QueryError(f"there is no clue at {list(clue)}")
        (x, y), rectangles = clue, []
        free_of = set(self._clues).union(*self._placed.values()) - {clue}
        for width in (w for w in range(1, min(area, self._width) + 1) if area % w == 0):
            right, bottom = width - 1, area // width - 1
            across = range(max(0, x - right), min(x, self._width - width) + 1)
            down = range(max(0, y - bottom), min(y, self._height - bottom - 1) + 1)
            for one in ([i, j, i + right, j + bottom] for i in across for j in down):
                rectangles += [one] * free_of.isdisjoint(self._cells(*one))
        return {"count": len(rectangles), "fits": first_items(rectangles, _FITS)}

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        if isinstance(action, Ask):
            return self._fits(action.clue)
        after = dict(self._placed)
        for one in action.rectangles:
            if isinstance(action, Place):
                if not self._cells(*one).isdisjoint(set().union(*after.values())):
                    raise QueryError(f"{list(one)} shares a cell with another")
                after[one] = self._cells(*one)
            elif after.pop(one, None) is None:
                raise QueryError(f"{list(one)} is not placed")
        self._placed = after
        return self.look()

    @property
    def answer(self) -> dict[str, Any]:
        """The rectangles so far."""
        return {"rectangles": [list(one) for one in self._placed]}

    over = False


ACTIONS = (Place, Remove, Ask)
