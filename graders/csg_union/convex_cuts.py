"""Cutting many convex polygons along lines.

Polygons with different numbers of corners share one array (n, w, 3). Each row starts with the
corners of a polygon; the rest of the row is unused. The sizes (n,) are the numbers of corners.
"""

from collections.abc import Iterator

import numpy as np

from scbench.graders.shared.vectors import Array, Indices


def clip(polygons: Array, sizes: Indices, values: Array) -> tuple[Array, Indices]:
    """Cut convex polygons (n, w, 3) to the parts where a linear function is not negative.

    ``values`` (n, w) has the function's value at each corner; values beyond the sizes (n,) are
    ignored. Returns polygons in the same form, and their sizes.
    """
    count, width, _ = polygons.shape
    place = np.arange(width)
    is_corner = place < sizes[:, None]
    inside = (values >= 0) & is_corner
    if np.array_equal(inside, is_corner):
        return polygons, sizes
    after = np.where(place + 1 < sizes[:, None], place + 1, 0)
    inside_after = np.take_along_axis(inside, after, axis=1)
    # For each corner: whether it stays, and whether a new corner follows it.
    keep = np.empty((count, 2 * width), dtype=np.bool_)
    keep[:, ::2] = inside
    keep[:, 1::2] = is_corner & (inside != inside_after)
    # The new corners, where a side crosses the line.
    row, column = np.nonzero(keep[:, 1::2])
    end = after[row, column]
    value = values[row, column]
    start = polygons[row, column]
    share = value / (value - values[row, end])
    corners = np.repeat(polygons, 2, axis=1)
    corners[row, 2 * column + 1] = start + share[:, None] * (polygons[row, end] - start)
    # Old and new corners, moved together so that no gaps remain.
    new_sizes = keep.sum(axis=1)
    result = np.zeros((count, int(new_sizes.max(initial=0)), 3))
    row, slot = np.nonzero(keep)
    new_slot = (np.cumsum(keep, axis=1) - 1)[row, slot]
    result[row, new_slot] = corners[row, slot]
    return result, new_sizes


def pad_corners(polygons: Array, width: int) -> Array:
    """Return polygons (n, w, 3) with room for at least this many corners each."""
    extra = max(0, width - polygons.shape[1])
    return np.concatenate([polygons, np.zeros((len(polygons), extra, 3))], axis=1)


def fans(polygons: Array, sizes: Indices) -> Iterator[Array]:
    """Yield convex polygons (n, w, 3) as triangles (., 3, 3) that fan out from the first corner."""
    for w in range(1, polygons.shape[1] - 1):
        large = np.flatnonzero(sizes > w + 1)
        yield polygons[large][:, [0, w, w + 1]]
