"""Requests as lines: our own, and the batch files of OpenAI, Anthropic and Gemini.

The forms are those of the providers' own libraries (openai 3.54 ``types/batch_create_params.py``,
anthropic 2.12 ``types/messages/batch_create_params.py``, google-genai 3.4 ``types.InlinedRequest``
as JSON), read in November 2026. vLLM's ``run_batch`` takes the form of OpenAI's chat completions.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.errors import PredictionsError
from scbench.base.model import Instance
from scbench.formats.prompts import Form
from scbench.formats.prompts.requests import Request

Line = dict[str, Any]

_STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What could steer a terminal, which is where lines may go; escaped, the JSON is the same."""


class Limits(NamedTuple):
    """What a provider takes in one file. Megabytes are counted as a million bytes each."""

    lines: int
    bytes: int


_OPENAI = Limits(50_000, 200_000_000)
LIMITS: Mapping[Form, Limits] = {
    Form.SCBENCH: Limits(10**9, 10**15),
    Form.OPENAI_CHAT: _OPENAI,
    Form.OPENAI_RESPONSES: _OPENAI,
    # One request of the interface holds all of a file's lines, in a list that costs a little more.
    Form.ANTHROPIC: Limits(100_000, 255_000_000),
    Form.GEMINI: Limits(10**9, 2_000_000_000),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked.

    Attributes:
        model: the provider's name of it. Gemini's files have none: the job names the model.
        structured: whether the reply is held to the instance's answer schema.
        max_output_tokens: the most of a reply, where no budget says so.
    """

    model: str | None = None
    structured: bool = False
    max_output_tokens: int | None = None


def check_settings(form: Form, settings: Settings, *, budgets: bool) -> None:
    """Refuse settings that the provider would.

    Raises:
        PredictionsError: the model or the limit of tokens is missing.
    """
    if settings.model is None and form not in {Form.SCBENCH, Form.GEMINI}:
        raise PredictionsError(f"lines of {form} name the model: add --model")
    if form is Form.ANTHROPIC and settings.max_output_tokens is None and not budgets:
        raise PredictionsError(
            "anthropic needs a limit with each request: add --max-output-tokens or --budget"
        )


def line_of(request: Request, form: Form, settings: Settings) -> bytes:
    """Return a request as a line, with its line break.

    Raises:
        PredictionsError: no batch can carry its id.
    """
    line = _FORMS[form](request, settings)
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return _STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text).encode() + b"\n"


def _limit(request: Request, settings: Settings, key: str) -> Line:
    """Return the limit of output tokens under a provider's name; nothing if there is none."""
    most = settings.max_output_tokens if request.budget is None else request.budget
    return {} if most is None else {key: most}


def _images(instance: Instance) -> list[str]:
    return [base64.b64encode(image).decode() for image in instance.images]


def data_urls(instance: Instance) -> list[str]:
    """Return the pictures of a prompt as URLs that hold them."""
    return [f"data:image/png;base64,{image}" for image in _images(instance)]


def _schema(request: Request) -> JsonValue:
    schema: JsonValue = json.loads(request.instance.answer_schema)
    return schema


def _scbench(request: Request, settings: Settings) -> Line:
    instance = request.instance
    return {
        "id": instance.id,
        **({"model": settings.model} if settings.model else {}),
        "sample": request.sample,
        **({} if request.budget is None else {"budget": request.budget}),
        "instance_hash": instance.content_hash,
        "custom_id": request.key.custom_id,
        "prompt": instance.prompt,
        "images": data_urls(request.instance),
        **({"answer_schema": _schema(request)} if settings.structured else {}),
        **_limit(request, settings, "max_output_tokens"),
    }


def _openai_chat(request: Request, settings: Settings) -> Line:
    text = request.instance.prompt
    pictures = [
        {"type": "image_url", "image_url": {"url": url}} for url in data_urls(request.instance)
    ]
    body = {
        "model": settings.model,
        "messages": [
            # Text alone is what every server that speaks this takes.
            {
                "role": "user",
                "content": [{"type": "text", "text": text}, *pictures] if pictures else text,
            }
        ],
        **_limit(request, settings, "max_completion_tokens"),
    }
    if settings.structured:
        asked = {"name": "answer", "strict": True, "schema": _schema(request)}
        body["response_format"] = {"type": "json_schema", "json_schema": asked}
    return _posted(request, "/v1/chat/completions", body)


def _openai_responses(request: Request, settings: Settings) -> Line:
    content = [
        {"type": "input_text", "text": request.instance.prompt},
        *(
            {"type": "input_image", "detail": "auto", "image_url": url}
            for url in data_urls(request.instance)
        ),
    ]
    body = {
        "model": settings.model,
        "input": [{"role": "user", "content": content}],
        **_limit(request, settings, "max_output_tokens"),
    }
    if settings.structured:
        asked = {"name": "answer", "strict": True, "schema": _schema(request)}
        body["text"] = {"format": {"type": "json_schema", **asked}}
    return _posted(request, "/v1/responses", body)


def _posted(request: Request, url: str, body: Line) -> Line:
    return {"custom_id": request.key.custom_id, "method": "POST", "url": url, "body": body}


def _anthropic(request: Request, settings: Settings) -> Line:
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        for data in _images(request.instance)
    ]
    asked = {
        "model": settings.model,
        **_limit(request, settings, "max_tokens"),
        "messages": [
            {
                "role": "user",
                "content": [*pictures, {"type": "text", "text": request.instance.prompt}],
            }
        ],
    }
    if settings.structured:
        asked["output_config"] = {"format": {"type": "json_schema", "schema": _schema(request)}}
    return {"custom_id": request.key.custom_id, "params": asked}


def _gemini(request: Request, settings: Settings) -> Line:
    parts = [
        {"text": request.instance.prompt},
        *(
            {"inlineData": {"mimeType": "image/png", "data": data}}
            for data in _images(request.instance)
        ),
    ]
    config = _limit(request, settings, "maxOutputTokens")
    if settings.structured:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": _schema(request)}
    return {
        "key": request.key.custom_id,
        "request": {
            "contents": [{"role": "user", "parts": parts}],
            **({"generationConfig": config} if config else {}),
        },
    }


_FORMS: Mapping[Form, Callable[[Request, Settings], Line]] = {
    Form.SCBENCH: _scbench,
    Form.OPENAI_CHAT: _openai_chat,
    Form.OPENAI_RESPONSES: _openai_responses,
    Form.ANTHROPIC: _anthropic,
    Form.GEMINI: _gemini,
}
