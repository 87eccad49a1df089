"""The lines of a chunk, each parsed once in a worker, and their account for the collector.

The parent parses lines only if the worker of their chunk failed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import Prediction, RunMetadata, Status
from scbench.formats.predictions import Line, Problem, parse_line, stripped
from scbench.grading.rows.chunks import Chunk
from scbench.grading.rows.columns import RunKey
from scbench.grading.rows.index import LineKind, ReleaseIndex, has_row
from scbench.grading.rows.wire import FORGED, WireOutcome

# A resumed run tries these once more: it may be allowed more, or find an engine
# installed.
TRIED_AGAIN = frozenset({Status.GRADER_ERROR, Status.NOT_RUN})


class Head(NamedTuple):
    """The columns of a line's rows besides its outcome.

    Attributes:
        line: number of the line; None for an item without one.
        position: of its instance in the index; negative outside the release.
        run: the run that the line belongs to.
        id: instance id; needed outside the release only.
        digest: SHA-256 of the line.
        finish: finish reason that the provider gave.
        characters: length of the model's text.
        usage: canonical JSON.
        described: metadata of the run in the line, canonical JSON.
        prompt: SHA-256 of the text that was sent.
        reasoning: length of the reasoning in characters.
        loop: setup of a loop, canonical JSON.
    """

    line: int | None
    position: int
    run: RunKey
    id: str = ""
    digest: str | None = None
    finish: str | None = None
    characters: int | None = None
    usage: str | None = None
    described: str | None = None
    prompt: str | None = None
    reasoning: int | None = None
    loop: str | None = None

    @classmethod
    def of(cls, line: Line, position: int) -> "Head":
        """Return the head of a line."""
        prediction = line.prediction
        usage = None
        if prediction.usage:
            usage = canonical_json(prediction.usage.model_dump(exclude_none=True))
        reasoning = None
        if prediction.reasoning is not None:
            reasoning = len(prediction.reasoning.strip())
        loop = None
        if prediction.loop:
            loop = canonical_json(prediction.loop.model_dump(exclude_none=True))
        return cls(
            line.number,
            position,
            run_of(prediction),
            prediction.id,
            sha256(line.data),
            prediction.finish_reason,
            text_length(prediction),
            usage,
            None if prediction.run is None else run_text(prediction.run),
            prediction.prompt_sha256,
            reasoning,
            loop,
        )


def run_of(prediction: Prediction) -> RunKey:
    """Return the run that a prediction belongs to."""
    return RunKey(
        prediction.model, prediction.setting, prediction.sample, prediction.budget
    )


def text_length(prediction: Prediction) -> int | None:
    """Return the characters of the model's text without blanks around it; None without text."""
    if prediction.turns is not None:
        return sum(len(turn.action.strip()) for turn in prediction.turns)
    return None if prediction.response is None else len(prediction.response.strip())


def run_text(run: RunMetadata) -> str:
    """Return metadata of a run as results hold it."""
    return canonical_json(run.model_dump(mode="json", exclude_none=True))


class FoundAnswer(NamedTuple):
    """A heavy answer that is still to be judged.

    Attributes:
        key: the same for all duplicates: equal answers to one instance.
        text: the answer as JSON.
        source: where in the reply it was found.
        repairs: what had to be done to read it.
    """

    key: str
    text: str
    source: str
    repairs: list[str]


class PendingLine(NamedTuple):
    """A line to be judged by itself: its bytes in its chunk, and its answer if one was found."""

    head: Head
    start: int
    end: int
    answer: FoundAnswer | None = None

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return self.end - self.start


class LineAccount(NamedTuple):
    """A line that is not blank.

    Attributes:
        number: of the line in the file.
        place: see `KnownIds.place`.
        run: number of its run in the account; None for a line without a row.
        row_id: its id, if no release can mean it.
        problem: the reason why it is no prediction.
    """

    number: int
    place: int
    run: int | None = None
    row_id: str = ""
    problem: Problem | None = None


@dataclass(slots=True)
class ChunkAccount:
    """An account of a chunk for the collector; the rows travel separately.

    Attributes:
        lines: every line that is not blank.
        runs: the runs of these lines.
        pending: lines that are to be judged by themselves.
        graded: lines with rows.
        forged: a problem for each trace that the environment does not give.
        again: whether a resumed run should grade the chunk again.
        unread: number of lines with each unknown key.
        rows: number of rows.
        text: bytes of their long texts.
        size: bytes of the file of Arrow that holds them.
    """

    lines: list[LineAccount] = field(default_factory=list)
    runs: list[RunKey] = field(default_factory=list)
    pending: list[PendingLine] = field(default_factory=list)
    graded: int = 0
    forged: list[Problem] = field(default_factory=list)
    again: bool = False
    unread: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    text: int = 0
    size: int = 0


class ParsedLine(NamedTuple):
    """A line that gets a row, and its bytes in its chunk."""

    head: Head
    prediction: Prediction
    start: int
    end: int


class GradedLine(NamedTuple):
    """A line with its outcome: everything that its rows hold."""

    head: Head
    outcome: WireOutcome


class ParsedChunk(NamedTuple):
    """The lines of a chunk that get rows, and the account of all lines."""

    account: ChunkAccount
    lines: list[ParsedLine]


def parse_chunk(index: ReleaseIndex, chunk: Chunk) -> ParsedChunk:
    """Parse the lines of a chunk."""
    account = ChunkAccount()
    parsed: list[ParsedLine] = []
    numbers: dict[RunKey, int] = {}
    for number, start, end in chunk.lines():
        data = stripped(chunk.data[start:end])
        if not data:
            continue
        line = parse_line(data, number)
        if isinstance(line, Line):
            line = index.known_ids.of_another(line) or line
        if isinstance(line, Problem):
            bad = LineAccount(number, LineKind.BAD.value, problem=line)
            account.lines.append(bad)
            continue
        if line.unread:
            account.unread.update(line.unread)
        row_id = line.prediction.id
        place = int(index.known_ids.place(row_id))
        if not has_row(place):
            unknown_id = row_id if place == LineKind.UNKNOWN else ""
            account.lines.append(LineAccount(number, place, row_id=unknown_id))
            continue
        head = Head.of(line, place)
        run = numbers.setdefault(head.run, len(numbers))
        account.lines.append(LineAccount(number, place, run))
        parsed.append(ParsedLine(head, line.prediction, start, end))
    account.runs = list(numbers)
    return ParsedChunk(account, parsed)


def settle(
    index: ReleaseIndex,
    parsed: ParsedChunk,
    results: Mapping[int, WireOutcome | FoundAnswer],
) -> list[GradedLine]:
    """Complete the account of a chunk; return the lines that have an outcome.

    Args:
        index: what is graded against.
        parsed: the chunk; its account takes the other lines as pending.
        results: by line number, outcomes of lines that were judged, and answers that were found
            in heavy ones.
    """
    account = parsed.account
    graded: list[GradedLine] = []
    for line in parsed.lines:
        head = line.head
        number = head.line or 0
        if head.position < 0:
            graded.append(outside_release(index, head))
            continue
        result = results.get(number)
        if not isinstance(result, WireOutcome):
            account.pending.append(PendingLine(head, line.start, line.end, result))
            continue
        if result.forged:
            account.forged.append(Problem(FORGED, result.reason, number, head.id))
        account.again |= result.status in TRIED_AGAIN
        graded.append(GradedLine(head, result))
    account.graded = len(graded)
    return graded


def outside_release(index: ReleaseIndex, head: Head) -> GradedLine:
    """Return a line about an item whose task the release does not hold, with its outcome."""
    task_id = head.id.partition("/")[0]
    reason = f"release {index.release} does not hold {task_id}"
    outcome = WireOutcome(Status.NOT_RUN.value, reason=reason)
    return GradedLine(head._replace(usage=None), outcome)
