"""Between reading and grading: what every line is, in the order of lines.

Chunks come back in any order, but which of two lines counts, which ids are unknown and what waits
for what is decided in the order of the file.
"""

from array import array
from collections.abc import Callable, Iterator
from typing import BinaryIO

from scbench.grading.checkpoint.assemble import Sheet
from scbench.grading.checkpoint.journal import journal_key
from scbench.grading.checkpoint.parts import Store
from scbench.grading.problems import Problems
from scbench.grading.rows.chunks import Chunk, Shard, cut, line_at
from scbench.grading.rows.columns import Completer
from scbench.grading.rows.coverage import Ledger
from scbench.grading.rows.duplicates import Pending, Twins
from scbench.grading.rows.schema import RunKey
from scbench.grading.rows.survey import TRIED_AGAIN, Part, Single, pack_part, survey
from scbench.grading.rows.wire import Packed
from scbench.grading.workers.job_queue import Agenda
from scbench.grading.workers.scheduler import Engine
from scbench.grading.workers.worker import Item
from scbench.predictions import Digest, Problem, read_blocks

_LAG = 512
"""Chunks that may be read, or done, while an earlier one is not."""
_HELD = 50_000
"""Lines that may wait for the outcome of a twin."""


class Intake:
    """Takes chunks and outcomes as they are done; decides what is graded and what is kept.

    Args:
        completer: for what is graded against.
        ledger: which items have a line.
        store: keeps what is done.
        problems: takes what is wrong with lines.
        engine: tries items alone.
        on_progress: called with the number of lines graded so far and the bytes they had.
    """

    def __init__(
        self,
        completer: Completer,
        ledger: Ledger,
        store: Store,
        problems: Problems,
        engine: Engine,
        on_progress: Callable[[int, int], object],
    ) -> None:
        self.contents = completer.contents
        self._completer = completer
        self.ledger = ledger
        self.store = store
        self.problems = problems
        self.resumed = 0
        self.sheets: list[Sheet] = []
        self.dropped: dict[int, array[int]] = {}
        self._engine = engine
        self._on_progress = on_progress
        self._agenda: Agenda | None = None
        self._twins = Twins()
        self._waiting: dict[int, Pending] = {}
        self._turns: dict[int, int] = {}
        self._turn = self._next = 0
        self._arrived: dict[int, Problem | tuple[Chunk, Part]] = {}
        self._lines = self._bytes = 0

    def agenda(self, stream: BinaryIO, digest: Digest, shard: Shard) -> Agenda:
        """Return what is to be graded of a stream."""
        chunks = self._chunks(stream, digest, shard)
        engine = self._engine
        self._agenda = Agenda(chunks, self.contents.heavy, engine.job, self._held_back)
        return self._agenda

    def _chunks(self, stream: BinaryIO, digest: Digest, shard: Shard) -> Iterator[Chunk | None]:
        for entry in cut(read_blocks(stream, digest), shard):
            turn = self._turn
            self._turn += 1
            if isinstance(entry, Problem):
                self._arrive(turn, entry)
                continue
            part = self.store.taken(entry)
            if part is None:
                self._turns[entry.place] = turn
                yield entry
            else:
                self.resumed += part.graded
                self._count(entry, part)
                self._arrive(turn, (entry, part))
                yield None

    def _held_back(self) -> bool:
        return self._turn - self._next > _LAG or self._twins.held > _HELD

    def take_chunk(self, chunk: Chunk, data: bytes | None) -> None:
        """Take the packed part of a chunk; None if its worker failed."""
        if data is None:
            data = pack_part(*survey(self._completer, chunk, None))
        part = self.store.keep(chunk, data)
        self._count(chunk, part)
        self._arrive(self._turns.pop(chunk.place), (chunk, part))

    def _count(self, chunk: Chunk, part: Part) -> None:
        singles = sum(single.end - single.start for single in part.singles)
        self._progress(part.graded, len(chunk.data) - singles)

    def _progress(self, lines: int, size: int) -> None:
        self._lines += lines
        self._bytes += size
        self._on_progress(self._lines, self._bytes)

    def _arrive(self, turn: int, what: Problem | tuple[Chunk, Part]) -> None:
        self._arrived[turn] = what
        while self._next in self._arrived:
            ready = self._arrived.pop(self._next)
            self._next += 1
            if isinstance(ready, Problem):
                self.ledger.lines += 1
                self.problems.add(ready)
            else:
                self._admit(*ready)

    def _admit(self, chunk: Chunk, part: Part) -> None:
        self.sheets.append(Sheet(chunk.first, part.rows, part.text))
        ledger = self.ledger
        ledger.lines += part.lines
        ledger.left_alone += part.left_alone
        ledger.left_out += part.left_out
        runs = [RunKey(*run) for run in part.runs]
        books = [ledger.open_run(run) for run in runs]
        found: list[tuple[int, Problem | str, RunKey | None]] = [
            (number, Problem(code, message, number, row_id), None)
            for number, code, message, row_id in part.problems
        ]
        found += ((number, row_id, None) for number, row_id in part.unknown)
        entries = iter(part.entries)
        dropped: set[int] = set()
        for number, run, position in zip(entries, entries, entries, strict=True):
            if position < 0:
                continue
            earlier = books[run][position]
            if earlier:
                dropped.add(number)
                problem = ledger.duplicate(number, position, earlier)
                found.append((number, problem, runs[run]))
            else:
                books[run][position] = number
        if found:
            self._tell(found)
        if dropped:
            self.dropped[chunk.place] = array("Q", sorted(dropped))
        for single in part.singles:
            if single.head.line not in dropped:
                self._take_single(chunk, single)

    def _tell(self, found: list[tuple[int, Problem | str, RunKey | None]]) -> None:
        for number, problem, run in sorted(found, key=lambda entry: entry[0]):
            if run is not None and isinstance(problem, Problem):
                parts = (run.model, run.setting, run.sample, run.budget)
                self.problems.add(problem, run=parts)
            elif isinstance(problem, Problem):
                self.problems.add(problem)
            else:
                self.problems.add(self.ledger.unknown(number, problem))

    def _take_single(self, chunk: Chunk, single: Single) -> None:
        head = single.head
        key = journal_key(self.store.identity, head.line, head.digest)
        line = Pending(head, key, single.end - single.start, single.twin)
        if self.store.journal.find(key, head.line):
            self.resumed += 1
            self._progress(1, line.size)
            return
        known = self._twins.known(line)
        if known is not None:
            self._finish(line, known)
            return
        if self._twins.hold(line):
            return
        self._waiting[head.line] = line
        entry = self.contents.entries[head.position]
        item = Item(head.line, line_at(chunk.data, single.start, single.end), entry.id)
        if entry.task in self.contents.heavy and self._agenda is not None:
            self._agenda.add(item, entry.task)
        else:  # its chunk failed
            self._engine.suspect(item)

    def take_outcome(self, item: Item, outcome: Packed) -> None:
        """Take the outcome of a line judged by itself; its twins have theirs now, too."""
        line = self._waiting.pop(item.line)
        for each, its_outcome in ((line, outcome), *self._twins.release(line, outcome)):
            self._finish(each, its_outcome)

    def _finish(self, line: Pending, outcome: Packed) -> None:
        again = outcome.status in TRIED_AGAIN
        self.store.journal.add(line.key, line.head, outcome, again=again)
        self._progress(1, line.size)
