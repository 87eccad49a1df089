"""Logs of Inspect, ``.eval`` and ``.json``, read by its own library (extra ``inspect``).

Its scores are not read: replies are graded anew. Source: inspect_ai 0.3.285 ``log/_log.py``,
``model/_model_output.py``.
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
from scbench.formats.custom_id import RequestKey
from scbench.formats.imports.entries import (
    Reply,
    State,
    count,
    error_text,
    failed,
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

# A log, or a member of its archive, that is larger is refused unread.
_MOST_BYTES = 2**30
# Times that a member may stand in an archive: a sample that is asked again is written
# again, and the last one counts.
_MOST_WRITTEN = 100
# What ended a sample from outside; every other limit cut the model off.
_LIMITS = {"operator": Status.API_ERROR}
_READING: Any = {
    "resolve_attachments": "core",
    "exclude_fields": {"events", "store", "scores"},
}
# What Inspect puts before the error of a call: all that was asked.
_REQUEST = re.compile(r"\s*Request:\n.*?\n\n", re.DOTALL)
_REPR = re.compile(r"\w+\((['\"].*['\"])\)", re.DOTALL)
# How the libraries of OpenAI and Anthropic word an error: its status and its body.
_SAID = re.compile(r"Error code: (\d{3}) - (.*)", re.DOTALL)
_CAUSED = "The above exception was the direct cause of the following exception"
_CHILD = """
from scbench.formats.imports.inspect_logs import write_replies
write_replies(arguments)
"""
# In the error of a sample whose reply is there, and could not be graded.
GRADER_FAILED = "the grader failed, not the model"


def is_inspect_archive(path: str) -> bool:
    """Return whether a zip archive is one of Inspect's.

    Raises:
        PredictionsError: it is damaged, or would unpack to more than a machine holds.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise PredictionsError(f"{path} is a damaged zip archive: {error}") from None
    largest = max((member.file_size for member in members), default=0)
    if largest > _MOST_BYTES:
        raise PredictionsError(
            f"{path} unpacks to {largest:,} bytes; the limit is {_MOST_BYTES:,}"
        )
    names = Counter(member.filename for member in members)
    is_log = bool(names.keys() & {"header.json", "_journal/start.json"})
    for name, times in names.most_common(1):
        if is_log and times > _MOST_WRITTEN:
            raise PredictionsError(
                f"{path} holds {times} members called {printable(name)}"
            )
    return is_log


def read_log(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    """Yield the replies of a log with their numbers, also of one that failed or was cut off.

    A few bytes of an archive can hold any amount, so that a child reads it.

    Raises:
        ModuleNotFoundError: inspect_ai is not installed.
        PredictionsError: it cannot read the log.
    """
    if find_spec("inspect_ai") is None:
        raise ModuleNotFoundError("No module named 'inspect_ai'", name="inspect_ai")
    size = Path(path).stat().st_size
    if size > _MOST_BYTES:
        raise PredictionsError(
            f"{path} has {size:,} bytes; the limit is {_MOST_BYTES:,}"
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
    """Write what a log holds to standard output, for `read_log`: a line of JSON for each reply."""
    # What libraries print is no reply.
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        for number, item in _replies_in(path):
            if isinstance(item, PredictionsError):
                entry: tuple[object, ...] = (str(item), None, None, None)
            else:
                entry = (None, item.request, item.model, {**item.fields})
            print(json.dumps((number, *entry)), file=out)
    except PredictionsError as error:
        print(json.dumps((None, str(error), None, None, None)), file=out)


def _replies_in(path: str) -> Iterator[tuple[int, Reply | PredictionsError]]:
    from inspect_ai.log import read_eval_log  # noqa: PLC0415  (an extra)

    packed = zipfile.is_zipfile(path)
    try:
        header = read_eval_log(path, header_only=True)
        spec, made_by = header.eval, _made_by(header)
        # A JSON file is one value, and would be read whole for each sample.
        samples = _samples_in(
            path, apart=packed and spec.dataset.sample_ids is not None
        )
        for number, sample in enumerate(samples, 1):
            try:
                item = _sample_reply(sample, spec)
                fields = {**item.fields, **made_by, **_prompt_hash(sample)}
                yield number, replace(item, fields=fields)
            except PredictionsError as error:
                yield number, error
    except (MemoryError, PredictionsError, GeneratorExit):
        raise
    except (
        Exception
    ) as error:  # the library has no type of its own for what it cannot read
        message = str(error).partition("\n")[0][:300]
        raise PredictionsError(f"inspect_ai cannot read {path}: {message}") from error


def _samples_in(path: str, *, apart: bool) -> "Iterable[EvalSample]":
    from inspect_ai.log import read_eval_log, read_eval_log_samples  # noqa: PLC0415  (an extra)

    if not apart:
        return read_eval_log(path, **_READING).samples or ()
    samples: Iterable[EvalSample]
    samples = read_eval_log_samples(path, all_samples_required=False, **_READING)
    return samples


def _sample_reply(sample: "EvalSample", spec: "EvalSpec") -> Reply:
    request = sample_key(str(sample.id), sample.epoch, sample.metadata)
    error = sample.error
    if error is not None and not _in_grading(sample, error):
        return failed(
            request, _error_text(error) or "the sample failed", model=spec.model
        )
    limit = sample.limit.type if sample.limit else None
    last_reply = reply_of(
        request, spec.model, sample.output, limit, _model_usage(sample, spec.model)
    )
    return with_turns(last_reply, sample.metadata)


def _in_grading(sample: "EvalSample", error: "EvalError") -> bool:
    """Return whether a sample failed after its reply, which is then one like every other.

    Where a limit ended the reply, or time ran out and it is said as an error, that was the scorer.
    """
    signs = (
        GRADER_FAILED in error.message,
        error.message.startswith("Time limit exceeded"),
    )
    return sample.limit is not None or any(signs)


def _error_text(error: "EvalError") -> str:
    """Return what went wrong; of a call that was retried in vain, what went wrong at last."""
    before, cause, _ = error.traceback.rpartition(_CAUSED)
    last = before.rstrip().rpartition("\n")[2] if cause else ""
    return call_error(
        last if last and error.message.startswith("RetryError") else error.message
    )


def call_error(message: str) -> str:
    """Return what a provider said of a call, without the request and the names of classes."""
    text = message
    with suppress(
        ValueError, SyntaxError, MemoryError, RecursionError
    ):  # not in Python's words
        for _ in range(2):  # an error of Inspect's own, and the provider's in it
            text = _REQUEST.sub("", text, 1).strip()
            if match := _REPR.fullmatch(text):
                text = str(ast.literal_eval(match[1]))
        if match := _SAID.search(text):
            text = f"{match[1]} {match[2]}"
            text = f"{match[1]} {error_text(ast.literal_eval(match[2])) or match[2]}"
    return text


def refused_call(output: "ModelOutput") -> bool:
    """Return whether a provider did not take a call, which Inspect words like a reply.

    A prompt that is too long for it uses no tokens; a reply that meets the end of the window does.
    """
    stop = output.stop_reason if output.choices else None
    unused = stop == "model_length" and output.usage is None
    return stop != "content_filter" and (unused or bool(output.error))


def sample_key(sample_id: str, epoch: int, metadata: Mapping[str, Any]) -> RequestKey:
    """Return what a sample asks: its own id, or the one in its metadata, with epoch and budget.

    Raises:
        PredictionsError: neither is an id of ours.
    """
    row_id = metadata.get("id")
    request = request_key(
        row_id if isinstance(row_id, str) and "/" in row_id else sample_id
    )
    budget = (
        request.budget if request.budget is not None else count(metadata.get("budget"))
    )
    return request._replace(sample=request.sample + epoch - 1, budget=budget)


def reply_of(
    request: RequestKey,
    model: str,
    output: "ModelOutput",
    limit: str | None,
    usage: Mapping[str, Any],
) -> Reply:
    """Return what came of a sample that did not fail, but may have hit a kind of limit."""
    if refused_call(output):
        return failed(
            request, call_error(output.error or output.completion), model=model
        )
    text = output.completion if output.choices else None
    if output.choices:
        text = with_calls(
            text, *(call.arguments for call in output.message.tool_calls or ())
        )
    stop = output.stop_reason if output.choices else None
    if stop == "content_filter" and (output.error or output.usage is None):
        # The filter's words, and none of the model's.
        words = call_error(output.error or output.completion)
        return reply(
            request, model, None, State(Status.BLOCKED, stop), usage, error=words
        )
    unsaid = stop is None or stop == "unknown"
    state = (
        state_of(None, text=bool(text)) if unsaid else state_of(stop, text=bool(text))
    )
    if limit is not None:
        state = State(_LIMITS.get(limit, Status.TRUNCATED), f"limit: {limit}")
    elif stop == "model_length":
        state = State(Status.TRUNCATED, stop)
    return reply(request, model, text, state, usage, _reasoning(output))


def _made_by(header: "EvalLog") -> dict[str, Any]:
    """Return what a log says of all its samples: the setting, in our own tasks, and the effort."""
    setting = (header.eval.metadata or {}).get("setting")
    config = header.plan.config
    tokens = config.reasoning_tokens
    effort = config.reasoning_effort or (None if tokens is None else f"{tokens} tokens")
    temperature = None if config.temperature is None else float(config.temperature)
    run = {"effort": effort, "temperature": temperature}
    settings = {name: value for name, value in run.items() if value is not None}
    return {
        **({"setting": setting} if setting in get_args(Setting) else {}),
        **({"run": settings} if settings else {}),
    }


def _prompt_hash(sample: "EvalSample") -> dict[str, Any]:
    digest = sample.metadata.get("instance_hash")
    return {"instance_hash": digest} if isinstance(digest, str) else {}


def _model_usage(sample: "EvalSample", model: str) -> dict[str, Any]:
    """Return what the evaluated model used over all calls; tools and judges are other models."""
    used = sample.model_usage.get(model) or sample.output.usage
    if used is None:
        return {}
    read = (
        used.input_tokens,
        used.input_tokens_cache_read,
        used.input_tokens_cache_write,
    )
    return {
        "input_tokens": total(read),
        "output_tokens": count(used.output_tokens),
        "reasoning_tokens": count(used.reasoning_tokens),
        "seconds": sample.output.time,
    }


def _reasoning(output: "ModelOutput") -> str:
    if not output.choices or isinstance(output.message.content, str):
        return ""
    parts = output.message.content
    return "".join(
        part.reasoning
        for part in parts
        if part.type == "reasoning" and not part.redacted
    )
