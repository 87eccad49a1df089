"""Conversion of replies to lines of predictions, and JSON helpers shared by formats.

The status of a call without text follows from the provider's finish reason by one table,
`scbench.base.finish_reasons`: a reply withheld by the provider's filter is ``blocked``,
a reply that reached its limit is ``truncated``, and every other incomplete call is
``api_error``. Text is always read: an answer in it counts, and the grader applies the
same table to text without an answer. The provider's finish reason stays in
``finish_reason``. A message marked as a refusal comes from the model, so its status is
``refused``.

The arguments of tool calls are part of a reply. Scores of other programs are ignored:
replies are graded again, so that all formats give the same scores.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scbench.base.errors import PredictionsError, describe_value
from scbench.base.finish_reasons import finish_status, status_without_answer
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey, read_custom_id

# A JSON object.
Entry = Mapping[str, Any]

# Maximum characters imported of an error and of a name.
_MAX_ERROR = 2000
_MAX_NAME = 200
# The largest number of tokens that results can store.
_MAX_COUNT = 2**53 - 1
# Maximum depth of nested errors.
_MAX_WRAPPERS = 3
# Types of message parts: parts with text, and tool calls.
_TEXT_TYPES = ("text", "output_text")
_CALL_TYPES = ("tool_use", "function_call", "custom_tool_call")
_ERROR_CODE = re.compile(
    r"""
    ["']code["']\s*:\s*["'](\w+)    # in a dictionary that a harness logged as text
    | ^(?:\d{3}\ )?(\w+):\          # at the beginning, maybe after an HTTP status
    """,
    re.VERBOSE,
)
# Error codes of providers that refuse content by policy.
_POLICY_WORDS = re.compile(
    r"""
    content[ _-]?(?:filter | moderation | (?:management[ ])?policy)
    | safety_check | prohibited_content
    | violat\w+\ (?:of\ )?(?:\w+\ ){0,3}(?:usage\ )?(?:guidelines|policy|policies)\b
    | requires\ moderation
    | (?:input | prompt | output | content | request | message)s?\ (?:was|were|has\ been)\ flagged
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one request.

    Attributes:
        request: the request that it answers.
        model: name of the model in the file; None if the file does not name it.
        fields: the other fields of a prediction, see `scbench.base.model.Prediction`.
    """

    request: RequestKey
    model: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    def line(self, model: str | None = None, setting: str | None = None) -> bytes:
        """Return the reply as a line of predictions, with its line break.

        Args:
            model: replaces the model that the file names.
            setting: no_tools or tools; replaces the setting of the file.

        Raises:
            PredictionsError: a field cannot be written as JSON.
        """
        record: dict[str, Any] = {"id": self.request.id}
        name = model or self.model
        if name:
            record["model"] = name[:_MAX_NAME]
        if self.request.sample:
            record["sample"] = self.request.sample
        if self.request.budget is not None:
            record["budget"] = self.request.budget
        record |= self.fields
        if setting:
            record["setting"] = setting
        try:
            text = json.dumps(
                record, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            )
        except (ValueError, TypeError) as error:
            raise PredictionsError(
                f"the reply cannot be written as JSON: {error}"
            ) from None
        # A lone surrogate is allowed in JSON but cannot be encoded in UTF-8.
        return text.encode(errors="replace") + b"\n"


class State(NamedTuple):
    """The end of a call; the default is for replies whose format has no finish reasons.

    Attributes:
        status: the reason why there may be no answer; None if the reply is complete.
        finish: the provider's finish reason.
    """

    status: Status | None = None
    finish: str | None = None


# Replies and their errors


def request_key(name: object) -> RequestKey:
    """Return the request that an id names: the id of an instance, or a custom_id.

    Raises:
        PredictionsError: the id is neither.
    """
    if isinstance(name, str):
        request = RequestKey(name) if "/" in name else read_custom_id(name)
        if request is not None:
            return request
    raise PredictionsError(
        f"{describe_value(name)} is neither an item's id nor a custom_id from `scbench "
        "prompts`"
    )


def reply(
    request: RequestKey,
    model: object,
    text: str | None,
    state: State,
    usage: Mapping[str, Any],
    reasoning: str = "",
    error: str = "",
) -> Reply:
    """Return a reply with the fields that have a value."""
    fields: dict[str, Any] = {}
    if text is not None:
        fields["response"] = text
    if state.status is not None:
        fields["status"] = state.status.value
    if state.finish:
        fields["finish_reason"] = state.finish[:_MAX_NAME]
    if error:
        fields["error"] = error[:_MAX_ERROR]
    reported = {name: amount for name, amount in usage.items() if amount is not None}
    if reported:
        fields["usage"] = reported
    if reasoning:
        fields["reasoning"] = reasoning
    return Reply(request, model if isinstance(model, str) and model else None, fields)


def failed_reply(request: RequestKey, *errors: object, model: object = None) -> Reply:
    """Return a reply without text for a failed call, with the first non-empty error message."""
    message = first_error(errors) or "the call failed; no reason was given"
    return reply(request, model, None, failure(message), {}, error=message)


def failure(message: str) -> State:
    """Return the state of a failed call: blocked if its code or message comes from a filter."""
    if _POLICY_WORDS.search(message):
        return State(Status.BLOCKED)
    for match in _ERROR_CODE.finditer(message):
        if finish_status(match[1] or match[2]) is Status.BLOCKED:
            return State(Status.BLOCKED)
    return State(Status.API_ERROR)


def first_error(errors: Iterable[object]) -> str:
    """Return the first non-empty error message; empty without one."""
    for error in errors:
        message = error_text(error)
        if message:
            return message
    return ""


def error_text(error: object) -> str:
    """Return an error as one text, for any provider's format; empty if there is none."""
    for _ in range(_MAX_WRAPPERS):
        if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping | str):
            error = error["error"]
    if isinstance(error, str):
        return error
    words: list[str] = []
    for key in ("code", "type", "message"):
        part = dig(error, key)
        # Anthropic's wrappers have the uninformative type "error".
        if not isinstance(part, str | int) or part == "error":
            continue
        word = str(part)
        if word and word not in words:
            words.append(word)
    return ": ".join(words)


def state_of(finish: object, *, text: bool) -> State:
    """Return the state of a call by its finish reason.

    Args:
        finish: finish reason of any provider.
        text: whether the reply has text; without a finish reason, such a reply is
            complete. A failure has no status here, because an answer in the text
            counts.
    """
    if not isinstance(finish, str) or not finish.strip():
        return State(None if text else Status.API_ERROR)
    status = status_without_answer(finish)
    if text and status is not None and not status.scored:
        status = None
    return State(status, finish)


def with_turns(last_reply: Reply, metadata: object) -> Reply:
    """Return the prediction of a whole trial instead of its last reply.

    Args:
        last_reply: the reply that is imported; returned as it is if it was not in a loop.
        metadata: `scbench.loop.Environment.record`, if our runners stored one with the reply.
    """
    loop = dig(metadata, "loop")
    turns = dig(metadata, "turns")
    if not isinstance(loop, Mapping) or not isinstance(turns, list):
        return last_reply
    replaced = {"response"}
    if dig(metadata, "over") is True:
        # The end of the last call is irrelevant for a trial that was played to its end.
        replaced |= {"status", "finish_reason"}
    fields = {
        name: value for name, value in last_reply.fields.items() if name not in replaced
    }
    # If a trial stopped early, the end of the last call is the end of the trial.
    ended = status_without_answer(fields.get("finish_reason"))
    if ended is not None:
        fields.setdefault("status", ended.value)
    fields |= {"setting": loop.get("setting"), "loop": loop, "turns": turns}
    return replace(last_reply, fields=fields)


# Values in JSON


def dig(value: object, *path: str | int) -> Any:  # noqa: ANN401  (JSON)
    """Return the value at a path in JSON; None if there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def first_field(value: object, names: Iterable[str]) -> object:
    """Return the first of some fields that an object has; None if it has none."""
    for name in names:
        content = dig(value, name)
        if content is not None:
            return content
    return None


def objects(value: object) -> list[Entry]:
    """Return the objects in a list; none if it is not a list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def count(value: object) -> int | None:
    """Return a number of tokens; None for any other value."""
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else None


def total(values: Iterable[object]) -> int | None:
    """Return the sum of the counts among some values; None if there are none."""
    counts = [number for number in map(count, values) if number is not None]
    return sum(counts) if counts else None


def token_counts(
    usages: Collection[object],
    *,
    inputs: str,
    outputs: str,
    reasoning: str,
    look: Callable[..., object] = dig,
) -> dict[str, int | None]:
    """Return token counts, summed over calls.

    Args:
        usages: the provider's usage of each call.
        inputs: paths of the provider's counts that are summed, with dots, separated by spaces.
        outputs: the same for output tokens.
        reasoning: the same for reasoning tokens, which are a part of the output tokens.
        look: a function that returns the value at a path.
    """
    counts: dict[str, int | None] = {}
    groups = {"input": inputs, "output": outputs, "reasoning": reasoning}
    for name, group in groups.items():
        paths = [path.split(".") for path in group.split()]
        amounts = [look(usage, *path) for usage in usages for path in paths]
        counts[f"{name}_tokens"] = total(amounts)
    return counts


# Text of messages


def joined_text(parts: Iterable[object]) -> str:
    """Return the texts among some parts as one text."""
    return "".join(part for part in parts if isinstance(part, str))


def content_text(content: object) -> str | None:
    """Return the text of a message's content, which is a text or parts; None if there is none.

    It includes the arguments of tool calls among the parts.
    """
    if isinstance(content, str):
        return content
    parts = objects(content)
    if not parts:
        return None
    texts = [part.get("text") for part in parts if part.get("type") in _TEXT_TYPES]
    calls = [part for part in parts if part.get("type") in _CALL_TYPES]
    return with_calls(joined_text(texts), map(call_arguments, calls))


def call_arguments(call: object) -> object:
    """Return the arguments of a tool call in any provider's format; None if it has none."""
    for place in (dig(call, "function"), dig(call, "custom"), call):
        arguments = dig(place, "arguments") or dig(place, "input") or dig(place, "args")
        if arguments:
            return arguments
    return None


def with_calls(text: str | None, arguments: Iterable[object]) -> str | None:
    """Return the text of a reply with the arguments of its tool calls below it, one per line."""
    parts = [text]
    for argument in arguments:
        if isinstance(argument, str):
            parts.append(argument)
        elif argument:
            parts.append(json.dumps(argument, ensure_ascii=False))
    # Without calls, an empty text differs from a missing one.
    return "\n".join(filter(None, parts)) or text


def message_text(message: object) -> str | None:
    """Return the text of a message of OpenAI's chat format with its tool calls; None if empty."""
    calls = objects(dig(message, "tool_calls"))
    # The older format, with at most one call per message.
    calls.append({"function": dig(message, "function_call")})
    return with_calls(content_text(dig(message, "content")), map(call_arguments, calls))


def refusal_text(message: object) -> str:
    """Return the text of a marked refusal; empty if the message is not a refusal."""
    parts = objects(dig(message, "content"))
    marked = [part.get("refusal") for part in parts if part.get("type") == "refusal"]
    return joined_text([dig(message, "refusal"), *marked])


def chat_outcome(message: object, finish: object) -> tuple[str | None, State]:
    """Return the text of a message of OpenAI's chat format, and the state of its call.

    All importers read chat messages with this function, so that a reply always gets the
    same score.

    Args:
        message: the message; None if there is none.
        finish: the finish reason of its call, as its provider names it.
    """
    text = message_text(message)
    state = state_of(finish, text=text is not None)
    refusal = refusal_text(message)
    if refusal and status_without_answer(state.finish) is None:
        return text or refusal, State(Status.REFUSED, state.finish)
    if text is None and state.status is None:
        # The call ended normally without text, so it is an empty answer by the model.
        text = ""
    return text, state
