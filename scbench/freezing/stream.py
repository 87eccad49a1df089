"""Endless new instances for training: each has a separate seed, and none is in a release.

::

    for instance in scbench.stream(["arithmetic", "maze_3d"], rung=2, seed=7, rank=0, world=8): ...

Seeds are hashes of the base seed and the instance's number, so ranks need not
communicate: rank r of n draws the numbers r, r + n, r + 2n, ..., and together they draw
the same instances as a single process. Instances of releases are recognized by the hash
of their data and never drawn. If the space of a point is exhausted, instances repeat:
repeats are counted, with one warning.
"""

import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from pydantic import JsonValue
from typing_extensions import override

from scbench.analysis.curves import Answers
from scbench.analysis.levels import fit
from scbench.base.canonical import content_hash, sha256
from scbench.base.errors import ExperimentError, GenerationError, ReleaseError
from scbench.base.model import Instance, rung_of, task_of
from scbench.base.seeding import Stream
from scbench.catalog import Task, all_tasks, get_task
from scbench.freezing.draw import REPEATS, most_failures
from scbench.freezing.experiment import Planned, experiment_of, plan
from scbench.freezing.fresh import drawn_instance
from scbench.freezing.ladder import ladder
from scbench.release.load import find_release, installed_releases

# Maximum number of seeds to try for an instance that was not drawn before.
TRIES = 20
# Number of a task's latest rollouts that a curriculum considers, because models in
# training change.
WINDOW = 64


class _Rollout(NamedTuple):
    """A rollout's rung and score."""

    rung: int
    score: float


class Curriculum:
    """Chooses for each task the rung whose next answer is most informative about the model's level.

    On this rung, a model at its current level succeeds about half of the time; the
    criterion is the same as in ``scbench ladder --next``. The first rung chosen is
    the one in the middle of the ladder.

    Args:
        window: number of last rollouts of each task that count.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self._rollouts: defaultdict[str, deque[_Rollout]]
        self._rollouts = defaultdict(partial(deque, maxlen=window))

    def rung(self, task: str) -> int:
        """Return the rung to draw from now."""
        rollouts = self._rollouts[task]
        floors = rung_floors(task)
        pairs = np.array([*rollouts], dtype=np.float64).reshape(-1, 2)
        # Rungs beyond those of the release have no floors.
        known_floors = [floors.get(rollout.rung, 0.0) for rollout in rollouts]
        answers = Answers(
            pairs[:, 0],
            pairs[:, 1],
            np.array(known_floors, dtype=np.float64),
            len(ladder().tasks[task].all_rungs),
        )
        return int(fit(answers, 0).information().argmax()) + 1

    def report(self, instance: Instance, scores: Sequence[float | None]) -> None:
        """Record the scores of a group of rollouts of an instance; scores of None are ignored.

        Raises:
            ExperimentError: the instance is not on a ladder.
        """
        rung = rung_of(instance.id)
        if rung is None:
            raise ExperimentError(
                f"{instance.id} is not on a rung, so curricula cannot use it"
            )
        for score in scores:
            if score is not None:
                self._rollouts[instance.task].append(_Rollout(rung, score))

    @property
    def state(self) -> dict[str, list[list[float]]]:
        """The rollouts that count, as JSON; setting it restores them."""
        state = {}
        for task, rollouts in self._rollouts.items():
            state[task] = [[*rollout] for rollout in rollouts]
        return state

    @state.setter
    def state(self, state: Mapping[str, Sequence[Sequence[float]]]) -> None:
        self._rollouts.clear()
        for task, pairs in state.items():
            rollouts = [_Rollout(int(rung), float(score)) for rung, score in pairs]
            self._rollouts[task].extend(rollouts)


@lru_cache(maxsize=64)
def rung_floors(task: str) -> Mapping[int, float]:
    """Return the mean floor of each rung of a task on the newest ladder; none beyond it."""
    floors: defaultdict[int, list[float]] = defaultdict(list)
    for name, floor in find_release().ladder().floors().items():
        if task_of(name) == task:
            floors[rung_of(name) or 0].append(floor)
    return {rung: sum(values) / len(values) for rung, values in floors.items()}


class InstanceStream(Iterator[Instance]):
    """Endless fresh instances of tasks; see `scbench.freezing.stream`.

    Attributes:
        tasks: tasks that are drawn in rounds, in an order that changes from round to
            round.
        curriculum: chooses the rungs, if given; report scores to `Curriculum.report`.
        number: number of the next instance.
        counts: "drawn"; "repeats" (yielded again because no new instance was found),
            "frozen" (in a release, never yielded) and "failed" seeds.

    Args:
        tasks: names of tasks or buckets, or one name.
        rung: rung of the ladder; by default the parameters define the point.
        curriculum: True for a new curriculum, or a curriculum that is shared with other
            streams.
        seed: base seed.
        rank: rank of this process.
        world: number of processes that draw.
        parameters: parameters of the tasks' spaces, as ``scbench tasks TASK`` lists them.

    Raises:
        ExperimentError: there is no such task, rung or parameter; or more than one of
            rung, curriculum and parameters is given.
    """

    def __init__(
        self,
        tasks: str | Sequence[str],
        rung: int | None = None,
        *,
        curriculum: bool | Curriculum = False,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        **parameters: JsonValue,
    ) -> None:
        choices = [rung is not None, curriculum is not False, bool(parameters)]
        if sum(choices) > 1:
            raise ExperimentError("give only one of rung, curriculum and parameters")
        if not 0 <= rank < world:
            raise ExperimentError(
                f"the rank must be from 0 to {world - 1} for a world size of {world}, not "
                f"{rank}"
            )
        self.tasks = tasks_of([tasks] if isinstance(tasks, str) else tasks)
        self.curriculum = Curriculum() if curriculum is True else curriculum or None
        self.number = rank
        self.counts: Counter[str] = Counter(drawn=0, repeats=0, frozen=0, failed=0)
        self._world = world
        self._seed = seed
        self._rung = rung
        self._parameters = parameters
        self._points: dict[tuple[str, int | None], Planned] = {}
        # Hashes of the data of instances that were yielded.
        self._hashes: set[str] = set()
        # Tasks and rungs whose space is used up.
        self._exhausted: set[tuple[str, int | None]] = set()
        # Wrong names and parameters raise here, not at the first instance.
        for task in self.tasks:
            self._point(task, 1 if self.curriculum else rung)

    @override
    def __next__(self) -> Instance:
        instance = self._draw(self.number, self._hashes)
        self.number += self._world
        self.counts["drawn"] += 1
        return instance

    def at(self, number: int) -> Instance:
        """Return the instance with a number, regardless of earlier draws; it may be a repeat."""
        return self._draw(number, None)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the columns that trainers need: prompt (messages), id, and the packed instance.

        `scbench.reward.for_trl` scores completions from these columns.
        """
        from scbench.reward import packed  # noqa: PLC0415  (for trainers)

        for instance in self:
            prompt = [{"role": "user", "content": instance.prompt}]
            yield {"prompt": prompt, "id": instance.id, "instance": packed(instance)}

    def _draw(self, number: int, hashes: set[str] | None) -> Instance:
        """Return the instance with a number.

        Args:
            number: number of the instance.
            hashes: hashes of instances that are not drawn again if possible; the
                instance's own hash is added. None allows repeats.
        """
        task = self._task_of(number)
        rung = self._rung if self.curriculum is None else self.curriculum.rung(task.id)
        point = self._point(task, rung)
        seeds = Stream("stream", self._seed, task.id, point.parameters, number)
        failures = repeats = 0
        for _ in range(REPEATS):
            seed = seeds.getrandbits(63)
            prefix = content_hash(["stream", seed, point.parameters])[:12]
            try:
                instance = drawn_instance(point, seed, prefix)
            except GenerationError:
                self.counts["failed"] += 1
                failures += 1
                if failures == most_failures(task):
                    raise
                continue
            key = data_hash(instance)
            if key in frozen_hashes(task.id):
                self.counts["frozen"] += 1
                continue
            if hashes is None:
                return instance
            if key not in hashes:
                hashes.add(key)
                return instance
            repeats += 1
            # Once a point is known to be used up, no more seeds are tried.
            if repeats == TRIES or (task.id, rung) in self._exhausted:
                self._report_repeat(task.id, rung)
                return instance
        raise GenerationError(
            f"{task.id}: every item that can be drawn at this point is in a release"
        )

    def _task_of(self, number: int) -> Task:
        # Each round has all tasks, in its own random order.
        round_number, place = divmod(number, len(self.tasks))
        order = Stream("stream order", self._seed, round_number)
        return order.sample(self.tasks, len(self.tasks))[place]

    def _report_repeat(self, task: str, rung: int | None) -> None:
        self.counts["repeats"] += 1
        if (task, rung) in self._exhausted:
            return
        self._exhausted.add((task, rung))
        at = "this point" if rung is None else f"rung {rung}"
        text = f"{task}: {TRIES} draws at {at} gave no new item, so items repeat from here on"
        # The warning names the caller's line.
        warnings.warn(text, stacklevel=4)

    def _point(self, task: Task, rung: int | None) -> Planned:
        if (task.id, rung) not in self._points:
            if rung is None:
                block = {"id": task.id, "count": 1, **self._parameters}
                experiment = experiment_of({"seed": 0, "task": [block]})
            else:
                experiment = ladder().experiment(tasks=[task.id], rung=rung, count=1)
            (self._points[task.id, rung],) = plan(experiment)
        return self._points[task.id, rung]


def stream(
    tasks: str | Sequence[str],
    rung: int | None = None,
    **options: Any,  # noqa: ANN401  (those of the class)
) -> InstanceStream:
    """Return endless fresh instances of tasks; for the options see `InstanceStream`."""
    return InstanceStream(tasks, rung, **options)


def tasks_of(names: Sequence[str]) -> list[Task]:
    """Return the distinct tasks selected by names of tasks and buckets."""
    tasks: dict[str, Task] = {}
    for name in names:
        in_bucket = [task for task in all_tasks().values() if task.bucket == name]
        for task in in_bucket or [get_task(name)]:
            tasks[task.id] = task
    if not tasks:
        raise ExperimentError("give at least one task")
    return list(tasks.values())


def data_hash(instance: Instance) -> str:
    """Return a hash of an instance's data, without its id, prompt and pictures."""
    return sha256(f"{instance.task}\n{instance.all_params}")


@lru_cache(maxsize=64)
def frozen_hashes(task: str) -> frozenset[str]:
    """Return the hashes of a task's data in installed releases, ladders included."""
    hashes = set()
    for version in installed_releases():
        release = find_release(version)
        configs = [release]
        if not release.manifest.is_ladder:
            with suppress(ReleaseError):  # an older one has no ladder
                configs.append(release.ladder())
        for config in configs:
            if task not in config.manifest.tasks:
                continue
            for row in config.instances([task]).values():
                hashes.add(data_hash(row))
    return frozenset(hashes)
