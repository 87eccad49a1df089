"""Experiments: the tasks, points and numbers of cases to generate, read from a TOML file.

::

    seed = 7                 # the base seed; everything follows from it
    private = false          # true: the seed is not written to any file

    [[task]]
    id = "arithmetic"
    count = 20               # cases at each point
    division = true          # a parameter
    grid = { length = [4, 8, 16], max_depth = [0, 2] }   # six points

    [[task]]
    id = "delaunay_triangulation"
    count = 5
    points = 30

Other parameters have their defaults. ``scbench tasks TASK`` lists them with their
bounds.
"""

import json
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from scbench.base.canonical import canonical_json, content_hash
from scbench.base.errors import (
    CatalogError,
    ExperimentError,
    Fault,
    did_you_mean,
    items_of,
    printable,
    problem_of,
)
from scbench.builders.shared.builder import Point
from scbench.catalog import Task, get_task
from scbench.machine.files import read_regular
from scbench.release.manifest import ExperimentRecord, ShortfallRecord

# Experiments beyond these are refused; several smaller ones can be drawn.
MOST_POINTS = 100_000
MOST_CASES = 1_000_000
# Maximum characters of a name in a message.
_NAME_LENGTH = 200

T = TypeVar("T")


class Block(BaseModel):
    """A task with one point or a grid. All other keys are parameters of the task."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(description="id of the task")
    count: StrictInt = Field(
        default=1, ge=1, le=MOST_CASES, description="number of items at each point"
    )
    rung: StrictInt | None = Field(
        default=None,
        ge=1,
        le=9999,
        description="rung of the ladder that the point belongs to",
    )
    grid: dict[str, list[JsonValue]] = Field(
        default_factory=dict,
        description="several values of one or more parameters",
    )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values of parameters that all points of the block share."""
        return self.model_extra or {}

    def record(self) -> dict[str, JsonValue]:
        """Return the block as manifests record it."""
        record: dict[str, Any] = {"id": self.id, "count": self.count}
        if self.rung is not None:
            record["rung"] = self.rung
        record |= self.parameters
        if self.grid:
            record["grid"] = self.grid
        # The command line gives tuples, which manifests store as lists.
        values: dict[str, JsonValue] = json.loads(json.dumps(record, allow_nan=False))
        return values


class Experiment(BaseModel):
    """Everything that determines the drawn cases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: StrictInt | None = Field(default=None, ge=0, description="base seed")
    private: StrictBool = Field(
        default=False,
        description="whether the base seed is left out of all files",
    )
    measures: dict[str, str] = Field(
        default_factory=dict,
        description=(
            "for a ladder, whose blocks are rungs: by task, the measure that rises from rung "
            "to rung"
        ),
    )
    task: tuple[Block, ...] = Field(min_length=1, description="blocks to draw")

    @model_validator(mode="after")
    def _check_rungs(self) -> "Experiment":
        for block in self.task:
            if (block.rung is None) == (block.id in self.measures):
                raise ValueError(
                    "a block must have `rung` if its task has a measure, and must not have `rung` "
                    "otherwise"
                )
        if self.measures and {*self.measures} != {*self.task_ids}:
            raise ValueError("a ladder needs a measure for each task")
        return self

    @property
    def task_ids(self) -> list[str]:
        """Ids of the tasks to draw, in order."""
        return list(dict.fromkeys(block.id for block in self.task))

    def only(self, tasks: Collection[str]) -> "Experiment | None":
        """Return the part of the experiment that draws these tasks; None if none is drawn."""
        blocks = tuple(block for block in self.task if block.id in tasks)
        if not blocks:
            return None
        measures = {task: name for task, name in self.measures.items() if task in tasks}
        return self.model_copy(update={"task": blocks, "measures": measures})

    def record(
        self, shortfalls: list[ShortfallRecord], prefix: str = ""
    ) -> ExperimentRecord:
        """Return a manifest's record of the experiment, without a private seed."""
        return ExperimentRecord(
            prefix=prefix,
            # A private seed must not be in any file.
            seed=None if self.private else self.seed,
            tasks=[block.record() for block in self.task],
            measures=self.measures,
            shortfalls=shortfalls,
        )


@dataclass(frozen=True, slots=True)
class Planned:
    """A point of an experiment.

    Attributes:
        index: position of the point in the experiment.
        task: task of the point.
        point: parameters of the point, and the number of cases to draw.
        rung: its rung, if it is on a ladder.
    """

    index: int
    task: Task
    point: Point
    rung: int | None = None

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """Its parameters, without the count."""
        return self.point.model_dump(mode="json", exclude={"count"})


class _BlockPoints(NamedTuple):
    """Points of a block."""

    task: Task
    points: list[Point]


def read_experiment(path: Path) -> Experiment:
    """Read an experiment file.

    Raises:
        ExperimentError: the file cannot be read, is not TOML, or contains unknown
            entries.
    """
    return read_as(path, parse_experiment)


def read_as(path: Path, parse: Callable[[str], T]) -> T:
    """Return the parsed text of a file; each line of an error begins with its path.

    Raises:
        ExperimentError: the file cannot be read, or ``parse`` raises this error.
    """
    try:
        return parse(read_regular(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ExperimentError(f"{path} cannot be read: {reason}") from None
    except ExperimentError as error:
        lines = "\n".join(f"{path}: {line}" for line in str(error).splitlines())
        raise ExperimentError(lines) from None


def manifolds() -> Experiment:
    """Return the experiment behind the config ``manifolds`` of frozen releases."""
    text = files("scbench.builders").joinpath("manifolds.toml").read_text("utf-8")
    return parse_experiment(text)


def parse_experiment(text: str) -> Experiment:
    """Return the experiment of a TOML text.

    Raises:
        ExperimentError: the text is not TOML, or contains unknown entries.
    """
    try:
        value = tomllib.loads(text)
    except ValueError as error:
        raise ExperimentError(f"this is not TOML: {error}") from None
    except RecursionError:
        raise ExperimentError("the TOML is nested too deeply") from None
    return experiment_of(value)


def experiment_of(value: Mapping[str, Any]) -> Experiment:
    """Return the experiment with these contents.

    Raises:
        ExperimentError: with a line for each key that is unknown, missing or wrong.
    """
    try:
        return Experiment.model_validate(value)
    except ValidationError as error:
        raise ExperimentError("\n".join(explain_keys(error))) from None


def explain_keys(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each key of an experiment that is wrong."""
    for item in items_of(error):
        path = item["loc"]
        if not path:
            yield problem_of(item)
        elif item["type"] == "extra_forbidden":
            name = str(path[-1])
            hint = did_you_mean(name, Experiment.model_fields)
            if not hint:
                hint = " Parameters belong in a [[task]] block."
            yield f"unknown key {name[:100]!r}.{hint}"
        elif path == ("task",) and item["type"] == "missing":
            yield "there is no [[task]] block, so there is nothing to generate"
        else:
            # The path is ("task", number of the block, key, ...), or the path of a key
            # at the top level.
            place = f"task {int(path[1]) + 1}: " if len(path) > 2 else ""
            key = ".".join(map(str, path[2:] or path))
            yield f"{place}{key}: {problem_of(item)}"


def plan(experiment: Experiment) -> list[Planned]:
    """Return the points of an experiment, in its order.

    Raises:
        ExperimentError: with a line for each error: unknown tasks and parameters,
            values out of bounds, repeated points, and more items or points than an
            experiment may have.
    """
    planned: list[Planned] = []
    problems: list[str] = []
    cases = 0
    # Number of the block that has a point, by a hash of the point.
    block_numbers: dict[str, int] = {}
    for number, block in enumerate(experiment.task, 1):
        at = f"task {number} ({block.id}): "
        try:
            task, points = block_points(block)
        except (CatalogError, ExperimentError) as error:
            problems += (at + line for line in str(error).splitlines())
            continue
        # Counted even if a point is wrong, so that one message has all problems.
        cases += block.count * len(points)
        for point in points:
            place = Planned(len(planned), task, point, block.rung)
            planned.append(place)
            # Two points with equal parameters would draw the same cases.
            name = content_hash([task.id, place.parameters])
            if name not in block_numbers:
                block_numbers[name] = number
                continue
            earlier = block_numbers[name]
            also = "itself" if earlier == number else f"task {earlier}"
            problems.append(
                f"{at}the point {canonical_json(place.parameters)} is also in {also}; to "
                "get more items, raise count"
            )
    if cases > MOST_CASES or len(planned) > MOST_POINTS:
        problems.append(
            f"the experiment has {cases:,} items at {len(planned):,} points; the limits are "
            f"{MOST_CASES:,} items and {MOST_POINTS:,} points; split the experiment"
        )
    if problems:
        raise ExperimentError("\n".join(problems))
    return planned


def block_points(block: Block) -> _BlockPoints:
    """Return the points of a block.

    Raises:
        CatalogError: there is no such task, or it cannot be graded here.
        ExperimentError: see `points_of`; or there are too many points.
    """
    task = get_task(block.id)
    if not task.available:
        raise CatalogError(
            f"this installation cannot grade {task.id}, so it cannot generate its items"
        )
    # Checked first, because making the points of a huge grid would take all memory.
    size = prod(len(values) for values in block.grid.values())
    if size > MOST_POINTS:
        raise ExperimentError(
            f"a grid of {size:,} points is too large; the limit is {MOST_POINTS:,}"
        )
    points = points_of(task, block.parameters, block.grid, block.count)
    return _BlockPoints(task, points)


def points_of(
    task: Task,
    parameters: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]],
    count: int = 1,
) -> list[Point]:
    """Return the points of a grid; its first parameter changes slowest.

    Args:
        task: the task.
        parameters: values of parameters that all points share.
        grid: values of the other parameters.
        count: cases at each point.

    Raises:
        ExperimentError: with a line for each parameter that is unknown, given twice or out of
            bounds, and for each impossible combination.
    """
    space = task.builder.space
    repeated = sorted(parameters.keys() & grid.keys())
    if repeated:
        raise ExperimentError(
            f"{repeated[0]} has both a single value and a grid; give one of them"
        )
    for name, values in grid.items():
        if not values:
            raise ExperimentError(f"the grid contains no value for {name}")
    points: list[Point] = []
    # A dict keeps the first of equal lines, in order.
    problems: dict[str, None] = {}
    for combination in product(*grid.values()):
        values_at_point = dict(zip(grid, combination, strict=True))
        try:
            point = space(**{**parameters, **values_at_point, "count": count})
        except ValidationError as error:
            problems |= dict.fromkeys(explain(error, task))
        else:
            points.append(point)
    if problems:
        raise ExperimentError("\n".join(problems))
    return points


def explain(error: ValidationError, task: Task) -> list[str]:
    """Return the errors of a point: a message for each parameter, with its bound."""
    lines = []
    for item in items_of(error):
        name = ".".join(map(str, item["loc"]))
        if item["type"] != "extra_forbidden":
            lines.append(str(Fault(name, problem_of(item))))
            continue
        names = parameters_of(task.builder.space)
        hint = did_you_mean(name, names) or f" It has {', '.join(names)}."
        lines.append(
            f"{task.id} has no parameter {printable(name)[:_NAME_LENGTH]!r}.{hint}"
        )
    return lines


def parameters_of(space: type[Point]) -> list[str]:
    """Return the names of a space's parameters, in order."""
    return [name for name in space.model_fields if name != "count"]


def read_parameter(space: type[BaseModel], name: str, text: str) -> Any:  # noqa: ANN401
    """Return the value of a text on the command line, in the parameter's type if possible.

    Lists are written with commas or as JSON, "nothing" as null. Unreadable text is
    returned unchanged, so that the space rejects it.
    """
    field = space.model_fields.get(name)
    if field is None:
        return text
    adapter: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    with suppress(ValidationError):
        return adapter.validate_strings(text)
    guesses: list[JsonValue] = []
    with suppress(ValueError):
        guesses.append(json.loads(text))
    guesses.append([part.strip() for part in text.split(",")])
    # JSON first: a list may contain lists or commas.
    for guess in guesses:
        with suppress(ValidationError):
            return adapter.validate_python(guess)
    # JSON of the wrong type makes a better message than its text.
    return guesses[0] if len(guesses) > 1 else text
