"""Whether the rungs of a table hold what a ladder promises: drawn, solved, judged and measured."""

import json
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import ScbenchError
from scbench.base.seeding import Stream
from scbench.catalog import Task, get_task
from scbench.freezing.fresh import FrozenPoint, key_of, run
from scbench.freezing.frozen_task import mean_score
from scbench.freezing.ladder import Ladder
from scbench.release.load import Reference
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import normalized

MOST_FLOOR, MOST_RISE, MOST_TRANSFER = 0.6, 0.03, 0.5
"""Bounds on a rung's mean floor, on its rise from rung to rung, and on the transfer."""
# Items drawn to tell the capacity: with no two alike it is 10,000 or more, 19 times of
# 20.
DRAWS = 250


class Capacity(NamedTuple):
    """How many pairs of items drawn at a rung there were, and how many of them were alike."""

    pairs: int
    alike: int

    @property
    def items(self) -> int:
        """How many different items there are; where no two are alike the least, at 95 %."""
        # Twins are as rare as exp(-pairs / items), which is 5 % where the items are a third.
        return self.pairs // (self.alike or 3)

    def __str__(self) -> str:
        return f"{'' if self.alike else '>'}{self.items}"


@dataclass(frozen=True, slots=True)
class RungReport:
    """What was found of a rung: of each instance its measure and floor; problems, a sentence each.

    The longest prompt and right answer are counted in characters. Drawing all of it, with solving
    and judging, is in seconds, as is the slowest verdict on a right answer. Transfer is what the
    best right answer scores in the mean on the rung's other items above their floors; None if none
    has room above it.
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
    capacity: Capacity | None = None
    problems: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """Mean of the measures."""
        return sum(self.measures) / len(self.measures)

    @property
    def floor(self) -> float:
        """Mean of the floors."""
        return sum(self.floors) / len(self.floors)


def check_ladder(
    ladder: Ladder,
    tasks: Collection[str] | None = None,
    *,
    count: int | None = None,
    rung: int | None = None,
    rising: bool = True,
    draws: int = 0,
) -> Iterator[RungReport]:
    """Draw the rungs of a table, those beyond a release's included, and yield what is found.

    A right answer must score 1 within its task's limit, prompts and answers must be short enough,
    all instances differ, and the measure rise in the mean from rung to rung; there must be room
    above the floors, which do not rise, and no answer that is right on most of a rung. A few
    instances of a rung may not show that; they need not if nothing is to rise. Tasks, count and
    rung are all those of the table by default. The capacity is told from some draws more, which are
    not solved.

    Raises:
        ExperimentError: the table has no such task or rung.
    """
    for name in ladder.experiment(tasks=tasks).task_ids:
        before: RungReport | None = None
        ids_by_key: dict[str, str] = {}
        for number, point in enumerate(ladder.tasks[name].all_rungs, 1):
            if rung not in {None, number}:
                continue
            report = _check_rung(ladder, name, number, point, count, ids_by_key, draws)
            if report.measures:
                checks = (
                    [*_promises(ladder, report), *_slopes(before, report)]
                    if rising
                    else []
                )
                report = replace(report, problems=(*report.problems, *checks))
                before = report
            yield report


def _promises(ladder: Ladder, report: RungReport) -> Iterator[str]:
    """Yield what a rung lacks that each of them must have."""
    table = ladder.tasks[report.task]
    if report.floor > MOST_FLOOR and not table.room:
        yield f"the floor is {report.floor:.2f} in the mean; {MOST_FLOOR} is the most"
    if (report.transfer or 0) > MOST_TRANSFER:
        yield (
            f"the answer to one item scores {report.transfer:.2f} in the mean on the others above "
            f"their floors; {MOST_TRANSFER} is the most"
        )
    if (
        report.capacity
        and report.capacity.alike
        and report.capacity.items < table.least_items
    ):
        yield (
            f"some {report.capacity.items:,} different items can be drawn; "
            f"{table.least_items:,} is the least"
        )


def _slopes(before: RungReport | None, report: RungReport) -> Iterator[str]:
    """Yield what does not go on from the rung below as it must."""
    if before is None:
        return
    if report.mean <= before.mean:
        yield f"the measure is {report.mean:g} in the mean, and {before.mean:g} on the rung below"
    if report.floor > before.floor + MOST_RISE:
        yield f"the floor is {report.floor:.2f} in the mean, but {before.floor:.2f} a rung below"


def _check_rung(
    ladder: Ladder,
    name: str,
    rung: int,
    point: dict[str, JsonValue],
    count: int | None,
    ids_by_key: dict[str, str],
    draws: int,
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
    judging = max(_seconds(part), default=0.0)
    limit = part.planned.task.seconds
    if judging > limit:
        problems.append(
            f"a right answer was judged in {judging:.0f} s; the limit is {limit:.0f} s"
        )
    return RungReport(
        name,
        rung,
        point,
        tuple(ref.measure or 0.0 for ref in part.references),
        tuple(ref.floor for ref in part.references),
        max((len(row.prompt) for row in part.instances), default=0),
        max((len(ref.answer) for ref in part.references), default=0),
        drawing,
        judging,
        transfer_of(part),
        capacity_of(get_task(name), point, draws) if draws else None,
        tuple(problems),
    )


def transfer_of(part: FrozenPoint) -> float | None:
    """Return the best mean that a right answer has on a rung's other items above their floors.

    A negative result counts as 0. It is None if there are no two items, or none with room.
    """
    task, items = part.planned.task, items_with_room(part)
    means = []
    for ref in part.references:
        above = scores_above(
            task, ref, [item for item in items if item[1].id != ref.id]
        )
        means += [sum(above) / len(above)] if above else []
    return max(means, default=None)


def items_with_room(part: FrozenPoint) -> list[tuple[BaseModel, Reference]]:
    """Return the items of a rung that have room above their floors: parameters and right answer."""
    read = part.planned.task.params_model.model_validate_json
    pairs = zip(part.instances, part.references, strict=True)
    return [(read(row.all_params), ref) for row, ref in pairs if ref.floor < 1]


def scores_above(
    task: Task, ref: Reference, items: Sequence[tuple[BaseModel, Reference]]
) -> list[float]:
    """Return what a right answer scores on other items, above the floor of each."""
    answer = json.loads(ref.answer)
    return [
        normalized(
            mean_score(task, params, ref.name, answer, where=ref.id), other.floor
        )
        for params, other in items
    ]


def capacity_of(
    task: Task, point: Mapping[str, JsonValue], draws: int = DRAWS
) -> Capacity:
    """Return how often items that are drawn at a point, and not solved, are alike."""
    builder = task.builder()
    space = builder.space.model_validate(point)
    rng = Stream("capacity", task.id, builder.version, space.model_dump(mode="json"))
    seen: Counter[str] = Counter()
    failed = 0
    while seen.total() < draws and failed < draws:
        try:
            params = builder.draw(space, Stream("capacity", rng.getrandbits(63)))
        except ScbenchError:
            failed += 1
            continue
        seen[
            key_of(
                task.id, builder.prompt(params), canonical_json(builder.as_json(params))
            )
        ] += 1
    n = seen.total()
    return Capacity(n * (n - 1) // 2, sum(k * (k - 1) // 2 for k in seen.values()))


def _seconds(part: FrozenPoint) -> Iterator[float]:
    task = part.planned.task
    for row, ref in zip(part.instances, part.references, strict=True):
        params = task.params_model.model_validate_json(row.all_params)
        started = time.perf_counter()
        judge(task, params, json.loads(ref.answer))
        yield time.perf_counter() - started
