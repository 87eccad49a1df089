"""A tour that is laid cell by cell, and taken back."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.grid_paths import Cell, cell_text, side_neighbours
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.base import Int, WholeIndexPair
from scbench.schemas.hamiltonian_loop import Params

BUDGET = 100
# Side of the map, and dead cells that are listed.
_MAP = 40
_DEAD = 12
Cells = Annotated[tuple[WholeIndexPair, ...], Field(min_length=1, max_length=100)]


class Go(Action):
    """Lay the path on; it begins in the first free cell, row by row.

    {"action": "go", "cells": [[2, 1], [2, 2]]}, with the next cells in order (at most 100). You are
    told the path's `length`, its `end`, the cells it can go on to `next`, how many are `unvisited`,
    those of them that are `dead` (fewer than two sides of theirs lead to another or to an end of
    the path; the first twelve), and a `map` of at most 40 x 40 cells, whose top left one is
    `corner`: S and E are the ends of the path, o its other cells, # is blocked.
    """

    action: Literal["go"]
    cells: Cells


class Ask(Action):
    """See what `go` would tell, and lay nothing: {"action": "ask", "cells": [[2, 1], [2, 2]]}."""

    action: Literal["ask"]
    cells: Cells


class Back(Action):
    """Take back the last cells, not the first: {"action": "back", "count": 3}; see `go`."""

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
        # In the order of rows, the first of them begins the path.
        free = [cell for cell in all_cells if cell not in blocked]
        self._free: frozenset[Cell] = frozenset(free)
        self._path: list[Cell] = [free[0]]

    @property
    def answer(self) -> dict[str, Any]:
        """The path so far."""
        return {"steps": [{"xy": list(cell)} for cell in self._path]}

    def look(self) -> Observation:
        """Return the view of the path so far."""
        return self._view(self._path)

    def step(self, action: Go | Ask | Back) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        path = list(self._path)
        if isinstance(action, Back):
            if action.count >= len(path):
                raise QueryError(f"the path has {len(path)} cells, and the first stays")
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
                    f"{cell_text(cell)} is blocked, outside the grid or visited"
                )
            if cell not in side_neighbours(path[-1]):
                raise QueryError(f"{cell_text(cell)} is not beside {list(path[-1])}")
            path.append(cell)

    def _view(self, path: list[Cell]) -> Observation:
        start, end = path[0], path[-1]
        unvisited = self._free.difference(path)
        near_ends = {*side_neighbours(start), *side_neighbours(end)}
        dead = []
        for cell in sorted(unvisited):
            ways = sum(beside in unvisited for beside in side_neighbours(cell))
            if ways + (cell in near_ends) < 2:
                dead.append(list(cell))
        onward = [cell for cell in side_neighbours(end) if cell in unvisited]
        # The end of the path is in the middle, but at the sides of the grid.
        highest = self._size - _MAP + 1
        west, top = (max(1, min(at - _MAP // 2, highest)) for at in end)
        marks = dict.fromkeys(path, "o") | dict.fromkeys(unvisited, ".")
        marks |= {start: "S", end: "E"}
        span = range(min(self._size, _MAP))
        return {
            "length": len(path),
            "end": list(end),
            "next": [list(cell) for cell in onward],
            "unvisited": len(unvisited),
            "dead": dead[:_DEAD],
            "corner": [west, top],
            "map": [
                "".join(marks.get((west + i, top + j), "#") for i in span) for j in span
            ],
        }


# Last, because it names the classes above.
ACTIONS = (Go, Ask, Back)
