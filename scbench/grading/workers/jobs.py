"""Jobs: the data sent to and returned by worker processes."""

import math
from collections.abc import Mapping, Sequence
from ctypes import Structure, c_int64
from typing import NamedTuple

from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import InstanceKey, ReleaseIndex
from scbench.grading.rows.lines import ChunkAccount, GradedLine
from scbench.grading.rows.wire import WireOutcome


class AnswerOrigin(NamedTuple):
    """The place of an answer in a reply, and the repairs that it needed."""

    source: str
    repairs: Sequence[str]


class WorkItem(NamedTuple):
    """One line to grade.

    Attributes:
        line: number of the line.
        data: bytes of the line, or its answer as JSON if already extracted.
        instance_id: id of the instance that it answers.
        answer: the origin of an answer that was already extracted.
        looped: whether it is a trial in a loop, which needs several verdicts.
        key: key of an instance that the worker was not started with.
    """

    line: int
    data: bytes
    instance_id: str
    answer: AnswerOrigin | None = None
    looped: bool = False
    key: InstanceKey | None = None


class GradingJob(NamedTuple):
    """One unit of work for a worker.

    Attributes:
        work: a chunk of lines, or items.
        seconds: time limit for the whole job.
        heavy: whether it is one item of a heavy task.
        each: time limit in seconds for each verdict, if there are several.
    """

    work: Chunk | tuple[WorkItem, ...]
    seconds: float
    heavy: bool = False
    each: float = math.inf


class GradedChunk(NamedTuple):
    """A graded chunk: its account and its rows.

    Attributes:
        account: account of all lines.
        lines: the lines with an outcome; empty if the rows already exist.
        table: the rows as an Arrow file; None for a short chunk, whose rows the parent
            creates.
    """

    account: ChunkAccount
    lines: list[GradedLine]
    table: bytes | None = None


class GradedItem(NamedTuple):
    """The outcome of an item, by line number."""

    line: int
    outcome: WireOutcome


class Failure(NamedTuple):
    """A job that failed, and the reason."""

    why: str


JobResult = GradedChunk | list[GradedItem] | Failure


class Start(NamedTuple):
    """The start data of a worker process.

    Attributes:
        instances: task and parameters by instance id.
        memory_bytes: limit on its address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox.
        release: index of the release; needed for chunks.
    """

    instances: Mapping[str, InstanceKey]
    memory_bytes: int = 0
    allow_code: bool = False
    release: ReleaseIndex | None = None


class Progress(Structure):
    """The progress of a worker, in memory shared with its parent.

    Attributes:
        done: finished steps of the current verdict, if its grader reports any.
        total: number of its steps.
        begun: number of verdicts begun since the worker started.
    """

    _fields_ = (("done", c_int64), ("total", c_int64), ("begun", c_int64))
