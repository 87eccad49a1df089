"""The JSON Schemas of a release: of predictions, results, submissions, parameters and answers."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_type_hints

from pydantic import ConfigDict, create_model

from scbench.base.model import LOOP_SETTINGS, Prediction, Status
from scbench.catalog import Task
from scbench.grading.rows.columns import Row
from scbench.leaderboard.submission import submission_schema
from scbench.release.manifest import schema_file
from scbench.schemas.base import json_schema

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Columns of results that contain JSON as text.
_JSON_COLUMNS = ("checks", "metrics", "answer", "usage")
_NULL = {"type": "null"}


def release_schemas(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the JSON Schema files of a release: path inside it, and text."""
    return file_schemas() | task_schemas(tasks)


def file_schemas() -> dict[str, str]:
    """Return the schemas of files exchanged with labs, which later versions may extend."""
    return schema_texts(
        {
            "prediction": prediction_schema(),
            "results": results_json_schema(),
            "submission": submission_schema(),
        }
    )


def task_schemas(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the schemas of parameters and answers, which are frozen like the rows."""
    schemas = {}
    for task in tasks:
        schemas[f"{task.id}.params"] = json_schema(task.params_model)
        schemas[f"{task.id}.answer"] = json_schema(task.answer_model)
    return schema_texts(schemas)


def schema_texts(schemas: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Return the files of named schemas: path inside the release, and text."""
    texts = {}
    for name, schema in schemas.items():
        value = {"$schema": _DIALECT, **schema}
        text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
        texts[schema_file(name)] = f"{text}\n"
    return texts


def prediction_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of a predictions file.

    It includes rules that pydantic cannot derive from types: the statuses that a lab
    may write, and their combinations with an answer.
    """
    schema = json_schema(Prediction)
    # Only scbench itself sets some statuses.
    reportable = [status for status in Status if status.reportable]
    schema["$defs"]["Status"] = {"type": "string", "enum": status_values(reportable)}
    # A row without a score has no answer, and an answered row has some form of an
    # answer.
    unscored = [status for status in reportable if not status.scored]
    answer = has_field("answer", {"not": _NULL})
    response = has_field("response", {"type": "string"})
    turns = has_field("turns", {"type": "array", "minItems": 1})
    any_answer = [answer, response, turns]
    is_loop = has_field("setting", {"enum": [*LOOP_SETTINGS]})
    no_loop = {"properties": {"loop": _NULL, "turns": _NULL}}
    schema["allOf"] = [
        {"not": {"allOf": [answer, response]}},
        {"if": has_status(status_values(unscored)), "then": {"not": answer}},
        {"if": has_status([Status.ANSWERED.value]), "then": {"anyOf": any_answer}},
    ]
    for setting in LOOP_SETTINGS:
        schema["allOf"].append(loop_rule(setting))
    schema["allOf"].append({"if": {"not": is_loop}, "then": no_loop})
    return schema


def has_field(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a field that fits a schema."""
    return {"required": [name], "properties": {name: value}}


def loop_rule(setting: str) -> dict[str, Any]:
    """Return the rule for the fields of a line with a setting of the loop."""
    fields = {
        "answer": _NULL,
        "response": _NULL,
        "loop": {"type": "object", "properties": {"setting": {"const": setting}}},
        "turns": {"type": "array"},
    }
    then = {"required": ["loop", "turns"], "properties": fields}
    return {"if": has_field("setting", {"const": setting}), "then": then}


def results_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row of ``results.parquet``: a score, or why it is missing."""
    # Pydantic's schema for fields without a default.
    types: dict[str, Any] = {}
    for name, hint in get_type_hints(Row).items():
        types[name] = (hint, ...)
    model = create_model("Row", __config__=ConfigDict(extra="forbid"), **types)
    schema = json_schema(model)
    fields = schema["properties"]
    fields["status"] = {"type": "string", "enum": [status.value for status in Status]}
    for name in _JSON_COLUMNS:
        fields[name]["contentMediaType"] = "application/json"
    scored = [status.value for status in Status if status.scored]
    score = {"type": "number", "minimum": 0, "maximum": 1}
    schema |= {
        "description": (
            "A row of results.parquet: one score, or the reason why there is none. An "
            "answer with several scores has a row for each, with the same id and "
            "different subtasks."
        ),
        "if": has_status(scored),
        "then": {"properties": {"score": score}},
        "else": {"properties": {"score": _NULL}},
    }
    return schema


def has_status(values: list[str]) -> dict[str, Any]:
    """Return the schema of an object with one of these statuses."""
    return has_field("status", {"enum": values})


def status_values(statuses: Collection[Status]) -> list[str]:
    """Return the values of statuses, in the order of `Status`."""
    return [status.value for status in Status if status in statuses]
