"""One reply of a model, whoever wrote it down, and how to look into what they wrote."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scbench.base.errors import PredictionsError, describe_value
from scbench.base.model import Status
from scbench.formats.custom_id import RequestKey, read_custom_id

Entry = Mapping[str, Any]

_MOST_ERROR = 2000
_MOST_NAME = 200
_MOST_COUNT = 2**53 - 1


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
            text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
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
    besides = {"response", *(("status", "finish_reason") if metadata.get("over") is True else ())}
    fields = {name: value for name, value in last_reply.fields.items() if name not in besides}
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
        f"{describe_value(name)} is neither the id of an instance nor a custom_id of "
        "`scbench prompts`"
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
    """Return the reply that never came, with the first error that says something."""
    message = next(filter(None, map(error_text, errors)), "the call failed; no reason is given")
    return reply(request, model, None, State(Status.API_ERROR, None), {}, error=message)


def error_text(error: object) -> str:
    """Return an error as one text, however deep providers wrap it; empty if there is none."""
    for _ in range(3):
        if isinstance(error, Mapping) and isinstance(error.get("error"), Mapping | str):
            error = error["error"]
    if isinstance(error, Mapping):
        parts = (error.get(key) for key in ("code", "type", "message"))
        words = [str(part) for part in parts if isinstance(part, str | int) and part != "error"]
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
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


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
    texts = [part.get("text") for part in parts if part.get("type") in {"text", "output_text"}]
    return joined(texts) if parts else None
