"""Choosing and removing cells of the cube."""

from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.graders.voxel_grid_projection import find_forbidden, symmetries_of
from scbench.schemas.base import WholeIndex
from scbench.schemas.voxel_grid_projection import Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100
# Maximum pairs and symmetries in an observation.
_EMPTY = 40
_SYMMETRIES = 8
Line = Annotated[WholeIndex, Field(le=10**6)]
Cell = Annotated[tuple[Line, ...], Field(min_length=3, max_length=3)]
Cells = Annotated[tuple[Cell, ...], Field(min_length=1, max_length=200)]
# Names of views, and the axes of each.
_VIEWS = (("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))


class Place(Action):
    """Choose cells.

    {"action": "place", "cells": [[0, 0, 0], [1, 0, 1]]}: at most 200 cells, none of them forbidden
    or already chosen. You get the number of cells `chosen` and `wanted`. For each view ("xy", "xz",
    "yz") you get the number of `empty` pairs, and the first 40 of them in `pairs`.
    """

    action: Literal["place"]
    cells: Cells


class Remove(Action):
    """Remove chosen cells; you get the same result as after `place`.

    {"action": "remove", "cells": [[0, 0, 0]]}
    """

    action: Literal["remove"]
    cells: Cells


class Ask(Action):
    """Find the symmetries that the chosen cells would have together with more cells.

    {"action": "ask", "cells": [[0, 0, 0]]}. You get the `count` of rotations and reflections, out
    of 47, that map the set onto itself, and at most eight of them in `symmetries`.
    """

    action: Literal["ask"]
    cells: Cells


class Play:
    """The cells so far."""

    over = False

    def __init__(self, params: Params) -> None:
        self._params = params
        # The keys serve as an ordered set.
        self._chosen: dict[tuple[int, ...], None] = {}

    @property
    def answer(self) -> dict[str, Any]:
        """The cells so far."""
        return {"voxels": [{"xyz": list(cell)} for cell in self._chosen]}

    def look(self) -> Observation:
        """Return the number of cells and the holes of each view."""
        counts = {}
        pairs = {}
        for name, i, j in _VIEWS:
            covered = {(cell[i], cell[j]) for cell in self._chosen}
            squares = product(range(self._params.size), repeat=2)
            holes = [list(square) for square in squares if square not in covered]
            counts[name] = len(holes)
            pairs[name] = holes[:_EMPTY]
        return {
            "chosen": len(self._chosen),
            "wanted": self._params.cells,
            "empty": counts,
            "pairs": pairs,
        }

    def step(self, action: Place | Remove | Ask) -> Observation:
        """Carry out an action; a `QueryError` changes nothing."""
        after = dict(self._chosen)
        size = self._params.size
        sums, cells = find_forbidden(self._params)
        for cell in action.cells:
            if isinstance(action, Remove):
                if cell not in after:
                    raise QueryError(f"cell {list(cell)} is not chosen")
                del after[cell]
                continue
            if max(cell) >= size or sum(cell) in sums or cell in cells:
                raise QueryError(f"cell {list(cell)} is forbidden or outside the cube")
            if cell in after and isinstance(action, Place):
                raise QueryError(f"cell {list(cell)} is already chosen")
            after[cell] = None
        if isinstance(action, Ask):
            names = symmetries_of(size, {(x, y, z) for x, y, z in after})
            return {"count": len(names), "symmetries": names[:_SYMMETRIES]}
        if len(after) > 2 * self._params.cells:
            raise QueryError(
                f"that would be {len(after)} cells; at most {2 * self._params.cells} can be chosen"
            )
        self._chosen = after
        return self.look()


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Place, Remove, Ask)
