"""Cutting a predictions file into chunks of whole lines: the unit of work of light tasks.

Where a chunk ends follows from the lines alone, so that every run of a file cuts it alike and an
interrupted one finds its finished chunks again. The first chunks are small: a short file is to keep
every worker busy, too.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scbench.grading.reading import Problem, stripped

_SIZES = (32, 128, 512)
"""Most lines of a chunk: of the first few, of the next, and of all later ones."""
_OF_EACH = 16
_BYTES = 2**20
"""A chunk that has reached this many bytes is full."""


class Shard(NamedTuple):
    """One of several equal parts of a file: lines ``number``, ``number + total`` and so on."""

    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def holds(self, line: int) -> bool:
        """Return whether a line is one of this part."""
        return line % self.total == self.number % self.total


WHOLE = Shard()


class Chunk(NamedTuple):
    """Some lines of a file.

    Attributes:
        place: how many chunks come before it.
        first: number of its first line.
        step: by how much line numbers grow; 1 unless only a shard of the file is graded.
        data: the lines as they stand in the file.
    """

    place: int
    first: int
    step: int
    data: bytes

    def lines(self) -> Iterator[tuple[int, int, int]]:
        """Yield number, start and end of every line; blanks around it are left in."""
        start = 0
        number = self.first
        while start < len(self.data):
            end = self.data.find(b"\n", start) + 1 or len(self.data)
            yield number, start, end
            start = end
            number += self.step


def cut(
    lines: Iterable[tuple[int, bytes] | Problem], shard: Shard = WHOLE
) -> Iterator[Chunk | Problem]:
    """Yield the lines of a shard as chunks, and problems where they stand.

    A blank line is part of a chunk; a problem ends one.

    Args:
        lines: as `scbench.grading.reading.read_lines` gives them.
        shard: which lines to take.
    """
    place = first = size = 0
    held: list[bytes] = []
    most = _SIZES[0]
    for entry in lines:
        if isinstance(entry, Problem):
            if held:
                yield Chunk(place, first, shard.total, b"".join(held))
                place, held, size = place + 1, [], 0
            if entry.line is None or shard.holds(entry.line) or entry.code == "unreadable":
                yield entry
            continue
        number, data = entry
        if shard.total > 1 and not shard.holds(number):
            continue
        if not held:
            first = number
            most = _SIZES[min(place // _OF_EACH, len(_SIZES) - 1)]
        held.append(data)
        size += len(data)
        if len(held) >= most or size >= _BYTES:
            yield Chunk(place, first, shard.total, b"".join(held))
            place, held, size = place + 1, [], 0
    if held:
        yield Chunk(place, first, shard.total, b"".join(held))


def line_at(data: bytes, start: int, end: int) -> bytes:
    """Return a line of a chunk's bytes as graders and hashes see it."""
    return stripped(data[start:end])
