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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_int64
from dataclasses import dataclass, field
from multiprocessing.context import BaseContext
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple

from pebble import ProcessExpired, ProcessPool

from scbench.catalog import SECONDS, Task
from scbench.errors import EngineError
from scbench.grading.outcome import Outcome
from scbench.grading.packed import Packed, pack
from scbench.grading.worker import InstanceKey, Item, grade_items, start_worker
from scbench.model import Instance, Status

_BATCH_ITEMS = 128
_BATCH_BYTES = 2**20
_QUEUED = 2
"""Batches a lane holds: one running, one waiting, so that a worker never waits for us. Nothing
waits behind a heavy item: another lane may be free sooner."""
_NOTICED = 2.0
"""Seconds after which an item is one that is waited for."""
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
        seconds: wall-clock limit for one heavy item, and for one batch of light ones; None for
            each task's own, and `SECONDS` for a batch.
        memory_bytes: limit on a worker's address space; 0 for none.
        allow_code: whether programs among the answers may run, in a sandbox; if not, such rows are
            ``not_run``.
    """

    workers: int
    seconds: float | None
    memory_bytes: int
    allow_code: bool = False


class Waiting(NamedTuple):
    """An item that takes long: for how long, and its steps done and in all, if its grader says."""

    instance_id: str
    seconds: float
    done: int
    total: int


@dataclass
class _Lane:
    """One worker process and the batches it holds.

    Attributes:
        pool: the pool of one process.
        beat: steps done, and all, of the item at hand; the worker writes, we read.
        flight: batches not come back yet, the running one first.
        since: when that one began.
    """

    pool: ProcessPool
    beat: Any
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
        heavy: seconds that an item may take, for tasks whose items are scheduled singly.
        incidents: what happened to workers, in words; filled while running.
    """

    instances: Mapping[str, InstanceKey]
    limits: Limits
    heavy: Mapping[str, float] = field(default_factory=dict)
    incidents: list[str] = field(default_factory=list)

    @classmethod
    def over(
        cls, instances: Mapping[str, Instance], tasks: Iterable[Task], limits: Limits
    ) -> "Engine":
        """Return an engine for instances of a release, by id, and their tasks."""
        keys = {key: (value.task, value.params) for key, value in instances.items()}
        return cls(keys, limits, {task.id: task.seconds for task in tasks if task.heavy})

    def run(
        self, items: Iterable[Item], on_wait: Callable[[Sequence[Waiting]], object] = id
    ) -> Iterator[tuple[Item, Packed]]:
        """Yield each item with its outcome, in the order they are done.

        Items are drawn from the iterable only as fast as they are graded. While items take long,
        ``on_wait`` is called about once a second with each of them.
        """
        lanes: list[_Lane] = []
        try:
            suspects: list[tuple[Item, str]] = []
            lanes += (self._lane() for _ in range(self.limits.workers))
            yield from self._drain(lanes, deque(), self._batches(items), suspects, on_wait)
            for lane in lanes[1:]:
                lane.close()
            del lanes[1:]
            for item, why in suspects:
                again: list[tuple[Item, str]] = []
                yield from self._drain(lanes, deque([(item,)]), iter(()), again, on_wait)
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
        context: BaseContext = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods else "spawn"
        )
        if "forkserver" in methods:
            context.set_forkserver_preload([grade_items.__module__])
        beat = RawArray(c_int64, 2)
        pool = ProcessPool(
            max_workers=1,
            initializer=start_worker,
            initargs=(self.instances, self.limits.memory_bytes, beat, self.limits.allow_code),
            context=context,
        )
        return _Lane(pool, beat)

    def _is_heavy(self, batch: Batch) -> bool:
        return self.instances[batch[0].instance_id][0] in self.heavy

    def _seconds(self, batch: Batch) -> float:
        if self.limits.seconds is not None:
            return self.limits.seconds
        return self.heavy.get(self.instances[batch[0].instance_id][0], SECONDS)

    def _room(self, lane: _Lane) -> bool:
        if any(self._is_heavy(batch) for batch in lane.flight.values()):
            return False
        return len(lane.flight) < _QUEUED

    def _waited_for(self, lanes: Iterable[_Lane]) -> Iterator[Waiting]:
        now = time.monotonic()
        for lane in lanes:
            batch = next(iter(lane.flight.values()), None)
            if batch and self._is_heavy(batch) and now - lane.since > _NOTICED:
                yield Waiting(batch[0].instance_id, now - lane.since, *lane.beat)

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
        on_wait: Callable[[Sequence[Waiting]], object],
    ) -> Iterator[tuple[Item, Packed]]:
        """Run batches until none is left; what fails goes to the suspects with its reason."""
        barren = 0
        told = time.monotonic()
        while True:
            for lane in lanes:
                while self._room(lane):
                    batch = ready.popleft() if ready else next(batches, None)
                    if batch is None:
                        break
                    lane.submit(batch, self._seconds(batch))
            futures = [future for lane in lanes for future in lane.flight]
            if not futures:
                return
            wait(futures, timeout=1.0, return_when=FIRST_COMPLETED)
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                on_wait(tuple(self._waited_for(lanes)))
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
                        why = self._why(error, self._seconds(batch))
                        self._note(f"{why}; {len(batch)} items are tried again one by one")
                        suspects += ((item, why) for item in batch)
                limit = max(map(self._seconds, lane.flight.values()), default=0.0) + _GRACE
                if lane.flight and time.monotonic() - lane.since > limit:
                    failed = True
                    self._note("a worker stopped answering")
                if failed:
                    ready.extend(lane.flight.values())
                    lane.close()
                    lanes[i] = self._lane()

    def _why(self, error: BaseException, seconds: float) -> str:
        match error:
            case TimeoutError():
                return f"no verdict within {seconds:g} s"
            case ProcessExpired():
                return f"the worker process died (exit code {error.exitcode})"
            case MemoryError():
                return f"more than {self.limits.memory_bytes / 2**30:g} GiB of memory were needed"
        return f"{type(error).__name__}: {error}"

    def _note(self, incident: str) -> None:
        self.incidents.append(incident)
        _log.warning("%s", incident)
