"""Signals that end a run, recorded so that libraries which catch exceptions cannot lose them."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Ctrl-C, and the signals from schedulers and closed terminals.
ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)
# The active watches, innermost last.
_WATCHES: "list[Interrupts]" = []


class Interrupts:
    """Signals that arrived during a watch.

    A handler can raise anywhere, even inside a library that turns the exception into a
    warning. So each signal is recorded as well, and `check` raises again; in `deferred`
    blocks handlers wait.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._is_deferred = False
        self.handlers = {number: signal.getsignal(number) for number in ENDING}

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Record a signal, and call its previous handler unless the call is deferred."""
        self._number = number
        if not self._is_deferred:
            self._call_handler(number, frame)

    def check(self) -> None:
        """Call the handler of the last signal again, if one arrived."""
        if self._number is not None:
            self._call_handler(self._number, None)

    def _call_handler(self, number: int, frame: FrameType | None) -> None:
        handler = self.handlers[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer signals in the block until its end."""
        was_deferred = self._is_deferred
        self._is_deferred = True
        try:
            yield
        finally:
            self._is_deferred = was_deferred
        if not was_deferred:
            self.check()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer watched signals in the block until its end, in the main thread.

    A signal mask is not enough: another thread may get the signal, and Python's handler
    still runs in this one.
    """
    if _WATCHES and _is_main_thread():
        with _WATCHES[-1].deferred():
            yield
    else:
        yield


@contextmanager
def watched() -> Iterator[Interrupts]:
    """Watch signals with Python handlers while the block runs, in the main thread."""
    interrupts = Interrupts()
    numbers: list[signal.Signals] = []
    if _is_main_thread():
        numbers = [number for number in ENDING if callable(signal.getsignal(number))]
    for number in numbers:
        signal.signal(number, interrupts.handle)
    _WATCHES.append(interrupts)
    try:
        yield interrupts
    finally:
        _WATCHES.remove(interrupts)
        for number in numbers:
            # Keep a handler that was replaced in the block: the command is ending.
            if signal.getsignal(number) == interrupts.handle:
                signal.signal(number, interrupts.handlers[number])


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def blocked() -> Iterator[None]:
    """Block these signals in processes started in the block; defer them in this process.

    Schedulers send them to all processes of a job; the first process then ends the others in order.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
