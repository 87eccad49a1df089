"""Collects results of workers in any order, and decides in file order which lines count.

It also queues the lines of heavy tasks (equal answers only once), and stores the
results in the checkpoint.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from scbench.grading.workers.pool import Waiting
from scbench.grading.workers.scheduler import JobQueue, OnWait, Scheduler
from scbench.machine.signals import Interrupts

# Maximum number of turns that reading may be ahead of the oldest unfinished chunk.
_MOST_TURNS_AHEAD = 512
# Maximum number of lines that may wait for the outcome of an equal answer.
_MOST_WAITING = 50_000


class ArrivedChunk(NamedTuple):
    """A graded chunk that waits for earlier chunks."""

    chunk: Chunk
    account: ChunkAccount


@dataclass
class Collector:
    """Collects chunks and outcomes as they finish.

    Attributes:
        index: index of the release that is graded against.
        coverage: the items that have a line.
        checkpoint: the store.
        problems: receives the problems of lines.
        scheduler: runs the jobs, and grades suspect lines alone.
        on_progress: called with the number of lines graded so far and the work done, see
            `scbench.grading.expected_work`.
        extra_work: work of a line in addition to its bytes, by task.
        chunks: the rows of each chunk so far, in the order of the file.
        resumed: lines taken over from an interrupted run.
        forged: the problem of each trace that contradicts its environment, unsorted.
    """

    index: ReleaseIndex
    coverage: Coverage
    checkpoint: Checkpoint
    problems: Problems
    scheduler: Scheduler
    on_progress: Callable[[int, int], object]
    extra_work: Mapping[str, int] = field(default_factory=dict)
    chunks: list[ChunkRows] = field(default_factory=list)
    resumed: int = 0
    forged: list[Problem] = field(default_factory=list)
    _queue: JobQueue | None = None
    _duplicates: DuplicateAnswers = field(default_factory=DuplicateAnswers)
    # Lines that are being judged separately, by line number.
    _pending: dict[int, PendingLine] = field(default_factory=dict)
    # Turn of each chunk that is being graded, by `Chunk.place`. Chunks and the problems
    # between them have turns, counted from 0 in file order.
    _turns: dict[int, int] = field(default_factory=dict)
    # Problems and graded chunks that wait for their turn, by turn.
    _arrived: dict[int, Problem | ArrivedChunk] = field(default_factory=dict)
    # Turn of the next chunk or problem to read.
    _read_turn: int = 0
    # Turn of the next chunk or problem to enter.
    _entry_turn: int = 0
    # Number and work of the lines graded so far.
    _graded_lines: int = 0
    _work_done: int = 0

    def queue(self, stream: BinaryIO, digest: Digest, shard: Shard) -> JobQueue:
        """Return the queue of everything to grade in a stream."""
        self._queue = JobQueue(
            chunks=self._chunks(stream, digest, shard),
            heavy=self.index.heavy,
            job=self.scheduler.job,
            held_back=self._is_reading_paused,
        )
        return self._queue

    def _chunks(
        self, stream: BinaryIO, digest: Digest, shard: Shard
    ) -> Iterator[Chunk | None]:
        """Yield chunks to grade, and None for each chunk that the checkpoint contains.

        The None lets the queue do other work (idle workers, signals) between them.
        """
        # An entry is a chunk, or a problem of lines outside chunks.
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
                self._report_chunk(entry, account)
                self._arrive(turn, ArrivedChunk(entry, account))
                yield None

    def _is_reading_paused(self) -> bool:
        """Return whether too many chunks wait for an earlier one."""
        turns_ahead = self._read_turn - self._entry_turn
        return (
            turns_ahead > _MOST_TURNS_AHEAD or self._duplicates.waiting > _MOST_WAITING
        )

    def collect(self, queue: JobQueue, interrupts: Interrupts, on_wait: OnWait) -> None:
        """Grade everything in a queue, and store the results."""

        def check_and_report(items: Sequence[Waiting]) -> None:
            interrupts.check()
            on_wait(items)

        # Closing the generator stops its workers if this block fails.
        with closing(self.scheduler.work(queue, check_and_report)) as results:
            for work, result in results:
                # An interrupt must not leave a partly stored result.
                with interrupts.deferred():
                    self.take(work, result)
        # Traces are judged in any order, so their problems are sorted here.
        for problem in sorted(self.forged, key=lambda problem: problem.line or 0):
            self.problems.add(problem)

    def take(
        self, work: WorkItem | Chunk, result: WireOutcome | GradedChunk | None
    ) -> None:
        """Take the result of a job: the outcome of an item, or a chunk; None if a chunk failed."""
        # Failed items have an outcome with the reason; only chunks come with None.
        if isinstance(work, WorkItem) and isinstance(result, WireOutcome):
            self.take_outcome(work, result)
        elif isinstance(work, Chunk) and not isinstance(result, WireOutcome):
            self.take_chunk(work, result)

    def take_chunk(self, chunk: Chunk, graded: GradedChunk | None) -> None:
        """Take the account and rows of a chunk; None if its worker failed."""
        if graded is None:
            # One of the lines killed the worker. Without outcomes, all lines with a row
            # become pending, and each is graded alone.
            parsed = parse_chunk(self.index, chunk)
            graded_lines = settle(self.index, parsed, {})
            graded = GradedChunk(parsed.account, graded_lines)
        account = graded.account
        table = graded.table
        if table is None:
            # This process creates the rows of short chunks.
            table = make_table(self.index, account, graded.lines)
        self.checkpoint.keep_chunk(chunk, account, table)
        self._report_chunk(chunk, account)
        turn = self._turns.pop(chunk.place)
        self._arrive(turn, ArrivedChunk(chunk, account))

    def _report_chunk(self, chunk: Chunk, account: ChunkAccount) -> None:
        # Pending lines are reported when they are judged.
        pending_bytes = sum(line.size for line in account.pending)
        self._report_progress(account.graded, len(chunk.data) - pending_bytes)

    def _report_pending(self, line: PendingLine) -> None:
        task = self.index.entries[line.head.position].task
        self._report_progress(1, line.size + self.extra_work.get(task, 0))

    def _report_progress(self, lines: int, work: int) -> None:
        self._graded_lines += lines
        self._work_done += work
        self.on_progress(self._graded_lines, self._work_done)

    def _arrive(self, turn: int, arrival: Problem | ArrivedChunk) -> None:
        """Take a chunk or problem, then enter everything whose turn has come."""
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
        """Enter a chunk's lines into the coverage, and queue its pending lines."""
        # For each run in the chunk, the line that answers each instance.
        lines_of_runs = [self.coverage.run(key) for key in account.runs]
        self.coverage.note(account.unread)
        # Line numbers. An array, because it stays in memory for each chunk; it is
        # mostly empty.
        dropped = array("Q")
        for line in account.lines:
            run_key = None
            lines_of_run = None
            if line.run is not None:
                run_key = account.runs[line.run]
                lines_of_run = lines_of_runs[line.run]
            admission = self._admit(line, lines_of_run)
            if admission.kind is LineKind.DUPLICATE:
                dropped.append(line.number)
            if admission.problem is not None:
                self.problems.add(admission.problem, run_key)
        # A set, because searching an array is slow.
        dropped_lines = set(dropped)
        for problem in account.forged:
            if problem.line not in dropped_lines:
                self.forged.append(problem)
        self.chunks.append(
            ChunkRows(
                first=chunk.first,
                rows=account.rows,
                text=account.text,
                dropped=dropped,
            )
        )
        # A duplicate does not count, so it is not simulated. Refused lines are never
        # pending.
        for pending in account.pending:
            if pending.head.line not in dropped_lines:
                self._judge(chunk, pending)

    def _admit(self, line: LineAccount, lines_of_run: "array[int] | None") -> Admission:
        if line.problem is not None:
            return self.coverage.refuse(line.problem)
        return self.coverage.admit(line.number, line.place, lines_of_run, line.row_id)

    def _judge(self, chunk: Chunk, line: PendingLine) -> None:
        """Queue a line, unless its outcome is stored or follows from an equal answer."""
        # The interrupted run has judged it.
        if self.checkpoint.find_outcome(line.head):
            self.resumed += 1
            self._report_pending(line)
            return
        # An equal answer was judged a short time ago.
        earlier_outcome = self._duplicates.earlier(line)
        if earlier_outcome is not None:
            self._finish(line, earlier_outcome)
            return
        # An equal answer is being judged: the line now waits for its outcome.
        if self._duplicates.postpone(line):
            return
        item = work_item_of(chunk, line)
        self._pending[item.line] = line
        task = self.index.entries[line.head.position].task
        if task in self.index.heavy and self._queue is not None:
            self._queue.add(item, task)
        else:
            # Lines of light tasks are pending only if their chunk failed.
            self.scheduler.suspect(item)

    def take_outcome(self, item: WorkItem, outcome: WireOutcome) -> None:
        """Take the outcome of a line graded separately, and give it to lines that wait for it."""
        line = self._pending.pop(item.line)
        if outcome.forged:
            problem = Problem(FORGED, outcome.reason, item.line, item.instance_id)
            self.forged.append(problem)
        self._finish(line, outcome)
        for duplicate in self._duplicates.release(line, outcome):
            self._finish(duplicate.line, duplicate.outcome)

    def _finish(self, line: PendingLine, outcome: WireOutcome) -> None:
        # A failed grader may succeed in a resumed run.
        is_tried_again = outcome.status in TRIED_AGAIN
        self.checkpoint.keep_outcome(line.head, outcome, again=is_tried_again)
        self._report_pending(line)


def work_item_of(chunk: Chunk, line: PendingLine) -> WorkItem:
    """Return the work on a pending line: its answer, or the whole line without a parsed answer.

    The second case occurs for loops, which have several answers, and for lines whose
    chunk failed.
    """
    head = line.head
    # Only the rows of missing items have no number.
    number = head.line or 0
    answer = line.answer
    if answer is None:
        data = stripped(chunk.data[line.start : line.end])
        return WorkItem(number, data, head.id, looped=head.loop is not None)
    origin = AnswerOrigin(answer.source, answer.repairs)
    return WorkItem(number, answer.text.encode(), head.id, origin)
