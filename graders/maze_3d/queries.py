"""Queries about a maze: which moves are legal, and which cells can be reached.

Observations do not reveal whether there is only one route or whether the maze follows
the other rules.
"""

from typing import Annotated, Literal

from pydantic import Field

from scbench.graders.maze_3d import (
    CHARACTERS,
    Graph,
    find_routes,
    height_of,
    move_graph,
)
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.base import Text, WholeIndexPair
from scbench.schemas.maze_3d import Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 20
# Maximum number of rows in a maze of a query, and of characters in a row.
_MOST_ROWS = 60
# Rows and columns of a map.
_WINDOW = 40
Maze = Annotated[
    tuple[Annotated[Text, Field(max_length=_MOST_ROWS)], ...],
    Field(max_length=_MOST_ROWS),
]


def read_maze(params: Params, maze: tuple[str, ...]) -> tuple[list[int], Graph]:
    """Return the heights of a maze, row by row, and its moves.

    Raises:
        QueryError: the maze is not a square of permitted characters.
    """
    n = params.size
    if len(maze) != n or any(len(row) != n for row in maze):
        raise QueryError(f"the maze must have {n} rows of {n} characters")
    cells = "".join(maze)
    if not CHARACTERS.issuperset(cells):
        raise QueryError(
            "every character of the maze must be a digit from 0 to 9, A or B"
        )
    heights = [height_of(params, character) for character in cells]
    return heights, move_graph(n, heights)


def cell_number(n: int, place: tuple[int, ...]) -> int:
    """Return the number of the cell at [row, column].

    Raises:
        QueryError: the cell is not in the maze.
    """
    row, column = place
    if max(row, column) >= n:
        raise QueryError(f"a cell is [row, column], each in 0..{n - 1}")
    return row * n + column


class Walk(Query):
    """See whether moves are legal in a maze, and which moves are possible at their end.

    {"query": "walk", "maze": ["A12", ...], "path": [[0, 0], [0, 1]]}, with all rows of the maze
    from the top, and cells as [row, column], counting from 0 (at most 5,000 cells). The maze may
    be unfinished, with any number of A and B. You see: `wrong`, the first move that is not legal
    and why (empty if all are legal); the `end` of the path before that move, and the `height`
    there; and the cells that can be reached from there by a step (`steps`) or a jump (`jumps`).
    """

    query: Literal["walk"]
    maze: Maze
    path: Annotated[tuple[WholeIndexPair, ...], Field(min_length=1, max_length=5000)]

    def observe(self, params: Params) -> Observation:
        """Return the legal prefix of the moves, and the possible moves from where it ends."""
        n = params.size
        heights, graph = read_maze(params, self.maze)
        cells = [cell_number(n, place) for place in self.path]
        end = cells[0]
        wrong = ""
        for i, cell in enumerate(cells[1:], start=1):
            if cell not in graph[end]:
                wrong = (
                    f"cell {i} of the path (counting from 0), {list(self.path[i])} with height "
                    f"{heights[cell]}, is neither a step nor a jump from {[*divmod(end, n)]} with "
                    f"height {heights[end]}"
                )
                break
            end = cell
        steps: list[list[int]] = []
        jumps: list[list[int]] = []
        for cell in sorted(graph[end]):
            moves = steps if abs(cell - end) in {1, n} else jumps
            moves.append(list(divmod(cell, n)))
        return {
            "wrong": wrong,
            "end": list(divmod(end, n)),
            "height": heights[end],
            "steps": steps,
            "jumps": jumps,
        }


class Reach(Query):
    """See which cells can be reached from a cell of a maze.

    {"query": "reach", "maze": ["A12", ...], "start": [0, 0], "corner": [0, 0]}, with the maze and
    cells as in "walk". You see: `cells`, the number of cells that can be reached by legal moves,
    including the start; and `map`, up to 40 rows of up to 40 characters, starting at the corner
    ([0, 0] if there is no corner). In the map, o is a cell that can be reached, and . is one that
    cannot.
    """

    query: Literal["reach"]
    maze: Maze
    start: WholeIndexPair
    corner: WholeIndexPair = (0, 0)

    def observe(self, params: Params) -> Observation:
        """Return the cells that are connected to the start."""
        n = params.size
        _, graph = read_maze(params, self.maze)
        start = cell_number(n, self.start)
        top, left = divmod(cell_number(n, self.corner), n)
        # There is no cell -1, so the search visits everything reachable.
        reached = set(find_routes(graph, start, -1).reached)
        marks = ["o" if cell in reached else "." for cell in range(n * n)]
        rows = []
        for y in range(top, min(n, top + _WINDOW)):
            row = marks[y * n : y * n + n]
            rows.append("".join(row[left : left + _WINDOW]))
        return {"cells": len(reached), "map": rows}


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (Walk, Reach)
