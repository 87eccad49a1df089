"""What ends a run: noted when it comes, and never lost in a library that catches everything."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

# Ctrl-C, and what schedulers and closed terminals send.
ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)


class Interrupts:
    """Signals that came while they were watched.

    A handler raises wherever the program is, also inside a library that turns the exception into a
    warning. So each is noted as well, and `check` raises again; in `deferred` blocks handlers wait.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._is_deferred = False
        self.handlers = {number: signal.getsignal(number) for number in ENDING}

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Note a signal, and do what was done about it before, if now is the time."""
        self._number = number
        if not self._is_deferred:
            self._raise(number, frame)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        handler = self.handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    def check(self) -> None:
        """Raise what a signal has raised before, if there was one."""
        if self._number is not None:
            self._raise(self._number, None)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let no signal interrupt the block; what came in it is raised at its end."""
        outer, self._is_deferred = self._is_deferred, True
        try:
            yield
        finally:
            self._is_deferred = outer
        if not outer:
            self.check()


_WATCHES: list[Interrupts] = []


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let no signal that is watched interrupt the block, in the main thread.

    A mask does not do: another thread takes the signal, and Python's handler runs in this one.
    """
    main = threading.current_thread() is threading.main_thread()
    with _WATCHES[-1].deferred() if _WATCHES and main else nullcontext():
        yield


@contextmanager
def watched() -> Iterator[Interrupts]:
    """Watch signals that have handlers in Python while the block runs, in the main thread."""
    interrupts = Interrupts()
    numbers: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        numbers = [number for number in ENDING if callable(signal.getsignal(number))]
    for number in numbers:
        signal.signal(number, interrupts.handle)
    _WATCHES.append(interrupts)
    try:
        yield interrupts
    finally:
        _WATCHES.remove(interrupts)
        for number in numbers:
            # A handler that was replaced in the block stays: the command is ending.
            if signal.getsignal(number) == interrupts.handle:
                signal.signal(number, interrupts.handlers[number])


@contextmanager
def blocked() -> Iterator[None]:
    """Start processes in the block that never get these signals; here they come at its end.

    Schedulers send them to all processes of a job; the first one then ends the others in order.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
