"""Progress reports while one answer takes long to grade.

A grader with many steps calls `beat` regularly. `beat` returns nothing, so no
verdict can depend on it. Without a listener, it does nothing.
"""

from collections.abc import Callable

_listener: Callable[[int, int], object] | None = None


def beat(done: int, total: int) -> None:
    """Report that ``done`` of ``total`` steps of the current verdict are finished."""
    if _listener is not None:
        _listener(done, total)


def listen(listener: Callable[[int, int], object] | None) -> None:
    """Call ``listener(done, total)`` at every beat in this process from now on; None stops it."""
    global _listener  # noqa: PLW0603  (a process grades one answer at a time)
    _listener = listener


def no_progress(*news: object) -> None:
    """Ignore a report of progress when nobody listens."""
