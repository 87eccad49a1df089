"""Queries about terrain levelling: the heights of the ground after some blasts.

Observations give heights in hundredths. They do not reveal how much ground is level, or the score.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Literal

from pydantic import Field

from scbench.base.wording import counted
from scbench.graders.shared.checklist import brief
from scbench.graders.shared.interaction import Observation, Query, QueryError
from scbench.graders.terrain_levelling import MAX_WORK, End, simulate
from scbench.graders.terrain_levelling.blast_simulation import blast_work
from scbench.schemas.base import WholeIndexPair
from scbench.schemas.terrain_levelling import Blast, Params

# Total cost of the queries in a trial, unless the trial sets another limit.
BUDGET = 100
# Side length of the part of the map that is shown.
WINDOW = 24
# Blasts, and work of a simulation, that cost 1.
_PER_COST = 250
_WORK_PER_COST = 1000
_MAX_BLASTS = 2500

# The last simulated plan. Plans that only add blasts to it continue from there.
_last: list[tuple[Params, tuple[Blast, ...], End]] = []


def cost_of(blasts: Sequence[Blast]) -> int:
    """Return 1 for every 250 blasts or every 1,000 units of work, whichever is more, rounded up."""
    work = sum(blast_work(blast.z) for blast in blasts)
    return max(1, math.ceil(len(blasts) / _PER_COST), math.ceil(work / _WORK_PER_COST))


def ground_after(params: Params, blasts: tuple[Blast, ...]) -> list[float]:
    """Return the heights after some blasts, row by row.

    Raises:
        QueryError: a blast breaks a rule, or there are more blasts than a plan may have.
        CannotGrade: PyBullet is not installed.
    """
    n = len(params.heights)
    if len(blasts) > params.max_blasts:
        raise QueryError(
            f"the plan has {counted(len(blasts), 'blast')}; the limit is {params.max_blasts}"
        )
    heights = list(chain(*params.heights))
    end = End(heights, 0, 0, 0.0, None)
    for instance, plan, after in tuple(_last):
        if instance == params and blasts[: len(plan)] == plan:
            end = after
    work = end.work + sum(blast_work(blast.z) for blast in blasts[end.simulated :])
    if work > MAX_WORK:
        raise QueryError(
            f"the sum of m + (m/20)^4 is {work:.0f}; the limit is {MAX_WORK:,}"
        )
    end = simulate(n, blasts, end)
    if end.stopped is not None:
        check_id, wrong = end.stopped
        blast = blasts[end.simulated]
        name = f"blast {end.simulated} (counting from 0)"
        if check_id == "grid":
            wrong = (
                f"{name} is at x = {brief(blast.x)}, y = {brief(blast.y)}; both must be in "
                f"0..{n - 1}"
            )
        elif check_id == "positive":
            wrong = f"{name} has depth {blast.z}; it must be above 0"
        raise QueryError(wrong)
    _last[:] = [(params, blasts, end)]
    return list(end.heights)


def look_from(
    params: Params, blasts: tuple[Blast, ...], corner: Sequence[int]
) -> Observation:
    """Return the view of the ground after some blasts; for errors see `ground_after`."""
    n = len(params.heights)
    x, y = corner
    if max(x, y) >= n:
        raise QueryError(
            f"the corner must be a cell of the map, with x and y in 0..{n - 1}"
        )
    heights = ground_after(params, blasts)
    rock_before = math.fsum(chain(*params.heights))
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
    """See the ground after some blasts.

    {"query": "blast", "blasts": [...], "corner": [0, 0]}, with blasts as in an answer (at most
    2,500), which go off in this order on the initial ground. You see: `blasts`, their
    number; `lost`, the rock that left the grid, as a sum of heights; and `heights` of up to 24
    cells along x and y, starting at the corner [x, y] ([0, 0] if there is no corner). `heights` has
    one string for each y, the smallest first, with one number for each x, the smallest first.
    Heights are in hundredths and rounded: 512 is a height from 5.115 to 5.125. If a blast breaks
    a rule, you see only which. The cost is the number of blasts divided by 250, or the sum of
    m + (m/20)^4 over all blasts divided by 1,000, whichever is more, rounded up.
    """

    query: Literal["blast"]
    blasts: Annotated[tuple[Blast, ...], Field(max_length=_MAX_BLASTS)]
    corner: WholeIndexPair = (0, 0)

    def cost(self) -> int:
        """Return the cost of this many blasts and balls."""
        return cost_of(self.blasts)

    def observe(self, params: Params) -> Observation:
        """Return the ground after the blasts."""
        return look_from(params, self.blasts, self.corner)


def query_types() -> tuple[type[Query], ...]:
    """Return all types of queries, in the order in which the prompt lists them."""
    return (BlastHere,)
