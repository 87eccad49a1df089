"""How worker processes are started: quickly, and clean of this process's threads and state."""

import errno
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scbench.base.errors import MachineError
from scbench.machine.signals import blocked, uninterrupted

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.context import BaseContext

    from scbench.machine.package import PackageCopy

T = TypeVar("T")
S = TypeVar("S")

_LEAST_MEMORY = 2 * 2**30
# Bytes of a socket's address, on the strictest system.
_LONGEST = 104
# Calls of `map_in_processes` handed out before their results are asked for, for each
# process.
_AHEAD = 16
_SOCKET = "/pymp-12345678/listener-12345678"


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def main_not_imported() -> Iterator[None]:
    """Keep worker processes from importing the program that runs, while the block runs.

    They need nothing of it, and a script that grades when it is imported would grade in each.
    """
    main = sys.modules["__main__"]
    saved = {name: vars(main).pop(name, None) for name in ("__file__", "__spec__")}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(
            {name: value for name, value in saved.items() if value is not None}
        )


def clean_context() -> "BaseContext":
    """Return what pools of processes start their workers with.

    A fork server makes new workers quickly. It listens on a socket in the temporary folder, whose
    path may be too long for an address, as on machines that give each job a folder of its own;
    there, and on systems without one, each worker is started from nothing.

    Raises:
        MachineError: processes cannot share memory here.
    """
    import multiprocessing  # noqa: PLC0415  (commands ask for `processors` before they start)
    import tempfile  # noqa: PLC0415
    from multiprocessing import resource_tracker  # noqa: PLC0415

    from scbench.machine.contexts import CONTEXTS, safe_path  # noqa: PLC0415

    socket = os.fsencode(tempfile.gettempdir() + _SOCKET)
    served = (
        "forkserver" in multiprocessing.get_all_start_methods()
        and len(socket) < _LONGEST
    )
    context = CONTEXTS["forkserver" if served else "spawn"]
    # It starts once, unblocks two signals as it does, and must outlive a signal to the whole job.
    with blocked(), safe_path():
        resource_tracker.ensure_running()
    try:
        context.Lock()
    except OSError as error:
        if error.errno in {errno.EMFILE, errno.ENFILE}:
            raise
        raise MachineError(
            f"processes cannot share memory here ({error.strerror}): grading needs a writable "
            "/dev/shm (`docker run --shm-size 64m`, `mount -t tmpfs tmpfs /dev/shm`); "  # noqa: S108
            "scbench.score in Python works without"
        ) from None
    return context


def start_server(*modules: str) -> "BaseContext":
    """Start what new workers come from, if it does not run; the modules are imported there once.

    It takes a while, and nobody has to wait for it.

    Returns:
        See `clean_context`.
    """
    from multiprocessing import forkserver  # noqa: PLC0415  (as above)

    from scbench.machine.contexts import safe_path  # noqa: PLC0415

    context = clean_context()
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([*modules])
        with blocked(), safe_path():
            forkserver.ensure_running()
    return context


def check_memory() -> None:
    """Make sure that this process may use enough address space to grade.

    With less, libraries that are not written in Python end it without a word.

    Raises:
        MachineError: it may not.
    """
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if resource.RLIM_INFINITY != soft < _LEAST_MEMORY:
        raise MachineError(
            f"only {soft / 2**30:.2g} GiB of address space are allowed here (ulimit -v); "
            f"grading needs {_LEAST_MEMORY / 2**30:g} GiB"
        )


def limit_memory(memory_bytes: int) -> None:
    """Limit this process's address space where the platform can."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    with suppress(ValueError, OSError):  # some systems know the limit but set none
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class PendingResult(Protocol):
    """A call that was handed out."""

    def result(self) -> Any:  # noqa: ANN401  (whatever the function returns)
        """Wait for the call and return what it returned, or raise what it raised."""
        ...


class Executor(Protocol):
    """What makes calls: this process, or others beside it."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        """Hand out a call of a function."""
        ...


class _Lazy:
    """A call that is made when its result is asked for."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result = call


class _InProcess:
    """Makes calls in this process, and none whose result nobody asks for."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        return _Lazy(partial(function, *args))


def _ignore_interrupts() -> None:
    """Let Ctrl-C reach the first process alone, which then ends the others in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _call_in_worker(
    parent: "PackageCopy",
    function: Callable[..., T],
    *args: Any,  # noqa: ANN401
) -> T:
    """Call a function in a worker, after a look at the code that the worker has loaded."""
    from scbench.machine.package import check_same_package  # noqa: PLC0415  (as above)

    check_same_package(parent)
    return function(*args)


class WorkerProcesses:
    """Processes that share nothing with this one, and can be killed: all are started here.

    A call whose process dies fails with `pebble.ProcessExpired`, one that takes too long with
    `TimeoutError`; another process takes the place of that one. Each begins with the initializer;
    for the context see `clean_context`.
    """

    def __init__(
        self,
        count: int,
        initializer: Callable[..., None] = _ignore_interrupts,
        initargs: tuple[Any, ...] = (),
        context: "BaseContext | None" = None,
    ) -> None:
        from pebble import CONSTS, ProcessPool  # noqa: PLC0415  (as above)

        from scbench.machine.package import loaded_package  # noqa: PLC0415  (reads files)

        self._package = loaded_package()
        # Seconds that pebble waits for a process it has asked to end: ours heed no such signal,
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
        try:
            # The first call starts the processes; one that has read half of what it is to do
            # would complain.
            with uninterrupted():
                future: Future[T] = self._pool.schedule(
                    _call_in_worker,
                    args=(self._package, function, *args),
                    timeout=seconds,
                )
        except RuntimeError as error:  # the pool broke while it was idle
            from concurrent.futures import Future as Broken  # noqa: PLC0415  (as above)
            from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415

            future = Broken()
            future.set_exception(BrokenProcessPool(str(error)))
        return future

    def stop(self) -> None:
        """Have the processes stop, and what they are at; `close` waits for that."""
        self._pool.stop()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Stop the processes, and wait for their end."""
        self.stop()
        self._pool.join()


def close_all(pools: Iterable[WorkerProcesses]) -> None:
    """Close several, and wait for all of them at once."""
    several = [*pools]
    for pool in several:
        pool.stop()
    for pool in several:
        pool.close()


@contextmanager
def open_pool(workers: int) -> Iterator[WorkerProcesses]:
    """Open a pool of processes, while the block runs; after that nobody waits for anything."""
    pool = WorkerProcesses(workers)
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def open_executor(workers: int) -> Iterator[Executor]:
    """Open what makes calls, while the block runs; one worker is this process."""
    if workers <= 1:
        yield _InProcess()
        return
    with open_pool(workers) as pool:
        yield pool


def map_in_processes(
    function: Callable[[S], T],
    arguments: Iterable[S],
    workers: int,
    *,
    seconds: float | None = None,
    initializer: Callable[..., None] = _ignore_interrupts,
    initargs: tuple[object, ...] = (),
) -> "Iterator[Future[T]]":
    """Yield the call of a function on each argument, in order; its result can be waited for.

    Arguments are drawn only as fast as results are taken. A call that hangs or whose process dies
    costs its own result and no other: after so many seconds it is given up with a `TimeoutError`.
    """
    pool = WorkerProcesses(workers, initializer, initargs)
    flight: deque[Future[T]] = deque()
    try:
        for argument in arguments:
            flight.append(pool.submit(function, argument, seconds=seconds))
            if len(flight) > _AHEAD * workers:
                yield flight.popleft()
        while flight:
            yield flight.popleft()
    finally:
        pool.close()
