"""Reading a chunk of lines: what each is, and the rows of those that are judged at once.

It runs in a worker, so that the parent never parses a line. What comes back is a `Part`: a short
account of every line for the ledger; the finished rows come with it as a file of Arrow.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scbench.catalog import get_task
from scbench.grading.rows.chunks import Chunk, line_at
from scbench.grading.rows.columns import Columns, Completer, Head, RunParts, encode, text_bytes
from scbench.grading.rows.duplicates import Twin, twin_of
from scbench.grading.rows.index import Kind
from scbench.grading.rows.wire import Packed
from scbench.model import Status
from scbench.predictions import Problem, parse_line

Judge = Callable[[Any, str], Packed]
"""Gives the outcome of a line for an instance."""

TRIED_AGAIN = frozenset({Status.GRADER_ERROR, Status.NOT_RUN})
"""A resumed run tries these once more: it may be allowed more, or find an engine installed."""


class Single(NamedTuple):
    """A line that is to be judged by itself.

    Attributes:
        head: what its rows hold besides the outcome.
        start: where it begins in the bytes of its chunk.
        end: where it ends.
        twin: what lines with the same answer to the same item share; None if nothing is gained by
            knowing.
    """

    head: Head
    start: int
    end: int
    twin: Twin | None = None


@dataclass(slots=True)
class Part:
    """What was found in a chunk, besides its rows.

    Attributes:
        lines: lines that are not blank.
        graded: lines with rows.
        runs: the runs they belong to; other fields refer to them by position.
        entries: for each line of a run its number, the run, and the instance's position, or -1 if
            the release does not hold the task; one after the other.
        problems: number, code, message and id of lines that cannot be used.
        unknown: number and id of lines that name no instance.
        left_alone: lines of tasks that were not chosen.
        left_out: lines of excluded instances.
        singles: lines that are to be judged by themselves.
        again: whether a resumed run should grade the chunk again.
        rows: how many there are.
        text: bytes of their long texts.
    """

    lines: int = 0
    graded: int = 0
    runs: list[RunParts] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    problems: list[tuple[int, str, str, str | None]] = field(default_factory=list)
    unknown: list[tuple[int, str]] = field(default_factory=list)
    left_alone: int = 0
    left_out: int = 0
    singles: list[Single] = field(default_factory=list)
    again: bool = False
    rows: int = 0
    text: int = 0


def survey(completer: Completer, chunk: Chunk, judge: Judge | None) -> tuple[Part, bytes]:
    """Read the lines of a chunk.

    Args:
        completer: for what is graded against.
        chunk: the lines.
        judge: gives the outcome of a line of a light task, or of one without an answer; None
            leaves every line to be judged by itself.

    Returns:
        What was found, and the rows as `scbench.grading.rows.columns.encode` packs them.
    """
    part = Part()
    contents = completer.contents
    rows = Columns(completer)
    known = contents.known
    for number, start, end in chunk.lines():
        data = line_at(chunk.data, start, end)
        if not data:
            continue
        part.lines += 1
        line = parse_line(data, number)
        if isinstance(line, Problem):
            part.problems.append((number, line.code, line.message, line.id))
            continue
        row_id = line.prediction.id
        place = known.place(row_id)
        if place < 0:
            match place:
                case Kind.LEFT_OUT:
                    part.left_out += 1
                case Kind.LEFT_ALONE:
                    part.left_alone += 1
                case Kind.UNKNOWN:
                    part.unknown.append((number, row_id))
                case Kind.OUTSIDE:
                    task_id, _, subtask = row_id.partition("/")
                    head = Head.of(line, place)
                    part.entries += (number, rows.run(head.run), -1)
                    rows.add_outside(head, task_id, int(subtask[:9]))
                    part.graded += 1
            continue
        head = Head.of(line, place)
        part.entries += (number, rows.run(head.run), place)
        twin = None
        if judge is not None and contents.entries[place].task in contents.heavy:
            twin = twin_of(line, row_id, get_task(contents.entries[place].task))
        if judge is None or isinstance(twin, Twin):
            part.singles.append(Single(head, start, end, twin))
            continue
        outcome = judge(line, row_id)
        part.again |= outcome.status in TRIED_AGAIN
        part.graded += 1
        rows.add(head, outcome)
    part.runs = rows.runs()
    frame = rows.frame()
    part.rows, part.text = frame.height, text_bytes(frame)
    return part, encode(frame)


def pack_part(part: Part, rows: bytes) -> bytes:
    """Return a part as bytes: the length of its account, the account as JSON, and the rows."""
    runs = {run: i for i, run in enumerate(part.runs)}
    fields = {name: getattr(part, name) for name in Part.__slots__}
    fields["singles"] = [
        (single.head._replace(run=runs[single.head.run]), *single[1:])  # type: ignore[arg-type]
        for single in part.singles
    ]
    account = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%d %d\n" % (len(account), len(rows)) + account + rows


def split_part(data: bytes) -> tuple[bytes, bytes]:
    """Return the account of a part that `pack_part` packed, with its lengths, and its rows.

    Raises:
        ValueError: it is damaged.
    """
    start = data.index(b"\n") + 1
    length, rows = map(int, data[:start].split())
    if len(data) != start + length + rows:
        raise ValueError("cut off")
    return data[: start + length], data[start + length :]


def read_account(account: bytes) -> tuple[Part, int]:
    """Return the part of an account, and how many bytes its rows have.

    Raises:
        ValueError: it is damaged.
    """
    lengths, _, text = account.partition(b"\n")
    length, size = map(int, lengths.split())
    if len(text) != length:
        raise ValueError("cut off")
    fields = json.loads(text)
    try:
        fields["runs"] = runs = [tuple(run) for run in fields["runs"]]
        fields["singles"] = [
            Single(_head(head, runs), start, end, twin and Twin(*twin))
            for head, start, end, twin in fields["singles"]
        ]
        return Part(**fields), size
    except (TypeError, KeyError, IndexError) as error:
        raise ValueError(f"damaged: {error}") from None


def _head(values: list[Any], runs: list[RunParts]) -> Head:
    head = Head(*values)
    return head._replace(run=runs[head.run])  # type: ignore[call-overload]
