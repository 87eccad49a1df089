"""Progress of long work: a bar on a terminal, occasional lines elsewhere, nothing if quiet.

Everything goes to standard error, so that output can be piped.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from typing_extensions import override

from scbench.cli.console import discard_output, say
from scbench.cli.quiet import Quiet, waiting_text

if TYPE_CHECKING:
    from scbench.grading.expected_work import OpenDisplay
    from scbench.grading.workers.pool import Waiting

# Minimum seconds between lines about rows, which keeps logs readable.
SECONDS_BETWEEN_LINES = 2.0
# Minimum seconds between lines about slow items.
SECONDS_BETWEEN_WAITS = 30.0
# Maximum seconds without a line while rows are being finished.
MOST_SECONDS = 50.0


@contextmanager
def progress(
    total: int | None,
    *,
    quiet: bool,
    doing: str = "grading",
    done: str = "graded",
    things: str = "rows",
    estimate: bool = False,
) -> Iterator[Quiet]:
    """Show progress while the block runs.

    Args:
        total: amount of work, in the unit of `Quiet.done`; None if unknown.
        quiet: show nothing.
        doing: the work, for a bar: "grading".
        done: the work in the past tense, for a line: "graded".
        things: the objects of the work, in the plural: "rows".
        estimate: show the time left; for steps that take about the same time.
    """
    if quiet:
        yield Quiet()
        return
    # Some CI systems look like terminals, and their logs must not fill with bars.
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield LogLines(total, done, things, estimate=estimate)
        return
    from scbench.cli.terminal_bar import TerminalBar

    with TerminalBar(total, doing, things, estimate=estimate) as bar:
        yield bar


def grading_display(*, quiet: bool) -> "OpenDisplay":
    """Return a function that opens a display of grading, given the amount of work."""
    from scbench.grading.expected_work import Display

    @contextmanager
    def open_display(work: int | None) -> Iterator[Display]:
        with progress(work, quiet=quiet) as bar:
            yield Display(bar.done, bar.waiting)

    return open_display


@contextmanager
def drawing_display(*, quiet: bool) -> Iterator[Callable[[int, int], object]]:
    """Show the progress of a report; yield a function of the finished items and the total."""
    with progress(
        None, quiet=quiet, doing="drawing", done="drew", things="items", estimate=True
    ) as bar:
        yield lambda done, total: bar.done(done, done, total)


class LogLines(Quiet):
    """A display that prints occasional lines.

    Args:
        total: amount of work; None if unknown.
        done: the work, in the past tense: "graded".
        things: the objects of the work, in the plural: "rows".
        estimate: show the time left.
    """

    def __init__(
        self, total: int | None, done: str, things: str, *, estimate: bool
    ) -> None:
        self._total = total
        self._verb = done
        self._things = things
        self._estimate = estimate
        # Time and work of the first call; the speed is measured from there.
        self._first: tuple[float, int] | None = None
        self._last_step = 0
        self._last_line = time.monotonic()
        self._last_wait = self._last_line
        self._last_failure = -SECONDS_BETWEEN_WAITS

    @override
    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        self._total = total or self._total
        now = time.monotonic()
        if self._first is None:
            self._first = (now, size)
        step = self._step(rows, size)
        silent = now - self._last_line
        is_due = step > self._last_step and silent > SECONDS_BETWEEN_LINES
        if not is_due and silent < MOST_SECONDS:
            return
        self._last_step = step
        self._last_line = now
        things = self._things.removesuffix("s") if rows == 1 else self._things
        message = f"{self._verb} {rows:,} {things}"
        if self._total is not None:
            percent = min(100, size * 100 // max(self._total, 1))
            message += f" ({percent}%)"
        began, size_before = self._first
        if self._estimate and self._total and size > size_before:
            seconds = (self._total - size) * (now - began) / (size - size_before)
            message += f", {seconds:,.0f} s left"
        if cost:
            message += f", {cost}"
        murmur(message)

    def _step(self, rows: int, size: int) -> int:
        """Return a number that grows with each tenth of the work, or when rows double."""
        if self._total is None:
            return rows.bit_length()
        return size * 10 // max(self._total, 1)

    @override
    def waiting(self, items: "Sequence[Waiting]") -> None:
        now = time.monotonic()
        if items and now - self._last_wait > SECONDS_BETWEEN_WAITS:
            self._last_wait = now
            murmur("still working on " + "; ".join(map(waiting_text, items)))

    @override
    def failing(self, error: str) -> None:
        now = time.monotonic()
        if now - self._last_failure > SECONDS_BETWEEN_WAITS:
            self._last_failure = now
            murmur(f"trying again: {error}")


def murmur(message: str) -> None:
    """Print an optional message; work continues even if its reader closed the pipe."""
    try:
        say(message)
    except BrokenPipeError:
        discard_output()
