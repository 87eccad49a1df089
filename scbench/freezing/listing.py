"""Descriptions of tasks for people and programs: parameters with bounds, and facts."""

import json
from typing import Any

from scbench.builders.shared.builder import Case, kinds_of
from scbench.catalog import Task
from scbench.freezing.experiment import parameters_of
from scbench.freezing.ladder import ladder
from scbench.schemas.base import json_schema

# Types of JSON Schema without bounds, in words.
_WORDS = {"integer": "a whole number", "number": "a number"}
# Keywords of JSON Schema for bounds, in words and in the order in which they are listed.
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


def describe_task(task: Task) -> dict[str, Any]:
    """Return a task as JSON values: id, bucket, scores, parameters and the facts of its cases."""
    builder = task.builder
    rungs = ladder().tasks.get(task.id)
    kinds = kinds_of(builder.space)
    schema = json_schema(builder.space)
    parameters = []
    for name in parameters_of(builder.space):
        parameter = schema["properties"][name]
        parameters.append(
            {
                "name": name,
                "values": values_of(parameter, schema),
                "default": parameter.get("default"),
                "kind": kinds.get(name),
                "description": parameter.get("description", ""),
            }
        )
    case_fields = json_schema(builder.case_model)["properties"]
    facts = {}
    for name in builder.case_model.model_fields:
        if name not in Case.model_fields:
            facts[name] = case_fields[name].get("description", "")
    return {
        "id": task.id,
        "title": task.title,
        "summary": task.summary,
        "scored": task.scored,
        "bucket": task.bucket,
        "scores": len(builder().paper()) * task.scores,
        "scoring": task.scoring,
        "dimensions": list(task.dimensions),
        "ladder": None if rungs is None else rungs.model_dump(mode="json"),
        "builder_version": builder.version,
        "grader_version": task.grader_version,
        "parameters": parameters,
        "facts": facts,
    }


def values_of(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """Return the values that a JSON Schema allows, in a short form: ``3 to 50``, ``cells, bars``.

    Args:
        schema: schema of a parameter.
        root: the whole schema that contains it, with the definitions.
    """
    if "$ref" in schema:
        definition = schema["$ref"].rpartition("/")[2]
        return values_of(root["$defs"][definition], root)
    if "anyOf" in schema:
        parts = [values_of(part, root) for part in schema["anyOf"]]
        return " or ".join(dict.fromkeys(parts))
    if "enum" in schema:
        return ", ".join(map(plain_value, schema["enum"]))
    if "const" in schema:
        return plain_value(schema["const"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {values_of(schema.get('items', {}), root)}"
    if kind == "boolean":
        return "true, false"
    if kind == "null":
        return "null"
    words = bounds_of(schema)
    if "multipleOf" in schema:
        words.append(f"steps of {plain_value(schema['multipleOf'])}")
    text = ", ".join(words) or _WORDS.get(str(kind), "text")
    # Whole-number bounds would suggest that the parameter does not accept fractions.
    return f"{text} (fractions too)" if kind == "number" else text


def bounds_of(schema: dict[str, Any]) -> list[str]:
    """Return a description of the bounds in a JSON Schema."""
    bounds = {}
    for keyword in _BOUNDS:
        if schema.get(keyword) is not None:
            bounds[keyword] = plain_value(schema[keyword])
    # The common case, in a short form.
    if "minimum" in bounds and "maximum" in bounds:
        return [f"{bounds['minimum']} to {bounds['maximum']}"]
    return [f"{_BOUNDS[keyword]} {bound}" for keyword, bound in bounds.items()]


def plain_value(value: object) -> str:
    """Format a JSON value as a person would write it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)
