"""Random streams keyed by a hash of their name, so that two uses never share numbers.

``Random(seed + index)`` makes neighbouring seeds overlap: item 1 of seed 42 is item 0 of seed 43.
Here a `Stream` has a name (release, task, parameters, seed, index ...). The SHA-256 of the name is
its key, and its numbers are BLAKE2b blocks of that key and a counter. `QuickStream` uses a
different key and different blocks; see its docstring. Apart from `canonical_json`, which writes the
name, this file is the complete definition, so a frozen release does not depend on any library's
generator.
"""

import hashlib
from collections.abc import Callable, MutableSequence, Sequence
from struct import Struct
from typing import Any, ClassVar, Protocol, Self, TypeVar

from scbench.base.canonical import canonical_json

T = TypeVar("T")

# Bits of a BLAKE2b digest.
_BLOCK_BITS = 512
# Spacing of the floats in [0, 1): a double has 53 significant bits.
_UNIT = 2.0**-53
_MASK_53 = (1 << 53) - 1
# One 32-bit word is enough for smaller ranges: the chances of two numbers then differ by less than
# one part in 4,000. Larger ranges use more bits.
_WORD_LIMIT = 1_000_000
# Cuts a block into sixteen 32-bit words.
_block_words = Struct("<16I").unpack
_blake2b = hashlib.blake2b


class BitSource(Protocol):
    """Anything that yields random bits: a `Stream`, or the standard library's ``Random``."""

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits."""
        ...


class Stream:
    """Deterministic random numbers, named by JSON values.

    Equal names give equal streams on every machine and Python version; different names give
    unrelated streams.

    >>> Stream("docs", 1).below(100), Stream("docs", 1).below(100), Stream("docs", 2).below(100)
    (84, 84, 34)
    """

    # `_bits` contains the unread bits, the next one lowest; `_unread` is their number.
    __slots__ = ("_bits", "_counter", "_key", "_unread")

    # Turns a name into a key. `Streams` starts it with the common part of many names.
    hash_of_name: ClassVar[Callable[[bytes], Any]] = hashlib.sha256

    def __init__(self, *name: object) -> None:
        self._key = hashlib.sha256(canonical_json(list(name)).encode()).digest()
        self._counter = 0
        self._bits = 0
        self._unread = 0

    @classmethod
    def keyed(cls, key: bytes) -> Self:
        """Return the stream of a key, which is the SHA-256 of its name."""
        stream = cls.__new__(cls)
        stream._key = key
        stream._counter = 0
        stream._bits = 0
        stream._unread = 0
        return stream

    def _fill(self, k: int) -> None:
        """Append blocks to the unread bits until there are at least ``k``."""
        while self._unread < k:
            block = _blake2b(
                self._counter.to_bytes(8, "little"), key=self._key
            ).digest()
            self._bits |= int.from_bytes(block, "little") << self._unread
            self._unread += _BLOCK_BITS
            self._counter += 1

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits, ``k`` at least 0."""
        if self._unread < k:
            self._fill(k)
        bits = self._bits
        self._bits = bits >> k
        self._unread -= k
        return bits & ((1 << k) - 1)

    # `below`, `chance`, `shuffle` and `sample` repeat the body of getrandbits instead of calling
    # it, because builders spend half their time here. A test compares all methods with their plain
    # definitions.

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1, each equally likely. ``n`` must be at least 1."""
        if n < 1:
            raise ValueError(f"below() needs n of at least 1, got {n}")
        k = (n - 1).bit_length()
        mask = (1 << k) - 1
        while True:
            if self._unread < k:
                self._fill(k)
            bits = self._bits
            self._bits = bits >> k
            self._unread -= k
            value = bits & mask
            if value < n:
                return value

    def several(self, n: int, k: int) -> list[int]:
        """Return the results of ``k`` calls of ``below(n)``."""
        return [self.below(n) for _ in range(k)]

    def between(self, low: int, high: int) -> int:
        """Return an integer in low..high, both ends included."""
        return low + self.below(high - low + 1)

    def unit(self) -> float:
        """Return a float in [0, 1), a multiple of 2**-53."""
        return self.getrandbits(53) * _UNIT

    def uniform(self, low: float, high: float) -> float:
        """Return a float in [low, high)."""
        return low + (high - low) * self.unit()

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        if self._unread < 53:
            self._fill(53)
        bits = self._bits
        self._bits = bits >> 53
        self._unread -= 53
        return (bits & _MASK_53) * _UNIT < probability

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """Return one of the items with probabilities proportional to integer weights."""
        # Picture the items as segments of a line, each as long as its weight; the mark is a point
        # on it.
        mark = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            mark -= weight
            if mark < 0:
                return item
        raise AssertionError("unreachable: the mark lies below the sum of weights")

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle the items in place; every order is equally likely."""
        bits = self._bits
        unread = self._unread
        for i in range(len(items) - 1, 0, -1):
            # j = self.below(i + 1), with the state in local variables for speed.
            k = i.bit_length()
            mask = (1 << k) - 1
            while True:
                if unread < k:
                    self._bits, self._unread = bits, unread
                    self._fill(k)
                    bits, unread = self._bits, self._unread
                j = bits & mask
                bits >>= k
                unread -= k
                if j <= i:
                    break
            items[i], items[j] = items[j], items[i]
        self._bits, self._unread = bits, unread

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different items in random order."""
        n = len(items)
        if not 0 <= k <= n:
            raise ValueError(f"cannot take {k} of {n} items")
        # The first k steps of a shuffle from the front. Only swapped positions are stored, so the
        # cost does not depend on n: swaps[p] is the index of the item that is now at position p.
        swaps: dict[int, int] = {}
        sample: list[T] = []
        bits = self._bits
        unread = self._unread
        for i in range(k):
            # j = self.below(highest + 1), with the state in local variables for speed.
            highest = n - i - 1
            width = highest.bit_length()
            mask = (1 << width) - 1
            while True:
                if unread < width:
                    self._bits, self._unread = bits, unread
                    self._fill(width)
                    bits, unread = self._bits, self._unread
                j = bits & mask
                bits >>= width
                unread -= width
                if j <= highest:
                    break
            position = i + j
            sample.append(items[swaps.get(position, position)])
            # Position i is never read again, so only the other half of the swap is stored.
            swaps[position] = swaps.get(i, i)
        self._bits, self._unread = bits, unread
        return sample


class QuickStream(Stream):
    """A stream that uses 32 bits for most numbers, for builders of many small cases.

    It is about three times as fast as `Stream`, and gives different numbers for the same name.
    Block 0 is the key, which is the BLAKE2b of the name. Block c, for c = 1, 2 and so on, is the
    BLAKE2b of c with that key. A block is cut into sixteen words, least significant first, which
    are used from the last to the first. An integer below n is drawn as n times a word, divided by
    2**32 and rounded down; the relative error of each value's probability is less than n / 2**32.
    A range of `_WORD_LIMIT` numbers or more, and a float from `unit` or `uniform`, use several
    words.
    """

    # The unread words. `_bits` and `_unread` are never set: every method that reads them is
    # overridden here.
    __slots__ = ("_ready",)

    hash_of_name = _blake2b

    def __init__(self, *name: object) -> None:
        self._key = _blake2b(canonical_json(list(name)).encode()).digest()
        self._counter = 1
        self._ready = list(_block_words(self._key))

    @classmethod
    def keyed(cls, key: bytes) -> Self:
        """Return the stream of a key, which is the BLAKE2b of its name."""
        stream = cls.__new__(cls)
        stream._key = key
        stream._counter = 1
        stream._ready = list(_block_words(key))
        return stream

    def _refill(self) -> list[int]:
        """Load the words of the next block; only called if no word is unread."""
        block = _blake2b(self._counter.to_bytes(8, "little"), key=self._key).digest()
        self._counter += 1
        self._ready = list(_block_words(block))
        return self._ready

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits; spare bits of the last word are discarded."""
        value = 0
        for shift in range(0, k, 32):
            # The list is the one in `_ready`, so pop() consumes the word. This line is repeated
            # below because a call would cost as much as the draw.
            words = self._ready or self._refill()
            value |= words.pop() << shift
        return value & ((1 << k) - 1)

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1, almost uniform (see the class). ``n`` must be at least 1."""
        if not 0 < n < _WORD_LIMIT:
            return self._below_any(n)
        words = self._ready or self._refill()
        return words.pop() * n >> 32

    def _below_any(self, n: int) -> int:
        """Return an integer in 0..n-1 for any ``n`` of at least 1."""
        if n < 1:
            raise ValueError(f"below() needs n of at least 1, got {n}")
        # With 64 bits more than n has, the bias is negligible.
        bits = n.bit_length() + 64
        return self.getrandbits(bits) * n >> bits

    def between(self, low: int, high: int) -> int:
        """Return an integer in low..high, both ends included."""
        n = high - low + 1
        if not 0 < n < _WORD_LIMIT:
            return low + self._below_any(n)
        words = self._ready or self._refill()
        return low + (words.pop() * n >> 32)

    def chance(self, probability: float) -> bool:
        """Return True with the given probability, rounded up to a multiple of 2**-32."""
        words = self._ready or self._refill()
        return words.pop() < probability * 2.0**32

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, each almost equally likely (see the class)."""
        # No test of `_WORD_LIMIT` here and in `shuffle`: collections are expected to be shorter.
        words = self._ready or self._refill()
        return items[words.pop() * len(items) >> 32]

    def several(self, n: int, k: int) -> list[int]:
        """Return the results of ``k`` calls of ``below(n)``."""
        if not 0 < n < _WORD_LIMIT:
            return super().several(n, k)
        return [word * n >> 32 for word in self._words(k)]

    def _words(self, k: int) -> list[int]:
        """Return the next ``k`` words, in the order in which single draws would use them."""
        words: list[int] = []
        while len(words) < k:
            ready = self._ready or self._refill()
            missing = k - len(words)
            start = max(0, len(ready) - missing)
            # pop() would take the last word first.
            words += reversed(ready[start:])
            del ready[start:]
        return words

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle the items in place; every order is almost equally likely."""
        for i in range(len(items) - 1, 0, -1):
            words = self._ready or self._refill()
            j = words.pop() * (i + 1) >> 32
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different items in random order."""
        n = len(items)
        if not 0 <= k <= n:
            raise ValueError(f"cannot take {k} of {n} items")
        if 2 * k * k <= n:
            # So few positions out of so many are all different in 3 of 4 tries: draw until they
            # are. That is faster than copying the items.
            while True:
                places = self.several(n, k)
                if len(set(places)) == k:
                    return [items[place] for place in places]
        pool = list(items)
        for i, word in enumerate(self._words(k)):
            j = i + (word * (n - i) >> 32)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]


class Streams:
    """Streams whose names differ only in the last part: the common part is hashed once.

    >>> Streams("docs").of(2).below(100) == Stream("docs", 2).below(100)
    True
    """

    __slots__ = ("_kind", "_prefix_hash")

    def __init__(self, *name: object, kind: type[Stream] = Stream) -> None:
        # The canonical JSON of the name up to its last part: a 0 replaces that part and is cut off.
        prefix = canonical_json([*name, 0]).removesuffix("0]")
        self._prefix_hash = kind.hash_of_name(prefix.encode())
        self._kind = kind

    def of(self, last: int) -> Stream:
        """Return the stream named ``(*name, last)``."""
        name_hash = self._prefix_hash.copy()
        name_hash.update(b"%d]" % last)
        return self._kind.keyed(name_hash.digest())
