"""Pairs of triangles whose bounding boxes meet: candidates for slower tests."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from scbench.graders.shared.vectors import Array, Indices, Mask

# Rows compared together; bounds memory, not results.
_BLOCK = 256
# Comparisons per allowed pair, in `is_crowded`.
_COMPARISONS_PER_PAIR = 1000


def close_pairs(corners: Array, margin: float, max_pairs: int) -> Indices | None:
    """Return the pairs (p, 2) of triangles whose boxes come within a margin of each other.

    The triangles have the shape (m, 3, 3); the margin is along each axis. If there are
    more pairs than ``max_pairs``, None is returned instead.
    """
    low = corners.min(axis=1)
    high = corners.max(axis=1) + margin
    # A sweep along x: after a triangle in this order, boxes that start before its end meet it along
    # x.
    order = np.argsort(low[:, 0], kind="stable")
    low = low[order]
    high = high[order]
    ends = np.searchsorted(low[:, 0], high[:, 0], side="right")
    blocks = [np.zeros((0, 2), dtype=np.int64)]
    count = 0
    for first in range(0, len(order), _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, len(order)))[:, None]
        columns = np.arange(first, int(ends[rows].max()))
        near: Mask = (columns > rows) & (columns < ends[rows])
        for axis in (1, 2):
            near &= low[columns, axis] <= high[rows, axis]
            near &= low[rows, axis] <= high[columns, axis]
        i, j = np.nonzero(near)
        count += len(i)
        if count > max_pairs:
            return None
        block = np.stack([order[first + i], order[first + j]], axis=1)
        blocks.append(np.sort(block, axis=1))
    pairs = np.concatenate(blocks)
    by_position = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[by_position]


def is_crowded(bodies: Sequence[Array], max_pairs: int, margin: float = 0.0) -> bool:
    """Whether triangles (m, 3, 3) of different bodies have more meeting boxes than ``max_pairs``.

    Also true if counting them would take a thousand times as many comparisons. The time of solid
    operations on bodies grows with the number of these pairs. Boxes meet if they are within the
    margin along each axis.
    """
    boxes = [(body.min(axis=1), body.max(axis=1) + margin) for body in bodies]
    pairs = 0
    comparisons = 0
    for (a_low, a_high), (b_low, b_high) in combinations(boxes, 2):
        # Only triangles that reach into the boxes of both bodies can meet.
        start = np.maximum(a_low.min(axis=0), b_low.min(axis=0))
        end = np.minimum(a_high.max(axis=0), b_high.max(axis=0))
        if np.any(start > end):
            continue
        a = _boxes_within(a_low, a_high, start, end)
        b = _boxes_within(b_low, b_high, start, end)
        for first in range(0, len(a), _BLOCK):
            rows = a[first : first + _BLOCK, None]
            comparisons += len(rows) * len(b)
            if comparisons > _COMPARISONS_PER_PAIR * max_pairs:
                return True
            meet: Mask = np.ones((len(rows), len(b)), dtype=bool)
            for axis in range(3):
                meet &= a_low[rows, axis] <= b_high[b, axis]
                meet &= b_low[b, axis] <= a_high[rows, axis]
            pairs += int(np.count_nonzero(meet))
            if pairs > max_pairs:
                return True
    return False


def _boxes_within(low: Array, high: Array, start: Array, end: Array) -> Indices:
    """Return the boxes (m, 3) that reach into the box from start to end."""
    reaches = (low <= end) & (high >= start)
    return np.flatnonzero(np.all(reaches, axis=1))
