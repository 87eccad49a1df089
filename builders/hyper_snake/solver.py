"""Long paths in a grid from a fixed start: extend greedily, and rotate the tail when stuck.

Rotation (Posa's): if the head has a visited neighbour, the piece of the path behind that neighbour
is turned round, so that another cell becomes the head; the cells of the path stay the same and so
does its start. Cells alternate between two colours along a path, which bounds its length; the
search aims at that bound.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import product

from scbench.base.seeding import Stream
from scbench.graders.shared.grid_paths import side_neighbours

Cell = tuple[int, ...]

_STRAY = 0.1
"""Chance of a step to any free neighbour, instead of one with the fewest exits, after a restart."""
_CUTS = 10
"""Times that one path may be cut back because it is long enough but misses food."""
_IDLE = 500
"""Most rotations without a free cell beside the head before a search starts afresh."""


@dataclass(frozen=True, slots=True)
class Box:
    """The free cells of a box, numbered, with the free neighbours of each."""

    cells: tuple[Cell, ...]
    near: tuple[tuple[int, ...], ...]
    number: dict[Cell, int] = field(repr=False)

    @classmethod
    def make(cls, size: Cell, walls: Collection[Cell]) -> "Box":
        """Number the free cells."""
        barred = set(walls)
        cells = tuple(c for c in product(*map(range, size)) if c not in barred)
        number = {cell: i for i, cell in enumerate(cells)}
        near = tuple(
            tuple(number[beside] for beside in side_neighbours(cell) if beside in number)
            for cell in cells
        )
        return cls(cells, near, number)

    def connected(self) -> bool:
        """Whether every free cell can be reached from every other."""
        reached, waiting = {0}, [0]
        while waiting:
            fresh = set(self.near[waiting.pop()]) - reached
            reached |= fresh
            waiting.extend(fresh)
        return len(reached) == len(self.cells)

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
    box: Box, start: int, food: Collection[int], rng: Stream, length: int | None, work: int
) -> list[int] | None:
    """Return a path of a given length over all food; None if none was found.

    A cell with one free neighbour can only be the last of a path, so food in one fixes the end.

    Args:
        box: the free cells.
        start: number of the first cell.
        food: numbers of the cells that must be on the path.
        rng: source of randomness.
        length: number of cells, or one more if the colour of a fixed end wants it; None for as
            many as the colours allow.
        work: bound on the number of cells looked at, about four million a second.
    """
    fixed = [i for i in box.dead_ends(start) if i in food]
    end = fixed[0] if fixed else None
    longest = box.longest(start, end)
    if length is None:
        length = longest
    elif end is not None:
        length += (longest - length) % 2
    if len(fixed) > 1 or length > longest:
        return None
    search = _Search(box, start, end, frozenset(food), rng, length, work)
    path = search.run(stray=0.0)
    while path is None and search.work > 0:
        path = search.run(stray=_STRAY)
    return path


class _Search:
    """One search; its work budget lasts over restarts."""

    def __init__(
        self,
        box: Box,
        start: int,
        end: int | None,
        food: frozenset[int],
        rng: Stream,
        length: int,
        work: int,
    ) -> None:
        self.near, self.start, self.end, self.food = box.near, start, end, food
        self.rng, self.work = rng, work
        # A fixed end is added last, so the rest must lead to its only neighbour.
        self.target = length - (end is not None)
        self.goal = None if end is None else box.near[end][0]

    def run(self, stray: float) -> list[int] | None:
        """Grow one path; None if it got stuck or the work is used up."""
        near, rng = self.near, self.rng
        self.work -= len(near)
        path = [self.start]
        at = [-1] * len(near)
        at[self.start] = 0
        exits = [len(n) for n in near]
        if self.end is not None:
            at[self.end] = len(near)  # never free, never on the path
        for i in near[self.start]:
            exits[i] -= 1
        idle = cuts = 0
        patience = min(_IDLE, 4 * len(near))
        while self.work > 0 and idle < patience:
            self.work -= 5
            head = path[-1]
            if len(path) == self.target and self.goal in (None, head):
                if all(at[i] >= 0 for i in self.food):
                    return path if self.end is None else [*path, self.end]
                if cuts == _CUTS:
                    return None
                self._cut(path, at, exits)
                cuts += 1
                continue
            free = [i for i in near[head] if at[i] < 0] if len(path) < self.target else []
            if free:
                if not (stray and rng.chance(stray)):
                    fewest = min(exits[i] for i in free)
                    free = [i for i in free if exits[i] == fewest]
                step = rng.choice(free)
                at[step] = len(path)
                path.append(step)
                for i in near[step]:
                    exits[i] -= 1
                idle = 0
                continue
            last = len(path) - 1
            turns = [at[i] for i in near[head] if 0 <= at[i] < last - 1]
            if not turns:
                return None
            keep = rng.choice(turns) + 1
            path[keep:] = path[: keep - 1 : -1]
            for k in range(keep, last + 1):
                at[path[k]] = k
            self.work -= last - keep
            idle += 1
        return None

    def _cut(self, path: list[int], at: list[int], exits: list[int]) -> None:
        """Give up the last quarter of a path that is long enough but misses food."""
        keep = max(1, 3 * len(path) // 4)
        for i in path[keep:]:
            at[i] = -1
            for beside in self.near[i]:
                exits[beside] += 1
        del path[keep:]
