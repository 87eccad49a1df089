"""Checks of a ladder's table: its rungs are drawn, solved, graded and measured."""

import json
import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from scbench.base.errors import ScbenchError
from scbench.catalog import Task, get_task
from scbench.freezing.draw import key_of, most_failures
from scbench.freezing.floors import mean_score
from scbench.freezing.fresh import FrozenPoint, run
from scbench.freezing.ladder import Ladder, TaskLadder
from scbench.freezing.shortcuts import Shortcut, shortcuts_of, standard_error
from scbench.freezing.trials import Draws, Trials
from scbench.release.load import Reference
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import normalized

# Bounds on a rung's mean floor, on its rise from rung to rung, and on the transfer.
MOST_FLOOR = 0.6
MOST_RISE = 0.03
MOST_TRANSFER = 0.5
# Bound on the chance that a rung cannot be generated with a fresh seed.
MOST_UNFINISHED = 0.001


class Item(NamedTuple):
    """An item of a rung and its right answer."""

    params: BaseModel
    reference: Reference


@dataclass(frozen=True, slots=True)
class RungReport:
    """The findings on a rung.

    Attributes:
        task: id of the task.
        rung: number of the rung.
        point: parameters of the rung.
        measures: measure of each instance.
        floors: floor of each instance.
        prompt: characters of the longest prompt.
        answer: characters of the longest correct answer.
        drawing: seconds to draw, solve and grade all instances.
        judging: seconds of the slowest verdict on a correct answer.
        transfer: see `transfer_of`.
        trials: results of drawing further items; None if none were drawn.
        shortcuts: results of programs that see part of an item, the best first.
        problems: faults of the rung, as sentences.
    """

    task: str
    rung: int
    point: dict[str, JsonValue]
    measures: tuple[float, ...] = ()
    floors: tuple[float, ...] = ()
    prompt: int = 0
    answer: int = 0
    drawing: float = 0.0
    judging: float = 0.0
    transfer: float | None = None
    trials: Trials | None = None
    shortcuts: tuple[Shortcut, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Mean of the measures."""
        return sum(self.measures) / len(self.measures)

    @property
    def floor(self) -> float:
        """Mean of the floors."""
        return sum(self.floors) / len(self.floors)

    @property
    def floor_error(self) -> float:
        """Standard error of the mean of the floors; 0 for a single item."""
        return standard_error(self.floors) if len(self.floors) > 1 else 0.0


def check_ladder(
    ladder: Ladder,
    tasks: Collection[str] | None = None,
    *,
    count: int | None = None,
    rung: int | None = None,
    rising: bool = True,
    draws: int = 0,
    fresh: int = 0,
) -> Iterator[RungReport]:
    """Draw the rungs of a table, including those beyond a release's, and report on each.

    A correct answer must score 1 within its task's limit, prompts and answers must be
    short enough, and all instances must differ. On average, the measure must rise from
    rung to rung, the floors must not, and there must be room above them. No answer may
    be right for most items of a rung. Draws must rarely fail.

    Args:
        ladder: the table.
        tasks: ids; by default all.
        count: instances on each rung; by default the table's.
        rung: the only rung to check; by default all.
        rising: whether to check averages, for which a few instances of a rung may not be enough.
        draws: items to draw in addition, unsolved, to estimate the capacity and count failures.
        fresh: how many of these items to try `shortcuts` on; 0, or at least 2. If there are fewer
            draws, more items are drawn.

    Raises:
        ExperimentError: the table has no such task or rung.
    """
    for name in ladder.experiment(tasks=tasks).task_ids:
        table = ladder.tasks[name]
        below: RungReport | None = None
        ids_by_key: dict[str, str] = {}
        for number, point in enumerate(table.all_rungs, 1):
            if rung not in {None, number}:
                continue
            report = check_rung(ladder, name, number, point, count, ids_by_key)
            further = Draws(get_task(name), point)
            if draws and report.measures:
                report = with_trials(report, further, draws, count or ladder.count)
            if fresh:
                report = with_shortcuts(table, report, further, fresh)
            if report.measures:
                if rising:
                    checks = [
                        *rung_problems(table, report),
                        *rise_problems(below, report),
                    ]
                    report = replace(report, problems=(*report.problems, *checks))
                below = report
            yield report


def check_rung(
    ladder: Ladder,
    name: str,
    rung: int,
    point: dict[str, JsonValue],
    count: int | None,
    ids_by_key: dict[str, str],
) -> RungReport:
    """Draw a rung, and report on it alone.

    Args:
        ladder: the table.
        name: id of the task.
        rung: number of the rung.
        point: parameters of the rung.
        count: instances; by default the table's.
        ids_by_key: ids of the instances of the task so far, by key; the ids of this
            rung are added.
    """
    experiment = ladder.experiment(tasks=[name], rung=rung, count=count)
    started = time.perf_counter()
    try:
        # Items of the fixed lists are allowed here: this is about the rung alone.
        (part,) = run(experiment, distinct=False)
    except (ScbenchError, NotImplementedError) as error:
        return RungReport(name, rung, point, problems=(str(error),))
    drawing = time.perf_counter() - started
    problems = [part.reason] if part.reason else []
    for row in part.instances:
        key = key_of(name, row.prompt, row.all_params)
        if key in ids_by_key:
            problems.append(
                f"{row.id} repeats {ids_by_key[key]}, so another item is drawn instead"
            )
        ids_by_key.setdefault(key, row.id)
    judging = max(judging_seconds(part), default=0.0)
    task = part.planned.task
    limit = task.seconds
    if judging > limit:
        problems.append(
            f"grading a right answer took {judging:.0f} s; the limit is {limit:.0f} s"
        )
    return RungReport(
        name,
        rung,
        point,
        measures=tuple(ref.measure or 0.0 for ref in part.references),
        floors=tuple(ref.floor for ref in part.references),
        prompt=max((len(row.prompt) for row in part.instances), default=0),
        answer=max((len(ref.answer) for ref in part.references), default=0),
        drawing=drawing,
        judging=judging,
        transfer=transfer_of(part),
        problems=tuple(problems),
    )


def with_trials(
    report: RungReport, further: Draws, draws: int, items: int
) -> RungReport:
    """Return the report with the results of further draws; ``items`` is the size of a rung."""
    trials = further.trials(draws)
    problems = failure_problems(further.task, trials, items)
    return replace(report, trials=trials, problems=(*report.problems, *problems))


def with_shortcuts(
    table: TaskLadder, report: RungReport, further: Draws, fresh: int
) -> RungReport:
    """Return the report with the results of shortcuts on this many of the further items."""
    try:
        results = shortcuts_of(further, fresh, implied=table.implied)
    except ScbenchError as error:
        return replace(report, problems=(*report.problems, str(error)))
    problems = [result.problem for result in results if result.problem]
    return replace(
        report,
        shortcuts=tuple(results),
        problems=(*report.problems, *problems),
    )


def judging_seconds(part: FrozenPoint) -> Iterator[float]:
    """Yield the wall-clock time of grading each correct answer of a point, in seconds."""
    task = part.planned.task
    for row, ref in zip(part.instances, part.references, strict=True):
        params = task.params_model.model_validate_json(row.all_params)
        started = time.perf_counter()
        judge(task, params, json.loads(ref.answer))
        yield time.perf_counter() - started


def failure_problems(task: Task, trials: Trials, items: int) -> Iterator[str]:
    """Yield the problems with the share of failed draws."""
    limit = most_failures(task)
    chance = trials.unfinished(items, limit)
    if chance < MOST_UNFINISHED:
        return
    yield (
        f"{trials.failures} of {trials.attempts} draws failed, so a fresh seed leaves the rung "
        f"incomplete with a probability of up to {chance:.2%}; the limit is {MOST_UNFINISHED:.1%}"
    )


def rung_problems(table: TaskLadder, report: RungReport) -> Iterator[str]:
    """Yield the requirements that a rung on its own does not meet."""
    if report.floor > MOST_FLOOR and not table.room:
        yield f"the mean floor is {report.floor:.2f}; the limit is {MOST_FLOOR}"
    transfer = report.transfer or 0
    if transfer > MOST_TRANSFER:
        yield (
            f"on average, the answer to one item scores {transfer:.2f} above the floor on "
            f"the other items; the limit is {MOST_TRANSFER}"
        )
    capacity = report.trials and report.trials.capacity
    # Without equal pairs, the estimate is only a lower bound.
    if capacity and capacity.alike and capacity.items < table.least_items:
        yield (
            f"only about {capacity.items:,} different items can be drawn; at least "
            f"{table.least_items:,} are needed"
        )


def rise_problems(below: RungReport | None, report: RungReport) -> Iterator[str]:
    """Yield the requirements that a rung does not meet compared with the rung below it."""
    if below is None:
        return
    if report.mean <= below.mean:
        yield f"the mean measure is {report.mean:g}, but on the rung below it is {below.mean:g}"
    chance = math.hypot(report.floor_error, below.floor_error)
    if report.floor > below.floor + MOST_RISE + chance:
        yield f"the mean floor is {report.floor:.2f}, but on the rung below it is {below.floor:.2f}"


def transfer_of(part: FrozenPoint) -> float | None:
    """Return the best mean score above the floors of one correct answer on a rung's other items.

    The answer is carried over to each of them (`Builder.carried_over`). A negative result counts
    as 0. It is None if there are fewer than two items, or if no item has room above its floor.
    """
    task = part.planned.task
    items = items_of(part)
    means = []
    for item in items:
        other_items = [
            candidate
            for candidate in items
            if candidate is not item and candidate.reference.floor < 1
        ]
        scores = scores_above(task, item, other_items)
        if scores:
            means.append(sum(scores) / len(scores))
    return max(means, default=None)


def items_of(part: FrozenPoint) -> list[Item]:
    """Return the items of a rung with their right answers."""
    model = part.planned.task.params_model
    items = []
    for row, ref in zip(part.instances, part.references, strict=True):
        items.append(Item(model.model_validate_json(row.all_params), ref))
    return items


def scores_above(task: Task, source: Item, items: Sequence[Item]) -> list[float]:
    """Return the scores of an item's right answer on other items, each above the item's floor."""
    builder = task.builder()
    ref = source.reference
    answer = task.answer_model.model_validate_json(ref.answer)
    scores = []
    for item in items:
        carried = builder.carried_over(answer, source.params, item.params)
        score = mean_score(task, item.params, ref.name, carried, where=ref.id)
        scores.append(normalized(score, item.reference.floor))
    return scores
