"""Pools of worker processes, and a common interface for local and remote calls."""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scbench.base.errors import MachineError
from scbench.machine.signals import uninterrupted
from scbench.machine.start_methods import clean_context

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from scbench.machine.package import PackageCopy

T = TypeVar("T")
S = TypeVar("S")

# The functions that pebble uses from the module `time`, with a monotonic clock. The system clock
# jumps when it is set or a laptop wakes up, so time limits would end calls too early or too late.
_STEADY_CLOCK = SimpleNamespace(time=time.monotonic, sleep=time.sleep)
# Error if a process dies during a call that cannot be skipped, or between two calls.
_DIED = "a worker process died; is there enough memory? Run the command again"
# Calls per process that `map_in_processes` submits before it yields the first one.
_CALLS_AHEAD = 16


class PendingResult(Protocol):
    """A submitted call."""

    def result(self) -> Any:  # noqa: ANN401  (whatever the function returns)
        """Wait for the call and return what it returned, or raise what it raised."""
        ...


class Executor(Protocol):
    """Makes calls, in this process or in other processes."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        """Submit a call of a function."""
        ...


class LazyCall:
    """A call that is made each time its result is requested."""

    def __init__(self, call: Callable[[], Any]) -> None:
        # The call itself is the method `result` of `PendingResult`.
        self.result = call


class LocalExecutor:
    """Makes each call in this process, when its result is requested."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        """Store a call of a function; ``result()`` makes it."""
        return LazyCall(partial(function, *args))


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in a worker; the parent process handles it and stops its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class WorkerProcesses:
    """A pool of separate processes that can be killed; an `Executor`.

    A call fails with `pebble.ProcessExpired` if its process dies, and with
    `TimeoutError` if it takes too long. In both cases a new process replaces the old
    one. If a worker has loaded a different copy of scbench, every call fails with an
    `EngineError`.

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
        from pebble.pool import process as pebble_processes  # noqa: PLC0415  (as above)

        from scbench.machine.package import loaded_package  # noqa: PLC0415  (reads files)

        self._package = loaded_package()
        # Seconds (for all pools) between pebble's SIGTERM to a process and its SIGKILL. Grading
        # workers ignore SIGTERM, since job schedulers send it to all processes of a
        # job, so waiting is useless.
        CONSTS.term_timeout = 0
        vars(pebble_processes)["time"] = _STEADY_CLOCK
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
        """Submit a call, which is killed after ``seconds``; None for no limit."""
        worker_args = (self._package, function, *args)
        try:
            # The first call starts the processes. A signal in between would leave a worker with
            # half of its start-up data, and it would print a traceback.
            with uninterrupted():
                future: Future[T] = self._pool.schedule(
                    call_in_worker, args=worker_args, timeout=seconds
                )
        except RuntimeError as error:
            # pebble refuses calls to a pool that broke while it was idle. The caller
            # gets the error as the result of the call. (The alias only avoids the name
            # imported for types.)
            from concurrent.futures import Future as BrokenFuture  # noqa: PLC0415  (heavy)
            from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

            future = BrokenFuture()
            future.set_exception(BrokenProcessPool(str(error)))
        return future

    def stop(self) -> None:
        """Tell the processes to stop and drop their calls, without waiting; `close` waits."""
        self._pool.stop()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Stop the processes and wait until they end."""
        self.stop()
        self._pool.join()


def call_in_worker(
    parent: "PackageCopy",
    function: Callable[..., T],
    *args: Any,  # noqa: ANN401
) -> T:
    """Call a function in a worker that has loaded the same code as its parent.

    Raises:
        EngineError: it has loaded different code.
    """
    from scbench.machine.package import check_same_package  # noqa: PLC0415  (reads files)

    check_same_package(parent)
    return function(*args)


def close_all(pools: Iterable[WorkerProcesses]) -> None:
    """Close several pools at the same time, and wait for all of them."""
    open_pools = list(pools)
    # All pools are stopped first, so that they end in parallel and `close` is quick.
    for pool in open_pools:
        pool.stop()
    for pool in open_pools:
        pool.close()


@contextmanager
def open_pool(workers: int) -> Iterator[WorkerProcesses]:
    """Open a pool of processes for the block; drop unfinished calls at its end.

    Raises:
        MachineError: a process died during a call, or while it was idle, which breaks the pool.
    """
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  (heavy)

    from pebble import ProcessExpired  # noqa: PLC0415  (heavy)

    pool = WorkerProcesses(workers)
    try:
        yield pool
    except (BrokenProcessPool, ProcessExpired):
        raise MachineError(_DIED) from None
    finally:
        pool.close()


@contextmanager
def open_executor(workers: int) -> Iterator[Executor]:
    """Open an executor for the block; with one worker, calls are made in this process."""
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
    """Yield the future of a call for each argument, in order.

    Arguments are read only as fast as futures are consumed. A call that takes more than ``seconds``
    fails with a `TimeoutError`, and one whose process dies fails with `pebble.ProcessExpired`. No
    other call is affected.

    Raises:
        MachineError: a process died while it was idle, which breaks the pool.
    """
    pool = WorkerProcesses(workers, initializer, initargs)
    in_flight: deque[Future[T]] = deque()
    try:
        for argument in arguments:
            in_flight.append(pool.submit(function, argument, seconds=seconds))
            if len(in_flight) > _CALLS_AHEAD * workers:
                yield unbroken(in_flight.popleft())
        while in_flight:
            yield unbroken(in_flight.popleft())
    finally:
        pool.close()


def unbroken(call: "Future[T]") -> "Future[T]":
    """Wait for a call, and return it.

    Raises:
        MachineError: the pool that ran the call broke.
    """
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  (heavy)

    if isinstance(call.exception(), BrokenProcessPool):
        raise MachineError(_DIED)
    return call
