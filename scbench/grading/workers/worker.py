"""What runs inside a worker process: lines in, outcomes in the wire format out.

A worker holds the instances' parameters and nothing else of the release. Whatever a grader raises
is caught here and becomes an outcome; what kills the process is the scheduler's business.
"""

import gc
import json
import os
import signal
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from pydantic import BaseModel, ValidationError

from scbench.base.errors import ReleaseError, faults_of
from scbench.base.model import Prediction, Status
from scbench.base.progress import listen
from scbench.catalog import Task, get_task
from scbench.formats.predictions import Line, parse_line
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.index import InstanceKey
from scbench.grading.rows.survey import PackedChunk, survey
from scbench.grading.rows.wire import WireOutcome, to_wire
from scbench.grading.workers.jobs import Progress, Start, WorkItem
from scbench.loop.replaying import grade_line
from scbench.machine.processes import limit_memory
from scbench.machine.signals import ENDING
from scbench.scoring.answers.extract import Extraction
from scbench.scoring.outcomes import Outcome, describe_error, judge_found

# Of the garbage collector. Most of what a verdict makes is gone at its end; looking for
# more often would cost a tenth.
THRESHOLDS = (20_000, 20, 20)

_start = Start({})
_progress = Progress()
_completer: Completer | None = None


def start_worker(start: Start, progress: Progress) -> None:
    """Prepare a worker process, which writes into shared memory how far it is."""
    global _start, _progress, _completer  # noqa: PLW0603  (a worker process has one release)

    def note(done: int, total: int) -> None:
        progress.done, progress.total = done, total

    listen(note)
    if start.allow_code:
        from scbench.machine import sandbox  # noqa: PLC0415  (wanted by one task, and rarely)

        sandbox.allow_code(True)
    # The parent decides what signals to the whole job mean; workers must not race it.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    # Beside us run as many workers as there are processors.
    os.environ["POLARS_MAX_THREADS"] = "1"
    _completer = None if start.release is None else Completer(start.release)
    if start.memory_bytes:
        limit_memory(start.memory_bytes)
    gc.set_threshold(*THRESHOLDS)
    _start, _progress = start, progress
    _prepared_once.cache_clear()


def grade_items(items: Sequence[WorkItem]) -> list[tuple[int, WireOutcome]]:
    """Grade items in order; the result pairs each line number with its outcome."""
    return [(item.line, grade_item(item)) for item in items]


def grade_item(item: WorkItem) -> WireOutcome:
    """Grade one item. Never raises, except for `MemoryError`, which wants a fresh process."""
    return _outcome(_grade, item)


def _grade(item: WorkItem) -> Outcome:
    task, params = _prepared_instance(item.instance_id, item.key)
    if item.answer is not None:
        source, repairs = item.answer
        return judge_found(
            Extraction(json.loads(item.data), source, tuple(repairs)), task, params
        )
    line = parse_line(item.data, item.line)
    if not isinstance(line, Line):  # these very bytes were read before
        raise TypeError(f"line {item.line} cannot be read again: {line}")
    return grade_line(line.prediction, task, params)


def grade_chunk(chunk: Chunk) -> PackedChunk:
    """Grade the light lines of a chunk; return its account and rows.

    Raises:
        MemoryError: a fresh process is wanted, and smaller pieces.
    """
    if _completer is None:
        raise TypeError("this worker was started for single items")
    return survey(_completer, chunk, partial(_outcome, _judge_line))


def _judge_line(prediction: Prediction, instance_id: str) -> Outcome:
    return grade_line(prediction, *_prepared_instance(instance_id))


def _outcome(grade: Callable[..., Outcome], *args: object) -> WireOutcome:
    _progress.done = _progress.total = 0
    _progress.begun += 1
    try:
        return to_wire(grade(*args))
    except MemoryError:
        raise
    except ReleaseError as error:
        return to_wire(Outcome(Status.GRADER_ERROR, reason=str(error)))
    except Exception as error:  # noqa: BLE001  (whatever is wrong with us costs this row only)
        return to_wire(Outcome(Status.GRADER_ERROR, reason=describe_error(error)))


def _prepared_instance(
    instance_id: str, key: InstanceKey | None = None
) -> tuple[Task, BaseModel]:
    return _prepared_once(instance_id, *(key or _start.instances[instance_id]))


@lru_cache(maxsize=4096)
def _prepared_once(
    instance_id: str, task_id: str, params: str
) -> tuple[Task, BaseModel]:
    task = get_task(task_id)
    try:
        return task, task.params_model.model_validate_json(params)
    except ValidationError as error:
        raise ReleaseError(
            f"the release is at fault, its parameters of {instance_id} are none of {task_id}: "
            f"{faults_of(error, 1)[0]}"
        ) from None
