"""Queries about terrain levelling: the heights of the ground after some blasts.

Heights are told, in hundredths; how much of the ground is level, and what it would score, is left
to who asks.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from scbench.graders.shared.checklist import brief
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.graders.terrain_levelling import MAX_WORK, End, simulate
from scbench.graders.terrain_levelling.blast_simulation import blast_work
from scbench.schemas.base import WholeIndexPair
from scbench.schemas.terrain_levelling import Blast, Params

BUDGET = 100
# Side of the piece of the map that is shown.
WINDOW = 24
# Blasts, and work of a simulation, that cost 1.
_PER_COST = 250
_WORK_PER_COST = 1000
_MAX_BLASTS = 2500

# The last plan that was simulated: one that only adds blasts to it goes on from there.
_last: list[tuple[Params, tuple[Blast, ...], End]] = []


def cost_of(blasts: Sequence[Blast]) -> int:
    """Return one for each 250 blasts begun, or for as much work as a thousand small balls."""
    work = sum(blast_work(blast.z) for blast in blasts)
    return max(1, math.ceil(len(blasts) / _PER_COST), math.ceil(work / _WORK_PER_COST))


def ground_after(params: Params, blasts: tuple[Blast, ...]) -> list[float]:
    """Return the heights after some blasts, row by row.

    Raises:
        QueryError: a blast breaks a rule, or there are more than a plan may have.
        CannotGrade: PyBullet is not installed.
    """
    n = len(params.heights)
    if len(blasts) > params.max_blasts:
        raise QueryError(
            f"{len(blasts)} blasts are too many: at most {params.max_blasts} are set"
        )
    heights = [height for row in params.heights for height in row]
    end = End(heights, 0, 0, 0.0, None)
    for instance, plan, after in tuple(_last):
        if instance == params and blasts[: len(plan)] == plan:
            end = after
    work = end.work + sum(blast_work(blast.z) for blast in blasts[end.simulated :])
    if work > MAX_WORK:
        raise QueryError(
            f"the sum of m + (m/20)^4 is {work:.0f}; a plan may have {MAX_WORK:,}"
        )
    end = simulate(n, blasts, end)
    if end.stopped is not None:
        check_id, wrong = end.stopped
        blast = blasts[end.simulated]
        place = f"blast {end.simulated} (counted from 0) is at x = {brief(blast.x)}, "
        if check_id == "grid":
            wrong = f"{place}y = {brief(blast.y)}; both must be in 0..{n - 1}"
        elif check_id == "positive":
            wrong = (
                f"{place}y = {blast.y} and {blast.z} deep; the depth must be above 0"
            )
        raise QueryError(wrong)
    _last[:] = [(params, blasts, end)]
    return list(end.heights)


def look_from(
    params: Params, blasts: tuple[Blast, ...], corner: Sequence[int]
) -> Observation:
    """Return the view of the ground after some blasts; for the faults see `ground_after`."""
    n = len(params.heights)
    x, y = corner
    if max(x, y) >= n:
        raise QueryError(f"the corner must be a cell of the map: x and y in 0..{n - 1}")
    heights = ground_after(params, blasts)
    rock_before = math.fsum(height for row in params.heights for height in row)
    hundredths = [str(round(100 * height)) for height in heights]
    lines = []
    for row in range(y, min(n, y + WINDOW)):
        line = hundredths[row * n : row * n + n]
        lines.append(" ".join(line[x : x + WINDOW]))
    return {
        "blasts": len(blasts),
        "lost": round(rock_before - math.fsum(heights), 2),
        "corner": [x, y],
        "heights": lines,
    }


class BlastHere(Query):
    """See what the ground is like after some blasts.

    {"query": "blast", "blasts": [...], "corner": [0, 0]}, with blasts as in an answer (at most
    2,500), which are set on the ground as it is at the start, in this order. You are told:
    `blasts`, how many were set; `lost`, the rock that left the grid, as a sum of heights; and
    `heights` of the cells from the corner [x, y] on, up to 24 along x and along y (without a
    corner, from [0, 0]): one text for each y, the smallest first, and in it one number for each
    x, the smallest first. They are in hundredths and rounded, so 512 is a height from 5.115 to
    5.125. If a blast breaks a rule you are told which, and nothing else. The cost is 1 for each
    250 blasts begun, and at least 1 for each 1,000 begun of the sum of m + (m/20)^4.
    """

    query: Literal["blast"]
    blasts: Annotated[tuple[Blast, ...], Field(max_length=_MAX_BLASTS)]
    corner: WholeIndexPair = (0, 0)

    def cost(self) -> int:
        """Return the cost of so many blasts and balls."""
        return cost_of(self.blasts)

    def observe(self, params: Params) -> Observation:
        """Return the ground after the blasts."""
        return look_from(params, self.blasts, self.corner)


# Last, because it names the class above.
QUERIES = (BlastHere,)
