"""Batch outputs in the lines of the providers' documentation: statuses, texts, usage."""

from collections import Counter

import pytest

from scbench.base.errors import PredictionsError
from scbench.base.finish_reasons import status_without_answer
from scbench.formats.imports.batches import anthropic, gemini, openai
from scbench.formats.imports.files import entry_replies
from scbench.formats.imports.harnesses import lm_eval
from scbench.formats.imports.kinds import kind_of

ID = "two_segments-07-S2-B900"

CALL = {"function": {"arguments": '{"a": 1}'}}
CHAT = {
    "model": "M",
    "choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [CALL]}}],
}
CLAUDE = {
    "model": "M",
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "{}"}],
}

JUNK = [None, 7, "text", [], {}, [None], {"error": {}}, [[]], {"message": 3}]

ARGUMENTS = '{"segments": []}'

STRANGE = [["x"], {"a": 1}, 7, None, True]


def read(reader, entry: dict, kind: str) -> dict:
    assert kind_of(entry) == kind
    (fields,) = reader(entry)
    assert fields.request == ("two_segments/07", 2, 900)
    return {"model": fields.model, **fields.fields}


def posted(body: object, code: int = 200, error: object = None) -> dict:
    response = {"status_code": code, "body": body}
    return read(
        openai,
        {"id": "b1", "custom_id": ID, "response": response, "error": error},
        "OpenAI batch",
    )


def without_answer(fields: dict) -> str | None:
    """Return the status of a reply without an answer in its text."""
    return fields.get("status") or status_without_answer(fields.get("finish_reason"))


def chat(finish: str | None, content: str | None = "{}", **message: object) -> dict:
    choice = {"finish_reason": finish, "message": {"content": content, **message}}
    return posted({"model": "M", "choices": [choice]})


@pytest.mark.parametrize(
    ("finish", "status"),
    [
        ("stop", None),
        (None, None),
        ("length", "truncated"),
        ("content_filter", "blocked"),
        ("a_new_one", "api_error"),
    ],
)
def test_status_of_a_chat_reply(finish, status):
    fields = chat(finish)
    assert without_answer(fields) == status
    assert fields["response"] == "{}"
    assert fields.get("finish_reason") == finish


def test_refusal_keeps_its_words():
    fields = chat("stop", None, refusal="I will not.")
    assert (fields["status"], fields["response"]) == ("refused", "I will not.")


@pytest.mark.parametrize(
    ("response", "error", "words"),
    [
        (
            {
                "status_code": 400,
                "body": {"error": {"code": "too_long", "message": "m"}},
            },
            None,
            "too_long: m",
        ),
        (
            {
                "status_code": 400,
                "body": {"error": {"code": "content_filter", "message": "m"}},
            },
            None,
            "content_filter: m",
        ),
        (None, {"code": "batch_expired", "message": "m"}, "batch_expired: m"),
        ({"status_code": 503, "body": None}, None, "HTTP 503"),
    ],
)
def test_failed_calls(response, error, words):
    entry = {"id": "b", "custom_id": ID, "response": response, "error": error}
    fields = read(openai, entry, "OpenAI batch")
    status = "blocked" if words.startswith("content_filter") else "api_error"
    assert fields == {"model": None, "status": status, "error": words}


@pytest.mark.parametrize(
    ("entry", "kind", "words"),
    [
        ({"custom_id": ID, "response": CHAT}, "OpenAI batch", {"response": '{"a": 1}'}),
        (
            {"recordId": ID, "modelOutput": CHAT},
            "Bedrock batch",
            {"response": '{"a": 1}'},
        ),
        ({"recordId": ID, "modelOutput": CLAUDE}, "Bedrock batch", {"response": "{}"}),
        (
            {"recordId": ID, "error": {"errorCode": 400, "errorMessage": "no"}},
            "Bedrock batch",
            {"status": "api_error", "error": "400 no"},
        ),
        (
            {"request": {}, "response": {"candidates": []}},
            "Vertex batch",
            "Vertex AI: ",
        ),
    ],
)
def test_lines_of_other_clouds_are_read_or_refused_by_name(entry, kind, words):
    assert kind_of(entry) == kind
    if isinstance(words, str):
        with pytest.raises(PredictionsError, match=words):
            list(entry_replies(entry, Counter(), None, Counter()))
        return
    (fields,) = entry_replies(entry, Counter(), None, Counter())
    assert fields.request == ("two_segments/07", 2, 900)
    assert words.items() <= fields.fields.items()


def responses(**body: object) -> dict:
    text = {"type": "message", "content": [{"type": "output_text", "text": "{}"}]}
    return posted({"object": "response", "model": "M", "output": [text], **body})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": r}}, status)
        for r, status in [
            ("max_output_tokens", "truncated"),
            ("max_messages", "truncated"),
            ("content_filter", "blocked"),
            ("steered", "api_error"),
            (None, "truncated"),
        ]
    ]
    + [
        (
            {"status": "failed", "error": {"code": "bio_policy", "message": "m"}},
            "blocked",
        ),
        (
            {"status": "failed", "error": {"code": "server_error", "message": "m"}},
            "api_error",
        ),
        ({"status": "cancelled"}, "api_error"),
        ({"status": "in_progress"}, "api_error"),
        ({"status": "a_new_one"}, "api_error"),
    ],
)
def test_status_of_a_response(body, status):
    assert without_answer(responses(**body)) == status


def claude(**result: object) -> dict:
    return read(anthropic, {"custom_id": ID, "result": result}, "Anthropic batch")


def message(stop: str | None, **more: object) -> dict:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"}]
    body = {"model": "M", "stop_reason": stop, "content": content, **more}
    return claude(type="succeeded", message=body)


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ("end_turn", None),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "blocked"),
        ("a_new_one", "api_error"),
    ],
)
def test_status_of_a_message(stop, status):
    fields = message(stop)
    assert without_answer(fields) == status
    assert (fields["response"], fields["reasoning"], fields["finish_reason"]) == (
        "{}",
        "hm",
        stop,
    )


def test_usage_of_a_message_with_its_cache():
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    assert message("end_turn", usage=usage)["usage"] == {
        "input_tokens": 329,
        "output_tokens": 5,
        "reasoning_tokens": 2,
    }


def google(response: object, **more: object) -> dict:
    return read(gemini, {"key": ID, "response": response, **more}, "Gemini batch")


def candidate(finish: str | None) -> dict:
    parts = [{"text": "hm", "thought": True}, {"text": "{"}, {"text": "}"}]
    return {
        "modelVersion": "M",
        "candidates": [{"finishReason": finish, "content": {"parts": parts}}],
    }


def test_thoughts_count_as_output_and_are_left_out_of_the_text():
    usage = {
        "promptTokenCount": 9,
        "toolUsePromptTokenCount": 1,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
    }
    assert google(candidate("STOP") | {"usageMetadata": usage}) == {
        "model": "M",
        "response": "{}",
        "finish_reason": "STOP",
        "reasoning": "hm",
        "usage": {"input_tokens": 10, "output_tokens": 7, "reasoning_tokens": 2},
    }


@pytest.mark.parametrize(
    ("finish", "status"),
    [
        ("STOP", None),
        ("FinishReason.STOP", None),
        (None, None),
        ("MAX_TOKENS", "truncated"),
        *(
            (word, "blocked")
            for word in ("SAFETY", "RECITATION", "SPII", "IMAGE_SAFETY")
        ),
        *(
            (word, "api_error")
            for word in ("OTHER", "MALFORMED_FUNCTION_CALL", "A_NEW_ONE")
        ),
    ],
)
def test_status_of_a_candidate(finish, status):
    assert without_answer(google(candidate(finish))) == status


def test_blocked_prompt_and_error():
    fields = google({"promptFeedback": {"blockReason": "SAFETY"}})
    assert (fields["status"], fields["finish_reason"]) == ("blocked", "SAFETY")
    fields = google(None, error={"code": 3, "message": "m"})
    assert (fields["status"], fields["error"]) == ("api_error", "3: m")
    assert google({"usageMetadata": {}})["status"] == "api_error"


@pytest.mark.parametrize("name", ["request-1-1!", 7, None, "", "x" * 300])
def test_unknown_id_is_named(name):
    with pytest.raises(PredictionsError, match="neither an item's id nor a custom_id"):
        list(openai({"custom_id": name, "response": None, "error": "e"}))


@pytest.mark.parametrize("junk", JUNK, ids=repr)
@pytest.mark.parametrize(
    "place", ["body", "choices", "message", "content", "output", "candidates"]
)
def test_no_shape_raises(junk, place):
    """A line with a wrong value anywhere becomes a reply or an error."""
    body = {"model": "M", place: junk}
    bodies = [junk, body, {"choices": [body]}, {"choices": [{"message": body}]}]
    for one in bodies:
        assert len(list(openai({"custom_id": ID, "response": {"body": one}}))) == 1
        message = {"type": "succeeded", "message": one}
        assert len(list(anthropic({"custom_id": ID, "result": message}))) == 1
        assert len(list(gemini({"key": ID, "response": one}))) == 1


@pytest.mark.parametrize(
    "made",
    [
        lambda: chat("tool_calls", None, tool_calls=[{"function": {"arguments": ARGUMENTS}}]),
        lambda: chat("tool_calls", None, tool_calls=[{"custom": {"input": ARGUMENTS}}]),
        lambda: chat("function_call", "", function_call={"arguments": ARGUMENTS}),
        lambda: responses(
            status="completed", output=[{"type": "function_call", "arguments": ARGUMENTS}]
        ),
        lambda: claude(
            type="succeeded",
            message={
                "stop_reason": "tool_use",
                "content": [{"type": "tool_use", "input": {"segments": []}}],
            },
        ),
        lambda: google(
            {
                "candidates": [
                    {
                        "finishReason": "STOP",
                        "content": {"parts": [{"functionCall": {"args": {"segments": []}}}]},
                    }
                ]
            }
        ),
    ],
)  # fmt: skip
def test_arguments_of_a_tool_call_are_part_of_the_reply(made):
    fields = made()
    assert (fields["response"], fields.get("status")) == (ARGUMENTS, None)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (
            403,
            {
                "code": "The caller does not have permission",
                "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
            },
        ),
        (
            400,
            {
                "error": {
                    "message": "Gemini blocked it: PROHIBITED_CONTENT",
                    "code": 400,
                }
            },
        ),
        (400, {"error": {"message": "blocked", "code": "PROHIBITED_CONTENT"}}),
        (
            403,
            {
                "error": {
                    "message": "Your model requires moderation and your input was flagged",
                    "code": 403,
                }
            },
        ),
        (400, {"error": {"message": "Output blocked by content filtering policy"}}),
    ],
)
def test_refusal_by_policy_is_blocked_whatever_its_words(code, body):
    fields = posted(body, code)
    assert fields["status"] == "blocked"
    error = body["error"]
    assert (error if isinstance(error, str) else error["message"]) in fields["error"]


@pytest.mark.parametrize(
    "message",
    [
        "Country, region, or territory not supported",
        "No endpoints found matching your data policy",
        "Your account was flagged for review",
        "Rate limit reached: see the policy on limits",
    ],
)
def test_other_errors_are_not_blocked(message):
    assert posted({"error": {"message": message}}, 403)["status"] == "api_error"


@pytest.mark.parametrize("value", STRANGE)
def test_values_of_other_types_raise_nothing(value):
    body = {"choices": [{"finish_reason": value, "message": {"content": "{}"}}]}
    response = {"status_code": value, "body": body}
    (fields,) = openai({"custom_id": ID, "response": response, "error": None})
    assert fields.line()
    parts = [{"type": value, "text": "a"}, {"type": "text", "text": value}]
    assert chat("stop", parts)["response"] == ""
    incomplete = {
        "object": "response",
        "output": [{"type": value, "content": parts}],
        "status": "incomplete",
        "incomplete_details": {"reason": value},
        "error": {"code": value},
    }
    for status in ("incomplete", "failed", value):
        assert posted(incomplete | {"status": status})
    if value is not None and not isinstance(value, list):
        row = {"doc_id": 0, "doc": {"id": "two_segments/07"}, "resps": value}
        with pytest.raises(PredictionsError, match="resps contains no reply"):
            list(lm_eval(row, Counter()))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"function": {"name": "f", "arguments": '{"a": 1}'}}, '{"a": 1}'),
        ({"custom": {"name": "f", "input": "words"}}, "words"),
        ({"id": "1", "name": "f", "arguments": '{"a": 1}'}, '{"a": 1}'),
        ({"name": "f", "args": {"a": 1}}, '{"a": 1}'),
    ],
)
def test_tool_calls_are_text_in_every_form(call, text):
    assert chat("tool_calls", None, tool_calls=[call])["response"] == text
