"""Wrong answers to an instance: sets with one mistake each, and cells in other formats."""

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from scbench.builders.shared.builder import with_truths
from scbench.builders.voxel_grid_projection.solver import (
    all_cells,
    barred_cells,
    latin_square,
)
from scbench.graders.voxel_grid_projection import Cell
from scbench.schemas.voxel_grid_projection import Params


def as_voxels(cells: Iterable[Iterable[float]]) -> list[JsonValue]:
    """Return cells in the form of an answer."""
    return [{"xyz": list(cell)} for cell in cells]


def faulty_sets(params: Params, right: Sequence[Cell]) -> dict[str, JsonValue]:
    """Return sets of cells that break a rule, by name."""
    n = params.size
    barred = barred_cells(params)
    barred_unused: list[Cell] = []
    free: list[Cell] = []
    right_set = set(right)
    for cell in all_cells(n):
        if cell in right_set:
            continue
        if cell in barred:
            barred_unused.append(cell)
        else:
            free.append(cell)
    first, *following = right
    but_last = right[:-1]
    sets: dict[str, Sequence[Sequence[float]]] = {
        "empty": [],
        "one_missing": but_last,
        "one_repeated": [*but_last, first],
        "one_repeated_as_well": [*right, first],
        "counted_from_one": [_shift_cell(cell, 1) for cell in right],
        "centred": [_shift_cell(cell, -(n // 2)) for cell in right],
        "fraction": [_shift_cell(first, 0.5), *following],
        "a_little_off": [_shift_cell(first, 1e-6), *following],
        "one_outside": [*but_last, [n, 0, 0]],
        "a_block_from_the_corner": all_cells(n)[: params.cells],
        "latin_square_only": latin_square(n, 1, 1, 0),
        "mirrored_in_x_and_y": _symmetric_set(params),
    }
    if free:
        sets["one_more"] = [*right, free[0]]
    for name, (i, j) in {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}.items():
        # Move the cells of one line elsewhere, so that its square of the view is empty.
        line = (first[i], first[j])
        remaining = [cell for cell in right if (cell[i], cell[j]) != line]
        elsewhere = [cell for cell in free if (cell[i], cell[j]) != line]
        missing = len(right) - len(remaining)
        if len(elsewhere) >= missing:
            sets[f"hole_in_{name}"] = [*remaining, *elsewhere[:missing]]
    if barred_unused:
        sets["one_forbidden"] = [*but_last, barred_unused[0]]
    return {name: as_voxels(cells) for name, cells in sets.items()}


def _shift_cell(cell: Cell, step: float) -> list[float]:
    """Return a cell with the same step added to each coordinate."""
    return [coordinate + step for coordinate in cell]


def _symmetric_set(params: Params) -> list[Cell]:
    """Return a set of the required size that stays the same if x and y are exchanged."""
    selection = dict.fromkeys(latin_square(params.size, 1, 1, 0))
    for x, y, z in all_cells(params.size):
        pair = dict.fromkeys([(x, y, z), (y, x, z)])
        fits = len(selection) + len(pair) <= params.cells
        if fits and not pair.keys() & selection.keys():
            selection |= pair
    return list(selection)


def other_forms(n: int, cells: Sequence[Cell]) -> dict[str, JsonValue]:
    """Return right cells in forms that are not accepted, by name."""
    triples: list[JsonValue] = []
    flat: list[JsonValue] = []
    named: list[JsonValue] = []
    strings: list[JsonValue] = []
    joined: list[JsonValue] = []
    nested: list[JsonValue] = []
    for x, y, z in cells:
        triples.append([x, y, z])
        flat.append(x + n * y + n * n * z)
        named.append({"x": x, "y": y, "z": z})
        strings.append({"xyz": [str(x), str(y), str(z)]})
        joined.append({"xyz": f"{x},{y},{z}"})
        nested.append({"xyz": [[x], [y], [z]]})
    return {
        "not_a_list": {"xyz": [0, 0, 0]},
        "bare_triples": triples,
        "flat_numbers": flat,
        "named_coordinates": named,
        "strings": strings,
        "one_string": joined,
        # The order is changed as well, because True equals 1 in Python.
        "booleans": as_voxels(map(with_truths, reversed(cells))),
        "nested": nested,
        "two_coordinates": as_voxels(cell[:2] for cell in cells),
    }
