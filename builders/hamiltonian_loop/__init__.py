"""Hamiltonian loop: find a closed tour of all free cells of a grid.

An example of the puzzle, where X marks blocked cells:

      | 1 2 3 4
    -----------
    1 | X . . X
    2 | . . . .
    3 | . . . .
    4 | . . . .

An answer, as [x, y]: [2, 1], [3, 1], [3, 2], [4, 2], [4, 3], [4, 4], [3, 4], [3, 3], [2, 3],
[2, 4], [1, 4], [1, 3], [1, 2], [2, 2].
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise, product
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.hamiltonian_loop.loops import Cell, find_loop, neighbours
from scbench.builders.shared.builder import Builder, Point, parameter, prompt_template
from scbench.builders.shared.path_counterexamples import form_counterexamples, listing
from scbench.schemas.hamiltonian_loop import Answer, Params, Step

# Maximum number of grids that one draw tries.
_TRIES = 200
# Maximum number of cells in all grids of one draw; at least ten grids are tried.
_WORK = 36_000
# Number of obstacles in a row that may fail to fit before a grid is accepted as it is, and number
# of single cells tried for balance per row of the grid.
_PROPOSALS = 20


class Space(Point):
    """Parameters of fresh grids."""

    size: int = parameter(10, "number of columns and of rows", ge=4, le=30)
    blocked: float = parameter(
        0.08,
        "share of cells to block; ignored for tree. Further single cells are blocked until both "
        "chessboard colours have the same number of free cells",
        ge=0.0,
        le=0.25,
    )
    obstacles: Literal[
        "cells", "bars", "blocks", "corners", "mixed", "tree", "strip"
    ] = parameter(
        "mixed",
        "blocked cells: single cells, bars of 2 to 4 cells, squares of 2 x 2 cells, pieces cut "
        "from the grid's corners, a mixture of the first three, everything except the 2 x 2 "
        "blocks of a random tree, or everything except a random strip two cells wide. The last "
        "two are easy at any size",
    )
    fill: float = parameter(
        0.7,
        "share of the grid's 2 x 2 blocks that are in the tree, or of its cells that are in the "
        "strip; used only for tree and strip",
        ge=0.01,
        le=1.0,
    )

    @model_validator(mode="after")
    def _even(self) -> "Space":
        if self.obstacles == "tree" and self.size % 2:
            raise ValueError(
                f"a tree of 2 x 2 blocks needs an even size, not {self.size}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Square grids whose free cells have a closed tour."""

    task = "hamiltonian_loop"
    version = 4
    draws = 3
    form = '{"steps": [{"xy": [x, y]}, {"xy": [x, y]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the grid as a picture, and the blocked cells as a list."""
        words: dict[str, object] = {
            "size": params.size,
            "blocked": "No cell is blocked.",
            "map": "",
            "cell": "cell",
            "avoiding": "",
            "count": params.size**2 - len(params.blocked),
        }
        if params.blocked:
            grid = grid_text(params)
            blocked = sorted(params.blocked, key=row_and_column)
            cells = ", ".join(str(list(cell)) for cell in blocked)
            words |= {
                "blocked": prompt_template(__name__, "prompt_blocked.txt").format(
                    count=len(blocked), picture=grid, cells=cells
                ),
                "map": f"X marks blocked cells:\n\n{grid}\n\n",
                "cell": "free cell",
                "avoiding": ", and no blocked cell is visited",
            }
        return words

    def reference(self, params: Params) -> Answer:
        """Cover the free cells with loops and merge them."""
        loop = loop_of(params)
        if loop is None:
            raise GenerationError(f"no loop found in a grid of size {params.size}")
        return Answer(steps=tuple(Step(xy=cell) for cell in loop))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the coordinates, and tours with one mistake each."""
        loop = []
        for step in self.reference(params).steps:
            x, y = step["xy"]
            loop.append((x, y))
        n = len(loop)
        half = loop[: n // 2 + 1]
        shuttle = [loop[i % 2] for i in range(n)]
        tours: dict[str, Sequence[Sequence[int]]] = {
            "one_missing": loop[:-1],
            "start_repeated_at_the_end": [*loop, loop[0]],
            "twice_round": loop + loop,
            "one_cell_only": loop[:1],
            "two_exchanged": [loop[0], loop[2], loop[1], *loop[3:]],
            "out_and_back": half + half[-2:0:-1],
            "shuttle": shuttle,
            "shuttle_with_a_counter": [(*cell, i) for i, cell in enumerate(shuttle)],
            "row_by_row": sorted(loop, key=row_and_column),
            "serpentine": sorted(loop, key=row_and_way),
            "rows_before_columns": [(y, x) for x, y in loop],
            "rows_from_the_bottom": [(x, params.size + 1 - y) for x, y in loop],
            "counted_from_zero": [(x - 1, y - 1) for x, y in loop],
            "blocked_cells_visited": comb(params.size),
        }
        open_tour = make_open_tour(loop)
        if open_tour:
            tours["not_closed"] = open_tour
        # In a symmetric grid, a mistake can give another right tour.
        lists = {}
        for name, tour in tours.items():
            if not is_closed_tour(params, tour):
                lists[name] = listing("steps", "xy", tour)
        return lists | form_counterexamples("steps", "xy", loop)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the tour up and down the columns of a grid without blocked cells."""
        return {"comb": listing("steps", "xy", comb(params.size))}

    def measure(self, params: Params) -> float:
        """Return the number of sides between free cells."""
        free = set(free_cells(params))
        sides = sum(len(free.intersection(neighbours(cell))) for cell in free)
        # Each side was counted from both of its cells.
        return sides / 2

    def draw(self, point: Space, rng: Stream) -> Params:
        """Block random cells without making dead ends until a loop is found."""
        tries = min(_TRIES, max(10, _WORK // point.size**2))
        for _ in range(tries):
            blocked = draw_blocked(point, rng)
            if blocked is None:
                continue
            in_order = sorted(blocked, key=row_and_column)
            params = Params(size=point.size, blocked=tuple(in_order))
            if loop_of(params) is not None:
                return params
        raise GenerationError(
            f"no grid of size {point.size} with {point.blocked:.0%} blocked by {point.obstacles} "
            f"had a loop in {tries} tries; ask for fewer blocked cells, larger obstacles or a tree"
        )


def row_and_column(cell: Sequence[int]) -> Cell:
    """Return the sort key for reading order."""
    x, y = cell
    return y, x


def row_and_way(cell: Sequence[int]) -> Cell:
    """Return the sort key for rows that alternately run right and left."""
    x, y = cell
    if y % 2:
        return y, x
    return y, -x


def grid_cells(size: int) -> list[Cell]:
    """Return all cells, row by row."""
    numbers = range(1, size + 1)
    return [(x, y) for y, x in product(numbers, numbers)]


def free_cells(params: Params) -> list[Cell]:
    """Return the cells that are not blocked, row by row."""
    blocked = set(params.blocked)
    return [cell for cell in grid_cells(params.size) if cell not in blocked]


@lru_cache(maxsize=64)
def loop_of(params: Params) -> tuple[Cell, ...] | None:
    """Return a closed tour of the free cells, always the same one; None if none was found."""
    rng = Stream("loop", params.size, sorted(params.blocked))
    loop = find_loop(free_cells(params), rng)
    return None if loop is None else tuple(loop)


def grid_text(params: Params) -> str:
    """Return the grid with numbered rows and columns."""
    numbers = range(1, params.size + 1)
    width = len(str(params.size))
    blocked = set(params.blocked)
    ruler = " " * width + " |"
    for x in numbers:
        ruler += f" {x:{width}}"
    lines = [ruler, "-" * len(ruler)]
    for y in numbers:
        line = f"{y:{width}} |"
        for x in numbers:
            mark = "X" if (x, y) in blocked else "."
            line += f" {mark:>{width}}"
        lines.append(line)
    return "\n".join(lines)


def is_closed_tour(params: Params, cells: Sequence[Sequence[int]]) -> bool:
    """Return whether these are the free cells in the order of a closed tour."""
    free = set(free_cells(params))
    if len(cells) != len(free) or set(map(tuple, cells)) != free:
        return False
    steps = pairwise([*cells, cells[0]])
    return all(abs(x - u) + abs(y - v) == 1 for (x, y), (u, v) in steps)


def make_open_tour(loop: Sequence[Cell]) -> list[Cell] | None:
    """Return an open tour of the same cells; None if no cell has a third neighbour."""
    for turn in range(len(loop)):
        ring = [*loop[turn:], *loop[:turn]]
        place = {cell: i for i, cell in enumerate(ring)}
        for near in neighbours(ring[-1]):
            j = place.get(near, 0)
            # The last cell now follows cell j, and the piece in between is reversed.
            if 0 < j < len(ring) - 2:
                return ring[: j + 1] + ring[:j:-1]
    return None


def comb(size: int) -> list[Cell]:
    """Return a closed tour of a whole grid of even size: row by row, then back up column 1."""
    cells: list[Cell] = []
    for y in range(1, size + 1):
        columns = range(2, size + 1) if y % 2 else range(size, 1, -1)
        cells += [(x, y) for x in columns]
    return cells + [(1, y) for y in range(size, 0, -1)]


def draw_blocked(point: Space, rng: Stream) -> set[Cell] | None:
    """Draw the blocked cells of a grid that may have a loop; None if that failed."""
    if point.obstacles == "tree":
        return draw_around_tree(point, rng)
    if point.obstacles == "strip":
        return draw_around_strip(point, rng)
    blocked = draw_obstacles(point, rng)
    return None if blocked is None else balance_colours(point.size, blocked, rng)


def draw_obstacles(point: Space, rng: Stream) -> set[Cell] | None:
    """Block about the requested share of cells, without dead ends."""
    size = point.size
    target = round(point.blocked * size * size)
    blocked: set[Cell] = set()
    failures = 0
    while len(blocked) < target and failures < _PROPOSALS:
        fresh = draw_obstacle(point, rng) - blocked
        after = blocked | fresh
        fits = len(after) <= target
        if fresh and fits and not has_dead_end(size, after, fresh):
            blocked = after
            failures = 0
        else:
            failures += 1
    # A few cells may be left over because no obstacle fits exactly.
    return blocked if len(blocked) >= target - 4 else None


def balance_colours(size: int, blocked: set[Cell], rng: Stream) -> set[Cell] | None:
    """Block single cells until both colours have equally many free cells; None if that fails."""
    grid = grid_cells(size)
    # Number of free cells of the even colour minus that of the odd colour.
    surplus = 0
    for x, y in grid:
        if (x, y) not in blocked:
            surplus += 1 if (x + y) % 2 == 0 else -1
    blocked = set(blocked)
    for _ in range(_PROPOSALS * size):
        if surplus == 0:
            return blocked
        cell = rng.choice(grid)
        is_even = sum(cell) % 2 == 0
        if is_even != (surplus > 0) or cell in blocked:
            continue
        if not has_dead_end(size, blocked | {cell}, {cell}):
            blocked.add(cell)
            surplus -= 1 if is_even else -1
    return None


def has_dead_end(size: int, blocked: set[Cell], fresh: set[Cell]) -> bool:
    """Return whether a free cell next to newly blocked cells has fewer than two free neighbours."""

    def is_free(cell: Cell) -> bool:
        return min(cell) >= 1 and max(cell) <= size and cell not in blocked

    for cell in fresh:
        for near in filter(is_free, neighbours(cell)):
            exits = list(filter(is_free, neighbours(near)))
            if len(exits) < 2:
                return True
    return False


def draw_obstacle(point: Space, rng: Stream) -> set[Cell]:
    """Draw the cells of one obstacle of the point's kind."""
    size = point.size
    kind: str = point.obstacles
    if kind == "mixed":
        kind = rng.choice(("cells", "bars", "blocks"))
    if kind == "corners":
        width = rng.between(1, max(1, size // 3))
        height = rng.between(1, max(1, size // 3))
        left = 1 + rng.below(2) * (size - width)
        top = 1 + rng.below(2) * (size - height)
        return rectangle(left, top, width, height)
    width = 1
    height = 1
    if kind == "bars":
        length = rng.between(2, min(4, size - 1))
        width, height = rng.choice([(1, length), (length, 1)])
    elif kind == "blocks":
        width = 2
        height = 2
    left = rng.between(1, size - width + 1)
    top = rng.between(1, size - height + 1)
    return rectangle(left, top, width, height)


def rectangle(left: int, top: int, width: int, height: int) -> set[Cell]:
    """Return the cells of a rectangle."""
    columns = range(left, left + width)
    rows = range(top, top + height)
    return set(product(columns, rows))


def draw_around_tree(point: Space, rng: Stream) -> set[Cell]:
    """Draw a random tree of 2 x 2 blocks, whose outline is a loop; return the cells outside."""
    # Blocks are numbered from 0.
    half = point.size // 2
    tree = {(rng.below(half), rng.below(half))}
    while len(tree) < max(1, round(point.fill * half * half)):
        border = sorted(border_of(tree))
        inside = [block for block in border if min(block) >= 0 and max(block) < half]
        tree.add(rng.choice(inside))
    blocked = set(grid_cells(point.size))
    for x, y in tree:
        blocked -= rectangle(2 * x + 1, 2 * y + 1, 2, 2)
    return blocked


def border_of(cells: set[Cell]) -> set[Cell]:
    """Return the cells outside the set that share a side with a cell in it."""
    near = set(chain.from_iterable(map(neighbours, cells)))
    return near - cells


def draw_around_strip(point: Space, rng: Stream) -> set[Cell] | None:
    """Draw a random strip with branches, whose outline is a loop; return the cells outside.

    The strip grows by squares of four cells that share exactly one side with it.
    """
    x = rng.between(1, point.size - 1)
    y = rng.between(1, point.size - 1)
    # Squares are named by their upper left cells.
    corners = {(x, y)}
    strip = rectangle(x, y, 2, 2)
    while len(strip) < max(4, round(point.fill * point.size**2)):
        fits = []
        for x, y in sorted(border_of(corners)):
            inside = min(x, y) >= 1 and max(x, y) < point.size
            if inside and len(rectangle(x, y, 2, 2) & strip) == 2:
                fits.append((x, y))
        if not fits:
            return None
        x, y = rng.choice(fits)
        corners.add((x, y))
        strip |= rectangle(x, y, 2, 2)
    return set(grid_cells(point.size)) - strip
