"""The environment: an instance, a setup and replies in, observations out.

It is pure and deterministic: no clock, no randomness, the same texts on every machine (but for
tasks whose scores depend on how a machine computes, see `scbench.catalog.Task.fingerprint`).
"""

from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from scbench.base.errors import PredictionsError, faults_of
from scbench.base.model import Instance
from scbench.base.trace import MAX_ACTION, Played, Setup
from scbench.catalog import Task, get_task
from scbench.loop.asking import asking_game
from scbench.loop.games import Game, Retry, State, is_answer

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


def game_of(setup: Setup, task: Task, params: BaseModel) -> Game:
    """Return the beginning of a game.

    Raises:
        PredictionsError: the task has no such setting.
    """
    if setup.setting == "retry":
        return Retry(setup, task, params)
    return asking_game(setup, task, params)


class Environment:
    """One trial at a time, with one setup.

    ::

        environment = Environment(Setup(setting="retry"))
        messages = [{"role": "user", "content": environment.reset(instance)}]
        done = False
        while not done:
            reply = ask(messages)
            step = environment.step(reply)
            messages += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": step.observation},
            ]
            done = step.done

    Attributes:
        setup: what the model is promised.
        turns: what was said and shown so far, as a predictions file holds it.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
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
            "score": outcome.score if outcome is not None and is_answer(outcome) else None,
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

        `scbench.formats.imports.replies.with_turns` makes a line of predictions of it.
        """
        kept = self.prediction()
        return {"loop": kept["loop"], "turns": kept["turns"], "over": self._playing.over}


def played_by(setup: Setup, task: Task) -> Played:
    """Return a setup, and with what it is played here."""
    promised = setup.model_dump(include=set(Setup.model_fields))
    return Played(**promised, grader=task.grader_version, fingerprint=task.fingerprint())


def readable(text: str) -> str:
    """Return a reply as a file can hold it: not longer than is read, without half characters."""
    return text[:MAX_ACTION].encode(errors="replace").decode()
