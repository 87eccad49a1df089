"""Logs of Inspect, ``.eval`` and ``.json``, read by its own library (extra ``inspect``).

Its scores are ignored: replies are graded again. Source: inspect_ai 0.3.285
``log/_log.py``, ``model/_model_output.py``.
"""

import ast
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from scbench.base.errors import PredictionsError, printable
from scbench.base.model import Setting, Status
from scbench.base.wording import counted
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.batches import body_replies
from scbench.formats.imports.entries import (
    Reply,
    State,
    count,
    error_text,
    failed_reply,
    reply,
    request_key,
    state_of,
    total,
    with_calls,
    with_turns,
)
from scbench.machine.children import ChildError, lines_of_child

if TYPE_CHECKING:
    from inspect_ai.log import EvalError, EvalLog, EvalSample, EvalSpec
    from inspect_ai.model import ModelOutput

# Text in the error of a sample whose reply exists but could not be graded.
GRADER_FAILED = "the grader failed, not the model"

# Where our solver keeps a reply in the metadata of its sample, and the fields that it keeps.
REPLY = "reply"
_STORED_FIELDS = ("response", "status", "finish_reason", "error")

# Maximum size of a log or a member of its archive; larger ones are not read.
_MAX_BYTES = 2**30
# Maximum copies of one member of an archive: Inspect writes a sample again each time it
# is asked again, and the last copy counts.
_MAX_COPIES = 100
# Members that occur in every archive of Inspect.
_LOG_MEMBERS = {"header.json", "_journal/start.json"}
# Limits not caused by the model; every other limit cuts the model off.
_LIMITS = {"operator": Status.API_ERROR}
_READING: Any = {
    "resolve_attachments": "core",
    "exclude_fields": {"events", "store", "scores"},
}
# Tasks other than ours do not store replies. The raw responses of calls are in the events.
_READING_OTHERS: Any = {
    "resolve_attachments": "full",
    "exclude_fields": {"messages", "store", "scores"},
}
# Inspect writes the whole request before the error of a call.
_REQUEST = "Request:\n"
_REQUEST_END = "\n\n"
# An error in Python's format: its class and one text.
_EXCEPTION = re.compile(r"\w+\((['\"].*['\"])\)", re.DOTALL)
# An error of the libraries of OpenAI and Anthropic: its HTTP status and its body.
_HTTP_ERROR = re.compile(r"Error code: (\d{3}) - (.*)", re.DOTALL)
# Python prints this between the tracebacks of an error and of its cause.
_CAUSE = "The above exception was the direct cause of the following exception"
_CHILD = """
from scbench.formats.imports.inspect_logs import write_replies
write_replies(arguments)
"""


def is_inspect_archive(path: str) -> bool:
    """Return whether a zip archive was written by Inspect.

    Raises:
        PredictionsError: the archive is damaged, or too large when unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    # RuntimeError: a version or method that the library does not know.
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError) as error:
        raise PredictionsError(f"{path} is a damaged zip archive: {error}") from None
    largest = max((member.file_size for member in members), default=0)
    if largest > _MAX_BYTES:
        raise PredictionsError(
            f"{path} is {largest:,} bytes when unpacked; the limit is {_MAX_BYTES:,}"
        )
    copies = Counter(member.filename for member in members)
    if not _LOG_MEMBERS & copies.keys():
        return False
    ((name, number),) = copies.most_common(1)
    if number > _MAX_COPIES:
        raise PredictionsError(
            f"{path} contains {counted(number, 'file')} named {printable(name)}"
        )
    return True


def read_log(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    """Yield the replies of a log with their numbers, even if the log failed or was cut off.

    A child process reads it, because a few bytes of an archive can unpack to any amount.

    Raises:
        ModuleNotFoundError: inspect_ai is not installed.
        PredictionsError: inspect_ai cannot read the log.
    """
    if find_spec("inspect_ai") is None:
        raise ModuleNotFoundError("No module named 'inspect_ai'", name="inspect_ai")
    size = Path(path).stat().st_size
    if size > _MAX_BYTES:
        raise PredictionsError(
            f"{path} has {size:,} bytes; the limit is {_MAX_BYTES:,}"
        )
    try:
        for line in lines_of_child(_CHILD, path):
            number, fault, request, model, fields = json.loads(line)
            if fault is None:
                yield number, Reply(RequestKey(*request), model, fields)
            elif number is None:
                raise PredictionsError(fault)
            else:
                yield number, PredictionsError(fault)
    except ChildError as error:
        raise PredictionsError(f"inspect_ai cannot read {path}: {error}") from None


def write_replies(path: str) -> None:
    """Write the replies of a log to standard output for `read_log`, a line of JSON for each.

    A line has the number, the error, and the request, model and fields of the reply. Either the
    error is null, or all fields after it are. A line without a number is the error of the whole
    file.
    """
    # Libraries print to standard output, too, which must not mix with the lines.
    out = sys.stdout
    sys.stdout = sys.stderr
    try:
        for number, item in _replies_in(path):
            entry: tuple[object, ...] = (number, str(item), None, None, None)
            if isinstance(item, Reply):
                entry = (number, None, item.request, item.model, {**item.fields})
            print(json.dumps(entry), file=out)
    except PredictionsError as error:
        print(json.dumps((None, str(error), None, None, None)), file=out)


def _replies_in(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    from inspect_ai.log import read_eval_log  # noqa: PLC0415  (an extra)

    try:
        header = read_eval_log(path, header_only=True)
        shared_fields = run_fields(header)
        for number, sample in enumerate(samples_in(path, header.eval), 1):
            try:
                item = sample_reply(sample, header.eval)
            except PredictionsError as error:
                yield number, error
                continue
            fields = {**item.fields, **shared_fields}
            digest = sample.metadata.get("instance_hash")
            if isinstance(digest, str):
                fields["instance_hash"] = digest
            yield number, replace(item, fields=fields)
    except (MemoryError, PredictionsError, GeneratorExit):
        raise
    # The library has no specific exception for logs that it cannot read.
    except Exception as error:
        message = str(error).partition("\n")[0][:300]
        raise PredictionsError(f"inspect_ai cannot read {path}: {message}") from error


def samples_in(path: str, spec: "EvalSpec") -> "Iterable[EvalSample]":
    """Return the samples of a log, one at a time if the library supports it."""
    from inspect_ai.log import read_eval_log, read_eval_log_samples  # noqa: PLC0415  (an extra)

    reading = _READING if our_setting(spec) else _READING_OTHERS
    # A JSON file is one value, which would be read as a whole for each sample.
    if not zipfile.is_zipfile(path) or spec.dataset.sample_ids is None:
        return read_eval_log(path, **reading).samples or ()
    samples: Iterable[EvalSample]
    samples = read_eval_log_samples(path, all_samples_required=False, **reading)
    return samples


def our_setting(spec: "EvalSpec") -> str | None:
    """Return the setting of a log of our own tasks; None for other tasks."""
    setting = (spec.metadata or {}).get("setting")
    return setting if setting in get_args(Setting) else None


def run_fields(header: "EvalLog") -> dict[str, Any]:
    """Return the fields that all samples of a log share: our tasks' setting, and the effort."""
    fields: dict[str, Any] = {}
    setting = our_setting(header.eval)
    if setting:
        fields["setting"] = setting
    config = header.plan.config
    run: dict[str, Any] = {}
    if config.reasoning_effort:
        run["effort"] = config.reasoning_effort
    elif config.reasoning_tokens is not None:
        run["effort"] = f"{config.reasoning_tokens} tokens"
    if config.temperature is not None:
        run["temperature"] = float(config.temperature)
    if run:
        fields["run"] = run
    return fields


def sample_reply(sample: "EvalSample", spec: "EvalSpec") -> Reply:
    """Return the reply of a sample, even of a failed one."""
    request = sample_key(str(sample.id), sample.epoch, sample.metadata)
    error = sample.error
    if error is not None and not _failed_in_grading(sample, error):
        message = error_message(error) or "the sample failed"
        # A failed trial is still a trial, and needs its turns.
        return with_turns(
            failed_reply(request, message, model=spec.model), sample.metadata
        )
    limit = sample.limit.type if sample.limit else None
    usage = model_usage(sample, spec.model)
    stored = sample.metadata.get(REPLY)
    if stored is None and limit is None:
        stored = raw_reply(request, sample, spec.model)
    last_reply = reply_of(request, spec.model, sample.output, limit, usage, stored)
    return with_turns(last_reply, sample.metadata)


def raw_reply(
    request: RequestKey, sample: "EvalSample", model: str
) -> dict[str, str] | None:
    """Return the fields of `stored_fields`, from the provider's raw response.

    Third-party solvers do not store it. Inspect logs the responses only for the first
    calls of each sample, and drops everything that does not fit its own format.

    Returns:
        None if the response to the last call is not in the log, or its form is unknown.
    """
    calls = [
        event
        for event in sample.events
        if event.event == "model" and event.model == model
    ]
    last_call = calls[-1] if calls else None
    # A solver may replace the output.
    if last_call is None or last_call.output.completion != sample.output.completion:
        return None
    raw = last_call.call
    if last_call.error is not None or raw is None:
        return None
    if raw.error or not raw.response:
        return None
    last_reply = next(body_replies(request, raw.response), None)
    return None if last_reply is None else stored_fields(last_reply)


def _failed_in_grading(sample: "EvalSample", error: "EvalError") -> bool:
    """Return whether a sample failed after its reply, which can then be graded as usual."""
    # A limit reached in the solver is not an error; with both, the scorer failed.
    if sample.limit is not None:
        return True
    is_timeout = error.message.startswith("Time limit exceeded")
    return is_timeout or GRADER_FAILED in error.message


def error_message(error: "EvalError") -> str:
    """Return the error of a sample, or of the last attempt if every retry failed."""
    message = error.message
    before, cause, _ = error.traceback.rpartition(_CAUSE)
    if cause and message.startswith("RetryError"):
        message = before.rstrip().rpartition("\n")[2] or message
    return call_error(message)


def call_error(message: str) -> str:
    """Return a provider's error of a call, without the request and the names of classes."""
    text = message
    # A text that is not a Python literal stays unchanged.
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        # Inspect's errors may contain the provider's.
        for _ in range(2):
            text = without_request(text).strip()
            exception = _EXCEPTION.fullmatch(text)
            if exception:
                text = str(ast.literal_eval(exception[1]))
        http_error = _HTTP_ERROR.search(text)
        if http_error:
            status, body = http_error.groups()
            # The unchanged body, in case it cannot be parsed.
            text = f"{status} {body}"
            text = f"{status} {error_text(ast.literal_eval(body)) or body}"
    return text


def without_request(text: str) -> str:
    """Return an error without the request that Inspect writes before it."""
    before, start, remainder = text.partition(_REQUEST)
    _, end, after = remainder.partition(_REQUEST_END)
    return before.rstrip() + after if start and end else text


def refused_call(output: "ModelOutput") -> bool:
    """Return whether a provider refused a call, which Inspect may log like a reply.

    A prompt that is too long uses no tokens; a reply that reaches the end of the
    context window does.
    """
    stop = output.stop_reason if output.choices else None
    if stop == "content_filter":
        return False
    is_too_long = stop == "model_length" and output.usage is None
    return is_too_long or bool(output.error)


def sample_key(sample_id: str, epoch: int, metadata: Mapping[str, Any]) -> RequestKey:
    """Return the request of a sample: the id in its metadata or its own, its epoch and budget.

    Raises:
        PredictionsError: neither id is one of ours.
    """
    row_id = metadata.get("id")
    has_row_id = isinstance(row_id, str) and "/" in row_id
    request = request_key(row_id if has_row_id else sample_id)
    budget = request.budget
    if budget is None:
        budget = count(metadata.get("budget"))
    return request._replace(sample=request.sample + epoch - 1, budget=budget)


def reply_of(
    request: RequestKey,
    model: str,
    output: "ModelOutput",
    limit: str | None,
    usage: Mapping[str, Any],
    stored: object = None,
) -> Reply:
    """Return the reply of a sample that did not fail.

    Args:
        request: request of the sample.
        model: name of the model in Inspect.
        output: output of the last call.
        limit: the kind of limit that the sample hit; None if it hit none.
        usage: usage of all calls.
        stored: the reply in the provider's response, see `stored_fields`; None if it is
            not in the log.
    """
    if isinstance(stored, Mapping) and limit is None:
        return _from_stored(request, model, stored, usage, _reasoning(output))
    error = output.error or output.completion
    if refused_call(output):
        return failed_reply(request, call_error(error), model=model)
    text: str | None = None
    stop: str | None = None
    if output.choices:
        stop = output.stop_reason
        text = reply_text(output)
    if stop == "content_filter" and (output.error or output.usage is None):
        # The text is the filter's message, not the model's.
        state = State(Status.BLOCKED, stop)
        return reply(request, model, None, state, usage, error=call_error(error))
    if limit is not None:
        state = State(_LIMITS.get(limit, Status.TRUNCATED), f"limit: {limit}")
    elif stop == "model_length":
        state = State(Status.TRUNCATED, stop)
    else:
        finish = None if stop == "unknown" else stop
        state = state_of(finish, text=bool(text))
    return reply(request, model, text, state, usage, _reasoning(output))


def stored_fields(last_reply: Reply) -> dict[str, str]:
    """Return the fields of a reply that a solver stores in its sample, under `REPLY`."""
    fields = last_reply.fields
    return {name: str(fields[name]) for name in _STORED_FIELDS if name in fields}


def _from_stored(
    request: RequestKey,
    model: str,
    stored: Mapping[str, object],
    usage: Mapping[str, Any],
    reasoning: str,
) -> Reply:
    values: dict[str, str] = {}
    for name in _STORED_FIELDS:
        value = stored.get(name)
        # A log may contain anything.
        if isinstance(value, str):
            values[name] = value
    named = values.get("status")
    status = Status(named) if named and named in [*Status] else None
    state = State(status, values.get("finish_reason"))
    error = values.get("error", "")
    return reply(request, model, values.get("response"), state, usage, reasoning, error)


def reply_text(output: "ModelOutput") -> str:
    """Return the text of a reply with the arguments of its tool calls."""
    calls = output.message.tool_calls or ()
    text = with_calls(output.completion, [call.arguments for call in calls])
    return text or ""


def model_usage(sample: "EvalSample", model: str) -> dict[str, Any]:
    """Return the usage of the evaluated model in all calls; tools and judges are other models."""
    usage = sample.model_usage.get(model) or sample.output.usage
    if usage is None:
        return {}
    inputs = (
        usage.input_tokens,
        usage.input_tokens_cache_read,
        usage.input_tokens_cache_write,
    )
    return {
        "input_tokens": total(inputs),
        "output_tokens": count(usage.output_tokens),
        "reasoning_tokens": count(usage.reasoning_tokens),
        "seconds": sample.output.time,
    }


def _reasoning(output: "ModelOutput") -> str:
    if not output.choices or isinstance(output.message.content, str):
        return ""
    return "".join(
        part.reasoning
        for part in output.message.content
        if part.type == "reasoning" and not part.redacted
    )
