"""What is put to a model: which instances, how often, and what cannot be sent.

A request is one try at one instance. Nothing here talks to anybody: requests become lines of our
own or of the batch files of OpenAI, Anthropic and Gemini, in files of no more lines and bytes than
the provider takes. The forms are those of the providers' own libraries (openai 3.54
``types/batch_create_params.py``, anthropic 2.12 ``types/messages/batch_create_params.py``,
google-genai 3.4 ``types.InlinedRequest`` as JSON), read in November 2026. vLLM's ``run_batch``
takes the form of OpenAI's chat completions.
"""

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from scbench.base.errors import PredictionsError, did_you_mean
from scbench.base.model import Instance, task_of
from scbench.formats.custom_id import RequestKey
from scbench.release.load import Release

_MOST_NAMED = 5
Line = dict[str, Any]

# What could steer a terminal, which is where lines may go; escaped, the JSON is the
# same.
_STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

LEFT_OUT = "left-out.jsonl"
NEEDS_VISION = "the prompt has a picture, and was left out by --no-images"


class Form(StrEnum):
    """Whose lines are written."""

    SCBENCH = "scbench"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    MISTRAL = "mistral"
    HARBOR = "harbor"


@dataclass(frozen=True, slots=True)
class Request:
    """One try at one instance."""

    instance: Instance
    sample: int
    budget: int | None

    @property
    def key(self) -> RequestKey:
        """What its id carries."""
        return RequestKey(self.instance.id, self.sample, self.budget)


def chosen_instances(
    release: Release, names: Sequence[str] | None, ids: Collection[str] | None = None
) -> list[Instance]:
    """Return the instances that are to be put to a model, in the order of the release.

    Args:
        release: which holds them; one of its configs if theirs are wanted.
        names: tasks and buckets; None for those of the default config, or for all of them where
            ids are named.
        ids: only these; None for all.

    Raises:
        ScbenchError: a task, bucket or id is not in the release.
    """
    if names is None and ids is not None:
        tasks = [
            task for task in release.manifest.tasks if task in {*map(task_of, ids)}
        ]
    else:
        tasks = release.manifest.named_tasks(names)
    rows = release.instances(tasks)
    selection = rows.keys() if ids is None else {*ids}
    unknown = sorted(selection - rows.keys())
    if unknown:
        hint = did_you_mean(unknown[0], release.ids(release.manifest.tasks))
        count = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise PredictionsError(
            f"{unknown[0]!r}{count} is not among what is chosen of release {release.version}.{hint}"
        )
    return [instance for row_id, instance in rows.items() if row_id in selection]


class Selected(NamedTuple):
    """What is put to a model: instances, and the config and tasks that tables are about."""

    release: Release
    tasks: list[str] | None
    instances: list[Instance]


def select(
    release: Release,
    variant: str = "default",
    tasks: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> Selected:
    """Find the instances that an evaluation tool asks for.

    Args:
        release: which holds them.
        variant: default, terse, ladder or pictures.
        tasks: tasks and buckets; None for those of the config, or for all if ids need others.
        ids: only these instances; None for all.

    Raises:
        ScbenchError: there is no such config, task, bucket or instance.
    """
    beside = [] if variant == "default" else [variant]
    source, names = release.choose([*(tasks or ()), *beside] or None)
    if ids is not None and not beside:
        source = source.fitting(min(ids, default=""))
    instances = chosen_instances(source, names, None if ids is None else {*ids})
    if names is None and {row.task for row in instances} - {
        *source.manifest.default_tasks
    }:
        names = list(source.manifest.tasks)
    return Selected(source, names, instances)


def requests(
    instances: Sequence[Instance], samples: int = 1, budgets: Sequence[int] = ()
) -> Iterator[Request]:
    """Yield every try: all instances once at each budget, and then all of them again.

    A batch that is cut off so lacks whole samples first, not whole tasks.
    """
    for sample, budget, instance in product(
        range(samples), budgets or (None,), instances
    ):
        yield Request(instance, sample, budget)


def told_apart(instances: Sequence[Instance]) -> Mapping[bool, list[Instance]]:
    """Return the instances that need vision (True) and the others (False)."""
    return {
        needs: [instance for instance in instances if bool(instance.images) == needs]
        for needs in (True, False)
    }


def ids_in_words(instances: Sequence[Instance]) -> str:
    """Return the ids of instances for a sentence; of many, the first."""
    ids = [instance.id for instance in instances]
    omitted = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return f"{', '.join(ids[:_MOST_NAMED])}{omitted}"


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
    Form.MISTRAL: _OPENAI,  # it takes more
}


# Forms whose lines name no model, or need not.
_NAMELESS = {Form.SCBENCH, Form.GEMINI, Form.MISTRAL, Form.HARBOR}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is asked.

    Attributes:
        model: the provider's name of it. Files of Gemini and Mistral have none: the job names it.
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
    if settings.model is None and form not in _NAMELESS:
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


def _token_limit(request: Request, settings: Settings, key: str) -> Line:
    limit = settings.max_output_tokens if request.budget is None else request.budget
    return {} if limit is None else {key: limit}


def data_urls(instance: Instance) -> list[str]:
    """Return the pictures of a prompt as URLs that hold them."""
    return [f"data:image/png;base64,{image}" for image in _base64_images(instance)]


def _base64_images(instance: Instance) -> list[str]:
    return [base64.b64encode(image).decode() for image in instance.images]


def _answer_schema(request: Request) -> JsonValue:
    schema: JsonValue = json.loads(request.instance.answer_schema)
    return schema


def _scbench_line(request: Request, settings: Settings) -> Line:
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
        **({"answer_schema": _answer_schema(request)} if settings.structured else {}),
        **_token_limit(request, settings, "max_output_tokens"),
    }


def _openai_chat_line(request: Request, settings: Settings) -> Line:
    text = request.instance.prompt
    pictures = [
        {"type": "image_url", "image_url": {"url": url}}
        for url in data_urls(request.instance)
    ]
    body = {
        "model": settings.model,
        "messages": [
            # Text alone is what every server that speaks this takes.
            {
                "role": "user",
                "content": [{"type": "text", "text": text}, *pictures]
                if pictures
                else text,
            }
        ],
        **_token_limit(request, settings, "max_completion_tokens"),
    }
    if settings.structured:
        schema = {"name": "answer", "strict": True, "schema": _answer_schema(request)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return _posted_line(request, "/v1/chat/completions", body)


def _mistral_line(request: Request, settings: Settings) -> Line:
    body = _openai_chat_line(request, replace(settings, max_output_tokens=None))["body"]
    body |= {
        "max_tokens": body.pop("max_completion_tokens", settings.max_output_tokens)
    }
    return {
        "custom_id": request.key.custom_id,
        "body": {key: value for key, value in body.items() if value is not None},
    }


def _openai_responses_line(request: Request, settings: Settings) -> Line:
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
        **_token_limit(request, settings, "max_output_tokens"),
    }
    if settings.structured:
        schema = {"name": "answer", "strict": True, "schema": _answer_schema(request)}
        body["text"] = {"format": {"type": "json_schema", **schema}}
    return _posted_line(request, "/v1/responses", body)


def _posted_line(request: Request, url: str, body: Line) -> Line:
    return {
        "custom_id": request.key.custom_id,
        "method": "POST",
        "url": url,
        "body": body,
    }


def _anthropic_line(request: Request, settings: Settings) -> Line:
    pictures = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        }
        for data in _base64_images(request.instance)
    ]
    body = {
        "model": settings.model,
        **_token_limit(request, settings, "max_tokens"),
        "messages": [
            {
                "role": "user",
                "content": [
                    *pictures,
                    {"type": "text", "text": request.instance.prompt},
                ],
            }
        ],
    }
    if settings.structured:
        body["output_config"] = {
            "format": {"type": "json_schema", "schema": _answer_schema(request)}
        }
    return {"custom_id": request.key.custom_id, "params": body}


def _gemini_line(request: Request, settings: Settings) -> Line:
    parts = [
        {"text": request.instance.prompt},
        *(
            {"inlineData": {"mimeType": "image/png", "data": data}}
            for data in _base64_images(request.instance)
        ),
    ]
    config = _token_limit(request, settings, "maxOutputTokens")
    if settings.structured:
        config |= {
            "responseMimeType": "application/json",
            "responseJsonSchema": _answer_schema(request),
        }
    return {
        "key": request.key.custom_id,
        "request": {
            "contents": [{"role": "user", "parts": parts}],
            **({"generationConfig": config} if config else {}),
        },
    }


_FORMS: Mapping[Form, Callable[[Request, Settings], Line]] = {
    Form.SCBENCH: _scbench_line,
    Form.OPENAI_CHAT: _openai_chat_line,
    Form.OPENAI_RESPONSES: _openai_responses_line,
    Form.ANTHROPIC: _anthropic_line,
    Form.GEMINI: _gemini_line,
    Form.MISTRAL: _mistral_line,
}


def write_files(lines: Iterable[bytes], folder: Path, limits: Limits) -> list[Path]:
    """Write lines to ``prompts-001.jsonl`` and on in a folder, and return the files.

    Raises:
        PredictionsError: the folder holds such files already, or a line alone is too long.
    """
    folder.mkdir(parents=True, exist_ok=True)
    existing = sorted([*folder.glob("prompts-*.jsonl"), *folder.glob(LEFT_OUT)])
    if existing:
        raise PredictionsError(
            f"{existing[0]} is there already; name another --out, or move it away"
        )
    paths = []
    for number, block in enumerate(blocks(lines, limits), 1):
        path = folder / f"prompts-{number:03d}.jsonl"
        with path.open("xb") as stream:
            stream.writelines(block)
        paths.append(path)
    return paths


def blocks(lines: Iterable[bytes], limits: Limits) -> Iterator[Iterator[bytes]]:
    """Yield lines as files take them: each block is to be read before the next is asked for.

    Raises:
        PredictionsError: a line alone is longer than a file may be.
    """
    remainder = iter(lines)
    first = next(remainder, None)

    def block() -> Iterator[bytes]:
        nonlocal first
        count = size = 0
        while (
            first is not None
            and count < limits.lines
            and size + len(first) <= limits.bytes
        ):
            count, size = count + 1, size + len(first)
            yield first
            first = next(remainder, None)

    while first is not None:
        if len(first) > limits.bytes:
            raise PredictionsError(
                f"a request of {len(first):,} bytes; the provider takes {limits.bytes:,} in a file"
            )
        yield block()


def write_left_out(requests: Iterable[Request], path: Path) -> None:
    """Write which requests were not made, as lines that `scbench-grade` counts as ``not_run``.

    They name no model: providers give it a longer name than it was asked by, and these lines are to
    belong to the same run as the replies.
    """
    with path.open("x", encoding="utf-8") as stream:
        for request in requests:
            line = {
                "custom_id": request.key.custom_id,
                "status": "not_run",
                "error": NEEDS_VISION,
            }
            stream.write(json.dumps(line) + "\n")
