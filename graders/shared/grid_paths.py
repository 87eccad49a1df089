"""Paths through the cells of a box, with fast tests for adjacent cells.

A cell is a tuple of coordinates. Every cell in the box has a code. Two codes differ by
one of the grid's strides exactly if the cells share a side, so one subtraction replaces
comparing all coordinates.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, product
from operator import mul, sub
from typing import NamedTuple, TypeVar

Cell = tuple[int, ...]
NodeT = TypeVar("NodeT", bound=Hashable)


class Grid(NamedTuple):
    """The cells of a box."""

    codes: dict[Cell, int]
    strides: frozenset[int]
    """Differences of the codes of cells that share a side, one for each axis."""

    def encode(self, cells: Sequence[Cell]) -> list[int | None]:
        """Return the code of every cell, None for those outside the box."""
        return list(map(self.codes.get, cells))


@lru_cache(maxsize=128)
def grid(size: Cell, first: int) -> Grid:
    """Return a grid with this size along each axis and coordinates that start from ``first``.

    Coordinate differences lie in 1-n..n-1, so digits to the base 2n-1 cannot carry, and a
    difference of codes determines the differences of all coordinates.
    """
    strides = []
    stride = 1
    for n in size:
        strides.append(stride)
        stride *= 2 * n - 1
    codes = {}
    for offsets in product(*map(range, size)):
        cell = tuple(first + offset for offset in offsets)
        codes[cell] = sum(map(mul, offsets, strides))
    return Grid(codes, frozenset(strides))


def side_neighbours(cell: Cell) -> list[Cell]:
    """Return the cells that differ by 1 in one coordinate, inside the box or not."""
    neighbours = []
    for axis, c in enumerate(cell):
        before = cell[:axis]
        after = cell[axis + 1 :]
        neighbours.append((*before, c - 1, *after))
        neighbours.append((*before, c + 1, *after))
    return neighbours


def touch(a: Cell, b: Cell) -> bool:
    """Return whether two cells, with equally many coordinates, share a side."""
    if len(a) != len(b):
        return False
    changes = [p - q for p, q in zip(a, b, strict=True) if p != q]
    return changes in ([1], [-1])


def is_tour(grid: Grid, codes: Sequence[int | None]) -> bool:
    """Whether each of these cells (all in the box) shares a side with the next, cyclically."""
    return grid.strides.issuperset(map(abs, map(sub, codes, (*codes[1:], codes[0]))))


def reachable(
    start: NodeT, neighbours: Callable[[NodeT], Iterable[NodeT]]
) -> set[NodeT]:
    """Return every node reachable through neighbours, including the start."""
    reached = {start}
    waiting = [start]
    while waiting:
        fresh = set(neighbours(waiting.pop())) - reached
        reached |= fresh
        waiting.extend(fresh)
    return reached


def jumps(grid: Grid, cells: Sequence[Cell], codes: Sequence[int | None]) -> list[int]:
    """Return the positions of cells that do not share a side with the previous cell.

    The path may leave the box; for the codes see `Grid.encode`.
    """
    strides = grid.strides
    # A fast test for the most common case: no jumps.
    if None not in codes and strides.issuperset(map(abs, map(sub, codes[1:], codes))):
        return []
    positions = []
    for i, (a, b) in enumerate(pairwise(codes), start=1):
        if a is None or b is None:
            adjacent = touch(cells[i - 1], cells[i])
        else:
            adjacent = abs(b - a) in strides
        if not adjacent:
            positions.append(i)
    return positions


def repeats(cells: Sequence[Cell], codes: Sequence[int | None]) -> list[int]:
    """Return the positions of repeated cells; for the arguments see `jumps`."""
    if len(set(codes)) == len(codes):  # hashed faster than cells
        return []
    visited: set[Cell] = set()
    positions = []
    for i, cell in enumerate(cells):
        if cell in visited:
            positions.append(i)
        visited.add(cell)
    return positions


def cell_text(cell: Cell) -> str:
    """Return a cell in a few characters, even if its numbers are long."""
    if len(cell) > 20:
        return f"a cell with {len(cell)} coordinates"
    # The time to print a number grows with the square of its length.
    if max(map(abs, cell), default=0) >= 10**9:
        return "a cell with a coordinate beyond 10^9"
    return str(list(cell))


def cell_at(cells: Sequence[Cell], i: int) -> str:
    """Return a cell of a path with its position."""
    return f"{cell_text(cells[i])} at position {i}"
