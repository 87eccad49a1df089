"""Replies in the batch files of providers: OpenAI, vLLM, Anthropic, Gemini, Bedrock.

Sources: openai 3.54 ``types/chat/chat_completion.py``, ``types/responses/response.py``; anthropic
2.12 ``types/messages/message_batch_individual_response.py``, ``types/stop_reason.py``;
google-genai 3.4 ``types.FinishReason``, ``types.BlockedReason``; vllm 0.33
``entrypoints/launchers/run_batch.py``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scbench.base.errors import PredictionsError
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.entries import (
    Entry,
    Reply,
    State,
    call_arguments,
    chat_outcome,
    content_text,
    dig,
    failed_reply,
    first_field,
    joined_text,
    objects,
    refusal_text,
    reply,
    request_key,
    state_of,
    token_counts,
    with_calls,
)

_HTTP_OK = 200


def openai(entry: Entry) -> Iterator[Reply]:
    """Read a line of an output or error file of OpenAI or vLLM."""
    request = request_key(entry.get("custom_id"))
    response = entry.get("response")
    body = dig(response, "body")
    if body is None and _is_body(response):
        body = response
    code = dig(response, "status_code")
    is_error = code is not None and code != _HTTP_OK
    if entry.get("error") or is_error or not isinstance(body, Mapping):
        http_status = f"HTTP {code}" if isinstance(code, int) else ""
        model = dig(body, "model")
        yield failed_reply(request, entry.get("error"), body, http_status, model=model)
    elif body.get("object") == "response" or "output" in body:
        yield responses_reply(request, body)
    else:
        yield from chat_replies(request, body)


def body_replies(request: RequestKey, body: Entry) -> Iterator[Reply]:
    """Yield the replies in a provider's response to one call; none if its format is unknown."""
    if isinstance(body.get("choices"), list):
        yield from chat_replies(request, body)
    elif isinstance(body.get("output"), list):
        yield responses_reply(request, body)
    elif "stop_reason" in body and isinstance(body.get("content"), list):
        yield anthropic_reply(request, body)
    elif {"candidates", "promptFeedback", "prompt_feedback"} & body.keys():
        yield from gemini_replies(request, body)
    elif body.get("error"):
        yield failed_reply(request, body, model=body.get("model"))


def _is_body(value: object) -> bool:
    return isinstance(dig(value, "choices") or dig(value, "output"), list)


def chat_replies(request: RequestKey, body: Entry) -> Iterator[Reply]:
    """Yield the choices of a chat completion; several are samples of one request."""
    model = body.get("model")
    counts = token_counts(
        [body.get("usage")],
        inputs="prompt_tokens",
        outputs="completion_tokens",
        reasoning="completion_tokens_details.reasoning_tokens",
    )
    choices = objects(body.get("choices"))
    if not choices:
        yield failed_reply(request, body, "the reply contains no choices", model=model)
    for place, choice in enumerate(choices):
        message = choice.get("message")
        text, state = chat_outcome(message, choice.get("finish_reason"))
        thought = dig(message, "reasoning") or dig(message, "reasoning_content")
        sample = request._replace(sample=request.sample + place)
        yield reply(sample, model, text, state, counts, joined_text([thought]))


def responses_reply(request: RequestKey, body: Entry) -> Reply:
    """Return the reply in a body of OpenAI's Responses interface."""
    counts = token_counts(
        [body.get("usage")],
        inputs="input_tokens",
        outputs="output_tokens",
        reasoning="output_tokens_details.reasoning_tokens",
    )
    items = objects(body.get("output"))
    # Before the final message, models may comment on their work in messages of other
    # phases.
    final_items = [item for item in items if item.get("phase") == "final_answer"]
    messages = final_items or items
    parts = [part for item in messages for part in objects(item.get("content"))]
    # Tool calls are separate items next to messages.
    text = with_calls(content_text(parts), [content_text(items)])
    refusal = refusal_text({"content": parts})
    summaries = [part for item in items for part in objects(item.get("summary"))]
    thought = joined_text(part.get("text") for part in summaries)
    error = ""
    match body.get("status"):
        case "completed" | None:
            state = State(Status.REFUSED if refusal else None, "completed")
        case "incomplete":
            reason = dig(body, "incomplete_details", "reason")
            state = state_of(reason or "incomplete", text=bool(text))
        case "failed":
            code = dig(body, "error", "code")
            # Codes of filters contain "policy", such as bio_policy; OpenAI adds new
            # ones.
            blocked = isinstance(code, str) and "policy" in code
            state = state_of("failed", text=bool(text))
            if blocked:
                state = State(Status.BLOCKED, "failed")
            error = f"{code}: {dig(body, 'error', 'message')}"
        case status:
            state = state_of(str(status), text=bool(text))
    model = body.get("model")
    return reply(request, model, text or refusal, state, counts, thought, error)


def anthropic(entry: Entry) -> Iterator[Reply]:
    """Read a line of the results of a message batch."""
    request = request_key(entry.get("custom_id"))
    result = entry.get("result")
    message = dig(result, "message")
    kind = dig(result, "type")
    if kind != "succeeded" or not isinstance(message, Mapping):
        error = result if dig(result, "error") else None
        yield failed_reply(request, error, kind)
        return
    yield anthropic_reply(request, message)


def anthropic_reply(request: RequestKey, message: Entry) -> Reply:
    """Return the reply in a message of Anthropic."""
    counts = token_counts(
        [message.get("usage")],
        inputs="input_tokens cache_creation_input_tokens cache_read_input_tokens",
        outputs="output_tokens",
        reasoning="output_tokens_details.thinking_tokens",
    )
    blocks = objects(message.get("content"))
    text = content_text(blocks) or ""
    thoughts = [block for block in blocks if block.get("type") == "thinking"]
    thought = joined_text(block.get("thinking") for block in thoughts)
    state = state_of(message.get("stop_reason"), text=bool(text))
    return reply(request, message.get("model"), text, state, counts, thought)


def bedrock(entry: Entry) -> Iterator[Reply]:
    """Read a line of Bedrock's batches, for models with Anthropic's or OpenAI's reply format.

    Raises:
        PredictionsError: the reply has neither form.
    """
    output = entry.get("modelOutput")
    line: dict[str, Any] = {"custom_id": entry.get("recordId")}
    if isinstance(dig(output, "content"), list):
        line["result"] = {"type": "succeeded", "message": output}
        return anthropic(line)
    if output is not None and not _is_body(output):
        raise PredictionsError(
            "Bedrock: this model uses neither Anthropic's nor OpenAI's reply format"
        )
    line["response"] = output
    error = entry.get("error")
    if error:
        code = dig(error, "errorCode") or ""
        message = dig(error, "errorMessage") or ""
        line["error"] = f"{code} {message}".strip()
    return openai(line)


def vertex(entry: Entry) -> Iterator[Reply]:
    """Refuse a line of a batch job of Vertex AI, which does not name its request.

    Raises:
        PredictionsError: always.
    """
    raise PredictionsError(
        f"Vertex AI: the line has no key (it has {len(entry)} fields); write requests "
        "with `scbench prompts --format gemini`, or join outputs with ids and use --map"
    )


def gemini(entry: Entry) -> Iterator[Reply]:
    """Read a line of a results file, or one of a job's inlined responses."""
    name = entry.get("key")
    if name is None:
        name = first_field(entry.get("metadata"), ("key", "custom_id", "id"))
    request = request_key(name)
    response = entry.get("response")
    model = gemini_field(response, "modelVersion")
    if entry.get("error") or not isinstance(response, Mapping):
        yield failed_reply(request, entry.get("error"), model=model)
        return
    yield from gemini_replies(request, response)


def gemini_replies(request: RequestKey, response: Entry) -> Iterator[Reply]:
    """Yield the candidates in a response of Gemini; several are samples of one request."""
    model = gemini_field(response, "modelVersion")
    counts = token_counts(
        [gemini_field(response, "usageMetadata")],
        inputs="promptTokenCount toolUsePromptTokenCount",
        # Token counts of candidates exclude thoughts; a reply with only thoughts has no
        # other count.
        outputs="candidatesTokenCount thoughtsTokenCount",
        reasoning="thoughtsTokenCount",
        look=gemini_field,
    )
    block = gemini_field(gemini_field(response, "promptFeedback"), "blockReason")
    if block:
        state = State(Status.BLOCKED, str(block))
        error = f"the prompt was blocked: {block}"
        yield reply(request, model, None, state, counts, error=error)
        return
    candidates = objects(response.get("candidates"))
    if not candidates:
        error = "the reply contains neither candidates nor a reason"
        yield failed_reply(request, error, model=model)
    for place, candidate in enumerate(candidates):
        parts = objects(dig(candidate, "content", "parts"))
        spoken = joined_text(
            part.get("text") for part in parts if not part.get("thought")
        )
        thought = joined_text(part.get("text") for part in parts if part.get("thought"))
        calls = [gemini_field(part, "functionCall") for part in parts]
        text = with_calls(spoken, map(call_arguments, calls)) or ""
        state = state_of(gemini_field(candidate, "finishReason"), text=bool(text))
        sample = request._replace(sample=request.sample + place)
        yield reply(sample, model, text, state, counts, thought)


def gemini_field(value: object, name: str) -> Any:  # noqa: ANN401  (JSON)
    """Return a field by its JSON name or by the Python library's name."""
    content = dig(value, name)
    if content is not None:
        return content
    snake_case = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return dig(value, snake_case)


def left_out(entry: Entry) -> Iterator[Reply]:
    """Read a request that `scbench prompts` left out; it has no reply."""
    fields = {"status": "not_run", "error": str(entry.get("error"))}
    yield Reply(request_key(entry.get("custom_id")), fields=fields)
