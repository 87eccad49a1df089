"""Closed tours of cells: loops that cover the cells are merged into one.

A cover is a subgraph in which every cell has two neighbours. Augmenting paths between the two
colours of the chessboard find a cover if there is one; without a cover, there is no tour. Two loops
that run along opposite sides of a square of four cells become one if they use the other two sides
instead.
"""

from collections import deque
from collections.abc import Collection, Iterator

from scbench.base.seeding import Stream
from scbench.graders.shared.grid_paths import reachable

# Limits of one search: covers, rounds of merging, and rounds in a row that join nothing. If
# there is a tour, merging needs a handful of rounds.
_RESTARTS = 5
_ROUNDS = 100
_IDLE = 25
Cell = tuple[int, int]
Square = tuple[Cell, Cell, Cell, Cell]
# The two partners of every cell.
Cover = dict[Cell, set[Cell]]


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """Return the four cells that share a side with a cell."""
    x, y = cell
    return (x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)


def find_loop(free: Collection[Cell], rng: Stream) -> list[Cell] | None:
    """Return the cells in the order of a closed tour; None if the search finds none.

    Work is bounded: five covers, a hundred rounds of merging each.
    """
    cells = set(free)
    if not could_have_loop(cells):
        return None
    for _ in range(_RESTARTS):
        cover = find_cover(cells, rng)
        if cover is None:
            return None
        if merge_loops(cover, rng):
            return loops_of(cover)[0]
    return None


def could_have_loop(free: set[Cell]) -> bool:
    """Return whether the cells pass quick tests that are necessary for a closed tour.

    They must be at least four connected cells, half of them of each colour, and each with at least
    two neighbours.
    """

    def free_neighbours(cell: Cell) -> set[Cell]:
        return free.intersection(neighbours(cell))

    odd = sum((x + y) % 2 for x, y in free)
    if len(free) < 4 or 2 * odd != len(free):
        return False
    if any(len(free_neighbours(cell)) < 2 for cell in free):
        return False
    reached = reachable(min(free), free_neighbours)
    return len(reached) == len(free)


def find_cover(free: set[Cell], rng: Stream) -> Cover | None:
    """Return a random subgraph in which every cell has two neighbours, or None if none exists."""
    order = sorted(free)
    rng.shuffle(order)
    near: dict[Cell, list[Cell]] = {}
    for cell in order:
        near[cell] = [partner for partner in neighbours(cell) if partner in free]
        rng.shuffle(near[cell])
    cover: Cover = {cell: set() for cell in order}
    for x, y in order:
        if (x + y) % 2 == 0:
            for _ in range(2):
                if not add_partner(cover, near, (x, y)):
                    return None
    is_full = all(len(partners) == 2 for partners in cover.values())
    return cover if is_full else None


def add_partner(cover: Cover, near: dict[Cell, list[Cell]], start: Cell) -> bool:
    """Give a dark cell one more partner, and change partners of other cells if necessary.

    A breadth-first search for an augmenting path goes from dark cells along unused sides of the
    cover, and from light cells along used sides.
    """
    came_from: dict[Cell, Cell] = {}
    pending = deque([start])
    reached = {start}
    while pending:
        dark = pending.popleft()
        for light in near[dark]:
            if light in reached or light in cover[dark]:
                continue
            reached.add(light)
            came_from[light] = dark
            if len(cover[light]) < 2:
                flip_path(cover, came_from, start, light)
                return True
            for partner in sorted(cover[light] - reached):
                reached.add(partner)
                came_from[partner] = light
                pending.append(partner)
    return False


def flip_path(
    cover: Cover, came_from: dict[Cell, Cell], start: Cell, light: Cell
) -> None:
    """Swap used and unused sides along an augmenting path, from its end back to its start."""
    while True:
        dark = came_from[light]
        cover[light].add(dark)
        cover[dark].add(light)
        if dark == start:
            return
        light = came_from[dark]
        cover[light].remove(dark)
        cover[dark].remove(light)


def merge_loops(cover: Cover, rng: Stream) -> bool:
    """Swap sides of squares until one loop is left; False if that takes over a hundred rounds."""
    squares = []
    for x, y in sorted(cover):
        ring = ((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1))
        if cover.keys() >= set(ring):
            squares.append(ring)
    idle = 0
    for _ in range(_ROUNDS):
        loops = loops_of(cover)
        if len(loops) == 1:
            return True
        rng.shuffle(squares)
        swappable: list[Square] = []
        for ring in squares:
            swappable += swaps_of(cover, ring)
        if not swappable:
            return False
        if join_loops(cover, loops, swappable):
            idle = 0
            continue
        idle += 1
        if idle > _IDLE:
            return False
        # A swap within one loop splits or reroutes it, which may allow new swaps.
        swap_sides(cover, rng.choice(swappable))
    return False


def join_loops(cover: Cover, loops: list[list[Cell]], swappable: list[Square]) -> bool:
    """Swap sides wherever that joins two loops; return whether it joined any."""
    loop_of = {}
    for k, loop in enumerate(loops):
        loop_of.update(dict.fromkeys(loop, k))
    joined = False
    for square in swappable:
        a, b, c, d = square
        # An earlier swap in this round may have used these sides or joined these loops.
        if loop_of[a] != loop_of[c] and b in cover[a] and d in cover[c]:
            into = loop_of[a]
            absorbed = loops[loop_of[c]]
            swap_sides(cover, square)
            loop_of.update(dict.fromkeys(absorbed, into))
            loops[into] += absorbed
            joined = True
    return joined


def loops_of(cover: Cover) -> list[list[Cell]]:
    """Return the loops of a cover, each starting at its smallest cell."""
    pending = set(cover)
    loops = []
    for start in sorted(cover):
        if start not in pending:
            continue
        # Either direction is right; starting with the smaller partner makes the result unique.
        loop = [start]
        ahead = min(cover[start])
        while ahead != start:
            # Continue to the partner from which the loop does not come.
            (after,) = cover[ahead] - {loop[-1]}
            loop.append(ahead)
            ahead = after
        pending.difference_update(loop)
        loops.append(loop)
    return loops


def swaps_of(cover: Cover, ring: Square) -> Iterator[Square]:
    """Yield the square rotated so that sides ab and cd are used and the other two are not."""
    p, q, r, s = ring
    for a, b, c, d in (ring, (q, r, s, p)):
        used = b in cover[a] and d in cover[c]
        if used and b not in cover[c] and d not in cover[a]:
            yield a, b, c, d


def swap_sides(cover: Cover, square: Square) -> None:
    """Use sides bc and da of a square instead of ab and cd."""
    a, b, c, d = square
    for p, q in ((a, b), (c, d)):
        cover[p].remove(q)
        cover[q].remove(p)
    for p, q in ((b, c), (d, a)):
        cover[p].add(q)
        cover[q].add(p)
