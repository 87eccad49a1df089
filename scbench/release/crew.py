"""Who does the work of building: this process, or several beside it."""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from scbench.processes import clean_context

T = TypeVar("T")


class Job(Protocol):
    """Work that was handed out."""

    def result(self) -> Any:  # noqa: ANN401  (whatever the function returns)
        """Wait for it and return what came of it, or raise what it raised."""
        ...


class Crew(Protocol):
    """Takes jobs."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> Job:  # noqa: ANN401
        """Hand out a call of a function."""
        ...


class _Later:
    """A call that is made when its result is asked for."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._call = function, args

    def result(self) -> Any:  # noqa: ANN401
        function, args = self._call
        return function(*args)


class _Alone:
    """Does every job itself, and none that nobody asks for."""

    def submit(self, function: Callable[..., T], /, *args: Any) -> Job:  # noqa: ANN401
        return _Later(function, args)


@contextmanager
def open_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes that share nothing with this one, while the block runs."""
    pool = ProcessPoolExecutor(workers, mp_context=clean_context(), initializer=_leave_interrupts)
    try:
        yield pool
    finally:
        # After Ctrl-C or an error, nobody waits for what has not begun.
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts() -> None:
    """Let Ctrl-C reach the first process alone, which then ends the others in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def crew_of(workers: int) -> Iterator[Crew]:
    """Return a crew for as long as the block runs.

    Args:
        workers: processes; with one, all is done in this one.
    """
    if workers <= 1:
        yield _Alone()
        return
    with open_pool(workers) as pool:
        yield pool
