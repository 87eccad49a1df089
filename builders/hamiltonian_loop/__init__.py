"""Hamiltonian loop: prompts, fresh grids with obstacles, and counterexamples.

Cells are (x, y). A cover of the free cells is a subgraph in which every cell has two neighbours; it
is found by augmenting paths between the two colours of the chessboard, so that if there is none,
there is no tour either. Two loops that run along opposite sides of a square of four cells become
one when the other two sides are taken instead.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, prompt_template
from scbench.builders.shared.path_counterexamples import form_counterexamples, listing
from scbench.graders.shared.grid_paths import reachable
from scbench.schemas.hamiltonian_loop import Answer, Params, Step

_TRIES = 200
# Cells of all grids that one draw may try, but ten grids at the least.
_WORK = 36_000
_PROPOSALS = 20
Cell = tuple[int, int]
# The two partners of every cell.
Cover = dict[Cell, set[Cell]]
_ROUNDS = 100
_IDLE = 25
# Bounds on one search: rounds of merging, those in a row that join nothing, and covers.
# Merging takes a handful of rounds where there is a tour at all.
_RESTARTS = 5
Square = tuple[Cell, Cell, Cell, Cell]


class Space(Point):
    """Parameters of fresh grids."""

    size: int = parameter(10, "number of columns and of rows", ge=4, le=30)
    blocked: float = parameter(
        0.08,
        "share of the cells to be blocked, not used by tree; single cells are added "
        "where as many free cells of each chessboard colour would not be left",
        ge=0.0,
        le=0.25,
    )
    obstacles: Literal[
        "cells", "bars", "blocks", "corners", "mixed", "tree", "strip"
    ] = parameter(
        "mixed",
        "single cells, bars of 2 to 4, squares of 2 x 2, pieces cut from the grid's corners, a "
        "mixture of the first three, everything but the 2 x 2 blocks of a random tree, or "
        "everything but a random strip two cells wide; the last two are easy at any size",
    )
    fill: float = parameter(
        0.7,
        "share of the grid's 2 x 2 blocks that the tree has, or of its cells that the strip has; "
        "only used by these",
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
    version = 3
    form = '{"steps": [{"xy": [x, y]}, {"xy": [x, y]}, ...]}'

    def words(self, params: Params) -> dict[str, object]:
        """Return the grid, as a picture and as a list."""
        return {
            "size": params.size,
            "blocked": _blocked_text(params)
            if params.blocked
            else "No cell is blocked.",
            "map": f"X marks blocked cells:\n\n{_grid_text(params)}\n\n"
            if params.blocked
            else "",
            "free": "free cells" if params.blocked else "whole grid",
            "cell": "free cell" if params.blocked else "cell",
            "avoiding": ", and no blocked cell is" if params.blocked else "",
            "count": params.size**2 - len(params.blocked),
        }

    def reference(self, params: Params) -> Answer:
        """Cover the free cells by loops and merge them."""
        loop = _loop(params)
        if loop is None:
            raise GenerationError(f"no loop found in a grid of size {params.size}")
        return Answer(steps=tuple(Step(xy=cell) for cell in loop))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return other readings of the coordinates, and tours with one mistake each."""
        loop = [
            (x, y) for x, y in (step["xy"] for step in self.reference(params).steps)
        ]
        n, size = len(loop), params.size
        there = loop[: n // 2 + 1]
        cells: dict[str, Sequence[Sequence[int]]] = {
            "one_missing": loop[:-1],
            "start_repeated_at_the_end": [*loop, loop[0]],
            "twice_round": loop + loop,
            "one_cell_only": loop[:1],
            "two_exchanged": [loop[0], loop[2], loop[1], *loop[3:]],
            "out_and_back": there + there[-2:0:-1],
            "shuttle": [loop[i % 2] for i in range(n)],
            "shuttle_with_a_counter": [(*loop[i % 2], i) for i in range(n)],
            "row_by_row": sorted(loop, key=lambda c: (c[1], c[0])),
            "serpentine": sorted(
                loop, key=lambda c: (c[1], c[0] if c[1] % 2 else -c[0])
            ),
            "rows_before_columns": [(y, x) for x, y in loop],
            "rows_from_the_bottom": [(x, size + 1 - y) for x, y in loop],
            "counted_from_zero": [(x - 1, y - 1) for x, y in loop],
            "blocked_cells_visited": _comb(size),
        }
        unclosed = _unclosed(loop)
        if unclosed:
            cells["not_closed"] = unclosed
        # In a symmetric grid a mistake can give another right tour.
        wrong = {
            name: example
            for name, example in cells.items()
            if not _is_loop(params, example)
        }
        lists = {
            name: listing("steps", "xy", example) for name, example in wrong.items()
        }
        return lists | form_counterexamples("steps", "xy", loop)

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the tour up and down the columns of a grid without blocked cells."""
        return {"comb": listing("steps", "xy", _comb(params.size))}

    def measure(self, params: Params) -> float:
        """Return how many sides between free cells there are."""
        free = set(_grid_cells(params.size)).difference(params.blocked)
        return sum(near in free for cell in free for near in neighbours(cell)) / 2

    def draw(self, point: Space, rng: Stream) -> Params:
        """Block cells at random where that leaves no dead end, until a loop is found."""
        tries = min(_TRIES, max(10, _WORK // point.size**2))
        choose = {"tree": _tree_gaps, "strip": _strip_gaps}.get(
            point.obstacles, _block_cells
        )
        for _ in range(tries):
            blocked = choose(point, rng)
            if blocked is None:
                continue
            in_order = sorted(blocked, key=lambda cell: (cell[1], cell[0]))
            params = Params(size=point.size, blocked=tuple(in_order))
            if _loop(params) is not None:
                return params
        raise GenerationError(
            f"no grid of size {point.size} with {point.blocked:.0%} blocked by {point.obstacles} "
            f"had a loop in {tries} tries; ask for fewer blocked cells, larger obstacles or a tree"
        )


@lru_cache(maxsize=64)
def _loop(params: Params) -> tuple[Cell, ...] | None:
    size = params.size
    blocked = set(params.blocked)
    free = [cell for cell in _grid_cells(size) if cell not in blocked]
    loop = find_loop(free, Stream("loop", size, sorted(params.blocked)))
    return None if loop is None else tuple(loop)


def _grid_cells(size: int) -> list[Cell]:
    return [(x, y) for y in range(1, size + 1) for x in range(1, size + 1)]


def _blocked_text(params: Params) -> str:
    blocked = sorted(params.blocked, key=lambda cell: (cell[1], cell[0]))
    cells = ", ".join(str(list(cell)) for cell in blocked)
    return prompt_template(__name__, "prompt_blocked.txt").format(
        count=len(blocked), picture=_grid_text(params), cells=cells
    )


def _grid_text(params: Params) -> str:
    """Return the grid with numbered rows and columns."""
    width, marks = len(str(params.size)), set(params.blocked)
    lines = [
        " " * width + " |" + "".join(f" {x:{width}}" for x in range(1, params.size + 1))
    ]
    lines.append("-" * len(lines[0]))
    for y in range(1, params.size + 1):
        row = ("X" if (x, y) in marks else "." for x in range(1, params.size + 1))
        lines.append(f"{y:{width}} |" + "".join(f" {mark:>{width}}" for mark in row))
    return "\n".join(lines)


# Wrong answers.


def _is_loop(params: Params, cells: Sequence[Sequence[int]]) -> bool:
    """Whether these are the free cells in the order of a closed tour."""
    free = set(_grid_cells(params.size)).difference(params.blocked)
    pairs = zip(cells, [*cells[1:], cells[0]], strict=True)
    return (
        len(cells) == len(free)
        and set(map(tuple, cells)) == free
        and all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in pairs)
    )


def _unclosed(loop: list[Cell]) -> list[Cell] | None:
    """Return an open tour of the same cells, if some cell has a third one beside it."""
    for turn in range(len(loop)):
        ring = loop[turn:] + loop[:turn]
        place = {cell: i for i, cell in enumerate(ring)}
        for near in neighbours(ring[-1]):
            j = place.get(near, 0)
            if 0 < j < len(ring) - 2:
                return ring[: j + 1] + ring[:j:-1]
    return None


def _comb(size: int) -> list[Cell]:
    """Return the closed tour of a whole grid of even size: up column 1, then row by row."""
    rows = [
        (x, y)
        for y in range(1, size + 1)
        for x in (range(2, size + 1) if y % 2 else range(size, 1, -1))
    ]
    return rows + [(1, y) for y in range(size, 0, -1)]


# Fresh grids.


def _block_cells(point: Space, rng: Stream) -> set[Cell] | None:
    """Block about as many cells as wanted, with the colours balanced and no dead ends."""
    size = point.size
    grid = _grid_cells(size)
    target = round(point.blocked * size * size)
    blocked: set[Cell] = set()
    failures = 0
    while len(blocked) < target and failures < _PROPOSALS:
        fresh = _obstacle(point, rng) - blocked
        after = blocked | fresh
        if fresh and len(after) <= target and not _dead_ends(size, after, fresh):
            blocked, failures = after, 0
        else:
            failures += 1
    if len(blocked) < target - 4:
        return None
    surplus = sum(
        1 if sum(cell) % 2 == 0 else -1 for cell in grid if cell not in blocked
    )
    for _ in range(_PROPOSALS * size):
        if surplus == 0:
            return blocked
        cell = rng.choice(grid)
        even = sum(cell) % 2 == 0
        if (
            even == (surplus > 0)
            and cell not in blocked
            and not _dead_ends(size, blocked | {cell}, {cell})
        ):
            blocked.add(cell)
            surplus -= 1 if even else -1
    return None


def _dead_ends(size: int, blocked: set[Cell], fresh: set[Cell]) -> bool:
    """Whether a free cell beside newly blocked ones has fewer than two free neighbours."""

    def free(cell: Cell) -> bool:
        return min(cell) >= 1 and max(cell) <= size and cell not in blocked

    beside = {near for cell in fresh for near in neighbours(cell) if free(near)}
    return any(sum(map(free, neighbours(cell))) < 2 for cell in beside)


def _obstacle(point: Space, rng: Stream) -> set[Cell]:
    size, kind = point.size, point.obstacles
    if kind == "mixed":
        kind = rng.choice(("cells", "bars", "blocks"))
    if kind == "cells":
        return _rectangle(size, 1, 1, rng)
    if kind == "bars":
        length = rng.between(2, min(4, size - 1))
        return _rectangle(size, *rng.choice([(1, length), (length, 1)]), rng)
    if kind == "blocks":
        return _rectangle(size, 2, 2, rng)
    width, height = (rng.between(1, max(1, size // 3)) for _ in range(2))
    right, low = rng.below(2) * (size - width), rng.below(2) * (size - height)
    return {
        (right + x, low + y) for x in range(1, width + 1) for y in range(1, height + 1)
    }


def _rectangle(size: int, width: int, height: int, rng: Stream) -> set[Cell]:
    x0, y0 = rng.between(1, size - width + 1), rng.between(1, size - height + 1)
    return {(x0 + x, y0 + y) for x in range(width) for y in range(height)}


def _tree_gaps(point: Space, rng: Stream) -> set[Cell]:
    """Return the cells outside a random tree of 2 x 2 blocks; the tree's outline is a loop."""
    half = point.size // 2
    tree = {(rng.below(half), rng.below(half))}
    while len(tree) < max(1, round(point.fill * half * half)):
        edge = sorted({near for block in tree for near in neighbours(block)} - tree)
        tree.add(rng.choice([c for c in edge if min(c) >= 0 and max(c) < half]))
    return {
        (x, y)
        for x, y in _grid_cells(point.size)
        if ((x - 1) // 2, (y - 1) // 2) not in tree
    }


def _strip_gaps(point: Space, rng: Stream) -> set[Cell] | None:
    """Return the cells outside a random strip, which has branches; its outline is a loop.

    It grows by squares of four cells that share one side with it, and nothing else.
    """
    corner = rng.between(1, point.size - 1), rng.between(1, point.size - 1)
    squares, strip = {corner}, _square(corner)
    while len(strip) < max(4, round(point.fill * point.size**2)):
        beside = sorted(
            {near for square in squares for near in neighbours(square)} - squares
        )
        fits = [
            near
            for near in beside
            if min(near) >= 1
            and max(near) < point.size
            and len(_square(near) & strip) == 2
        ]
        if not fits:
            return None
        corner = rng.choice(fits)
        squares, strip = squares | {corner}, strip | _square(corner)
    return set(_grid_cells(point.size)) - strip


def _square(corner: Cell) -> set[Cell]:
    x, y = corner
    return {(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)}


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """Return the four cells that share a side with a cell."""
    x, y = cell
    return (x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)


def find_loop(free: Collection[Cell], rng: Stream) -> list[Cell] | None:
    """Return the cells in the order of a closed tour; None if there is none or it was not found.

    Work is bounded: five covers, a hundred rounds of merging each.
    """
    cells = set(free)
    if not could_have_loop(cells):
        return None
    for _ in range(_RESTARTS):
        cover = find_cover(cells, rng)
        if cover is None:
            return None
        if _merge_loops(cover, rng):
            return _loops(cover)[0]
    return None


def could_have_loop(free: set[Cell]) -> bool:
    """Whether the cells pass quick tests that every closed tour of them implies.

    At least four cells, as many of each colour, at least two neighbours each, all connected.
    """
    if len(free) < 4 or 2 * sum((x + y) % 2 for x, y in free) != len(free):
        return False
    if any(sum(near in free for near in neighbours(cell)) < 2 for cell in free):
        return False
    reached = reachable(min(free), lambda cell: free.intersection(neighbours(cell)))
    return len(reached) == len(free)


def find_cover(free: set[Cell], rng: Stream) -> Cover | None:
    """Return a random subgraph in which every cell has two neighbours, or None if none exists."""
    order = sorted(free)
    rng.shuffle(order)
    near: dict[Cell, list[Cell]] = {}
    for cell in order:
        near[cell] = [beside for beside in neighbours(cell) if beside in free]
        rng.shuffle(near[cell])
    cover: Cover = {cell: set() for cell in order}
    dark = [cell for cell in order if sum(cell) % 2 == 0]
    if all(_augment(cover, near, cell) for cell in dark for _ in range(2)):
        return cover if all(len(partners) == 2 for partners in cover.values()) else None
    return None


def _augment(cover: Cover, near: dict[Cell, list[Cell]], start: Cell) -> bool:
    """Give a dark cell one more partner, moving partners of others where needed."""
    came_from: dict[Cell, Cell] = {}
    waiting = deque([start])
    reached = {start}
    while waiting:
        dark = waiting.popleft()
        for light in near[dark]:
            if light in reached or light in cover[dark]:
                continue
            reached.add(light)
            came_from[light] = dark
            if len(cover[light]) < 2:
                _flip_cover(cover, came_from, start, light)
                return True
            for partner in sorted(cover[light] - reached):
                reached.add(partner)
                came_from[partner] = light
                waiting.append(partner)
    return False


def _flip_cover(
    cover: Cover, came_from: dict[Cell, Cell], start: Cell, light: Cell
) -> None:
    while True:
        dark = came_from[light]
        cover[light].add(dark)
        cover[dark].add(light)
        if dark == start:
            return
        light = came_from[dark]
        cover[light].remove(dark)
        cover[dark].remove(light)


def _loops(cover: Cover) -> list[list[Cell]]:
    """Return the loops of a cover, each from its least cell."""
    loose = set(cover)
    loops = []
    for start in sorted(cover):
        if start not in loose:
            continue
        loop, ahead = [start], min(cover[start])
        while ahead != start:
            loop.append(ahead)
            (ahead,) = cover[ahead] - {loop[-2]}
        loose.difference_update(loop)
        loops.append(loop)
    return loops


def _merge_loops(cover: Cover, rng: Stream) -> bool:
    """Swap sides of squares until one loop is left; False if a hundred rounds do not do it."""
    squares = [
        ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1))
        for x, y in sorted(cover)
        if {(x + 1, y), (x + 1, y + 1), (x, y + 1)} <= cover.keys()
    ]
    idle = 0
    for _ in range(_ROUNDS):
        loops = _loops(cover)
        if len(loops) == 1:
            return True
        loop_of = {cell: k for k, loop in enumerate(loops) for cell in loop}
        rng.shuffle(squares)
        swappable = [square for ring in squares for square in _parallel(cover, ring)]
        if not swappable:
            return False
        joined = False
        for a, b, c, d in swappable:
            # An earlier swap of this round may have taken these sides or joined these loops.
            if loop_of[a] != loop_of[c] and b in cover[a] and d in cover[c]:
                old, new = loop_of[c], loop_of[a]
                _swap(cover, a, b, c, d)
                loop_of.update((cell, new) for cell in loops[old])
                loops[new] += loops[old]
                joined = True
        idle = 0 if joined else idle + 1
        if idle > _IDLE:
            return False
        if not joined:
            _swap(cover, *rng.choice(swappable))
    return False


def _parallel(cover: Cover, ring: Square) -> Iterable[Square]:
    """Yield the square, turned so that sides ab and cd are used and the other two are not."""
    a, b, c, d = ring
    for p, q, r, s in ((a, b, c, d), (b, c, d, a)):
        if q in cover[p] and s in cover[r] and r not in cover[q] and p not in cover[s]:
            yield p, q, r, s


def _swap(cover: Cover, a: Cell, b: Cell, c: Cell, d: Cell) -> None:
    for p, q in ((a, b), (c, d)):
        cover[p].remove(q)
        cover[q].remove(p)
    for p, q in ((b, c), (d, a)):
        cover[p].add(q)
        cover[q].add(p)
