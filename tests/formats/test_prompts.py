"""Prompt export: each provider's lines, the items included, and how files are split."""

import base64
import json

import pytest
from pydantic import TypeAdapter

from scbench.base.errors import PredictionsError
from scbench.formats.forms import Form, Limits
from scbench.formats.prompts import (
    LIMITS,
    Request,
    Settings,
    check_settings,
    chosen_instances,
    file_numbers,
    line_of,
    write_files,
)
from scbench.release.load import find_release

PICTURED, PLAIN = "polynomial_curve_fitting/04", "two_segments/07"


@pytest.fixture(scope="module")
def instances():
    release = find_release()
    chosen = chosen_instances(release, None, {PICTURED, PLAIN})
    return {instance.id: instance for instance in chosen}


def line(instances, form, row_id=PICTURED, **settings):
    given = Settings(**{"model": "M", **settings})
    return json.loads(line_of(Request(instances[row_id], 2, 999), form, given))


def test_chat_lines_match_the_documentation(instances):
    made = line(instances, Form.OPENAI_CHAT, structured=True)
    body = made.pop("body")
    assert made == {
        "custom_id": "polynomial_curve_fitting-04-S2-B999",
        "method": "POST",
        "url": "/v1/chat/completions",
    }
    (message,) = body.pop("messages")
    text, image = message["content"]
    assert text == {"type": "text", "text": instances[PICTURED].prompt}
    assert image["type"] == "image_url"
    assert image["image_url"]["detail"] == "high"
    head, data = image["image_url"]["url"].split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data) == instances[PICTURED].images[0]
    schema = body.pop("response_format")
    assert schema["type"] == "json_schema"
    assert schema["json_schema"]["strict"] is True
    assert schema["json_schema"]["schema"] == json.loads(
        instances[PICTURED].answer_schema
    )
    assert body == {"model": "M", "max_completion_tokens": 999}


@pytest.mark.parametrize("form", LIMITS)
def test_plain_lines_contain_no_schema_and_no_empty_picture(instances, form):
    body = json.dumps(line(instances, form, PLAIN))
    assert "schema" not in body
    assert "image/png" not in body


@pytest.mark.parametrize(
    "form", [Form.OPENAI_CHAT, Form.OPENAI_RESPONSES, Form.ANTHROPIC]
)
def test_requests_that_providers_would_refuse_are_refused_first(form):
    with pytest.raises(PredictionsError, match="--model"):
        check_settings(form, Settings(max_output_tokens=1), budgets=False)
    check_settings(form, Settings("M", max_output_tokens=1), budgets=False)
    if form is Form.ANTHROPIC:
        with pytest.raises(PredictionsError, match="--max-output-tokens"):
            check_settings(form, Settings("M"), budgets=False)


def test_files_end_before_either_limit():
    lines = [b"x" * size + b"\n" for size in (3, 3, 3, 9, 1, 1, 1, 1)]
    files = {}
    for number, line in file_numbers(lines, Limits(3, 10)):
        files.setdefault(number, []).append(len(line) - 1)
    assert files == {1: [3, 3], 2: [3], 3: [9], 4: [1, 1, 1], 5: [1]}
    assert list(file_numbers([], Limits(1, 1))) == []
    with pytest.raises(PredictionsError, match="11 bytes"):
        list(file_numbers([b"y" * 11], Limits(3, 10)))


def test_files_are_never_overwritten(tmp_path):
    limits = LIMITS[Form.OPENAI_CHAT]._replace(lines=2)
    paths = write_files([b"1\n", b"2\n", b"3\n"], tmp_path / "new", limits)
    assert [path.name for path in paths] == ["prompts-001.jsonl", "prompts-002.jsonl"]
    assert b"".join(path.read_bytes() for path in paths) == b"1\n2\n3\n"
    with pytest.raises(PredictionsError, match="already exists"):
        write_files([b"4\n"], tmp_path / "new", limits)
    assert paths[0].read_bytes() == b"1\n2\n"


def test_sdk_accepts_lines_with_two_pictures():
    sdk = pytest.importorskip("openai.types", reason="extra [inspect]")
    release, row_id = find_release(), "tetrahedra_shadow_projection/02-picture"
    rows = {row.id: row for row in chosen_instances(release.pictures(), None, {row_id})}
    chat = line(rows, Form.OPENAI_CHAT, row_id, structured=True)["body"]
    user = TypeAdapter(sdk.chat.ChatCompletionUserMessageParam).validate_python(
        chat["messages"][0]
    )
    assert [part["type"] for part in user["content"]] == [
        "text",
        "image_url",
        "image_url",
    ]
    body = line(rows, Form.OPENAI_RESPONSES, row_id, structured=True)["body"]
    TypeAdapter(sdk.responses.response_input_param.Message).validate_python(
        body["input"][0]
    )
    params = TypeAdapter(
        sdk.responses.response_create_params.ResponseCreateParamsNonStreaming
    )
    assert params.validate_python(body)["model"] == "M"
