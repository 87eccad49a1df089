"""Reading a chunk of lines: what each is, and the rows of those that are judged at once.

It runs in a worker, so that the parent never parses a line. What comes back is a `ChunkAccount`:
what every line is, for the coverage; the finished rows come with it as a file of Arrow.

Answers of heavy tasks are judged later, and once if they are given more than once: many samples of
one model, or many models, often give the same plan, and a simulation of it can take a minute. Two
answers are duplicates if they are the same answer to the same instance, wherever in their text they
were found.
"""

import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Prediction, Status
from scbench.catalog import get_task
from scbench.formats.predictions import Line, Problem, parse_line, stripped
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import (
    Completer,
    Head,
    RowMaker,
    RunKey,
    encode,
    text_bytes,
)
from scbench.grading.rows.index import LineKind, ReleaseIndex, has_row
from scbench.grading.rows.wire import WireOutcome, to_wire

if TYPE_CHECKING:
    from scbench.scoring.answers.extract import Extraction

# Bytes of a chunk whose rows the parent may complete: a file of few lines, or the end
# of one.
_LITTLE = 2**17
# Outcomes kept for duplicates that come later; one is some kilobytes.
_REMEMBERED = 10_000


# A resumed run tries these once more: it may be allowed more, or find an engine
# installed.
TRIED_AGAIN = frozenset({Status.GRADER_ERROR, Status.NOT_RUN})


class FoundAnswer(NamedTuple):
    """A heavy answer, as JSON, that is still to be judged; duplicates have the same key."""

    key: str
    text: str
    source: str
    repairs: list[str]

    @classmethod
    def of(cls, match: "Extraction", instance_id: str) -> "FoundAnswer | None":
        """Return the answer to an instance, ready to travel; None if no JSON can hold it."""
        try:
            key = sha256(f"{instance_id} {canonical_json(match.value)}")
        except ValueError:
            return None
        text = json.dumps(match.value, ensure_ascii=False, separators=(",", ":"))
        return cls(key, text, match.source, list(match.repairs))


class PendingLine(NamedTuple):
    """A line to be judged by itself: its place in its chunk, and its answer if it is found."""

    head: Head
    start: int
    end: int
    answer: FoundAnswer | None = None

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return self.end - self.start


class DuplicateAnswers:
    """Which lines wait for the outcome of another, and the outcomes of late."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[PendingLine]] = {}
        self._judged: OrderedDict[str, WireOutcome] = OrderedDict()
        self.waiting = 0

    def earlier(self, line: PendingLine) -> WireOutcome | None:
        """Return the outcome of an earlier duplicate, as if it had been found in this line."""
        outcome = line.answer and self._judged.get(line.answer.key)
        return outcome and _as_found(outcome, line)

    def hold(self, line: PendingLine) -> bool:
        """Return whether a duplicate is being judged; the line is then kept until `release`."""
        if line.answer is None:
            return False
        waiting = self._waiting.get(line.answer.key)
        if waiting is None:
            self._waiting[line.answer.key] = []
            return False
        waiting.append(line)
        self.waiting += 1
        return True

    def release(
        self, line: PendingLine, outcome: WireOutcome
    ) -> list[tuple[PendingLine, WireOutcome]]:
        """Take the outcome of a line; return the duplicates that waited for it, with theirs."""
        if line.answer is None:
            return []
        if outcome.status == Status.ANSWERED:
            self._judged[line.answer.key] = outcome
            if len(self._judged) > _REMEMBERED:
                self._judged.popitem(last=False)
        waited = self._waiting.pop(line.answer.key)
        self.waiting -= len(waited)
        return [(duplicate, _as_found(outcome, duplicate)) for duplicate in waited]


def _as_found(outcome: WireOutcome, line: PendingLine) -> WireOutcome:
    if line.answer is None:
        return outcome
    return outcome._replace(source=line.answer.source, repairs=line.answer.repairs)


# Gives the outcome of a prediction for an instance.
JudgeLine = Callable[[Prediction, str], WireOutcome]

# The account of a chunk, see `pack_account`, and its rows as a file of Arrow, or see
# `packed`.
PackedChunk = tuple[bytes, bytes]


@dataclass(slots=True)
class ChunkAccount:
    """What was found in a chunk, besides its rows.

    Attributes:
        lines: of each line that is not blank its number, its place (see `KnownIds.place`) and its
            run, one after the other; the run is -1 for those without a row.
        runs: the runs they belong to; other fields refer to them by position.
        bad: code, message, number and id of the bad lines, in order.
        unknown: ids of the lines that name no instance, in order.
        pending: lines that are to be judged by themselves.
        graded: lines with rows.
        forged: number, id and reason of those whose trace the environment does not give.
        again: whether a resumed run should grade the chunk again.
        unread: how many lines have a key that is not known, by key.
        rows: how many there are.
        text: bytes of their long texts.
        size: bytes of all of them, as `scbench.grading.rows.columns.encode` packs them.
    """

    lines: list[int] = field(default_factory=list)
    runs: list[RunKey] = field(default_factory=list)
    bad: list[tuple[str, str, int | None, str | None]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    pending: list[PendingLine] = field(default_factory=list)
    graded: int = 0
    forged: list[tuple[int, str, str]] = field(default_factory=list)
    again: bool = False
    unread: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    text: int = 0
    size: int = 0


class _ReadLine(NamedTuple):
    """A line that gets a row: what is in it, and its place in its chunk."""

    head: Head
    prediction: Prediction
    start: int
    end: int


def survey(completer: Completer, chunk: Chunk, judge: JudgeLine | None) -> PackedChunk:
    """Read the lines of a chunk, and judge those of light tasks if there is a judge."""
    account = ChunkAccount()
    index = completer.index
    rows = RowMaker(completer)
    lines = list(_read_lines(index, chunk, account, rows))
    outcomes: list[WireOutcome | FoundAnswer | None] = [None] * len(lines)
    if judge is not None:
        # Answers to one item after the other find its code and data in the processor's cache.
        for i in sorted(range(len(lines)), key=lambda i: lines[i].head.position):
            outcomes[i] = _outcome_of(index, lines[i], judge)
    for line, outcome in zip(lines, outcomes, strict=True):
        head, row_id = line.head, line.prediction.id
        if head.position < 0:
            rows.add_outside(head, row_id)
            account.graded += 1
            continue
        if not isinstance(outcome, WireOutcome):
            account.pending.append(PendingLine(head, line.start, line.end, outcome))
            continue
        if outcome.forged:
            account.forged.append((head.line or 0, row_id, outcome.reason))
        account.again |= outcome.status in TRIED_AGAIN
        account.graded += 1
        rows.add(head, outcome)
    account.runs = rows.runs()
    if len(chunk.data) <= _LITTLE:
        return pack_account(account), rows.packed()
    return _complete(account, rows)


def _read_lines(
    index: ReleaseIndex, chunk: Chunk, account: ChunkAccount, rows: RowMaker
) -> Iterator[_ReadLine]:
    """Yield the lines of a chunk that get a row; note what each line is."""
    for number, start, end in chunk.lines():
        data = stripped(chunk.data[start:end])
        if not data:
            continue
        line = parse_line(data, number)
        if isinstance(line, Line):
            line = index.known_ids.of_another(line) or line
        if isinstance(line, Problem):
            account.lines += (number, LineKind.BAD, -1)
            account.bad.append((line.code, line.message, line.line, line.id))
            continue
        if line.unread:
            account.unread.update(line.unread)
        row_id = line.prediction.id
        place = index.known_ids.place(row_id)
        if place < 0 and not has_row(place):
            account.lines += (number, place, -1)
            if place == LineKind.UNKNOWN:
                account.unknown.append(row_id)
            continue
        head = Head.of(line, place)
        account.lines += (number, place, rows.run(head.run))
        yield _ReadLine(head, line.prediction, start, end)


def _outcome_of(
    index: ReleaseIndex, line: _ReadLine, judge: JudgeLine
) -> WireOutcome | FoundAnswer | None:
    """Return what came of a line; None of those to be judged by themselves, or outside."""
    if line.head.position < 0:
        return None
    task = index.entries[line.head.position].task
    if task in index.heavy:
        return _seek_heavy(line.prediction, task)
    return judge(line.prediction, line.prediction.id)


def completed(completer: Completer, done: PackedChunk) -> PackedChunk:
    """Return a chunk with its rows as a file of Arrow, if they came as something lighter."""
    account, data = done
    if not data.startswith(b"["):
        return done
    return _complete(read_account(account), RowMaker.unpacked(completer, data))


def _complete(account: ChunkAccount, rows: RowMaker) -> PackedChunk:
    frame = rows.frame()
    data = encode(frame)
    account.rows, account.text, account.size = (
        frame.height,
        text_bytes(frame),
        len(data),
    )
    return pack_account(account), data


def _seek_heavy(
    prediction: Prediction, task_id: str
) -> FoundAnswer | WireOutcome | None:
    from scbench.scoring.outcomes import Outcome, seek_answer  # noqa: PLC0415  (workers have it)

    if prediction.turns:
        return None
    answer = seek_answer(prediction, get_task(task_id))
    return (
        to_wire(answer)
        if isinstance(answer, Outcome)
        else FoundAnswer.of(answer, prediction.id)
    )


def pack_account(account: ChunkAccount) -> bytes:
    """Return an account as JSON."""
    fields = {name: getattr(account, name) for name in ChunkAccount.__slots__}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def read_account(data: bytes) -> ChunkAccount:
    """Return the account that `pack_account` packed."""
    fields = json.loads(data)
    fields["runs"] = [RunKey(*run) for run in fields["runs"]]
    fields["pending"] = [
        PendingLine(Head.read(head), start, end, answer and FoundAnswer(*answer))
        for head, start, end, answer in fields["pending"]
    ]
    return ChunkAccount(**fields)
