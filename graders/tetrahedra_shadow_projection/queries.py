"""Queries about a few tetrahedra: their shadow, and the depth of intersections.

Shadows are not compared with the target, because that comparison is the score.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import shapely
from pydantic import Field

from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.graders.tetrahedra_shadow_projection import (
    REACH,
    Floats,
    corners,
    find_overlaps,
    outlines,
    pose_table,
)
from scbench.schemas.tetrahedra_shadow_projection import Params, Pose

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 30
# Maximum number of tetrahedra in a query, and decimals of the figures in an observation.
_MAX_POSES = 12
_DECIMALS = 4
# Depths below this round to 0.
_LEAST = 5e-7
Poses = Annotated[tuple[Pose, ...], Field(min_length=1, max_length=_MAX_POSES)]


def bodies_at(poses: Sequence[Pose]) -> Floats:
    """Return the corners (n, 4, 3) of tetrahedra.

    Raises:
        QueryError: a tetrahedron is out of reach or has no direction.
    """
    for i, pose in enumerate(poses):
        if max(abs(pose.x), abs(pose.y), abs(pose.z)) > REACH:
            raise QueryError(
                f"tetrahedron {i} (counting from 0) has a coordinate beyond {REACH:,.0f}"
            )
        if pose.q0 == pose.q1 == pose.q2 == pose.q3 == 0:
            raise QueryError(
                f"the quaternion of tetrahedron {i} (counting from 0) is all zeros"
            )
    return corners(pose_table(poses))


class Shadow(Query):
    """Get the shadow of a few tetrahedra.

    {"query": "shadow", "tetrahedrons": [...]}, with at most 12 entries in the form of an answer.
    You get the `area` of their combined shadow. For each tetrahedron, `outlines` gives the corners
    [x, y] of its own shadow, in order around it, and `heights` the smallest and the largest z. All
    numbers are rounded to 4 decimals. The shadow is not compared with the target.
    """

    query: Literal["shadow"]
    tetrahedrons: Poses

    def observe(self, params: Params) -> Observation:  # noqa: ARG002  (the same for every target)
        """Return the area of the shadow, and the outline of each tetrahedron's own shadow."""
        bodies = bodies_at(self.tetrahedrons)
        shadows = outlines(bodies)
        # The ring must not depend on the corner that GEOS starts with.
        rings = [
            shapely.get_coordinates(ring)[:-1] for ring in shapely.normalize(shadows)
        ]
        z = bodies[:, :, 2]
        return {
            "area": round(float(shapely.area(shapely.union_all(shadows))), _DECIMALS),
            "outlines": [rounded_rows(ring) for ring in rings],
            "heights": rounded_rows(np.stack([z.min(axis=1), z.max(axis=1)], axis=1)),
        }


def rounded_rows(values: Floats) -> list[list[float]]:
    """Return numbers (m, 2) as rows."""
    # Adding 0.0 turns -0.0 into 0.0.
    rows: list[list[float]] = (np.round(values, _DECIMALS) + 0.0).tolist()
    return rows


class Cut(Query):
    """Find out which of a few tetrahedra intersect.

    {"query": "cut", "tetrahedrons": [...]}, with at most 12 entries in the form of an answer. You
    get in `pairs` every pair that intersects, as [i, j, depth]: i and j are positions in the list,
    counted from 0, and depth is the length of the shortest move that separates the two, rounded to
    6 decimals. Pairs that are not listed are apart or only touch.
    """

    query: Literal["cut"]
    tetrahedrons: Poses

    def observe(self, params: Params) -> Observation:  # noqa: ARG002  (the same for every target)
        """Return the pairs that intersect, with their depths."""
        pairs = find_overlaps(
            bodies_at(self.tetrahedrons), _LEAST, _MAX_POSES * _MAX_POSES
        ).pairs
        return {"pairs": [[i, j, round(depth, 6)] for i, j, depth in pairs]}


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (Shadow, Cut)
