"""Solving Shikaku by propagation and search over bit masks, one bit for each cell.

Every clue has its candidates: the rectangles of its area that hold it and no other clue. Impossible
candidates are dropped until nothing changes, then the clue with the fewest left is branched on.
"""

from collections.abc import Sequence
from typing import NamedTuple

Rectangle = tuple[int, ...]
"""Left, top, right, bottom, both ends included."""


class Solutions(NamedTuple):
    """What a search found.

    Attributes:
        solutions: found ones, each a sorted tuple of rectangles.
        nodes: search nodes looked at; 1 if propagation was enough.
        candidates: places for all clues together, before any propagation.
        complete: whether the search went on until there was nothing left or the limit was reached.
    """

    solutions: list[tuple[Rectangle, ...]]
    nodes: int
    candidates: int
    complete: bool


def solve(grid: Sequence[Sequence[int]], limit: int, max_nodes: int) -> Solutions:
    """Find up to ``limit`` solutions of a puzzle.

    Args:
        grid: rows of clues, 0 for blank.
        limit: stop at this number of solutions; 2 decides uniqueness.
        max_nodes: stop after this number of search nodes.
    """
    places = _candidates(grid)
    full = (1 << len(grid) * len(grid[0])) - 1
    solutions: list[tuple[Rectangle, ...]] = []
    stack = [[list(at) for at in places]]
    nodes = 0
    while stack and len(solutions) < limit and nodes < max_nodes:
        options = stack.pop()
        nodes += 1
        if not _propagate(options, full):
            continue
        count, i = min(((len(o), i) for i, o in enumerate(options) if len(o) > 1), default=(1, 0))
        if count == 1:
            rectangles = (places[k][masks[0]] for k, masks in enumerate(options))
            solutions.append(tuple(sorted(rectangles)))
            continue
        stack += [
            [[mask] if k == i else list(o) for k, o in enumerate(options)]
            for mask in reversed(options[i])
        ]
    complete = not stack or len(solutions) == limit
    return Solutions(solutions, nodes, sum(map(len, places)), complete)


def _candidates(grid: Sequence[Sequence[int]]) -> list[dict[int, Rectangle]]:
    """Return for every clue the rectangles of its area around it alone, by their cells' bits."""
    height, width = len(grid), len(grid[0])
    clues = [(x, y, v) for y, row in enumerate(grid) for x, v in enumerate(row) if v]
    clue_bits = sum(1 << y * width + x for x, y, _ in clues)
    return [
        {
            mask: (l, t, l + w - 1, t + h - 1)
            for w in range(1, min(area, width) + 1)
            if area % w == 0
            for h in [area // w]
            for t in range(max(0, y - h + 1), min(y, height - h) + 1)
            for l in range(max(0, x - w + 1), min(x, width - w) + 1)
            for mask in [sum((1 << w) - 1 << row * width + l for row in range(t, t + h))]
            if mask & clue_bits == 1 << y * width + x
        }
        for x, y, area in clues
    ]


def _propagate(options: list[list[int]], full: int) -> bool:
    """Drop impossible candidates until nothing changes; False if a clue or cell has none."""
    changed = True
    while changed:
        changed = False
        common, reach = [], []
        once = twice = 0
        for masks in options:
            if not masks:
                return False
            both = either = masks[0]
            for mask in masks:
                both &= mask
                either |= mask
            common.append(both)
            reach.append(either)
            twice |= once & either
            once |= either
        if once != full:
            return False
        occupied = 0
        for both in common:
            if occupied & both:
                return False
            occupied |= both
        for i, masks in enumerate(options):
            closed = occupied & ~common[i]
            must = reach[i] & ~twice
            possible = [mask for mask in masks if not mask & closed and mask & must == must]
            if len(possible) < len(masks):
                options[i] = possible
                changed = True
    return True
