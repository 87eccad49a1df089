"""The loop as an environment of Gymnasium: reset, step, a reward at every step.

::

    env = SpatialEnv(scbench.stream("maze_3d", rung=2), setting="retry", reward="improvement")
    env = gymnasium.make(
        "scbench.integrations.gymnasium:scbench/Spatial-v0", instances=[*instances], setting="probe"
    )

An observation is what the model is shown, an action its reply, verbatim. Source: gymnasium 1.4
``core.Env``.
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
_SAMPLES = (
    "",
    "I do not know.",
    "[]",
    '{"done": true}',
    '{"query": 1}',
    '{"answer": "yes"}',
)


class Words(Space[str]):
    """Any text, as long as it is read at most; a sample is one of a few replies that say little."""

    def __init__(self) -> None:
        super().__init__(dtype=str)

    @override
    def sample(self, mask: object = None, probability: object = None) -> str:
        return _SAMPLES[int(self.np_random.integers(len(_SAMPLES)))]

    @override
    def contains(self, x: object) -> bool:
        return isinstance(x, str) and len(x) <= MAX_ACTION

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words)

    __hash__ = None  # type: ignore[assignment]  # as that of Gymnasium's own


class SpatialEnv(gymnasium.Env[str, str]):
    """Trials in one setting of the loop, one after the other; ``trial`` is what is played.

    The reward of a step is a number: 0 for a reply without an answer. It is None only if an answer
    cannot be judged here, which ends the trial as truncated; ``info["status"]`` says so.

    Args:
        instances: that are drawn from, by the seed; a stream gives the next one after a reset
            without a seed, as long as there never was one.
        setup: what the model is promised; by default three answers.
        reward: "score", in [0, 1]; "normalized", the share of the way from what guesses earn by
            then to 1; or "improvement", by how much the score is above that of the answer before,
            which adds up to the last answer's.
        run: see `Environment`.
        promised: fields of a setup, in place of one.
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
                f"reward is one of {', '.join(get_args(Reward))}: {reward!r}"
            )
        self._source = (
            instances if isinstance(instances, InstanceStream) else [*instances]
        )
        if not self._source:
            raise PredictionsError("there is no instance to be played")
        setup = setup or Setup(**{"setting": "retry", **promised})
        self.trial = Environment(setup, run)
        self.instance: Instance | None = None
        self._reward = reward
        self._seeded = False
        self._last = 0.0
        self.observation_space, self.action_space = Words(), Words()

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a trial: of ``options["instance"]``, or one that the seed chooses."""
        super().reset(seed=seed)
        self._seeded |= seed is not None
        self.instance = (options or {}).get("instance") or self._chosen()
        self._last = 0.0
        observation = self.trial.reset(self.instance)
        return observation, {"id": self.instance.id, "task": self.instance.task}

    def _chosen(self) -> Instance:
        if isinstance(self._source, InstanceStream):
            if not self._seeded:
                return next(self._source)
            return self._source.at(int(self.np_random.integers(2**62)))
        number = Stream("episode", int(self.np_random.integers(2**62)))
        return self._source[number.below(len(self._source))]

    @override
    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the model's reply."""
        step = self.trial.step(action)
        unjudged = step.reward is None
        reward: Any = None if unjudged else self._worth(step)
        return (
            step.observation,
            reward,
            step.done and not unjudged,
            unjudged,
            {**step.info},
        )

    def _worth(self, step: Step) -> float:
        score = step.info.get("score")
        if score is None or self.instance is None:
            return 0.0
        if self._reward == "improvement":
            self._last, before = score, self._last
            return float(score - before)
        if self._reward == "normalized":
            task, setup = get_task(self.instance.task), self.trial.setup
            answers = step.info["turn"] if setup.setting == "retry" else 1
            floor = floor_after(
                task.bucket, _floor(task.id, self.instance.all_params), answers
            )
            return 0.0 if floor >= 1 else normalized(score, floor)
        return float(score)


@lru_cache(maxsize=1024)
def _floor(task_id: str, params: str) -> float:
    task = get_task(task_id)
    return floor_of(task, task.params_model.model_validate_json(params)).score


gymnasium.register("scbench/Spatial-v0", f"{__name__}:SpatialEnv")
