"""Actions of a snake that moves through its box, several cells at a time."""

from typing import Annotated, Any, Literal

from pydantic import Field

from scbench.graders.hyper_snake.queries import Cells, Trail
from scbench.graders.shared.interaction import Action, Observation, QueryError
from scbench.schemas.hyper_snake import Params

# Total cost of the actions in a trial, unless the trial sets another limit.
BUDGET = 100


class Move(Action):
    """Move the snake forward.

    {"action": "move", "cells": [[0, 1], [1, 1]]}, with the next cells of its path in order (at
    most 100). You see: the `length` of the path so far, in cells; its last cell, `end`; the cells
    that can be `next`; the number of free cells that are `unvisited`, and how many of them are
    `reachable` from the end by legal moves; and `food`: how many food items are left, how many of
    them are reachable, and the first twelve. If one of the cells is not legal, the snake does not
    move, and you see why.
    """

    action: Literal["move"]
    cells: Annotated[Cells, Field(min_length=1, max_length=100)]


class Play:
    """The path so far."""

    def __init__(self, params: Params) -> None:
        self._trail = Trail(params)
        self._trail.follow([params.start])

    @property
    def answer(self) -> dict[str, Any]:
        """The path so far."""
        return {"path": [{"pos": list(cell)} for cell in self._trail.cells]}

    def look(self) -> Observation:
        """Return the view of the path so far."""
        return self._trail.look()

    def step(self, action: Move) -> Observation:
        """Move on through these cells and return the view from the last.

        Raises:
            QueryError: one of the cells is not legal; the snake did not move.
        """
        ahead = Trail(self._trail.params)
        ahead.follow(self._trail.cells)
        wrong = ahead.follow(action.cells)
        if wrong:
            raise QueryError(wrong)
        self._trail = ahead
        return ahead.look()

    @property
    def over(self) -> bool:
        """Whether there is no legal next cell."""
        return not self._trail.ways_on()


def action_types() -> tuple[type[Action], ...]:
    """Return all types of actions, in the order in which the prompt lists them."""
    return (Move,)
