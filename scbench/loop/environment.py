"""The environment: an instance, a setup and replies in, observations out; and traces played again.

It is pure and deterministic: no clock, no randomness, the same texts on every machine (but for
tasks whose scores depend on how a machine computes, see `scbench.catalog.Task.fingerprint`).
"""

from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from scbench.base.errors import PredictionsError, faults_of
from scbench.base.model import (
    MAX_ACTION,
    Instance,
    Played,
    Prediction,
    Setup,
    Status,
    Turn,
)
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.loop.games import Game, Run, State, game_of, is_answer, unjudged
from scbench.scoring.outcomes import (
    Outcome,
    Trial,
    grade_prediction,
    simulator_lock,
    without_answer,
    zero,
)

_OVER = "The trial is over; nothing more is read."


class Step(NamedTuple):
    """What comes of one reply: ``observation, done, info = environment.step(reply)``."""

    observation: str
    """To be shown to the model, as a message of the user."""
    done: bool
    """Whether the trial is over."""
    info: dict[str, Any]
    """``turn``, from 1; ``used``, what queries or actions have cost so far; ``status`` and
    ``score`` of the reply if it was taken for an answer, else None; a reply without an answer that
    can be read has the score None."""

    @property
    def reward(self) -> float | None:
        """The score of the reply, 0 without an answer; None if it cannot be judged here."""
        status = self.info.get("status")
        if status is not None and not Status(status).scored:
            return None
        return self.info.get("score") or 0.0


def floor_after(bucket: str, floor: float, answers: int) -> float:
    """Return what guesses earn in so many answers, each told whether it is right.

    In text tasks a floor is the chance that a guess is right, and guesses can be gone through; in
    the others it is the score of the best answer without insight, which the first one earns.
    """
    return min(1.0, answers * floor) if bucket == MANIFOLDS else floor


class Environment:
    """One trial at a time, with one setup; docs/environments.md has the loop round it.

    Attributes:
        setup: what the model is promised.
        turns: what was said and shown so far, as a predictions file holds it.

    Args:
        setup: what the model is promised.
        run: what makes simulations of heavy tasks, such as `LiveGrader.run`, if many trials are
            played at once; None for the thread that steps.
    """

    def __init__(self, setup: Setup, run: Run | None = None) -> None:
        self.setup = setup
        self._run = run
        self.turns: list[dict[str, str]] = []
        self._instance: Instance | None = None
        self._game: Game | None = None
        self._played: dict[str, Any] = {}

    @property
    def _playing(self) -> Game:
        if self._game is None:
            raise RuntimeError("nothing is played yet: call reset(instance)")
        return self._game

    def reset(self, instance: Instance) -> str:
        """Begin with an instance; return the first message: its prompt, and the rules.

        Pictures of the prompt are the instance's ``images``, to be sent with this message.

        Raises:
            PredictionsError: the instance is not complete, or its task has no such setting.
            CannotGrade: this installation has not what simulates the task (act).
            CatalogError: this installation does not know its task.
        """
        task = get_task(instance.task)
        try:
            params = task.params_model.model_validate_json(instance.all_params)
        except ValidationError as error:
            raise PredictionsError(
                f"{instance.id} does not hold what its grader needs: {faults_of(error, 1)[0]}; "
                "take it from load_release().instances()"
            ) from error
        self._game = game_of(self.setup, task, params)
        self._game.run = self._run
        self._instance = instance
        self._played = played_by(self._game.setup, task).model_dump(exclude_none=True)
        self.turns = []
        return f"{instance.prompt}\n\n{self._game.rules}"

    def step(self, action: str) -> Step:
        """Take the model's reply, verbatim; whatever it is, there is an observation.

        A reply after the end changes nothing.
        """
        game = self._playing
        if game.over:
            return Step(_OVER, True, {"turn": game.turn, "used": game.used})
        reply = readable(action)
        move = game.play(reply)
        self.turns.append({"action": reply, "observation": move.observation})
        outcome = move.outcome
        info = {
            "turn": game.turn,
            "used": game.used,
            "status": None if outcome is None else outcome.status.value,
            "score": outcome.score
            if outcome is not None and is_answer(outcome)
            else None,
        }
        return Step(move.observation, game.over, info)

    @property
    def state(self) -> State:
        """Where the trial stands: small, and JSON. Setting it goes there; `turns` stay as they are.

        Whoever goes on elsewhere calls `reset` with the instance first, and sets ``turns``, too.
        """
        return self._playing.state

    @state.setter
    def state(self, state: State) -> None:
        self._playing.restore(state)

    def prediction(self, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the line of a predictions file that holds the trial.

        Args:
            fields: what else it says: model, sample, usage, and status if the model gave up.
        """
        if self._instance is None or self._game is None:
            raise RuntimeError("nothing is played yet: call reset(instance)")
        return {
            "id": self._instance.id,
            "instance_hash": self._instance.content_hash,
            "setting": self.setup.setting,
            "loop": self._played,
            "turns": list(self.turns),
            **fields,
        }

    @property
    def record(self) -> dict[str, Any]:
        """What runners keep beside a reply: loop, turns, and whether the trial is over.

        `scbench.formats.imports.entries.with_turns` makes a line of predictions of it.
        """
        line = self.prediction()
        return {
            "loop": line["loop"],
            "turns": line["turns"],
            "over": self._playing.over,
        }


def played_by(setup: Setup, task: Task) -> Played:
    """Return a setup, and with what it is played here."""
    promised = setup.model_dump(include=set(Setup.model_fields))
    return Played(
        **promised, grader=task.grader_version, fingerprint=task.fingerprint()
    )


def readable(text: str) -> str:
    """Return a reply as a file can hold it: not longer than is read, without half characters."""
    return text[:MAX_ACTION].encode(errors="replace").decode()


class TraceError(PredictionsError):
    """A trace is not what the environment gives; the message names the turn."""


def grade_line(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Grade a line of predictions, whether it holds an answer or a trace."""
    if prediction.turns is None or prediction.loop is None:
        with simulator_lock(task):
            return grade_prediction(prediction, task, params)
    status = prediction.status
    if status is not None and not status.scored:
        absent = without_answer(prediction)
        return absent or Outcome(status)
    differs = _played_otherwise(prediction.loop, task)
    if differs:
        return Outcome(Status.NOT_RUN, reason=differs)
    try:
        return replay(prediction, task, params)
    except TraceError as error:
        return Outcome(Status.NOT_RUN, reason=str(error), forged=True)


def _played_otherwise(loop: Played, task: Task) -> str:
    """Say why observations cannot be compared with those given here; empty if they can."""
    here = played_by(loop, task)
    if loop.rules != here.rules:
        return f"it was played by version {loop.rules} of the loop's rules; here is {here.rules}"
    if loop.grader is not None and loop.grader != here.grader:
        return f"it was played with version {loop.grader} of the grader; here is {here.grader}"
    if loop.fingerprint and here.fingerprint and loop.fingerprint != here.fingerprint:
        return "it was played where the simulator computes otherwise; grade it there"
    return ""


def replay(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Play a trace again; return the outcome of its last answer, with that of each turn.

    Args:
        prediction: with loop and turns.
        task: of the instance.
        params: of the instance.

    Raises:
        TraceError: an observation is not what the environment gives, or there are turns too many or
            too few.
    """
    loop, turns = prediction.loop, prediction.turns or ()
    if loop is None:
        raise TraceError("there is no setup of a loop")
    try:
        game = game_of(loop, task, params)
    except PredictionsError as error:
        raise TraceError(str(error)) from None
    scores: list[tuple[float, ...] | None] = []
    last = answer = None
    for number, turn in enumerate(turns, 1):
        if game.over:
            raise TraceError(
                f"turn {number}: the trial was over after turn {number - 1}"
            )
        move = game.play(turn.action)
        outcome = move.outcome
        if outcome is not None and unjudged(outcome):
            return outcome
        if move.observation != turn.observation:
            raise TraceError(
                f"turn {number}: {_observation_fault(turn, move.observation)}"
            )
        last = outcome or last
        turn_scores = None
        if outcome is not None and is_answer(outcome):
            answer = outcome
            turn_scores = tuple(verdict.score for verdict in outcome.verdicts)
        scores.append(turn_scores)
    if not game.over and prediction.status in {None, Status.ANSWERED}:
        raise TraceError(
            f"turn {len(turns) + 1}: it is missing, and the trial was not over; if the model gave "
            "up or its call failed, say so with a status"
        )
    declared = prediction.status
    if declared is not None and declared is not Status.ANSWERED:
        # No earlier answer, nor what was done so far: whoever cuts a trial chooses where.
        final = zero(
            declared, f"the trial stops after turn {len(turns)}, as the line says", task
        )
    else:
        final = (
            answer or last or zero(Status.UNPARSED, "the trial holds no answer", task)
        )
    return replace(
        final,
        trial=Trial(tuple(scores), None if loop.setting == "retry" else game.used),
    )


def _observation_fault(turn: Turn, expected: str) -> str:
    pairs = zip(turn.observation, expected, strict=False)
    shorter = min(len(turn.observation), len(expected))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    here, there = (repr(text[at : at + 40]) for text in (expected, turn.observation))
    return (
        f"the observation is not what the environment gives; from character {at} on it reads "
        f"{there}, and should read {here}"
    )
