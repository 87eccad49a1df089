"""Voxel grid projection: prompts, fresh grids with forbidden cells, and a constructive solver."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.graders.voxel_grid_projection import Cell, forbidden, grade
from scbench.schemas.voxel_grid_projection import Answer, Params, Residue, Voxel

_TRIES = 40
_FILLINGS = 20
_SQUARES = 400
_STEPS = 100


class Space(Point):
    """Parameters of fresh grids."""

    size: int = parameter(10, "cells along each side", ge=4, le=32)
    spare: int = parameter(
        40,
        "cells to choose beyond size * size, the fewest that fill three views; at "
        "most twice that number; fewer is harder",
        ge=3,
        le=2_048,
    )
    forbidden: Literal["none", "digit", "residue", "cells"] = parameter(
        "cells",
        "what may not be chosen: nothing (then every seed gives the same instance), "
        "cells whose x + y + z has a certain digit or remainder, or single cells drawn at random",
    )
    forbidden_cells: int = parameter(
        12, "how many, if single cells are forbidden", ge=1, le=200
    )
    connected: bool = parameter(
        False,
        "whether the cells must hang together by faces; needs nothing forbidden and "
        "spare of at least 2 * size * size - 3 * size + 4",
    )

    @model_validator(mode="after")
    def _possible(self) -> "Space":
        if self.spare > 2 * self.size**2:
            raise ValueError(
                f"spare {self.spare} is above twice {self.size} * {self.size}"
            )
        if self.connected and self.forbidden != "none":
            raise ValueError("connected needs forbidden to be none")
        least = 2 * self.size**2 - 3 * self.size + 4
        if self.connected and self.spare < least:
            raise ValueError(
                f"connected needs spare of at least {least}, got {self.spare}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Grids in which a set with full projections and no symmetry is known to exist."""

    task = "voxel_grid_projection"
    version = 2
    form = '{"voxels": [{"xyz": [x, y, z]}, ...]}'
    extremes = ({"forbidden": "none", "connected": True, "spare": 200},)

    def words(self, params: Params) -> dict[str, object]:
        """Return the sizes, and the rules of this grid besides."""
        n, digit = params.size, params.forbidden_digit
        return {
            "n": n,
            "last": n - 1,
            "pairs": n * n,
            "cells": params.cells,
            "rules": "".join(f"{rule}\n" for rule in extra_rules(params)),
            "digit": ""
            if digit is None
            else f" No cell's sum x + y + z has the digit {digit}.",
        }

    def reference(self, params: Params) -> Answer:
        """Cover the three views with a Latin square, then add random cells."""
        cells = _solve(params)
        if cells is None:
            raise GenerationError("no set of cells was found; ask for more cells")
        return _as_answer(cells)

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return sets with one mistake each, and other ways to write cells down."""
        right = list(self.reference(params).voxels)
        cells = [tuple(int(v) for v in voxel.xyz) for voxel in right]
        lists: dict[str, JsonValue] = {
            name: [{"xyz": list(cell)} for cell in example]
            for name, example in _faulty_sets(params, cells)
        }
        n = params.size
        forms: dict[str, JsonValue] = {
            "not_a_list": {"xyz": [0, 0, 0]},
            "bare_triples": [list(cell) for cell in cells],
            "flat_numbers": [x + n * y + n * n * z for x, y, z in cells],
            "named_coordinates": [{"x": x, "y": y, "z": z} for x, y, z in cells],
            "strings": [{"xyz": [str(v) for v in cell]} for cell in cells],
            "one_string": [{"xyz": f"{x},{y},{z}"} for x, y, z in cells],
            # In another order as well, because Python holds True for equal to 1.
            "booleans": [
                {"xyz": [v == 1 if v < 2 else v for v in c]} for c in cells[::-1]
            ],
            "nested": [{"xyz": [[v] for v in cell]} for cell in cells],
            "two_coordinates": [{"xyz": list(cell[:2])} for cell in cells],
        }
        return {**under("voxels", lists), "no_list": {}, **under("voxels", forms)}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return diagonals that fill three views, and the first other cells; nothing is avoided."""
        cells = _all_cells(params.size)
        diagonals = [(x, y, (x + y) % params.size) for x, y, z in cells if not z]
        selection = [*dict.fromkeys([*diagonals, *cells])][: params.cells]
        answer: list[JsonValue] = [{"xyz": list(cell)} for cell in selection]
        return {"diagonals and first cells": {"voxels": answer}}

    def measure(self, params: Params) -> float:
        """Return how many squares of the views and barred cells there are for each spare cell."""
        n = params.size
        sums, single = forbidden(params)
        barred = sum(sum(cell) in sums for cell in _all_cells(n)) + len(single)
        return (3 * n * n + barred) / (params.cells - n * n + 1)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw what is forbidden until the solver finds a set."""
        for _ in range(_TRIES):
            params = _draw_rules(point, rng)
            if _solve(params) is not None:
                return params
        raise GenerationError(
            f"no set of {point.size**2 + point.spare} cells was found in {_TRIES} grids of size "
            f"{point.size} with forbidden {point.forbidden}; ask for more spare cells, or "
            "for fewer if little else is left"
        )


def _draw_rules(point: Space, rng: Stream) -> Params:
    n = point.size
    digit = residue = None
    single: list[Cell] = []
    if point.forbidden == "digit":
        digit = rng.between(1, 9)
    elif point.forbidden == "residue":
        modulus = rng.between(5, 12)
        residue = Residue(modulus=modulus, remainder=rng.below(modulus))
    elif point.forbidden == "cells":
        everything = _all_cells(n)
        single = sorted(
            rng.sample(everything, min(point.forbidden_cells, len(everything) // 3))
        )
    return Params(
        size=n,
        cells=n * n + point.spare,
        forbidden_digit=digit,
        forbidden_residue=residue,
        forbidden_cells=tuple(single),
        connected=point.connected,
    )


def extra_rules(params: Params, *, sums: bool = True) -> Iterator[str]:
    """Yield the rules on single cells; without sums, for who does not know how large they get."""
    if (digit := params.forbidden_digit) is not None:
        yield f"- No chosen cell has a sum x + y + z in which the digit {digit} occurs."
    if (residue := params.forbidden_residue) is not None:
        yield (
            f"- No chosen cell has a sum x + y + z that leaves the remainder {residue.remainder} "
            f"when it is divided by {residue.modulus}."
        )
    if sums and (digit is not None or residue is not None):
        listed = (
            ", ".join(map(str, sorted(forbidden(params)[0]))) or "none in this grid"
        )
        yield f"  The forbidden sums are {listed}."
    if params.forbidden_cells:
        yield "- None of these cells, given as (x, y, z), is chosen:"
        cells = [f"({x}, {y}, {z})" for x, y, z in params.forbidden_cells]
        for start in range(0, len(cells), 6):
            yield "  " + " ".join(cells[start : start + 6])
    if params.connected:
        yield (
            "- The chosen cells hang together: from each one every other can be reached by steps "
            "through\n  shared faces, from chosen cell to chosen cell."
        )


def _as_answer(cells: Sequence[Cell]) -> Answer:
    return Answer(voxels=tuple(Voxel(xyz=cell) for cell in cells))


@lru_cache(maxsize=64)
def _solve(params: Params) -> tuple[Cell, ...] | None:
    """Return cells that keep every rule, the same for the same instance; None if none are found."""
    rng = Stream("voxel_grid_projection", "solver", params.model_dump(mode="json"))
    n = params.size
    sums, single = forbidden(params)
    permitted = [
        cell for cell in _all_cells(n) if sum(cell) not in sums and cell not in single
    ]
    three_faces = [cell for cell in _all_cells(n) if min(cell) == 0]
    cover = three_faces if params.connected else _cover(n, frozenset(permitted))
    if cover is None or len(cover) > params.cells:
        return None
    for _ in range(_FILLINGS):
        selection = dict.fromkeys(cover)
        if params.connected:
            for _ in range(_STEPS * params.cells):
                if len(selection) == params.cells:
                    break
                cell = _step_from(
                    rng.choice(list(selection)), rng.below(3), rng.choice((-1, 1))
                )
                if min(cell) >= 0 and max(cell) < n:
                    selection[cell] = None
        else:
            free = [cell for cell in permitted if cell not in selection]
            missing = params.cells - len(selection)
            if missing > len(free):
                return None
            selection |= dict.fromkeys(rng.sample(free, missing))
        cells = tuple(sorted(selection))
        if grade(params, _as_answer(cells)).score == 1:
            return cells
    return None


def _all_cells(n: int) -> list[Cell]:
    return [(x, y, z) for x in range(n) for y in range(n) for z in range(n)]


def _step_from(cell: Cell, axis: int, step: int) -> Cell:
    x, y, z = (value + step * (i == axis) for i, value in enumerate(cell))
    return x, y, z


def _cover(n: int, permitted: frozenset[Cell]) -> list[Cell] | None:
    """Return permitted cells that fill all three views, few more than n * n.

    Of the Latin squares z = a x + b y + c (mod n) the one that meets the fewest forbidden cells is
    repaired: each line that lost its cell gets another.
    """
    units = [a for a in range(1, n) if math.gcd(a, n) == 1]
    best: list[Cell] = []
    for a, b, c in islice(product(units, units, range(n)), _SQUARES):
        square = [(x, y, (a * x + b * y + c) % n) for x in range(n) for y in range(n)]
        allowed = [cell for cell in square if cell in permitted]
        if len(allowed) > len(best):
            best = allowed
        if len(best) == n * n:
            return best
    for keep in ((0, 1), (0, 2), (1, 2)):
        filled = {(cell[keep[0]], cell[keep[1]]) for cell in best}
        for pair in product(range(n), repeat=2):
            if pair not in filled:
                cell = _on_line(n, keep, pair, permitted)
                if cell is None:
                    return None
                best.append(cell)
    return best


def _on_line(
    n: int, keep: tuple[int, int], pair: tuple[int, ...], permitted: frozenset[Cell]
) -> Cell | None:
    """Return the first permitted cell with these two coordinates."""
    for value in range(n):
        place = [value] * 3
        place[keep[0]], place[keep[1]] = pair
        cell = (place[0], place[1], place[2])
        if cell in permitted:
            return cell
    return None


def _faulty_sets(
    params: Params, right: Sequence[tuple[int, ...]]
) -> Iterator[tuple[str, Sequence[Sequence[float]]]]:
    n = params.size
    sums, single = forbidden(params)
    occupied = set(right)
    grid = [cell for cell in _all_cells(n) if cell not in occupied]
    free = [cell for cell in grid if sum(cell) not in sums and cell not in single]
    yield "empty", []
    yield "one_missing", right[:-1]
    yield "one_repeated", [*right[:-1], right[0]]
    yield "one_repeated_as_well", [*right, right[0]]
    yield "counted_from_one", [[v + 1 for v in cell] for cell in right]
    yield "centred", [[v - n // 2 for v in cell] for cell in right]
    yield "fraction", [[v + 0.5 for v in right[0]], *right[1:]]
    yield "a_little_off", [[v + 1e-6 for v in right[0]], *right[1:]]
    yield "one_outside", [*right[:-1], [n, 0, 0]]
    yield "a_block_from_the_corner", _all_cells(n)[: params.cells]
    yield "latin_square_only", [(x, y, (x + y) % n) for x in range(n) for y in range(n)]
    yield "mirrored_in_x_and_y", _symmetric(params)
    if free:
        yield "one_more", [*right, free[0]]
    for name, (i, j) in {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}.items():
        line = (right[0][i], right[0][j])
        remaining = [cell for cell in right if (cell[i], cell[j]) != line]
        elsewhere = [cell for cell in free if (cell[i], cell[j]) != line]
        if len(elsewhere) >= len(right) - len(remaining):
            yield (
                f"hole_in_{name}",
                [*remaining, *elsewhere[: len(right) - len(remaining)]],
            )
    barred = [cell for cell in grid if sum(cell) in sums or cell in single]
    if barred:
        yield "one_forbidden", [*right[:-1], barred[0]]


def _symmetric(params: Params) -> list[Cell]:
    """Return as many cells as asked for that stay the same when x and y are exchanged."""
    n = params.size
    selection = {(x, y, (x + y) % n): None for x in range(n) for y in range(n)}
    for x, y, z in _all_cells(n):
        pair = dict.fromkeys([(x, y, z), (y, x, z)])
        if (
            not pair.keys() & selection.keys()
            and len(selection) + len(pair) <= params.cells
        ):
            selection |= pair
    return list(selection)
