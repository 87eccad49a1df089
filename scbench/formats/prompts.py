"""Requests to a model: items, samples, and lines in providers' formats.

A request is one sample for one instance. Nothing here talks to a provider: requests
become lines in our own format or in the batch formats of OpenAI, Anthropic, Gemini and
Mistral, in files within the provider's limits. The formats follow the providers' own
libraries (openai 3.54 ``types/batch_create_params.py``, anthropic 2.12
``types/messages/batch_create_params.py``, google-genai 3.4 ``types.InlinedRequest`` as
JSON), read in November 2026. vLLM's ``run_batch`` takes the format of OpenAI's chat
completions.
"""

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from scbench.base.errors import PredictionsError, did_you_mean
from scbench.base.model import Instance, task_of
from scbench.formats.custom_id import RequestKey
from scbench.formats.forms import Form, Limits
from scbench.release.load import Release

# A line, or a part of one, as JSON.
Line = dict[str, Any]

LEFT_OUT = "left-out.jsonl"
NEEDS_VISION = "the prompt has a picture and was left out (--no-images)"
# Maximum number of ids in a sentence.
_MAX_NAMES = 5
# OpenAI and compatible servers show pictures to models at full size.
_DETAIL = "high"
# Characters that could steer a terminal, which lines may be printed to: control
# characters, invisible characters, and characters that change the direction of text.
# Escaping them does not change the meaning of the JSON.
_STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
# Formats whose lines do not name a model, or need not.
_NAMELESS = {Form.SCBENCH, Form.GEMINI, Form.MISTRAL, Form.HARBOR}
_OPENAI_LIMITS = Limits(50_000, 200_000_000)
LIMITS: Mapping[Form, Limits] = {
    Form.SCBENCH: Limits(10**9, 10**15),
    Form.OPENAI_CHAT: _OPENAI_LIMITS,
    Form.OPENAI_RESPONSES: _OPENAI_LIMITS,
    # All lines of a file are sent in one request, as a list that adds a few bytes.
    Form.ANTHROPIC: Limits(100_000, 255_000_000),
    Form.GEMINI: Limits(10**9, 2_000_000_000),
    # Mistral's own limits are higher.
    Form.MISTRAL: _OPENAI_LIMITS,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One sample for one instance."""

    instance: Instance
    sample: int
    budget: int | None

    @property
    def key(self) -> RequestKey:
        """The instance, sample and budget as a custom_id."""
        return RequestKey(self.instance.id, self.sample, self.budget)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of all requests.

    Attributes:
        model: the provider's name of the model. Files of Gemini and Mistral do not
            contain it, because the job names the model.
        structured: whether the reply must match the instance's answer schema.
        max_output_tokens: limit of a reply, for requests without a budget.
    """

    model: str | None = None
    structured: bool = False
    max_output_tokens: int | None = None


class Selected(NamedTuple):
    """The instances of an evaluation, and the config and tasks of its tables."""

    release: Release
    tasks: list[str] | None
    instances: list[Instance]


# Instances and requests


def select(
    release: Release,
    variant: str = "default",
    tasks: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> Selected:
    """Return the instances that an evaluation tool asks for.

    Args:
        release: contains them.
        variant: default, terse, ladder or pictures.
        tasks: tasks and buckets; None for the tasks of the config, or for all tasks if
            ids belong to others.
        ids: only these instances; None for all.

    Raises:
        ScbenchError: there is no such config, task, bucket or instance.
    """
    choices = list(tasks or ())
    if variant != "default":
        choices.append(variant)
    source, names = release.choose(choices or None)
    if ids is not None and variant == "default":
        # Ids of other configs show their config.
        source = source.fitting(min(ids, default=""))
    instances = chosen_instances(source, names, None if ids is None else {*ids})
    selected_tasks = {instance.task for instance in instances}
    if names is None and selected_tasks - {*source.manifest.default_tasks}:
        names = list(source.manifest.tasks)
    return Selected(source, names, instances)


def chosen_instances(
    release: Release, names: Sequence[str] | None, ids: Collection[str] | None = None
) -> list[Instance]:
    """Return instances in the order of the release.

    Args:
        release: the release, or the config of a release, that contains them.
        names: tasks and buckets; None for the tasks of the default config, or for all
            tasks if there are ids.
        ids: only these instances; None for all.

    Raises:
        ScbenchError: a task, bucket or id is not in the release.
    """
    if names is None and ids is not None:
        tasks_of_ids = {*map(task_of, ids)}
        tasks = [task for task in release.manifest.tasks if task in tasks_of_ids]
    else:
        tasks = release.manifest.named_tasks(names)
    rows = release.instances(tasks)
    selection = rows.keys() if ids is None else {*ids}
    unknown = sorted(selection - rows.keys())
    if unknown:
        hint = did_you_mean(unknown[0], release.ids(release.manifest.tasks))
        count = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise PredictionsError(
            f"the selected items of release {release.version} do not include "
            f"{unknown[0]!r}{count}.{hint}"
        )
    return [instance for row_id, instance in rows.items() if row_id in selection]


class SplitByImages(NamedTuple):
    """Instances that need vision, because their prompts have images, and the others."""

    with_images: list[Instance]
    without_images: list[Instance]


def split_by_images(instances: Sequence[Instance]) -> SplitByImages:
    """Split instances by whether they need vision."""
    parts = SplitByImages([], [])
    for instance in instances:
        if instance.images:
            parts.with_images.append(instance)
        else:
            parts.without_images.append(instance)
    return parts


def ids_in_words(instances: Sequence[Instance]) -> str:
    """Return the ids of instances for a sentence, or the first ones if there are many."""
    ids = [instance.id for instance in instances]
    omitted = f" and {len(ids) - _MAX_NAMES} more" if len(ids) > _MAX_NAMES else ""
    return f"{', '.join(ids[:_MAX_NAMES])}{omitted}"


def requests(
    instances: Sequence[Instance], samples: int = 1, budgets: Sequence[int] = ()
) -> Iterator[Request]:
    """Yield every attempt: the first sample of all instances at each budget, then the next sample.

    With this order, an incomplete batch misses whole samples, not whole tasks.
    """
    for sample in range(samples):
        for budget in budgets or (None,):
            for instance in instances:
                yield Request(instance, sample, budget)


# Lines


def check_settings(form: Form, settings: Settings, *, budgets: bool) -> None:
    """Reject settings that the provider would reject.

    Raises:
        PredictionsError: the model or the limit of tokens is missing.
    """
    if settings.model is None and form not in _NAMELESS:
        raise PredictionsError(f"--format {form} needs --model")
    if form is Form.ANTHROPIC and settings.max_output_tokens is None and not budgets:
        raise PredictionsError(
            "--format anthropic needs a limit of output tokens: add --max-output-tokens "
            "or --budget"
        )


def line_of(request: Request, form: Form, settings: Settings) -> bytes:
    """Return a request as a line, with its line break.

    Raises:
        PredictionsError: the id of the request does not fit in a batch.
    """
    line = line_in_form(request, form, settings)
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return _STEERING.sub(_escaped, text).encode() + b"\n"


def line_in_form(request: Request, form: Form, settings: Settings) -> Line:
    """Return a request as JSON in a provider's format."""
    match form:
        case Form.SCBENCH:
            return scbench_line(request, settings)
        case Form.OPENAI_CHAT:
            return openai_chat_line(request, settings)
        case Form.OPENAI_RESPONSES:
            return openai_responses_line(request, settings)
        case Form.ANTHROPIC:
            return anthropic_line(request, settings)
        case Form.GEMINI:
            return gemini_line(request, settings)
        case Form.MISTRAL:
            return mistral_line(request, settings)
        case Form.HARBOR:
            raise ValueError("Harbor reads folders of tasks, not lines")


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


def data_urls(instance: Instance) -> list[str]:
    """Return the pictures of a prompt as URLs that contain them."""
    return [f"data:image/png;base64,{image}" for image in base64_images(instance)]


def base64_images(instance: Instance) -> list[str]:
    """Return the pictures of a prompt, PNG files in base64."""
    return [base64.b64encode(image).decode() for image in instance.images]


def scbench_line(request: Request, settings: Settings) -> Line:
    """Return a request in our own format."""
    instance = request.instance
    line: Line = {"id": instance.id}
    if settings.model:
        line["model"] = settings.model
    line["sample"] = request.sample
    if request.budget is not None:
        line["budget"] = request.budget
    line["instance_hash"] = instance.content_hash
    line["custom_id"] = request.key.custom_id
    line["prompt"] = instance.prompt
    line["images"] = data_urls(instance)
    if settings.structured:
        line["answer_schema"] = json.loads(instance.answer_schema)
    return line | _token_limit(request, settings, "max_output_tokens")


def openai_chat_line(request: Request, settings: Settings) -> Line:
    """Return a request in the format of OpenAI's chat completions."""
    instance = request.instance
    # Compatible servers may accept only text as content.
    content: Any = instance.prompt
    if instance.images:
        content = [{"type": "text", "text": instance.prompt}]
        for url in data_urls(instance):
            picture = {"url": url, "detail": _DETAIL}
            content.append({"type": "image_url", "image_url": picture})
    body: Line = {
        "model": settings.model,
        "messages": [{"role": "user", "content": content}],
        **_token_limit(request, settings, "max_completion_tokens"),
    }
    if settings.structured:
        schema = _openai_schema(instance)
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return _openai_line(request, "/v1/chat/completions", body)


def openai_responses_line(request: Request, settings: Settings) -> Line:
    """Return a request in the format of OpenAI's responses."""
    instance = request.instance
    content: list[Line] = [{"type": "input_text", "text": instance.prompt}]
    content += [
        {"type": "input_image", "detail": _DETAIL, "image_url": url}
        for url in data_urls(instance)
    ]
    body: Line = {
        "model": settings.model,
        "input": [{"role": "user", "content": content}],
        **_token_limit(request, settings, "max_output_tokens"),
    }
    if settings.structured:
        body["text"] = {"format": {"type": "json_schema", **_openai_schema(instance)}}
    return _openai_line(request, "/v1/responses", body)


def _openai_line(request: Request, url: str, body: Line) -> Line:
    custom_id = request.key.custom_id
    return {"custom_id": custom_id, "method": "POST", "url": url, "body": body}


def _openai_schema(instance: Instance) -> Line:
    schema = json.loads(instance.answer_schema)
    return {"name": "answer", "strict": True, "schema": schema}


def mistral_line(request: Request, settings: Settings) -> Line:
    """Return a request in Mistral's format: OpenAI's older chat completions, without a URL."""
    body = openai_chat_line(request, settings)["body"]
    limit = body.pop("max_completion_tokens", None)
    if limit is not None:
        body["max_tokens"] = limit
    if settings.model is None:
        del body["model"]
    return {"custom_id": request.key.custom_id, "body": body}


def anthropic_line(request: Request, settings: Settings) -> Line:
    """Return a request in the format of Anthropic's message batches."""
    instance = request.instance
    content: list[Line] = []
    for data in base64_images(instance):
        source = {"type": "base64", "media_type": "image/png", "data": data}
        content.append({"type": "image", "source": source})
    content.append({"type": "text", "text": instance.prompt})
    body: Line = {
        "model": settings.model,
        **_token_limit(request, settings, "max_tokens"),
        "messages": [{"role": "user", "content": content}],
    }
    if settings.structured:
        schema = json.loads(instance.answer_schema)
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return {"custom_id": request.key.custom_id, "params": body}


def gemini_line(request: Request, settings: Settings) -> Line:
    """Return a request in the format of Gemini's batches."""
    instance = request.instance
    parts: list[Line] = [{"text": instance.prompt}]
    parts += [
        {"inlineData": {"mimeType": "image/png", "data": data}}
        for data in base64_images(instance)
    ]
    body: Line = {"contents": [{"role": "user", "parts": parts}]}
    config = _token_limit(request, settings, "maxOutputTokens")
    if settings.structured:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = json.loads(instance.answer_schema)
    if config:
        body["generationConfig"] = config
    return {"key": request.key.custom_id, "request": body}


def _token_limit(request: Request, settings: Settings, field: str) -> Line:
    """Return the limit of output tokens under the provider's name; nothing if there is none."""
    limit = settings.max_output_tokens if request.budget is None else request.budget
    return {} if limit is None else {field: limit}


# Files


def write_files(lines: Iterable[bytes], folder: Path, limits: Limits) -> list[Path]:
    """Write lines to ``prompts-001.jsonl`` and so on, in a folder, and return the files.

    Raises:
        PredictionsError: the folder already contains such files, or a single line is
            too long for a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    existing = sorted([*folder.glob("prompts-*.jsonl"), *folder.glob(LEFT_OUT)])
    if existing:
        raise PredictionsError(
            f"{existing[0]} already exists; move it elsewhere, or choose another --out"
        )
    paths = []
    for number, block in groupby(file_numbers(lines, limits), key=itemgetter(0)):
        path = folder / f"prompts-{number:03d}.jsonl"
        with path.open("xb") as stream:
            stream.writelines(line for _, line in block)
        paths.append(path)
    return paths


def file_numbers(lines: Iterable[bytes], limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield lines with the number of the file that each belongs to, from 1.

    Raises:
        PredictionsError: a single line is too long for a file.
    """
    number = 1
    count = 0
    size = 0
    for line in lines:
        if len(line) > limits.bytes:
            raise PredictionsError(
                f"a request has {len(line):,} bytes, but the provider accepts only "
                f"{limits.bytes:,} in a file"
            )
        if count == limits.lines or size + len(line) > limits.bytes:
            number += 1
            count = 0
            size = 0
        count += 1
        size += len(line)
        yield number, line


def write_left_out(requests: Iterable[Request], path: Path) -> None:
    """Write requests that were not made, as lines that `scbench-grade` counts as ``not_run``.

    The lines do not name a model: the model's name in replies may be longer than in
    requests, and these lines must belong to the same run as the replies.
    """
    with path.open("x", encoding="utf-8") as stream:
        for request in requests:
            line = {
                "custom_id": request.key.custom_id,
                "status": "not_run",
                "error": NEEDS_VISION,
            }
            stream.write(json.dumps(line) + "\n")
