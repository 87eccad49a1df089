"""What evaluation harnesses log: lm-evaluation-harness, lighteval, verifiers.

Their scores are not read: replies are graded anew, so that all ways give the same.

Sources: lm-eval 0.4.13 ``result_schema.py``; lighteval 0.13 ``logging/evaluation_tracker.py``;
verifiers 0.4 ``v1/episode.py``, ``v1/trace.py``. The last writes plain JSON Lines and its library
cannot be installed beside Inspect's, so its lines are read without it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from scbench.base.errors import PredictionsError
from scbench.base.model import Status
from scbench.formats.imports.batches import state_of
from scbench.formats.imports.replies import (
    Entry,
    Reply,
    State,
    content_text,
    dig,
    error_text,
    objects,
    reply,
    request_key,
    total,
    with_turns,
)

_ENDED = State(None, None)
_NAMES = ("id", "scbench_id", "instance_id", "custom_id")


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
