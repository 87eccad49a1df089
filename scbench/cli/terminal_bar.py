"""A progress bar on a terminal, with slow items on separate lines."""

from collections.abc import Iterable, Sequence
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from typing_extensions import override

from scbench.base.errors import printable
from scbench.base.wording import counted
from scbench.cli.quiet import Quiet, waiting_text
from scbench.grading.workers.pool import Waiting

# Minimum and maximum length of a bar, in columns.
_SHORTEST = 10
_LONGEST = 40
# Space is reserved next to the bar for this many rows, a percentage, and a time.
_MOST_ROWS = 99_999_999
_PERCENTAGE = "100%"
_TIME = "0:00:00"
# Maximum number of slow items that get a line.
_MOST_LINES = 4


class TerminalBar(Quiet):
    """A bar on a terminal, shown while its ``with`` block runs.

    Args:
        total: amount of work; None if unknown.
        doing: the work: "grading".
        things: the objects of the work, in the plural: "rows".
        estimate: show the time left.
        console: console of the terminal; None for standard error.
    """

    def __init__(
        self,
        total: int | None,
        doing: str,
        things: str,
        *,
        estimate: bool,
        console: Console | None = None,
    ) -> None:
        self._things = things
        console = console or Console(stderr=True)
        words = [doing, _PERCENTAGE, f"{_MOST_ROWS:,} {things}", _TIME]
        if estimate:
            words += [_TIME, "left"]
        # A space follows each column.
        length = console.width - sum(len(word) + 1 for word in words)
        self._bar = _BarAndLines(
            *columns(min(max(length, _SHORTEST), _LONGEST), estimate=estimate),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task(doing, total=total, rows=self._rows_text(0))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _rows_text(self, rows: int) -> str:
        return counted(rows, self._things.removesuffix("s"))

    @override
    def done(
        self, rows: int, size: int, total: int | None = None, cost: str = ""
    ) -> None:
        if cost:
            self._bar.lines = [cost]
        self._bar.update(
            self._task, completed=size, total=total, rows=self._rows_text(rows)
        )

    @override
    def waiting(self, items: Sequence[Waiting]) -> None:
        lines = [waiting_text(item) for item in items[:_MOST_LINES]]
        if len(items) > _MOST_LINES:
            lines.append(f"and {counted(len(items) - _MOST_LINES, 'other item')}")
        self._bar.lines = lines

    @override
    def failing(self, error: str) -> None:
        self._bar.lines = [f"trying again: {error}"]


class _BarAndLines(Progress):
    """A bar with lines below it, each cut to the width of the terminal.

    Attributes:
        lines: the lines.
    """

    lines: Sequence[str] = ()

    @override
    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        for line in self.lines:
            # A line may quote the error message of a server.
            yield Text(f"  {printable(line)}", no_wrap=True, overflow="ellipsis")


def columns(length: int, *, estimate: bool) -> list[ProgressColumn]:
    """Return the columns of a display whose bar has a given length."""
    shown: list[ProgressColumn] = [
        TextColumn("{task.description}"),
        BarColumn(length),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]}"),
        TimeElapsedColumn(),
    ]
    if estimate:
        shown.append(_TimeLeftColumn())
    return shown


class _TimeLeftColumn(TimeRemainingColumn):
    """An estimate of the time left, such as ``0:01:20 left``; empty if there is none."""

    @override
    def render(self, task: Task) -> Text:
        time_left = super().render(task)
        if time_left.plain:
            time_left.append(" left")
        return time_left
