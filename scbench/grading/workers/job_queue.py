"""What is graded next: chunks as they are read, and the slow items among them first.

Nobody knows what a file holds before it is read, and reading it all first would cost memory and
time. So some chunks are read ahead; then the slowest item that is known goes first, of a task the
longest answer, while one
worker stays with the chunks. Reading stops where too much waits.
"""

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush

from scbench.grading.rows.chunks import Chunk
from scbench.grading.workers.pool import GradingJob
from scbench.grading.workers.worker import WorkItem

_AHEAD = 64
"""Chunks that are read before any heavy item begins, if nobody would be idle for that."""
_ITEMS = 1000
_BYTES = 2**26
"""Heavy items that may wait, and the bytes they may have."""


class JobQueue:
    """Chunks and heavy items that are still to be graded.

    Args:
        chunks: those to grade; None stands for one that was done before.
        heavy: seconds that an item may take, by task: what may take longest goes first.
        job: makes a job of either.
        held_back: says whether no more chunks may be begun now.
    """

    def __init__(
        self,
        chunks: Iterator[Chunk | None],
        heavy: Mapping[str, float],
        job: Callable[[Chunk | tuple[WorkItem, ...]], GradingJob],
        held_back: Callable[[], bool],
    ) -> None:
        self._chunks = chunks
        self._job = job
        self._held_back = held_back
        # Of tasks with one limit the later in the catalogue simulates more.
        order = {task: i for i, task in enumerate(heavy)}
        slowest = sorted(heavy, key=lambda task: (-heavy[task], -order[task]))
        self._items: dict[str, list[tuple[int, int, WorkItem]]] = {task: [] for task in slowest}
        self._added = 0
        self._bytes = 0
        self._read = 0
        self._all_read = False

    def add(self, item: WorkItem, task: str) -> None:
        """Put an item of a heavy task on the list."""
        # Longest first; of equals the one that came first.
        heappush(self._items[task], (-len(item.data), self._added, item))
        self._added += 1
        self._bytes += len(item.data)

    def take(self, *, vacant: bool, light: int) -> GradingJob | None:
        """See `scbench.grading.workers.scheduler.JobSource.take`."""
        heavy_next = vacant and any(self._items.values())
        if heavy_next and not (self._may_read() and (self._read < _AHEAD or light <= 1)):
            return self._slowest()
        chunk = self._next_chunk()
        if chunk is not None:
            return self._job(chunk)
        # A chunk that was done before may have brought some.
        return self._slowest() if vacant and any(self._items.values()) else None

    def _may_read(self) -> bool:
        waiting = sum(map(len, self._items.values()))
        full = waiting >= _ITEMS or self._bytes >= _BYTES
        return not (self._all_read or full or self._held_back())

    def _next_chunk(self) -> Chunk | None:
        while self._may_read():
            try:
                chunk = next(self._chunks)
            except StopIteration:
                self._all_read = True
                return None
            self._read += 1
            if chunk is not None:
                return chunk
        return None

    def _slowest(self) -> GradingJob:
        *_, item = heappop(next(items for items in self._items.values() if items))
        self._bytes -= len(item.data)
        return self._job((item,))
