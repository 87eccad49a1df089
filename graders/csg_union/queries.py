"""What can be asked of the printed solids: volumes of some of them together, and where points lie.

Nothing is asked of a mesh: its volumes are its score.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from scbench.graders.csg_union.solids import union_parts, union_volume
from scbench.graders.shared.checklist import brief
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.schemas.base import Triple, WholeNumber
from scbench.schemas.csg_union import Params

BUDGET = 20
_MOST_SOLIDS = 20
_MOST_POINTS = 50
_ON_SURFACE = 1e-6
_DECIMALS = 4


def _solid_positions(params: Params, numbers: Sequence[int]) -> tuple[int, ...]:
    count = len(params.solids)
    for number in numbers:
        if not 1 <= number <= count:
            raise QueryError(
                f"there is no solid {brief(number)}; they are numbered 1 to {count}"
            )
    return tuple(sorted({number - 1 for number in numbers}))


class Volume(Query):
    """See how large some of the solids are together.

    {"query": "volume", "solids": [1, 2]}, with numbers of the solids as above. You are told the
    volume of what lies in all of these solids (`common`), and of what lies in at least one of
    them (`union`), each rounded to 4 decimals.
    """

    query: Literal["volume"]
    solids: Annotated[
        tuple[WholeNumber, ...], Field(min_length=1, max_length=_MOST_SOLIDS)
    ]

    def observe(self, params: Params) -> Observation:
        """Return the volumes of the common part and of the union."""
        solids = _solid_positions(params, self.solids)
        parts = [p for p in union_parts(params) if set(p.solids).issubset(solids)]
        common = sum((part.volume for part in parts if part.solids == solids), 0.0)
        return {
            "common": round(common, _DECIMALS),
            "union": round(union_volume(parts), _DECIMALS),
        }


class Inside(Query):
    """See in which solids some points lie.

    {"query": "inside", "points": [[0, 0, 0], [1.5, 2, 0]]}, with x, y and z of at most 50 points.
    You are told in `points` a text for each point, with one letter for each solid in the order of
    their numbers: i if the point lies inside the solid, s if it lies on its surface (to within
    0.000001), o if it lies outside.
    """

    query: Literal["inside"]
    points: Annotated[tuple[Triple, ...], Field(min_length=1, max_length=_MOST_POINTS)]

    def observe(self, params: Params) -> Observation:
        """Return where every point lies."""
        columns = []
        for part in union_parts(params):
            if len(part.solids) > 1:
                continue
            # Far points stay far, and no product overflows.
            points = np.clip(np.array(self.points), -1e9, 1e9) - part.convex.centre
            beyond = (points @ part.convex.normals.T - part.convex.offsets).max(axis=1)
            columns.append(np.where(np.abs(beyond) <= _ON_SURFACE, "s", "o"))
            columns[-1][beyond < -_ON_SURFACE] = "i"
        return {"points": ["".join(letters) for letters in zip(*columns, strict=True)]}


QUERIES = (Volume, Inside)
