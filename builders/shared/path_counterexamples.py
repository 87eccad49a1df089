"""Counterexamples for paths of cells: right paths in a wrong format, and illegal moves."""

from collections.abc import Collection, Sequence
from itertools import chain

from pydantic import JsonValue

from scbench.builders.shared.builder import with_truths
from scbench.graders.shared.grid_paths import side_neighbours

Cell = tuple[int, ...]


def listing(
    outer: str, inner: str, cells: Sequence[Sequence[JsonValue]]
) -> dict[str, JsonValue]:
    """Return cells as an answer: an array of objects with one array of numbers each."""
    entries: list[JsonValue] = [{inner: list(cell)} for cell in cells]
    return {outer: entries}


def form_counterexamples(
    outer: str, inner: str, cells: Sequence[Cell]
) -> dict[str, JsonValue]:
    """Return named answers that list these cells in a wrong format."""
    first_as_text = list(map(str, cells[0]))
    plain_lists: list[JsonValue] = []
    entries: list[JsonValue] = []
    shifted = []
    numbered = []
    shortened = []
    truths = []
    for i, cell in enumerate(cells):
        plain_lists.append(list(cell))
        entries.append({inner: list(cell)})
        shifted.append([coordinate + 0.25 for coordinate in cell])
        numbered.append((*cell, i))
        shortened.append(cell[:-1])
        truths.append(with_truths(cell))
    wrong: dict[str, JsonValue] = {
        "nothing": {outer: []},
        "failure_marker": {"unacceptableFailure": True},
        "plain_lists": {outer: plain_lists},
        "strings": listing(outer, inner, [first_as_text, *cells[1:]]),
        "fractions": listing(outer, inner, shifted),
        "one_number_more": listing(outer, inner, numbered),
        "one_number_less": listing(outer, inner, shortened),
        "one_without_its_key": {outer: [{}, *entries[1:]]},
    }
    if not {0, 1}.isdisjoint(chain(*cells)):
        # In Python, True equals 1. The extra key, which is ignored, makes the two
        # answers different.
        wrong["booleans"] = {**listing(outer, inner, truths), "booleans": True}
    return wrong


def trespasses(
    size: Cell, walls: Collection[Cell], path: Sequence[Cell]
) -> dict[str, list[Cell]]:
    """Return paths whose last move leaves the box, wraps around to its far side, or hits a wall.

    Each follows the given path as far as possible.
    """
    paths: dict[str, list[Cell]] = {}
    # Along an axis of two cells, the far side is an ordinary neighbour.
    kinds = 3 if max(size) > 2 else 2
    for i in reversed(range(len(path))):
        for name, cell in _exits(size, path[i]).items():
            paths.setdefault(name, [*path[: i + 1], cell])
        if len(paths) >= kinds:
            break
    wall_beside = {}
    for wall in walls:
        for cell in side_neighbours(wall):
            wall_beside[cell] = wall
    for i in reversed(range(len(path))):
        if path[i] in wall_beside:
            paths["into_a_wall"] = [*path[: i + 1], wall_beside[path[i]]]
            break
    return paths


def _exits(size: Cell, cell: Cell) -> dict[str, Cell]:
    """Return the places where a move from a cell breaks a rule on bounds, by rule."""
    exits: dict[str, Cell] = {}
    for axis, length in enumerate(size):
        before = cell[:axis]
        coordinate = cell[axis]
        after = cell[axis + 1 :]
        if coordinate == 0:
            exits.setdefault("below_zero", (*before, -1, *after))
        if coordinate == length - 1:
            exits.setdefault("beyond_the_end", (*before, length, *after))
        if coordinate in {0, length - 1} and length > 2:
            far_side = length - 1 - coordinate
            exits.setdefault("round_the_end", (*before, far_side, *after))
    return exits
