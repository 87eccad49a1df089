"""Counterexamples for paths of cells: right paths in a wrong format, and illegal moves."""

from collections.abc import Collection, Sequence

from pydantic import JsonValue

from scbench.graders.shared.grid_paths import side_neighbours

Cell = tuple[int, ...]


def listing(
    outer: str, inner: str, cells: Sequence[Sequence[JsonValue]]
) -> dict[str, JsonValue]:
    """Return cells as an answer: an array of objects with one array of numbers each."""
    return {outer: [{inner: list(cell)} for cell in cells]}


def form_counterexamples(
    outer: str, inner: str, cells: Sequence[Cell]
) -> dict[str, JsonValue]:
    """Return named answers that list these cells in a wrong format."""
    first_as_text = [str(coordinate) for coordinate in cells[0]]
    shifted = [[coordinate + 0.25 for coordinate in cell] for cell in cells]
    numbered = [(*cell, i) for i, cell in enumerate(cells)]
    entries: list[JsonValue] = [{inner: list(cell)} for cell in cells[1:]]
    wrong: dict[str, JsonValue] = {
        "nothing": {outer: []},
        "failure_marker": {"unacceptableFailure": True},
        "plain_lists": {outer: [list(cell) for cell in cells]},
        "strings": listing(outer, inner, [first_as_text, *cells[1:]]),
        "fractions": listing(outer, inner, shifted),
        "one_number_more": listing(outer, inner, numbered),
        "one_number_less": listing(outer, inner, [cell[:-1] for cell in cells]),
        "one_without_its_key": {outer: [{}, *entries]},
    }
    truths = [[_as_truth(coordinate) for coordinate in cell] for cell in cells]
    if any(coordinate in {0, 1} for cell in cells for coordinate in cell):
        # In Python, True equals 1. The extra key, which is ignored, makes the two
        # answers different.
        wrong["booleans"] = {**listing(outer, inner, truths), "booleans": True}
    return wrong


def _as_truth(coordinate: int) -> int:
    return bool(coordinate) if coordinate in {0, 1} else coordinate


def trespasses(
    size: Cell, walls: Collection[Cell], path: Sequence[Cell]
) -> dict[str, list[Cell]]:
    """Return paths whose last move leaves the box, returns at its far side, or hits a wall.

    Each follows the given path as far as possible.
    """
    paths: dict[str, list[Cell]] = {}
    # Along an axis of two cells, the far side is an ordinary neighbour.
    kinds = 3 if max(size) > 2 else 2
    for i in range(len(path) - 1, -1, -1):
        for name, cell in _exits(size, path[i]).items():
            paths.setdefault(name, [*path[: i + 1], cell])
        if len(paths) >= kinds:
            break
    wall_beside = {cell: wall for wall in walls for cell in side_neighbours(wall)}
    for i in range(len(path) - 1, -1, -1):
        if path[i] in wall_beside:
            paths["into_a_wall"] = [*path[: i + 1], wall_beside[path[i]]]
            break
    return paths


def _exits(size: Cell, cell: Cell) -> dict[str, Cell]:
    """Return, for each rule on bounds, the places where a move from a cell breaks it."""
    exits: dict[str, Cell] = {}
    for axis, length in enumerate(size):
        before, coordinate, after = cell[:axis], cell[axis], cell[axis + 1 :]
        if coordinate == 0:
            exits.setdefault("below_zero", (*before, -1, *after))
        if coordinate == length - 1:
            exits.setdefault("beyond_the_end", (*before, length, *after))
        if coordinate in {0, length - 1} and length > 2:
            far_side = length - 1 - coordinate
            exits.setdefault("round_the_end", (*before, far_side, *after))
    return exits
