"""Answers of every task: whole numbers, the schema that providers take, and faults in our words."""

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

# What the structured-output modes of OpenAI (strict), Anthropic and Gemini all accept.
PLAIN = {"string", "number", "integer", "boolean", "null"}
KEYWORDS = {
    "object": {"type", "description", "properties", "required", "additionalProperties"},
    "array": {"type", "description", "items"},
    "string": {"type", "description", "enum"},
    **{kind: {"type", "description"} for kind in PLAIN - {"string"}},
}
UNIONS = 16
LEVELS = 5


def faults(schema: dict[str, Any]) -> list[str]:
    """What of a schema is outside of the common subset."""
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


def test_every_provider_takes_the_schema_of_the_rows_and_it_takes_the_references(task):
    schema = provider_schema(task.answer_model)
    assert faults(schema) == []
    validator = jsonschema_rs.validator_for(schema)
    for _, reference, _ in items(task.id):
        assert validator.is_valid(reference)
        assert not validator.is_valid({**reference, "extra": 1})


def floated(value: Any) -> Any:
    """The same with every whole number as a float."""
    if isinstance(value, dict):
        return {key: floated(item) for key, item in value.items()}
    if isinstance(value, list):
        return [floated(item) for item in value]
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


def test_a_whole_number_may_be_written_as_a_float(task):
    for params, reference, _ in items(task.id)[: 1 if task.heavy else 4]:
        given = floated(reference)
        assert score(task, params, given) == 1
    for text in (
        json.dumps(given),
        re.sub(r"(?<=[ \[]\d)\.0\b", "e0", json.dumps(given)),
    ):
        if not lengthy(task):
            assert [v.score for v in outcome(task, params, response=text).verdicts] == (
                [1.0] * task.scores
            )


def test_nothing_but_a_number_is_one(task):
    """At the first and the last number of a right answer."""
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
            # Fluid simulation leaves bad boxes out, and short answers may be words.
            named = {"answer_schema", "boxes"} & {*failed}
            assert named or shape_of(task.answer_model).is_short, bad


PYDANTIC = re.compile(
    r"Input should|[Vv]alid (integer|tuple|list|string|number|dict|bool)|\btuple\b|Field required"
    r"|dictionary|Value error|Assertion failed|should (have|match|be)|function-|union|NoneType"
)


def test_faults_of_shape_are_told_in_our_own_words(task):
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
    # Of items of one list, the first two stand for all.
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


def test_a_prompt_is_no_answer(task):
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


def test_every_prompt_says_in_the_same_words_which_object_counts(task):
    for params, _, _ in items(task.id):
        text = task.builder().prompt(params)
        assert text.count("\nThe last JSON object in your reply counts.\n") == 1
