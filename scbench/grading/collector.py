"""The collector: takes the results of workers, in any order, and enters them in that of the file.

It decides which lines count, queues the lines of heavy tasks, each answer once, and keeps the
results in the store.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from scbench.formats.predictions import Digest, Problem, read_blocks, stripped
from scbench.grading.checkpoint import Checkpoint, ChunkRows
from scbench.grading.duplicates import DuplicateAnswers
from scbench.grading.output import Problems
from scbench.grading.rows.chunks import Chunk, Shard, cut
from scbench.grading.rows.coverage import Admission, Coverage
from scbench.grading.rows.index import LineKind, ReleaseIndex
from scbench.grading.rows.lines import (
    TRIED_AGAIN,
    ChunkAccount,
    LineAccount,
    PendingLine,
    parse_chunk,
    settle,
)
from scbench.grading.rows.table import make_table
from scbench.grading.rows.wire import FORGED, WireOutcome
from scbench.grading.workers.jobs import AnswerOrigin, GradedChunk, WorkItem
from scbench.grading.workers.scheduler import JobQueue, OnWait, Scheduler, Waiting
from scbench.machine.signals import Interrupts

# Chunks that may be read, or done, while an earlier one is not.
_LAG = 512
# Lines that may wait for the outcome of a duplicate.
_MOST_WAITING = 50_000


class ArrivedChunk(NamedTuple):
    """A chunk whose results are there."""

    chunk: Chunk
    account: ChunkAccount


@dataclass
class Collector:
    """Takes chunks and outcomes as they are done.

    Attributes:
        index: what is graded against.
        coverage: the items that have a line.
        checkpoint: the store.
        problems: takes the problems of lines.
        scheduler: tries items alone.
        on_progress: called with the number of lines graded so far and the bytes they had.
        chunks: the rows of every chunk so far.
        resumed: lines taken over from an interrupted run.
        forged: a problem for each trace that the environment does not give, in no order.
    """

    index: ReleaseIndex
    coverage: Coverage
    checkpoint: Checkpoint
    problems: Problems
    scheduler: Scheduler
    on_progress: Callable[[int, int], object]
    chunks: list[ChunkRows] = field(default_factory=list)
    resumed: int = 0
    forged: list[Problem] = field(default_factory=list)
    _queue: JobQueue | None = None
    _duplicates: DuplicateAnswers = field(default_factory=DuplicateAnswers)
    # Lines being judged by themselves, by number.
    _pending: dict[int, PendingLine] = field(default_factory=dict)
    # Chunks and problems have turns in the order of the file: the turn of each chunk that is being
    # graded by its place, results whose turn has not come, the next turn to read and to enter.
    _turns: dict[int, int] = field(default_factory=dict)
    _arrived: dict[int, Problem | ArrivedChunk] = field(default_factory=dict)
    _read_turn: int = 0
    _entry_turn: int = 0
    # Of lines graded so far.
    _lines: int = 0
    _bytes: int = 0

    def queue(self, stream: BinaryIO, digest: Digest, shard: Shard) -> JobQueue:
        """Return the queue of everything that is to be graded of a stream."""
        chunks = self._chunks(stream, digest, shard)
        self._queue = JobQueue(
            chunks, self.index.heavy, self.scheduler.job, self._is_held_back
        )
        return self._queue

    def _chunks(
        self, stream: BinaryIO, digest: Digest, shard: Shard
    ) -> Iterator[Chunk | None]:
        """Yield chunks to be graded, and None for each that was done before."""
        for entry in cut(read_blocks(stream, digest), shard):
            turn = self._read_turn
            self._read_turn += 1
            if isinstance(entry, Problem):
                self._arrive(turn, entry)
                continue
            account = self.checkpoint.find_chunk(entry)
            if account is None:
                self._turns[entry.place] = turn
                yield entry
            else:
                self.resumed += account.graded
                self._count(entry, account)
                self._arrive(turn, ArrivedChunk(entry, account))
                yield None

    def _is_held_back(self) -> bool:
        """Return whether no chunk should be read: too much waits for an earlier one."""
        lag = self._read_turn - self._entry_turn
        return lag > _LAG or self._duplicates.waiting > _MOST_WAITING

    def collect(self, queue: JobQueue, interrupts: Interrupts, on_wait: OnWait) -> None:
        """Grade everything in a queue, and take the results."""

        def wait(items: Sequence[Waiting]) -> None:
            interrupts.check()
            on_wait(items)

        with closing(self.scheduler.work(queue, wait)) as results:
            for work, result in results:
                # An interrupt must not split a result that is half kept.
                with interrupts.deferred():
                    self.take(work, result)
        for problem in sorted(self.forged, key=lambda problem: problem.line or 0):
            self.problems.add(problem)

    def take(
        self, work: WorkItem | Chunk, result: WireOutcome | GradedChunk | None
    ) -> None:
        """Take the result of a job; None if it failed."""
        if isinstance(work, WorkItem) and isinstance(result, WireOutcome):
            self.take_outcome(work, result)
        elif isinstance(work, Chunk) and not isinstance(result, WireOutcome):
            self.take_chunk(work, result)

    def take_chunk(self, chunk: Chunk, graded: GradedChunk | None) -> None:
        """Take the account and rows of a chunk; None if its worker failed."""
        # Whatever killed the worker is in some line: all are judged singly.
        if graded is None:
            parsed = parse_chunk(self.index, chunk)
            graded = GradedChunk(parsed.account, settle(self.index, parsed, {}))
        account = graded.account
        table = graded.table
        if table is None:
            table = make_table(self.index, account, graded.lines)
        self.checkpoint.keep_chunk(chunk, account, table)
        self._count(chunk, account)
        self._arrive(self._turns.pop(chunk.place), ArrivedChunk(chunk, account))

    def _count(self, chunk: Chunk, account: ChunkAccount) -> None:
        pending_bytes = sum(line.size for line in account.pending)
        self._report_progress(account.graded, len(chunk.data) - pending_bytes)

    def _report_progress(self, lines: int, size: int) -> None:
        self._lines += lines
        self._bytes += size
        self.on_progress(self._lines, self._bytes)

    def _arrive(self, turn: int, arrival: Problem | ArrivedChunk) -> None:
        """Take a chunk or problem; enter all whose turn has come."""
        self._arrived[turn] = arrival
        while self._entry_turn in self._arrived:
            ready = self._arrived.pop(self._entry_turn)
            self._entry_turn += 1
            if isinstance(ready, Problem):
                self.coverage.refuse(ready)
                self.problems.add(ready)
            else:
                self._enter(ready.chunk, ready.account)

    def _enter(self, chunk: Chunk, account: ChunkAccount) -> None:
        """Enter a chunk's lines into the coverage, and have its pending lines judged."""
        runs = [self.coverage.run(run) for run in account.runs]
        self.coverage.note(account.unread)
        dropped = array("Q")
        for line in account.lines:
            run = None if line.run is None else runs[line.run]
            admission = self._admit(line, run)
            if admission.kind is LineKind.DUPLICATE:
                dropped.append(line.number)
            if admission.problem is not None:
                key = None if line.run is None else account.runs[line.run]
                self.problems.add(admission.problem, key)
        for problem in account.forged:
            if problem.line not in dropped:
                self.forged.append(problem)
        self.chunks.append(ChunkRows(chunk.first, account.rows, account.text, dropped))
        # A line that does not count is not worth a simulation.
        for pending in account.pending:
            if pending.head.line not in dropped:
                self._judge(chunk, pending)

    def _admit(self, line: LineAccount, run: "array[int] | None") -> Admission:
        if line.problem is not None:
            return self.coverage.refuse(line.problem)
        return self.coverage.admit(line.number, line.place, run, line.row_id)

    def _judge(self, chunk: Chunk, line: PendingLine) -> None:
        """Have a line judged by itself, unless its outcome is there or a duplicate has it soon."""
        if self.checkpoint.find_outcome(line.head):
            self.resumed += 1
            self._report_progress(1, line.size)
            return
        earlier_outcome = self._duplicates.earlier(line)
        if earlier_outcome is not None:
            self._finish(line, earlier_outcome)
            return
        if self._duplicates.hold(line):
            return
        item = work_item_of(chunk, line)
        self._pending[item.line] = line
        task = self.index.entries[line.head.position].task
        if task in self.index.heavy and self._queue is not None:
            self._queue.add(item, task)
        else:  # its chunk failed
            self.scheduler.suspect(item)

    def take_outcome(self, item: WorkItem, outcome: WireOutcome) -> None:
        """Take the outcome of a line judged by itself; its duplicates have theirs now, too."""
        line = self._pending.pop(item.line)
        if outcome.forged:
            problem = Problem(FORGED, outcome.reason, item.line, item.instance_id)
            self.forged.append(problem)
        self._finish(line, outcome)
        for duplicate in self._duplicates.release(line, outcome):
            self._finish(duplicate.line, duplicate.outcome)

    def _finish(self, line: PendingLine, outcome: WireOutcome) -> None:
        again = outcome.status in TRIED_AGAIN
        self.checkpoint.keep_outcome(line.head, outcome, again=again)
        self._report_progress(1, line.size)


def work_item_of(chunk: Chunk, line: PendingLine) -> WorkItem:
    """Return a line of a chunk as work: the answer in it, or all of it if none was found."""
    head = line.head
    number = head.line or 0
    answer = line.answer
    if answer is None:
        data = stripped(chunk.data[line.start : line.end])
        return WorkItem(number, data, head.id, looped=head.loop is not None)
    origin = AnswerOrigin(answer.source, answer.repairs)
    return WorkItem(number, answer.text.encode(), head.id, origin)
