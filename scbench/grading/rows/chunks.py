"""Splitting a predictions file into chunks of whole lines: the unit of work of light tasks.

Chunk boundaries depend only on the lines. So every run splits a file in the same way,
and a resumed run finds its finished chunks again. The first chunks are small, so that
even a short file keeps every worker busy.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scbench.formats.predictions import Problem, line_spans

# Maximum lines of a chunk: for the first few chunks, the next few, and so on, and all
# later ones.
_SIZES = (32, 128, 512, 1024)
# Number of chunks of each of these sizes except the last.
_OF_EACH = 16
# A chunk that has reached this many bytes is full.
_BYTES = 2**20


class Shard(NamedTuple):
    """One of several equal parts of a file: lines ``number``, ``number + total`` and so on.

    The default is a whole file.
    """

    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def contains(self, line: int) -> bool:
        """Return whether a line belongs to this part."""
        return line % self.total == self.number % self.total


class Chunk(NamedTuple):
    """Some lines of a file as bytes.

    Attributes:
        place: number of chunks before it.
        first: number of its first line, from 1.
        step: difference between the numbers of neighbouring lines; above 1 in a shard.
        length: number of lines.
        data: the lines with their line breaks.
    """

    place: int
    first: int
    step: int
    length: int
    data: bytes

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """Return the number, start and end of every line, including whitespace."""
        return line_spans(self.data, self.first, self.step)


class ChunkBuilder:
    """Collects lines until they make a chunk."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._place = 0
        self._most_lines = _SIZES[0]
        self._first = 0
        self._size = 0
        self._pieces: list[bytes] = []

    def add(self, line: int, data: bytes) -> None:
        """Add a line."""
        if not self._pieces:
            self._first = line
        self._pieces.append(data)
        self._size += len(data)

    @property
    def is_full(self) -> bool:
        """Whether the next line belongs to another chunk."""
        return len(self._pieces) >= self._most_lines or self._size >= _BYTES

    def take(self) -> Iterator[Chunk]:
        """Yield the chunk if it has any lines, and start another."""
        if not self._pieces:
            return
        data = b"".join(self._pieces)
        yield Chunk(self._place, self._first, self._step, len(self._pieces), data)
        self._place += 1
        self._most_lines = _SIZES[min(self._place // _OF_EACH, len(_SIZES) - 1)]
        self._size = 0
        self._pieces = []


def cut(
    blocks: Iterable[tuple[int, bytes] | Problem], shard: Shard
) -> Iterator[Chunk | Problem]:
    """Yield the lines of a shard as chunks, and problems where they occur.

    A blank line is part of a chunk; a problem ends one. `read_blocks` yields the
    blocks.
    """
    builder = ChunkBuilder(shard.total)
    for block in blocks:
        if isinstance(block, Problem):
            yield from builder.take()
            if is_reported_by(shard, block):
                yield block
            continue
        number, data = block
        for line, start, end in line_spans(data, number):
            if shard.total > 1 and not shard.contains(line):
                continue
            builder.add(line, data[start:end])
            if builder.is_full:
                yield from builder.take()
    yield from builder.take()


def is_reported_by(shard: Shard, problem: Problem) -> bool:
    """Return whether a shard reports a problem; every shard reports problems of the whole file."""
    if problem.line is None or problem.code == "unreadable":
        return True
    return shard.contains(problem.line)
