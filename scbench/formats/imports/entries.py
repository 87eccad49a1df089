"""Replies in the providers' batches (OpenAI, vLLM, Anthropic, Gemini) and in files of harnesses.

Which state is which status of ours is one table (`scbench.base.finish_reasons`): what the
provider's filter withheld is ``blocked``, a model that declines is ``refused``, a reply that met
its limit is ``truncated`` (and read all the same), and whatever else kept the model from ending is
``api_error``. The providers' own word stays in ``finish_reason``. Their lists of states grow, so an
unknown one is ``api_error`` and never an error of ours. The arguments of tool calls are part of
what a model says.

Scores of harnesses are not read: replies are graded anew, so that all ways give the same. The
library of verifiers cannot be installed beside Inspect's, so its lines are read without it.

Sources: openai 3.54 ``types/chat/chat_completion.py``, ``types/responses/response.py``; anthropic
2.12 ``types/messages/message_batch_individual_response.py``, ``types/stop_reason.py``;
google-genai 3.4 ``types.FinishReason``, ``types.BlockedReason``; vllm 0.33
``entrypoints/launchers/run_batch.py``; lm-eval 0.4.13 ``result_schema.py``; lighteval 0.13
``logging/evaluation_tracker.py``; verifiers 0.4 ``v1/episode.py``, ``v1/trace.py``.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scbench.base.errors import PredictionsError, describe_value
from scbench.base.finish_reasons import finish_status
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey, read_custom_id

Entry = Mapping[str, Any]

_MOST_ERROR = 2000
_MOST_NAME = 200
_MOST_COUNT = 2**53 - 1


# The code of an error in what harnesses keep of it as text, or in ours.
_CODE = re.compile(r"[\"']code[\"']\s*:\s*[\"'](\w+)|^(?:\d{3} )?(\w+): ")
_NAMES = ("id", "scbench_id", "instance_id", "custom_id")
# What our tasks have lm-eval write where a call came back without text, as filters
# leave it.
NO_REPLY = "(there was no reply)"
_ABSENT = "the call came back without text: a filter, or nothing but reasoning; it is not logged why"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request.

    Attributes:
        request: which one it answers.
        model: as the file names it; None if it does not.
        fields: the rest of a prediction, see `scbench.base.model.Prediction`.
    """

    request: RequestKey
    model: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    def line(self, model: str | None, setting: str | None) -> bytes:
        """Return it as a line of predictions, with its line break.

        Args:
            model: in place of the one that the file names.
            setting: no_tools or tools, in place of what the file says.

        Raises:
            PredictionsError: it holds what no JSON can.
        """
        name = model or self.model
        record = {
            "id": self.request.id,
            **({"model": name[:_MOST_NAME]} if name else {}),
            **({"sample": self.request.sample} if self.request.sample else {}),
            **({} if self.request.budget is None else {"budget": self.request.budget}),
            **self.fields,
            **({"setting": setting} if setting else {}),
        }
        try:
            text = json.dumps(
                record, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            )
        except (ValueError, TypeError) as error:
            raise PredictionsError(f"it cannot be written as JSON: {error}") from None
        return text.encode(errors="replace") + b"\n"


def with_turns(last_reply: Reply, metadata: Mapping[str, Any]) -> Reply:
    """Return a reply with its whole trial in place of it, if it was the last one in a loop.

    How the last call ended says nothing of a trial that came to its end.

    Args:
        last_reply: the one that is imported.
        metadata: `scbench.loop.Environment.record`, if our runners kept one beside it.
    """
    loop, turns = metadata.get("loop"), metadata.get("turns")
    if not (isinstance(loop, Mapping) and isinstance(turns, list)):
        return last_reply
    besides = {
        "response",
        *(("status", "finish_reason") if metadata.get("over") is True else ()),
    }
    fields = {
        name: value for name, value in last_reply.fields.items() if name not in besides
    }
    played = {"setting": loop.get("setting"), "loop": loop, "turns": turns}
    return replace(last_reply, fields={**fields, **played})


def request_key(name: object) -> RequestKey:
    """Return what an id stands for: an instance's own, or that of a request.

    Raises:
        PredictionsError: it is neither.
    """
    if isinstance(name, str):
        request = RequestKey(name) if "/" in name else read_custom_id(name)
        if request is not None:
            return request
    raise PredictionsError(
        f"{describe_value(name)} is neither the id of an item nor a custom_id of `scbench prompts`"
    )


class State(NamedTuple):
    """How a call ended.

    Attributes:
        status: why there may be no answer; None if the reply is to be read as it stands.
        finish: the provider's own word.
    """

    status: Status | None
    finish: str | None


def reply(
    request: RequestKey,
    model: object,
    text: str | None,
    state: State,
    usage: Mapping[str, Any],
    reasoning: str = "",
    error: str = "",
) -> Reply:
    """Return a reply with those of its parts that are there."""
    fields: dict[str, Any] = {} if text is None else {"response": text}
    if state.status is not None:
        fields["status"] = state.status.value
    if state.finish:
        fields["finish_reason"] = state.finish[:_MOST_NAME]
    if error:
        fields["error"] = error[:_MOST_ERROR]
    counted = {name: count for name, count in usage.items() if count is not None}
    if counted:
        fields["usage"] = counted
    if reasoning:
        fields["reasoning"] = reasoning
    return Reply(request, model if isinstance(model, str) and model else None, fields)


def failed(request: RequestKey, *errors: object, model: object = None) -> Reply:
    """Return the reply that never came, with the first error that says something.

    One that a filter withheld is blocked, by the code of the error; no other is the model's doing.
    """
    message = next(
        filter(None, map(error_text, errors)), "the call failed; no reason is given"
    )
    return reply(request, model, None, failure(message), {}, error=message)


def failure(message: str) -> State:
    """Return how a call ended that the provider did not take, by what it said."""
    codes = {match[1] or match[2] for match in _CODE.finditer(message)}
    blocked = Status.BLOCKED in map(finish_status, codes)
    return State(Status.BLOCKED if blocked else Status.API_ERROR, None)


def error_text(error: object) -> str:
    """Return an error as one text, however deep providers wrap it; empty if there is none."""
    for _ in range(3):
        if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping | str):
            error = error["error"]
    if isinstance(error, Mapping):
        parts = (error.get(key) for key in ("code", "type", "message"))
        words = [
            str(part)
            for part in parts
            if isinstance(part, str | int) and part != "error"
        ]
        return ": ".join(dict.fromkeys(filter(None, words)))
    return error if isinstance(error, str) else ""


def dig(value: object, *path: str | int) -> Any:  # noqa: ANN401  (JSON)
    """Return what stands at a path in JSON; None if it leads nowhere."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def objects(value: object) -> list[Entry]:
    """Return the objects in a list; none if it is not one."""
    return (
        [item for item in value if isinstance(item, Mapping)]
        if isinstance(value, list)
        else []
    )


def count(value: object) -> int | None:
    """Return a count that results can hold; None for everything else."""
    return value if type(value) is int and 0 <= value <= _MOST_COUNT else None


def total(values: Iterable[object]) -> int | None:
    """Return the sum of the counts among some values; None if there are none."""
    counts = [number for number in map(count, values) if number is not None]
    return sum(counts) if counts else None


def joined(parts: Iterable[object]) -> str:
    """Return the texts among some parts as one."""
    return "".join(part for part in parts if isinstance(part, str))


def content_text(content: object) -> str | None:
    """Return the text of a message: as it stands, or of its parts; None if there is none."""
    if isinstance(content, str):
        return content
    parts = objects(content)
    texts = [
        part.get("text")
        for part in parts
        if part.get("type") in {"text", "output_text"}
    ]
    return joined(texts) if parts else None


def with_calls(text: str | None, *arguments: object) -> str | None:
    """Return what a model said, with the arguments of its tool calls below it, each on a line."""
    lines = [
        argument
        if isinstance(argument, str)
        else json.dumps(argument, ensure_ascii=False)
        for argument in arguments
        if argument
    ]
    return "\n".join(filter(None, (text, *lines))) if lines else text


def message_text(message: object) -> str | None:
    """Return what a message in the form of OpenAI's chats says; None if it is nothing."""
    calls = [
        *objects(dig(message, "tool_calls")),
        {"function": dig(message, "function_call")},
    ]
    arguments = (
        dig(call, "function", "arguments") or dig(call, "custom", "input")
        for call in calls
    )
    return with_calls(content_text(dig(message, "content")), *arguments)


_ENDED = State(None, None)


def state_of(finish: object, *, text: bool) -> State:
    """Return how a call ended by its finish reason; none is given where it ended as it should.

    Args:
        finish: in the words of any provider.
        text: whether there is some.
    """
    if not isinstance(finish, str) or not finish:
        return State(None if text else Status.API_ERROR, None)
    status = finish_status(finish) or Status.API_ERROR
    return State(None if status is Status.ANSWERED else status, finish)


def _token_counts(
    usages: Iterable[object], *paths: str, look: Callable[..., object] = dig
) -> dict[str, int | None]:
    """Return the tokens of input, output and reasoning, each by the paths of what is added up."""
    names = ("input_tokens", "output_tokens", "reasoning_tokens")
    columns = [[path.split(".") for path in group.split()] for group in paths]
    return {
        name: total(look(usage, *path) for usage in usages for path in column)
        for name, column in zip(names, columns, strict=True)
    }


def openai(entry: Entry) -> Iterator[Reply]:
    """Read a line of an output or error file of OpenAI or vLLM."""
    request = request_key(entry.get("custom_id"))
    body = dig(entry, "response", "body")
    if body is None and _is_body(entry.get("response")):
        body = entry["response"]
    code = dig(entry, "response", "status_code")
    if entry.get("error") or code not in {200, None} or not isinstance(body, Mapping):
        http_status = f"HTTP {code}" if isinstance(code, int) else ""
        yield failed(
            request, entry.get("error"), body, http_status, model=dig(body, "model")
        )
    elif body.get("object") == "response" or "output" in body:
        yield _of_responses(request, body)
    else:
        yield from _of_chat(request, body)


def _is_body(value: object) -> bool:
    return isinstance(dig(value, "choices") or dig(value, "output"), list)


def bedrock(entry: Entry) -> Iterator[Reply]:
    """Read a line of Bedrock's batches, of models that answer as Anthropic's or OpenAI's do."""
    output = entry.get("modelOutput")
    named = {"custom_id": entry.get("recordId")}
    if isinstance(dig(output, "content"), list):
        return anthropic({**named, "result": {"type": "succeeded", "message": output}})
    if output is None or _is_body(output):
        error = entry.get("error")
        words = joined(
            f"{dig(error, key) or ''} " for key in ("errorCode", "errorMessage")
        )
        return openai(
            {**named, "response": output, "error": words.strip() if error else None}
        )
    raise PredictionsError(
        "Bedrock: this model answers neither as Anthropic's nor as OpenAI's do"
    )


def vertex(entry: Entry) -> Iterator[Reply]:
    """Refuse a line of a batch job of Vertex AI that says nowhere what it answers."""
    raise PredictionsError(
        f"Vertex AI: the line has no key ({len(entry)} fields); write requests by `scbench prompts "
        "--format gemini`, or join outputs to ids and use --map"
    )


def _of_chat(request: RequestKey, body: Entry) -> Iterator[Reply]:
    details = "completion_tokens_details.reasoning_tokens"
    counts = _token_counts(
        [body.get("usage")], "prompt_tokens", "completion_tokens", details
    )
    choices = objects(body.get("choices"))
    if not choices:
        yield failed(
            request, body, "the reply holds no choices", model=body.get("model")
        )
    for place, choice in enumerate(choices):
        message = choice.get("message")
        text = message_text(message)
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
    details = "output_tokens_details.reasoning_tokens"
    counts = _token_counts(
        [body.get("usage")], "input_tokens", "output_tokens", details
    )
    items = objects(body.get("output"))
    parts = [part for item in items for part in objects(item.get("content"))]
    calls = (
        item
        for item in items
        if item.get("type") in {"function_call", "custom_tool_call"}
    )
    arguments = (call.get("arguments") or call.get("input") for call in calls)
    text = with_calls(content_text(parts), *arguments) or ""
    refusals = joined(
        part.get("refusal") for part in parts if part.get("type") == "refusal"
    )
    summaries = (part for item in items for part in objects(item.get("summary")))
    error = ""
    match body.get("status"):
        case "completed" | None:
            state = State(Status.REFUSED if refusals else None, "completed")
        case "incomplete":
            reason = dig(body, "incomplete_details", "reason")
            state = state_of(reason, text=False)._replace(finish=reason or "incomplete")
        case "failed":
            failure = dig(body, "error", "code")
            policy = isinstance(failure, str) and "policy" in failure
            state = State(Status.BLOCKED if policy else Status.API_ERROR, "failed")
            error = f"{failure}: {dig(body, 'error', 'message')}"
        case other:
            state = State(Status.API_ERROR, str(other))
    thought = joined(part.get("text") for part in summaries)
    return reply(
        request, body.get("model"), text or refusals, state, counts, thought, error
    )


def anthropic(entry: Entry) -> Iterator[Reply]:
    """Read a line of the results of a message batch."""
    request = request_key(entry.get("custom_id"))
    result = entry.get("result")
    message = dig(result, "message")
    if dig(result, "type") != "succeeded" or not isinstance(message, Mapping):
        yield failed(
            request, result if dig(result, "error") else None, dig(result, "type")
        )
        return
    inputs = "input_tokens cache_creation_input_tokens cache_read_input_tokens"
    details = "output_tokens_details.thinking_tokens"
    counts = _token_counts([message.get("usage")], inputs, "output_tokens", details)
    blocks = objects(message.get("content"))
    arguments = (
        block.get("input") for block in blocks if block.get("type") == "tool_use"
    )
    text = with_calls(content_text(blocks), *arguments) or ""
    thought = joined(
        part.get("thinking") for part in blocks if part.get("type") == "thinking"
    )
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
    inputs = "promptTokenCount toolUsePromptTokenCount"
    # Thoughts are counted apart here; an answer of thoughts alone has no other count.
    outputs = "candidatesTokenCount thoughtsTokenCount"
    counts = _token_counts(
        [usage], inputs, outputs, "thoughtsTokenCount", look=_camel_or_snake
    )
    blocked = _camel_or_snake(
        _camel_or_snake(response, "promptFeedback"), "blockReason"
    )
    candidates = objects(response.get("candidates"))
    if blocked:
        state = State(Status.BLOCKED, str(blocked))
        yield reply(
            request,
            model,
            None,
            state,
            counts,
            error=f"the prompt was blocked: {blocked}",
        )
        return
    if not candidates:
        yield failed(
            request, "the reply holds neither candidates nor a reason", model=model
        )
    for place, candidate in enumerate(candidates):
        parts = objects(dig(candidate, "content", "parts"))
        shown = joined(part.get("text") for part in parts if not part.get("thought"))
        arguments = (
            dig(_camel_or_snake(part, "functionCall"), "args") for part in parts
        )
        text = with_calls(shown, *arguments) or ""
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
        absent = text == NO_REPLY
        yield failed(tried, _ABSENT) if absent else reply(tried, None, text, _ENDED, {})


def lighteval(entry: Entry) -> Iterator[Reply]:
    """Read a row of the details: columns ``doc``, ``metric`` and ``model_response``."""
    doc = entry.get("doc")
    request = request_key(
        _first_field(dig(doc, "specific"), *_NAMES) or _first_field(doc, *_NAMES)
    )
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
        error = next(
            filter(None, map(error_text, objects(entry.get("errors")))), "no trace"
        )
        yield reply(request, None, None, State(Status.API_ERROR, None), {}, error=error)
        return
    trace = traces[0]
    calls = objects(trace.get("calls"))
    last = calls[-1] if calls else {}
    spoken = [
        message_text(node.get("message"))
        for node in objects(trace.get("nodes"))
        if dig(node, "message", "role") == "assistant"
    ]
    text = spoken[-1] if spoken else None
    usages = [call.get("usage") for call in calls]
    # What was read from a cache is not among the prompt's tokens.
    inputs = "prompt_tokens cached_input_tokens"
    counts = _token_counts(usages, inputs, "completion_tokens", "reasoning_tokens")
    errors = [*objects(trace.get("errors")), *objects(entry.get("errors"))]
    error = next(filter(None, map(error_text, errors)), "")
    if errors and text is None:
        state = failure(error)
    else:
        text, state = ended(text, last.get("finish_reason"))
    last_reply = reply(
        request,
        last.get("model"),
        text,
        state,
        counts,
        error=error if text is None else "",
    )
    info = trace.get("info")
    yield with_turns(last_reply, info if isinstance(info, Mapping) else {})


def _first_field(value: object, *names: str) -> object:
    return next(
        (field for name in names if (field := dig(value, name)) is not None), None
    )
