"""The environment: takes an instance, a setup and replies, and returns observations.

It is pure and deterministic: no clock, no randomness, the same texts on every machine (except for
tasks whose scores depend on how a machine computes, see `scbench.catalog.Task.fingerprint`).
"""

from typing import Any, NamedTuple

from pydantic import ValidationError

from scbench.base.errors import PredictionsError, faults_of
from scbench.base.model import MAX_ACTION, Instance, Setup, Status
from scbench.catalog import MANIFOLDS, get_task
from scbench.loop.beginning import game_of
from scbench.loop.games import Game, Run, State, is_answer
from scbench.loop.replaying import played_by

# Observation after the end of a trial.
OVER = "The trial is over; further replies are ignored."


class Step(NamedTuple):
    """The result of one reply: ``observation, done, info = environment.step(reply)``."""

    observation: str
    """Text to show to the model, as a user message."""
    done: bool
    """Whether the trial is over."""
    info: dict[str, Any]
    """``turn``, from 1; ``used``, the cost of queries or actions so far; ``status`` and ``score``
    of the reply if it was treated as an answer, else None. The score is also None if no answer can
    be read."""

    @property
    def reward(self) -> float | None:
        """The score of the reply, 0 without an answer; None if it cannot be graded here."""
        status = self.info.get("status")
        if status is not None and not Status(status).scored:
            return None
        return self.info.get("score") or 0.0


class Environment:
    """One trial at a time, with one setup; docs/environments.md shows the surrounding loop.

    Attributes:
        setup: setup that the rules announce to the model.
        turns: replies and observations so far, in the form of a predictions file.

    Args:
        setup: setup that the rules announce to the model.
        run: runs simulations of heavy tasks, such as `LiveGrader.run`, if many trials are played at
            the same time; None to run them in the calling thread.
    """

    def __init__(self, setup: Setup, run: Run | None = None) -> None:
        self.setup = setup
        self._run = run
        self.turns: list[dict[str, str]] = []
        self._instance: Instance | None = None
        self._game: Game | None = None
        # The setup with the versions of rules and grader, as stored in a predictions
        # file.
        self._loop: dict[str, Any] = {}

    def reset(self, instance: Instance) -> str:
        """Start a trial of an instance; return the first message: its prompt and the rules.

        Pictures of the prompt are the instance's ``images``, to be sent with this message.

        Raises:
            PredictionsError: the instance is not complete, or its task has no such setting.
            CannotGrade: this installation cannot simulate the task (act).
            CatalogError: this installation does not know its task.
        """
        task = get_task(instance.task)
        try:
            params = task.params_model.model_validate_json(instance.all_params)
        except ValidationError as error:
            raise PredictionsError(
                f"{instance.id} does not contain what its grader needs: "
                f"{faults_of(error, 1)[0]}; use an instance from "
                "load_release().instances()"
            ) from error
        self._game = game_of(self.setup, task, params)
        # Do this before reading the rules, which in act contain the first observation.
        self._game.run = self._run
        self._instance = instance
        self._loop = played_by(self._game.setup, task).model_dump(exclude_none=True)
        self.turns = []
        return f"{instance.prompt}\n\n{self._game.rules}"

    def step(self, action: str) -> Step:
        """Process the model's reply (verbatim) and return a step. Every reply gets an observation.

        A reply after the end changes nothing.
        """
        game = self._current_game
        info: dict[str, Any] = {"turn": game.turn, "used": game.used}
        if game.over:
            return Step(OVER, True, info)
        reply = readable(action)
        move = game.play(reply)
        self.turns.append({"action": reply, "observation": move.observation})
        info = {"turn": game.turn, "used": game.used, "status": None, "score": None}
        outcome = move.outcome
        if outcome is not None:
            info["status"] = outcome.status.value
            if is_answer(outcome):
                info["score"] = outcome.score
        return Step(move.observation, game.over, info)

    @property
    def _current_game(self) -> Game:
        if self._game is None:
            raise RuntimeError("no trial has begun; call reset(instance) first")
        return self._game

    @property
    def state(self) -> State:
        """The state of the trial as a small JSON value.

        Setting this property does not restore `turns`. To continue a trial elsewhere, first
        call `reset` with the instance, then set ``turns``, too.
        """
        return self._current_game.state

    @state.setter
    def state(self, state: State) -> None:
        self._current_game.restore(state)

    def prediction(self, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the line of a predictions file that contains the trial.

        Args:
            fields: further fields: model, sample, usage, and status if the model gave up.
        """
        if self._instance is None or self._game is None:
            raise RuntimeError("no trial has begun; call reset(instance) first")
        return {
            "id": self._instance.id,
            "instance_hash": self._instance.content_hash,
            "setting": self.setup.setting,
            "loop": self._loop,
            "turns": list(self.turns),
            **fields,
        }

    @property
    def record(self) -> dict[str, Any]:
        """The trial as runners store it next to a reply: loop, turns, and whether it is over.

        `scbench.formats.imports.entries.with_turns` turns it into a line of
        predictions.
        """
        line = self.prediction()
        return {
            "loop": line["loop"],
            "turns": line["turns"],
            "over": self._current_game.over,
        }


def readable(text: str) -> str:
    """Return a reply in the form stored in files: cut to the limit, without lone surrogates."""
    return text[:MAX_ACTION].encode(errors="replace").decode()


def floor_after(bucket: str, floor: float, answers: int) -> float:
    """Return the floor of an item that allows several answers, with feedback on each.

    In text tasks, the floor is the chance that a guess is right, and a model can guess several
    times. In other tasks, it is the score of the best trivial answer, which the first answer
    already earns.

    Args:
        bucket: bucket of the task.
        floor: floor of the instance, in [0, 1].
        answers: number of answers.
    """
    if bucket != MANIFOLDS:
        return floor
    return min(1.0, answers * floor)
