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


class SchemaWalk:
    """Collects the parts of a schema outside the common subset."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.unions = 0

    def look(self, node: dict[str, Any], at: str, level: int) -> None:
        if level > LEVELS:
            self.faults.append(f"{at}: deeper than {LEVELS} levels")
        if "anyOf" in node:
            self.look_at_union(node, at, level)
            return
        kind = node.get("type")
        if not isinstance(kind, str) or kind not in KEYWORDS:
            self.faults.append(f"{at}: type {kind!r}")
            return
        self.faults += [f"{at}: {key}" for key in node.keys() - KEYWORDS[kind]]
        if not all(isinstance(value, str) for value in node.get("enum", ())):
            self.faults.append(f"{at}: enum of other values than strings")
        if kind == "object":
            self.look_at_object(node, at, level)
        elif kind == "array":
            self.look_at_array(node, at, level)

    def look_at_union(self, node: dict[str, Any], at: str, level: int) -> None:
        self.unions += 1
        other_keys = node.keys() - {"anyOf", "description"}
        self.faults += [f"{at}: {key}" for key in other_keys]
        for i, branch in enumerate(node["anyOf"]):
            self.look(branch, f"{at}|{i}", level)

    def look_at_object(self, node: dict[str, Any], at: str, level: int) -> None:
        if node.get("additionalProperties") is not False:
            self.faults.append(f"{at}: open")
        if set(node["required"]) != set(node["properties"]):
            self.faults.append(f"{at}: optional keys")
        for name, child in node["properties"].items():
            self.look(child, f"{at}.{name}", level + 1)

    def look_at_array(self, node: dict[str, Any], at: str, level: int) -> None:
        if isinstance(node.get("items"), dict):
            self.look(node["items"], f"{at}[]", level + 1)
        else:
            self.faults.append(f"{at}: no items")


def faults(schema: dict[str, Any]) -> list[str]:
    """List the parts of a schema outside the common subset."""
    walk = SchemaWalk()
    if schema.get("type") != "object" or "anyOf" in schema:
        walk.faults.append("root: no object")
    walk.look(schema, "root", 0)
    if walk.unions > UNIONS:
        walk.faults.append(f"{walk.unions} anyOf")
    return walk.faults


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
    is_whole_number = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole_number else value


def with_replaced_part(answer: Any, path: tuple, part: object) -> Any:
    """Return a copy of an answer, with the part at a path replaced."""
    copy = {"it": json.loads(json.dumps(answer))}
    *parents, key = ("it", *path)
    parent = copy
    for parent_key in parents:
        parent = parent[parent_key]
    parent[key] = part
    return copy["it"]


def outcome(task, params, **fields):
    result = grade_prediction(Prediction(id="a", **fields), task, params)
    if result.status == "not_run":
        raise CannotGrade(result.reason)
    return result


def test_whole_numbers_may_be_floats(task):
    for params, reference, _ in items(task.id)[: 1 if task.heavy else 4]:
        given = with_floats(reference)
        assert score(task, params, given) == 1
    if lengthy(task):
        return
    text = json.dumps(given)
    with_exponents = re.sub(r"(?<=[ \[]\d)\.0\b", "e0", text)
    for response in (text, with_exponents):
        verdicts = outcome(task, params, response=response).verdicts
        assert [verdict.score for verdict in verdicts] == [1.0] * task.scores


def test_other_values_are_not_numbers(task):
    """Replace the first and last numbers of a right answer."""
    params, reference, _ = nth_item(task.id, 0)
    is_short = shape_of(task.answer_model).is_short
    known = dict(parts(reference))
    numbers = {path: part for path, part in known.items() if type(part) in {int, float}}
    paths = list(numbers)
    for path in paths[:3] + paths[-1:]:
        number = numbers[path]
        for bad in (True, str(number), None, [number], math.nan, math.inf):
            answer = with_replaced_part(reference, path, bad)
            failed = set()
            for verdict in judge(task, params, answer):
                failed |= {check.id for check in verdict.failed}
            # Fluid simulation ignores bad boxes, and short answers may be words.
            assert is_short or {"answer_schema", "boxes"} & failed, bad


def is_representative(path) -> bool:
    """Return whether a path leads to the first two entries of lists, which represent the rest."""
    return all(key < 2 for key in path if isinstance(key, int))


def badly_shaped(reference):
    """Yield copies of an answer with junk in place of the whole or of one part."""
    other_junk = [
        [False, 2],
        [True] * 16,
        [1e300] * 3,
        math.nan,
        {"x": {"y": []}},
        -1,
        0.5,
    ]
    paths = [(), *filter(is_representative, places(reference))]
    for path in paths[:60]:
        for bad in [*JUNK, *other_junk]:
            yield with_replaced_part(reference, path, bad)


def test_schema_faults_have_our_own_messages(task):
    params, reference, _ = nth_item(task.id, 0)
    messages = set()
    # Heavy tasks only get answers with a missing key.
    wrong_answers = () if task.heavy else badly_shaped(reference)
    for answer in wrong_answers:
        for verdict in judge(task, params, answer):
            for check in verdict.checks:
                if check.id == "answer_schema":
                    messages.add(check.message)
    for key in reference:
        rest = {name: value for name, value in reference.items() if name != key}
        for verdict in judge(task, params, rest):
            messages |= {check.message for check in verdict.checks}
    assert messages
    for message in messages:
        assert not PYDANTIC.search(message), message


def test_prompts_are_not_answers(task):
    for params, _, _ in items(task.id):
        prompt = task.builder().prompt(params)
        for reply in (prompt, prompt[-300:], prompt.rpartition("\n\n")[2]):
            result = outcome(task, params, response=reply)
            checks = set()
            for verdict in result.verdicts:
                assert verdict.score == 0
                checks |= {check.id for check in verdict.checks}
            is_unread = result.status == "unparsed" or checks == {"answer_schema"}
            assert is_unread, result.answer


def test_prompts_state_which_object_counts(task):
    for params, _, _ in items(task.id):
        text = task.builder().prompt(params)
        assert text.count("\nOnly the last JSON object in your reply counts.\n") == 1
