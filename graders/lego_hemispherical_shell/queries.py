"""Queries about a few bricks: overlaps, joints, and the share in the target.

A query has far fewer bricks than the smallest shell. So all queries together reveal less about an
answer than its verdict would.
"""

from itertools import chain
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from scbench.graders.lego_hemispherical_shell import as_boxes
from scbench.graders.lego_hemispherical_shell.bricks import (
    CONTACT_GAP,
    VOLUME,
    Bricks,
    Pairs,
    close_pairs,
    joints,
    off_grid,
)
from scbench.graders.lego_hemispherical_shell.target import body, shared_volumes
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.lego_hemispherical_shell import Brick, Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 30
# Maximum number of bricks in a query.
_MAX_BRICKS = 10
# Largest coordinate of a brick, in millimetres.
_REACH = 10_000.0


class BricksTogether(Query):
    """See which of a few bricks overlap or are joined, and how much of them is in the target.

    {"query": "bricks", "bricks": [...]}, with at most 10 bricks as in an answer, with x, y and z
    between -10,000 and 10,000. Bricks are named by their positions in this list, counting from 0.
    You see: `in_target`, for each brick the share of its volume that is in the target; `overlaps`,
    every pair of bricks that overlap, as [i, j, area that their plans share, height that they
    share]; and `joined`, every pair of joined bricks, as [lower, upper, area that their plans
    share, "on one grid" or "off the grid" of studs]. You do not see whether the bricks fall over.
    """

    query: Literal["bricks"]
    bricks: Annotated[tuple[Brick, ...], Field(min_length=1, max_length=_MAX_BRICKS)]

    def observe(self, params: Params) -> Observation:
        """Return pairs of bricks that meet, and the share of each in the target."""
        rows = [(*brick.Centroid, brick.RotationDegrees) for brick in self.bricks]
        places = chain.from_iterable(brick.Centroid for brick in self.bricks)
        if any(abs(value) > _REACH for value in places):
            raise QueryError(
                f"the x, y and z of a brick must have absolute values of at most {_REACH:,.0f}"
            )
        bricks = Bricks.of(rows).in_layers()
        pairs = close_pairs(bricks, _MAX_BRICKS * _MAX_BRICKS)
        if pairs is None:
            raise QueryError("the bricks are too crowded")
        boxes = as_boxes(bricks, params.centre_mm)
        shares = shared_volumes(body(params), boxes) / VOLUME
        return {
            # Adding 0.0 turns -0.0 into 0.0.
            "in_target": [round(share, 3) + 0.0 for share in shares.tolist()],
            "overlaps": overlap_rows(pairs.where(pairs.depth >= CONTACT_GAP)),
            "joined": joint_rows(bricks, joints(pairs)),
        }


def overlap_rows(clash: Pairs) -> list[list[float]]:
    """Return [i, j, shared area, shared height] of pairs that overlap, i less than j."""
    depths = clash.depth.tolist()
    rows = []
    for (lower, upper, area), depth in zip(area_rows(clash), depths, strict=True):
        first, second = sorted((lower, upper))
        rows.append([first, second, area, round(depth, 3)])
    return rows


def joint_rows(bricks: Bricks, joined: Pairs) -> list[list[float | str]]:
    """Return [lower, upper, shared area, how the studs fit] of pairs that are joined."""
    first = np.minimum(joined.lower, joined.upper)
    second = np.maximum(joined.lower, joined.upper)
    off = off_grid(bricks, first, second).tolist()
    fits = {True: "off the grid", False: "on one grid"}
    pairs = zip(area_rows(joined), off, strict=True)
    return [[*row, fits[is_off]] for row, is_off in pairs]


def area_rows(pairs: Pairs) -> list[tuple[int, int, float]]:
    """Return [lower, upper, shared area] of pairs."""
    areas = np.round(pairs.area, 3).tolist()
    return list(zip(pairs.lower.tolist(), pairs.upper.tolist(), areas, strict=True))


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (BricksTogether,)
