"""How worker processes are started: quickly, and clean of this process's threads and state."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

_LONGEST = 104
"""Bytes of a socket's address, on the strictest system."""
_SOCKET = "/pymp-12345678/listener-12345678"


def clean_context() -> BaseContext:
    """Return what pools of processes start their workers with.

    A fork server makes new workers quickly. It listens on a socket in the temporary folder, whose
    path may be too long for an address, as on machines that give each job a folder of its own;
    there, and on systems without one, each worker is started from nothing.
    """
    socket = os.fsencode(tempfile.gettempdir() + _SOCKET)
    served = "forkserver" in multiprocessing.get_all_start_methods() and len(socket) < _LONGEST
    return multiprocessing.get_context("forkserver" if served else "spawn")


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

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._call = function, args

    def result(self) -> Any:  # noqa: ANN401
        function, args = self._call
        return function(*args)


class _InProcess:
    """Makes calls in this process, and none whose result nobody asks for."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> PendingResult:  # noqa: ANN401
        return _Lazy(function, args)


@contextmanager
def open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes that share nothing with this one, while the block runs."""
    pool = ProcessPoolExecutor(workers, mp_context=clean_context(), initializer=_ignore_interrupts)
    try:
        yield pool
    finally:
        # After Ctrl-C or an error, nobody waits for what has not begun.
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Let Ctrl-C reach the first process alone, which then ends the others in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def open_executor(workers: int) -> Iterator[Executor]:
    """Open what makes calls, while the block runs.

    Args:
        workers: processes; with one, all calls are made in this one.
    """
    if workers <= 1:
        yield _InProcess()
        return
    with open_pool(workers) as pool:
        yield pool
