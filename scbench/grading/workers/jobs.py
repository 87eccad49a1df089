"""Jobs: everything that is sent to and returned by a worker process."""

import math
from collections.abc import Mapping, Sequence
from ctypes import Structure, c_int64
from typing import NamedTuple

from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import InstanceKey, ReleaseIndex
from scbench.grading.rows.lines import ChunkAccount, GradedLine
from scbench.grading.rows.wire import WireOutcome


class AnswerOrigin(NamedTuple):
    """The place in a reply where an answer was found, and the repairs that it needed."""

    source: str
    repairs: Sequence[str]


class WorkItem(NamedTuple):
    """One line to grade.

    Attributes:
        line: its number.
        data: its bytes, or the answer in it as JSON if one was found before.
        instance_id: of the instance that it answers.
        answer: the origin of an answer that was found before.
        looped: whether it is a trial in a loop, which takes several verdicts.
        key: of an instance that the worker was not started with.
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
        seconds: limit for all of it.
        heavy: whether it is one item that can take long.
        each: limit in seconds for each verdict of several.
    """

    work: Chunk | tuple[WorkItem, ...]
    seconds: float
    heavy: bool = False
    each: float = math.inf


class GradedChunk(NamedTuple):
    """A chunk that was graded: its account and its rows.

    Attributes:
        account: what each line is.
        lines: the lines with an outcome; empty where the rows are made already.
        table: the rows as a file of Arrow; None of a short chunk, whose rows the parent makes.
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
    """Everything that a worker process is started with.

    Attributes:
        instances: task and parameters by instance id.
        memory_bytes: limit on its address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox.
        release: what is graded against; chunks need it.
    """

    instances: Mapping[str, InstanceKey]
    memory_bytes: int = 0
    allow_code: bool = False
    release: ReleaseIndex | None = None


class Progress(Structure):
    """The progress of a worker, in memory that it shares with its parent.

    Attributes:
        done: finished steps of the current verdict, if its grader reports any.
        total: steps that it takes.
        begun: verdicts that were begun since the worker started.
    """

    _fields_ = (("done", c_int64), ("total", c_int64), ("begun", c_int64))
