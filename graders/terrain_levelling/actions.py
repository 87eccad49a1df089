"""Blasts set on the true ground, some at a time, with a look at the ground after them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.interaction import Action, Observation
from scbench.graders.terrain_levelling.queries import cost_of, look_from
from scbench.schemas.base import WholeIndexPair
from scbench.schemas.terrain_levelling import Blast, Params

BUDGET = 100


class SetBlasts(Action):
    """Set some blasts on the ground as it is now.

    {"action": "blast", "blasts": [...], "corner": [0, 0]}, with at most 100 blasts of the form
    {"x": 0, "y": 0, "z": 0.0}, which are set in this order after all earlier ones. Then you are
    told: `blasts`, how many were set in all; `lost`, the rock that left the grid so far, as a sum
    of heights; and `heights` of the cells from the corner [x, y] on, up to 24 along x and along y
    (without a corner, from [0, 0]): one text for each y, the smallest first, and in it one number
    for each x, the smallest first. They are in hundredths and rounded, so 512 is a height from
    5.115 to 5.125. If a blast breaks a rule, none of this list is set. An empty list only looks.
    The cost is 1, or 1 for each 1,000 begun of the sum of m + (m/20)^4 if that is more.
    """

    action: Literal["blast"]
    blasts: Annotated[tuple[Blast, ...], Field(max_length=100)]
    corner: WholeIndexPair = (0, 0)

    def cost(self) -> int:
        """Return the cost of so many balls."""
        return cost_of(self.blasts)


class Play:
    """The ground after the blasts so far."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._blasts: tuple[Blast, ...] = ()

    @property
    def answer(self) -> dict[str, Any]:
        """The plan of all blasts that were set."""
        return {"blasts": [blast.model_dump(mode="json") for blast in self._blasts]}

    @property
    def over(self) -> bool:
        """Whether as many blasts were set as a plan may have."""
        return len(self._blasts) >= self._params.max_blasts

    def look(self) -> Observation:
        """Return the ground as it is now, from its first corner on."""
        return look_from(self._params, self._blasts, (0, 0))

    def step(self, action: SetBlasts) -> Observation:
        """Set blasts and return the ground after them.

        Raises:
            QueryError: a blast breaks a rule; none was set.
            CannotGrade: PyBullet is not installed.
        """
        blasts = self._blasts + action.blasts
        observation = look_from(self._params, blasts, action.corner)
        self._blasts = blasts
        return observation


# Last, because it names the class above.
ACTIONS = (SetBlasts,)
