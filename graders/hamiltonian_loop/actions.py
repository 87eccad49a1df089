"""Extending and shortening a path cell by cell."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.base.wording import counted
from scbench.graders.shared.grid_paths import Cell, cell_text, side_neighbours
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.base import Int, WholeIndexPair
from scbench.schemas.hamiltonian_loop import Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100
# Maximum rows and columns of the map.
_MAP = 40
# Maximum dead cells in an observation.
_DEAD = 12
Cells = Annotated[tuple[WholeIndexPair, ...], Field(min_length=1, max_length=100)]


class Go(Action):
    """Extend the path, which starts at the first free cell in reading order.

    {"action": "go", "cells": [[2, 1], [2, 2]]} lists the next cells in order, at most 100. You get
    the `length` and the `end` of the path, the cells that can come `next`, the number of
    `unvisited` cells, the first 12 `dead` cells, and a `map` of at most 40 x 40 cells with its top
    left cell as `corner`. An unvisited cell is dead if fewer than two of its sides lead to another
    unvisited cell or to an end of the path. On the map, S is the start of the path, E its end, and
    o its other cells; # is a blocked cell, and a dot is unvisited.
    """

    action: Literal["go"]
    cells: Cells


class Ask(Action):
    """See what a `go` would show, without moving: {"action": "ask", "cells": [[2, 1], [2, 2]]}."""

    action: Literal["ask"]
    cells: Cells


class Back(Action):
    """Remove the last cells of the path: {"action": "back", "count": 3}.

    The first cell stays. You get the same result as from `go`.
    """

    action: Literal["back"]
    count: Annotated[Int, Field(ge=1)]


class Play:
    """The path so far."""

    over = False

    def __init__(self, params: Params) -> None:
        self._size = params.size
        span = range(1, self._size + 1)
        all_cells = [(x, y) for y in span for x in span]
        blocked = set(params.blocked)
        # The first free cell in reading order starts the path.
        free = [cell for cell in all_cells if cell not in blocked]
        self._free: frozenset[Cell] = frozenset(free)
        self._path: list[Cell] = [free[0]]

    @property
    def answer(self) -> dict[str, Any]:
        """The path so far."""
        return {"steps": [{"xy": list(cell)} for cell in self._path]}

    def look(self) -> Observation:
        """Return the observation of the path so far."""
        return self._view(self._path)

    def step(self, action: Go | Ask | Back) -> Observation:
        """Carry out an action; a `QueryError` changes nothing."""
        path = list(self._path)
        if isinstance(action, Back):
            if action.count >= len(path):
                raise QueryError(
                    f"the path has {counted(len(path), 'cell')}, and the first one stays; "
                    f"at most {len(path) - 1} can be removed"
                )
            del path[-action.count :]
        else:
            self._extend(path, action.cells)
        if not isinstance(action, Ask):
            self._path = path
        return self._view(path)

    def _extend(self, path: list[Cell], cells: Sequence[Cell]) -> None:
        for cell in cells:
            if cell not in self._free or cell in path:
                raise QueryError(
                    f"{cell_text(cell)} is blocked, outside the grid or already visited"
                )
            if cell not in side_neighbours(path[-1]):
                raise QueryError(
                    f"{cell_text(cell)} does not share a side with {list(path[-1])}"
                )
            path.append(cell)

    def _view(self, path: list[Cell]) -> Observation:
        start = path[0]
        end = path[-1]
        unvisited = self._free.difference(path)
        near_ends = {*side_neighbours(start), *side_neighbours(end)}
        dead = []
        for cell in sorted(unvisited):
            ways = sum(near in unvisited for near in side_neighbours(cell))
            if ways + (cell in near_ends) < 2:
                dead.append(list(cell))
        onward = [cell for cell in side_neighbours(end) if cell in unvisited]
        # The end of the path is in the middle of the map, except near the sides of the grid.
        highest = self._size - _MAP + 1
        x, y = end
        west = max(1, min(x - _MAP // 2, highest))
        top = max(1, min(y - _MAP // 2, highest))
        marks = dict.fromkeys(path, "o") | dict.fromkeys(unvisited, ".")
        marks |= {start: "S", end: "E"}
        size = min(self._size, _MAP)
        rows = []
        for y in range(top, top + size):
            row = [marks.get((x, y), "#") for x in range(west, west + size)]
            rows.append("".join(row))
        return {
            "length": len(path),
            "end": list(end),
            "next": [list(cell) for cell in onward],
            "unvisited": len(unvisited),
            "dead": dead[:_DEAD],
            "corner": [west, top],
            "map": rows,
        }


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Go, Ask, Back)
