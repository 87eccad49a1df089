"""The settings of the loop as games: a model replies and gets an observation.

A game is pure: the same task, parameters and replies give the same observations on every machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from scbench.base.data import packaged_toml
from scbench.base.model import Prediction, Setup, Status
from scbench.catalog import Task
from scbench.scoring.outcomes import Outcome, grade_prediction, simulator_lock

# Calls a function with arguments in a process, and returns its result.
Run = Callable[..., Any]
# State of a game: a small JSON value.
State = dict[str, Any]
_T = TypeVar("_T")

# Texts of the rules, with placeholders for the limits of a game.
TEXTS: Mapping[str, Mapping[str, str]] = packaged_toml("scbench.loop", "rules.toml")
UNJUDGED = (
    "This answer cannot be graded on this machine. The trial ends here, without a "
    "score."
)


@dataclass(frozen=True, slots=True)
class Move:
    """The result of one reply.

    Attributes:
        observation: text that the model gets next.
        outcome: outcome of the answer, if the reply was taken as one.
    """

    observation: str
    outcome: Outcome | None = None


class Game(ABC):
    """One trial.

    Attributes:
        turn: replies so far.
        over: whether it has ended.
        run: runs simulations of heavy tasks; None runs them in this thread, one at a time.
        used: cost of queries or actions so far.
    """

    def __init__(self, setup: Setup, task: Task, params: BaseModel) -> None:
        self.setup = setup
        self.task = task
        self.params = params
        self.turn = 0
        self.used = 0
        self.over = False
        self.run: Run | None = None

    @property
    @abstractmethod
    def limit(self) -> int:
        """Maximum number of replies."""

    @property
    @abstractmethod
    def rules(self) -> str:
        """The rules, as the prompt states them."""

    @abstractmethod
    def take(self, reply: str) -> Move:
        """Answer a reply; called while the game is not over."""

    def play(self, reply: str) -> Move:
        """Count a reply and answer it."""
        self.turn += 1
        return self.take(reply)

    @property
    def replies_left(self) -> int:
        """Number of replies left."""
        return self.limit - self.turn

    @property
    def state(self) -> State:
        """The state of the game, from which it can continue."""
        return {"turn": self.turn, "used": self.used, "over": self.over}

    def restore(self, state: State) -> None:
        """Restore a state."""
        self.turn = state["turn"]
        self.used = state["used"]
        self.over = state["over"]

    def judge_reply(self, reply: str) -> Outcome:
        """Return the outcome of the answer in a reply, the same as outside the loop."""
        # Without validation, because the environment has cut the reply to the limits of a file.
        return self.judged(Prediction.model_construct(id="", response=reply))

    def judged(self, prediction: Prediction) -> Outcome:
        """Return the outcome of a prediction."""
        return self.simulated(grade_prediction, prediction, self.task, self.params)

    def simulated(self, function: Callable[..., _T], *arguments: object) -> _T:
        """Return a function's result; heavy tasks run in a process or one at a time."""
        # For light tasks, a process costs more than grading.
        if self.run is not None and self.task.heavy:
            return cast(_T, self.run(function, *arguments))
        with simulator_lock(self.task):
            return function(*arguments)


def is_answer(outcome: Outcome) -> bool:
    """Return whether there was a readable answer with a score."""
    return outcome.status is Status.ANSWERED


def is_unscored(outcome: Outcome) -> bool:
    """Return whether the score is missing through no fault of the model."""
    return not outcome.status.scored
