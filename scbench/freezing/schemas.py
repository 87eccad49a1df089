"""The JSON Schemas that a release publishes: of what labs send, results, parameters and answers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from pydantic import ConfigDict, create_model

from scbench.base.model import LOOP_SETTINGS, REPORTABLE, Prediction, Status
from scbench.catalog import Task
from scbench.grading.rows.columns import Row
from scbench.leaderboard.submission import submission_schema
from scbench.release.manifest import schema_file
from scbench.schemas.base import json_schema

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


_JSON_COLUMNS = ("checks", "metrics", "answer", "usage")


def release_schemas(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the JSON Schema files of a release: path inside it, and text."""
    return file_schemas() | task_schemas(tasks)


def file_schemas() -> dict[str, str]:
    """Return the schemas of the files that labs send and get, which may grow with the package."""
    return _texts(
        {
            "prediction": prediction_schema(),
            "results": results_json_schema(),
            "submission": submission_schema(),
        }
    )


def task_schemas(tasks: Sequence[Task]) -> dict[str, str]:
    """Return the schemas of parameters and answers, which are as fixed as the rows."""
    schemas = {}
    for task in tasks:
        schemas[f"{task.id}.params"] = json_schema(task.params_model)
        schemas[f"{task.id}.answer"] = json_schema(task.answer_model)
    return _texts(schemas)


def _texts(schemas: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    return {
        schema_file(name): _pretty({"$schema": _DIALECT, **schema})
        for name, schema in schemas.items()
    }


def prediction_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of a predictions file.

    It also says what pydantic cannot derive from types: which statuses a lab may write, and how
    they go together with an answer.
    """
    schema = json_schema(Prediction)
    schema["$defs"]["Status"] = {"type": "string", "enum": _status_values(REPORTABLE)}
    unscored = [status for status in REPORTABLE if not status.scored]
    forms = {
        "answer": _has("answer", {"not": {"type": "null"}}),
        "response": _has("response", {"type": "string"}),
    }
    turns = _has("turns", {"type": "array", "minItems": 1})
    schema["allOf"] = [
        {"not": {"allOf": list(forms.values())}},
        {"if": _status(_status_values(unscored)), "then": {"not": forms["answer"]}},
        {
            "if": _status([Status.ANSWERED.value]),
            "then": {"anyOf": [*forms.values(), turns]},
        },
        *map(_looped, LOOP_SETTINGS),
        {
            "if": {"not": _has("setting", {"enum": [*LOOP_SETTINGS]})},
            "then": {
                "properties": {key: {"type": "null"} for key in ("loop", "turns")}
            },
        },
    ]
    return schema


def _has(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"required": [name], "properties": {name: value}}


def _looped(setting: str) -> dict[str, Any]:
    """Return what a line of a setting of the loop must have and must not."""
    fields = {
        **{key: {"type": "null"} for key in ("answer", "response")},
        "loop": {"type": "object", "properties": {"setting": {"const": setting}}},
        "turns": {"type": "array"},
    }
    then = {"required": ["loop", "turns"], "properties": fields}
    return {"if": _has("setting", {"const": setting}), "then": then}


def results_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row of ``results.parquet``: a score, or why it is missing."""
    types: dict[str, Any] = {
        name: (hint, ...) for name, hint in get_type_hints(Row).items()
    }
    schema = json_schema(
        create_model("Row", __config__=ConfigDict(extra="forbid"), **types)
    )
    fields = schema["properties"]
    fields["status"] = {"type": "string", "enum": [status.value for status in Status]}
    for name in _JSON_COLUMNS:
        fields[name]["contentMediaType"] = "application/json"
    scored = _status([status.value for status in Status if status.scored])
    score = {"type": "number", "minimum": 0, "maximum": 1}
    schema |= {
        "description": (
            "A row of results.parquet: one score, or the reason why there is none. Rows of one "
            "answer with several scores share the id and differ in subtask."
        ),
        "if": scored,
        "then": {"properties": {"score": score}},
        "else": {"properties": {"score": {"type": "null"}}},
    }
    return schema


def _status(values: list[str]) -> dict[str, Any]:
    return _has("status", {"enum": values})


def _status_values(statuses: Sequence[Status] | frozenset[Status]) -> list[str]:
    return [status.value for status in Status if status in statuses]


def _pretty(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
