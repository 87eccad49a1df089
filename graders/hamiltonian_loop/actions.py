"""A tour that is laid cell by cell, and taken back."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.grid_paths import Cell, cell_text, side_neighbours
from scbench.graders.shared.interaction import (
    Action,
    Observation,
    QueryError,
    first_items,
)
from scbench.schemas.base import Int, WholeIndexPair
from scbench.schemas.hamiltonian_loop import Params

BUDGET = 100
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

    def __init__(self, params: Params) -> None:
        span = range(1, params.size + 1)
        blocked = set(params.blocked)
        self._size = params.size
        self._free = {
            cell: None for y in span for x in span if (cell := (x, y)) not in blocked
        }
        self._path: list[Cell] = [next(iter(self._free))]

    def look(self, path: list[Cell] | None = None) -> Observation:
        """Return where a path, or that so far, is and what is left."""
        path = path or self._path
        start, end = path[0], path[-1]
        left = self._free.keys() - set(path)
        ways = {
            cell: [o for o in side_neighbours(cell) if o in left]
            for cell in (*left, end)
        }
        ends = {*side_neighbours(start), *side_neighbours(end)}
        dead = sorted(cell for cell in left if len(ways[cell]) + (cell in ends) < 2)
        west, top = (max(1, min(c - _MAP // 2, self._size - _MAP + 1)) for c in end)
        marks = (
            dict.fromkeys(path, "o") | {start: "S", end: "E"} | dict.fromkeys(left, ".")
        )
        span = range(min(self._size, _MAP))
        return {
            "length": len(path),
            "end": [*end],
            "next": [[*cell] for cell in ways[end]],
            "unvisited": len(left),
            "dead": [[*cell] for cell in first_items(dead, _DEAD)],
            "corner": [west, top],
            "map": [
                "".join(marks.get((west + i, top + j), "#") for i in span) for j in span
            ],
        }

    def step(self, action: Go | Ask | Back) -> Observation:
        """Carry it out; after a `QueryError` everything is as it was."""
        path = list(self._path)
        if isinstance(action, Back):
            if action.count >= len(path):
                raise QueryError(f"the path has {len(path)} cells, and the first stays")
            del path[-action.count :]
        for cell in () if isinstance(action, Back) else action.cells:
            if cell not in self._free or cell in path:
                raise QueryError(
                    f"{cell_text(cell)} is blocked, outside the grid or visited"
                )
            if cell not in side_neighbours(path[-1]):
                raise QueryError(f"{cell_text(cell)} is not beside {list(path[-1])}")
            path.append(cell)
        if not isinstance(action, Ask):
            self._path = path
        return self.look(path)

    @property
    def answer(self) -> dict[str, Any]:
        """The path so far."""
        return {"steps": [{"xy": list(cell)} for cell in self._path]}

    over = False


ACTIONS = (Go, Ask, Back)
