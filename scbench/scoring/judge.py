"""Judging one answer: validate it against the task's schema, then ask the task's grader.

Pure: the same (task, params, answer) gives the same verdicts on every machine.
"""

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from scbench.base.errors import Fault, describe_value, items_of, problem_of
from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.schemas.shapes import Node, in_words, resolved_schema

# How many schema errors a verdict spells out.
_MAX_FAULTS = 5
# Faults whose words are those of the task.
_OWN_WORDS = {"value_error", "assertion_error"}
# Answers that hold more values are not looked at: to list what is wrong with each of
# millions takes more memory than a worker has.
MAX_VALUES = 500_000


def judge(
    task: Task, params: BaseModel, answer: JsonValue, size: int = 0
) -> tuple[Verdict, ...]:
    """Return one verdict for each score of the task, on an answer that may be anything at all.

    Raises:
        Exception: whatever a faulty grader raises. A run records it as ``grader_error``.
    """
    model = task.answer_model
    valid = validate(model, answer, size)
    if isinstance(valid, Check):
        return (Verdict(0.0, (valid,)),) * task.scores
    result = task.grade(params, valid)
    verdicts = result if isinstance(result, tuple) else (result,)
    if len(verdicts) != task.scores or not all(
        isinstance(v, Verdict) for v in verdicts
    ):
        kinds = ", ".join(type(verdict).__name__ for verdict in verdicts[:_MAX_FAULTS])
        raise TypeError(f"{task.id} must give {task.scores} verdicts, gave ({kinds})")
    extra = answer.keys() - model.model_fields if isinstance(answer, dict) else ()
    if not extra:
        return verdicts
    extra_names = ", ".join(repr(key[:40]) for key in sorted(extra)[:_MAX_FAULTS])
    note = f"ignored {len(extra)} unknown key{'s' * (len(extra) > 1)}: {extra_names}"
    return tuple(
        Verdict(v.score, v.checks, v.metrics, (*v.notes, note)) for v in verdicts
    )


def validate(
    model: type[BaseModel], answer: JsonValue, size: int = 0
) -> BaseModel | Check:
    """Return an answer as its task's model, or the check that it fails.

    Args:
        model: the task's `Task.answer_model`.
        answer: anything at all.
        size: characters or bytes that the answer was read from, at least. A value takes two, so
            that the values of a short answer need not be counted; 0 counts none.
    """
    if size > 2 * MAX_VALUES and (too_large := size_check(answer)):
        return too_large
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        return schema_check(error, answer, model)


def size_check(answer: JsonValue) -> Check | None:
    """Return the failed check ``resource_limit`` if an answer holds more than `MAX_VALUES`."""
    count = 1
    waiting = [answer]
    while waiting and count <= MAX_VALUES:
        value = waiting.pop()
        if isinstance(value, list | dict):
            count += len(value)
            waiting.extend(value.values() if isinstance(value, dict) else value)
    if count <= MAX_VALUES:
        return None
    message = f"The answer holds more than {MAX_VALUES:,} values; it was not looked at."
    return Check("resource_limit", False, message)


def schema_check(
    error: ValidationError, answer: JsonValue, model: type[BaseModel]
) -> Check:
    """Say in one sentence what is wrong with the answer's shape, place by place."""
    schema = resolved_schema(model)
    listing = (_schema_fault(item, answer, schema) for item in items_of(error))
    by_place = {fault.at: fault for fault in listing}
    faults, count = list(by_place.values())[:_MAX_FAULTS], len(by_place)
    text = "; ".join(map(str, faults))
    omitted = f" (and {count - _MAX_FAULTS} more)" if count > _MAX_FAULTS else ""
    hint = (
        " A model's text belongs in response, not in answer."
        if isinstance(answer, str)
        else ""
    )
    message = f"The answer does not have the asked-for shape: {text}{omitted}.{hint}"
    places = [fault._asdict() for fault in faults]
    return Check("answer_schema", False, message, {"count": count, "errors": places})


def _schema_fault(item: ErrorDetails, answer: JsonValue, schema: Node) -> Fault:
    """Say what a place must be by the published schema, and what is there instead.

    A place is a value, or a whole row of a fixed number of values; which member of it, or which
    kind it could have been, is no place.
    """
    at: list[str] = []
    for step in item["loc"]:
        if isinstance(answer, dict) and step in schema.get("properties", ()):
            at.append(str(step))
            if step not in answer:
                return Fault(".".join(at), "is missing")
            answer, schema = answer[str(step)], schema["properties"][step]
        elif (
            isinstance(answer, list)
            and isinstance(step, int)
            and not _is_fixed_row(schema)
        ):
            at.append(str(step))
            answer, schema = answer[step], schema.get("items", {})
        else:
            break
    if item["type"] in _OWN_WORDS or not schema:
        return Fault(".".join(at), problem_of(item))
    return Fault(
        ".".join(at), f"must be {in_words(schema)}; got {describe_value(answer)}"
    )


def _is_fixed_row(schema: Node) -> bool:
    """Whether an array holds a fixed number of plain values."""
    size = schema.get("minItems")
    return (
        size is not None
        and size == schema.get("maxItems")
        and schema.get("items", {}).get("type") not in {"array", "object"}
    )
