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


class Frame(NamedTuple):
    """The cells of an instance."""

    grid: Grid
    blocked: frozenset[Cell]
    free: frozenset[Cell]
    codes: frozenset[int]
    """Of the free cells."""
    verdict: Verdict
    """That on any tour of the free cells."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the steps are a closed tour of the free cells, else 0."""
    frame = frame_of(params)
    n = len(frame.free)
    cells = [step["xy"] for step in answer.steps]
    length = len(cells)
    checks = Checklist(CHECKS)
    if length > 4 * n + 1000:
        return checks.too_large(f"{length} cells are listed; {n} are free.")
    codes = frame.grid.encode(cells)
    if length == n and frame.codes == set(codes) and is_tour(frame.grid, codes):
        return frame.verdict
    again = repeats(cells, codes)
    for check_id, places, fault in (
        (
            "inside",
            [i for i, code in enumerate(codes) if code is None],
            f"cells lie outside 1..{params.size}",
        ),
        (
            "free",
            [i for i, cell in enumerate(cells) if cell in frame.blocked],
            "cells are blocked",
        ),
        ("repeats", again, "entries name a cell that is listed before"),
    ):
        checks.forbid_many(
            check_id,
            places,
            f"of {length} {fault}",
            lambda i: f"is {cell_at(cells, i)}",
        )
    wrong = f"{length} cells are listed, but {n} are free."
    if length == n + 1 and cells[-1] == cells[0]:
        wrong += " The start must not be repeated at the end."
    checks.expect("count", length == n, wrong)
    missing = sorted(frame.free.difference(cells))
    checks.forbid(
        "all_cells",
        missing,
        lambda cell: (
            f"{len(missing)} of {n} free cells are not visited; one is {list(cell)}."
        ),
    )
    checks.forbid_many(
        "adjacent",
        jumps(frame.grid, cells, codes),
        f"of {length - 1} steps do not lead to a side neighbour",
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


@lru_cache(maxsize=256)
def frame_of(params: Params) -> Frame:
    """Return the cells of an instance, kept for the next answers to it."""
    square = grid((params.size, params.size), 1)
    blocked = frozenset(params.blocked)
    free = frozenset(square.codes) - blocked
    codes = frozenset(square.codes[cell] for cell in free)
    figures = {"visited": len(free), "missing": [], "repeated": []}
    verdict = Verdict(1.0, all_passed(CHECKS), figures)
    return Frame(square, blocked, free, codes, verdict)
