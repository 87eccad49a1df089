"""Is this a set of so many cells, with three full projections and no symmetry?

Decided on whole-number cells; all 48 symmetries of the cube are about the grid's centre.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import permutations, product

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.grid_paths import reachable, side_neighbours
from scbench.schemas.voxel_grid_projection import Answer, Params

VERSION = 1

CHECKS = {
    "cells": "Every entry is a cell of the grid.",
    "permitted": "No cell is forbidden.",
    "count": "The list has as many entries as asked for.",
    "repeats": "No cell is listed twice.",
    "projection_xy": "Along z, every pair (x, y) is covered.",
    "projection_xz": "Along y, every pair (x, z) is covered.",
    "projection_yz": "Along x, every pair (y, z) is covered.",
    "no_symmetry": "No rotation or reflection of the cube keeps the set.",
    "connected": "Where that is asked for, the cells hang together by their faces.",
}

# 1e-9 and a little, so that a coordinate printed as 5.000000001 is within it however it
# rounds.
_TOLERANCE = 1.00001e-9
_TOO_MANY = 20
_AXES = "xyz"
_PROJECTIONS = (
    ("projection_xy", 0, 1),
    ("projection_xz", 0, 2),
    ("projection_yz", 1, 2),
)
_SYMMETRIES = tuple(
    (axes, flips)
    for axes in permutations(range(3))
    for flips in product((False, True), repeat=3)
    if axes != (0, 1, 2) or any(flips)
)

Cell = tuple[int, int, int]


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the cells keep every rule, else 0."""
    checks = Checklist(CHECKS)
    n, length = params.size, len(answer.voxels)
    if length > _TOO_MANY * params.cells:
        return checks.too_large(
            f"{length} cells are listed where {params.cells} are asked for."
        )
    cells, outside = _sort_entries(answer, n)
    fault = f"of {length} entries are not whole numbers from 0 to {n - 1}"
    checks.forbid_many(
        "cells",
        outside,
        fault,
        lambda i: f"is entry {i} (from 0), {list(answer.voxels[i].xyz)}",
    )
    counts = Counter(cells)
    bad_sums, bad_cells = forbidden(params)
    barred = [
        list(cell) for cell in counts if sum(cell) in bad_sums or cell in bad_cells
    ]
    checks.forbid_many(
        "permitted", barred, "cells are forbidden", lambda cell: f"is {cell}"
    )
    wrong = f"There are {length} entries, not {params.cells}."
    checks.expect("count", length == params.cells, wrong, listed=length)
    repeated = [list(cell) for cell, count in counts.items() if count > 1]
    fault = "cells are listed more than once"
    checks.forbid_many("repeats", repeated, fault, lambda cell: f"is {cell}")
    voxels = counts.keys()
    for check_id, i, j in _PROJECTIONS:
        _judge_projection(checks, check_id, n, {(cell[i], cell[j]) for cell in voxels})
    _judge_symmetry(checks, n, voxels)
    if params.connected:
        apart = _unconnected_cells(voxels)
        checks.forbid(
            "connected",
            apart,
            lambda cell: (
                f"{len(apart)} cells do not hang together with the first, such as {cell}."
            ),
        )
    return checks.binary(distinct=len(voxels))


def _sort_entries(answer: Answer, n: int) -> tuple[list[Cell], list[int]]:
    """Return the entries that are cells, and the positions of the others."""
    cells, outside = [], []
    for i, voxel in enumerate(answer.voxels):
        a, b, c = voxel.xyz
        if -0.5 < a < n - 0.5 and -0.5 < b < n - 0.5 and -0.5 < c < n - 0.5:
            x, y, z = round(a), round(b), round(c)
            if max(abs(a - x), abs(b - y), abs(c - z)) <= _TOLERANCE:
                cells.append((x, y, z))
                continue
        outside.append(i)
    return cells, outside


@lru_cache(maxsize=64)
def forbidden(params: Params) -> tuple[frozenset[int], frozenset[tuple[int, ...]]]:
    """Return the sums and the cells that are forbidden."""
    digit, residue = params.forbidden_digit, params.forbidden_residue
    sums = frozenset(
        total
        for total in range(3 * params.size - 2)
        if (digit is not None and str(digit) in str(total))
        or (residue is not None and total % residue.modulus == residue.remainder)
    )
    return sums, frozenset(params.forbidden_cells)


def _judge_projection(
    checks: Checklist, check_id: str, n: int, covered: AbstractSet[tuple[int, int]]
) -> None:
    holes = (
        []
        if len(covered) == n * n
        else sorted({*product(range(n), repeat=2)} - covered)
    )
    fault = f"of {n * n} pairs ({', '.join(check_id[-2:])}) are not covered"
    checks.forbid_many(
        check_id,
        [list(hole) for hole in holes],
        fault,
        lambda hole: f"is ({hole[0]}, {hole[1]})",
    )


def _judge_symmetry(checks: Checklist, n: int, voxels: Collection[Cell]) -> None:
    if not voxels:
        checks.skip("no_symmetry", "There is no cell to look at.")
        return
    keeping = symmetries_of(n, voxels)
    checks.forbid_many(
        "no_symmetry", keeping, "symmetries keep the set", lambda name: f"is {name}"
    )


def symmetries_of(n: int, voxels: Collection[Cell]) -> list[str]:
    """Return the names of the symmetries of the grid that keep a set of cells."""
    return [
        _symmetry_name(n, axes, flips)
        for axes, flips in _SYMMETRIES
        if all(_mirror_image(cell, n, axes, flips) in voxels for cell in voxels)
    ]


def _mirror_image(
    cell: Cell, n: int, axes: Sequence[int], flips: Sequence[bool]
) -> tuple[int, int, int]:
    """Return where a cell goes: axes exchanged, then reflected at the middle of the grid."""
    x, y, z = cell[axes[0]], cell[axes[1]], cell[axes[2]]
    return (
        n - 1 - x if flips[0] else x,
        n - 1 - y if flips[1] else y,
        n - 1 - z if flips[2] else z,
    )


def _symmetry_name(n: int, axes: Sequence[int], flips: Sequence[bool]) -> str:
    parts = [
        f"{n - 1}-{_AXES[a]}" if flip else _AXES[a]
        for a, flip in zip(axes, flips, strict=True)
    ]
    return f"(x, y, z) -> ({', '.join(parts)})"


def _unconnected_cells(voxels: Collection[Cell]) -> list[list[int]]:
    """Return the cells that no walk through faces joins to the first."""
    if not voxels:
        return []
    cells: set[tuple[int, ...]] = set(voxels)
    first: tuple[int, ...] = next(iter(voxels))
    joined = reachable(first, lambda cell: cells.intersection(side_neighbours(cell)))
    return [list(cell) for cell in sorted(cells - joined)]
