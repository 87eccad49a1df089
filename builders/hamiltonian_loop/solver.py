"""Closed tours of grid cells: cover all cells by loops, then merge the loops into one.

Cells are (x, y). A cover is a subgraph in which every cell has two neighbours; it is found by
augmenting paths between the two colours of the chessboard, so that if there is none, there is no
tour either. Two loops that run along opposite sides of a square of four cells become one when the
other two sides are taken instead.
"""

from collections import deque
from collections.abc import Collection, Iterable

from scbench.base.seeding import Stream

Cell = tuple[int, int]
Cover = dict[Cell, set[Cell]]
"""The two partners of every cell."""

_ROUNDS = 100
_IDLE = 25
_RESTARTS = 5
"""Bounds on one search: rounds of merging, those in a row that join nothing, and covers. Merging
takes a handful of rounds where there is a tour at all."""


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
        if _merge(cover, rng):
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
    reached = {min(free)}
    waiting = list(reached)
    while waiting:
        fresh = free.intersection(neighbours(waiting.pop())) - reached
        reached |= fresh
        waiting.extend(fresh)
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
                _flip(cover, came_from, start, light)
                return True
            for partner in sorted(cover[light] - reached):
                reached.add(partner)
                came_from[partner] = light
                waiting.append(partner)
    return False


def _flip(cover: Cover, came_from: dict[Cell, Cell], start: Cell, light: Cell) -> None:
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


def _merge(cover: Cover, rng: Stream) -> bool:
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


Square = tuple[Cell, Cell, Cell, Cell]


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
