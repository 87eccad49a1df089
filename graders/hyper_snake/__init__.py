"""Grades a path through a box by its legality, its length and the food on it.

A path with an illegal move scores 0. The score of a legal path depends on its length,
divided by one plus the number of missed food items. In a box with walls, 98 % of the
free cells are enough. Food on the start cell is eaten. Positions in messages and
details count from 0 in the answer's list.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.grid_paths import (
    Cell,
    Grid,
    cell_at,
    cell_text,
    grid,
    jumps,
    repeats,
)
from scbench.schemas.hyper_snake import Answer, Params

VERSION = 1

CHECKS = {
    "start": "The path begins in the start cell.",
    "dimensions": "Every cell has one coordinate for each axis.",
    "repeats": "No cell is visited twice.",
    "inside": "Every cell is inside the box.",
    "walls": "No cell of the path is a wall.",
    "moves": "Every move changes exactly one coordinate by 1.",
    "length": "The path is long enough for a full score.",
    "food": "All food is eaten.",
}

# Share of the free cells that earns a full score in boxes with walls.
_ENOUGH = 0.98


class Frame(NamedTuple):
    """The box of an instance."""

    grid: Grid
    walls: frozenset[int]
    """Codes of the walls."""
    free: int
    needed: int
    """Cells for a full score."""
    bound: int
    """Maximum cells of a path: along a path, the two colours of a chessboard alternate."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the share of the box that a legal path fills, over one plus the missed food."""
    frame = frame_of(params)
    cells = [place["pos"] for place in answer.path]
    length = len(cells)
    checks = Checklist(CHECKS)
    if length > most_cells(frame):
        return checks.too_large(
            f"The path has {length:,} cells; at most {most_cells(frame):,} are graded."
        )
    codes = frame.grid.encode(cells)
    faults = judge_moves(checks, params, frame, cells, codes)
    legal_prefix = min(faults, default=length)
    wrong = (
        f"The path has {counted(length, 'cell')}; a full score requires {frame.needed} of the "
        f"{frame.free} free cells."
    )
    checks.expect("length", length >= frame.needed, wrong, needed=frame.needed)
    visited = set(codes)
    code_of = frame.grid.codes
    missed = sorted(food for food in params.food if code_of[food] not in visited)
    checks.forbid(
        "food",
        missed,
        lambda cell: (
            f"Missed food items: {len(missed)} of {len(params.food)}, such as the one at "
            f"{list(cell)}."
        ),
    )
    share = length / frame.free
    if params.walls:
        share = min(1.0, share / _ENOUGH)
    return checks.partial(
        0.0 if faults else share / (len(missed) + 1),
        length=length,
        legal_prefix=legal_prefix,
        free_cells=frame.free,
        length_bound=frame.bound,
        share_of_bound=legal_prefix / frame.bound,
        missed_food=missed,
    )


@lru_cache(maxsize=64)
def frame_of(params: Params) -> Frame:
    """Return the box of an instance, cached for further answers to it."""
    box = grid(params.size, 0)
    free = len(box.codes) - len(params.walls)
    odd = sum(sum(cell) % 2 for cell in box.codes.keys() - set(params.walls))
    like_start = free - odd
    unlike_start = odd
    if sum(params.start) % 2:
        like_start = odd
        unlike_start = free - odd
    # 98 % of the cells, rounded up.
    needed = -(-98 * free // 100) if params.walls else free
    return Frame(
        grid=box,
        walls=frozenset(box.codes[wall] for wall in params.walls),
        free=free,
        needed=needed,
        bound=min(2 * like_start, 2 * unlike_start + 1),
    )


def most_cells(frame: Frame) -> int:
    """Return the maximum number of cells in a graded path."""
    return 4 * frame.free + 1000


def judge_moves(
    checks: Checklist,
    params: Params,
    frame: Frame,
    cells: list[Cell],
    codes: list[int | None],
) -> set[int]:
    """Check everything that makes a path legal; return the positions of illegal cells."""
    dims = len(params.size)
    length = len(cells)

    def forbid_cells(
        check_id: str, places: Sequence[int], singular: str, plural: str
    ) -> None:
        checks.forbid_many(
            check_id,
            places,
            f"of {length} cells {plural}",
            lambda i: f"is {cell_at(cells, i)}",
            one=f"of {counted(length, 'cell')} {singular}",
        )

    off_start = set() if cells[0] == params.start else {0}
    wrong = f"The path must begin at {list(params.start)}, but begins at {cell_text(cells[0])}."
    checks.expect("start", not off_start, wrong)
    misshapen: list[int] = []
    outside: list[int] = []
    # Most paths stay inside, and some are too long to search without need.
    if None in codes:
        for i, code in enumerate(codes):
            if code is None and len(cells[i]) != dims:
                misshapen.append(i)
            elif code is None:
                outside.append(i)
    forbid_cells(
        "dimensions",
        misshapen,
        f"does not have {dims} coordinates",
        f"do not have {dims} coordinates",
    )
    again = repeats(cells, codes)
    forbid_cells("repeats", again, "was visited before", "were visited before")
    if len(misshapen) == length:
        checks.skip(("inside", "walls", "moves"), f"No cell has {dims} coordinates.")
        return off_start.union(misshapen)
    forbid_cells("inside", outside, "is outside the box", "are outside the box")
    entered: list[int] = []
    if not frame.walls.isdisjoint(codes):
        entered = [i for i, code in enumerate(codes) if code in frame.walls]
    forbid_cells("walls", entered, "is a wall", "are walls")
    # Moves to and from cells with a wrong number of coordinates.
    unjudged = set(misshapen).union(i + 1 for i in misshapen)
    apart = [i for i in jumps(frame.grid, cells, codes) if i not in unjudged]
    checks.forbid_many(
        "moves",
        apart,
        f"of {length - 1} moves do not change exactly one coordinate by 1",
        lambda i: f"leads from {cell_text(cells[i - 1])} to {cell_at(cells, i)}",
        one=f"of {counted(length - 1, 'move')} does not change exactly one coordinate by 1",
    )
    return off_start.union(misshapen, outside, entered, again, apart)
