"""Judging one answer: validate it against the task's schema, then ask the task's grader.

Pure: the same (task, params, answer) gives the same verdicts on every machine.
"""

from collections import deque
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import SchemaValidator

from scbench.catalog import Task
from scbench.model import Check, Verdict

_SHOWN = 5
"""How many schema errors a verdict spells out."""
_ALL_FAULTS = 10_000
"""Up to so many values every fault of an answer's shape is counted; beyond, only the first."""


def judge(task: Task, params: BaseModel, answer: JsonValue) -> tuple[Verdict, ...]:
    """Return one verdict for each score of the task.

    Args:
        task: the task.
        params: the instance's parameters, of the task's `Task.params_model`.
        answer: what the model gave, as JSON; anything at all.

    Raises:
        Exception: whatever a faulty grader raises. The engine records it as ``grader_error``.
    """
    valid = validate(task.answer_model, answer)
    if isinstance(valid, Check):
        return (Verdict(0.0, (valid,)),) * task.scores
    given = task.grade(params, valid)
    verdicts = given if isinstance(given, tuple) else (given,)
    if len(verdicts) != task.scores or not all(isinstance(v, Verdict) for v in verdicts):
        kinds = ", ".join(type(verdict).__name__ for verdict in verdicts[:_SHOWN])
        raise TypeError(f"{task.id} must give {task.scores} verdicts, gave ({kinds})")
    extra = sorted(answer.keys() - task.answer_model.model_fields) if isinstance(answer, dict) else []
    if not extra:
        return verdicts
    shown = ", ".join(repr(key[:40]) for key in extra[:_SHOWN])
    note = f"ignored {len(extra)} unknown key{'s' * (len(extra) > 1)}: {shown}"
    return tuple(Verdict(v.score, v.checks, v.metrics, (*v.notes, note)) for v in verdicts)


def validate(model: type[BaseModel], answer: JsonValue) -> BaseModel | Check:
    """Return an answer as its task's model, or the failed check ``answer_schema``.

    A long answer is looked at up to its first fault: a list of millions of faults, one for each
    wrong value, needs more memory than a worker has.
    """
    try:
        if _is_long(answer):
            return _first_fault(model).validate_python(answer)  # type: ignore[no-any-return]
        return model.model_validate(answer)
    except ValidationError as error:
        return _schema_check(error, answer)


def _is_long(answer: JsonValue) -> bool:
    count = 1
    waiting = deque([answer])
    while waiting and count <= _ALL_FAULTS:
        value = waiting.popleft()
        if isinstance(value, list | dict):
            count += len(value)
            if count <= _ALL_FAULTS:
                waiting.extend(value.values() if isinstance(value, dict) else value)
    return count > _ALL_FAULTS


@lru_cache(maxsize=64)
def _first_fault(model: type[BaseModel]) -> SchemaValidator:
    """Return a model's validator that leaves every list at its first fault."""
    return SchemaValidator(_failing_fast(model.__pydantic_core_schema__))


def _failing_fast(schema: Any) -> Any:  # noqa: ANN401  (a schema is nested dicts of anything)
    if isinstance(schema, list | tuple):
        return type(schema)(map(_failing_fast, schema))
    if not isinstance(schema, dict):
        return schema
    fast = {key: _failing_fast(value) for key, value in schema.items()}
    return fast | {"fail_fast": True} if schema.get("type") in {"list", "tuple"} else fast


def _schema_check(error: ValidationError, answer: JsonValue) -> Check:
    """Say in one sentence what is wrong with the answer's shape, place by place."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    places = [
        {"at": ".".join(str(part) for part in item["loc"])[:200], "problem": item["msg"][:200]}
        for item in errors[:_SHOWN]
    ]
    listed = "; ".join(f"{p['at']}: {p['problem']}" if p["at"] else p["problem"] for p in places)
    more = f" (and {len(errors) - _SHOWN} more)" if len(errors) > _SHOWN else ""
    hint = " A model's text belongs in response, not in answer." if isinstance(answer, str) else ""
    message = f"The answer does not have the asked-for shape: {listed}{more}.{hint}"
    return Check("answer_schema", False, message, {"count": len(errors), "errors": places})
