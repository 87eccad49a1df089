"""Queries about a snake's box: whether a path is legal, and which cells are free at its end.

A path may begin anywhere. Observations do not reveal its score.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from scbench.graders.hyper_snake import Frame, frame_of
from scbench.graders.shared.grid_paths import (
    Cell,
    cell_text,
    reachable,
    side_neighbours,
)
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.base import WholeNumber
from scbench.schemas.hyper_snake import Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 30
# Maximum cells in a path, and maximum listed food items.
_MAX_CELLS = 5000
_FOOD = 12
Cells = tuple[Annotated[tuple[WholeNumber, ...], Field(max_length=16)], ...]


class Trail:
    """The legal part of a path, wherever it begins."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.frame: Frame = frame_of(params)
        self.cells: list[Cell] = []
        self._visited: set[int] = set()

    def follow(self, cells: Sequence[Cell]) -> str:
        """Continue through cells up to the first illegal one; return the reason."""
        for cell in cells:
            wrong = self.obstacle(cell)
            if wrong:
                place = f"cell {len(self.cells)} of the path (counting from 0)"
                return f"{place}, {cell_text(cell)}, {wrong}"
            self.cells.append(cell)
            self._visited.add(self.frame.grid.codes[cell])
        return ""

    def obstacle(self, cell: Cell) -> str:
        """Return why a cell cannot be next on the path; empty if it can."""
        dims = len(self.params.size)
        if len(cell) != dims:
            return f"does not have {dims} coordinates"
        code = self.frame.grid.codes.get(cell)
        if code is None:
            return "is outside the box"
        if code in self.frame.walls:
            return "is a wall"
        if code in self._visited:
            return "was visited before"
        if self.cells:
            last = self.frame.grid.codes[self.cells[-1]]
            if abs(code - last) not in self.frame.grid.strides:
                return f"is not one step from {list(self.cells[-1])}"
        return ""

    def ways_on(self) -> list[Cell]:
        """Return the cells that can be next on the path."""
        return self._free_neighbours(self.cells[-1])

    def look(self) -> Observation:
        """Return the end of the path, and the unvisited cells and food."""
        end = self.cells[-1]
        reached = reachable(end, self._free_neighbours) - {end}
        codes = self.frame.grid.codes
        uneaten = [
            food for food in self.params.food if codes[food] not in self._visited
        ]
        return {
            "length": len(self.cells),
            "end": list(end),
            "next": [list(cell) for cell in self.ways_on()],
            "unvisited": self.frame.free - len(self.cells),
            "reachable": len(reached),
            "food": {
                "left": len(uneaten),
                "reachable": sum(food in reached for food in uneaten),
                "first": [list(food) for food in uneaten[:_FOOD]],
            },
        }

    def _free_neighbours(self, cell: Cell) -> list[Cell]:
        """Return the neighbours of a cell that are neither walls nor visited."""
        codes = self.frame.grid.codes
        free = []
        for neighbour in side_neighbours(cell):
            code = codes.get(neighbour)
            blocked = code in self.frame.walls or code in self._visited
            if code is not None and not blocked:
                free.append(neighbour)
        return free


class Walk(Query):
    """See whether a path is legal, and which cells are free at its end.

    {"query": "walk", "path": [[0, 0], [0, 1]]}, with the cells of a path in order (at most
    5,000). The path may begin in any cell that is not a wall; it need not be the start. You see
    `wrong`, the first illegal cell and why (empty if all cells are legal). Of the path before
    that cell, you see: its `length` in cells; its last cell, `end`; the cells that can be `next`;
    the number of free cells that are `unvisited`, and how many of them are `reachable` from the
    end by legal moves; and `food`: how many food items are left, how many of them are reachable,
    and the first twelve.
    """

    query: Literal["walk"]
    path: Annotated[Cells, Field(min_length=1, max_length=_MAX_CELLS)]

    def observe(self, params: Params) -> Observation:
        """Return the legal part of the path, and the view from its end."""
        trail = Trail(params)
        wrong = trail.follow(self.path)
        if not trail.cells:
            raise QueryError(wrong)
        return {"wrong": wrong} | trail.look()


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (Walk,)
