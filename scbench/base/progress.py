"""How far a long verdict is, for whoever shows progress.

A grader that works through many steps says `beat` now and then. It gets nothing back, so no verdict
can depend on it; without a listener nothing happens.
"""

from collections.abc import Callable

_listener: Callable[[int, int], object] | None = None


def beat(done: int, total: int) -> None:
    """Say that ``done`` of ``total`` steps of the verdict at hand are made."""
    if _listener is not None:
        _listener(done, total)


def listen(listener: Callable[[int, int], object] | None) -> None:
    """Call ``listener(done, total)`` at every beat in this process from now on; None for nobody."""
    global _listener  # noqa: PLW0603  (a process grades one answer at a time)
    _listener = listener


def no_progress(*news: object) -> None:
    """Take what is told of progress and do nothing, where nobody is shown any."""
