"""Packings that nobody has to think about."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from pydantic import JsonValue

from scbench.schemas.pack_rectangular_prisms import Params

Size = tuple[int, int, int]

_LARGEST_LIST = 200
"""Prisms that the greedy packing is tried with; its time grows with their cube."""


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return rows of all prisms, and what the greediest of packings makes."""
    sizes = [_ascending(line.size) for line in params.prisms for _ in range(line.count)]
    packings = {
        "one row, end to end": _row([(c, b, a) for a, b, c in sizes]),
        "one row, face to face": _row(sizes),
    }
    if len(sizes) <= _LARGEST_LIST:
        packings["each where the box grows least"] = _greedy(sizes)
    return {name: _answer(*boxes) for name, boxes in packings.items()}


def _ascending(size: Sequence[int]) -> Size:
    a, b, c = sorted(size)
    return a, b, c


def _row(sizes: Sequence[Size]) -> tuple[np.ndarray, np.ndarray]:
    extents = np.array(sizes)
    low = np.zeros_like(extents)
    low[1:, 0] = extents[:-1, 0].cumsum()
    return low, low + extents


def _greedy(sizes: Sequence[Size]) -> tuple[np.ndarray, np.ndarray]:
    """Put prism after prism, the largest first, at a free corner where the box stays smallest."""
    low, high = np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64)
    corners = np.zeros((1, 3), np.int64)
    extent = np.zeros(3, np.int64)
    for size in sorted(sizes, key=lambda size: (-size[0] * size[1] * size[2], size)):
        ways = np.array(sorted(set(permutations(size))))
        at = np.repeat(corners, len(ways), axis=0)
        end = at + np.tile(ways, (len(corners), 1))
        occupied = np.zeros(len(at), bool)
        for start, stop in zip(low, high, strict=True):
            occupied |= ((at < stop) & (end > start)).all(axis=1)
        grown = np.maximum(end, extent)
        # The smallest box; of equal ones the one nearest to a cube, then the place nearest to 0.
        keys = (*at.T[::-1], at.sum(axis=1), grown.max(axis=1), grown.prod(axis=1), occupied)
        best = np.lexsort(keys)[0]
        low, high = np.vstack([low, at[best]]), np.vstack([high, end[best]])
        extent = grown[best]
        new = np.tile(at[best], (3, 1))
        np.fill_diagonal(new, end[best])
        corners = np.unique(np.vstack([corners, new]), axis=0)
    return low, high


def _answer(low: np.ndarray, high: np.ndarray) -> JsonValue:
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return {"boxes": [{"XyzMin": start, "XyzMax": stop} for start, stop in pairs]}
