"""Actions on the ground: set off some blasts, and see the ground after them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.shared.interaction import Action, Observation
from scbench.graders.terrain_levelling.queries import cost_of, look_from
from scbench.schemas.base import WholeIndexPair
from scbench.schemas.terrain_levelling import Blast, Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100


class SetBlasts(Action):
    """Set off some blasts on the current ground.

    {"action": "blast", "blasts": [...], "corner": [0, 0]}, with at most 100 blasts of the form
    {"x": 0, "y": 0, "z": 0.0}, which go off in this order, after all earlier ones. You see:
    `blasts`, the number of blasts so far; `lost`, the rock that left the grid so far, as a sum of
    heights; and `heights` of up to 24 cells along x and y, starting at the corner [x, y] ([0, 0] if
    there is no corner). `heights` has one string for each y, the smallest first, with one number
    for each x, the smallest first. Heights are in hundredths and rounded: 512 is a height from
    5.115 to 5.125. If a blast breaks a rule, no blast of the list goes off. An empty list only
    shows the ground. The cost is the sum of m + (m/20)^4 over all blasts of the list, divided by
    1,000 and rounded up, but at least 1.
    """

    action: Literal["blast"]
    blasts: Annotated[tuple[Blast, ...], Field(max_length=100)]
    corner: WholeIndexPair = (0, 0)

    def cost(self) -> int:
        """Return the cost of this many balls."""
        return cost_of(self.blasts)


class Play:
    """The ground after the blasts so far."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self._blasts: tuple[Blast, ...] = ()

    @property
    def answer(self) -> dict[str, Any]:
        """The plan of all blasts so far."""
        return {"blasts": [blast.model_dump(mode="json") for blast in self._blasts]}

    @property
    def over(self) -> bool:
        """Whether the plan has the maximum number of blasts."""
        return len(self._blasts) >= self._params.max_blasts

    def look(self) -> Observation:
        """Return the current ground, from its first corner."""
        return look_from(self._params, self._blasts, (0, 0))

    def step(self, action: SetBlasts) -> Observation:
        """Set off blasts and return the ground after them.

        Raises:
            QueryError: a blast breaks a rule; none went off.
            CannotGrade: PyBullet is not installed.
        """
        blasts = self._blasts + action.blasts
        observation = look_from(self._params, blasts, action.corner)
        self._blasts = blasts
        return observation


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (SetBlasts,)
