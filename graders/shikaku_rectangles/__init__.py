"""Checks whether rectangles cover every cell once, each with one clue that equals its area.

Cells are bits of one integer, so one operation for each rectangle decides coverage exactly. Every
division that follows the rules is right. Positions in messages and details count from 0 in the
answer's list.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.shikaku_rectangles import Answer, Params

VERSION = 2

CHECKS = {
    "corners": "In every rectangle, right is not less than left and bottom is not less than top.",
    "inside": "Every rectangle is inside the grid.",
    "overlap": "No cell is in two rectangles.",
    "covered": "Every cell is in a rectangle.",
    "one_clue": "Every rectangle contains exactly one clue.",
    "area": "In every rectangle that is inside the grid and contains exactly one clue, the clue "
    "equals the area.",
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
    """Entry h has the bits of the first cells of the top h rows."""

    def block(self, across: int, down: int) -> int:
        """Return the bits of a rectangle of this size in the top left corner."""
        return self.columns[down] * ((1 << across) - 1)

    def cells(self, bits: int) -> list[Cell]:
        """Return the column and row of every bit that is set, row by row."""
        cells = []
        # From the lowest bit, which is the first cell.
        for k, mark in enumerate(f"{bits:b}"[::-1]):
            if mark == "1":
                y, x = divmod(k, self.width)
                cells.append((x, y))
        return cells


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the rectangles solve the puzzle, else 0."""
    checks = Checklist(CHECKS)
    count = len(answer.rectangles)
    size = params.width * params.height
    if count > size:
        return checks.too_large(
            f"{count:,} rectangles are listed, but the grid has only {counted(size, 'cell')}."
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
    """Return the grid of an instance, cached for further answers to it."""
    values = {}
    for y, row in enumerate(params.grid):
        for x, value in enumerate(row):
            bit = 1 << y * params.width + x
            if value:
                values[bit] = value
    columns = [0]
    for y in range(params.height):
        columns.append(columns[-1] | 1 << y * params.width)
    clues = sum(values)
    return Grid(params.width, params.height, clues, values, tuple(columns))


def judge_corners(
    checks: Checklist, grid: Grid, answer: Answer
) -> tuple[dict[int, int], set[int]]:
    """Check the corners; return the bits of each rectangle, and rectangles that leave the grid.

    Rectangles are identified by their positions in the answer. Those with reversed corners have
    no cells.
    """
    width = grid.width
    height = grid.height
    cells: dict[int, int] = {}
    reversed_corners = []
    outside = []
    for i, (west, top, east, bottom) in enumerate(answer.rectangles):
        if max(west, east) >= width or max(top, bottom) >= height:
            outside.append(i)
        if east < west or bottom < top:
            reversed_corners.append(i)
            continue
        across = min(east, width - 1) - west + 1
        down = min(bottom, height - 1) - top + 1
        cells[i] = 0
        if across > 0 and down > 0:
            cells[i] = grid.block(across, down) << top * width + west
    total = f"of {len(answer.rectangles)} rectangles"
    fault = counted(len(reversed_corners), f"{total} has", f"{total} have")
    checks.forbid(
        "corners",
        reversed_corners,
        lambda i: (
            f"{fault} right less than left or bottom less than top; the first is "
            f"{describe(answer.rectangles, i)}."
        ),
    )
    leaving = counted(len(outside), f"{total} leaves", f"{total} leave")
    checks.forbid(
        "inside",
        outside,
        lambda i: (
            f"{leaving} the grid of {width} columns and {height} rows; the first is "
            f"{describe(answer.rectangles, i)}."
        ),
    )
    return cells, set(outside)


def judge_cover(
    checks: Checklist, grid: Grid, cells: dict[int, int]
) -> tuple[list[Cell], list[Cell]]:
    """Check that every cell is covered once; return cells covered more than once and not at all."""
    size = grid.width * grid.height
    covered = 0
    twice = 0
    for bits in cells.values():
        twice |= covered & bits
        covered |= bits
    overlapped = grid.cells(twice)
    sharing = [i for i, bits in cells.items() if bits & twice]
    total = f"of {size} cells"
    doubled = counted(len(overlapped), f"{total} is", f"{total} are")
    checks.forbid(
        "overlap",
        sharing,
        lambda i: (
            f"{doubled} in more than one rectangle, the first at {cell_words(overlapped[0])}. The "
            f"first rectangle with such a cell is at position {i} (counting from 0)."
        ),
    )
    uncovered = grid.cells(grid.block(grid.width, grid.height) & ~covered)
    empty = counted(len(uncovered), f"{total} is", f"{total} are")
    checks.forbid(
        "covered",
        uncovered,
        lambda cell: f"{empty} in no rectangle, the first at {cell_words(cell)}.",
    )
    return overlapped, uncovered


def judge_clues(
    checks: Checklist,
    grid: Grid,
    answer: Answer,
    cells: dict[int, int],
    outside: set[int],
) -> list[Cell]:
    """Check clues and areas; return the cells of the clues that have no right rectangle.

    A rectangle that leaves the grid may contain a clue, but its area cannot be right.
    """
    total = f"of {len(answer.rectangles)} rectangles"
    clueless = []
    wrong_area = []
    solved = 0
    for i, bits in cells.items():
        clue = bits & grid.clues
        # The table has no keys with several clues.
        value = grid.values.get(clue)
        if value is None:
            clueless.append(i)
        elif i in outside:
            continue
        elif bits.bit_count() == value:
            solved |= clue
        else:
            wrong_area.append(i)
    fault = counted(len(clueless), f"{total} does", f"{total} do")
    checks.forbid(
        "one_clue",
        clueless,
        lambda i: (
            f"{fault} not contain exactly one clue; the first is "
            f"{describe(answer.rectangles, i)}, with "
            f"{counted((cells[i] & grid.clues).bit_count(), 'clue')}."
        ),
    )
    if solved or wrong_area:
        misfits = counted(len(wrong_area), f"{total} has", f"{total} have")
        checks.forbid(
            "area",
            wrong_area,
            lambda i: (
                f"{misfits} a different area from the clue; the first is "
                f"{describe(answer.rectangles, i)}, with {counted(cells[i].bit_count(), 'cell')} "
                f"for the clue {grid.values[cells[i] & grid.clues]}."
            ),
        )
    else:
        checks.skip("area", "No rectangle inside the grid contains exactly one clue.")
    return grid.cells(grid.clues & ~solved)


def cell_words(cell: Cell) -> str:
    """Return a cell in words, for a message."""
    return f"column {cell[0]} of row {cell[1]}"


def describe(rectangles: Sequence[Sequence[int]], i: int) -> str:
    """Describe the rectangle at a position in the list, for a message."""
    corners = rectangles[i]
    # The time to print a number grows with the square of its length.
    text = "one with coordinates beyond 10^9"
    if max(corners) < 10**9:
        text = str(list(corners))
    return f"{text} at position {i}"
