"""Pools of worker processes, and the one protocol for calls here or in another process."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scbench.machine.signals import uninterrupted
from scbench.machine.start_methods import clean_context

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from scbench.machine.package import PackageCopy

T = TypeVar("T")
S = TypeVar("S")

# Calls for each process that `map_in_processes` hands out before their results are taken.
_CALLS_AHEAD = 16


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class PendingResult(Protocol):
    """A call that was handed out."""

    def result(self) -> Any:  # noqa: ANN401  (whatever the function returns)
        """Wait for the call and return what it returned, or raise what it raised."""
        ...


class Executor(Protocol):
    """Makes calls, in this process or in others."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        """Hand out a call of a function."""
        ...


class LazyCall:
    """A call that is made when its result is asked for."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result = call


class LocalExecutor:
    """Makes calls in this process, and none whose result nobody asks for."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        """Note a call of a function."""
        return LazyCall(partial(function, *args))


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the first process, which then ends the others in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class WorkerProcesses:
    """Processes that share nothing with this one, and can be killed: all are started here.

    A call whose process dies fails with `pebble.ProcessExpired`, one that takes too long with
    `TimeoutError`; in both cases a new process takes the place of the old one. A worker that has
    loaded another copy of scbench than this process fails every call with an `EngineError`.

    Args:
        count: number of processes.
        initializer: each process calls it first.
        initargs: arguments of that call.
        context: see `clean_context`, which is the default.
    """

    def __init__(
        self,
        count: int,
        initializer: Callable[..., None] = ignore_interrupts,
        initargs: tuple[Any, ...] = (),
        context: "BaseContext | None" = None,
    ) -> None:
        from pebble import CONSTS, ProcessPool  # noqa: PLC0415  (heavy)

        from scbench.machine.package import loaded_package  # noqa: PLC0415  (reads files)

        self._package = loaded_package()
        # Seconds that pebble waits for a process it has asked to end. Ours ignore that signal,
        # since schedulers send it to all processes of a job.
        CONSTS.term_timeout = 0
        self._pool = ProcessPool(
            max_workers=count,
            initializer=initializer,
            initargs=initargs,
            context=context or clean_context(),
        )

    def submit(
        self,
        function: Callable[..., T],
        /,
        *args: Any,  # noqa: ANN401
        seconds: float | None = None,
    ) -> "Future[T]":
        """Hand out a call, which may take so many seconds."""
        checked_args = (self._package, function, *args)
        try:
            # The first call starts the processes. A process that has read only half of its
            # instructions would complain, so no signal interrupts this.
            with uninterrupted():
                future: Future[T] = self._pool.schedule(
                    call_in_worker, args=checked_args, timeout=seconds
                )
        except RuntimeError as error:  # the pool broke while it was idle
            from concurrent.futures import Future as BrokenFuture  # noqa: PLC0415  (heavy)
            from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

            future = BrokenFuture()
            future.set_exception(BrokenProcessPool(str(error)))
        return future

    def stop(self) -> None:
        """Make the processes stop, with the calls they are at; `close` waits for that."""
        self._pool.stop()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Stop the processes, and wait for their end."""
        self.stop()
        self._pool.join()


def call_in_worker(
    parent: "PackageCopy",
    function: Callable[..., T],
    *args: Any,  # noqa: ANN401
) -> T:
    """Call a function in a worker, after a look at the code that the worker has loaded."""
    from scbench.machine.package import check_same_package  # noqa: PLC0415  (reads files)

    check_same_package(parent)
    return function(*args)


def close_all(pools: Iterable[WorkerProcesses]) -> None:
    """Close several pools at the same time, and wait for all of them."""
    open_pools = list(pools)
    for pool in open_pools:
        pool.stop()
    for pool in open_pools:
        pool.close()


@contextmanager
def open_pool(workers: int) -> Iterator[WorkerProcesses]:
    """Open a pool of processes for the block; unfinished calls are dropped at its end."""
    pool = WorkerProcesses(workers)
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def open_executor(workers: int) -> Iterator[Executor]:
    """Open an executor for the block; with one worker it is this process."""
    if workers <= 1:
        yield LocalExecutor()
        return
    with open_pool(workers) as pool:
        yield pool


def map_in_processes(
    function: Callable[[S], T],
    arguments: Iterable[S],
    workers: int,
    *,
    seconds: float | None = None,
    initializer: Callable[..., None] = ignore_interrupts,
    initargs: tuple[object, ...] = (),
) -> "Iterator[Future[T]]":
    """Yield the call of a function on each argument, in order; its result can be waited for.

    Arguments are drawn only as fast as results are taken. A call that hangs or whose process dies
    costs its own result and no other: after so many seconds it fails with a `TimeoutError`.
    """
    pool = WorkerProcesses(workers, initializer, initargs)
    flight: deque[Future[T]] = deque()
    try:
        for argument in arguments:
            flight.append(pool.submit(function, argument, seconds=seconds))
            if len(flight) > _CALLS_AHEAD * workers:
                yield flight.popleft()
        while flight:
            yield flight.popleft()
    finally:
        pool.close()
