"""Drawing the cases of an experiment: the same ones, however many processes share the work.

The seeds of a point come from a stream that is named for the base seed, the task and the point
alone, so adding a point never changes another; case by case they are those of
``builder(Stream("generate", seed, task, parameters)).generate_random(count, **parameters)``. What
was drawn before, anywhere in the experiment, is dropped and drawn anew, a bounded number of times.
Points that cannot give enough give fewer, and say why. A job's cases are remembered where that is
wanted, see `scbench.freezing.proofs`.

What is drawn outside of a release has ids that no release has: before the task stands a hash of
the seed, the points and the builders' versions (`prefix_of`), so that neither a release nor another
generation can be mistaken for it.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pebble import ProcessExpired
from pydantic import JsonValue

from scbench.base.canonical import canonical_json, content_hash, sha256
from scbench.base.errors import (
    ExperimentError,
    GenerationError,
    ScbenchError,
    WorkSpentError,
)
from scbench.base.model import Instance, ladder_name
from scbench.base.progress import no_progress
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import Builder, Case, PaperItem
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.freezing.experiment import Experiment, Planned, experiment_of, plan
from scbench.freezing.frozen_task import FrozenTask, freeze_task, instances_of
from scbench.freezing.ladder import ladder, own_ladder
from scbench.freezing.proofs import made_before
from scbench.machine.processes import Executor, PendingResult, open_executor
from scbench.release.load import Reference, find_release
from scbench.release.manifest import ShortfallRecord

# A point is given up after so many cases in a row that were drawn already.
REPEATS = 200
# A case as `generate_random` gives it.
Row = dict[str, Any]


# Jobs of one point that are under way at a time.
_MOST_JOBS = 16
NO_SEED = "there is no seed: give one in the experiment or with --seed"
# Difficulty of what is drawn: its point says more than a word could.
UNRATED = "unrated"


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """The cases of a point, and why they are fewer than asked for; no reason if they are not."""

    planned: Planned
    cases: tuple[Row, ...]
    reason: str


def draw(
    planned: Sequence[Planned],
    seed: int,
    executor: Executor,
    keys: set[str],
    ahead: int = 0,
    proofs: Path | None = None,
) -> Iterator[DrawnPoint]:
    """Draw cases point by point; of ``ahead`` points, drawing is begun before their turn.

    Cases whose keys (see `key_of`) are given are not drawn; those of cases that are drawn are
    added.
    """
    begun: deque[_Source] = deque()
    for i in range(len(planned)):
        while len(begun) <= ahead and i + len(begun) < len(planned):
            begun.append(_Source(planned[i + len(begun)], seed, executor, proofs))
        yield begun.popleft().choose(keys)


def key_of(task_id: str, prompt: str, params: str) -> str:
    """Return what tells cases apart: the text put to a model, and its images if it has any."""
    has_images = get_task(task_id).builder.images is not Builder.images
    return sha256(f"{prompt}\n{params}" if has_images else prompt)


def keys_of(rows: Iterable[Instance]) -> set[str]:
    """Return the keys of instances."""
    return {key_of(row.task, row.prompt, row.all_params) for row in rows}


class _Source:
    """Cases of one point, in the order of its seeds."""

    def __init__(
        self, planned: Planned, seed: int, executor: Executor, proofs: Path | None
    ) -> None:
        self._planned = planned
        self._proofs = proofs
        self._executor = executor
        self._stream = Stream("generate", seed, planned.task.id, planned.parameters)
        self._jobs: deque[tuple[PendingResult, int]] = deque()
        self._refill(planned.point.count)

    def _refill(self, missing: int) -> None:
        """Hand out jobs until the missing cases are under way, but not too many at a time."""
        under_way = sum(size for _, size in self._jobs)
        while under_way < missing and len(self._jobs) < _MOST_JOBS:
            size = min(at_once(self._planned.task), missing - under_way)
            seeds = [self._stream.getrandbits(63) for _ in range(size)]
            job = self._executor.submit(_attempts, self._planned, seeds, self._proofs)
            self._jobs.append((job, size))
            under_way += size

    def choose(self, keys: set[str]) -> DrawnPoint:
        """Return the first cases that are new, and remember them."""
        task, count = self._planned.task, self._planned.point.count
        cases: list[Row] = []
        repeated = failed = 0
        failure = ""
        while True:
            self._refill(count - len(cases))
            for case in self._jobs.popleft()[0].result():
                if isinstance(case, _Failure):
                    failed, failure = failed + 1, case.reason
                    if case.last and not cases:
                        return DrawnPoint(self._planned, (), failure)
                else:
                    key = key_of(
                        task.id, case["input"], canonical_json(case["instance"])
                    )
                    if key in keys:
                        repeated += 1
                    else:
                        keys.add(key)
                        cases.append(case)
                        repeated = failed = 0
                if len(cases) == count:
                    return DrawnPoint(self._planned, tuple(cases), "")
                if repeated == REPEATS or failed == most_failures(task):
                    reason = _reason(task, failed, failure)
                    return DrawnPoint(self._planned, tuple(cases), reason)


def at_once(task: Task) -> int:
    """Return how many cases of a task one job makes."""
    return 100 if task.bucket == MANIFOLDS else 1 if task.heavy else 5


class _Failure(NamedTuple):
    """Why there is no case of a seed, and whether others are not worth the work."""

    reason: str
    last: bool = False


def _attempts(
    planned: Planned, seeds: Sequence[int], proofs: Path | None = None
) -> list[Row | _Failure]:
    """Make cases; where the builder fails, say why instead."""
    task = planned.task
    if task.bucket == MANIFOLDS:  # made as quickly as read
        proofs = None
    key: JsonValue = ["cases", planned.parameters, list(seeds)]
    attempts = made_before(proofs, task, key, lambda: _tried(planned, seeds))
    return [
        attempt if isinstance(attempt, dict) else _Failure(*attempt)
        for attempt in attempts
    ]


def _tried(planned: Planned, seeds: Sequence[int]) -> list[Row | _Failure]:
    make = planned.task.builder().rows_at(planned.point)
    attempts: list[Row | _Failure] = []
    for seed in seeds:
        try:
            attempts.append(make(seed))
        except WorkSpentError as error:
            attempts.append(_Failure(_failure_text(error), last=True))
        except ModuleNotFoundError:  # an extra; other seeds need it as well
            raise
        except Exception as error:  # noqa: BLE001  (whatever fails, other seeds are tried)
            attempts.append(_Failure(_failure_text(error)))
    return attempts


def _failure_text(error: Exception) -> str:
    text = " ".join(str(error).split())[:500]
    return (
        text if isinstance(error, ScbenchError) else f"{type(error).__name__}: {text}"
    )


def most_failures(task: Task) -> int:
    """Return after how many failures in a row a point of a task is given up.

    Builders of spatial tasks work for seconds before they fail.
    """
    return 25 if task.bucket == MANIFOLDS else 5


def _reason(task: Task, failed: int, failure: str) -> str:
    if failed == most_failures(task):
        return f"{failed} tries without a new case failed; the last: {failure}"
    also = f", and {failed} failed; the last: {failure}" if failed else ""
    return (
        f"{REPEATS} tries without a new case gave what was drawn already; the space at this point "
        f"is too small{also}"
    )


@dataclass(frozen=True, slots=True)
class FrozenPoint:
    """What a release holds of a point: its instances, and answers that prove the grader."""

    planned: Planned
    instances: tuple[Instance, ...]
    references: tuple[Reference, ...]
    reason: str


def generate(
    task: str,
    count: int = 1,
    seed: int = 0,
    *,
    rung: int | None = None,
    **parameters: JsonValue,
) -> list[Instance]:
    """Draw fresh instances of a task: those that ``scbench generate`` draws for this seed.

    Args:
        task: id of the task.
        count: how many.
        seed: base seed; every instance gets one of its own, derived by hash.
        rung: of the ladder, also one beyond those that releases hold, in place of parameters;
            nothing that the newest installed release holds is drawn then.
        parameters: of the task's space, as ``scbench tasks TASK`` lists them.

    Raises:
        ExperimentError: there is no such task, rung or parameter, or a value is out of bounds.
        GenerationError: the space at this point has fewer instances.
    """
    if rung is None:
        experiment = experiment_of(
            {"seed": seed, "task": [{"id": task, "count": count, **parameters}]}
        )
    elif parameters:
        raise ExperimentError("a rung has its parameters: give rung or parameters")
    else:
        get_task(task)
        experiment = ladder().experiment(
            seed=seed, tasks=[task], rung=rung, count=count
        )
    with open_executor(1) as executor:
        keys = set() if rung is None else _released_keys(task)
        (point,) = draw(plan(experiment), seed, executor, keys)
    if point.reason:
        raise GenerationError(
            f"{task}: {len(point.cases)} of {count} items: {point.reason}"
        )
    items = _paper_items(point.planned.task, items_of(point.planned, point.cases))
    prefix = prefix_of([point.planned], seed)
    return list(instances_of(point.planned.task, items, prefix=prefix))


def _released_keys(task: str) -> set[str]:
    """Return keys of what the newest release holds of a task: its fixed list, and its ladder.

    They are read, which is quicker than drawing that ladder, as `forbidden_keys` must.
    """
    release = find_release()
    parts = [release] if release.manifest.is_ladder else [release, release.ladder()]
    return keys_of(
        row
        for part in parts
        if task in part.manifest.tasks
        for row in part.instances([task]).values()
    )


def drawn_instance(planned: Planned, seed: int, prefix: str) -> Instance:
    """Return the instance that one seed gives at a point.

    Raises:
        GenerationError: it gives none.
    """
    (row,) = _tried(planned, [seed])
    if isinstance(row, _Failure):
        raise GenerationError(f"{planned.task.id}: {row.reason}")
    items = _paper_items(planned.task, items_of(planned, [row]))
    return next(iter(instances_of(planned.task, items, prefix=prefix)))


def prefix_of(planned: Sequence[Planned], seed: int) -> str:
    """Return what ids of a generation begin with: eight digits of a hash of all it comes from."""
    points = [
        [
            p.task.id,
            p.task.builder.version,
            p.parameters,
            p.point.count,
            *([p.rung] * bool(p.rung)),
        ]
        for p in planned
    ]
    return content_hash(["generation", seed, points])[:8]


def run(
    experiment: Experiment,
    *,
    workers: int = 1,
    prefix: str = "",
    finished: Sequence[FrozenPoint] = (),
    distinct: bool = True,
    on_cases: Callable[[int], object] = no_progress,
    proofs: Path | None = None,
) -> Iterator[FrozenPoint]:
    """Draw the cases of an experiment and prove graders on them; yield point by point.

    Every reference must score 1, and so the counter-references of the first case of each point
    below it; those of a ladder have none, for graders are proven on the fixed lists. First points
    that an interrupted run finished are not yielded again. If it is distinct, a ladder holds
    nothing of the fixed lists and of the published one.

    Raises:
        ExperimentError: see `scbench.freezing.experiment.plan`; or there is no seed.
        GenerationError: a process died.
        ReleaseError: builder and grader disagree on a case.
    """
    if experiment.seed is None:
        raise ExperimentError(NO_SEED)
    planned = plan(experiment)[len(finished) :]
    keys = keys_of(row for part in finished for row in part.instances)
    numbers = Counter(i.task for part in finished for i in part.instances)
    ahead = 4 * workers if workers > 1 else 0
    done = numbers.total()
    waiting: deque[tuple[DrawnPoint, list[PendingResult]]] = deque()

    def ready(limit: int) -> Iterator[FrozenPoint]:
        nonlocal done
        while len(waiting) > limit:
            point, jobs = waiting.popleft()
            results = [job.result() for job in jobs]
            instances = tuple(instance for rows, _ in results for instance in rows)
            references = tuple(
                reference for _, answers in results for reference in answers
            )
            done += len(instances)
            on_cases(done)
            yield FrozenPoint(point.planned, instances, references, point.reason)

    try:
        with open_executor(workers) as executor:
            hand_out = partial(
                draw, executor=executor, keys=keys, ahead=ahead, proofs=proofs
            )
            for point in (
                _draw_by_task(experiment, planned, executor, keys, hand_out)
                if distinct and experiment.measures
                else hand_out(planned, experiment.seed)
            ):
                task = point.planned.task
                jobs = _freezing(point, executor, numbers[task.id], prefix, proofs)
                waiting.append((point, jobs))
                numbers[task.id] += len(point.cases)
                yield from ready(ahead)
            yield from ready(0)
    except ProcessExpired as error:
        raise GenerationError(
            "a process that draws cases died; is there enough memory?"
        ) from error


def _draw_by_task(
    experiment: Experiment,
    planned: Sequence[Planned],
    executor: Executor,
    keys: set[str],
    hand_out: Callable[[Sequence[Planned], int], Iterator[DrawnPoint]],
) -> Iterator[DrawnPoint]:
    """Draw the points of a ladder task by task, each after what it may not hold."""
    for task_id, points in groupby(planned, lambda point: point.task.id):
        keys |= forbidden_keys(experiment, task_id, executor)
        yield from hand_out(list(points), experiment.seed or 0)


def forbidden_keys(
    experiment: Experiment, task_id: str, executor: Executor
) -> set[str]:
    """Return keys of what a ladder may not hold of a task: its fixed list, the published ladder.

    What the experiment has in common with the published ladder is not taken.
    """
    task = get_task(task_id)
    keys = keys_of(instances_of(task, task.builder().paper()))
    public, requested = own_ladder([task]), experiment.only([task_id])
    if (
        public
        and requested
        and (public.seed, public.task) != (requested.seed, requested.task)
    ):
        deque(draw(plan(public), public.seed or 0, executor, keys), 0)
    return keys


def _freezing(
    point: DrawnPoint, executor: Executor, first: int, prefix: str, proofs: Path | None
) -> list[PendingResult]:
    """Hand out the cases of a point, on their way into a release."""
    task = point.planned.task
    items, size = items_of(point.planned, point.cases), at_once(task)
    return [
        executor.submit(
            _freeze, task, items[at : at + size], first + at, prefix, proofs
        )
        for at in range(0, len(items), size)
    ]


PlainItem = tuple[Row, dict[str, Any], int, bool, str]


def items_of(planned: Planned, cases: Sequence[Row]) -> list[PlainItem]:
    """Return cases as `PaperItem` takes them, but plain, to be sent to another process."""
    task, parameters = planned.task, planned.parameters
    facts = [
        name
        for name in task.builder.case_model.model_fields
        if name not in Case.model_fields
    ]
    return [
        (
            case["instance"],
            {**parameters, **{name: case[name] for name in facts}},
            case["seed"],
            *traits(planned, i),
        )
        for i, case in enumerate(cases)
    ]


def _freeze(
    task: Task, items: Sequence[PlainItem], first: int, prefix: str, proofs: Path | None
) -> tuple[tuple[Instance, ...], tuple[Reference, ...]]:
    frozen = freeze_task(task, _paper_items(task, items), first, prefix, proofs)
    return frozen.instances, frozen.references


def _paper_items(task: Task, items: Sequence[PlainItem]) -> list[PaperItem[Any]]:
    model = task.params_model
    return [
        PaperItem(model.model_validate(params), UNRATED, seed, point, proves, name)
        for params, point, seed, proves, name in items
    ]


def traits(planned: Planned, index: int) -> tuple[bool, str]:
    """Return `proves` and `name` of the item that is a case of a point."""
    if planned.rung is None:
        return index == 0, ""
    return False, ladder_name(planned.rung, index + 1)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an experiment came to: tasks with cases, and points with fewer cases than asked for."""

    frozen: list[FrozenTask]
    shortfalls: list[ShortfallRecord]

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(len(part.instances) for part in self.frozen)


def gather(parts: Iterable[FrozenPoint]) -> Gathered:
    """Put the points of each task together, in order.

    Raises:
        GenerationError: not one case could be drawn.
    """
    tasks: dict[str, tuple[Task, list[FrozenPoint]]] = {}
    shortfalls = []
    for part in parts:
        planned = part.planned
        tasks.setdefault(planned.task.id, (planned.task, []))[1].append(part)
        if part.reason:
            shortfalls.append(
                ShortfallRecord(
                    task=planned.task.id,
                    point=planned.parameters,
                    asked=planned.point.count,
                    got=len(part.instances),
                    reason=part.reason,
                )
            )
    frozen = [
        FrozenTask(
            task,
            tuple(instance for part in points for instance in part.instances),
            tuple(reference for part in points for reference in part.references),
        )
        for task, points in tasks.values()
    ]
    frozen = [part for part in frozen if part.instances]
    if not frozen:
        raise GenerationError(f"not one case could be drawn: {shortfalls[0].reason}")
    return Gathered(frozen, shortfalls)
