"""Division of a set of cells into few rectangles."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Cells = npt.NDArray[np.bool_]
# First row, first column, and the row and the column after the last.
Rectangle = tuple[int, int, int, int]


class Run(NamedTuple):
    """Neighbouring cells of a row: the first column, and the one after the last."""

    row: int
    start: int
    end: int


def rectangles(mask: Cells) -> list[Rectangle]:
    """Cut a set of cells, shape (rows, columns), into few rectangles.

    Returns:
        First row, first column, and the row and the column after the last, of each.
    """
    finished: list[Rectangle] = []
    # First and last row of the rectangle that may still grow, by its columns.
    growing: dict[tuple[int, int], tuple[int, int]] = {}
    for row, start, end in runs_of(mask):
        first, last = growing.get((start, end), (row, row - 1))
        if last < row - 1:
            finished.append((first, start, last + 1, end))
            first = row
        growing[start, end] = (first, row)
    for (start, end), (first, last) in growing.items():
        finished.append((first, start, last + 1, end))
    return sorted(finished)


def runs_of(mask: Cells) -> list[Run]:
    """Return the runs of cells of all rows, row by row."""
    steps = np.diff(mask.astype(np.int8), axis=1, prepend=0, append=0)
    rows, starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    bounds = zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
    return [Run(row, start, end) for row, start, end in bounds]
