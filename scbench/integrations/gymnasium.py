"""The loop as an environment of Gymnasium, with a reward at every step.

::

    env = SpatialEnv(scbench.stream("maze_3d", rung=2), setting="retry", reward="improvement")
    env = gymnasium.make(
        "scbench.integrations.gymnasium:scbench/Spatial-v0", instances=[*instances], setting="probe"
    )

An observation is the text shown to the model; an action is its verbatim reply. Source:
gymnasium 1.4 ``core.Env``.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, get_args

import gymnasium
from gymnasium.spaces import Space
from typing_extensions import override

from scbench.base.errors import PredictionsError
from scbench.base.model import MAX_ACTION, Instance, Setup
from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.freezing.stream import InstanceStream
from scbench.loop import Environment, Step
from scbench.loop.environment import floor_after
from scbench.loop.games import Run
from scbench.scoring.outcomes import normalized

Reward = Literal["score", "normalized", "improvement"]
_REPLIES = (
    "",
    "I do not know.",
    "[]",
    '{"done": true}',
    '{"query": 1}',
    '{"answer": "yes"}',
)
# Episode numbers are below this.
_MAX_EPISODES = 2**62


class Words(Space[str]):
    """Any text up to the length limit; samples are simple replies."""

    def __init__(self) -> None:
        super().__init__(dtype=str)

    @override
    def sample(self, mask: object = None, probability: object = None) -> str:
        return _REPLIES[int(self.np_random.integers(len(_REPLIES)))]

    @override
    def contains(self, x: object) -> bool:
        return isinstance(x, str) and len(x) <= MAX_ACTION

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words)

    __hash__ = None  # type: ignore[assignment]  # as in Gymnasium's own classes


class SpatialEnv(gymnasium.Env[str, str]):
    """Trials in one setting of the loop, one after the other; ``trial`` is the current one.

    The reward of a step is a number; a reply without an answer has the reward 0. It is None only if
    an answer cannot be graded here, which ends the trial as truncated; ``info["status"]`` says so.

    Args:
        instances: instances to draw from by seed. If no reset had a seed, a stream
            gives the next instance.
        setup: the setup of the trial; by default three answers.
        reward: "score", in [0, 1]; "normalized", where 0 is the score that guesses reach by then
            and 1 a perfect score; or "improvement", the score minus that of the previous answer,
            which adds up to the score of the last answer.
        run: see `Environment`.
        promised: fields of a setup, instead of `setup`.
    """

    def __init__(
        self,
        instances: InstanceStream | Iterable[Instance],
        setup: Setup | None = None,
        reward: Reward = "score",
        run: Run | None = None,
        **promised: Any,  # noqa: ANN401  (as pydantic takes them)
    ) -> None:
        if reward not in get_args(Reward):
            raise PredictionsError(
                f"reward must be one of {', '.join(get_args(Reward))}, not {reward!r}"
            )
        self._source = (
            instances if isinstance(instances, InstanceStream) else [*instances]
        )
        if not self._source:
            raise PredictionsError("there is no instance to play")
        if setup is None:
            setup = Setup(**{"setting": "retry", **promised})
        self.trial = Environment(setup, run)
        self.instance: Instance | None = None
        self.observation_space = Words()
        self.action_space = Words()
        self._reward = reward
        # Whether any reset had a seed.
        self._seeded = False
        self._last_score = 0.0

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start a trial of ``options["instance"]``, or of an instance drawn by the seed."""
        super().reset(seed=seed)
        if seed is not None:
            self._seeded = True
        self.instance = (options or {}).get("instance") or self._next_instance()
        self._last_score = 0.0
        observation = self.trial.reset(self.instance)
        return observation, {"id": self.instance.id, "task": self.instance.task}

    def _next_instance(self) -> Instance:
        if isinstance(self._source, InstanceStream):
            if not self._seeded:
                return next(self._source)
            return self._source.at(int(self.np_random.integers(_MAX_EPISODES)))
        episode = int(self.np_random.integers(_MAX_EPISODES))
        return self._source[Stream("episode", episode).below(len(self._source))]

    @override
    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the model's reply."""
        step = self.trial.step(action)
        unjudged = step.reward is None
        # Gymnasium's type excludes None, which means here that there is no score.
        reward: Any = None if unjudged else self._reward_of(step)
        terminated = step.done and not unjudged
        return step.observation, reward, terminated, unjudged, {**step.info}

    def _reward_of(self, step: Step) -> float:
        score = step.info.get("score")
        if score is None or self.instance is None:
            return 0.0
        if self._reward == "improvement":
            before = self._last_score
            self._last_score = score
            return float(score - before)
        if self._reward == "normalized":
            task = get_task(self.instance.task)
            floor = _floor(task.id, self.instance.all_params)
            # Only setting retry allows repeated guesses.
            answers = step.info["turn"] if self.trial.setup.setting == "retry" else 1
            floor = floor_after(task.bucket, floor, answers)
            return 0.0 if floor >= 1 else normalized(score, floor)
        return float(score)


@lru_cache(maxsize=1024)
def _floor(task_id: str, params: str) -> float:
    task = get_task(task_id)
    return floor_of(task, task.params_model.model_validate_json(params)).score


gymnasium.register("scbench/Spatial-v0", f"{__name__}:SpatialEnv")
