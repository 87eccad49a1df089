"""Cutting a predictions file into chunks of whole lines: the unit of work of light tasks.

Where a chunk ends follows from the lines alone, so that every run of a file cuts it alike and an
interrupted one finds its finished chunks again. The first chunks are small: a short file is to keep
every worker busy, too.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scbench.formats.predictions import Problem, line_spans

# Most lines of a chunk: of the first few, of the next, and so on, and of all later
# ones.
_SIZES = (32, 128, 512, 1024)
_OF_EACH = 16
# A chunk that has reached this many bytes is full.
_BYTES = 2**20


class Shard(NamedTuple):
    """One of several equal parts of a file: lines ``number``, ``number + total`` and so on."""

    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def holds(self, line: int) -> bool:
        """Return whether a line is one of this part."""
        return line % self.total == self.number % self.total


ALL_LINES = Shard()


class Chunk(NamedTuple):
    """Some lines of a file, as they stand in it, and how many chunks come before.

    Line numbers grow by one step from the first: by more than 1 if a shard is graded.
    """

    place: int
    first: int
    step: int
    length: int
    data: bytes

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """Return number, start and end of every line; blanks around it are left in."""
        return line_spans(self.data, self.first, self.step)


def cut(
    blocks: Iterable[tuple[int, bytes] | Problem], shard: Shard = ALL_LINES
) -> Iterator[Chunk | Problem]:
    """Yield the lines of a shard as chunks, and problems where they stand.

    A blank line is part of a chunk; a problem ends one. Blocks are those of `read_blocks`.
    """
    place = first = size = 0
    pieces: list[bytes] = []
    limit = _SIZES[0]
    for entry in blocks:
        if isinstance(entry, Problem):
            if pieces:
                yield Chunk(place, first, shard.total, len(pieces), b"".join(pieces))
                place, pieces, size = place + 1, [], 0
            if (
                entry.line is None
                or shard.holds(entry.line)
                or entry.code == "unreadable"
            ):
                yield entry
            continue
        number, data = entry
        for line, start, end in line_spans(data, number):
            if shard.total > 1 and not shard.holds(line):
                continue
            if not pieces:
                first = line
                limit = _SIZES[min(place // _OF_EACH, len(_SIZES) - 1)]
            pieces.append(data[start:end])
            size += end - start
            if len(pieces) >= limit or size >= _BYTES:
                yield Chunk(place, first, shard.total, len(pieces), b"".join(pieces))
                place, pieces, size = place + 1, [], 0
    if pieces:
        yield Chunk(place, first, shard.total, len(pieces), b"".join(pieces))
