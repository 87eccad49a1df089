"""Queries and actions: interaction of a model with a task before it answers.

A task with queries has a module ``queries`` next to its grader, and one with actions
has ``actions``; `scbench.catalog.Task` finds them. Both reuse the grader's simulator or
geometry, and report only its state: never a score, a check, a reference, or anything
that is not in the prompt.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

# A JSON object of at most about 2,500 characters.
Observation = dict[str, Any]


class QueryError(Exception):
    """A query or an action that is invalid for an instance; the message says why."""


class Move(BaseModel):
    """A query or an action."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def cost(self) -> int:
        """Return the cost in units of the budget; it is known before the move is carried out."""
        return 1


class Query(Move):
    """One kind of question. The prompt quotes the docstring of a subclass."""

    query: str

    def observe(self, params: Any) -> Observation:  # noqa: ANN401  (each task has its own)
        """Return an observation: a pure function of the instance and the question.

        Raises:
            QueryError: the question is invalid for this instance.
        """
        raise NotImplementedError


class Action(Move):
    """One kind of action. The prompt quotes the docstring of a subclass."""

    action: str


class Play(Protocol):
    """The state of an instance under actions; replaying the actions reproduces it."""

    def __init__(self, params: Any) -> None:  # noqa: ANN401
        """Create the initial state of an instance."""

    def look(self) -> Observation:
        """Return an observation of the current state."""

    def step(self, action: Any) -> Observation:  # noqa: ANN401
        """Carry out one action and return an observation of the new state.

        Raises:
            QueryError: the action is impossible; the state is unchanged.
        """

    @property
    def answer(self) -> Any:  # noqa: ANN401
        """The task's answer that results from the actions so far, as JSON."""

    @property
    def over(self) -> bool:
        """Whether no further action is possible."""


class Queries(Protocol):
    """A task's module ``queries``."""

    BUDGET: int
    """Default limit of the total cost of queries about one instance."""

    @staticmethod
    def query_types() -> tuple[type[Query], ...]:
        """Return all types of queries, in the order in which the prompt lists them."""


class Actions(Protocol):
    """A task's module ``actions``."""

    BUDGET: int
    """Default limit of the total cost of actions on one instance."""
    Play: type[Play]

    @staticmethod
    def action_types() -> tuple[type[Action], ...]:
        """Return all types of actions, in the order in which the prompt lists them."""


def first_items(items: Iterable[Any], limit: int) -> list[Any]:
    """Return the first few of many items; the caller reports the total."""
    return list(islice(items, limit))
