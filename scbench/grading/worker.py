"""What runs inside a worker process: one prediction in, one packed outcome out.

A worker holds the instances' parameters and nothing else of the release. Whatever a grader raises
is caught here and becomes an outcome; what kills the process is the engine's business.
"""

import contextlib
import signal
from collections.abc import Mapping, MutableSequence, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from scbench import pulse
from scbench.catalog import Task, get_task
from scbench.grading.outcome import Outcome, describe_error, grade_prediction
from scbench.grading.packed import Packed, pack
from scbench.grading.reading import Line, parse_line
from scbench.model import Status


class Item(NamedTuple):
    """One line to grade: its number, its bytes, and the instance it answers."""

    line: int
    data: bytes
    instance_id: str


InstanceKey = tuple[str, str]
"""Task id and parameters (canonical JSON) of an instance: all a grader needs."""

_instances: Mapping[str, InstanceKey] = {}
_ready: dict[str, tuple[Task, BaseModel]] = {}


def start_worker(
    instances: Mapping[str, InstanceKey],
    memory_bytes: int,
    beat: MutableSequence[int],
    allow_code: bool = False,  # noqa: FBT001, FBT002  (pools pass arguments by position)
) -> None:
    """Prepare a worker process.

    Args:
        instances: task id and parameters by instance id.
        memory_bytes: limit on its address space; 0 for none.
        beat: where to write how far the item at hand is: steps done, and all.
        allow_code: whether programs among the answers may run, in a sandbox.
    """
    global _instances  # noqa: PLW0603  (a worker process has one release)

    def note(done: int, total: int) -> None:
        beat[0], beat[1] = done, total

    pulse.listen(note)
    if allow_code:
        from scbench import isolation  # noqa: PLC0415  (wanted by one task, and rarely)

        isolation.allow_code(True)
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
    with contextlib.suppress(ValueError, OSError):  # some systems know the limit but set none
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def grade_items(items: Sequence[Item]) -> list[tuple[int, Packed]]:
    """Grade items in order; the result pairs each line number with its outcome."""
    return [(item.line, grade_item(item)) for item in items]


def grade_item(item: Item) -> Packed:
    """Grade one item. Never raises, except for `MemoryError`, which wants a fresh process."""
    pulse.beat(0, 0)
    try:
        return pack(_grade(item))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever is wrong with us costs this row only)
        return pack(Outcome(Status.GRADER_ERROR, reason=describe_error(error)))


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
