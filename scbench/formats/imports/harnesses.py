"""Replies in the files of evaluation harnesses: lm-evaluation-harness, lighteval, verifiers.

The library of verifiers cannot be installed together with that of Inspect, so its files
are read without it. Sources: lm-eval 0.4.13 ``result_schema.py``; lighteval 0.13
``logging/evaluation_tracker.py``; verifiers 0.4 ``v1/episode.py``, ``v1/trace.py``.
"""

from collections import Counter
from collections.abc import Iterator

from scbench.base.errors import PredictionsError
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.entries import (
    Entry,
    Reply,
    State,
    chat_outcome,
    dig,
    failed_reply,
    failure,
    first_error,
    first_field,
    joined_text,
    message_text,
    objects,
    reply,
    request_key,
    token_counts,
    with_turns,
)

# Field of the documents of our lm-eval tasks: the text that the harness writes for calls without
# text. Models do not see it.
NO_REPLY = "no_reply"
_NO_REPLY_ERROR = (
    "the call returned no text (filtered, or only reasoning); the log does not say why"
)
_TIMEOUT_ERROR = "the rollout reached the time limit of verifiers"
# Fields of a document that may contain the id.
_ID_FIELDS = ("id", "scbench_id", "instance_id", "custom_id")


def lm_eval(entry: Entry, history: Counter[str]) -> Iterator[Reply]:
    """Read a line of ``samples_*.jsonl``; several replies to a document are its samples.

    Args:
        entry: the line.
        history: the filter of the lines so far. A document has a line for each filter, with the
            same replies, so only the lines of the first filter are read.

    Raises:
        PredictionsError: the line has no reply.
    """
    name = f"filter {entry.get('filter')}"
    if history and name not in history:
        return
    history[name] += 1
    request = request_key(first_field(entry.get("doc"), _ID_FIELDS))
    replies = dig(entry, "resps", 0)
    if not isinstance(replies, list):
        replies = entry.get("resps") or entry.get("filtered_resps")
    if not isinstance(replies, list):
        replies = []
    texts = [text for text in replies if isinstance(text, str)]
    if not texts:
        raise PredictionsError(f"{request.id}: resps contains no reply")
    for place, text in enumerate(texts):
        sample = request._replace(sample=request.sample + place)
        if text == dig(entry, "doc", NO_REPLY):
            yield failed_reply(sample, _NO_REPLY_ERROR)
        else:
            yield reply(sample, None, text, State(), {})


def lighteval(entry: Entry) -> Iterator[Reply]:
    """Read a row of the details: columns ``doc``, ``metric`` and ``model_response``.

    Raises:
        PredictionsError: the row has no text.
    """
    doc = entry.get("doc")
    name = first_field(dig(doc, "specific"), _ID_FIELDS) or first_field(doc, _ID_FIELDS)
    request = request_key(name)
    response = entry.get("model_response")
    texts = dig(response, "text")
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list) or not texts:
        raise PredictionsError(f"{request.id}: model_response contains no text")
    for place, text in enumerate(texts):
        counts = {
            "input_tokens": _length(dig(response, "input_tokens")),
            "output_tokens": _length(dig(response, "output_tokens", place)),
        }
        thought = joined_text([dig(response, "reasonings", place)])
        sample = request._replace(sample=request.sample + place)
        yield reply(sample, None, joined_text([text]), State(), counts, thought)


def _length(tokens: object) -> int | None:
    return len(tokens) if isinstance(tokens, list) and tokens else None


def verifiers(entry: Entry, history: Counter[str]) -> Iterator[Reply]:
    """Read an episode of ``traces.jsonl``.

    Args:
        entry: the episode.
        history: rollouts of each task so far; rollouts of one task are its samples, in order.
    """
    task = entry.get("task")
    name = first_field(dig(task, "data"), _ID_FIELDS) or dig(task, "key")
    request = request_key(name)
    request = request._replace(sample=request.sample + history[request.id])
    history[request.id] += 1
    traces = objects(entry.get("traces"))
    episode_errors = objects(entry.get("errors"))
    if entry.get("is_timeout") is True:
        episode_errors.append({"message": _TIMEOUT_ERROR})
    if traces:
        yield trace_reply(request, traces[0], episode_errors)
        return
    state = State(Status.API_ERROR)
    error = first_error(episode_errors) or "no trace"
    yield reply(request, None, None, state, {}, error=error)


def trace_reply(
    request: RequestKey, trace: Entry, episode_errors: list[Entry]
) -> Reply:
    """Return the last reply of a rollout, with its turns if it was in a loop."""
    calls = objects(trace.get("calls"))
    last_call = calls[-1] if calls else {}
    counts = token_counts(
        [call.get("usage") for call in calls],
        # Cached tokens are not included in the prompt tokens.
        inputs="prompt_tokens cached_input_tokens",
        outputs="completion_tokens",
        reasoning="reasoning_tokens",
    )
    message = None
    for node in objects(trace.get("nodes")):
        if dig(node, "message", "role") == "assistant":
            message = node.get("message")
    # Verifiers logs neither empty replies nor finish reasons except stop, length and tool_calls.
    text, state = chat_outcome(message, last_call.get("finish_reason"))
    error = ""
    errors = [*objects(trace.get("errors")), *episode_errors]
    if errors and message_text(message) is None:
        error = first_error(errors)
        text = None
        state = failure(error)
    model = last_call.get("model")
    last_reply = reply(request, model, text, state, counts, error=error)
    return with_turns(last_reply, trace.get("info"))
