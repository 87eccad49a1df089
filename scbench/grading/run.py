"""A grading run: one predictions file against one release, into one output folder.

The path of a line: `rows.chunks` cuts the file into chunks, `workers.scheduler` hands each to a
worker, where `rows.survey` parses its lines, `outcome` finds and judges the answers of light tasks
and `rows.columns` makes their rows. A `Collector` enters what comes back into the coverage, in the
order of the file, and queues the lines of heavy tasks; `checkpoint` keeps all of it and puts it
together.
"""

import hashlib
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from scbench.base.errors import MachineError, PredictionsError, refused
from scbench.base.progress import no_progress
from scbench.formats.predictions import (
    Digest,
    Problem,
    is_empty,
    open_predictions,
    read_blocks,
    stripped,
    unread_keys,
)
from scbench.grading.checkpoint import (
    WORK,
    Checkpoint,
    ChunkRows,
    ResultsWriter,
    assemble,
    missing,
)
from scbench.grading.options import Options, choose_tasks
from scbench.grading.output import (
    FORGED,
    PROBLEMS,
    RESULTS,
    SUMMARISED,
    Problems,
    check_place,
    write_results,
)
from scbench.grading.rows.chunks import ALL_LINES, Chunk, Shard, cut
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import NOTHING_READ, Coverage
from scbench.grading.rows.index import LineKind, index_of
from scbench.grading.rows.survey import (
    TRIED_AGAIN,
    ChunkAccount,
    DuplicateAnswers,
    PackedChunk,
    PendingLine,
    completed,
    survey,
)
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.jobs import Start, WorkItem
from scbench.grading.workers.scheduler import JobQueue, OnWait, Scheduler, Waiting
from scbench.machine.signals import Interrupts, watched
from scbench.machine.work_folder import interrupted

if TYPE_CHECKING:
    from scbench.grading.summary import RunFacts, RunReport
    from scbench.grading.workers.pool import WorkerPool


_CHANGED = (
    "the file was written to while it was read, so these may not be the answers that it holds now; "
    "grade it again with --restart when nobody writes to it"
)
# Chunks that may be read, or done, while an earlier one is not.
_LAG = 512
# Lines that may wait for the outcome of a duplicate.
_MOST_WAITING = 50_000


@dataclass
class Collector:
    """Takes chunks and outcomes as they are done; decides what is graded and what is kept.

    Attributes:
        completer: for what is graded against.
        coverage: which items have a line.
        checkpoint: keeps what is done.
        problems: takes what is wrong with lines.
        scheduler: tries items alone.
        on_progress: called with the number of lines graded so far and the bytes they had.
        chunks: the rows of every chunk so far.
        resumed: lines taken over from an interrupted run.
        forged: a problem for each trace that the environment does not give, in no order.
    """

    completer: Completer
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
    _waiting: dict[int, PendingLine] = field(default_factory=dict)
    _turns: dict[int, int] = field(default_factory=dict)
    _arrived: dict[int, Problem | tuple[Chunk, ChunkAccount]] = field(
        default_factory=dict
    )
    _turn: int = 0
    _next: int = 0
    _lines: int = 0
    _bytes: int = 0

    def queue(self, stream: BinaryIO, digest: Digest, shard: Shard) -> JobQueue:
        """Return what is to be graded of a stream."""
        chunks = self._chunks(stream, digest, shard)
        self._queue = JobQueue(
            chunks, self.completer.index.heavy, self.scheduler.job, self._held_back
        )
        return self._queue

    def _chunks(
        self, stream: BinaryIO, digest: Digest, shard: Shard
    ) -> Iterator[Chunk | None]:
        for entry in cut(read_blocks(stream, digest), shard):
            turn = self._turn
            self._turn += 1
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
                self._arrive(turn, (entry, account))
                yield None

    def _held_back(self) -> bool:
        return (
            self._turn - self._next > _LAG or self._duplicates.waiting > _MOST_WAITING
        )

    def collect(self, queue: JobQueue, interrupts: Interrupts, on_wait: OnWait) -> None:
        """Take what comes of a queue, until nothing does."""

        def wait(items: Sequence[Waiting]) -> None:
            interrupts.check()
            on_wait(items)

        with closing(self.scheduler.work(queue, wait)) as done:
            for work, result in done:
                with interrupts.deferred():
                    self.take(work, result)
        for problem in sorted(self.forged, key=lambda problem: problem.line or 0):
            self.problems.add(problem)

    def take(
        self, work: WorkItem | Chunk, result: WireOutcome | PackedChunk | None
    ) -> None:
        """Take what a job of the scheduler came to."""
        if isinstance(work, WorkItem) and isinstance(result, WireOutcome):
            self.take_outcome(work, result)
        elif isinstance(work, Chunk) and not isinstance(result, WireOutcome):
            self.take_chunk(work, result)

    def take_chunk(self, chunk: Chunk, done: PackedChunk | None) -> None:
        """Take the account and rows of a chunk; None if its worker failed."""
        if done is None:
            done = survey(self.completer, chunk, None)
        account = self.checkpoint.keep_chunk(chunk, completed(self.completer, done))
        self._count(chunk, account)
        self._arrive(self._turns.pop(chunk.place), (chunk, account))

    def _count(self, chunk: Chunk, account: ChunkAccount) -> None:
        pending = sum(line.size for line in account.pending)
        self._progress(account.graded, len(chunk.data) - pending)

    def _progress(self, lines: int, size: int) -> None:
        self._lines += lines
        self._bytes += size
        self.on_progress(self._lines, self._bytes)

    def _arrive(self, turn: int, what: Problem | tuple[Chunk, ChunkAccount]) -> None:
        self._arrived[turn] = what
        while self._next in self._arrived:
            ready = self._arrived.pop(self._next)
            self._next += 1
            if isinstance(ready, Problem):
                self.coverage.refuse(ready)
                self.problems.add(ready)
            else:
                self._admit(*ready)

    def _admit(self, chunk: Chunk, account: ChunkAccount) -> None:
        coverage = self.coverage
        runs = [coverage.run(run) for run in account.runs]
        coverage.note(account.unread)
        bad, unknown = iter(account.bad), iter(account.unknown)
        dropped = array("Q")
        lines = iter(account.lines)
        for number, place, run in zip(lines, lines, lines, strict=True):
            if run >= 0:
                admission = coverage.admit(number, place, runs[run])
            elif place == LineKind.BAD:
                admission = coverage.refuse(Problem(*next(bad)))
            else:
                row_id = next(unknown) if place == LineKind.UNKNOWN else ""
                admission = coverage.admit(number, place, row_id=row_id)
            if admission.kind is LineKind.DUPLICATE:
                dropped.append(number)
            if admission.problem is not None:
                self.problems.add(
                    admission.problem, account.runs[run] if run >= 0 else None
                )
        self.forged += (
            Problem(FORGED, reason, number, row_id)
            for number, row_id, reason in account.forged
            if number not in dropped
        )
        self.chunks.append(ChunkRows(chunk.first, account.rows, account.text, dropped))
        for line in account.pending:
            if line.head.line not in dropped:
                self._take_pending(chunk, line)

    def _take_pending(self, chunk: Chunk, line: PendingLine) -> None:
        number = line.head.line or 0
        if self.checkpoint.find_outcome(line.head):
            self.resumed += 1
            self._progress(1, line.size)
            return
        earlier_outcome = self._duplicates.earlier(line)
        if earlier_outcome is not None:
            self._finish(line, earlier_outcome)
            return
        if self._duplicates.hold(line):
            return
        self._waiting[number] = line
        entry = self.completer.index.entries[line.head.position]
        if line.answer is None:
            data = stripped(chunk.data[line.start : line.end])
            item = WorkItem(number, data, entry.id, looped=line.head.loop is not None)
        else:
            _, text, source, repairs = line.answer
            item = WorkItem(number, text.encode(), entry.id, (source, repairs))
        if entry.task in self.completer.index.heavy and self._queue is not None:
            self._queue.add(item, entry.task)
        else:  # its chunk failed
            self.scheduler.suspect(item)

    def take_outcome(self, item: WorkItem, outcome: WireOutcome) -> None:
        """Take the outcome of a line judged by itself; its duplicates have theirs now, too."""
        line = self._waiting.pop(item.line)
        if outcome.forged:
            self.forged.append(
                Problem(FORGED, outcome.reason, item.line, item.instance_id)
            )
        self._finish(line, outcome)
        for duplicate, its_outcome in self._duplicates.release(line, outcome):
            self._finish(duplicate, its_outcome)

    def _finish(self, line: PendingLine, outcome: WireOutcome) -> None:
        again = outcome.status in TRIED_AGAIN
        self.checkpoint.keep_outcome(line.head, outcome, again=again)
        self._progress(1, line.size)


__all__ = ["Options", "choose_tasks", "grade_file"]


def grade_file(
    options: Options,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: OnWait = no_progress,
) -> "RunReport":
    """Grade a predictions file and write the results.

    Args:
        options: what to grade, and how.
        on_progress: called with the number of lines graded so far and the bytes they had.
        on_wait: called now and then with the items that take long.

    Raises:
        ScbenchError: the file, the release, the output folder or the cluster cannot be used.
        KeyboardInterrupt: after everything was closed, so that ``--resume`` can go on.
    """
    started = time.monotonic()
    tasks = choose_tasks(options.release, options.tasks)
    _check_inputs(options)
    index = index_of(
        options.release,
        tasks,
        exclude_withdrawn=options.exclude_withdrawn,
        described=options.described,
    )
    completer = Completer(index)
    shard = options.shard or ALL_LINES
    checkpoint = Checkpoint(
        options.out,
        index.identity(options.limits.allow_code, *shard),
        resume=options.resume,
        restart=options.restart,
    )
    imported = options.imported
    coverage = Coverage(index.known_ids, imported.origin if imported else None)
    digest = hashlib.sha256()
    problems = Problems(
        checkpoint.folder / PROBLEMS, imported.with_origin if imported else None
    )
    try:
        for problem in imported.problems if imported else ():
            problems.add(problem)
        # What ends the run gets ready while what workers come from does.
        from scbench.grading.summary import RunFacts  # noqa: PLC0415

        with watched() as interrupts:
            scheduler = Scheduler(
                index.keys(),
                options.limits,
                index.heavy,
                index,
                _pool_of(options.cluster),
            )
            scheduler.incidents += checkpoint.remarks
            collector = Collector(
                completer, coverage, checkpoint, problems, scheduler, on_progress
            )
            before = _file_state(options.predictions)
            with open_predictions(options.predictions) as stream:
                collector.collect(
                    collector.queue(stream, digest, shard), interrupts, on_wait
                )
            if _file_state(options.predictions) != before:
                problems.add(Problem("changed_file", _CHANGED))
            counts = collector.resumed, scheduler.incidents, scheduler.protections
            facts = RunFacts(options, tasks, digest.hexdigest(), started, *counts)
            rows = ResultsWriter(checkpoint.folder / "rows")
            rows.add(assemble(checkpoint, completer, collector.chunks))
            report = finish(facts, completer, rows, problems, coverage)
            interrupts.check()
    except BaseException as error:
        with suppress(OSError):  # of a full disk; what could be written is kept
            problems.close()
        resumable = checkpoint.close()
        reason = refused(error)
        if reason:
            hint = (
                "; what was graded is kept there, continue with --resume"
                if resumable
                else ""
            )
            raise MachineError(f"{options.out}: {reason}{hint}") from None
        raise
    checkpoint.remove()
    return report


def _file_state(path: str) -> tuple[int, ...] | None:
    """Return what differs when a file was written to or replaced; None of what is no file."""
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


def _check_inputs(options: Options) -> None:
    """Refuse a file without predictions, and a folder whose results would be lost."""
    if options.predictions != "-" and not Path(options.predictions).exists():
        raise PredictionsError(f"no such file: {options.predictions}")
    if options.imported is None and is_empty(options.predictions):
        raise PredictionsError(
            f"{options.predictions} holds no predictions; nothing is written"
        )
    check_place(
        options.out,
        options.files,
        options.release.version,
        options.stored | {"shard": str(options.shard) if options.shard else None},
        begun=interrupted(options.out / WORK),
        restart=options.restart,
    )


def finish(
    facts: "RunFacts",
    completer: Completer,
    rows: ResultsWriter,
    problems: Problems,
    coverage: Coverage,
) -> "RunReport":
    """Write what a run came to, its rows and problems, and return it.

    Raises:
        ResultsError: the folder cannot be written.
    """
    from scbench.grading.summary import RunReport, remarks, summarize, tally  # noqa: PLC0415

    options = facts.options
    if not options.shard:
        if not coverage.lines:
            problems.add(NOTHING_READ)
        nothing = coverage.nothing_graded()
        if nothing is not None:
            problems.add(nothing)
        if not options.partial:
            for problem in coverage.incomplete():
                problems.add(problem)
        rows.add(missing(completer, coverage, partial=options.partial))
    results = problems.path.with_name(RESULTS)
    rows.write(results)
    problems.close()
    report = RunReport(
        options.out / RESULTS,
        tally(results, options.release.weights()),
        problems.first,
        problems.counts,
        facts.incidents,
        facts.resumed,
        coverage.not_chosen,
        [],
        list(unread_keys(coverage.unread)),
    )
    report.summary = summarize(facts, report, coverage)
    summary = report.summary
    report.remarks += remarks(
        options.release,
        facts.tasks,
        summary["withdrawn"],
        summary["fingerprints"],
        summary["runs"],
    )
    write_results(options.out, results, report.summary)
    keep = options.shard is not None or problems.counts.total() > SUMMARISED
    problems.place(options.out / PROBLEMS, keep=keep)
    return report


def _pool_of(cluster: str | None) -> "Callable[[Start], WorkerPool] | None":
    if cluster is None:
        return None
    from scbench.grading.workers.cluster import ClusterPool  # noqa: PLC0415  (an extra)

    return partial(ClusterPool, cluster)
