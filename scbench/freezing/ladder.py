"""The ladder: rungs of rising difficulty for each task, read from ``builders/ladder.toml``.

A ladder is an experiment in which each point has a number, its rung. So the code that draws,
resumes, freezes and verifies experiments works for ladders, too.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StrictInt,
    StrictStr,
    ValidationError,
)

from scbench.base.canonical import canonical_json
from scbench.base.errors import (
    CatalogError,
    ExperimentError,
    Fault,
    did_you_mean,
    faults_of,
)
from scbench.catalog import Task, all_tasks, get_task
from scbench.freezing.experiment import Experiment, experiment_of, points_of, read_as

# Prompts and right answers must have fewer characters, because a ladder does not
# measure patience.
MOST_PROMPT = 60_000
MOST_ANSWER = 40_000
# Maximum number of a table's faults in a message.
_MOST_FAULTS = 20
# Keys of a table that are not tasks.
_SETTINGS = {"seed", "count"}
# Names that experiments use for something other than parameters.
_RESERVED = ("id", "count", "rung", "grid")

# Parameters of a task's space; the rest have their defaults.
Rung = dict[str, JsonValue]


class TaskLadder(BaseModel):
    """The rungs of a task."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: StrictStr = Field(
        min_length=1, description="name of the measure (`Builder.measure`)"
    )
    words: StrictStr = Field(min_length=1, description="why higher rungs are harder")
    small: StrictStr = Field(
        default="",
        description="why a rung has fewer than 10,000 items, but at least 1,000",
    )
    room: StrictStr = Field(
        default="",
        description="why floors exceed 0.6, which makes the weight small",
    )
    implied: dict[str, StrictStr] = Field(
        default={},
        description=(
            "item parameters that a right answer does not need, each with the reason; `shortcuts` "
            "hides the other parameters"
        ),
    )
    rungs: tuple[Rung, ...] = Field(
        min_length=1, description="rungs in a release, easiest first"
    )
    beyond: tuple[Rung, ...] = Field(
        default=(),
        description="rungs beyond the top, which are drawn only on request",
    )

    @property
    def least_items(self) -> int:
        """Minimum number of different items on each rung."""
        return 1_000 if self.small else 10_000

    @property
    def all_rungs(self) -> tuple[Rung, ...]:
        """All rungs, including those beyond the top, easiest first."""
        return self.rungs + self.beyond


class Ladder(BaseModel):
    """A table of rungs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: StrictInt = Field(ge=0, description="base seed of the published ladder")
    count: StrictInt = Field(
        default=6, ge=1, le=1000, description="number of instances on each rung"
    )
    tasks: dict[str, TaskLadder] = Field(min_length=1)

    def experiment(
        self,
        *,
        seed: int | None = None,
        private: bool = False,
        tasks: Collection[str] | None = None,
        rung: int | None = None,
        count: int | None = None,
    ) -> Experiment:
        """Return the experiment that draws the ladder, some of its tasks, or one rung.

        Args:
            seed: base seed; by default the table's, or none yet if it is private.
            private: whether the seed is kept out of all files.
            tasks: ids; by default all.
            rung: the only rung to draw, which may be beyond those of releases; by
                default all rungs of releases.
            count: instances on each rung; by default the table's.

        Raises:
            ExperimentError: the table has no such task or rung.
        """
        for name in tasks or ():
            if name not in self.tasks:
                raise ExperimentError(
                    f"the ladder has no task {name!r}.{did_you_mean(name, self.tasks)}"
                )
        names = [name for name in self.tasks if tasks is None or name in tasks]
        if rung is not None:
            self._check_rung(rung, names)
        # A private ladder must not fall back on the published seed.
        if seed is None and not private:
            seed = self.seed
        blocks = []
        for name in names:
            task_ladder = self.tasks[name]
            points = task_ladder.rungs if rung is None else task_ladder.all_rungs
            for number, point in enumerate(points, 1):
                if rung is None or rung == number:
                    block = {"id": name, "count": count or self.count, "rung": number}
                    blocks.append({**block, **point})
        return experiment_of(
            {
                "seed": seed,
                "private": private,
                "measures": {name: self.tasks[name].measure for name in names},
                "task": blocks,
            }
        )

    def _check_rung(self, rung: int, names: Collection[str]) -> None:
        short = []
        for name in names:
            top = len(self.tasks[name].all_rungs)
            if rung > top:
                # The message names all tasks whose ladders are too short.
                short.append(f"{name} ends at rung {top}")
        if short or rung < 1:
            reason = "; ".join(short) if short else "rungs start at 1"
            raise ExperimentError(
                f"there is no rung {rung}: {reason}. To add more, extend the table's list "
                "`beyond`"
            )


@cache
def ladder() -> Ladder:
    """Return the ladder of this package.

    Raises:
        ExperimentError: the table of the ladder is wrong.
    """
    table = files("scbench.builders").joinpath("ladder.toml")
    return parse_ladder(table.read_text("utf-8"))


def own_ladder(tasks: Collection[Task] | None = None) -> Experiment | None:
    """Return the experiment that draws this package's ladder, for these tasks or all.

    It is None if none of the tasks is on the ladder.
    """
    names = list(ladder().tasks)
    if tasks is not None:
        ids = [task.id for task in tasks]
        names = [name for name in names if name in ids]
    return ladder().experiment(tasks=names) if names else None


def oversized(prompt: str, answer: str) -> str:
    """Return why an instance with its correct answer is too long for a ladder; empty if it fits."""
    for part, text, limit in (
        ("prompt", prompt, MOST_PROMPT),
        ("answer", answer, MOST_ANSWER),
    ):
        if len(text) >= limit:
            return (
                f"its {part} has {len(text):,} characters; on a ladder it must have fewer "
                f"than {limit:,}"
            )
    return ""


def read_ladder(path: Path) -> Ladder:
    """Read a table of rungs.

    Raises:
        ExperimentError: the file cannot be read; see also `parse_ladder`.
    """
    return read_as(path, parse_ladder)


def parse_ladder(text: str) -> Ladder:
    """Return the ladder of a TOML text: seed, count, and a table for each task.

    Raises:
        ExperimentError: with a line for each fault, which names task and rung.
    """
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"this is not valid TOML: {error}") from None
    settings: dict[str, Any] = {}
    tasks: dict[str, Any] = {}
    for name, value in values.items():
        if name in _SETTINGS:
            settings[name] = value
        else:
            tasks[name] = value
    # In the order of the benchmark's tables, regardless of the order in the file.
    order = list(all_tasks())
    ids = sorted(
        tasks, key=lambda name: order.index(name) if name in order else len(order)
    )
    settings["tasks"] = {name: tasks[name] for name in ids}
    try:
        table = Ladder.model_validate(settings)
    except ValidationError as error:
        lines = [fault_text(fault) for fault in faults_of(error, _MOST_FAULTS)]
        raise ExperimentError("\n".join(lines)) from None
    problems: list[str] = []
    for name, task_ladder in table.tasks.items():
        problems += ladder_problems(name, task_ladder)
    if problems:
        raise ExperimentError("\n".join(problems))
    return table


def fault_text(fault: Fault) -> str:
    """Return a fault as text, with rungs numbered from 1."""
    task, *path = fault.at.removeprefix("tasks.").split(".")
    # The path continues with the list, "rungs" or "beyond", and the index of the rung in it.
    if len(path) > 1 and path[1].isdecimal():
        path = [f"{path[0]}, entry {int(path[1]) + 1}", *path[2:]]
    return str(Fault(": ".join([task, *path]), fault.problem))


def ladder_problems(name: str, task_ladder: TaskLadder) -> Iterator[str]:
    """Yield the faults in the parameters of a task's rungs."""
    try:
        task = get_task(name)
    except CatalogError as error:
        yield str(error)
        return
    numbers: dict[str, int] = {}
    for number, rung in enumerate(task_ladder.all_rungs, 1):
        at = f"{name}, rung {number}: "
        try:
            # The space checks names and bounds.
            (point,) = points_of(task, rung_parameters(rung), {})
        except ExperimentError as error:
            yield from (at + line for line in str(error).splitlines())
            continue
        text = canonical_json(point.model_dump(mode="json"))
        if text in numbers:
            yield f"{at}is the same point as rung {numbers[text]}"
        numbers.setdefault(text, number)


def rung_parameters(rung: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a rung.

    Raises:
        ExperimentError: a parameter has a reserved name.
    """
    for name in _RESERVED:
        if name in rung:
            raise ExperimentError(f"{name!r} is not a parameter of a rung")
    return dict(rung)
