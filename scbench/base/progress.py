"""Progress of a long verdict, for a caller that shows it.

A grader that works through many steps calls `beat` now and then. `beat` returns nothing, so no
verdict can depend on it. Without a listener nothing happens.
"""

from collections.abc import Callable

_listener: Callable[[int, int], object] | None = None


def beat(done: int, total: int) -> None:
    """Report that ``done`` of ``total`` steps of the current verdict are finished."""
    if _listener is not None:
        _listener(done, total)


def listen(listener: Callable[[int, int], object] | None) -> None:
    """Call ``listener(done, total)`` at every beat in this process from now on; None for nobody."""
    global _listener  # noqa: PLW0603  (a process grades one answer at a time)
    _listener = listener


def no_progress(*news: object) -> None:
    """Ignore a report of progress when nobody listens."""
