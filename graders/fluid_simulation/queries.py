"""Queries about a fluid simulation: where water remains after rain on some earthworks.

Observations are measurements of the world. They do not reveal how far the goal is met.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from scbench.base.wording import counted
from scbench.graders.fluid_simulation.earthworks import (
    Cells,
    TooMuchWorkError,
    carry_out,
    positions,
    settle,
)
from scbench.graders.fluid_simulation.lakes import Lake, survey
from scbench.graders.fluid_simulation.rainfall import Rained, rain_on
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.base import WholeIndex, WholeIndexPair
from scbench.schemas.fluid_simulation import Earthworks, Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 20
MOST_BOXES = 1000
# Maximum length of a list in an observation.
_LAKES = 8
_PLACES = 4
_FATES = 8
# Maximum number of voxels in the map of a level.
_WINDOW = 1600
Plan = Annotated[Earthworks, Field(max_length=MOST_BOXES)]


class World(NamedTuple):
    """The world after the rain on some earthworks."""

    rock: Cells
    fallen: Cells
    rained: Rained
    ignored: list[list[object]]
    """[position, reason] of every box that was ignored."""


# The last worlds are cached for queries about their levels.
@lru_cache(maxsize=2)
def world_after(params: Params, plan: Earthworks) -> World:
    """Return the world after the rain.

    Raises:
        QueryError: there are too many boxes, or the world needs too much work.
    """
    if params.max_boxes is not None and len(plan) > params.max_boxes:
        raise QueryError(
            f"the list has {counted(len(plan), 'box', 'boxes')}; the limit is {params.max_boxes}"
        )
    rock, ignored = carry_out(params, plan)
    try:
        rock, fallen = settle(rock)
        rained = rain_on(rock, params.rain)
    except TooMuchWorkError as error:
        raise QueryError(f"the simulation was stopped: {error}") from None
    return World(rock, fallen, rained, ignored)


class Rain(Query):
    """See where water remains after rain on some earthworks.

    {"query": "rain", "earthworks": [...]}, with boxes as in an answer (at most 1,000). They
    change the initial ground, loose rock falls, and it rains until the end. You see: `ignored`,
    the boxes that were ignored and why; `fallen_rock`, the rock that fell, and where it is now;
    `water`, the number of voxels of water, in total and on each level z; `lakes`, the largest
    first, each with its voxels, columns, levels, smallest and largest x, y, z, and whether any of
    its water is visible; `deepest`, the longest run of water in a column, and its column;
    `visible`, the columns with visible water; `drained`, the columns where drops were lost at
    z = 0; and `last_round`, the fate of the last drop of each rain column (lost over a "side", at
    the "bottom", or because everything is "full"). Long lists show their first few entries and
    the `count` of all.
    """

    query: Literal["rain"]
    earthworks: Plan

    def observe(self, params: Params) -> Observation:
        """Return figures of the world after the rain."""
        world = world_after(params, self.earthworks)
        rained = world.rained
        water = survey(world.rock, rained.water)
        lakes = sorted(water.lakes, key=lambda lake: -lake.voxels)
        ignored = [f"box {i}: {why}" for i, why in world.ignored[:_PLACES]]
        return {
            "ignored": {"count": len(world.ignored), "first": ignored},
            "fallen_rock": {
                "voxels": int(world.fallen.sum()),
                **cell_bounds(world.fallen),
            },
            "water": {"voxels": water.voxels, "levels": wet_levels(water.levels)},
            "lakes": {
                "count": len(lakes),
                "first": [lake_figures(lake, water.width) for lake in lakes[:_LAKES]],
            },
            "deepest": {
                "voxels": water.depth,
                "column": list(water.deepest) if water.deepest else None,
            },
            "visible": first_columns(water.visible_columns),
            "drained": first_columns(sorted(rained.drains)),
            "last_round": list(rained.last_round[:_FATES]),
        }


def wet_levels(levels: tuple[int, ...]) -> dict[str, int]:
    """Return the number of voxels of water on each wet level; the keys are z as text."""
    return {str(z): count for z, count in enumerate(levels) if count}


def cell_bounds(cells: Cells) -> dict[str, list[int]]:
    """Return the smallest and largest x, y, z of a set of cells; nothing if it is empty."""
    places = np.argwhere(cells)
    if not len(places):
        return {}
    return {"low": places.min(axis=0).tolist(), "high": places.max(axis=0).tolist()}


def first_columns(columns: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the number of columns, and the first few."""
    first = [list(column) for column in columns[:_PLACES]]
    return {"count": len(columns), "first": first}


def lake_figures(lake: Lake, width: int) -> Observation:
    """Return the size and the extent of a lake."""
    columns = [divmod(cell, width) for cell in positions(lake.columns)]
    x, y = zip(*columns, strict=True)
    z = [level for level, count in enumerate(lake.levels) if count]
    return {
        "voxels": lake.voxels,
        "columns": lake.surface,
        "levels": wet_levels(lake.levels),
        "low": [min(x), min(y), min(z)],
        "high": [max(x), max(y), max(z)],
        "visible": lake.visible,
    }


class Level(Query):
    """See a part of one level of the world after rain on some earthworks.

    {"query": "level", "earthworks": [...], "z": 3, "low": [4, 4], "high": [20, 12]}, with boxes
    as in "rain", a level z, and the smallest and largest x, y of the part (at most 1,600
    voxels). `rows` has one string for each y, the smallest first. It has one character for each
    x, the smallest first: # is rock, ~ is water, . is air.
    """

    query: Literal["level"]
    earthworks: Plan
    z: WholeIndex
    low: WholeIndexPair
    high: WholeIndexPair

    def observe(self, params: Params) -> Observation:
        """Return a map of part of a level."""
        x, y = self.low
        u, v = self.high
        last = params.width - 1
        if self.z >= params.height or not (x <= u <= last and y <= v <= last):
            raise QueryError(
                f"z must be in 0..{params.height - 1}, and x and y of low and high in 0..{last}; "
                "low must not be above high"
            )
        if (u - x + 1) * (v - y + 1) > _WINDOW:
            raise QueryError(f"a map may show at most {_WINDOW:,} voxels")
        world = world_after(params, self.earthworks)
        marks = np.where(world.rained.water, "~", np.where(world.rock, "#", "."))
        piece = marks[x : u + 1, y : v + 1, self.z]
        return {"rows": ["".join(row) for row in piece.T]}


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (Rain, Level)
