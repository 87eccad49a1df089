"""Fresh instances for ever, for training: each from a seed of its own, none of any release.

::

    for instance in scbench.stream(["arithmetic", "maze_3d"], rung=2, seed=7, rank=0, world=8): ...

Seeds are hashes of the base seed and the instance's number, so ranks share nothing but the rule:
rank r of n draws the numbers r, r + n, r + 2n, ..., and all of them together draw what one would.
What a release holds is recognised by the hash of its data and never drawn. A point whose space is
used up repeats itself: that is counted, and said once.
"""

import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

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
from scbench.freezing.experiment import Planned, experiment_of, plan
from scbench.freezing.fresh import REPEATS, drawn_instance, most_failures
from scbench.freezing.ladder import ladder
from scbench.release.load import find_release, installed_releases

# Seeds that are tried for an instance that was not drawn before.
TRIES = 20
# Rollouts of a task that a curriculum looks back on: models in training change.
WINDOW = 64


class Curriculum:
    """Which rung of each task to draw from: where the next answer tells most of the level.

    That is where a model that is told of by its last rollouts succeeds about half of the time; the
    criterion is that of ``scbench ladder --next``. It begins in the middle.

    Args:
        window: rollouts of each task that count, the last ones.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self._last: defaultdict[str, deque[tuple[int, float]]]
        self._last = defaultdict(partial(deque, maxlen=window))

    def rung(self, task: str) -> int:
        """Return the rung of a task that is drawn from now."""
        rungs, scores = np.array([*self._last[task]], dtype=np.float64).reshape(-1, 2).T
        floors = _rung_floors(task)
        known = np.array(
            [floors.get(int(rung), 0.0) for rung in rungs], dtype=np.float64
        )
        answers = Answers(rungs, scores, known, len(ladder().tasks[task].all_rungs))
        return int(fit(answers, 0).information().argmax()) + 1

    def report(self, instance: Instance, scores: Sequence[float | None]) -> None:
        """Take in what a group of rollouts of an instance scored; None is not counted.

        Raises:
            ExperimentError: the instance is on no ladder.
        """
        rung = rung_of(instance.id)
        if rung is None:
            raise ExperimentError(
                f"{instance.id} is on no rung, so no curriculum learns from it"
            )
        self._last[instance.task].extend(
            (rung, score) for score in scores if score is not None
        )

    @property
    def state(self) -> dict[str, list[list[float]]]:
        """What it looks back on, as JSON; setting it goes there."""
        return {task: [[*pair] for pair in last] for task, last in self._last.items()}

    @state.setter
    def state(self, state: Mapping[str, Sequence[Sequence[float]]]) -> None:
        self._last.clear()
        for task, last in state.items():
            self._last[task].extend((int(rung), float(score)) for rung, score in last)


@lru_cache(maxsize=64)
def _rung_floors(task: str) -> Mapping[int, float]:
    """Return the mean floor of each rung of a task on the newest ladder; none beyond it."""
    floors: defaultdict[int, list[float]] = defaultdict(list)
    for name, floor in find_release().ladder().floors().items():
        if task_of(name) == task:
            floors[rung_of(name) or 0].append(floor)
    return {rung: sum(values) / len(values) for rung, values in floors.items()}


def data_hash(instance: Instance) -> str:
    """Return what tells an instance's data from all others: not its id, its prompt or pictures."""
    return sha256(f"{instance.task}\n{instance.all_params}")


@lru_cache(maxsize=64)
def frozen_hashes(task: str) -> frozenset[str]:
    """Return the hashes of the data that installed releases hold of a task, ladders included."""
    hashes = set()
    for version in installed_releases():
        release = find_release(version)
        configs = [release]
        if not release.manifest.is_ladder:
            with suppress(ReleaseError):  # an older one has no ladder
                configs.append(release.ladder())
        for config in configs:
            if task in config.manifest.tasks:
                hashes |= {data_hash(one) for one in config.instances([task]).values()}
    return frozenset(hashes)


class InstanceStream(Iterator[Instance]):
    """Fresh instances of tasks, for ever; see `scbench.freezing.stream`.

    Attributes:
        tasks: that take turns, in an order that changes from round to round.
        curriculum: that chooses rungs, if one does; it is told by `Curriculum.report`.
        number: of the instance that is next.
        counts: "drawn", and of what was met on the way: "repeats" (yielded again, as nothing new
            came), "frozen" (held by a release, never yielded) and "failed" seeds.

    Args:
        tasks: names of tasks or buckets, or one name.
        rung: of the ladder; by default the point that the parameters say.
        curriculum: True for a new one, or one that is shared with other streams.
        seed: base seed.
        rank: of this process.
        world: how many processes draw.
        parameters: of the tasks' spaces, as ``scbench tasks TASK`` lists them.

    Raises:
        ExperimentError: no such task, rung or parameter; or rung, curriculum and parameters do not
            go together.
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
        if (rung is not None) + bool(curriculum is not False) + bool(parameters) > 1:
            raise ExperimentError(
                "give a rung, a curriculum or parameters: each says the point"
            )
        if not 0 <= rank < world:
            raise ExperimentError(
                f"ranks of a world of {world} go from 0 to {world - 1}: {rank}"
            )
        self.tasks = tasks_of([tasks] if isinstance(tasks, str) else tasks)
        self.curriculum = Curriculum() if curriculum is True else curriculum or None
        self.number, self._world = rank, world
        self.counts: Counter[str] = Counter(drawn=0, repeats=0, frozen=0, failed=0)
        self._seed, self._rung, self._parameters = seed, rung, parameters
        self._points: dict[tuple[str, int | None], Planned] = {}
        self._drawn: set[str] = set()
        self._empty: set[tuple[str, int | None]] = set()
        for task in self.tasks:  # names that are wrong are said now
            self._point(task, 1 if self.curriculum else rung)

    @override
    def __next__(self) -> Instance:
        instance = self._draw(self.number, self._drawn)
        self.number += self._world
        self.counts["drawn"] += 1
        return instance

    def at(self, number: int) -> Instance:
        """Return the instance of a number, whatever was drawn before, repeats and all."""
        return self._draw(number, None)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield what trainers want of each: prompt (messages), id, and the instance, packed.

        `scbench.reward.for_trl` scores completions from these columns.
        """
        from scbench.reward import packed  # noqa: PLC0415  (for trainers)

        for instance in self:
            prompt = [{"role": "user", "content": instance.prompt}]
            yield {"prompt": prompt, "id": instance.id, "instance": packed(instance)}

    def _draw(self, number: int, drawn: set[str] | None) -> Instance:
        turn, place = divmod(number, len(self.tasks))
        task = Stream("stream order", self._seed, turn).sample(
            self.tasks, len(self.tasks)
        )[place]
        rung = self._rung if self.curriculum is None else self.curriculum.rung(task.id)
        point = self._point(task, rung)
        seeds = Stream("stream", self._seed, task.id, point.parameters, number)
        failed = repeats = 0
        for _ in range(REPEATS):
            seed = seeds.getrandbits(63)
            prefix = content_hash(["stream", seed, point.parameters])[:12]
            try:
                instance = drawn_instance(point, seed, prefix)
            except GenerationError:
                self.counts["failed"] += 1
                failed += 1
                if failed == most_failures(task):
                    raise
                continue
            key = data_hash(instance)
            if key in frozen_hashes(task.id):
                self.counts["frozen"] += 1
                continue
            if drawn is None or key not in drawn:
                if drawn is not None:
                    drawn.add(key)
                return instance
            repeats += 1
            if repeats == TRIES or (task.id, rung) in self._empty:
                self._tell_repeat(task.id, rung)
                return instance
        raise GenerationError(
            f"{task.id}: all that is drawn at this point is in a release"
        )

    def _tell_repeat(self, task: str, rung: int | None) -> None:
        self.counts["repeats"] += 1
        if (task, rung) not in self._empty:
            self._empty.add((task, rung))
            at = "this point" if rung is None else f"rung {rung}"
            text = f"{task}: {TRIES} draws at {at} gave nothing new; from here on it repeats itself"
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
    """Return fresh instances of tasks, for ever; `InstanceStream` says what can be asked for."""
    return InstanceStream(tasks, rung, **options)


def tasks_of(names: Sequence[str]) -> list[Task]:
    """Return the tasks that names of tasks and buckets stand for, each once."""
    tasks: dict[str, Task] = {}
    for name in names:
        of_bucket = [task for task in all_tasks().values() if task.bucket == name]
        tasks |= {task.id: task for task in of_bucket or [get_task(name)]}
    if not tasks:
        raise ExperimentError("name at least one task")
    return [*tasks.values()]
