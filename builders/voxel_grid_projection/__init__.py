"""Voxel grid projection: choose cells of a cube that fill three views and have no symmetry.

An example of the puzzle:

    Choose exactly 20 cells of a cube of 4 x 4 x 4 cells so that every view along an axis is full
    and the set of chosen cells has no symmetry. The sum x + y + z of a chosen cell does not
    contain the digit 5.

The answer is a list of cells such as {"xyz": [0, 3, 1]}.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Point, parameter, under
from scbench.builders.voxel_grid_projection.mistakes import (
    as_voxels,
    faulty_sets,
    other_forms,
)
from scbench.builders.voxel_grid_projection.rules import extra_rules
from scbench.builders.voxel_grid_projection.solver import (
    all_cells,
    as_answer,
    latin_square,
    solve,
)
from scbench.graders.voxel_grid_projection import Cell, find_forbidden
from scbench.schemas.voxel_grid_projection import Answer, Params, Residue

# Maximum number of grids drawn until one has a solution.
_TRIES = 40


class Space(Point):
    """Parameters of fresh grids."""

    size: int = parameter(10, "number of cells along each side", ge=4, le=32)
    spare: int = parameter(
        40,
        "number of chosen cells beyond the minimum of size * size, at most 2 * size * size; "
        "fewer is harder",
        ge=3,
        le=2_048,
    )
    forbidden: Literal["none", "digit", "residue", "cells"] = parameter(
        "cells",
        "forbidden cells: none (then every seed gives the same instance), those whose x + y + z "
        "has a certain digit or remainder, or single cells drawn at random",
    )
    forbidden_cells: int = parameter(
        12, "number of forbidden cells, if forbidden is cells", ge=1, le=200
    )
    connected: bool = parameter(
        False,
        "whether the cells must be connected through shared faces; requires that forbidden is "
        "none and that spare is at least 2 * size * size - 3 * size + 4",
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
                f"with connected, spare must be at least {least}; got {self.spare}"
            )
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Grids in which a set with full projections and no symmetry is known to exist."""

    task = "voxel_grid_projection"
    version = 3
    draws = 2
    form = '{"voxels": [{"xyz": [x, y, z]}, ...]}'
    extremes = ({"forbidden": "none", "connected": True, "spare": 200},)

    def words(self, params: Params) -> dict[str, object]:
        """Return the sizes and the rules on single cells."""
        n = params.size
        digit_rule = ""
        if params.forbidden_digit is not None:
            digit_rule = (
                "\nThe sum x + y + z of a voxel never contains the digit "
                f"{params.forbidden_digit}."
            )
        return {
            "n": n,
            "last": n - 1,
            "pairs": n * n,
            "cells": params.cells,
            "rules": extra_rules(params),
            "digit": digit_rule,
        }

    def reference(self, params: Params) -> Answer:
        """Cover the three views with a Latin square, then add random cells."""
        return as_answer(_solved(params))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return sets with one mistake each, and cells in other formats."""
        cells = _solved(params)
        sets = under("voxels", faulty_sets(params, cells))
        forms = under("voxels", other_forms(params.size, cells))
        return {**sets, "no_list": {}, **forms}

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return diagonals that fill three views, then the first other cells, forbidden or not."""
        n = params.size
        cells = dict.fromkeys([*latin_square(n, 1, 1, 0), *all_cells(n)])
        voxels = as_voxels(cells)[: params.cells]
        return {"diagonals and first cells": {"voxels": voxels}}

    def measure(self, params: Params) -> float:
        """Return view squares plus forbidden cells, divided by spare cells plus 1."""
        n = params.size
        sums, single = find_forbidden(params)
        barred = sum(sum(cell) in sums for cell in all_cells(n)) + len(single)
        return (3 * n * n + barred) / (params.cells - n * n + 1)

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw the forbidden cells until the solver finds a set."""
        for _ in range(_TRIES):
            params = draw_rules(point, rng)
            if solve(params) is not None:
                return params
        raise GenerationError(
            f"found no set of {point.size**2 + point.spare} cells in {_TRIES} grids of size "
            f"{point.size} with forbidden {point.forbidden}; ask for more spare cells, or for "
            "fewer if nearly all cells must be chosen"
        )


def _solved(params: Params) -> tuple[Cell, ...]:
    cells = solve(params)
    if cells is None:
        raise GenerationError("found no set of cells; ask for more cells")
    return cells


def draw_rules(point: Space, rng: Stream) -> Params:
    """Draw an instance; its rules may leave no solution."""
    n = point.size
    digit = None
    residue = None
    cells: list[Cell] = []
    if point.forbidden == "digit":
        digit = rng.between(1, 9)
    elif point.forbidden == "residue":
        modulus = rng.between(5, 12)
        residue = Residue(modulus=modulus, remainder=rng.below(modulus))
    elif point.forbidden == "cells":
        # At most a third of all cells.
        count = min(point.forbidden_cells, n**3 // 3)
        cells = sorted(rng.sample(all_cells(n), count))
    return Params(
        size=n,
        cells=n * n + point.spare,
        forbidden_digit=digit,
        forbidden_residue=residue,
        forbidden_cells=tuple(cells),
        connected=point.connected,
    )
