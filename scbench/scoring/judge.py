"""Grading one answer: validate it against the task's schema, then call the task's grader.

Pure: the same (task, params, answer) gives the same verdicts on every machine.
"""

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from scbench.base.errors import Fault, describe_value, items_of, problem_of
from scbench.base.model import Check, Verdict
from scbench.base.wording import counted
from scbench.catalog import Task
from scbench.schemas.shapes import Node, in_words, resolved_schema

# Maximum number of schema errors in a verdict.
_MAX_FAULTS = 5
# Types of pydantic errors whose messages come from the task.
_TASK_ERRORS = {"value_error", "assertion_error"}
# Answers with more values are not validated: a list of the errors in each of millions takes more
# memory than a worker has.
MAX_VALUES = 500_000


def judge(
    task: Task, params: BaseModel, answer: JsonValue, size: int = 0
) -> tuple[Verdict, ...]:
    """Return one verdict for each score of the task; the answer may be any value.

    Raises:
        Exception: whatever a faulty grader raises. A run records it as ``grader_error``.
    """
    model = task.answer_model
    valid = validate(model, answer, size)
    if isinstance(valid, Check):
        return (Verdict(0.0, (valid,)),) * task.scores
    result = task.grade(params, valid)
    verdicts = result if isinstance(result, tuple) else (result,)
    are_verdicts = all(isinstance(verdict, Verdict) for verdict in verdicts)
    if len(verdicts) != task.scores or not are_verdicts:
        kinds = ", ".join(type(verdict).__name__ for verdict in verdicts[:_MAX_FAULTS])
        raise TypeError(
            f"{task.id} must return {counted(task.scores, 'verdict')}, not ({kinds})"
        )
    unknown_keys = (
        answer.keys() - model.model_fields if isinstance(answer, dict) else ()
    )
    if not unknown_keys:
        return verdicts
    names = ", ".join(repr(key[:40]) for key in sorted(unknown_keys)[:_MAX_FAULTS])
    note = f"ignored {counted(len(unknown_keys), 'unknown key')}: {names}"
    return tuple(replace(verdict, notes=(*verdict.notes, note)) for verdict in verdicts)


def validate(
    model: type[BaseModel], answer: JsonValue, size: int = 0
) -> BaseModel | Check:
    """Return an answer as its task's model, or the check that it fails.

    Args:
        model: the task's `Task.answer_model`.
        answer: any value.
        size: minimum number of characters or bytes that the answer was read from. A
            value needs at least two, so the values of a short answer need not be
            counted; 0 skips counting.
    """
    if size > 2 * MAX_VALUES:
        too_large = size_check(answer)
        if too_large:
            return too_large
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        return schema_check(error, answer, model)


def size_check(answer: JsonValue) -> Check | None:
    """Return the failed check ``resource_limit`` of an answer with over `MAX_VALUES` values."""
    count = 1
    waiting = [answer]
    while waiting and count <= MAX_VALUES:
        value = waiting.pop()
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            count += len(value)
            waiting += value
    if count <= MAX_VALUES:
        return None
    message = (
        f"The answer contains more than {MAX_VALUES:,} values, so it was not checked."
    )
    return Check("resource_limit", False, message)


def schema_check(
    error: ValidationError, answer: JsonValue, model: type[BaseModel]
) -> Check:
    """Return the failed check ``answer_schema``, with the errors in the answer's shape."""
    schema = resolved_schema(model)
    # Several errors may be at one place, and the last one counts.
    by_place: dict[str, ErrorDetails] = {}
    for item in items_of(error):
        by_place[place_of(item, answer, schema).at] = item
    count = len(by_place)
    # An answer may have hundreds of thousands of errors, and describing one takes long.
    described = islice(by_place.values(), _MAX_FAULTS)
    faults = [schema_fault(item, answer, schema) for item in described]
    text = "; ".join(map(str, faults))
    omitted = f" (and {count - _MAX_FAULTS} more)" if count > _MAX_FAULTS else ""
    hint = ""
    if isinstance(answer, str):
        hint = " Put a model's text in response, not in answer."
    message = f"The answer does not have the required form: {text}{omitted}.{hint}"
    places = [fault._asdict() for fault in faults]
    return Check("answer_schema", False, message, {"count": count, "errors": places})


class Place(NamedTuple):
    """The place of an error in an answer: a value, or a whole row of a fixed number of values."""

    at: str
    value: JsonValue
    schema: Node
    is_missing: bool = False


def place_of(item: ErrorDetails, answer: JsonValue, schema: Node) -> Place:
    """Return the place of an error in terms of the published schema.

    pydantic's places go further: to a member of a row of a fixed number of values, or to one of
    several types.
    """
    at: list[str] = []
    for step in item["loc"]:
        if isinstance(answer, dict) and step in schema.get("properties", ()):
            at.append(str(step))
            if step not in answer:
                return Place(".".join(at), None, schema, is_missing=True)
            answer = answer[str(step)]
            schema = schema["properties"][step]
        elif isinstance(answer, list) and isinstance(step, int):
            if is_fixed_row(schema):
                break
            at.append(str(step))
            answer = answer[step]
            schema = schema.get("items", {})
        else:
            break
    return Place(".".join(at), answer, schema)


def schema_fault(item: ErrorDetails, answer: JsonValue, schema: Node) -> Fault:
    """Return an error in terms of the published schema, with the place and the value."""
    place = place_of(item, answer, schema)
    if place.is_missing:
        return Fault(place.at, "is missing")
    if item["type"] in _TASK_ERRORS or not place.schema:
        return Fault(place.at, problem_of(item))
    value = describe_value(place.value)
    return Fault(place.at, f"must be {in_words(place.schema)}; got {value}")


def is_fixed_row(schema: Node) -> bool:
    """Whether a schema describes an array with a fixed number of plain values."""
    size = schema.get("minItems")
    if size is None or size != schema.get("maxItems"):
        return False
    return schema.get("items", {}).get("type") not in {"array", "object"}
