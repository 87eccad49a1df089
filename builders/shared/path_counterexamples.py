"""Counterexamples for paths of cells: other forms of right ones, and last moves out of bounds."""

from collections.abc import Collection, Sequence

from pydantic import JsonValue

from scbench.graders.shared.grid_paths import side_neighbours

Cell = tuple[int, ...]


def listing(
    outer: str, inner: str, cells: Sequence[Sequence[JsonValue]]
) -> dict[str, JsonValue]:
    """Return cells as an answer: an array of objects with one array of numbers each."""
    return {outer: _entries(inner, cells)}


def _entries(inner: str, cells: Sequence[Sequence[JsonValue]]) -> list[JsonValue]:
    return [{inner: list(cell)} for cell in cells]


def form_counterexamples(
    outer: str, inner: str, cells: Sequence[Cell]
) -> dict[str, JsonValue]:
    """Return named answers that list these cells, but not in the form that is asked for."""
    wrong: dict[str, JsonValue] = {
        "nothing": {outer: []},
        "failure_marker": {"unacceptableFailure": True},
        "plain_lists": {outer: [list(cell) for cell in cells]},
        "strings": listing(outer, inner, [tuple(map(str, cells[0])), *cells[1:]]),
        "fractions": listing(
            outer, inner, [tuple(c + 0.25 for c in cell) for cell in cells]
        ),
        "one_number_more": listing(
            outer, inner, [(*cell, i) for i, cell in enumerate(cells)]
        ),
        "one_number_less": listing(outer, inner, [cell[:-1] for cell in cells]),
        "one_without_its_key": {outer: [{}, *_entries(inner, cells[1:])]},
    }
    if any(c in {0, 1} for cell in cells for c in cell):
        truths = [[bool(c) if c in {0, 1} else c for c in cell] for cell in cells]
        # Python holds True for equal to 1; the key, which is ignored, tells the two answers apart.
        wrong["booleans"] = {**listing(outer, inner, truths), "booleans": True}
    return wrong


def trespasses(
    size: Cell, walls: Collection[Cell], path: Sequence[Cell]
) -> dict[str, list[Cell]]:
    """Return paths whose last move leads out of the box, round to its far side, or into a wall."""
    paths: dict[str, list[Cell]] = {}
    for i in range(len(path) - 1, -1, -1):
        for k, n in enumerate(size):
            before, c, after = path[i][:k], path[i][k], path[i][k + 1 :]
            start = path[: i + 1]
            if c == 0:
                paths.setdefault("below_zero", [*start, (*before, -1, *after)])
            if c == n - 1:
                paths.setdefault("beyond_the_end", [*start, (*before, n, *after)])
            if c in {0, n - 1} and n > 2:
                paths.setdefault(
                    "round_the_end", [*start, (*before, n - 1 - c, *after)]
                )
        if len(paths) == 3 or (len(paths) == 2 and max(size) <= 2):
            break
    beside = {cell: wall for wall in walls for cell in side_neighbours(wall)}
    for i in range(len(path) - 1, -1, -1):
        if path[i] in beside:
            paths["into_a_wall"] = [*path[: i + 1], beside[path[i]]]
            break
    return paths
