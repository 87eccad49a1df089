"""Random streams: their fixed definition, and the properties of their numbers."""

import hashlib
import struct

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scbench.base.canonical import canonical_json
from scbench.base.seeding import QuickStream, Stream, Streams

NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PARAMS = st.dictionaries(st.text(), st.integers(), max_size=3)
NAMES = st.lists(st.none() | st.booleans() | NUMBER | st.text() | PARAMS, max_size=4)


# The definition.


def test_golden_draws():
    stream = Stream("golden", 1)
    assert [stream.below(100) for _ in range(8)] == [49, 96, 77, 0, 60, 18, 92, 74]
    assert [stream.between(-5, 5) for _ in range(8)] == [-4, -1, 2, -5, 5, 3, -1, -5]
    assert [stream.unit() for _ in range(2)] == [
        0.14229958903610818,
        0.6173891939752887,
    ]
    assert [stream.uniform(-2, 3) for _ in range(2)] == [
        0.7488532499413036,
        2.420090692339679,
    ]
    assert [stream.chance(0.3) for _ in range(8)] == [
        False, True, False, True, False, False, False, True,
    ]  # fmt: skip
    assert "".join(stream.choice("abcdef") for _ in range(8)) == "edaefcfd"
    assert "".join(stream.weighted("abc", [1, 2, 5]) for _ in range(8)) == "bccaccab"
    assert stream.sample(range(20), 6) == [14, 2, 0, 13, 8, 7]
    items = list(range(10))
    stream.shuffle(items)
    assert items == [3, 4, 7, 1, 0, 8, 6, 9, 5, 2]
    assert stream.getrandbits(700) % 10**12 == 788994751489


@given(st.lists(st.integers(0, 700), max_size=20))
def test_bits_are_blake2b_blocks_under_the_names_sha256_lowest_first(widths):
    key = hashlib.sha256('["näme",[1,2.5],{"a":null,"b":true}]'.encode()).digest()
    data = b""
    for number in range(sum(widths) // 512 + 1):
        data += hashlib.blake2b(number.to_bytes(8, "little"), key=key).digest()
    bits = int.from_bytes(data, "little")
    stream = Stream("näme", [1, 2.5], {"b": True, "a": None})
    for width in widths:
        assert stream.getrandbits(width) == bits % 2**width
        bits >>= width


# Names.


@given(NAMES, NAMES)
def test_equal_names_give_equal_streams_and_others_do_not(one, other):
    words = Stream(*one).getrandbits(128)
    assert Stream(*one).getrandbits(128) == words
    assume(canonical_json(one) != canonical_json(other))
    assert Stream(*other).getrandbits(128) != words


@pytest.mark.parametrize(
    "draw",
    [
        lambda s: s.below(0),
        lambda s: s.below(-3),
        lambda s: s.between(1, 0),
        lambda s: s.choice([]),
        lambda s: s.sample([1, 2], 3),
        lambda s: s.weighted([], []),
        lambda s: s.weighted("ab", [0, 0]),
        lambda s: s.getrandbits(-1),
    ],
)
def test_draws_from_nothing_are_refused(draw):
    with pytest.raises(ValueError):
        draw(Stream("nothing"))


# Streams made quickly, and the one that takes fewer bits.


@pytest.mark.parametrize("kind", [Stream, QuickStream])
def test_streams_with_a_common_prefix_use_their_whole_names(kind):
    family = Streams("case", "t", 1, {"a": 0.5, "b": "ü"}, kind=kind)
    for last in (0, 7, 10**18, -3):
        one, other = family.of(last), kind("case", "t", 1, {"a": 0.5, "b": "ü"}, last)
        assert type(one) is kind
        for _ in range(40):
            assert one.below(1000) == other.below(1000)
        assert one.unit() == other.unit()


class Plain(Stream):
    """The plain definitions of the code that is optimized for speed."""

    def below(self, n):
        value = self.getrandbits((n - 1).bit_length())
        while value >= n:
            value = self.getrandbits((n - 1).bit_length())
        return value

    def chance(self, probability):
        return self.unit() < probability

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items, k):
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]


@given(name=st.integers(), sizes=st.lists(st.integers(1, 700), min_size=1, max_size=12))
def test_optimized_code_keeps_its_definition(name, sizes):
    plain, quick = Plain(name), Stream(name)
    for n in sizes:
        assert plain.below(n) == quick.below(n)
        assert plain.several(n, 3) == quick.several(n, 3)
        assert plain.chance(0.3) == quick.chance(0.3)
        first, second = list(range(n)), list(range(n))
        plain.shuffle(first)
        quick.shuffle(second)
        assert first == second
        for k in {0, 1, n // 20, n // 2, n}:
            assert plain.sample(range(n), k) == quick.sample(range(n), k)
    assert plain.getrandbits(700) == quick.getrandbits(700)


def test_golden_draws_of_the_quick_stream():
    stream = QuickStream("golden", 1)
    assert [stream.below(100) for _ in range(8)] == [5, 69, 43, 49, 77, 88, 70, 26]
    assert [stream.chance(0.3) for _ in range(6)] == [
        True,
        False,
        False,
        True,
        False,
        False,
    ]
    assert stream.sample(range(20), 6) == [17, 7, 1, 10, 9, 14]
    assert stream.sample(range(500), 5) == [177, 371, 199, 426, 30]
    assert stream.several(7, 20) == [
        1,
        1,
        3,
        2,
        2,
        0,
        3,
        0,
        4,
        1,
        1,
        3,
        5,
        5,
        3,
        1,
        2,
        2,
        6,
        3,
    ]
    assert stream.getrandbits(70) == 817767423802353660463
    assert stream.below(10**12) == 261695644673


def test_words_of_the_quick_stream_are_the_names_blake2b_and_blocks_under_it():
    key = hashlib.blake2b(b'["quick",1]').digest()
    blocks = [key]
    for number in range(1, 4):
        block = hashlib.blake2b(number.to_bytes(8, "little"), key=key).digest()
        blocks.append(block)
    words = []
    for block in blocks:
        # The last word of a block is taken first.
        words += reversed(struct.unpack("<16I", block))
    # 64 draws take all 64 words of the four blocks.
    stream = QuickStream("quick", 1)
    taken = [*stream.several(10, 5), stream.below(10), *stream.several(10, 50)]
    taken += [stream.between(0, 9) for _ in range(8)]
    assert taken == [word * 10 >> 32 for word in words]


@given(name=st.integers(), n=st.integers(1, 2**40), k=st.integers(0, 40))
def test_quick_stream_keeps_its_promises(name, n, k):
    stream = QuickStream(name)
    assert 0 <= stream.below(n) < n
    one, other = QuickStream(name, 1), QuickStream(name, 1)
    assert one.several(n, k) == [other.below(n) for _ in range(k)]
    assert one.between(-k, n - k - 1) == other.below(n) - k
    few = min(n, 60)
    chosen = stream.sample(range(few), min(k, few))
    assert len(set(chosen)) == len(chosen) == min(k, few)
    items = list(range(few))
    stream.shuffle(items)
    assert sorted(items) == list(range(few))
    assert 0 <= stream.getrandbits(k) < 2**k
    assert 0 <= stream.unit() < 1
    assert not stream.chance(0)
    assert stream.chance(1)
