"""The lines of a chunk, each parsed once in a worker, and the chunk's account.

The account sums up a chunk for the collector, the part of the parent process that gathers the
results. The parent process parses lines itself only if the worker of their chunk failed.
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

# A resumed run grades these again: limits may have been raised since, or a missing
# engine installed.
TRIED_AGAIN = frozenset({Status.GRADER_ERROR, Status.NOT_RUN})


class Head(NamedTuple):
    """The content of a line's rows, except the outcome.

    Attributes:
        line: number of the line; None for an item without one.
        position: position of its instance in the index; negative outside the release (a
            `LineKind`).
        run: the run that the line belongs to.
        id: instance id; needed only outside the release.
        digest: SHA-256 of the line.
        finish: the provider's finish reason.
        characters: length of the model's text in characters.
        usage: reported usage, canonical JSON.
        described: run metadata in the line, canonical JSON.
        prompt: SHA-256 of the prompt that was sent.
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
        described = None
        if prediction.run is not None:
            described = run_text(prediction.run)
        return cls(
            line=line.number,
            position=position,
            run=run_of(prediction),
            id=prediction.id,
            digest=sha256(line.data),
            finish=prediction.finish_reason,
            characters=text_length(prediction),
            usage=usage,
            described=described,
            prompt=prediction.prompt_sha256,
            reasoning=reasoning,
            loop=loop,
        )


def run_of(prediction: Prediction) -> RunKey:
    """Return the run that a prediction belongs to."""
    return RunKey(
        prediction.model, prediction.setting, prediction.sample, prediction.budget
    )


def text_length(prediction: Prediction) -> int | None:
    """Return the length of the model's text, stripped, in characters; None without text."""
    if prediction.turns is not None:
        return sum(len(turn.action.strip()) for turn in prediction.turns)
    return None if prediction.response is None else len(prediction.response.strip())


def run_text(run: RunMetadata) -> str:
    """Return run metadata as the JSON text stored in results."""
    return canonical_json(run.model_dump(mode="json", exclude_none=True))


class FoundAnswer(NamedTuple):
    """A heavy answer that has not been graded.

    Attributes:
        key: equal for equal answers to the same instance.
        text: the answer as JSON.
        source: where in the reply it was found.
        repairs: repairs applied to read it.
    """

    key: str
    text: str
    source: str
    repairs: list[str]


class PendingLine(NamedTuple):
    """A line to be graded separately.

    Attributes:
        head: the content of its rows, except the outcome.
        start: byte offset of the line in its chunk.
        end: byte offset of its end.
        answer: its answer, if one was found.
    """

    head: Head
    start: int
    end: int
    answer: FoundAnswer | None = None

    @property
    def size(self) -> int:
        """Size of the line in bytes."""
        return self.end - self.start


class LineAccount(NamedTuple):
    """The entry of a non-blank line in the account of its chunk.

    Attributes:
        number: number of the line in the file.
        place: position of its instance in the index, or else a `LineKind`, which is negative; for a
            line with a row the same as `Head.position`.
        run: index of its run in the account; None for a line without a row.
        row_id: its id, if no release has such an item; otherwise empty.
        problem: the reason why it is not a prediction.
    """

    number: int
    place: int
    run: int | None = None
    row_id: str = ""
    problem: Problem | None = None


@dataclass(slots=True)
class ChunkAccount:
    """An account of a chunk for the collector; the rows are sent separately.

    Attributes:
        lines: every non-blank line.
        runs: the runs of these lines.
        pending: lines to grade separately.
        graded: number of lines with an outcome; a line may have several rows.
        forged: a problem for each submitted trace that the environment does not reproduce.
        again: whether a resumed run should grade the chunk again.
        unread: number of lines with each unknown key.
        rows: number of rows. `table` sets rows, text and size when it creates the rows.
        text: size in bytes of the rows' long text columns.
        size: size in bytes of the Arrow file of the rows.
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
    """A line that gets a row, with the byte offsets of its start and end in its chunk."""

    head: Head
    prediction: Prediction
    start: int
    end: int


class GradedLine(NamedTuple):
    """A line with its outcome: the content of its rows."""

    head: Head
    outcome: WireOutcome


class ParsedChunk(NamedTuple):
    """The lines of a chunk with rows, and the account of all lines."""

    account: ChunkAccount
    lines: list[ParsedLine]


def parse_chunk(index: ReleaseIndex, chunk: Chunk) -> ParsedChunk:
    """Parse the lines of a chunk."""
    account = ChunkAccount()
    parsed: list[ParsedLine] = []
    # Runs are numbered in the order of their first lines.
    run_numbers: dict[RunKey, int] = {}
    for number, start, end in chunk.lines():
        data = stripped(chunk.data[start:end])
        if not data:
            continue
        line = parse_line(data, number)
        if isinstance(line, Line):
            # A line about an item with the same id but other content is a problem.
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
        run = run_numbers.setdefault(head.run, len(run_numbers))
        account.lines.append(LineAccount(number, place, run))
        parsed.append(ParsedLine(head, line.prediction, start, end))
    account.runs = list(run_numbers)
    return ParsedChunk(account, parsed)


def settle(
    index: ReleaseIndex,
    parsed: ParsedChunk,
    results: Mapping[int, WireOutcome | FoundAnswer],
) -> list[GradedLine]:
    """Complete the account of a chunk; return the lines that have an outcome.

    Args:
        index: index of the release that is graded against.
        parsed: the chunk; lines without an outcome are added to its account as pending.
        results: by line number, outcomes of graded lines, and answers found in lines of
            heavy tasks.
    """
    account = parsed.account
    graded: list[GradedLine] = []
    for line in parsed.lines:
        head = line.head
        # Lines of a chunk always have a number.
        number = head.line or 0
        if head.position < 0:
            graded.append(outside_release(index, head))
            continue
        result = results.get(number)
        if not isinstance(result, WireOutcome):
            # A heavy answer that has not been judged, or no result at all.
            account.pending.append(PendingLine(head, line.start, line.end, result))
            continue
        if result.forged:
            account.forged.append(Problem(FORGED, result.reason, number, head.id))
        # `Status` is a `StrEnum`, so its members equal the strings of outcomes.
        if result.status in TRIED_AGAIN:
            account.again = True
        graded.append(GradedLine(head, result))
    account.graded = len(graded)
    return graded


def outside_release(index: ReleaseIndex, head: Head) -> GradedLine:
    """Return a line about an item whose task the release does not contain, with its outcome."""
    task_id = head.id.partition("/")[0]
    reason = f"release {index.release} does not contain {task_id}"
    outcome = WireOutcome(Status.NOT_RUN.value, reason=reason)
    return GradedLine(head._replace(usage=None), outcome)
