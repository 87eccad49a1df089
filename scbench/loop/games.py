"""The settings of the loop as games: what is said first, and what a reply is answered with.

A game is pure: the same task, parameters and replies give the same observations on every machine.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from typing_extensions import override

from scbench.base.model import Prediction, Status
from scbench.base.trace import Setup
from scbench.catalog import Task
from scbench.loop.disclosure import one_right, disclosed
from scbench.scoring.outcomes import Outcome, simulator_lock, grade_prediction

State = dict[str, Any]
"""Of a game: small, and JSON."""


@dataclass(frozen=True, slots=True)
class Move:
    """What came of one reply.

    Attributes:
        observation: what the model is shown then.
        outcome: of the answer, if the reply was taken for one.
    """

    observation: str
    outcome: Outcome | None = None


class Game(ABC):
    """One trial.

    Attributes:
        turn: replies so far.
        over: whether it has ended.
        used: what queries or actions have cost so far.
    """

    def __init__(self, setup: Setup, task: Task, params: BaseModel) -> None:
        self.setup = setup
        self.task = task
        self.params = params
        self.turn = self.used = 0
        self.over = False

    @property
    @abstractmethod
    def limit(self) -> int:
        """Replies after which it ends at the latest."""

    @property
    @abstractmethod
    def rules(self) -> str:
        """What the prompt says of it, in sentences."""

    @abstractmethod
    def take(self, reply: str) -> Move:
        """Answer a reply; called while the game is not over."""

    def final(self) -> Outcome | None:
        """Return what the game comes to where it stands, if that is an answer without a reply."""
        return None

    @property
    def replies_left(self) -> int:
        """Replies that may still be given."""
        return self.limit - self.turn

    @property
    def state(self) -> State:
        """Where the game stands."""
        return {"turn": self.turn, "used": self.used, "over": self.over}

    def restore(self, state: State) -> None:
        """Go where a state says."""
        self.turn, self.used, self.over = state["turn"], state["used"], state["over"]

    def play(self, reply: str) -> Move:
        """Take a reply and count it."""
        self.turn += 1
        return self.take(reply)

    def judged(self, prediction: Prediction) -> Outcome:
        """Return what comes of an answer."""
        with simulator_lock(self.task):
            return grade_prediction(prediction, self.task, self.params)

    def judge_reply(self, reply: str) -> Outcome:
        """Return what comes of the answer in a reply, as everywhere else."""
        return self.judged(Prediction.model_construct(id="", response=reply))


def is_answer(outcome: Outcome) -> bool:
    """Whether there was an answer that could be read, and a score of it."""
    return outcome.status is Status.ANSWERED


def unjudged(outcome: Outcome) -> bool:
    """Whether it is not the model's doing that there is no score."""
    return not outcome.status.scored


UNJUDGED = "This answer cannot be judged on this machine. The trial ends here, without a score."


def _figure(score: float) -> str:
    """Return a score in few digits; it says 0 or 1 only if it is."""
    text = f"{score:.6g}"
    return text if text != "1" or score == 1 else "almost 1, not quite 1"


class Retry(Game):
    """Answers, and what is wrong with each, until one has the full score or none is left."""

    @property
    @override
    def limit(self) -> int:
        return self.setup.attempts

    @property
    @override
    def rules(self) -> str:
        most, disclose = self.setup.attempts, self.setup.disclose
        tells = ["After each you are told its score, from 0 to 1"]
        if disclose == "score":
            tells.append(", and nothing else.")
        elif one_right(self.task):
            tells.append(", and which rules it breaks; not where, as there is one right answer.")
        elif disclose == "checks":
            tells.append(", and of each check that it fails a sentence that says what is wrong.")
        else:
            tells.append(
                ", and of each check that it fails a sentence that says what is wrong, and the "
                "places as JSON, as far as they fit."
            )
        return (
            f"You may answer {most} time{'s' * (most > 1)}. {''.join(tells)} Give the whole answer "
            "each time, in the form asked for above. A reply in which no answer can be read takes "
            "one of these times as well. The trial ends with an answer of full score, or with the "
            "last time; the last answer that could be read counts."
        )

    @override
    def take(self, reply: str) -> Move:
        outcome = self.judge_reply(reply)
        head = f"Answer {self.turn} of {self.limit}: "
        if unjudged(outcome):
            self.over = True
            return Move(UNJUDGED, outcome)
        if not is_answer(outcome):
            lines = [f"{head}no answer can be read from this reply."]
        else:
            lines = [f"{head}score {_figure(outcome.score or 0.0)} of 1."]
            lines += disclosed(self.task, outcome.verdicts, self.setup.disclose)
        full = outcome.score == 1
        self.over = full or not self.replies_left
        if full:
            lines.append("That is the full score. The trial is over.")
        elif self.over:
            lines.append("That was the last time. The trial is over.")
        else:
            lines.append(f"You may answer {self.replies_left} more time{'s' * (self.replies_left > 1)}.")
        return Move("\n".join(lines), outcome)
