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
        found: solutions, each a sorted tuple of rectangles.
        nodes: search nodes looked at; 1 if propagation was enough.
        candidates: places for all clues together, before any propagation.
        complete: whether the search went on until there was nothing left or the limit was reached.
    """

    found: list[tuple[Rectangle, ...]]
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
    found: list[tuple[Rectangle, ...]] = []
    stack = [[list(at) for at in places]]
    nodes = 0
    while stack and len(found) < limit and nodes < max_nodes:
        options = stack.pop()
        nodes += 1
        if not _propagate(options, full):
            continue
        count, i = min(((len(o), i) for i, o in enumerate(options) if len(o) > 1), default=(1, 0))
        if count == 1:
            chosen = (places[k][masks[0]] for k, masks in enumerate(options))
            found.append(tuple(sorted(chosen)))
            continue
        stack += [
            [[mask] if k == i else list(o) for k, o in enumerate(options)]
            for mask in reversed(options[i])
        ]
    complete = not stack or len(found) == limit
    return Solutions(found, nodes, sum(map(len, places)), complete)


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
        taken = 0
        for both in common:
            if taken & both:
                return False
            taken |= both
        for i, masks in enumerate(options):
            closed = taken & ~common[i]
            must = reach[i] & ~twice
            kept = [mask for mask in masks if not mask & closed and mask & must == must]
            if len(kept) < len(masks):
                options[i] = kept
                changed = True
    return True
