"""Streams and trials for TRL's trainers; the reward function is `scbench.reward.for_trl`.

::

    stream = scbench.stream(["maze_3d", "two_segments"], curriculum=True)
    GRPOTrainer(
        model,
        reward_funcs=reporting(stream.curriculum),
        train_dataset=IterableDataset.from_generator(stream.rows),
        environment_factory=TrialEnvironment,     # for trials in a loop; without it one answer
        ...
    )

Source: trl 1.16 ``trainer/grpo_trainer.py``. TRL is not imported.
"""

from collections.abc import Callable, Sequence
from functools import partial

from scbench.base.model import Setup
from scbench.freezing.stream import Curriculum
from scbench.grading.workers.live import live_grader
from scbench.loop import Environment
from scbench.reward import for_trl, instance_of, unpacked


class TrialEnvironment:
    """A trial in a loop, by default with three answers; a reply is a call of the tool `reply`."""

    def __init__(self, setup: Setup | None = None) -> None:
        self._trial = Environment(setup or Setup(setting="retry"), live_grader().run)
        self._reward: float | None = 0.0

    def reset(
        self,
        *,
        id: str | None = None,  # noqa: A002  (the name of the column)
        instance: str | None = None,
        release: str | None = None,
        **columns: object,  # noqa: ARG002  (other columns of the data set)
    ) -> str:
        """Start with the instance of a row; return the rules, which follow its prompt."""
        row = unpacked(instance) if instance else instance_of(str(id), release)
        self._reward = 0.0
        rules = self._trial.reset(row).removeprefix(row.prompt)
        return f"{rules} Send each of these replies with the tool `reply`."

    # TRL shows this docstring to the model, as the description of the tool.
    def reply(self, text: str) -> str:
        """Send a reply to the task and get the result.

        Args:
            text: the reply, such as an answer in the format of the task.

        Returns:
            The next observation.
        """
        step = self._trial.step(text)
        # A reply without an answer keeps the previous answer's score.
        if step.reward is None or step.info.get("score") is not None:
            self._reward = step.reward
        return step.observation

    def get_reward(self) -> float | None:
        """Return the score of the last answer; None if it cannot be graded here."""
        return self._reward


def reporting(curriculum: Curriculum) -> Callable[..., list[float | None]]:
    """Return a reward function that reports the scores of groups of rollouts to a curriculum.

    With environments, it returns no rewards, because the environments give them.
    """
    return partial(scbench_score, curriculum)


def scbench_score(
    curriculum: Curriculum,
    prompts: Sequence[object],
    completions: Sequence[object],
    *,
    instance: Sequence[str],
    environments: Sequence[TrialEnvironment] | None = None,
    log_metric: Callable[[str, float], object] | None = None,
    **columns: object,  # noqa: ARG001  (trainers pass every column)
) -> list[float | None]:
    """Score completions, or use the environments' scores, and report them by instance."""
    rewards: list[float | None]
    if environments is None:
        scores = for_trl(prompts, completions, instance=instance, log_metric=log_metric)
        rewards = scores
    else:
        scores = [environment.get_reward() for environment in environments]
        # A reward function without rewards is left out of the sum.
        rewards = [None] * len(completions)
    groups: dict[str, list[float | None]] = {}
    for score, text in zip(scores, instance, strict=True):
        groups.setdefault(text, []).append(score)
    for text, group in groups.items():
        row = unpacked(text)
        curriculum.report(row, group)
        if log_metric is not None:
            log_metric(f"rung/{row.task}", float(curriculum.rung(row.task)))
    return rewards
