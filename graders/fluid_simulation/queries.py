"""What can be asked of a fluid simulation: where water stands after the rain on some earthworks.

The answers are figures of the world; whether they meet the goal, and how far, is left to who asks.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    TooMuchWorkError,
    carry_out,
    positions,
    settle,
)
from scbench.graders.fluid_simulation.lakes import Lake, survey
from scbench.graders.fluid_simulation.rainfall import Rained, rain_on
from scbench.graders.shared.interaction import (
    Observation,
    Query,
    QueryError,
    first_items,
)
from scbench.schemas.base import WholeIndex, WholeIndexPair
from scbench.schemas.fluid_simulation import Earthworks, Params

BUDGET = 20
MOST_BOXES = 1000
_LAKES = 8
_PLACES = 4
_WINDOW = 1600
Plan = Annotated[Earthworks, Field(max_length=MOST_BOXES)]


class _World(NamedTuple):
    rock: Cells
    fallen: Cells
    rained: Rained
    ignored: list[list[object]]


@lru_cache(maxsize=2)
def _world(params: Params, plan: Earthworks) -> _World:
    """Return the world after the rain; the last ones are kept, to be looked at level by level."""
    if params.max_boxes is not None and len(plan) > params.max_boxes:
        raise QueryError(
            f"{len(plan)} boxes are listed; at most {params.max_boxes} are allowed"
        )
    rock, ignored = carry_out(params, plan)
    try:
        rock, fallen = settle(rock)
        return _World(rock, fallen, rain_on(rock, params.rain), ignored)
    except TooMuchWorkError as error:
        raise QueryError(f"the world takes {error}") from None


class Rain(Query):
    """See what water stands after the rain on some earthworks.

    {"query": "rain", "earthworks": [...]}, with boxes as in an answer (at most 1,000). The
    earthworks are carried out on the ground as it is at the start, loose rock falls, it rains to
    the end, and you are told: `ignored`, the boxes that were ignored and why; `fallen_rock`, the
    rock that fell, where it lies now; `water`, all voxels of water, and how many are on each
    level z; `lakes`, the largest lakes first, each with its voxels, columns, levels, smallest and
    largest x, y, z, and whether any of its water is visible; `deepest`, the most voxels of water
    directly above each other, and where; `visible`, the columns with visible water; `drained`,
    the columns where drops were lost at z = 0; and `last_round`, what became of the last drop of
    each rain column (lost over a "side", at the "bottom", or because all was "full"). Of long
    lists the first few entries are shown, with the `count` of all.
    """

    query: Literal["rain"]
    earthworks: Plan

    def observe(self, params: Params) -> Observation:
        """Return figures of the world after the rain."""
        world = _world(params, self.earthworks)
        water = survey(world.rock, world.rained.water)
        lakes = sorted(water.lakes, key=lambda lake: -lake.voxels)
        return {
            "ignored": {
                "count": len(world.ignored),
                "first": [
                    f"box {i}: {why}" for i, why in first_items(world.ignored, _PLACES)
                ],
            },
            "fallen_rock": {"voxels": int(world.fallen.sum())}
            | _cell_bounds(world.fallen),
            "water": {"voxels": water.voxels, "levels": _wet_levels(water.levels)},
            "lakes": {
                "count": len(lakes),
                "first": [
                    _lake(lake, water.width) for lake in first_items(lakes, _LAKES)
                ],
            },
            "deepest": {
                "voxels": water.depth,
                "column": water.deepest and list(water.deepest),
            },
            "visible": {
                "count": len(water.visible_columns),
                "first": first_items(map(list, water.visible_columns), _PLACES),
            },
            "drained": {
                "count": len(world.rained.drains),
                "first": first_items(map(list, sorted(world.rained.drains)), _PLACES),
            },
            "last_round": first_items(world.rained.last_round, 8),
        }


def _wet_levels(levels: tuple[int, ...]) -> dict[str, int]:
    return {str(z): count for z, count in enumerate(levels) if count}


def _cell_bounds(cells: Cells) -> dict[str, Any]:
    places = np.argwhere(cells)
    if not len(places):
        return {}
    return {"low": places.min(axis=0).tolist(), "high": places.max(axis=0).tolist()}


def _lake(lake: Lake, width: int) -> Observation:
    columns = [divmod(cell, width) for cell in positions(lake.columns)]
    wet = [z for z, count in enumerate(lake.levels) if count]
    low, high = (
        [f(axis) for axis in (*zip(*columns, strict=True), wet)] for f in (min, max)
    )
    return {
        "voxels": lake.voxels,
        "columns": lake.surface,
        "levels": _wet_levels(lake.levels),
        "low": low,
        "high": high,
        "visible": lake.visible,
    }


class Level(Query):
    """See a piece of one level of the world after the rain on some earthworks.

    {"query": "level", "earthworks": [...], "z": 3, "low": [4, 4], "high": [20, 12]}, with boxes
    as in "rain", a level z, and the smallest and largest x, y of the piece (at most 1,600
    voxels). `rows` has one text for each y, the smallest first, and in it one character for each
    x, the smallest first: # is rock, ~ is water, . is air.
    """

    query: Literal["level"]
    earthworks: Plan
    z: WholeIndex
    low: WholeIndexPair
    high: WholeIndexPair

    def observe(self, params: Params) -> Observation:
        """Return a map of part of a level."""
        (x, y), (u, v), last = self.low, self.high, params.width - 1
        if self.z >= params.height or not (x <= u <= last and y <= v <= last):
            raise QueryError(
                f"z must be in 0..{params.height - 1}, and low and high in 0..{last} along x and "
                "y, low not above high"
            )
        if (u - x + 1) * (v - y + 1) > _WINDOW:
            raise QueryError(f"a piece of a level has at most {_WINDOW:,} voxels")
        world = _world(params, self.earthworks)
        marks = np.where(world.rained.water, "~", np.where(world.rock, "#", "."))
        piece = marks[x : u + 1, y : v + 1, self.z]
        return {"rows": ["".join(row) for row in piece.T]}


QUERIES = (Rain, Level)
