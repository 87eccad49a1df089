"""Checks whether the listed cells, in this order, are a closed tour of all free cells.

Every rule is checked in integers, against the blocked cells in the prompt. Any tour that follows
the rules is right. Positions in messages and details count from 0 in the answer's list. Cells are
[column, row], counted from 1.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
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
    "inside": "Every listed cell is in the grid.",
    "free": "No listed cell is blocked.",
    "repeats": "No cell is listed twice.",
    "count": "The number of listed cells equals the number of free cells.",
    "all_cells": "Every free cell is listed.",
    "adjacent": "Every listed cell shares a side with the cell before it.",
    "closed": "The last cell shares a side with the first.",
}


class Frame(NamedTuple):
    """The cells of an instance."""

    grid: Grid
    blocked: frozenset[Cell]
    free: frozenset[Cell]
    codes: frozenset[int]
    """Codes of the free cells."""
    verdict: Verdict
    """The verdict on any tour of the free cells."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the steps are a closed tour of the free cells, else 0."""
    frame = frame_of(params)
    n = len(frame.free)
    cells = [step["xy"] for step in answer.steps]
    length = len(cells)
    checks = Checklist(CHECKS)
    if length > 4 * n + 1000:
        return checks.too_large(
            f"{length:,} cells are listed, but only {n:,} are free."
        )
    codes = frame.grid.encode(cells)
    if length == n and frame.codes == set(codes) and is_tour(frame.grid, codes):
        return frame.verdict
    total = f"of {length} listed cells"

    def forbid_cells(
        check_id: str, places: Sequence[int], singular: str, plural: str
    ) -> None:
        fault = counted(len(places), f"{total} {singular}", f"{total} {plural}")
        checks.forbid(
            check_id, places, lambda i: f"{fault}; the first is {cell_at(cells, i)}."
        )

    outside = [i for i, code in enumerate(codes) if code is None]
    beyond = f"outside the grid (1 to {params.size})"
    forbid_cells("inside", outside, f"is {beyond}", f"are {beyond}")
    blocked = [i for i, cell in enumerate(cells) if cell in frame.blocked]
    forbid_cells("free", blocked, "is blocked", "are blocked")
    again = repeats(cells, codes)
    forbid_cells("repeats", again, "repeats an earlier one", "repeat earlier ones")
    wrong = f"The list has {counted(length, 'cell')}, but {n} are free."
    if length == n + 1 and cells[-1] == cells[0]:
        wrong += " Do not list the first cell again at the end."
    checks.expect("count", length == n, wrong)
    missing = sorted(frame.free.difference(cells))
    unvisited = counted(len(missing), f"of {n} free cells is", f"of {n} free cells are")
    checks.forbid(
        "all_cells",
        missing,
        lambda cell: f"{unvisited} not visited; the first is {list(cell)}.",
    )
    jumping = jumps(frame.grid, cells, codes)
    steps = counted(
        len(jumping), f"of {length - 1} steps does", f"of {length - 1} steps do"
    )
    checks.forbid(
        "adjacent",
        jumping,
        lambda i: (
            f"{steps} not lead to a cell that shares a side; the first leads from "
            f"{cell_text(cells[i - 1])} to {cell_at(cells, i)}."
        ),
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


@lru_cache(maxsize=256)
def frame_of(params: Params) -> Frame:
    """Return the cells of an instance, cached for further answers to it."""
    square = grid((params.size, params.size), 1)
    blocked = frozenset(params.blocked)
    free = frozenset(square.codes) - blocked
    codes = frozenset(square.codes[cell] for cell in free)
    figures = {"visited": len(free), "missing": [], "repeated": []}
    verdict = Verdict(1.0, all_passed(CHECKS), figures)
    return Frame(square, blocked, free, codes, verdict)
