"""Worker pools: executors of jobs that can be killed, so that no job can block another.

`WorkerPool` is the protocol. `LocalPool` has processes of this machine; the pool in
`scbench.grading.workers.cluster` has those of other machines.
"""

import logging
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
from scbench.grading.workers import IMPORTS
from scbench.grading.workers.jobs import (
    Failure,
    GradedChunk,
    GradedItem,
    GradingJob,
    JobResult,
    Progress,
    Start,
    WorkItem,
)
from scbench.machine.processes import WorkerProcesses, close_all
from scbench.machine.start_methods import start_server

# Maximum jobs of a worker: one running and one waiting, so that it is never idle.
# Nothing waits behind a heavy item, because another worker may be free sooner.
_QUEUED = 2
# Seconds after which an item counts as slow.
_NOTICED = 2.0
# Seconds beyond its time limit after which an unresponsive worker is given up.
_GRACE = 30.0
# If this many workers die in a row without a result, none can start.
_MOST_FAILURES = 20

_log = logging.getLogger(__name__)


# The parent never imports the worker module, because it needs no graders or simulators.
def start_worker(start: Start, progress: Progress) -> None:
    """Prepare a worker process; it writes its progress into shared memory."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see above)

    worker.start_worker(start, progress)


def grade_items(items: Sequence[WorkItem]) -> list[GradedItem]:
    """Grade items in order."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see above)

    return worker.grade_items(items)


def grade_chunk(chunk: Chunk) -> GradedChunk:
    """Parse the lines of a chunk and grade the light ones."""
    from scbench.grading.workers import worker  # noqa: PLC0415  (see above)

    return worker.grade_chunk(chunk)


class FinishedJob(NamedTuple):
    """A job and its result."""

    job: GradingJob
    result: JobResult


class Waiting(NamedTuple):
    """A slow item: its running time in seconds, and its steps if its grader reports any."""

    instance_id: str
    seconds: float
    done: int
    total: int


class Free(NamedTuple):
    """Whether a worker is idle, and the number of workers without a heavy item."""

    vacant: bool
    light: int


class WorkerPool(ABC):
    """An executor of jobs whose results are collected by polling.

    Attributes:
        incidents: messages about workers that failed.
        protections: protections around child programs; None for this machine's.
    """

    def __init__(self) -> None:
        self.incidents: list[str] = []
        self.protections: list[str] | None = None

    @abstractmethod
    def free(self) -> Free | None:
        """Return the free workers; None if no worker can take a job, not even a light one."""

    @abstractmethod
    def busy(self) -> bool:
        """Return whether any job is not done."""

    @abstractmethod
    def submit(self, job: GradingJob) -> None:
        """Take a job; a worker must be free, and vacant for a heavy job."""

    @abstractmethod
    def done(self, seconds: float) -> list[FinishedJob]:
        """Return the finished jobs; wait up to this long for the first.

        Raises:
            EngineError: workers die before they can do anything.
            ClusterError: the workers cannot be reached, or would grade differently.
        """

    @abstractmethod
    def waited_for(self) -> Iterator[Waiting]:
        """Yield the slow heavy items."""

    @abstractmethod
    def resize(self, *, single: bool) -> None:
        """Reduce the pool to one worker, or restore it; no job may be running."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything."""

    def note(self, incident: str) -> None:
        """Record and log an incident."""
        self.incidents.append(incident)
        _log.warning("%s", incident)


class Worker:
    """One worker process and its jobs.

    Attributes:
        progress: progress of the process, in shared memory.
        memory_bytes: limit on its address space.
        process: a pool of one process.
        flight: jobs of the process, the running one first.
        since: monotonic time at which the running job started.
    """

    def __init__(self, start: Start) -> None:
        context = start_server(*IMPORTS)
        self.progress: Progress = RawValue(Progress)
        self.memory_bytes = start.memory_bytes
        self.process = WorkerProcesses(1, start_worker, (start, self.progress), context)
        self.flight: dict[Future[Any], GradingJob] = {}
        self.since = 0.0
        # The number of verdicts at the last call of `stuck`, and the time when it last
        # changed.
        self._begun = 0
        self._begun_since = 0.0

    @property
    def heavy(self) -> bool:
        """Whether it works on a heavy item."""
        return any(job.heavy for job in self.flight.values())

    @property
    def has_room(self) -> bool:
        """Whether it can take another job."""
        return len(self.flight) < _QUEUED and not self.heavy

    @property
    def running_job(self) -> GradingJob | None:
        """The running job."""
        return next(iter(self.flight.values()), None)

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
        """Return whether it is unresponsive, even after its time limit."""
        if not self.flight:
            return False
        limit = max(job.seconds for job in self.flight.values()) + _GRACE
        return time.monotonic() - self.since > limit

    def stuck(self) -> Failure | None:
        """Return a failure if one of several verdicts exceeds its time limit.

        It compares the number of verdicts with the number at the last call, so call it
        repeatedly.
        """
        now = time.monotonic()
        begun = self.progress.begun
        if begun != self._begun:
            self._begun = begun
            self._begun_since = now
        job = self.running_job
        # Before the first verdict the process must start, which may take any time.
        if job is None or not begun:
            return None
        if now - max(self.since, self._begun_since) <= job.each:
            return None
        return Failure(f"no verdict on a line within {job.each:g} s")

    def why(self, error: BaseException, seconds: float) -> str:
        """Return the reason for a failed job."""
        match error:
            case TimeoutError():
                return f"no verdict within {seconds:g} s"
            case ProcessExpired():
                return f"the worker process died (exit code {error.exitcode})"
            case MemoryError():
                return (
                    f"it needed more than {self.memory_bytes / 2**30:g} GiB of memory"
                )
        return f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Stop the process."""
        self.process.close()


def is_fatal(error: BaseException) -> bool:
    """Return whether a worker is unusable after an error."""
    return isinstance(
        error, TimeoutError | ProcessExpired | MemoryError | BrokenProcessPool
    )


class LocalPool(WorkerPool):
    """A number of worker processes of this machine."""

    def __init__(self, start: Start, count: int) -> None:
        super().__init__()
        self._start = start
        self._count = count
        # Waiting jobs of workers that were lost.
        self._again: deque[GradingJob] = deque()
        # Workers that died since the last result.
        self._failures_in_a_row = 0
        self._workers: list[Worker] = []
        try:
            self.resize(single=False)
        except BaseException:
            self.close()
            raise

    @override
    def free(self) -> Free | None:
        if self._again or not self._has_room():
            return None
        light = sum(not worker.heavy for worker in self._workers)
        is_vacant = any(not worker.flight for worker in self._workers)
        return Free(is_vacant, light)

    def _has_room(self) -> bool:
        return any(worker.has_room for worker in self._workers)

    @override
    def busy(self) -> bool:
        return bool(self._again) or any(worker.flight for worker in self._workers)

    @override
    def submit(self, job: GradingJob) -> None:
        workers = [worker for worker in self._workers if worker.has_room]
        min(workers, key=lambda worker: len(worker.flight)).submit(job)

    @override
    def done(self, seconds: float) -> list[FinishedJob]:
        # These jobs have already waited, so they come before new work.
        while self._again and self._has_room():
            self.submit(self._again.popleft())
        futures = [future for worker in self._workers for future in worker.flight]
        wait(futures, timeout=seconds, return_when=FIRST_COMPLETED)
        finished: list[FinishedJob] = []
        for i, worker in enumerate(self._workers):
            if not self._collect(worker, finished):
                # The jobs behind the lost one are not at fault.
                self._again.extend(worker.flight.values())
                worker.close()
                self._workers[i] = Worker(self._start)
        return finished

    def _collect(self, worker: Worker, finished: list[FinishedJob]) -> bool:
        """Collect the finished jobs of a worker; return whether the worker is still usable."""
        is_usable = True
        for future in [future for future in worker.flight if future.done()]:
            worker.since = time.monotonic()
            job = worker.flight.pop(future)
            error = future.exception()
            if error is None:
                self._failures_in_a_row = 0
                finished.append(FinishedJob(job, future.result()))
                continue
            if isinstance(error, EngineError):  # the worker would grade by other rules
                raise error
            is_usable &= not is_fatal(error)
            if isinstance(error, BrokenProcessPool):  # it died between two jobs
                self._note_idle_death()
                self._again.append(job)
            else:
                failure = Failure(worker.why(error, job.seconds))
                finished.append(FinishedJob(job, failure))
        if not is_usable:
            return False
        stuck = worker.stuck()
        if stuck is not None:
            running = next(iter(worker.flight))
            finished.append(FinishedJob(worker.flight.pop(running), stuck))
            return False
        if worker.overdue():
            self.note("a worker stopped answering")
            return False
        return True

    def _note_idle_death(self) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= _MOST_FAILURES:
            raise EngineError(
                f"{_MOST_FAILURES} worker processes died before grading anything; is the memory "
                "limit too low?"
            )
        self.note("a worker process died while idle")

    @override
    def waited_for(self) -> Iterator[Waiting]:
        now = time.monotonic()
        for worker in self._workers:
            job = worker.running_job
            if job is None or not job.heavy or isinstance(job.work, Chunk):
                continue
            seconds = now - worker.since
            if seconds > _NOTICED:
                progress = worker.progress
                yield Waiting(
                    job.work[0].instance_id, seconds, progress.done, progress.total
                )

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
