"""The inside of a worker process: it parses lines, extracts the answers, and grades them.

A worker has only the instances' parameters from the release. Exceptions of graders are
caught here and become outcomes; the scheduler handles the death of the process.
"""

import gc
import json
import os
import signal
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ReleaseError, faults_of
from scbench.base.model import Prediction, Status
from scbench.base.progress import listen
from scbench.catalog import Task, get_task
from scbench.formats.predictions import Line, parse_line
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import InstanceKey, ReleaseIndex
from scbench.grading.rows.lines import (
    FoundAnswer,
    ParsedChunk,
    ParsedLine,
    parse_chunk,
    settle,
)
from scbench.grading.rows.table import make_table
from scbench.grading.rows.wire import WireOutcome, to_wire
from scbench.grading.workers.jobs import (
    GradedChunk,
    GradedItem,
    Progress,
    Start,
    WorkItem,
)
from scbench.loop.replaying import grade_line
from scbench.machine.limits import limit_memory
from scbench.machine.signals import ENDING
from scbench.scoring.answers.candidates import Extraction
from scbench.scoring.outcomes import Outcome, describe_error, judge_found, seek_answer

# Threshold of the garbage collector. Most objects of a verdict are freed at its end;
# collecting more often would cost 10 %.
THRESHOLDS = (20_000, 20, 20)
# The parent creates the rows of chunks of up to this many bytes, because importing
# polars takes longer than creating the rows of a short file.
_SHORT = 2**17

# A worker process grades against one release.
_start = Start({})
_progress = Progress()


class PreparedInstance(NamedTuple):
    """An instance ready for its grader."""

    task: Task
    params: BaseModel


def start_worker(start: Start, progress: Progress) -> None:
    """Prepare a worker process; it writes its progress into shared memory."""
    global _start, _progress  # noqa: PLW0603  (a worker process has one release)

    def note(done: int, total: int) -> None:
        progress.done = done
        progress.total = total

    listen(note)
    if start.allow_code:
        from scbench.machine import sandbox  # noqa: PLC0415  (one task needs it, and rarely)

        sandbox.allow_code(True)
    # The parent handles signals sent to the whole job; workers must not react first.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    # There are already as many workers as processors.
    os.environ["POLARS_MAX_THREADS"] = "1"
    if start.memory_bytes:
        limit_memory(start.memory_bytes)
    gc.set_threshold(*THRESHOLDS)
    _start = start
    _progress = progress
    prepared_once.cache_clear()


def grade_chunk(chunk: Chunk) -> GradedChunk:
    """Parse the lines of a chunk and grade the light ones.

    Raises:
        MemoryError: retry in a fresh process, with smaller pieces.
    """
    index = _start.release
    if index is None:
        raise TypeError("this worker was started for single items")
    parsed = parse_chunk(index, chunk)
    graded = settle(index, parsed, judge_lines(index, parsed))
    if len(chunk.data) <= _SHORT:
        return GradedChunk(parsed.account, graded)
    return GradedChunk(parsed.account, [], make_table(index, parsed.account, graded))


def judge_lines(
    index: ReleaseIndex, parsed: ParsedChunk
) -> dict[int, WireOutcome | FoundAnswer]:
    """Return outcomes of light lines and answers in heavy ones, by line number."""
    results: dict[int, WireOutcome | FoundAnswer] = {}
    # Answers to the same item are graded in a row, to reuse code and data in the cache.
    for line in sorted(parsed.lines, key=lambda line: line.head.position):
        result = judge_line(index, line)
        if result is not None:
            results[line.head.line or 0] = result
    return results


def judge_line(
    index: ReleaseIndex, line: ParsedLine
) -> WireOutcome | FoundAnswer | None:
    """Return a light line's outcome, or a heavy line's answer or the reason for a missing one.

    None for lines that are graded separately, or whose task the release does not contain.
    """
    position = line.head.position
    if position < 0:
        return None
    task = index.entries[position].task
    prediction = line.prediction
    if task not in index.heavy:
        return outcome_of(partial(grade_prediction_of, prediction))
    # A trial in a loop contains no single answer: it is replayed separately.
    if prediction.turns:
        return None
    answer = seek_answer(prediction, get_task(task))
    if isinstance(answer, Outcome):
        return to_wire(answer)
    return found_answer(answer, prediction.id)


def found_answer(extraction: Extraction, instance_id: str) -> FoundAnswer | None:
    """Return the answer to an instance in wire form; None if JSON cannot express it."""
    try:
        key = sha256(f"{instance_id} {canonical_json(extraction.value)}")
    except ValueError:
        return None
    text = json.dumps(extraction.value, ensure_ascii=False, separators=(",", ":"))
    return FoundAnswer(key, text, extraction.source, list(extraction.repairs))


def grade_prediction_of(prediction: Prediction) -> Outcome:
    """Grade a prediction for an instance that the worker was started with."""
    task, params = prepared_instance(prediction.id)
    return grade_line(prediction, task, params)


def grade_items(items: Sequence[WorkItem]) -> list[GradedItem]:
    """Grade items in order."""
    return [GradedItem(item.line, grade_item(item)) for item in items]


def grade_item(item: WorkItem) -> WireOutcome:
    """Grade one item. Never raises, except for `MemoryError`, which needs a fresh process."""
    return outcome_of(partial(judge_item, item))


def judge_item(item: WorkItem) -> Outcome:
    """Grade one item; exceptions of its grader propagate."""
    task, params = prepared_instance(item.instance_id, item.key)
    if item.answer is not None:
        source, repairs = item.answer
        extraction = Extraction(json.loads(item.data), source, tuple(repairs))
        return judge_found(extraction, task, params)
    line = parse_line(item.data, item.line)
    if not isinstance(line, Line):  # these bytes were read before
        raise TypeError(f"line {item.line} cannot be read again: {line}")
    return grade_line(line.prediction, task, params)


def outcome_of(grade: Callable[[], Outcome]) -> WireOutcome:
    """Return the outcome of a verdict in the wire format; only `MemoryError` propagates."""
    _progress.done = 0
    _progress.total = 0
    _progress.begun += 1
    try:
        return to_wire(grade())
    except MemoryError:
        raise
    except ReleaseError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001  (our bugs cost only this row)
        reason = describe_error(error)
    return to_wire(Outcome(Status.GRADER_ERROR, reason=reason))


def prepared_instance(
    instance_id: str, key: InstanceKey | None = None
) -> PreparedInstance:
    """Return an instance ready for its grader; `key` is for instances outside the release."""
    task, params = key or _start.instances[instance_id]
    return prepared_once(instance_id, task, params)


@lru_cache(maxsize=4096)
def prepared_once(instance_id: str, task_id: str, params: str) -> PreparedInstance:
    """Return an instance ready for its grader; its parameters are parsed once."""
    task = get_task(task_id)
    try:
        return PreparedInstance(task, task.params_model.model_validate_json(params))
    except ValidationError as error:
        raise ReleaseError(
            f"the release is faulty: its parameters for {instance_id} do not fit {task_id}: "
            f"{faults_of(error, 1)[0]}"
        ) from None
