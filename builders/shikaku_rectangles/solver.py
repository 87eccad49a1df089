"""A solver of Shikaku: propagation and search over bit masks, one bit for each cell.

Every clue has its candidates: the rectangles of its area that contain it and no other clue.
Impossible candidates are dropped until nothing changes. Then the search branches on the clue with
the fewest candidates.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Rectangle(NamedTuple):
    """The columns and rows of the outermost cells of a rectangle."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def columns(self) -> tuple[int, int]:
        """The first and the last column."""
        return self.left, self.right

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row."""
        return self.top, self.bottom

    @property
    def area(self) -> int:
        """The number of cells."""
        return (self.right - self.left + 1) * (self.bottom - self.top + 1)


class Solutions(NamedTuple):
    """The result of a search.

    Attributes:
        solutions: the solutions, each of them sorted.
        nodes: number of nodes that the search visited; one node is propagation alone.
        candidates: number of candidates of all clues before any propagation.
        complete: whether the search covered everything or found the requested number of solutions.
    """

    solutions: list[tuple[Rectangle, ...]]
    nodes: int
    candidates: int
    complete: bool


def solve(grid: Sequence[Sequence[int]], limit: int, max_nodes: int) -> Solutions:
    """Find up to ``limit`` solutions, visiting at most ``max_nodes`` nodes; 0 is a blank cell."""
    places = places_of_clues(grid)
    all_cells = (1 << len(grid) * len(grid[0])) - 1
    solutions: list[tuple[Rectangle, ...]] = []
    # Each node is a list of masks for each clue.
    stack = [[list(masks) for masks in places]]
    nodes = 0
    while stack and len(solutions) < limit and nodes < max_nodes:
        options = stack.pop()
        nodes += 1
        if not propagate(options, all_cells):
            continue
        undecided = [i for i, masks in enumerate(options) if len(masks) > 1]
        if not undecided:
            cut = [places[i][masks[0]] for i, masks in enumerate(options)]
            solutions.append(tuple(sorted(cut)))
            continue
        branch = min(undecided, key=lambda i: len(options[i]))
        # Nodes are taken from the end of the stack, so the first mask is pushed last.
        for mask in reversed(options[branch]):
            node = [list(masks) for masks in options]
            node[branch] = [mask]
            stack.append(node)
    complete = not stack or len(solutions) == limit
    return Solutions(solutions, nodes, sum(map(len, places)), complete)


def places_of_clues(grid: Sequence[Sequence[int]]) -> list[dict[int, Rectangle]]:
    """Return the masks of each clue's candidates: rectangles of its area without another clue."""
    width = len(grid[0])
    clues = clues_of(grid)
    clue_cells = sum([1 << y * width + x for x, y, _ in clues])
    places = []
    for x, y, area in clues:
        own_cell = 1 << y * width + x
        own_places = {}
        for rectangle in _rectangles_around(x, y, area, width, len(grid)):
            left, top, right, bottom = rectangle
            row_cells = (1 << right - left + 1) - 1
            rows = range(top, bottom + 1)
            mask = sum([row_cells << row * width + left for row in rows])
            if mask & clue_cells == own_cell:
                own_places[mask] = rectangle
        places.append(own_places)
    return places


def clues_of(grid: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Return the column, the row and the area of every clue, row by row."""
    clues: list[tuple[int, int, int]] = []
    for y, row in enumerate(grid):
        clues += [(x, y, area) for x, area in enumerate(row) if area]
    return clues


def _rectangles_around(
    x: int, y: int, area: int, width: int, height: int
) -> Iterator[Rectangle]:
    """Yield the rectangles of an area in a grid that contain a cell."""
    for w in range(1, min(area, width) + 1):
        if area % w:
            continue
        h = area // w
        for top in range(max(0, y - h + 1), min(y, height - h) + 1):
            for left in range(max(0, x - w + 1), min(x, width - w) + 1):
                yield Rectangle(left, top, left + w - 1, top + h - 1)


def propagate(options: list[list[int]], all_cells: int) -> bool:
    """Drop impossible masks until nothing changes; False if a clue or a cell has none left."""
    changed = True
    while changed:
        changed = False
        # The cells in all masks of each clue, and the cells in any of them.
        common = []
        reach = []
        # Cells that at least one clue can reach, and cells that at least two can reach.
        once = 0
        twice = 0
        for masks in options:
            if not masks:
                return False
            intersection = masks[0]
            union = masks[0]
            for mask in masks:
                intersection &= mask
                union |= mask
            common.append(intersection)
            reach.append(union)
            twice |= once & union
            once |= union
        if once != all_cells:
            return False
        occupied = 0
        for cells in common:
            if occupied & cells:
                return False
            occupied |= cells
        for i, masks in enumerate(options):
            # A mask must not cover cells that other clues are sure to cover, and must cover the
            # cells that no other clue can reach.
            excluded = occupied & ~common[i]
            required = reach[i] & ~twice
            possible = [
                mask
                for mask in masks
                if not mask & excluded and mask & required == required
            ]
            if len(possible) < len(masks):
                options[i] = possible
                changed = True
    return True
