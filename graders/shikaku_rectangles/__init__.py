"""Do these rectangles cut the grid into pieces that each hold one clue, equal to their area?

Cells are bits of one integer, so that covering is decided exactly and in one operation for each
rectangle. No stored solution is compared: every cut that keeps the rules is right. Positions in
messages and details are those of the answer's list.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.shikaku_rectangles import Answer, Params

VERSION = 2

CHECKS = {
    "corners": "In every rectangle, right is not less than left and bottom is not less than top.",
    "inside": "Every rectangle lies inside the grid.",
    "overlap": "No cell is covered by two rectangles.",
    "covered": "Every cell is covered by a rectangle.",
    "one_clue": "Every rectangle holds exactly one clue.",
    "area": "Every rectangle inside the grid with one clue has as many cells as the clue says.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("corners", "inside", "overlap", "covered", "one_clue", "area")

# Column and row.
Cell = tuple[int, int]


class Grid(NamedTuple):
    """The grid of an instance. Bit y * width + x of a number is the cell in column x of row y."""

    width: int
    height: int
    clues: int
    """Bits of the cells with a clue."""
    values: dict[int, int]
    """The number on each clue's cell, by its bit."""
    columns: tuple[int, ...]
    """Entry h: the first cell of each of the h top rows."""

    def block(self, across: int, down: int) -> int:
        """Return the bits of a rectangle of this size in the top left corner."""
        return self.columns[down] * ((1 << across) - 1)

    def cells(self, bits: int) -> list[Cell]:
        """Return the column and row of every bit that is set, row by row."""
        marks = f"{bits:b}"[::-1]
        return [
            (k % self.width, k // self.width)
            for k, mark in enumerate(marks)
            if mark == "1"
        ]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the rectangles solve the puzzle, else 0."""
    checks = Checklist(CHECKS)
    count, size = len(answer.rectangles), params.width * params.height
    if count > size:
        return checks.too_large(
            f"{count} rectangles are listed; the grid has {size} cells."
        )
    grid = grid_of(params)
    cells, outside = judge_corners(checks, grid, answer)
    overlapped, uncovered = judge_cover(checks, grid, cells)
    open_clues = judge_clues(checks, grid, answer, cells, outside)
    return checks.binary(
        overlapped=overlapped, uncovered=uncovered, open_clues=open_clues
    )


@lru_cache(maxsize=256)
def grid_of(params: Params) -> Grid:
    """Return the grid of an instance, kept for the next answers to it."""
    values = {
        1 << y * params.width + x: value
        for y, row in enumerate(params.grid)
        for x, value in enumerate(row)
        if value
    }
    columns = [0]
    for y in range(params.height):
        columns.append(columns[-1] | 1 << y * params.width)
    clues = sum(values)
    return Grid(params.width, params.height, clues, values, tuple(columns))


def judge_corners(
    checks: Checklist, grid: Grid, answer: Answer
) -> tuple[dict[int, int], set[int]]:
    """Check the corners; return cells in the grid as bits, by position, and who leaves the grid."""
    width, height = grid.width, grid.height
    cells: dict[int, int] = {}
    crossed, outside = [], []
    for i, (west, top, east, bottom) in enumerate(answer.rectangles):
        if max(west, east) >= width or max(top, bottom) >= height:
            outside.append(i)
        if east < west or bottom < top:
            crossed.append(i)
            continue
        across = min(east, width - 1) - west + 1
        down = min(bottom, height - 1) - top + 1
        cells[i] = 0
        if across > 0 and down > 0:
            cells[i] = grid.block(across, down) << top * width + west
    for check_id, offenders, fault in (
        ("corners", crossed, "have right less than left or bottom less than top"),
        ("inside", outside, f"leave the grid of {width} columns and {height} rows"),
    ):
        checks.forbid_many(
            check_id,
            offenders,
            f"of {len(answer.rectangles)} rectangles {fault}",
            lambda i: f"is {describe(answer.rectangles, i)}",
        )
    return cells, set(outside)


def judge_cover(
    checks: Checklist, grid: Grid, cells: dict[int, int]
) -> tuple[list[Cell], list[Cell]]:
    """Check that every cell is covered once; return those covered more than once and not at all."""
    size = grid.width * grid.height
    covered, twice = 0, 0
    for bits in cells.values():
        twice |= covered & bits
        covered |= bits
    overlapped = grid.cells(twice)
    sharing = [i for i, bits in cells.items() if bits & twice]
    checks.forbid(
        "overlap",
        sharing,
        lambda i: (
            f"{len(overlapped)} of {size} cells are covered more than once, the first at "
            f"{cell_words(overlapped[0])}; the first of {len(sharing)} rectangles with such "
            f"cells is number {i} of the list (from 0)."
        ),
    )
    uncovered = grid.cells(grid.block(grid.width, grid.height) & ~covered)
    checks.forbid(
        "covered",
        uncovered,
        lambda cell: (
            f"{len(uncovered)} of {size} cells are in no rectangle, the first at "
            f"{cell_words(cell)}."
        ),
    )
    return overlapped, uncovered


def judge_clues(
    checks: Checklist,
    grid: Grid,
    answer: Answer,
    cells: dict[int, int],
    outside: set[int],
) -> list[Cell]:
    """Check clues and areas; return the clues that have no rectangle of their own and their area.

    A rectangle that leaves the grid may hold a clue, but has no area that could be right.
    """
    n = len(answer.rectangles)
    clueless, wrong_area = [], []
    solved = 0
    for i, bits in cells.items():
        clue = bits & grid.clues
        # Several clues together are no key of the table.
        value = grid.values.get(clue)
        if value is None:
            clueless.append(i)
        elif i in outside:
            continue
        elif bits.bit_count() == value:
            solved |= clue
        else:
            wrong_area.append(i)
    checks.forbid_many(
        "one_clue",
        clueless,
        f"of {n} rectangles do not hold exactly one clue",
        lambda i: (
            f"is {describe(answer.rectangles, i)}, which holds "
            f"{(cells[i] & grid.clues).bit_count()}"
        ),
    )
    if solved or wrong_area:
        checks.forbid_many(
            "area",
            wrong_area,
            f"of {n} rectangles have another area than their clue",
            lambda i: (
                f"is {describe(answer.rectangles, i)}, with {cells[i].bit_count()} cells for the "
                f"clue {grid.values[cells[i] & grid.clues]}"
            ),
        )
    else:
        checks.skip("area", "No rectangle inside the grid holds exactly one clue.")
    return grid.cells(grid.clues & ~solved)


def cell_words(cell: Cell) -> str:
    """Return a cell as words of a message."""
    return f"column {cell[0]} of row {cell[1]}"


def describe(rectangles: Sequence[Sequence[int]], i: int) -> str:
    """Return the rectangle at a position as words of a message."""
    corners = rectangles[i]
    # Printing a number takes time with the square of its length.
    text = "with coordinates beyond 10^9"
    if max(corners) < 10**9:
        text = str(list(corners))
    return f"number {i} of the list (from 0), {text}"
