"""The scheduler: distributes work over workers that can be killed, without losing any.

Lines of light tasks are sent in chunks. Items of heavy tasks are sent one at a time,
because each may take long (see `Task.heavy`). The heavy items in a file are known only
after reading it, but reading it completely first would cost memory and time. Therefore,
some chunks are read ahead. Then heavy items are started, the slowest task first and
within a task the longest answer first, while one worker continues with chunks. Reading
pauses while too much is waiting.

A job whose worker crashes, runs out of memory or hits the time limit is split, and its
items are retried one at a time with nothing else running. An item that fails again
becomes a ``grader_error``: it costs one row, but never stops the run.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

from scbench.base.model import MAX_ATTEMPTS, Instance, Status
from scbench.base.progress import no_progress
from scbench.base.wording import counted
from scbench.catalog import SECONDS, Task
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import InstanceKey, ReleaseIndex
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.jobs import (
    Failure,
    GradedChunk,
    GradingJob,
    JobResult,
    Start,
    WorkItem,
)
from scbench.grading.workers.pool import LocalPool, Waiting, WorkerPool

# Chunks to read first, so that the slowest items are known before any heavy item is started (see
# `JobQueue.take`).
_AHEAD = 64
# Reading pauses at this many waiting heavy items, or this many bytes of them.
_ITEMS = 1000
_BYTES = 2**26
# A batch of light items is full at either limit.
_BATCH_ITEMS = 128
_BATCH_BYTES = 2**20
# Maximum number of items that wait to be retried alone, and of their bytes. At either
# limit, no other work starts until they have been retried.
_SUSPECTS = 1000
_SUSPECT_BYTES = 2**26

# Called about once a second with the slow items.
OnWait = Callable[[Sequence[Waiting]], object]

# A piece of work and its result; the result of a chunk that failed is None.
Done = tuple[WorkItem, WireOutcome] | tuple[Chunk, GradedChunk | None]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The resources that a run may use.

    Attributes:
        workers: worker processes.
        seconds: wall-clock limit for one item, and for `_BATCH_ITEMS` light ones together. If
            None, heavy tasks have their own limits and light ones `SECONDS`. A trial in
            a loop has `MAX_ATTEMPTS` times as much time.
        memory_bytes: limit on a worker's address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox; if not, such rows are
            ``not_run``.
    """

    workers: int
    seconds: float | None
    memory_bytes: int
    allow_code: bool = False


class JobSource(Protocol):
    """A source of jobs."""

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:
        """Return the next job; None if none is available now.

        Args:
            vacant: whether a worker is idle; otherwise a heavy job must not be returned.
            light: number of workers that have no heavy item.
        """
        ...


class Suspect(NamedTuple):
    """An item to be retried alone.

    Attributes:
        item: the item.
        why: the reason for the first failure; empty if the item was only in a chunk
            that failed.
    """

    item: WorkItem
    why: str


@dataclass
class Scheduler:
    """Grades items, and chunks of lines, in worker processes.

    Attributes:
        instances: task and parameters by instance id.
        limits: the resources that it may use.
        heavy: seconds allowed for one item, by heavy task.
        index: the index of the release, for chunks.
        open_pool: opens the worker pool; by default a pool of processes on this machine.
        incidents: filled while running.
        protections: set by `work`, from the pool: the protections around child programs; None for
            those of this machine.
    """

    instances: Mapping[str, InstanceKey]
    limits: WorkerLimits
    heavy: Mapping[str, float] = field(default_factory=dict)
    index: ReleaseIndex | None = None
    open_pool: Callable[[Start], WorkerPool] | None = None
    incidents: list[str] = field(default_factory=list)
    protections: list[str] | None = None
    _suspects: deque[Suspect] = field(default_factory=deque, init=False)
    _suspect_bytes: int = field(default=0, init=False)

    @classmethod
    def over(
        cls,
        instances: Mapping[str, Instance],
        tasks: Iterable[Task],
        limits: WorkerLimits,
    ) -> "Scheduler":
        """Return a scheduler for a release's instances (by id) and their tasks."""
        keys = {}
        for instance_id, instance in instances.items():
            keys[instance_id] = InstanceKey(instance.task, instance.all_params)
        heavy = {task.id: task.seconds for task in tasks if task.heavy}
        return cls(keys, limits, heavy)

    def run(
        self, items: Iterable[WorkItem], on_wait: OnWait = no_progress
    ) -> Iterator[tuple[WorkItem, WireOutcome]]:
        """Yield each item with its outcome, in order of completion.

        Items are taken from the iterable only as fast as they are graded. ``on_wait``
        is called about once a second with each slow item.
        """
        for work, outcome in self.work(BatchQueue(self, items), on_wait):
            # Always true, for the type checker: a `BatchQueue` has no chunks.
            if isinstance(work, WorkItem) and isinstance(outcome, WireOutcome):
                yield work, outcome

    def work(self, source: JobSource, on_wait: OnWait = no_progress) -> Generator[Done]:
        """Yield the results of the jobs of a source, in order of completion.

        A chunk that failed comes with None, and its lines should then be given to `suspect` one by
        one.
        """
        start = Start(
            self.instances, self.limits.memory_bytes, self.limits.allow_code, self.index
        )
        pool = self._open_pool(start)
        pool.incidents = self.incidents
        self.protections = pool.protections
        try:
            while True:
                yield from self._drain(pool, source, on_wait)
                if not self._suspects:
                    return
                # With one worker, nothing else uses memory or time.
                pool.resize(single=True)
                while self._suspects:
                    yield from self._try_alone(pool, self._suspects.popleft(), on_wait)
                # All suspects have been tried.
                self._suspect_bytes = 0
                pool.resize(single=False)
        finally:
            pool.close()

    def _open_pool(self, start: Start) -> WorkerPool:
        if self.open_pool:
            return self.open_pool(start)
        return LocalPool(start, self.limits.workers)

    def suspect(self, item: WorkItem, why: str = "") -> None:
        """Queue an item to be retried alone.

        Args:
            item: an item that failed, or that was in a chunk that failed.
            why: the reason; empty if only its chunk failed.
        """
        self._suspects.append(Suspect(item, why))
        self._suspect_bytes += len(item.data)

    def _has_many_suspects(self) -> bool:
        return len(self._suspects) >= _SUSPECTS or self._suspect_bytes >= _SUSPECT_BYTES

    def _drain(
        self, pool: WorkerPool, source: JobSource, on_wait: OnWait
    ) -> Iterator[Done]:
        """Run jobs until the source has none; items that fail become suspects."""
        announced = time.monotonic()
        while True:
            self._fill(pool, source)
            if not pool.busy():
                return
            for job, result in pool.done(1.0):
                yield from self._results_of(job, result)
            if time.monotonic() - announced > 1.0:
                announced = time.monotonic()
                on_wait(tuple(pool.waited_for()))

    def _fill(self, pool: WorkerPool, source: JobSource) -> None:
        """Hand out jobs while there are jobs and free workers."""
        while not self._has_many_suspects():
            free = pool.free()
            if free is None:
                return
            # Without a vacant worker, a busy one can still take a light job as its next.
            job = source.take(vacant=free.vacant, light=free.light)
            if job is None:
                return
            pool.submit(job)

    def _results_of(self, job: GradingJob, result: JobResult) -> Iterator[Done]:
        """Yield the results of a job.

        The items of a failed job become suspects. A failed chunk is yielded with None, and the
        caller of `work` makes suspects of its lines.
        """
        work = job.work
        if isinstance(work, Chunk):
            if isinstance(result, Failure):
                self.incidents.append(
                    f"{result.why}; the lines of a chunk are graded again one by one"
                )
            graded_chunk = result if isinstance(result, GradedChunk) else None
            yield work, graded_chunk
        elif isinstance(result, Failure):
            self.incidents.append(
                f"{result.why}; {counted(len(work), 'item')} will be graded again one by "
                "one"
            )
            for item in work:
                self.suspect(item, result.why)
        elif isinstance(result, list):
            # A `GradedItem` is a pair of line number and outcome.
            outcomes = dict(result)
            for item in work:
                yield item, outcomes[item.line]

    def _try_alone(
        self, pool: WorkerPool, suspect: Suspect, on_wait: OnWait
    ) -> Iterator[tuple[WorkItem, WireOutcome]]:
        """Grade an item with nothing else running."""
        item = suspect.item
        pool.submit(self.job((item,)))
        while pool.busy():
            for _, result in pool.done(1.0):
                if isinstance(result, list):
                    yield item, result[0].outcome
                elif isinstance(result, Failure):
                    reason = result.why
                    self.incidents.append(
                        f"{reason}; graded again alone: {item.instance_id}"
                    )
                    if suspect.why and suspect.why != reason:
                        reason = f"{suspect.why}, then {reason}"
                    status = Status.GRADER_ERROR.value
                    yield item, WireOutcome(status, reason=f"{reason} (tried twice)")
            # `done` waits up to a second, and there is one job: this is about once a second.
            on_wait(tuple(pool.waited_for()))

    def job(self, work: Chunk | tuple[WorkItem, ...]) -> GradingJob:
        """Return work with its time limit."""
        limit = self.limits.seconds
        light_seconds = SECONDS if limit is None else limit
        if isinstance(work, Chunk):
            # The length of a chunk is its number of lines.
            batches = max(1.0, work.length / _BATCH_ITEMS)
            return GradingJob(work, light_seconds * batches, each=light_seconds)
        # The first item decides: a batch has only light items; heavy items and loop
        # trials are sent one at a time.
        first = work[0]
        attempts = MAX_ATTEMPTS if first.looped else 1
        task_limit = self.heavy.get(self.instances[first.instance_id].task)
        if task_limit is None:
            return GradingJob(work, light_seconds * attempts)
        heavy_seconds = task_limit if limit is None else limit
        return GradingJob(work, heavy_seconds * attempts, heavy=True)


class QueuedItem(NamedTuple):
    """An item in a queue, which sorts the longest first, then in order of arrival."""

    negative_size: int
    number: int
    item: WorkItem


class JobQueue:
    """Chunks (None for one that is already done) and heavy items that are not yet graded.

    Heavy tasks with longer time limits go first. While ``held_back()`` is true,
    no chunk is started.
    """

    def __init__(
        self,
        chunks: Iterator[Chunk | None],
        heavy: Mapping[str, float],
        job: Callable[[Chunk | tuple[WorkItem, ...]], GradingJob],
        held_back: Callable[[], bool],
    ) -> None:
        self._chunks = chunks
        self._job = job
        self._held_back = held_back
        # The slowest task goes first. Among tasks with equal limits, the later one in
        # the catalogue goes first, because it simulates more.
        order = {task: i for i, task in enumerate(heavy)}
        slowest = sorted(heavy, key=lambda task: (-heavy[task], -order[task]))
        self._items: dict[str, list[QueuedItem]] = {task: [] for task in slowest}
        self._added = 0
        self._bytes = 0
        self._chunks_read = 0
        self._all_read = False

    def add(self, item: WorkItem, task: str) -> None:
        """Put an item of a heavy task into the queue."""
        heappush(self._items[task], QueuedItem(-len(item.data), self._added, item))
        self._added += 1
        self._bytes += len(item.data)

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:
        """See `JobSource.take`."""
        if vacant and self._waiting_count():
            # Chunks come before heavy items only while reading ahead, and for the last
            # worker without a heavy item, which continues with chunks.
            prefers_chunk = self._chunks_read < _AHEAD or light <= 1
            if not (self._may_read() and prefers_chunk):
                return self._slowest()
        chunk = self._next_chunk()
        if chunk is not None:
            return self._job(chunk)
        # Reading may have queued heavy items: the iterator adds those of chunks that an earlier
        # run had done.
        return self._slowest() if vacant and self._waiting_count() else None

    def _waiting_count(self) -> int:
        """Return the number of waiting heavy items."""
        return sum(map(len, self._items.values()))

    def _may_read(self) -> bool:
        is_full = self._waiting_count() >= _ITEMS or self._bytes >= _BYTES
        return not (self._all_read or is_full or self._held_back())

    def _next_chunk(self) -> Chunk | None:
        while self._may_read():
            try:
                chunk = next(self._chunks)
            except StopIteration:
                self._all_read = True
                return None
            self._chunks_read += 1
            if chunk is not None:
                return chunk
        return None

    def _slowest(self) -> GradingJob:
        """Take the longest answer to the slowest task; there must be one."""
        # `_items` is ordered by task, the slowest first.
        queues = [items for items in self._items.values() if items]
        item = heappop(queues[0]).item
        self._bytes -= len(item.data)
        return self._job((item,))


class BatchQueue:
    """Items as jobs: light tasks in batches, heavy tasks one by one."""

    def __init__(self, scheduler: Scheduler, items: Iterable[WorkItem]) -> None:
        self._scheduler = scheduler
        self._batches = self._cut(items)
        # A heavy job for which no worker was vacant.
        self._deferred: GradingJob | None = None

    def _cut(self, items: Iterable[WorkItem]) -> Iterator[GradingJob]:
        scheduler = self._scheduler
        batch: list[WorkItem] = []
        size = 0
        for item in items:
            if scheduler.instances[item.instance_id].task in scheduler.heavy:
                yield scheduler.job((item,))
                continue
            batch.append(item)
            size += len(item.data)
            if len(batch) >= _BATCH_ITEMS or size >= _BATCH_BYTES:
                yield scheduler.job(tuple(batch))
                batch = []
                size = 0
        if batch:
            yield scheduler.job(tuple(batch))

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:  # noqa: ARG002  (see `JobSource`)
        """See `JobSource.take`."""
        job = self._deferred or next(self._batches, None)
        self._deferred = None
        if job is not None and job.heavy and not vacant:
            self._deferred = job
            return None
        return job
