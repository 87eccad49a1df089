"""New instances: the drawn cases of an experiment, with answers that test the graders.

Instances outside of a release have ids that no release has: the task's name follows a
hash of the seed, the points and the builders' versions (`prefix_of`). They cannot be
confused with the instances of a release or of another generation.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import content_hash
from scbench.base.errors import ExperimentError, GenerationError
from scbench.base.model import Instance, ladder_name
from scbench.base.progress import no_progress
from scbench.builders.shared.builder import Builder, Case, PaperItem
from scbench.catalog import Task, get_task
from scbench.freezing.draw import (
    DrawnPoint,
    Failure,
    Row,
    cases_of_seeds,
    cases_per_job,
    draw,
    keys_of,
)
from scbench.freezing.experiment import Experiment, Planned, experiment_of, plan
from scbench.freezing.frozen_task import FrozenTask, freeze_task, instances_of
from scbench.freezing.ladder import ladder, own_ladder
from scbench.machine.processes import Executor, PendingResult, open_executor
from scbench.release.load import Reference, find_release
from scbench.release.manifest import ShortfallRecord

NO_SEED = "no seed: set one in the experiment or with --seed"
# Difficulty of drawn instances, which their point describes better than a word could.
UNRATED = "unrated"


@dataclass(frozen=True, slots=True)
class FrozenPoint:
    """The instances of a point, and answers that test the grader."""

    planned: Planned
    instances: tuple[Instance, ...]
    references: tuple[Reference, ...]
    reason: str
    """Reason why there are fewer instances than the point requests; empty if there are enough."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The results of an experiment."""

    frozen: list[FrozenTask]
    """Tasks that have cases."""
    shortfalls: list[ShortfallRecord]
    """Points with fewer cases than they ask for."""

    @property
    def cases(self) -> int:
        """Number of cases."""
        return sum(len(part.instances) for part in self.frozen)


class _PendingPoint(NamedTuple):
    """A drawn point whose instances other processes freeze."""

    point: DrawnPoint
    jobs: list[PendingResult]


def generate(
    task: str,
    count: int = 1,
    seed: int = 0,
    *,
    rung: int | None = None,
    **parameters: JsonValue,
) -> list[Instance]:
    """Draw fresh instances of a task, the same as ``scbench generate`` draws for this seed.

    Args:
        task: id of the task.
        count: number of instances.
        seed: base seed; every instance gets its own seed, derived by hash.
        rung: rung of the ladder, instead of parameters; it may be beyond the rungs in
            releases. Items of the newest installed release are then skipped.
        parameters: parameters of the task's space, as ``scbench tasks TASK`` lists them.

    Raises:
        ExperimentError: there is no such task, rung or parameter, or a value is out of bounds.
        GenerationError: the space has fewer instances than requested at this point.
    """
    keys: set[str] = set()
    if rung is None:
        block = {"id": task, "count": count, **parameters}
        experiment = experiment_of({"seed": seed, "task": [block]})
    elif parameters:
        raise ExperimentError("give either a rung or parameters, not both")
    else:
        get_task(task)
        experiment = ladder().experiment(
            seed=seed, tasks=[task], rung=rung, count=count
        )
        # Items of the ladder must be new; at other points, items may repeat those of
        # releases.
        keys = released_keys(task)
    with open_executor(1) as executor:
        (point,) = draw(plan(experiment), seed, executor, keys)
    if point.reason:
        raise GenerationError(
            f"{task}: {len(point.cases)} of {count} items: {point.reason}"
        )
    return instances_at(point.planned, point.cases, prefix_of([point.planned], seed))


def released_keys(task: str) -> set[str]:
    """Return the keys of a task's fixed list and of its ladder in the newest release.

    Reading them is faster than drawing the ladder, which `forbidden_keys` must do.
    """
    release = find_release()
    configs = [release]
    if not release.manifest.is_ladder:
        configs.append(release.ladder())
    keys = set()
    for config in configs:
        if task in config.manifest.tasks:
            keys |= keys_of(config.instances([task]).values())
    return keys


def drawn_instance(planned: Planned, seed: int, prefix: str) -> Instance:
    """Return the instance of one seed at a point.

    Raises:
        GenerationError: the seed gives no instance.
    """
    (row,) = cases_of_seeds(planned, [seed])
    if isinstance(row, Failure):
        raise GenerationError(f"{planned.task.id}: {row.reason}")
    (instance,) = instances_at(planned, [row], prefix)
    return instance


def instances_at(planned: Planned, cases: Sequence[Row], prefix: str) -> list[Instance]:
    """Return the instances of cases of a point."""
    items = [paper_item(planned, i, case) for i, case in enumerate(cases)]
    return list(instances_of(planned.task, items, prefix=prefix))


def prefix_of(planned: Sequence[Planned], seed: int) -> str:
    """Return the prefix of a generation's ids: eight digits of a hash of all its inputs."""
    points = []
    for p in planned:
        # Without a rung, ids must be the same as in versions without ladders.
        origin = [p.task.id, p.task.builder.version, p.parameters, p.point.count]
        if p.rung:
            origin.append(p.rung)
        points.append(origin)
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
    """Draw the cases of an experiment and test graders on them; yield results by point.

    Every reference must score 1. The counter-references of the first case of each point
    must score less than 1. The cases of a ladder have no counter-references, because
    the fixed lists already test the graders.

    Args:
        experiment: the experiment.
        workers: number of processes; with 1, this process does the work.
        prefix: prefix of the ids.
        finished: the first points, if an interrupted run finished them; they are not
            yielded again.
        distinct: whether a ladder must exclude items of the fixed lists and the published ladder.
        on_cases: called with the number of cases so far.
        proofs: see `scbench.freezing.proofs`.

    Raises:
        ExperimentError: see `scbench.freezing.experiment.plan`; or there is no seed.
        MachineError: a process died.
        ReleaseError: builder and grader disagree on a case.
    """
    if experiment.seed is None:
        raise ExperimentError(NO_SEED)
    planned = plan(experiment)[len(finished) :]
    # A continued run numbers its cases after the finished ones, and compares them with
    # these.
    keys = keys_of(row for part in finished for row in part.instances)
    numbers = Counter(row.task for part in finished for row in part.instances)
    # Enough points for all processes, while results are read in order.
    ahead = 4 * workers if workers > 1 else 0
    done = numbers.total()
    with open_executor(workers) as executor:
        if distinct and experiment.measures:
            points = draw_ladder(experiment, planned, executor, keys, ahead, proofs)
        else:
            seed = experiment.seed
            points = draw(planned, seed, executor, keys, ahead, proofs)
        for part in freeze_points(points, executor, numbers, prefix, ahead, proofs):
            done += len(part.instances)
            on_cases(done)
            yield part


def draw_ladder(
    experiment: Experiment,
    planned: Sequence[Planned],
    executor: Executor,
    keys: set[str],
    ahead: int,
    proofs: Path | None,
) -> Iterator[DrawnPoint]:
    """Draw the points of a ladder without the items that it must not contain."""
    checked: set[str] = set()

    # Done only when the turn of a task comes, so that other processes draw in the
    # meantime.
    def forbid_items(point: Planned) -> None:
        task_id = point.task.id
        if task_id not in checked:
            checked.add(task_id)
            keys.update(forbidden_keys(experiment, task_id, executor))

    seed = experiment.seed or 0
    yield from draw(planned, seed, executor, keys, ahead, proofs, forbid_items)


def forbidden_keys(
    experiment: Experiment, task_id: str, executor: Executor
) -> set[str]:
    """Return the keys that a ladder must not contain: a task's fixed list and published ladder.

    For the published ladder, only the fixed list is excluded.
    """
    task = get_task(task_id)
    keys = keys_of(instances_of(task, task.builder().paper()))
    public = own_ladder([task])
    requested = experiment.only([task_id])
    if public is None or requested is None:
        return keys
    if (public.seed, public.task) != (requested.seed, requested.task):
        # Drawing adds the keys; the points themselves are not needed.
        for _ in draw(plan(public), public.seed or 0, executor, keys):
            pass
    return keys


def freeze_points(
    points: Iterable[DrawnPoint],
    executor: Executor,
    numbers: Counter[str],
    prefix: str,
    ahead: int,
    proofs: Path | None,
) -> Iterator[FrozenPoint]:
    """Freeze drawn points in order while others are in progress; count each task's cases."""
    waiting: deque[_PendingPoint] = deque()
    for point in points:
        task = point.planned.task
        first = numbers[task.id]
        waiting.append(_submit_freezing(point, executor, first, prefix, proofs))
        numbers[task.id] += len(point.cases)
        if len(waiting) > ahead:
            yield _frozen_point(waiting.popleft())
    while waiting:
        yield _frozen_point(waiting.popleft())


def _submit_freezing(
    point: DrawnPoint, executor: Executor, first: int, prefix: str, proofs: Path | None
) -> _PendingPoint:
    size = cases_per_job(point.planned.task)
    jobs = []
    for start in range(0, len(point.cases), size):
        batch = point.cases[start : start + size]
        job = executor.submit(
            freeze_cases, point.planned, batch, start, first + start, prefix, proofs
        )
        jobs.append(job)
    return _PendingPoint(point, jobs)


def _frozen_point(pending: _PendingPoint) -> FrozenPoint:
    """Wait for the instances of a point."""
    planned = pending.point.planned
    parts = [job.result() for job in pending.jobs]
    frozen_task = join_parts(planned.task, parts)
    return FrozenPoint(
        planned, frozen_task.instances, frozen_task.references, pending.point.reason
    )


def freeze_cases(
    planned: Planned,
    cases: Sequence[Row],
    start: int,
    first: int,
    prefix: str,
    proofs: Path | None,
) -> FrozenTask:
    """Freeze cases of a point; the first of them has the index ``start`` among all its cases.

    For the other arguments see `freeze_task`.
    """
    items = [paper_item(planned, i, case) for i, case in enumerate(cases, start)]
    return freeze_task(planned.task, items, first, prefix, proofs)


def paper_item(planned: Planned, index: int, case: Row) -> PaperItem[Any]:
    """Return a case of a point, with its index among the point's cases, as an item to freeze."""
    task = planned.task
    point = planned.parameters
    for field in task.builder.case_model.model_fields:
        if field not in Case.model_fields:  # a fact of the case
            point[field] = case[field]
    # Text tasks have targets of another form.
    has_reference = task.builder.target is Builder.target
    return PaperItem(
        params=task.params_model.model_validate(case["instance"]),
        difficulty=UNRATED,
        seed=case["seed"],
        point=point,
        # One of many cases is enough to test a grader; for a ladder, the fixed list
        # tests it.
        proves=planned.rung is None and index == 0,
        name="" if planned.rung is None else ladder_name(planned.rung, index + 1),
        reference=case["target"] if has_reference else "",
    )


def gather(parts: Iterable[FrozenPoint]) -> Gathered:
    """Join the points of each task, in order.

    Raises:
        GenerationError: no case could be drawn.
    """
    points_by_task: dict[str, list[FrozenPoint]] = {}
    shortfalls = []
    for part in parts:
        planned = part.planned
        # Tasks come in the order of their first points.
        points_by_task.setdefault(planned.task.id, []).append(part)
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
    frozen = []
    for points in points_by_task.values():
        frozen_task = join_parts(points[0].planned.task, points)
        if frozen_task.instances:
            frozen.append(frozen_task)
    if not frozen:
        raise GenerationError(f"no item could be generated: {shortfalls[0].reason}")
    return Gathered(frozen, shortfalls)


def join_parts(task: Task, parts: Sequence[FrozenPoint | FrozenTask]) -> FrozenTask:
    """Join the parts of a task in their order."""
    return FrozenTask(
        task,
        instances=tuple(row for part in parts for row in part.instances),
        references=tuple(ref for part in parts for ref in part.references),
    )
