"""The worker pool: processes that can be killed, one each, so that none can hold up another.

`LocalPool` has those of this machine; that of
`scbench.grading.workers.cluster` looks the same and has those of others.
"""

import logging
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.sharedctypes import RawValue
from typing import Any, NamedTuple

from pebble import ProcessExpired
from typing_extensions import override

from scbench.base.errors import EngineError
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.survey import PackedChunk
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers import IMPORTS
from scbench.grading.workers.jobs import Progress, Start, WorkItem
from scbench.machine.processes import WorkerProcesses, close_all, start_server

# Jobs a worker holds: one running, one waiting, so that it never waits for us. Nothing
# waits behind a heavy item: another worker may be free sooner.
_QUEUED = 2
# Seconds after which an item is one that is waited for.
_NOTICED = 2.0
# Seconds past its limit after which a worker that does not answer is given up.
_GRACE = 30.0
# Workers that die one after the other, before any gives a result, mean that none can
# start.
_BARREN = 20

_log = logging.getLogger(__name__)


def start_worker(start: Start, progress: Progress) -> None:
    """Prepare a worker process, which writes into shared memory how far it is."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see `IMPORTS`)

    worker.start_worker(start, progress)


def grade_items(items: Sequence[WorkItem]) -> list[tuple[int, WireOutcome]]:
    """Grade items in order; the result pairs each line number with its outcome."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see `IMPORTS`)

    return worker.grade_items(items)


def grade_chunk(chunk: Chunk) -> PackedChunk:
    """Grade the light lines of a chunk; return its account and rows."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see `IMPORTS`)

    return worker.grade_chunk(chunk)


class GradingJob(NamedTuple):
    """What a worker takes at once, and the seconds for all of it, and for each verdict of several.

    A heavy job is one item that can take long.
    """

    work: Chunk | tuple[WorkItem, ...]
    seconds: float
    heavy: bool = False
    each: float = math.inf


class Failure(NamedTuple):
    """A job that was not done, and why."""

    why: str


# What came of a job: a chunk's account and rows, outcomes by line, or neither.
JobResult = PackedChunk | list[tuple[int, WireOutcome]] | Failure


class Waiting(NamedTuple):
    """An item that takes long: for how long, and its steps done and in all, if its grader says."""

    instance_id: str
    seconds: float
    done: int
    total: int


class Free(NamedTuple):
    """Whether a worker has nothing to do, and how many workers do not hold a heavy item."""

    vacant: bool
    light: int


class WorkerPool(ABC):
    """Those who do the work, here or elsewhere; incidents say what happened to them.

    Protections stand around child programs, where they are not this machine's.
    """

    def __init__(self) -> None:
        self.incidents: list[str] = []
        self.protections: list[str] | None = None

    @abstractmethod
    def free(self) -> Free | None:
        """Return who is free; None if no worker can take a job, not even a light one."""

    @abstractmethod
    def busy(self) -> bool:
        """Return whether any job is not done."""

    @abstractmethod
    def submit(self, job: GradingJob) -> None:
        """Take a job; there must be room, and for a heavy one a vacant worker."""

    @abstractmethod
    def done(self, seconds: float) -> list[tuple[GradingJob, JobResult]]:
        """Return the jobs that are done, waiting so long for the first.

        Raises:
            EngineError: workers die before they can do anything.
            ClusterError: the workers cannot be reached any more, or would grade differently.
        """

    @abstractmethod
    def waited_for(self) -> Iterator[Waiting]:
        """Yield the heavy items that take long."""

    @abstractmethod
    def resize(self, *, single: bool) -> None:
        """Keep what one job after the other needs, or all; nothing must be under way."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything."""

    def note(self, incident: str) -> None:
        """Keep an incident, and tell the log."""
        self.incidents.append(incident)
        _log.warning("%s", incident)


class Worker:
    """One worker process and the jobs it holds."""

    def __init__(self, start: Start) -> None:
        context = start_server(*IMPORTS)
        self.progress: Progress = RawValue(Progress)
        self.memory_bytes = start.memory_bytes
        self.process = WorkerProcesses(1, start_worker, (start, self.progress), context)
        self.flight: dict[Future[Any], GradingJob] = {}
        self.since = 0.0
        self._begun = 0
        self._begun_since = 0.0

    @property
    def heavy(self) -> bool:
        """Whether it holds a heavy item."""
        return any(job.heavy for job in self.flight.values())

    @property
    def has_room(self) -> bool:
        """Whether it can take another job."""
        return len(self.flight) < _QUEUED and not self.heavy

    def submit(self, job: GradingJob) -> Future[Any]:
        """Hand a job to the worker."""
        if not self.flight:
            self.since = time.monotonic()
        function: Any = grade_chunk if isinstance(job.work, Chunk) else grade_items
        future: Future[Any] = self.process.submit(
            function, job.work, seconds=job.seconds
        )
        self.flight[future] = job
        return future

    def overdue(self) -> bool:
        """Return whether it does not answer, even to its time limit."""
        limit = max((job.seconds for job in self.flight.values()), default=0.0) + _GRACE
        return bool(self.flight) and time.monotonic() - self.since > limit

    def stuck(self) -> Failure | None:
        """Return a failure if one verdict of several takes longer than one may.

        Only what stood still between two calls is noticed, so it must be asked again and again.
        """
        now, begun = time.monotonic(), self.progress.begun
        if begun != self._begun:
            self._begun, self._begun_since = begun, now
        job = next(iter(self.flight.values()), None)
        # Before its first verdict a process starts, which takes what it takes.
        if (
            job is None
            or not begun
            or now - max(self.since, self._begun_since) <= job.each
        ):
            return None
        return Failure(f"no verdict on a line within {job.each:g} s")

    def why(self, error: BaseException, seconds: float) -> str:
        """Say why a job failed."""
        match error:
            case TimeoutError():
                return f"no verdict within {seconds:g} s"
            case ProcessExpired():
                return f"the worker process died (exit code {error.exitcode})"
            case MemoryError():
                return (
                    f"more than {self.memory_bytes / 2**30:g} GiB of memory were needed"
                )
        return f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Stop the process."""
        self.process.close()


def is_fatal(error: BaseException) -> bool:
    """Return whether a worker is of no use after an error."""
    return isinstance(
        error, TimeoutError | ProcessExpired | MemoryError | BrokenProcessPool
    )


class LocalPool(WorkerPool):
    """Worker processes of this machine, so many of them."""

    def __init__(self, start: Start, count: int) -> None:
        super().__init__()
        self._start = start
        self._count = count
        self._ready: deque[GradingJob] = deque()
        self._barren = 0
        self._workers: list[Worker] = []
        try:
            self.resize(single=False)
        except BaseException:
            self.close()
            raise

    @override
    def free(self) -> Free | None:
        if self._ready or not any(worker.has_room for worker in self._workers):
            return None
        light = sum(not worker.heavy for worker in self._workers)
        return Free(not all(worker.flight for worker in self._workers), light)

    @override
    def busy(self) -> bool:
        return bool(self._ready) or any(worker.flight for worker in self._workers)

    @override
    def submit(self, job: GradingJob) -> None:
        free = (worker for worker in self._workers if worker.has_room)
        min(free, key=lambda worker: len(worker.flight)).submit(job)

    @override
    def done(self, seconds: float) -> list[tuple[GradingJob, JobResult]]:
        while self._ready and any(worker.has_room for worker in self._workers):
            self.submit(self._ready.popleft())
        futures = [future for worker in self._workers for future in worker.flight]
        wait(futures, timeout=seconds, return_when=FIRST_COMPLETED)
        results: list[tuple[GradingJob, JobResult]] = []
        for i, worker in enumerate(self._workers):
            failed = False
            for future in [future for future in worker.flight if future.done()]:
                worker.since = time.monotonic()
                job = worker.flight.pop(future)
                error = future.exception()
                if error is None:
                    self._barren = 0
                    results.append((job, future.result()))
                    continue
                if isinstance(error, EngineError):  # it would grade by other rules
                    raise error
                failed |= is_fatal(error)
                if isinstance(error, BrokenProcessPool):  # died between two jobs
                    self._barren += 1
                    if self._barren >= _BARREN:
                        raise EngineError(
                            f"{_BARREN} worker processes died before they could grade "
                            "anything; is the memory limit too low?"
                        )
                    self.note("a worker process died while idle")
                    self._ready.append(job)
                else:
                    results.append((job, Failure(worker.why(error, job.seconds))))
            stuck = None if failed else worker.stuck()
            if stuck is not None:
                failed = True
                results.append((worker.flight.pop(next(iter(worker.flight))), stuck))
            elif worker.overdue():
                failed = True
                self.note("a worker stopped answering")
            if failed:
                self._ready.extend(worker.flight.values())
                worker.close()
                self._workers[i] = Worker(self._start)
        return results

    @override
    def waited_for(self) -> Iterator[Waiting]:
        now = time.monotonic()
        for worker in self._workers:
            job = next(iter(worker.flight.values()), None)
            if job is None or not job.heavy or isinstance(job.work, Chunk):
                continue
            if now - worker.since > _NOTICED:
                steps = worker.progress.done, worker.progress.total
                yield Waiting(job.work[0].instance_id, now - worker.since, *steps)

    @override
    def resize(self, *, single: bool) -> None:
        count = 1 if single else self._count
        close_all(worker.process for worker in self._workers[count:])
        del self._workers[count:]
        while len(self._workers) < count:
            self._workers.append(Worker(self._start))

    @override
    def close(self) -> None:
        close_all(worker.process for worker in self._workers)
