"""Lanes: worker processes that can be killed, one each, so that none can hold up another.

A lane is a pebble pool of one process. `LocalLanes` are those of this machine;
`scbench.grading.workers.cluster` has the same face over those of others.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.sharedctypes import RawValue
from typing import Any, NamedTuple, Protocol

from pebble import ProcessExpired, ProcessPool

from scbench.errors import EngineError
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.wire import Packed
from scbench.grading.workers.worker import (
    Item,
    Progress,
    Start,
    grade_chunk,
    grade_items,
    start_worker,
)
from scbench.processes import clean_context

_QUEUED = 2
"""Jobs a lane holds: one running, one waiting, so that a worker never waits for us. Nothing waits
behind a heavy item: another lane may be free sooner."""
_NOTICED = 2.0
"""Seconds after which an item is one that is waited for."""
_GRACE = 30.0
"""Seconds past its limit after which a lane that does not answer is given up."""
_BARREN = 20
"""Workers that die one after the other, before any gives a result, mean that none can start."""

_log = logging.getLogger(__name__)


class Job(NamedTuple):
    """What a lane takes at once.

    Attributes:
        work: a chunk of lines, or items.
        seconds: wall-clock limit for all of it.
        heavy: whether it is an item that can take long.
        each: wall-clock limit for one verdict, if there are several.
    """

    work: Chunk | tuple[Item, ...]
    seconds: float
    heavy: bool = False
    each: float = math.inf


class Failure(NamedTuple):
    """A job that was not done, and why."""

    why: str


Result = bytes | list[tuple[int, Packed]] | Failure
"""What came of a job: a packed part, outcomes by line, or neither."""


class Waiting(NamedTuple):
    """An item that takes long: for how long, and its steps done and in all, if its grader says."""

    instance_id: str
    seconds: float
    done: int
    total: int


class Lanes(Protocol):
    """What the engine asks of those who do the work, here or elsewhere."""

    incidents: list[str]
    """What happened to workers, in words."""
    walls: list[str] | None
    """Walls around child programs, where they are not this machine's."""

    def vacant(self) -> bool:
        """Return whether a lane has nothing to do."""
        ...

    def room(self) -> bool:
        """Return whether a lane can take a job that is not heavy."""
        ...

    def light(self) -> int:
        """Return how many lanes do not hold a heavy item."""
        ...

    def busy(self) -> bool:
        """Return whether any job is not done."""
        ...

    def submit(self, job: Job) -> None:
        """Take a job; there must be room, and for a heavy one a vacant lane."""
        ...

    def done(self, seconds: float) -> list[tuple[Job, Result]]:
        """Return the jobs that are done, waiting so long for the first."""
        ...

    def waited_for(self) -> Iterator[Waiting]:
        """Yield the heavy items that take long."""
        ...

    def shrink(self) -> None:
        """Keep what one job after the other needs; nothing must be under way."""
        ...

    def grow(self) -> None:
        """Undo `shrink`."""
        ...

    def close(self) -> None:
        """Stop everything."""
        ...


class Lane:
    """One worker process and the jobs it holds.

    Args:
        start: what the process is started with.
    """

    def __init__(self, start: Start) -> None:
        context = clean_context()
        if context.get_start_method() == "forkserver":
            context.set_forkserver_preload([grade_items.__module__])
        self.progress: Progress = RawValue(Progress)
        self.memory_bytes = start.memory_bytes
        self.pool = ProcessPool(
            max_workers=1,
            initializer=start_worker,
            initargs=(start, self.progress),
            context=context,
        )
        self.flight: dict[Future[Any], Job] = {}
        self.since = 0.0
        self._begun = 0
        self._begun_since = 0.0

    @property
    def heavy(self) -> bool:
        """Whether it holds a heavy item."""
        return any(job.heavy for job in self.flight.values())

    def submit(self, job: Job) -> Future[Any]:
        """Hand a job to the worker."""
        if not self.flight:
            self.since = time.monotonic()
        function: Any = grade_chunk if isinstance(job.work, Chunk) else grade_items
        future: Future[Any]
        try:
            future = self.pool.schedule(function, args=(job.work,), timeout=job.seconds)
        except RuntimeError as error:  # the pool broke while it was idle
            future = Future()
            future.set_exception(BrokenProcessPool(str(error)))
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
        if job is None or not begun or now - max(self.since, self._begun_since) <= job.each:
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
                return f"more than {self.memory_bytes / 2**30:g} GiB of memory were needed"
        return f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Stop the process."""
        self.pool.stop()  # type: ignore[no-untyped-call]
        self.pool.join()


def is_fatal(error: BaseException) -> bool:
    """Return whether a lane is of no use after an error."""
    return isinstance(error, TimeoutError | ProcessExpired | MemoryError | BrokenProcessPool)


class LocalLanes:
    """Lanes of this machine.

    Args:
        start: what worker processes are started with.
        count: how many.
    """

    def __init__(self, start: Start, count: int) -> None:
        self.incidents: list[str] = []
        self.walls: list[str] | None = None
        self._start = start
        self._count = count
        self._ready: deque[Job] = deque()
        self._barren = 0
        self._lanes: list[Lane] = []
        try:
            self.grow()
        except BaseException:
            self.close()
            raise

    def vacant(self) -> bool:
        """See `Lanes.vacant`."""
        return not self._ready and not all(lane.flight for lane in self._lanes)

    def room(self) -> bool:
        """See `Lanes.room`."""
        return not self._ready and any(map(self._has_room, self._lanes))

    def _has_room(self, lane: Lane) -> bool:
        return len(lane.flight) < _QUEUED and not lane.heavy

    def light(self) -> int:
        """See `Lanes.light`."""
        return sum(not lane.heavy for lane in self._lanes)

    def busy(self) -> bool:
        """See `Lanes.busy`."""
        return bool(self._ready) or any(lane.flight for lane in self._lanes)

    def submit(self, job: Job) -> None:
        """See `Lanes.submit`."""
        min(filter(self._has_room, self._lanes), key=lambda lane: len(lane.flight)).submit(job)

    def done(self, seconds: float) -> list[tuple[Job, Result]]:
        """See `Lanes.done`.

        Raises:
            EngineError: workers die before they can do anything.
        """
        while self._ready and any(map(self._has_room, self._lanes)):
            self.submit(self._ready.popleft())
        futures = [future for lane in self._lanes for future in lane.flight]
        wait(futures, timeout=seconds, return_when=FIRST_COMPLETED)
        found: list[tuple[Job, Result]] = []
        for i, lane in enumerate(self._lanes):
            failed = False
            for future in [future for future in lane.flight if future.done()]:
                lane.since = time.monotonic()
                job = lane.flight.pop(future)
                error = future.exception()
                if error is None:
                    self._barren = 0
                    found.append((job, future.result()))
                    continue
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
                    found.append((job, Failure(lane.why(error, job.seconds))))
            stuck = None if failed else lane.stuck()
            if stuck is not None:
                failed = True
                found.append((lane.flight.pop(next(iter(lane.flight))), stuck))
            elif lane.overdue():
                failed = True
                self.note("a worker stopped answering")
            if failed:
                self._ready.extend(lane.flight.values())
                lane.close()
                self._lanes[i] = Lane(self._start)
        return found

    def waited_for(self) -> Iterator[Waiting]:
        """See `Lanes.waited_for`."""
        now = time.monotonic()
        for lane in self._lanes:
            job = next(iter(lane.flight.values()), None)
            if job is None or not job.heavy or isinstance(job.work, Chunk):
                continue
            if now - lane.since > _NOTICED:
                steps = lane.progress.done, lane.progress.total
                yield Waiting(job.work[0].instance_id, now - lane.since, *steps)

    def shrink(self) -> None:
        """See `Lanes.shrink`."""
        self._close(self._lanes[1:])
        del self._lanes[1:]

    def grow(self) -> None:
        """See `Lanes.grow`."""
        while len(self._lanes) < self._count:
            self._lanes.append(Lane(self._start))

    def close(self) -> None:
        """See `Lanes.close`."""
        self._close(self._lanes)

    def _close(self, lanes: Sequence[Lane]) -> None:
        for lane in lanes:
            lane.close()

    def note(self, incident: str) -> None:
        """Keep an incident, and tell the log."""
        self.incidents.append(incident)
        _log.warning("%s", incident)
