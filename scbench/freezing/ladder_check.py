"""Whether the rungs of a table hold what a ladder promises: drawn, solved, judged and measured."""

import json
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from scbench.base.errors import ScbenchError
from scbench.freezing.fresh import FrozenPoint, key_of, run
from scbench.freezing.ladder import Ladder
from scbench.scoring.judge import judge


@dataclass(frozen=True, slots=True)
class RungReport:
    """What was found of a rung: of each instance its measure and floor; problems, a sentence each.

    The longest prompt and right answer are counted in characters. Drawing all of it, with solving
    and judging, is in seconds, as is the slowest verdict on a right answer.
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
    problems: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Mean of the measures."""
        return sum(self.measures) / len(self.measures)


def check_ladder(
    ladder: Ladder,
    tasks: Collection[str] | None = None,
    *,
    count: int | None = None,
    rung: int | None = None,
    rising: bool = True,
) -> Iterator[RungReport]:
    """Draw the rungs of a table, those beyond a release's included, and yield what is found.

    A right answer must score 1 within its task's limit, prompts and answers must be short enough,
    all instances differ, and the measure rise in the mean from rung to rung, which single instances
    may not. Tasks, count and rung are all those of the table by default.

    Raises:
        ExperimentError: the table has no such task or rung.
    """
    for name in ladder.experiment(tasks=tasks).task_ids:
        before = float("-inf")
        ids_by_key: dict[str, str] = {}
        for number, point in enumerate(ladder.tasks[name].all_rungs, 1):
            if rung not in {None, number}:
                continue
            report = _check_rung(ladder, name, number, point, count, ids_by_key, before)
            yield report
            if rising and report.measures:
                before = report.mean


def _check_rung(
    ladder: Ladder,
    name: str,
    rung: int,
    point: dict[str, JsonValue],
    count: int | None,
    ids_by_key: dict[str, str],
    before: float,
) -> RungReport:
    experiment = ladder.experiment(tasks=[name], rung=rung, count=count)
    started = time.perf_counter()
    try:
        (part,) = run(experiment, distinct=False)
    except (ScbenchError, NotImplementedError) as error:
        return RungReport(name, rung, point, problems=(str(error),))
    drawing = time.perf_counter() - started
    problems = [part.reason] if part.reason else []
    for row in part.instances:
        key = key_of(name, row.prompt, row.all_params)
        if key in ids_by_key:
            problems.append(
                f"{row.id} is {ids_by_key[key]} again, so another is drawn in its place"
            )
        ids_by_key.setdefault(key, row.id)
    measures = tuple(ref.measure or 0.0 for ref in part.references)
    mean = sum(measures) / max(len(measures), 1)
    if mean <= before:
        problems.append(f"the measure is {mean:g} in the mean, and {before:g} on the rung below")
    judging = max(_seconds(part), default=0.0)
    limit = part.planned.task.seconds
    if judging > limit:
        problems.append(f"a right answer was judged in {judging:.0f} s; the limit is {limit:.0f} s")
    return RungReport(
        name,
        rung,
        point,
        measures,
        tuple(ref.floor for ref in part.references),
        max((len(row.prompt) for row in part.instances), default=0),
        max((len(ref.answer) for ref in part.references), default=0),
        drawing,
        judging,
        tuple(problems),
    )


def _seconds(part: FrozenPoint) -> Iterator[float]:
    task = part.planned.task
    for row, ref in zip(part.instances, part.references, strict=True):
        params = task.params_model.model_validate_json(row.all_params)
        started = time.perf_counter()
        judge(task, params, json.loads(ref.answer))
        yield time.perf_counter() - started
