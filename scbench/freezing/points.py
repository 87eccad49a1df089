"""Points of a task's parameter space, from names and values; errors name the parameter."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from scbench.base.errors import (
    ExperimentError,
    Fault,
    did_you_mean,
    items_of,
    printable,
    problem_of,
)
from scbench.builders.shared.builder import Point
from scbench.catalog import Task

_NAME_LENGTH = 200
"""Characters of a value that a message spells out."""


def parameters_of(space: type[Point]) -> list[str]:
    """Return the names of a space's parameters, in order."""
    return [name for name in space.model_fields if name != "count"]


def points_of(
    task: Task, parameters: Mapping[str, Any], grid: Mapping[str, Sequence[Any]], count: int = 1
) -> list[Point]:
    """Return the points of a grid; the first parameter of it changes slowest.

    Args:
        task: whose space it is.
        parameters: values that all points have.
        grid: several values of other parameters.
        count: how many cases to make at each.

    Raises:
        ExperimentError: with a line for each parameter that is unknown, given twice or out of
        bounds,
            and for each combination that cannot be.
    """
    space = task.builder.space
    twice = sorted(parameters.keys() & grid.keys())
    if twice:
        raise ExperimentError(f"{twice[0]} is given as one value and in the grid; give it once")
    empty = [name for name, values in grid.items() if not values]
    if empty:
        raise ExperimentError(f"{empty[0]}: the grid holds no value of it")
    points: list[Point] = []
    problems: dict[str, None] = {}
    for values in product(*grid.values()):
        try:
            points.append(
                space(**{**parameters, **dict(zip(grid, values, strict=True)), "count": count})
            )
        except ValidationError as error:
            problems |= dict.fromkeys(explain(error, task))
    if problems:
        raise ExperimentError("\n".join(problems))
    return points


def explain(error: ValidationError, task: Task) -> list[str]:
    """Return what is wrong with a point, a sentence for each parameter, with its bound."""
    space = task.builder.space
    lines = []
    for item in items_of(error):
        name = ".".join(map(str, item["loc"]))
        if item["type"] == "extra_forbidden":
            names = parameters_of(space)
            hint = did_you_mean(name, names) or f" It has {', '.join(names)}."
            lines.append(f"{task.id} has no parameter {printable(name)[:_NAME_LENGTH]!r}.{hint}")
            continue
        lines.append(str(Fault(name, problem_of(item))))
    return lines


def read_parameter(space: type[BaseModel], name: str, text: str) -> Any:  # noqa: ANN401
    """Return what a value on the command line means: of the parameter's type if it can be read so.

    Lists are written with commas or as JSON, "nothing" as null. What cannot be read is returned as
    it stands, for the space to refuse.
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
    for guess in guesses:
        with suppress(ValidationError):
            return adapter.validate_python(guess)
    return guesses[0] if len(guesses) > 1 else text
