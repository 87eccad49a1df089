"""Do these rectangles cut the grid into pieces that each hold one clue, equal to their area?

Cells are bits of one integer, so that covering is decided exactly and in one operation for each
rectangle. No stored solution is compared: every cut that keeps the rules is right. Positions in
messages and details are those of the answer's list.
"""

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
OWN_FAULTS = ("corners", "inside", "overlap", "covered", "one_clue", "area")

# Column and row.
Cell = tuple[int, int]


class _Frame(NamedTuple):
    clues: int
    """Bits of the cells with a clue."""
    values: dict[int, int]
    """The number on each clue's cell, by its bit."""
    columns: tuple[int, ...]
    """Entry h: the first cell of each of the h top rows."""


@lru_cache(maxsize=256)
def _frame(params: Params) -> _Frame:
    values = {
        1 << y * params.width + x: value
        for y, row in enumerate(params.grid)
        for x, value in enumerate(row)
        if value
    }
    columns = [0]
    for y in range(params.height):
        columns.append(columns[-1] | 1 << y * params.width)
    return _Frame(sum(values), values, tuple(columns))


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the rectangles solve the puzzle, else 0."""
    checks = Checklist(CHECKS)
    count, size = len(answer.rectangles), params.width * params.height
    if count > size:
        return checks.too_large(
            f"{count} rectangles are listed; the grid has {size} cells."
        )
    frame = _frame(params)
    cells, outside = _judge_corners(checks, params, frame, answer)
    overlapped, uncovered = _judge_cover(checks, params, frame, cells)
    open_clues = _judge_clues(checks, params, frame, answer, cells, outside)
    return checks.binary(
        overlapped=overlapped, uncovered=uncovered, open_clues=open_clues
    )


def _judge_corners(
    checks: Checklist, params: Params, frame: _Frame, answer: Answer
) -> tuple[dict[int, int], set[int]]:
    """Check the corners; return cells in the grid as bits, by position, and who leaves the grid."""
    width, height, n = params.width, params.height, len(answer.rectangles)
    cells: dict[int, int] = {}
    crossed, outside = [], []
    for i, (west, top, east, bottom) in enumerate(answer.rectangles):
        if max(west, east) >= width or max(top, bottom) >= height:
            outside.append(i)
        if east < west or bottom < top:
            crossed.append(i)
            continue
        across, down = (
            min(east, width - 1) - west + 1,
            min(bottom, height - 1) - top + 1,
        )
        away = across <= 0 or down <= 0
        cells[i] = 0 if away else _block(frame, across, down) << top * width + west
    fault = f"of {n} rectangles have right less than left or bottom less than top"
    checks.forbid_many(
        "corners", crossed, fault, lambda i: f"is {_describe(answer, i)}"
    )
    fault = f"of {n} rectangles leave the grid of {width} columns and {height} rows"
    checks.forbid_many("inside", outside, fault, lambda i: f"is {_describe(answer, i)}")
    return cells, set(outside)


def _judge_cover(
    checks: Checklist, params: Params, frame: _Frame, cells: dict[int, int]
) -> tuple[list[Cell], list[Cell]]:
    """Check that every cell is covered once; return those covered more than once and not at all."""
    width, height = params.width, params.height
    covered = twice = 0
    for bits in cells.values():
        twice |= covered & bits
        covered |= bits
    overlapped = _cells_of_bits(twice, width)
    sharing = [i for i, bits in cells.items() if bits & twice]
    checks.forbid(
        "overlap",
        sharing,
        lambda i: (
            f"{len(overlapped)} of {width * height} cells are covered more than once, the first "
            f"at {_cell_words(overlapped[0])}; the first of {len(sharing)} rectangles with such "
            f"cells is number {i} of the list (from 0)."
        ),
    )
    uncovered = _cells_of_bits(_block(frame, width, height) & ~covered, width)
    checks.forbid(
        "covered",
        uncovered,
        lambda cell: (
            f"{len(uncovered)} of {width * height} cells are in no rectangle, the first at "
            f"{_cell_words(cell)}."
        ),
    )
    return overlapped, uncovered


def _judge_clues(
    checks: Checklist,
    params: Params,
    frame: _Frame,
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
        clue = bits & frame.clues
        value = frame.values.get(clue)
        if value is None:
            clueless.append(i)
        elif i in outside:
            continue
        elif bits.bit_count() == value:
            solved |= clue
        else:
            wrong_area.append(i)
    fault = f"of {n} rectangles do not hold exactly one clue"
    checks.forbid_many(
        "one_clue",
        clueless,
        fault,
        lambda i: (
            f"is {_describe(answer, i)}, which holds {(cells[i] & frame.clues).bit_count()}"
        ),
    )
    if solved or wrong_area:
        checks.forbid_many(
            "area",
            wrong_area,
            f"of {n} rectangles have another area than their clue",
            lambda i: (
                f"is {_describe(answer, i)}, with {cells[i].bit_count()} cells for the clue "
                f"{frame.values[cells[i] & frame.clues]}"
            ),
        )
    else:
        checks.skip("area", "No rectangle inside the grid holds exactly one clue.")
    return _cells_of_bits(frame.clues & ~solved, params.width)


def _block(frame: _Frame, across: int, down: int) -> int:
    """Return the bits of a rectangle of this size in the grid's top left corner."""
    return frame.columns[down] * ((1 << across) - 1)


def _cells_of_bits(bits: int, width: int) -> list[Cell]:
    """Return the column and row of every bit that is set, row by row."""
    marks = f"{bits:b}"[::-1]
    return [(k % width, k // width) for k, mark in enumerate(marks) if mark == "1"]


def _cell_words(cell: Cell) -> str:
    return f"column {cell[0]} of row {cell[1]}"


def _describe(answer: Answer, i: int) -> str:
    corners = answer.rectangles[i]
    # Printing a number takes time with the square of its length.
    text = (
        str(list(corners)) if max(corners) < 10**9 else "with coordinates beyond 10^9"
    )
    return f"number {i} of the list (from 0), {text}"
