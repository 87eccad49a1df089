"""The scheduler: spreads work over workers that can be killed, and loses none of it.

Lines of light tasks travel in chunks, items of heavy tasks singly. Nobody knows what a file holds
before it is read, and reading it all first would cost memory and time. So some chunks are read
ahead; then the slowest item that is known goes first, of a task the longest answer, while one
worker stays with the chunks. Reading stops where too much waits.

A job whose worker crashes, runs out of memory or hits the time limit is taken apart, and its items
are tried once more, one at a time with nothing else running. An item that fails again is a
``grader_error``: one row, never the run.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Protocol

from scbench.base.model import MAX_ATTEMPTS, Instance, Status
from scbench.base.progress import no_progress
from scbench.catalog import SECONDS, Task
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.index import InstanceKey, ReleaseIndex
from scbench.grading.rows.survey import PackedChunk
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.jobs import Start, WorkItem
from scbench.grading.workers.pool import (
    Failure,
    GradingJob,
    LocalPool,
    Waiting,
    WorkerPool,
)

# Chunks that are read before any heavy item begins, if nobody would be idle for that.
_AHEAD = 64
_ITEMS = 1000
# Heavy items that may wait, and the bytes they may have.
_BYTES = 2**26


_BATCH_ITEMS = 128
_BATCH_BYTES = 2**20
_SUSPECTS = 1000
# Items that wait to be tried alone; if more do, everything else waits until they were.
_SUSPECT_BYTES = 2**26


class JobQueue:
    """Chunks (None for one that was done before) and heavy items that are still to be graded.

    Of heavy tasks, what may take more seconds goes first. No chunk is begun while they are held
    back.
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
        # Of tasks with one limit the later in the catalogue simulates more.
        order = {task: i for i, task in enumerate(heavy)}
        slowest = sorted(heavy, key=lambda task: (-heavy[task], -order[task]))
        self._items: dict[str, list[tuple[int, int, WorkItem]]] = {
            task: [] for task in slowest
        }
        self._added = 0
        self._bytes = 0
        self._read = 0
        self._all_read = False

    def add(self, item: WorkItem, task: str) -> None:
        """Put an item of a heavy task on the list."""
        # Longest first; of equals the one that came first.
        heappush(self._items[task], (-len(item.data), self._added, item))
        self._added += 1
        self._bytes += len(item.data)

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:
        """See `scbench.grading.workers.scheduler.JobSource.take`."""
        heavy_next = vacant and any(self._items.values())
        if heavy_next and not (
            self._may_read() and (self._read < _AHEAD or light <= 1)
        ):
            return self._slowest()
        chunk = self._next_chunk()
        if chunk is not None:
            return self._job(chunk)
        # A chunk that was done before may have brought some.
        return self._slowest() if vacant and any(self._items.values()) else None

    def _may_read(self) -> bool:
        waiting = sum(map(len, self._items.values()))
        full = waiting >= _ITEMS or self._bytes >= _BYTES
        return not (self._all_read or full or self._held_back())

    def _next_chunk(self) -> Chunk | None:
        while self._may_read():
            try:
                chunk = next(self._chunks)
            except StopIteration:
                self._all_read = True
                return None
            self._read += 1
            if chunk is not None:
                return chunk
        return None

    def _slowest(self) -> GradingJob:
        *_, item = heappop(next(items for items in self._items.values() if items))
        self._bytes -= len(item.data)
        return self._job((item,))


__all__ = ["Scheduler", "Waiting", "WorkerLimits"]

# Takes the items that take long, about once a second.
OnWait = Callable[[Sequence[Waiting]], object]

# Work, and what came of it; None of a chunk that failed.
Done = tuple[WorkItem, WireOutcome] | tuple[Chunk, PackedChunk | None]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What a run may use.

    Attributes:
        workers: worker processes.
        seconds: wall-clock limit for one item, and for 128 light ones together; None for each
            task's own, and `SECONDS` for light ones. A trial in a loop has ten times as long.
        memory_bytes: limit on a worker's address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox; if not, such rows are
            ``not_run``.
    """

    workers: int
    seconds: float | None
    memory_bytes: int
    allow_code: bool = False


class JobSource(Protocol):
    """Where jobs come from."""

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:
        """Return the next job; None if there is none now.

        Args:
            vacant: whether a worker is idle; a heavy job must not be returned else.
            light: workers that hold no heavy item.
        """
        ...


@dataclass
class Scheduler:
    """Grades items, and chunks of lines, in worker processes.

    Instances are task id and parameters by id. Heavy tasks, whose items are scheduled singly, have
    seconds that one may take. The index is what chunks are graded against. A pool is of this
    machine's processes unless another is opened; incidents fill while running, and protections
    stand around child programs, None for those of this machine.
    """

    instances: Mapping[str, InstanceKey]
    limits: WorkerLimits
    heavy: Mapping[str, float] = field(default_factory=dict)
    index: ReleaseIndex | None = None
    open_pool: Callable[[Start], WorkerPool] | None = None
    incidents: list[str] = field(default_factory=list)
    protections: list[str] | None = None
    _suspects: deque[tuple[WorkItem, str]] = field(default_factory=deque, init=False)
    _suspect_bytes: int = field(default=0, init=False)

    @classmethod
    def over(
        cls,
        instances: Mapping[str, Instance],
        tasks: Iterable[Task],
        limits: WorkerLimits,
    ) -> "Scheduler":
        """Return a scheduler for instances of a release, by id, and their tasks."""
        keys = {key: (value.task, value.all_params) for key, value in instances.items()}
        return cls(
            keys, limits, {task.id: task.seconds for task in tasks if task.heavy}
        )

    def run(
        self, items: Iterable[WorkItem], on_wait: OnWait = no_progress
    ) -> Iterator[tuple[WorkItem, WireOutcome]]:
        """Yield each item with its outcome, in the order they are done.

        Items are drawn from the iterable only as fast as they are graded. While items take long,
        ``on_wait`` is called about once a second with each of them.
        """
        for work, outcome in self.work(_Batches(self, items), on_wait):
            if isinstance(work, WorkItem) and isinstance(outcome, WireOutcome):
                yield work, outcome

    def work(self, source: JobSource, on_wait: OnWait = no_progress) -> Generator[Done]:
        """Yield what the jobs of a source came to, in the order they are done.

        A chunk that failed comes with None, and its lines should then be given to `suspect` one by
        one.
        """
        start = Start(
            self.instances, self.limits.memory_bytes, self.limits.allow_code, self.index
        )
        pool = (
            self.open_pool(start)
            if self.open_pool
            else LocalPool(start, self.limits.workers)
        )
        pool.incidents = self.incidents
        self.protections = pool.protections
        try:
            while True:
                yield from self._drain(pool, source, on_wait)
                if not self._suspects:
                    return
                pool.resize(single=True)
                while self._suspects:
                    yield from self._try_singly(
                        pool, *self._suspects.popleft(), on_wait
                    )
                self._suspect_bytes = 0
                pool.resize(single=False)
        finally:
            pool.close()

    def suspect(self, item: WorkItem, why: str = "") -> None:
        """Have an item tried alone, later: it failed, say why, or was in a chunk that did."""
        self._suspects.append((item, why))
        self._suspect_bytes += len(item.data)

    def _drain(
        self, pool: WorkerPool, source: JobSource, on_wait: OnWait
    ) -> Iterator[Done]:
        """Run jobs until there is none now; what fails goes to the suspects with its reason."""
        announced = time.monotonic()
        while True:
            while not self._full() and (free := pool.free()):
                job = source.take(vacant=free.vacant, light=free.light)
                if job is None:
                    break
                pool.submit(job)
            if not pool.busy():
                return
            for job, result in pool.done(1.0):
                if isinstance(job.work, Chunk):
                    if isinstance(result, Failure):
                        incident = (
                            f"{result.why}; a chunk of lines is tried again one by one"
                        )
                        self.incidents.append(incident)
                    yield (
                        job.work,
                        None if isinstance(result, Failure | list) else result,
                    )
                elif isinstance(result, list):
                    by_line = dict(result)
                    for item in job.work:
                        yield item, by_line[item.line]
                elif isinstance(result, Failure):
                    count = len(job.work)
                    self.incidents.append(
                        f"{result.why}; {count} items are tried again one by one"
                    )
                    for item in job.work:
                        self.suspect(item, result.why)
            if time.monotonic() - announced > 1.0:
                announced = time.monotonic()
                on_wait(tuple(pool.waited_for()))

    def _try_singly(
        self, pool: WorkerPool, item: WorkItem, why: str, on_wait: OnWait
    ) -> Iterator[tuple[WorkItem, WireOutcome]]:
        pool.submit(self.job((item,)))
        while pool.busy():
            for _, result in pool.done(1.0):
                if isinstance(result, list):
                    yield item, result[0][1]
                elif isinstance(result, Failure):
                    reason = result.why
                    self.incidents.append(f"{reason}; tried alone: {item.instance_id}")
                    reasons = reason if why in {reason, ""} else f"{why}, then {reason}"
                    status = Status.GRADER_ERROR.value
                    yield item, WireOutcome(status, reason=f"{reasons}; tried twice")
            on_wait(tuple(pool.waited_for()))

    def _full(self) -> bool:
        return len(self._suspects) >= _SUSPECTS or self._suspect_bytes >= _SUSPECT_BYTES

    def job(self, work: Chunk | tuple[WorkItem, ...]) -> GradingJob:
        """Return work with the time it may take."""
        limit = self.limits.seconds
        light = SECONDS if limit is None else limit
        if isinstance(work, Chunk):
            return GradingJob(
                work, light * max(1.0, work.length / _BATCH_ITEMS), each=light
            )
        times = MAX_ATTEMPTS if work[0].looped else 1
        task_limit = self.heavy.get(self.instances[work[0].instance_id][0])
        if task_limit is None:
            return GradingJob(work, light * times)
        return GradingJob(
            work, (task_limit if limit is None else limit) * times, heavy=True
        )


class _Batches:
    """Items as jobs: those of light tasks in batches, those of heavy tasks singly."""

    def __init__(self, scheduler: Scheduler, items: Iterable[WorkItem]) -> None:
        self._scheduler = scheduler
        self._batches = self._cut(items)
        self._deferred: GradingJob | None = None

    def _cut(self, items: Iterable[WorkItem]) -> Iterator[GradingJob]:
        batch: list[WorkItem] = []
        size = 0
        for item in items:
            if self._scheduler.instances[item.instance_id][0] in self._scheduler.heavy:
                yield self._scheduler.job((item,))
                continue
            batch.append(item)
            size += len(item.data)
            if len(batch) >= _BATCH_ITEMS or size >= _BATCH_BYTES:
                yield self._scheduler.job(tuple(batch))
                batch, size = [], 0
        if batch:
            yield self._scheduler.job(tuple(batch))

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:  # noqa: ARG002  (see `JobSource`)
        """See `JobSource.take`."""
        job = self._deferred or next(self._batches, None)
        self._deferred = None
        if job is not None and job.heavy and not vacant:
            self._deferred, job = job, None
        return job
