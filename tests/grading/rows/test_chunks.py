"""Chunks: their ends follow from the lines, and every line is in exactly one."""

import hashlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.formats.predictions import (
    MAX_LINE_BYTES,
    Problem,
    foreign_encoding,
    read_blocks,
)
from scbench.grading.rows.chunks import Chunk, Shard, cut

BYTES = st.binary(max_size=2000).map(lambda data: data.replace(b"x", b"\n"))


def chunks(data: bytes, shard: Shard = Shard()) -> list[Chunk | Problem]:  # noqa: B008
    return list(cut(read_blocks(io.BytesIO(data), hashlib.sha256()), shard))


def numbered(result) -> dict[int, bytes]:
    lines = {}
    for chunk in result:
        if isinstance(chunk, Chunk):
            for number, start, end in chunk.lines():
                assert number not in lines
                lines[number] = chunk.data[start:end]
    return lines


@given(BYTES.filter(lambda data: not foreign_encoding(data)), st.integers(1, 5))
def test_shards_contain_every_line_once_unchanged(data, total):
    shards = [Shard(number, total) for number in range(1, total + 1)]
    joined = {}
    for shard in shards:
        lines = numbered(chunks(data, shard))
        assert all(map(shard.contains, lines))
        assert not joined.keys() & lines.keys()
        joined |= lines
    assert b"".join(joined[line] for line in sorted(joined)) == data


def test_first_chunks_are_small_and_later_ones_large():
    result = chunks(b"{}\n" * 20_000)
    sizes = [chunk.data.count(b"\n") for chunk in result]
    assert sizes[:48] == [32] * 16 + [128] * 16 + [512] * 16
    assert set(sizes[48:-1]) == {1024}
    assert sum(sizes) == sum(chunk.length for chunk in result) == 20_000
    assert [chunk.place for chunk in result] == list(range(len(result)))
    assert (result[0].first, result[1].first) == (1, 33)


def test_problem_ends_a_chunk_and_is_reported_by_its_shard():
    data = b"one\n" + b"x" * (MAX_LINE_BYTES + 1) + b"\nthree"
    first, problem, last = chunks(data)
    assert (first.first, last.first, last.data) == (1, 3, b"three")
    assert (problem.code, problem.line) == ("line_too_long", 2)
    assert [type(it) for it in chunks(data, Shard(1, 2))] == [Chunk, Chunk]
    assert [type(it) for it in chunks(data, Shard(2, 2))] == [Problem]


@pytest.mark.parametrize("length", [1, 31, 32, 33, 1000])
def test_chunks_do_not_depend_on_the_pace_of_a_stream(length):
    data = "".join(json.dumps({"id": str(i)}) + "\n" for i in range(length)).encode()

    class Slow(io.RawIOBase):
        at = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            count = min(3, len(data) - self.at)
            buffer[:count] = data[self.at : self.at + count]
            self.at += count
            return count

    blocks = read_blocks(io.BufferedReader(Slow()), hashlib.sha256())
    slow = list(cut(blocks, Shard()))
    assert slow == chunks(data)
