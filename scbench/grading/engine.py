"""The engine: spreads items over worker processes that can be killed, and loses none.

Each lane is a pebble pool of one process, so a worker that dies or hangs can hold up nobody else.
Items of light tasks travel in batches, those of heavy tasks singly. A batch whose worker crashes,
runs out of memory or hits the time limit is taken apart, and its items are tried once more, one at
a time with nothing else running. An item that fails again is a ``grader_error``: one row, never the
run.
"""

import logging
import multiprocessing
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from pebble import ProcessExpired, ProcessPool

from scbench.catalog import Task
from scbench.errors import EngineError
from scbench.grading.outcome import Outcome
from scbench.grading.packed import Packed, pack
from scbench.grading.worker import InstanceKey, Item, grade_items, start_worker
from scbench.model import Instance, Status

_BATCH_ITEMS = 128
_BATCH_BYTES = 2**20
_QUEUED = 2
"""Batches a lane holds: one running, one waiting, so that a worker never waits for us."""
_GRACE = 30.0
"""Seconds past its limit after which a lane that does not answer is given up."""
_BARREN = 20
"""Workers that die one after the other, before any gives a result, mean that none can start."""

Batch = tuple[Item, ...]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use.

    Attributes:
        workers: worker processes.
        seconds: wall-clock limit for one item (and for one batch of light items).
        memory_bytes: limit on a worker's address space; 0 for none.
    """

    workers: int
    seconds: float
    memory_bytes: int


@dataclass
class _Lane:
    """One worker process and the batches it holds."""

    pool: ProcessPool
    flight: dict[Future[list[tuple[int, Packed]]], Batch] = field(default_factory=dict)
    since: float = 0.0

    def submit(self, batch: Batch, seconds: float) -> None:
        if not self.flight:
            self.since = time.monotonic()
        try:
            future = self.pool.schedule(grade_items, args=(batch,), timeout=seconds)
        except RuntimeError as error:  # the pool broke while it was idle
            failed: Future[list[tuple[int, Packed]]] = Future()
            failed.set_exception(BrokenProcessPool(str(error)))
            self.flight[failed] = batch
        else:
            self.flight[future] = batch

    def close(self) -> None:
        self.pool.stop()  # type: ignore[no-untyped-call]
        self.pool.join()


@dataclass
class Engine:
    """Grades items in worker processes.

    Attributes:
        instances: task id and parameters by instance id.
        limits: what the run may use.
        heavy: ids of the tasks whose items are scheduled singly.
        incidents: what happened to workers, in words; filled while running.
    """

    instances: Mapping[str, InstanceKey]
    limits: Limits
    heavy: Collection[str] = ()
    incidents: list[str] = field(default_factory=list)

    @classmethod
    def over(
        cls, instances: Mapping[str, Instance], tasks: Iterable[Task], limits: Limits
    ) -> "Engine":
        """Return an engine for instances of a release, by id, and their tasks."""
        keys = {key: (value.task, value.params) for key, value in instances.items()}
        return cls(keys, limits, frozenset(task.id for task in tasks if task.heavy))

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Packed]]:
        """Yield each item with its outcome, in the order they are done.

        Items are drawn from the iterable only as fast as they are graded.
        """
        lanes: list[_Lane] = []
        try:
            suspects: list[tuple[Item, str]] = []
            lanes += (self._lane() for _ in range(self.limits.workers))
            yield from self._drain(lanes, deque(), self._batches(items), suspects)
            for lane in lanes[1:]:
                lane.close()
            del lanes[1:]
            for item, why in suspects:
                again: list[tuple[Item, str]] = []
                yield from self._drain(lanes, deque([(item,)]), iter(()), again)
                for _, reason in again:
                    reasons = why if reason == why else f"{why}, then {reason}"
                    failure = Outcome(Status.GRADER_ERROR, reason=f"{reasons}; tried twice")
                    yield item, pack(failure)
        finally:
            for lane in lanes:
                lane.close()

    def _lane(self) -> _Lane:
        methods = multiprocessing.get_all_start_methods()
        # A fork server makes new workers quickly, and clean of this process's threads.
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([grade_items.__module__])
        pool = ProcessPool(
            max_workers=1,
            initializer=start_worker,
            initargs=(self.instances, self.limits.memory_bytes),
            context=context,
        )
        return _Lane(pool)

    def _batches(self, items: Iterable[Item]) -> Iterator[Batch]:
        batch: list[Item] = []
        size = 0
        for item in items:
            if self.instances[item.instance_id][0] in self.heavy:
                yield (item,)
                continue
            batch.append(item)
            size += len(item.data)
            if len(batch) >= _BATCH_ITEMS or size >= _BATCH_BYTES:
                yield tuple(batch)
                batch, size = [], 0
        if batch:
            yield tuple(batch)

    def _drain(
        self,
        lanes: list[_Lane],
        ready: deque[Batch],
        batches: Iterator[Batch],
        suspects: list[tuple[Item, str]],
    ) -> Iterator[tuple[Item, Packed]]:
        """Run batches until none is left; what fails goes to the suspects with its reason."""
        barren = 0
        while True:
            for lane in lanes:
                while len(lane.flight) < _QUEUED:
                    batch = ready.popleft() if ready else next(batches, None)
                    if batch is None:
                        break
                    lane.submit(batch, self.limits.seconds)
            futures = [future for lane in lanes for future in lane.flight]
            if not futures:
                return
            wait(futures, timeout=1.0, return_when=FIRST_COMPLETED)
            for i, lane in enumerate(lanes):
                failed = False
                for future in [future for future in lane.flight if future.done()]:
                    lane.since = time.monotonic()
                    batch = lane.flight.pop(future)
                    error = future.exception()
                    if error is None:
                        barren = 0
                        by_line = dict(future.result())
                        for item in batch:
                            yield item, by_line[item.line]
                    elif isinstance(error, BrokenProcessPool):  # died between two batches
                        failed = True
                        barren += 1
                        if barren >= _BARREN:
                            raise EngineError(
                                f"{_BARREN} worker processes died before they could grade "
                                "anything; is the memory limit too low?"
                            )
                        self._note("a worker process died while idle")
                        ready.append(batch)
                    else:
                        failed |= isinstance(error, TimeoutError | ProcessExpired | MemoryError)
                        why = self._why(error)
                        self._note(f"{why}; {len(batch)} items are tried again one by one")
                        suspects += ((item, why) for item in batch)
                if lane.flight and time.monotonic() - lane.since > self.limits.seconds + _GRACE:
                    failed = True
                    self._note("a worker stopped answering")
                if failed:
                    ready.extend(lane.flight.values())
                    lane.close()
                    lanes[i] = self._lane()

    def _why(self, error: BaseException) -> str:
        match error:
            case TimeoutError():
                return f"no verdict within {self.limits.seconds:g} s"
            case ProcessExpired():
                return f"the worker process died (exit code {error.exitcode})"
            case MemoryError():
                return f"more than {self.limits.memory_bytes / 2**30:g} GiB of memory were needed"
        return f"{type(error).__name__}: {error}"

    def _note(self, incident: str) -> None:
        self.incidents.append(incident)
        _log.warning("%s", incident)
