"""The model of submission.yaml and its published JSON Schema accept the same files."""

import copy
import random

import pytest
import yaml
from later import Later
from pydantic import ValidationError

from scbench.leaderboard.about import about_text
from scbench.leaderboard.strict_yaml import DocumentError, read_yaml
from scbench.leaderboard.submission import (
    Submission,
    description_of,
    read_submission,
    submission_schema,
)

jsonschema_rs = Later("jsonschema_rs")

GOOD = {
    "format": 1,
    "model": {"name": "Aurora", "version": "2", "id": "aurora-2"},
    "organisation": "Example Lab",
    "date": "2026-01-31",
    "release": "1.0.0rc1",
    "setting": "tools",
    "tools": ["python", "web search"],
    "sampling": {
        "temperature": 0.5,
        "reasoning": {"effort": "high"},
        "stop": ["x"],
        "n": None,
    },
    "attempts": 3,
    "contact": "a@example.org",
    "links": {
        "paper": "https://arxiv.org/abs/2601.00001v2",
        "code": "https://x.org/a_b?c=d#e",
    },
    "outputs_licence": "CC-BY-4.0",
    "notes": "Two lines.\nThat is all.",
}
SCHEMA = jsonschema_rs.validator_for(submission_schema())


def accepts(value: object) -> bool:
    try:
        Submission.model_validate(value)
    except ValidationError:
        return False
    return True


def test_schema_and_package_agree_on_a_good_file_and_thousands_of_damaged_ones():
    assert accepts(GOOD)
    assert SCHEMA.is_valid(GOOD)
    rng = random.Random(7)
    odd = [
        None,
        True,
        0,
        1,
        101,
        2.5,
        "",
        " ",
        "x",
        " x",
        "a\nb",
        "a\u202eb",
        [],
        {},
        ["x"],
        {"x": 1},
    ]
    odd += [
        "http://x.org",
        "https://x.org",
        "https://x.org/<b>",
        "javascript:1",
        "2026-1-1",
        "1.0",
    ]
    odd += ["no_tools", "tools", "x" * 201, [1], ["x"] * 21, 10**30]
    verdicts = set()
    for _ in range(4000):
        value = copy.deepcopy(GOOD)
        for _ in range(rng.choice([1, 1, 2])):
            part = rng.choice([value, value, value["model"], value["links"]])
            if not isinstance(part, dict) or not part:
                continue
            key = rng.choice([*part, "more"])
            if rng.random() < 0.3:
                part.pop(key, None)
            else:
                part[key] = rng.choice(odd)
            if not all(
                isinstance(value.get(name), dict) for name in ("model", "links")
            ):
                break
        assert SCHEMA.is_valid(value) == accepts(value), value
        verdicts.add(accepts(value))
    assert verdicts == {True, False}


def test_written_file_is_read_by_us_and_by_other_parsers():
    about = Submission.model_validate(GOOD)
    text = about_text(about)
    assert read_submission(text.encode(), "x") == (about, [])
    others = yaml.safe_load(text)
    assert Submission.model_validate(others) == about


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": "yes"}),
        ("a: 2026-01-02", {"a": "2026-01-02"}),
        ("a: 0o17", {"a": "0o17"}),
        ("a: 1e3", {"a": 1000.0}),
        (f"a: {'9' * 40}", {"a": "9" * 40}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a:", {"a": None}),
        ("\ufeffa: [1, {b: true}]", {"a": [1, {"b": True}]}),
        ('"\\ud83d\\ude00": "\\ud83d\\ude00"', {"\U0001f600": "\U0001f600"}),
    ],
)
def test_yaml_is_read_like_json(text, value):
    assert read_yaml(text.encode())[0] == value


@pytest.mark.parametrize(
    "text",
    [
        "a: !x 1",
        "a: *b",
        "? [a]\n: 1",
        "\t",
        'a: "\\U00110000"',
        'a: "\\UFFFFFFFF"',
        'a: "\\ud800"',
        '{"\\udc00\\ud83d": 1}',
    ],
)
def test_other_yaml_is_refused_with_a_line(text):
    with pytest.raises(DocumentError) as caught:
        read_yaml(text.encode())
    assert caught.value.line >= 1


def test_line_that_is_not_utf8_is_named():
    with pytest.raises(DocumentError, match="not UTF-8") as caught:
        read_yaml(b"a: 1\nb: 2\nc: \xff\n")
    assert caught.value.line == 3


def test_keys_are_described_at_every_depth():
    outer = Submission.model_fields["date"]
    model = Submission.model_fields["model"].annotation
    inner = model.model_fields["version"]
    assert outer.description
    assert inner.description
    assert description_of(("date",)) == outer.description
    assert description_of(("model", "version")) == inner.description
    assert description_of(("sampling", "effort")) == ""
