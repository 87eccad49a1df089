"""Long paths through a box, by rotation.

A path is extended greedily, and its tail is rotated when it is stuck (Posa's rotation): if the head
has a visited neighbour, the piece of the path behind that neighbour is turned round, so that
another cell becomes the head; the cells of the path stay the same and so does its start. Cells
alternate between two colours along a path, which bounds its length; the search aims at that bound.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from scbench.base.seeding import Stream
from scbench.graders.shared.grid_paths import reachable, side_neighbours

# Chance of a step to any free neighbour, instead of one with the fewest exits, after a restart.
_STRAY = 0.1
# Times that one path may be cut back because it is long enough but misses food.
_CUTS = 10
# Most rotations without a free cell next to the head, before a search starts again.
_IDLE = 500
Cell = tuple[int, ...]


class Box(NamedTuple):
    """The free cells of a box, numbered.

    Attributes:
        cells: cells by their numbers.
        near: the numbers of the free neighbours of each.
        number: numbers by cell.
    """

    cells: tuple[Cell, ...]
    near: tuple[tuple[int, ...], ...]
    number: dict[Cell, int]

    @classmethod
    def make(cls, size: Cell, walls: Collection[Cell]) -> "Box":
        """Number the free cells."""
        blocked = set(walls)
        grid = product(*map(range, size))
        cells = tuple(cell for cell in grid if cell not in blocked)
        number = {cell: i for i, cell in enumerate(cells)}
        near = []
        for cell in cells:
            free = [
                neighbour for neighbour in side_neighbours(cell) if neighbour in number
            ]
            near.append(tuple(number[neighbour] for neighbour in free))
        return cls(cells, tuple(near), number)

    def is_connected(self) -> bool:
        """Whether every free cell can be reached from every other."""
        return len(reachable(0, self.near.__getitem__)) == len(self.cells)

    def dead_ends(self, start: int) -> list[int]:
        """Return the cells other than the start that have one free neighbour."""
        return [i for i, near in enumerate(self.near) if len(near) == 1 and i != start]

    def longest(self, start: int, end: int | None = None) -> int:
        """Return the length that no path from the start, to the end if given, can exceed."""
        colours = [sum(cell) % 2 for cell in self.cells]
        like_start = colours.count(colours[start])
        unlike = len(colours) - like_start
        if end is None:
            return min(2 * like_start, 2 * unlike + 1)
        if colours[end] == colours[start]:
            return 2 * min(like_start, unlike + 1) - 1
        return 2 * min(like_start, unlike)


def find_path(
    box: Box,
    start: int,
    food: Collection[int],
    rng: Stream,
    length: int | None,
    work: int,
) -> list[int] | None:
    """Return a path of a given length over all food; None if none was found.

    A cell with one free neighbour can only be the last cell of a path, so food in such a cell
    fixes the end. If the colour of a fixed end requires it, the path is one cell longer. Without
    a length, the path is as long as the colours allow. ``work`` limits the number of cells that
    the search examines, about four million a second.
    """
    dead_ends = [i for i in box.dead_ends(start) if i in food]
    if len(dead_ends) > 1:
        return None
    end = dead_ends[0] if dead_ends else None
    longest = box.longest(start, end)
    if length is None:
        length = longest
    elif end is not None:
        length += (longest - length) % 2
    if length > longest:
        return None
    goal: int | None = None
    if end is not None:
        # A fixed end is added last, so the path before it must lead to its only neighbour.
        length -= 1
        (goal,) = box.near[end]
    search = Search(box.near, start, frozenset(food), length, goal, end, work)
    path = search.run(rng, stray=0.0)
    while path is None and search.work > 0:
        path = search.run(rng, stray=_STRAY)
    return path


@dataclass
class Search:
    """One search.

    Attributes:
        near: the neighbours of every cell.
        start: the first cell.
        food: cells that the path must visit.
        target: length of the path, without a fixed end.
        goal: its last cell before a fixed end.
        end: the fixed end.
        work: the budget, which lasts over restarts.
    """

    near: tuple[tuple[int, ...], ...]
    start: int
    food: frozenset[int]
    target: int
    goal: int | None
    end: int | None
    work: int

    def run(self, rng: Stream, stray: float) -> list[int] | None:
        """Grow one path; None if it got stuck or the work is used up."""
        near = self.near
        self.work -= len(near)
        growing = GrowingPath(near)
        growing.extend(self.start)
        path = growing.path
        at = growing.at
        if self.end is not None:
            # Such cells are never free and never on the path.
            at[self.end] = len(near)
        idle = 0
        cuts = 0
        patience = min(_IDLE, 4 * len(near))
        while self.work > 0 and idle < patience:
            self.work -= 5
            head = path[-1]
            if len(path) == self.target and self.goal in {None, head}:
                if all(at[i] >= 0 for i in self.food):
                    return path if self.end is None else [*path, self.end]
                if cuts == _CUTS:
                    return None
                growing.cut()
                cuts += 1
                continue
            free: list[int] = []
            if len(path) < self.target:
                free = [i for i in near[head] if at[i] < 0]
            if free:
                # Without strays, no number is drawn for them.
                if not (stray and rng.chance(stray)):
                    fewest = min(growing.exits[i] for i in free)
                    free = [i for i in free if growing.exits[i] == fewest]
                growing.extend(rng.choice(free))
                idle = 0
                continue
            # Cells of the path next to the head, without the one before it.
            turns = [at[i] for i in near[head] if 0 <= at[i] < len(path) - 2]
            if not turns:
                return None
            self.work -= growing.rotate(rng.choice(turns))
            idle += 1
        return None


class GrowingPath:
    """A path, its cells as numbers.

    Attributes:
        path: the cells.
        at: the position of each cell on the path; negative if it is not on it.
        exits: for each cell, the neighbours that are not on the path.
    """

    def __init__(self, near: tuple[tuple[int, ...], ...]) -> None:
        self.near = near
        self.path: list[int] = []
        self.at = [-1] * len(near)
        self.exits = [len(adjacent) for adjacent in near]

    def extend(self, step: int) -> None:
        """Append a cell."""
        self.at[step] = len(self.path)
        self.path.append(step)
        for i in self.near[step]:
            self.exits[i] -= 1

    def rotate(self, turn: int) -> int:
        """Turn the piece behind a position round, and return the steps that this takes."""
        path = self.path
        start = turn + 1
        path[start:] = path[:turn:-1]
        for k in range(start, len(path)):
            self.at[path[k]] = k
        return len(path) - 1 - start

    def cut(self) -> None:
        """Remove the last quarter of a path that is long enough but misses food."""
        end = max(1, 3 * len(self.path) // 4)
        for i in self.path[end:]:
            self.at[i] = -1
            for neighbour in self.near[i]:
                self.exits[neighbour] += 1
        del self.path[end:]
