"""Grades answers as they arrive, from any thread, without waiting for simulations.

Worker processes grade them, as for a file: several for heavy tasks, whose items wait
only for each other, and one for light tasks. They start with the first answer and end
with this process.
"""

import atexit
import json
import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from multiprocessing import current_process
from multiprocessing.sharedctypes import RawValue
from threading import Lock
from typing import TypeVar

from scbench.base.model import Instance, Status
from scbench.catalog import SECONDS, get_task
from scbench.grading.rows.index import InstanceKey
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.jobs import GradedItem, Progress, Start, WorkItem
from scbench.grading.workers.worker import grade_items, start_worker
from scbench.machine.limits import processors
from scbench.machine.processes import WorkerProcesses, close_all

# Bytes of address space of a worker.
MEMORY = 4 * 2**30
_TRIES = 2
# Maximum number of pools that may break before an answer is tried; a process that dies
# idle is not an attempt.
_MOST_BROKEN = 5
_T = TypeVar("_T")


class LiveGrader:
    """Worker processes for single answers.

    Daemonic processes (such as those of `multiprocessing.Pool` and data loaders) may
    not start workers. They grade in this process, without time limits. A fork of this
    process opens new pools.

    An answer that takes too long, or whose process dies, is retried once; then it is a
    ``grader_error``, which is not a score of 0.
    """

    def __init__(
        self, workers: int | None = None, seconds: float | None = None
    ) -> None:
        # The key is whether the pool is for heavy tasks.
        self._counts = {True: workers or processors(), False: 1}
        self._pools: dict[bool, WorkerProcesses] = {}
        self._seconds = seconds
        self._lock = Lock()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def submit(self, instance: Instance, line: bytes) -> "Future[WireOutcome]":
        """Grade a line of predictions for this instance.

        Cancelling the future stops the process that grades it.
        """
        task = get_task(instance.task)
        limit = self._seconds
        if not limit:
            limit = task.seconds if task.heavy else SECONDS
        key = InstanceKey(instance.task, instance.all_params)
        item = WorkItem(0, line, instance.id, key=key)
        outcome: Future[WireOutcome] = Future()
        call = partial(self._call, task.heavy, limit, grade_items, (item,))
        attempts = _Attempts(call, limit, outcome)
        attempts.start()
        outcome.add_done_callback(attempts.stop)
        return outcome

    def run(self, function: Callable[..., _T], *arguments: object) -> _T:
        """Call a function in a process for heavy tasks, and wait for its result or exception."""
        return self._call(True, SECONDS, function, *arguments).result()

    def _call(
        self,
        heavy: bool,  # noqa: FBT001  (which pool)
        seconds: float,
        function: Callable[..., _T],
        *arguments: object,
    ) -> "Future[_T]":
        if current_process().daemon:
            return call_here(function, *arguments)
        with self._lock:
            pool = self._pools.get(heavy)
            if pool is None:
                pool = self._open(heavy)
            future = pool.submit(function, *arguments, seconds=seconds)
            # A pool that broke while idle takes no more calls, so open another one.
            if future.done() and isinstance(future.exception(), BrokenProcessPool):
                self._pools.pop(heavy).stop()
            return future

    def _forget(self) -> None:
        """In a fork, forget the parent's processes and a lock that another thread may hold."""
        self._lock = Lock()
        self._pools = {}

    def _open(self, heavy: bool) -> WorkerProcesses:  # noqa: FBT001  (as above)
        start = (Start({}, MEMORY), RawValue(Progress))
        pool = WorkerProcesses(self._counts[heavy], start_worker, start)
        self._pools[heavy] = pool
        return pool

    def close(self) -> None:
        """Stop the processes, busy or not."""
        with self._lock:
            pools = self._pools
            self._pools = {}
        close_all(pools.values())


class _Attempts:
    """The attempts to grade one item; the last one sets the outcome.

    Args:
        call: submits the item to a process.
        limit: time limit of an attempt in seconds.
        outcome: outcome of the item.
    """

    def __init__(
        self,
        call: "Callable[[], Future[list[GradedItem]]]",
        limit: float,
        outcome: "Future[WireOutcome]",
    ) -> None:
        self._call = call
        self._limit = limit
        self._outcome = outcome
        self._attempt: Future[list[GradedItem]] | None = None
        # Reasons of failed attempts.
        self._reasons: list[str] = []
        # Number of pools that broke before their attempt.
        self._breaks = 0

    def start(self) -> None:
        """Begin an attempt, unless the outcome is no longer wanted."""
        if self._outcome.cancelled():
            return
        try:
            attempt = self._call()
        except Exception as error:  # noqa: BLE001  (otherwise the error would be lost)
            attempt = Future()
            attempt.set_exception(error)
        self._attempt = attempt
        attempt.add_done_callback(self._finish)

    def _finish(self, attempt: "Future[list[GradedItem]]") -> None:
        """Set the outcome, or begin another attempt."""
        if self._outcome.cancelled():
            return
        error = attempt.exception()
        if error is None:
            self._outcome.set_result(attempt.result()[0].outcome)
            return
        if isinstance(error, BrokenProcessPool) and self._breaks < _MOST_BROKEN:
            self._breaks += 1
            self.start()
            return
        self._reasons.append(attempt_words(error, self._limit))
        if len(self._reasons) < _TRIES:
            self.start()
            return
        # Repeated reasons are named once.
        why = ", then ".join(dict.fromkeys(self._reasons))
        status = Status.GRADER_ERROR.value
        self._outcome.set_result(WireOutcome(status, reason=f"{why} (tried twice)"))

    def stop(self, outcome: "Future[WireOutcome]") -> None:
        """Stop the current attempt if its outcome was cancelled."""
        if outcome.cancelled() and self._attempt is not None:
            self._attempt.cancel()


def call_here(function: Callable[..., _T], *arguments: object) -> "Future[_T]":
    """Call a function in this process, and return its result or exception as a future."""
    future: Future[_T] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as error:  # noqa: BLE001  (the caller gets it from the future)
        future.set_exception(error)
    return future


def attempt_words(error: BaseException, seconds: float) -> str:
    """Return the reason for a failed attempt."""
    if isinstance(error, TimeoutError):
        return f"no verdict within {seconds:g} s"
    return f"{type(error).__name__}: {error}"


@cache
def live_grader(workers: int | None = None, seconds: float | None = None) -> LiveGrader:
    """Return this process's grader of single answers.

    Args:
        workers: number of workers for heavy tasks; None for one per usable processor.
        seconds: limit of one answer; None for each task's own.
    """
    return LiveGrader(workers, seconds)


def line_of(instance_id: str, **fields: object) -> bytes:
    """Return a prediction as a line for a worker."""
    text = json.dumps({"id": instance_id, **fields}, ensure_ascii=False)
    return text.encode(errors="replace")
