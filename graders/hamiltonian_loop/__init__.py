"""Do these cells, in this order, make one closed tour of all free cells?

Judged in whole numbers, rule by rule, on the blocked cells that the prompt shows; no stored tour is
compared. A cell is two whole numbers. Positions in messages and details are those of the answer's
list, from 0; cells are column and row, from 1.
"""

from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist, all_passed
from scbench.graders.shared.grid_paths import (
    Cell,
    Grid,
    cell_at,
    cell_text,
    grid,
    is_tour,
    jumps,
    repeats,
    touch,
)
from scbench.schemas.hamiltonian_loop import Answer, Params

VERSION = 1

CHECKS = {
    "inside": "Every listed cell lies in the grid.",
    "free": "No listed cell is blocked.",
    "repeats": "No cell is listed twice.",
    "count": "As many cells are listed as are free.",
    "all_cells": "Every free cell is listed.",
    "adjacent": "Every listed cell shares a side with the one before.",
    "closed": "The last cell shares a side with the first.",
}


class _Frame(NamedTuple):
    grid: Grid
    blocked: frozenset[Cell]
    free: frozenset[Cell]
    codes: frozenset[int]
    """Of the free cells."""
    verdict: Verdict
    """That on any tour of the free cells."""


@lru_cache(maxsize=256)
def _frame(params: Params) -> _Frame:
    square = grid((params.size, params.size), 1)
    blocked = frozenset(params.blocked)
    free = frozenset(square.codes) - blocked
    right = {"visited": len(free), "missing": [], "repeated": []}
    codes = frozenset(square.codes[cell] for cell in free)
    return _Frame(square, blocked, free, codes, Verdict(1.0, all_passed(CHECKS), right))


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the steps are a closed tour of the free cells, else 0."""
    frame = _frame(params)
    n = len(frame.free)
    cells = [step["xy"] for step in answer.steps]
    length = len(cells)
    if length == n:
        codes = frame.grid.encode(cells)
        if frame.codes == set(codes) and is_tour(frame.grid, codes):
            return frame.verdict
    checks = Checklist(CHECKS)
    if length > 4 * n + 1000:
        return checks.too_large(f"{length} cells are listed; {n} are free.")
    codes = frame.grid.encode(cells)
    outside = [i for i, code in enumerate(codes) if code is None]
    fault = f"of {length} cells lie outside 1..{params.size}"
    checks.forbid_many("inside", outside, fault, lambda i: f"is {cell_at(cells, i)}")
    entered = [i for i, cell in enumerate(cells) if cell in frame.blocked]
    fault = f"of {length} cells are blocked"
    checks.forbid_many("free", entered, fault, lambda i: f"is {cell_at(cells, i)}")
    again = repeats(cells, codes)
    fault = f"of {length} entries name a cell that is listed before"
    checks.forbid_many("repeats", again, fault, lambda i: f"is {cell_at(cells, i)}")
    missing = sorted(frame.free.difference(cells))
    _judge_count(checks, cells, n)
    checks.forbid(
        "all_cells",
        missing,
        lambda cell: (
            f"{len(missing)} of {n} free cells are not visited; one is {list(cell)}."
        ),
    )
    apart = jumps(frame.grid, cells, codes)
    fault = f"of {length - 1} steps do not lead to a side neighbour"
    checks.forbid_many(
        "adjacent",
        apart,
        fault,
        lambda i: f"leads from {cell_text(cells[i - 1])} to {cell_at(cells, i)}",
    )
    wrong = (
        f"The last cell, {cell_text(cells[-1])}, does not share a side with the first, "
        f"{cell_text(cells[0])}."
    )
    checks.expect("closed", touch(cells[-1], cells[0]), wrong)
    return checks.binary(
        visited=n - len(missing),
        missing=missing,
        repeated=sorted({cells[i] for i in again} & frame.free),
    )


def _judge_count(checks: Checklist, cells: list[Cell], n: int) -> None:
    closing = len(cells) == n + 1 and cells[-1] == cells[0]
    why = " The start must not be repeated at the end." if closing else ""
    wrong = f"{len(cells)} cells are listed, but {n} are free.{why}"
    checks.expect("count", len(cells) == n, wrong)
