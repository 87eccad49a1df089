"""How far a run is: a bar on a terminal, now and then a line elsewhere, nothing if asked for quiet.

All of it goes to standard error, so that output pipes.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scbench.cli.console import hush, say

if TYPE_CHECKING:
    from rich.progress import Progress

    from scbench.grading.workers.scheduler import Waiting

_BETWEEN_LINES = 2.0
# Seconds between lines about rows, and about an item that takes long.
_BETWEEN_WAITS = 30.0


class Quiet:
    """Shows nothing, and says what every kind of progress takes."""

    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        """Take rows and bytes done so far, how many there are, if known, and what it cost."""

    def waiting(self, items: "Sequence[Waiting]") -> None:
        """Take the items that take long; called about once a second."""


class _Lines(Quiet):
    """Says rarely how far a run is: logs are read by people, too."""

    def __init__(
        self, total: int | None, done: str, things: str, *, estimate: bool
    ) -> None:
        self._total = total
        self._estimate = estimate
        self._first: tuple[float, int] | None = None
        self._words = (done, things)
        self._tenths = 0
        self._last = self._waited = time.monotonic()

    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        total = self._total = total or self._total
        tenth = rows.bit_length() if total is None else size * 10 // max(total, 1)
        now = time.monotonic()
        begun, before = self._first = self._first or (now, size)
        if tenth > self._tenths and now - self._last > _BETWEEN_LINES:
            self._tenths, self._last = tenth, now
            share = (
                "" if total is None else f" ({min(100, size * 100 // max(total, 1))}%)"
            )
            done, things = self._words
            rest = ""
            if self._estimate and total and size > before:
                rest = (
                    f", {(total - size) * (now - begun) / (size - before):,.0f} s left"
                )
            things = things.removesuffix("s") if rows == 1 else things
            _murmur(f"{done} {rows:,} {things}{share}{rest}{cost and f', {cost}'}")

    def waiting(self, items: "Sequence[Waiting]") -> None:
        now = time.monotonic()
        if items and now - self._waited > _BETWEEN_WAITS:
            self._waited = now
            _murmur("still at " + "; ".join(map(_item_words, items)))


class _Bar(Quiet):
    """A bar on a terminal, with the items that take long behind it."""

    def __init__(self, bar: "Progress", total: int | None, doing: str) -> None:
        self._bar = bar
        self._task = bar.add_task(doing, total=total, rows=0, slow="")

    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        more: dict[str, Any] = {"slow": cost} if cost else {}
        self._bar.update(self._task, completed=size, rows=rows, total=total, **more)

    def waiting(self, items: "Sequence[Waiting]") -> None:
        self._bar.update(self._task, slow="; ".join(map(_item_words, items)))


def _murmur(message: str) -> None:
    """Say something that nobody must hear: a reader who has gone is no reason to stop."""
    try:
        say(message)
    except BrokenPipeError:
        hush()


def _item_words(item: "Waiting") -> str:
    steps = f" step {item.done:,} of {item.total:,}," if item.total else ""
    return f"{item.instance_id}:{steps} {item.seconds:.0f} s"


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
    """Show how far a run is while the block runs.

    Args:
        total: bytes to come; None if unknown.
        quiet: show nothing.
        doing: what is done, for a bar.
        done: the same, for a line that says how much was done.
        things: what it is done to.
        estimate: say how long the rest may take; for steps that take about the same time.
    """
    if quiet:
        yield Quiet()
        return
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield _Lines(total, done, things, estimate=estimate)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} " + things),
        TimeElapsedColumn(),
        *((TextColumn("left"), TimeRemainingColumn()) if estimate else ()),
        TextColumn("{task.fields[slow]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, total, doing)
