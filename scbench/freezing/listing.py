"""What can be asked of a task: its parameters with their bounds, for people and programs."""

import json
from typing import Any

from scbench.builders.shared.builder import Case, kinds_of
from scbench.catalog import Task
from scbench.freezing.experiment import parameters_of
from scbench.freezing.ladder import ladder
from scbench.schemas.base import json_schema


def describe_task(task: Task) -> dict[str, Any]:
    """Return a task as JSON values: id, bucket, scores, parameters and the facts of its cases."""
    builder, rungs = task.builder, ladder().tasks.get(task.id)
    kinds = kinds_of(builder.space)
    schema = json_schema(builder.space)
    facts = json_schema(builder.case_model)["properties"]
    return {
        "id": task.id,
        "title": task.title,
        "bucket": task.bucket,
        "scores": len(builder().paper()) * task.scores,
        "scoring": task.scoring,
        "dimensions": list(task.dimensions),
        "ladder": None if rungs is None else rungs.model_dump(mode="json"),
        "builder_version": builder.version,
        "grader_version": task.grader_version,
        "parameters": [
            _parameter(name, schema["properties"][name], schema, kinds.get(name))
            for name in parameters_of(builder.space)
        ],
        "facts": {
            name: facts[name].get("description", "")
            for name in builder.case_model.model_fields
            if name not in Case.model_fields
        },
    }


def _parameter(
    name: str, schema: dict[str, Any], root: dict[str, Any], kind: str | None
) -> dict[str, Any]:
    return {
        "name": name,
        "values": values_of(schema, root),
        "default": schema.get("default"),
        "kind": kind,
        "description": schema.get("description", ""),
    }


def values_of(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """Return which values a JSON Schema allows, in short: ``3 to 50``, ``cells, bars``."""
    if "$ref" in schema:
        return values_of(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        parts = [values_of(part, root) for part in schema["anyOf"]]
        return " or ".join(dict.fromkeys(parts))
    if "enum" in schema or "const" in schema:
        return ", ".join(map(_plain_value, schema.get("enum", [schema.get("const")])))
    kind = schema.get("type")
    if kind == "array":
        return f"list of {values_of(schema.get('items', {}), root)}"
    if kind == "boolean":
        return "true, false"
    if kind == "null":
        return "null"
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        words = [f"{_plain_value(low)} to {_plain_value(high)}"]
    else:
        bounds = {"at least": low, "above": above, "at most": high, "below": below}
        words = [
            f"{name} {_plain_value(it)}"
            for name, it in bounds.items()
            if it is not None
        ]
    if "multipleOf" in schema:
        words.append(f"steps of {_plain_value(schema['multipleOf'])}")
    words = words or [
        {"integer": "a whole number", "number": "a number"}.get(str(kind), "text")
    ]
    # A whole-number bound of a parameter that takes fractions would look as if it took none.
    return ", ".join(words) + (" (fractions too)" if kind == "number" else "")


def _plain_value(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)
