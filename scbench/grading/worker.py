"""What runs inside a worker process: one prediction in, one outcome out.

A worker holds the instances' parameters and nothing else of the release. Whatever a grader raises
is caught here and becomes an outcome; what kills the process is the engine's business.
"""

import os
import signal
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, JsonValue

from scbench.canonical import canonical_json
from scbench.catalog import Task, get_task
from scbench.grading.extract import Found, declines, from_field, from_response, shape_of
from scbench.grading.judge import judge
from scbench.grading.reading import Line, parse_line
from scbench.model import Check, Prediction, Status, Verdict

_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "safety", "blocked", "recitation", "prohibited_content"}
MAX_ANSWER_CHARACTERS = 1_000_000
"""Longer answers are graded but not copied into the results."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one prediction.

    Attributes:
        status: what happened.
        verdicts: one per score of the task; empty if the row is unscored.
        reason: why there is no answer to grade; empty if there is one.
        answer: the answer as canonical JSON, if there is one of moderate size.
        source: where it was found (see `scbench.grading.extract`).
        repairs: what had to be done to read it.
    """

    status: Status
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    answer: str | None = None
    source: str | None = None
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One line to grade: its number, its bytes, and the instance it answers."""

    line: int
    data: bytes
    instance_id: str


InstanceKey = tuple[str, str]
"""Task id and parameters (canonical JSON) of an instance: all a grader needs."""

_instances: Mapping[str, InstanceKey] = {}
_ready: dict[str, tuple[Task, BaseModel]] = {}


def start_worker(instances: Mapping[str, InstanceKey], memory_bytes: int) -> None:
    """Prepare a worker process.

    Args:
        instances: task id and parameters by instance id.
        memory_bytes: limit on its address space; 0 for none.
    """
    global _instances  # noqa: PLW0603  (a worker process has one release)
    # The parent decides what Ctrl-C means; workers must not race it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory_bytes:
        limit_memory(memory_bytes)
    _instances = instances
    _ready.clear()


def limit_memory(memory_bytes: int) -> None:
    """Limit this process's address space where the platform can."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def grade_items(items: Sequence[Item]) -> list[tuple[int, Outcome]]:
    """Grade items in order; the result pairs each line number with its outcome."""
    return [(item.line, grade_item(item)) for item in items]


def grade_item(item: Item) -> Outcome:
    """Grade one item. Never raises, except for `MemoryError`, which wants a fresh process."""
    try:
        return _grade(item)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever is wrong with us costs this row only)
        return Outcome(Status.GRADER_ERROR, reason=_describe(error))


def _grade(item: Item) -> Outcome:
    if item.instance_id not in _ready:
        task_id, params = _instances[item.instance_id]
        task = get_task(task_id)
        _ready[item.instance_id] = task, task.params_model.model_validate_json(params)
    task, instance = _ready[item.instance_id]
    line = parse_line(item.data, item.line)
    if not isinstance(line, Line):  # the parent read these very bytes
        raise TypeError(f"line {item.line} cannot be read again: {line}")
    return grade_prediction(line.prediction, task, instance)


def grade_prediction(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Decide what happened to a prediction, and judge its answer if it has one."""
    absent = _absent(prediction)
    if absent is not None:
        return absent if not absent.status.scored else _zero(absent.status, absent.reason, task)
    shape = shape_of(task.answer_model)
    found: Found | None
    if prediction.answer is not None:
        found = from_field(prediction.answer, shape)
    else:
        found = from_response(prediction.response or "", shape)
    if found is None:
        return _zero(*_why_not_found(prediction), task)
    try:
        verdicts = judge(task, params, found.value)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (a grader that fails is not a model that fails)
        return Outcome(Status.GRADER_ERROR, reason=_describe(error))
    answer = _copy(found.value)
    return Outcome(Status.ANSWERED, verdicts, "", answer, found.source, found.repairs)


def _absent(prediction: Prediction) -> Outcome | None:
    """Return the outcome of a prediction that holds neither answer nor text; None if it does."""
    status, finish = prediction.status, (prediction.finish_reason or "").lower()
    if status is not None and not status.scored:
        return Outcome(status, reason=prediction.error or "as the prediction says")
    if prediction.answer is not None or prediction.response is not None:
        return None
    if status is not None:
        return Outcome(status, reason=prediction.error or "as the prediction says")
    if prediction.error is not None:
        return Outcome(Status.API_ERROR, reason=prediction.error[:500])
    if finish in _FILTERED:
        return Outcome(Status.BLOCKED, reason=f"finish_reason is {finish}")
    if finish in _CUT_OFF:
        return Outcome(Status.TRUNCATED, reason=f"finish_reason is {finish}, and there is no text")
    return Outcome(Status.MISSING, reason="the line holds neither answer nor response")


def _why_not_found(prediction: Prediction) -> tuple[Status, str]:
    text, finish = prediction.response or "", (prediction.finish_reason or "").lower()
    if prediction.status in {Status.TRUNCATED, Status.REFUSED}:
        return prediction.status, "as the prediction says"
    if finish in _CUT_OFF:
        return Status.TRUNCATED, f"finish_reason is {finish}, and no answer can be read"
    if finish in _FILTERED:
        return Status.BLOCKED, f"finish_reason is {finish}, and no answer can be read"
    if not text.strip():
        return Status.UNPARSED, "the response is empty"
    if declines(text):
        return Status.REFUSED, "the text declines and holds no answer"
    return Status.UNPARSED, "no answer can be read from the text"


def _zero(status: Status, reason: str, task: Task) -> Outcome:
    if not status.scored:
        return Outcome(status, reason=reason)
    verdict = Verdict(0.0, (Check("answer_found", False, f"There is no answer: {reason}."),))
    return Outcome(status, (verdict,) * task.scores, reason)


def _copy(value: JsonValue) -> str | None:
    try:
        text = canonical_json(value)
    except ValueError:
        text = canonical_json(_finite(value))
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None


def _finite(value: JsonValue) -> JsonValue:
    """Replace infinities (from numbers like 1e999) by text, which JSON can hold."""
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return str(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def _describe(error: Exception) -> str:
    """Say what went wrong and in which line of code, without machine paths."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119
    return f"{type(error).__name__}: {str(error)[:300]} ({place})"
