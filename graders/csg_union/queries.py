"""Queries about the printed solids: common volumes, unions, and positions of points.

No query accepts a mesh, because the volumes of a mesh are its score.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from scbench.graders.csg_union.convex_parts import union_volume
from scbench.graders.csg_union.solids import union_parts
from scbench.graders.shared.checklist import brief
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.base import Triple, WholeNumber
from scbench.schemas.csg_union import Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 20
# Limits of one query.
_MAX_SOLIDS = 20
_MAX_POINTS = 50
# A point this close to a surface lies on it.
_ON_SURFACE = 1e-6
_DECIMALS = 4
# Coordinates are clipped to this, so that no product overflows; far points stay far away.
_FAR = 1e9


class Volume(Query):
    """Get the volume that some solids share, and the volume of their union.

    {"query": "volume", "solids": [1, 2]}, with numbers of the solids as above. You see the
    volume that all of these solids share (`common`), and the volume of their union (`union`),
    each rounded to 4 decimals.
    """

    query: Literal["volume"]
    solids: Annotated[
        tuple[WholeNumber, ...], Field(min_length=1, max_length=_MAX_SOLIDS)
    ]

    def observe(self, params: Params) -> Observation:
        """Return the volumes of the common part and of the union."""
        solids = solid_positions(params, self.solids)
        parts = []
        common = 0.0
        for part in union_parts(params):
            if part.solids == solids:
                common = part.volume
            if set(part.solids).issubset(solids):
                parts.append(part)
        return {
            "common": round(common, _DECIMALS),
            "union": round(union_volume(parts), _DECIMALS),
        }


class Inside(Query):
    """See which solids contain some points.

    {"query": "inside", "points": [[0, 0, 0], [1.5, 2, 0]]}, with x, y and z of at most 50 points.
    You see in `points` a text for each point, with one letter for each solid in the order of
    their numbers: i if the point lies inside the solid, s if it lies on its surface (to within
    0.000001), o if it lies outside.
    """

    query: Literal["inside"]
    points: Annotated[tuple[Triple, ...], Field(min_length=1, max_length=_MAX_POINTS)]

    def observe(self, params: Params) -> Observation:
        """Return where every point lies."""
        columns = []
        for part in union_parts(params):
            if len(part.solids) > 1:
                continue
            solid = part.convex
            points = np.clip(np.array(self.points), -_FAR, _FAR) - solid.centre
            beyond = (points @ solid.normals.T - solid.offsets).max(axis=1)
            letters = np.where(np.abs(beyond) <= _ON_SURFACE, "s", "o")
            letters[beyond < -_ON_SURFACE] = "i"
            columns.append(letters)
        return {"points": ["".join(row) for row in zip(*columns, strict=True)]}


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (Volume, Inside)


def solid_positions(params: Params, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of solids, ascending, from their numbers in the prompt.

    Raises:
        QueryError: there is no solid with one of the numbers.
    """
    count = len(params.solids)
    for number in numbers:
        if not 1 <= number <= count:
            raise QueryError(
                f"there is no solid {brief(number)}; the solids are numbered 1 to {count}"
            )
    return tuple(sorted({number - 1 for number in numbers}))
