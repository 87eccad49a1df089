"""Checks whether a set of cells has the right size, three full views and no symmetry.

Cells are integers. The 48 symmetries of the cube keep the centre of the grid in place.
"""

from collections import Counter
from collections.abc import Collection
from functools import cache, lru_cache, partial
from itertools import permutations, product
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.grid_paths import reachable, side_neighbours
from scbench.graders.shared.sentences import with_total
from scbench.schemas.voxel_grid_projection import Answer, Params, Voxel

VERSION = 1

CHECKS = {
    "cells": "Every entry is a cell of the grid.",
    "permitted": "No cell is forbidden.",
    "count": "The list has the required number of entries.",
    "repeats": "No cell is listed twice.",
    "projection_xy": "The view along z is full: every pair (x, y) occurs.",
    "projection_xz": "The view along y is full: every pair (x, z) occurs.",
    "projection_yz": "The view along x is full: every pair (y, z) occurs.",
    "no_symmetry": "No rotation or reflection of the cube maps the set onto itself.",
    "connected": "The cells are connected through shared faces, if that is required.",
}

# Slightly more than 1e-9, so that a coordinate printed as 5.000000001 is within it.
_TOLERANCE = 1.00001e-9
# An answer with more than this many times the cells is not graded.
_TOO_MANY = 20
_AXES = "xyz"
# Checks of views, and the axes of each.
_PROJECTIONS = (
    ("projection_xy", 0, 1),
    ("projection_xz", 0, 2),
    ("projection_yz", 1, 2),
)

Cell = tuple[int, int, int]


class Symmetry(NamedTuple):
    """A rotation or reflection of the cube: axes exchanged, then reflected at the middle."""

    axes: tuple[int, ...]
    flips: tuple[bool, ...]

    def image(self, cell: Cell, n: int) -> tuple[int, ...]:
        """Return the image of a cell in a grid of this size."""
        x, y, z = (cell[axis] for axis in self.axes)
        flip_x, flip_y, flip_z = self.flips
        return (
            n - 1 - x if flip_x else x,
            n - 1 - y if flip_y else y,
            n - 1 - z if flip_z else z,
        )

    def name(self, n: int) -> str:
        """Return the symmetry as a formula."""
        parts = []
        for axis, flip in zip(self.axes, self.flips, strict=True):
            letter = _AXES[axis]
            parts.append(f"{n - 1}-{letter}" if flip else letter)
        return f"(x, y, z) -> ({', '.join(parts)})"


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the cells follow every rule, else 0."""
    checks = Checklist(CHECKS)
    n = params.size
    length = len(answer.voxels)
    if length > _TOO_MANY * params.cells:
        return checks.too_large(
            f"The answer lists {length} cells instead of {params.cells}."
        )
    cells, outside = sort_entries(answer, n)
    checks.forbid(
        "cells",
        outside,
        lambda i: with_total(
            f"Entry {i} (counted from 0), {entry_text(answer.voxels[i])}, is not three whole "
            f"numbers from 0 to {n - 1}",
            len(outside),
            "entries",
        ),
    )
    counts = Counter(cells)
    bad_sums, bad_cells = find_forbidden(params)
    barred = []
    for cell in counts:
        is_barred = sum(cell) in bad_sums or cell in bad_cells
        if is_barred:
            barred.append(list(cell))
    checks.forbid(
        "permitted",
        barred,
        lambda cell: with_total(f"Cell {cell} is forbidden", len(barred), "cells"),
    )
    entries = counted(length, "entry", "entries")
    wrong = f"The list has {entries} instead of {params.cells}."
    checks.expect("count", length == params.cells, wrong, listed=length)
    repeated = [list(cell) for cell, count in counts.items() if count > 1]
    checks.forbid(
        "repeats",
        repeated,
        lambda cell: with_total(
            f"Cell {cell} is listed more than once", len(repeated), "cells"
        ),
    )
    voxels = counts.keys()
    judge_projections(checks, n, voxels)
    if voxels:
        names = symmetries_of(n, voxels)
        checks.forbid(
            "no_symmetry",
            names,
            lambda name: with_total(
                f"The symmetry {name} maps the set onto itself",
                len(names),
                "symmetries",
            ),
        )
    else:
        checks.skip("no_symmetry", "There are no cells to check.")
    if params.connected:
        apart = unconnected_cells(voxels)
        checks.forbid(
            "connected",
            apart,
            lambda cell: with_total(
                f"Cell {cell} is not connected to the first cell", len(apart), "cells"
            ),
        )
    return checks.binary(distinct=len(voxels))


def entry_text(voxel: Voxel) -> str:
    """Return an entry of an answer with few digits."""
    numbers = ", ".join(f"{value:g}" for value in voxel.xyz)
    return f"[{numbers}]"


def sort_entries(answer: Answer, n: int) -> tuple[list[Cell], list[int]]:
    """Return the entries that are cells, and the positions of the others."""
    cells = []
    outside = []
    for i, voxel in enumerate(answer.voxels):
        a, b, c = voxel.xyz
        # Checked before rounding, which fails for infinite numbers.
        if -0.5 < a < n - 0.5 and -0.5 < b < n - 0.5 and -0.5 < c < n - 0.5:
            x = round(a)
            y = round(b)
            z = round(c)
            if max(abs(a - x), abs(b - y), abs(c - z)) <= _TOLERANCE:
                cells.append((x, y, z))
                continue
        outside.append(i)
    return cells, outside


@lru_cache(maxsize=64)
def find_forbidden(
    params: Params,
) -> tuple[frozenset[int], frozenset[tuple[int, ...]]]:
    """Return the sums and the cells that are forbidden."""
    digit = params.forbidden_digit
    residue = params.forbidden_residue
    sums = set()
    for total in range(3 * params.size - 2):
        if digit is not None and str(digit) in str(total):
            sums.add(total)
        if residue is not None and total % residue.modulus == residue.remainder:
            sums.add(total)
    return frozenset(sums), frozenset(params.forbidden_cells)


def judge_projections(checks: Checklist, n: int, voxels: Collection[Cell]) -> None:
    """Check that every view along an axis is full."""
    for check_id, i, j in _PROJECTIONS:
        covered = {(cell[i], cell[j]) for cell in voxels}
        holes: list[list[int]] = []
        # Most views are full and need not be searched.
        if len(covered) < n * n:
            pairs = product(range(n), repeat=2)
            holes = [list(pair) for pair in pairs if pair not in covered]
        checks.forbid(
            check_id, holes, partial(hole_sentence, holes, _AXES[i] + _AXES[j])
        )


def hole_sentence(holes: Collection[list[int]], axes: str, hole: list[int]) -> str:
    """Return a sentence about the first hole of a view."""
    sentence = f"No cell has {axes[0]} = {hole[0]} and {axes[1]} = {hole[1]}"
    return with_total(sentence, len(holes), "pairs")


def symmetries_of(n: int, voxels: Collection[Cell]) -> list[str]:
    """Return the names of the symmetries of the grid that map a set of cells onto itself."""

    def keeps_set(symmetry: Symmetry) -> bool:
        return all(symmetry.image(cell, n) in voxels for cell in voxels)

    return [symmetry.name(n) for symmetry in filter(keeps_set, symmetries())]


@cache
def symmetries() -> tuple[Symmetry, ...]:
    """Return the 47 symmetries of a cube other than the identity."""
    every = []
    for axes in permutations(range(3)):
        every += [Symmetry(axes, flips) for flips in product((False, True), repeat=3)]
    # The first one exchanges no axes and reflects none.
    return tuple(every[1:])


def unconnected_cells(voxels: Collection[Cell]) -> list[list[int]]:
    """Return the cells that are not connected to the first through shared faces."""
    if not voxels:
        return []
    cells: set[tuple[int, ...]] = set(voxels)
    first: tuple[int, ...] = next(iter(voxels))
    joined = reachable(first, lambda cell: cells.intersection(side_neighbours(cell)))
    return [list(cell) for cell in sorted(cells - joined)]
