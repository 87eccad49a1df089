"""Entries of the providers' batches (OpenAI, vLLM, Anthropic, Gemini) and of evaluation harnesses.

Which state is which status of ours is one table, the same for all: what the provider's filter
withheld is ``blocked``, a model that declines is ``refused``, a reply that met its limit is
``truncated`` (and read all the same), and whatever else kept the model from ending is
``api_error``. The providers' own word stays in ``finish_reason``. Their lists of states grow, so an
unknown one is ``api_error`` and never an error of ours.

Scores of harnesses are not read: replies are graded anew, so that all ways give the same. The
library of verifiers cannot be installed beside Inspect's, so its lines are read without it.

Sources: openai 3.54 ``types/chat/chat_completion.py``, ``types/responses/response.py``; anthropic
2.12 ``types/messages/message_batch_individual_response.py``, ``types/stop_reason.py``;
google-genai 3.4 ``types.FinishReason``, ``types.BlockedReason``; vllm 0.33
``entrypoints/launchers/run_batch.py``; lm-eval 0.4.13 ``result_schema.py``; lighteval 0.13
``logging/evaluation_tracker.py``; verifiers 0.4 ``v1/episode.py``, ``v1/trace.py``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from scbench.base.errors import PredictionsError
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.replies import (
    Entry,
    Reply,
    State,
    content_text,
    count,
    dig,
    error_text,
    failed,
    joined,
    objects,
    reply,
    request_key,
    total,
    with_turns,
)

_STATES = {
    None: ("stop", "tool_calls", "function_call", "end_turn", "stop_sequence", "tool_use"),
    Status.TRUNCATED: (
        *("length", "abort", "repetition"),  # the last two are vLLM's
        *("max_output_tokens", "max_messages"),
        *("max_tokens", "model_context_window_exceeded", "pause_turn"),
    ),
    Status.REFUSED: ("refusal",),
    Status.BLOCKED: (
        *("content_filter", "safety", "recitation", "language", "blocklist"),
        *("prohibited_content", "spii", "model_armor"),
    ),
}
_STATUS = {word: status for status, words in _STATES.items() for word in words}
_ENDED = State(None, None)
_NAMES = ("id", "scbench_id", "instance_id", "custom_id")


def state_of(finish: object, *, text: bool) -> State:
    """Return how a call ended by its finish reason; none is given where it ended as it should.

    Args:
        finish: in the words of any provider.
        text: whether there is some.
    """
    if not isinstance(finish, str) or not finish:
        return State(None if text else Status.API_ERROR, None)
    word = finish.lower().rpartition(".")[2]
    blocked = Status.BLOCKED if word.startswith("image_") else Status.API_ERROR
    return State(_STATUS.get(word, blocked), finish)


def openai(entry: Entry) -> Iterator[Reply]:
    """Read a line of an output or error file of OpenAI or vLLM."""
    request = request_key(entry.get("custom_id"))
    body = dig(entry, "response", "body")
    code = dig(entry, "response", "status_code")
    if entry.get("error") or code not in {200, None} or not isinstance(body, Mapping):
        http_status = f"HTTP {code}" if isinstance(code, int) else ""
        yield failed(request, entry.get("error"), body, http_status, model=dig(body, "model"))
    elif body.get("object") == "response" or "output" in body:
        yield _of_responses(request, body)
    else:
        yield from _of_chat(request, body)


def _of_chat(request: RequestKey, body: Entry) -> Iterator[Reply]:
    usage = body.get("usage")
    counts = {
        "input_tokens": count(dig(usage, "prompt_tokens")),
        "output_tokens": count(dig(usage, "completion_tokens")),
        "reasoning_tokens": count(dig(usage, "completion_tokens_details", "reasoning_tokens")),
    }
    choices = objects(body.get("choices"))
    if not choices:
        yield failed(request, body, "the reply holds no choices", model=body.get("model"))
    for place, choice in enumerate(choices):
        message = choice.get("message")
        text = content_text(dig(message, "content"))
        refusal = dig(message, "refusal")
        state = state_of(choice.get("finish_reason"), text=text is not None)
        if state.status is None and isinstance(refusal, str) and refusal:
            text, state = text or refusal, State(Status.REFUSED, state.finish)
        thought = dig(message, "reasoning") or dig(message, "reasoning_content")
        yield reply(
            request._replace(sample=request.sample + place),
            body.get("model"),
            # Ended as it should and said nothing: that is the model's doing.
            text if text is not None or state.status is not None else "",
            state,
            counts,
            thought if isinstance(thought, str) else "",
        )


def _of_responses(request: RequestKey, body: Entry) -> Reply:
    usage = body.get("usage")
    counts = {
        "input_tokens": count(dig(usage, "input_tokens")),
        "output_tokens": count(dig(usage, "output_tokens")),
        "reasoning_tokens": count(dig(usage, "output_tokens_details", "reasoning_tokens")),
    }
    items = objects(body.get("output"))
    parts = [part for item in items for part in objects(item.get("content"))]
    text = content_text(parts) or ""
    refusals = joined(part.get("refusal") for part in parts if part.get("type") == "refusal")
    summaries = (part for item in items for part in objects(item.get("summary")))
    error = ""
    match body.get("status"):
        case "completed" | None:
            state = State(Status.REFUSED if refusals else None, "completed")
        case "incomplete":
            reason = dig(body, "incomplete_details", "reason")
            state = state_of(reason or "incomplete", text=bool(text))
        case "failed":
            failure = dig(body, "error", "code")
            policy = isinstance(failure, str) and "policy" in failure
            state = State(Status.BLOCKED if policy else Status.API_ERROR, "failed")
            error = f"{failure}: {dig(body, 'error', 'message')}"
        case other:
            state = State(Status.API_ERROR, str(other))
    thought = joined(part.get("text") for part in summaries)
    return reply(request, body.get("model"), text or refusals, state, counts, thought, error)


def anthropic(entry: Entry) -> Iterator[Reply]:
    """Read a line of the results of a message batch."""
    request = request_key(entry.get("custom_id"))
    result = entry.get("result")
    message = dig(result, "message")
    if dig(result, "type") != "succeeded" or not isinstance(message, Mapping):
        yield failed(request, result if dig(result, "error") else None, dig(result, "type"))
        return
    usage = message.get("usage")
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = {
        "input_tokens": total(dig(usage, name) for name in names),
        "output_tokens": count(dig(usage, "output_tokens")),
        "reasoning_tokens": count(dig(usage, "output_tokens_details", "thinking_tokens")),
    }
    blocks = objects(message.get("content"))
    text = content_text(blocks) or ""
    thought = joined(part.get("thinking") for part in blocks if part.get("type") == "thinking")
    state = state_of(message.get("stop_reason"), text=bool(text))
    yield reply(request, message.get("model"), text, state, counts, thought)


def gemini(entry: Entry) -> Iterator[Reply]:
    """Read a line of a results file, or one of a job's inlined responses."""
    names = (
        dig(entry, "key"),
        *(dig(entry, "metadata", key) for key in ("key", "custom_id", "id")),
    )
    request = request_key(next((name for name in names if name is not None), None))
    response = entry.get("response")
    model = _camel_or_snake(response, "modelVersion")
    if entry.get("error") or not isinstance(response, Mapping):
        yield failed(request, entry.get("error"), model=model)
        return
    usage = _camel_or_snake(response, "usageMetadata")
    thoughts = count(_camel_or_snake(usage, "thoughtsTokenCount"))
    inputs = ("promptTokenCount", "toolUsePromptTokenCount")
    candidate_tokens = count(_camel_or_snake(usage, "candidatesTokenCount"))
    counts = {
        "input_tokens": total(_camel_or_snake(usage, name) for name in inputs),
        # Thoughts are counted apart here; an answer of thoughts alone has no other count.
        "output_tokens": total([candidate_tokens, thoughts]),
        "reasoning_tokens": thoughts,
    }
    blocked = _camel_or_snake(_camel_or_snake(response, "promptFeedback"), "blockReason")
    candidates = objects(response.get("candidates"))
    if blocked:
        state = State(Status.BLOCKED, str(blocked))
        yield reply(request, model, None, state, counts, error=f"the prompt was blocked: {blocked}")
        return
    if not candidates:
        yield failed(request, "the reply holds neither candidates nor a reason", model=model)
    for place, candidate in enumerate(candidates):
        parts = objects(dig(candidate, "content", "parts"))
        text = joined(part.get("text") for part in parts if not part.get("thought"))
        thought = joined(part.get("text") for part in parts if part.get("thought"))
        state = state_of(_camel_or_snake(candidate, "finishReason"), text=bool(text))
        tried = request._replace(sample=request.sample + place)
        yield reply(tried, model, text, state, counts, thought)


def _camel_or_snake(value: object, name: str) -> Any:  # noqa: ANN401  (JSON)
    """Return a field by its name in JSON, or by the one that Python's library writes."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    field = dig(value, name)
    return dig(value, snake) if field is None else field


def lm_eval(entry: Entry, history: Counter[str]) -> Iterator[Reply]:
    """Read a line of ``samples_*.jsonl``; several replies to a document are so many samples.

    A document stands there once for each filter, with the same replies: only the first filter's
    lines are read.
    """
    name = f"filter {entry.get('filter')}"
    if history and name not in history:
        return
    history[name] += 1
    request = request_key(_first_field(entry.get("doc"), *_NAMES))
    replies = dig(entry, "resps", 0)
    if not isinstance(replies, list):
        replies = entry.get("resps") or entry.get("filtered_resps")
    texts = [text for text in replies or () if isinstance(text, str)]
    if not texts:
        raise PredictionsError(f"{request.id}: the line holds no reply in resps")
    for place, text in enumerate(texts):
        tried = request._replace(sample=request.sample + place)
        yield reply(tried, None, text, _ENDED, {})


def lighteval(entry: Entry) -> Iterator[Reply]:
    """Read a row of the details: columns ``doc``, ``metric`` and ``model_response``."""
    doc = entry.get("doc")
    request = request_key(_first_field(dig(doc, "specific"), *_NAMES) or _first_field(doc, *_NAMES))
    response = entry.get("model_response")
    texts = dig(response, "text")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts:
        raise PredictionsError(f"{request.id}: the row holds no text in model_response")
    for place, text in enumerate(texts):
        output_tokens = dig(response, "output_tokens", place)
        thought = dig(response, "reasonings", place)
        read = dig(response, "input_tokens")
        counts = {
            "input_tokens": len(read) if isinstance(read, list) and read else None,
            "output_tokens": len(output_tokens)
            if isinstance(output_tokens, list) and output_tokens
            else None,
        }
        tried = request._replace(sample=request.sample + place)
        content = text if isinstance(text, str) else ""
        thought = thought if isinstance(thought, str) else ""
        yield reply(tried, None, content, _ENDED, counts, thought)


def ended(text: str | None, finish: object) -> tuple[str | None, State]:
    """Return what a model said at last in verifiers, and how its call ended.

    Empty replies are not logged there, nor are reasons to stop but stop, length and tool_calls.
    What ended as it should and said nothing is the model's doing.
    """
    state = state_of(finish, text=text is not None)
    return ("" if text is None and state.status is None else text), state


def verifiers(entry: Entry, history: Counter[str]) -> Iterator[Reply]:
    """Read an episode of ``traces.jsonl``; rollouts of one task are its samples, in order."""
    task = entry.get("task")
    request = request_key(_first_field(dig(task, "data"), *_NAMES) or dig(task, "key"))
    request = request._replace(sample=request.sample + history[request.id])
    history[request.id] += 1
    traces = objects(entry.get("traces"))
    if not traces:
        error = next(filter(None, map(error_text, objects(entry.get("errors")))), "no trace")
        yield reply(request, None, None, State(Status.API_ERROR, None), {}, error=error)
        return
    trace = traces[0]
    calls = objects(trace.get("calls"))
    last = calls[-1] if calls else {}
    spoken = [
        content_text(dig(node, "message", "content"))
        for node in objects(trace.get("nodes"))
        if dig(node, "message", "role") == "assistant"
    ]
    text = spoken[-1] if spoken else None
    used = [call.get("usage") for call in calls]
    counts = {
        # What was read from a cache is not among the prompt's tokens.
        "input_tokens": total(
            dig(usage, name) for usage in used for name in ("prompt_tokens", "cached_input_tokens")
        ),
        "output_tokens": total(dig(usage, "completion_tokens") for usage in used),
        "reasoning_tokens": total(dig(usage, "reasoning_tokens") for usage in used),
    }
    errors = [*objects(trace.get("errors")), *objects(entry.get("errors"))]
    error = next(filter(None, map(error_text, errors)), "")
    if errors and text is None:
        state = State(Status.API_ERROR, None)
    else:
        text, state = ended(text, last.get("finish_reason"))
    last_reply = reply(
        request, last.get("model"), text, state, counts, error=error if text is None else ""
    )
    info = trace.get("info")
    yield with_turns(last_reply, info if isinstance(info, Mapping) else {})


def _first_field(value: object, *names: str) -> object:
    return next((field for name in names if (field := dig(value, name)) is not None), None)
