"""Answers of every task: whole numbers, the schema for providers, and messages about faults."""

import json
import math
import re
from typing import Any

from contract import JUNK, items, lengthy, nth_item, parts, places, score
from later import Later

from scbench.base.errors import CannotGrade
from scbench.base.model import Prediction
from scbench.schemas.shapes import provider_schema
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import grade_prediction

jsonschema_rs = Later("jsonschema_rs")

# The subset that the structured-output modes of OpenAI (strict), Anthropic and Gemini accept.
PLAIN = {"string", "number", "integer", "boolean", "null"}
KEYWORDS = {
    "object": {"type", "description", "properties", "required", "additionalProperties"},
    "array": {"type", "description", "items"},
    "string": {"type", "description", "enum"},
    **{kind: {"type", "description"} for kind in PLAIN - {"string"}},
}
UNIONS = 16
LEVELS = 5
PYDANTIC = re.compile(
    r"Input should|[Vv]alid (integer|tuple|list|string|number|dict|bool)|\btuple\b|Field required"
    r"|dictionary|Value error|Assertion failed|should (have|match|be)|function-|union|NoneType"
)


def faults(schema: dict[str, Any]) -> list[str]:
    """List the parts of a schema outside the common subset."""
    result = (
        []
        if schema.get("type") == "object" and "anyOf" not in schema
        else ["root: no object"]
    )
    unions = 0

    def look(node: dict[str, Any], at: str, level: int) -> None:
        nonlocal unions
        if level > LEVELS:
            result.append(f"{at}: deeper than {LEVELS} levels")
        if "anyOf" in node:
            unions += 1
            result.extend(
                f"{at}: {key}" for key in node.keys() - {"anyOf", "description"}
            )
            for i, branch in enumerate(node["anyOf"]):
                look(branch, f"{at}|{i}", level)
            return
        kind = node.get("type")
        if not isinstance(kind, str) or kind not in KEYWORDS:
            result.append(f"{at}: type {kind!r}")
            return
        result.extend(f"{at}: {key}" for key in node.keys() - KEYWORDS[kind])
        if not all(isinstance(value, str) for value in node.get("enum", ())):
            result.append(f"{at}: enum of other values than strings")
        if kind == "object":
            if node.get("additionalProperties") is not False:
                result.append(f"{at}: open")
            if set(node["required"]) != set(node["properties"]):
                result.append(f"{at}: optional keys")
            for name, child in node["properties"].items():
                look(child, f"{at}.{name}", level + 1)
        elif kind == "array":
            if not isinstance(node.get("items"), dict):
                result.append(f"{at}: no items")
                return
            look(node["items"], f"{at}[]", level + 1)

    look(schema, "root", 0)
    return result + [f"{unions} anyOf"] * (unions > UNIONS)


def test_provider_schema_is_portable_and_accepts_references(task):
    schema = provider_schema(task.answer_model)
    assert faults(schema) == []
    validator = jsonschema_rs.validator_for(schema)
    for _, reference, _ in items(task.id):
        assert validator.is_valid(reference)
        assert not validator.is_valid({**reference, "extra": 1})


def with_floats(value: Any) -> Any:
    """Return a value with every whole number as a float."""
    if isinstance(value, dict):
        return {key: with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_floats(item) for item in value]
    return (
        float(value)
        if isinstance(value, int) and not isinstance(value, bool)
        else value
    )


def outcome(task, params, **fields):
    result = grade_prediction(Prediction(id="a", **fields), task, params)
    if result.status == "not_run":
        raise CannotGrade(result.reason)
    return result


def test_whole_numbers_may_be_floats(task):
    for params, reference, _ in items(task.id)[: 1 if task.heavy else 4]:
        given = with_floats(reference)
        assert score(task, params, given) == 1
    for text in (
        json.dumps(given),
        re.sub(r"(?<=[ \[]\d)\.0\b", "e0", json.dumps(given)),
    ):
        if not lengthy(task):
            assert [v.score for v in outcome(task, params, response=text).verdicts] == (
                [1.0] * task.scores
            )


def test_other_values_are_not_numbers(task):
    """Replace the first and last numbers of a right answer."""
    params, reference, _ = nth_item(task.id, 0)
    result = {
        path: part for path, part in parts(reference) if type(part) in {int, float}
    }
    for path in [*result][:3] + [*result][-1:]:
        for bad in (True, str(result[path]), None, [result[path]], math.nan, math.inf):
            answer = {"it": json.loads(json.dumps(reference))}
            part = answer
            for key in ("it", *path[:-1]):
                part = part[key]
            part[path[-1]] = bad
            failed = [
                check.id
                for v in judge(task, params, answer["it"])
                for check in v.failed
            ]
            # Fluid simulation ignores bad boxes, and short answers may be words.
            named = {"answer_schema", "boxes"} & {*failed}
            assert named or shape_of(task.answer_model).is_short, bad


def test_schema_faults_have_our_own_messages(task):
    params, reference, _ = nth_item(task.id, 0)
    junk = [
        *JUNK,
        [False, 2],
        [True] * 16,
        [1e300] * 3,
        float("nan"),
        {"x": {"y": []}},
        -1,
        0.5,
    ]
    said = set()
    # The first two entries represent a list.
    paths = [
        path
        for path in [(), *places(reference)]
        if all(key < 2 for key in path if isinstance(key, int))
    ]
    for path in paths[:60]:
        for bad in junk:
            answer = json.loads(json.dumps({"it": reference}))
            part = answer
            for key in ("it", *path)[:-1]:
                part = part[key]
            part[("it", *path)[-1]] = bad
            for verdict in judge(task, params, answer["it"]) if not task.heavy else ():
                said |= {
                    check.message
                    for check in verdict.checks
                    if check.id == "answer_schema"
                }
    for key in reference:
        rest = {name: value for name, value in reference.items() if name != key}
        said |= {check.message for v in judge(task, params, rest) for check in v.checks}
    assert said
    for message in said:
        assert not PYDANTIC.search(message), message


def test_prompts_are_not_answers(task):
    for params, _, _ in items(task.id):
        prompt = task.builder().prompt(params)
        for reply in (prompt, prompt[-300:], prompt.rpartition("\n\n")[2]):
            result = outcome(task, params, response=reply)
            checks = {
                check.id for verdict in result.verdicts for check in verdict.checks
            }
            assert result.status == "unparsed" or checks == {"answer_schema"}, (
                result.answer
            )
            assert not any(verdict.score for verdict in result.verdicts)


def test_prompts_state_which_object_counts(task):
    for params, _, _ in items(task.id):
        text = task.builder().prompt(params)
        assert text.count("\nThe last JSON object in your reply counts.\n") == 1
