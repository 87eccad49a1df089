"""Grading beside Inspect's event loop: the worker processes and limits of ``scbench-grade``.

One thread feeds a scheduler as long as there is something to grade. After that its processes end,
and the next answer starts others.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import count
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from scbench.base.model import Instance
from scbench.catalog import all_tasks
from scbench.grading.api import MEMORY
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.pool import GradingJob
from scbench.grading.workers.scheduler import Scheduler, WorkerLimits
from scbench.grading.workers.worker import WorkItem
from scbench.machine.processes import main_not_imported, processors
from scbench.release.load import find_release

_IDLE = 20.0
"""Seconds without an answer after which the processes end."""


@lru_cache(maxsize=8)
def named_instances(release: str | None) -> Mapping[str, Instance]:
    """Return the instances of all configs of a release by id, looked up once by its name.

    Raises:
        ReleaseError: there is no such release.
    """
    source = find_release(release)
    terse = source.terse().instances() if source.manifest.terse else {}
    rungs = source.ladder().instances() if source.manifest.ladder else {}
    return {**source.instances(), **terse, **rungs}


@dataclass
class Grading:
    """Grades answers to the instances of one release, from any thread.

    Attributes:
        release: its name, as `scbench.load_release` takes it.
    """

    release: str | None
    _queue: "SimpleQueue[WorkItem]" = field(default_factory=SimpleQueue)
    _waiting: dict[int, "Future[WireOutcome]"] = field(default_factory=dict)
    _numbers: "count[int]" = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)
    _running: bool = False

    def submit(self, instance_id: str, line: bytes) -> "Future[WireOutcome]":
        """Have a line of predictions graded.

        Returns:
            What will hold the outcome, or the `ScbenchError` that ended all grading.
        """
        future: Future[WireOutcome] = Future()
        with self._lock:
            item = WorkItem(next(self._numbers), line, instance_id)
            self._waiting[item.line] = future
            self._queue.put(item)
            if not self._running:
                self._running = True
                Thread(target=self._serve, name="scbench grading", daemon=True).start()
        return future

    def _serve(self) -> None:
        """Grade until nothing has come for a while."""
        while True:
            try:
                self._grade()
            except Exception as error:  # noqa: BLE001  (whoever waits must hear of it)
                with self._lock:
                    for future in self._waiting.values():
                        future.set_exception(error)
                    self._waiting.clear()
                    self._queue = SimpleQueue()
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return

    def _grade(self) -> None:
        instances = named_instances(self.release)
        limits = WorkerLimits(processors(), None, MEMORY)
        scheduler = Scheduler.over(instances, all_tasks().values(), limits)
        with main_not_imported():
            for item, outcome in scheduler.work(_Arriving(scheduler, self._next)):
                if isinstance(item, WorkItem) and isinstance(outcome, WireOutcome):
                    with self._lock:
                        future = self._waiting.pop(item.line)
                    future.set_result(outcome)

    def _next(self) -> WorkItem | None:
        """Return the next item; wait for one only if nobody waits for another."""
        try:
            return self._queue.get(block=not self._waiting, timeout=_IDLE)
        except Empty:
            return None


@dataclass
class _Arriving:
    """Items one by one, as they come."""

    scheduler: Scheduler
    following: Callable[[], WorkItem | None]
    _deferred: GradingJob | None = None

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:  # noqa: ARG002  (see `JobSource`)
        """See `scbench.grading.workers.scheduler.JobSource`."""
        job, self._deferred = self._deferred, None
        if job is None:
            item = self.following()
            job = None if item is None else self.scheduler.job((item,))
        if job is not None and job.heavy and not vacant:
            self._deferred, job = job, None
        return job


@cache
def grading(release: str | None) -> Grading:
    """Return who grades answers to a release in this process."""
    return Grading(release)
