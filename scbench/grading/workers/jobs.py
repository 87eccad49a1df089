"""What is handed to worker processes."""

from collections.abc import Mapping, Sequence
from ctypes import Structure, c_int64
from typing import NamedTuple

from scbench.grading.rows.index import InstanceKey, ReleaseIndex


class WorkItem(NamedTuple):
    """One line to grade: its bytes, or the answer in it as JSON if that was found before.

    Then it says where, and what had to be done to read it. A trial in a loop takes several
    verdicts. The key is of an instance that the worker was not started with.
    """

    line: int
    data: bytes
    instance_id: str
    answer: tuple[str, Sequence[str]] | None = None
    looped: bool = False
    key: InstanceKey | None = None


class Start(NamedTuple):
    """What a worker process is started with: task id and parameters by instance id, bytes or 0.

    Programs among the answers may run, in a sandbox, if code is allowed. Chunks need a release.
    """

    instances: Mapping[str, InstanceKey]
    memory_bytes: int = 0
    allow_code: bool = False
    release: ReleaseIndex | None = None


class Progress(Structure):
    """What a worker says in memory that it shares with its parent.

    Attributes:
        done: steps of the verdict at hand that are made, if its grader says.
        total: steps that it takes.
        begun: verdicts that were begun since it started.
    """

    _fields_ = (("done", c_int64), ("total", c_int64), ("begun", c_int64))
