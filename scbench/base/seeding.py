"""Random streams derived by hash, so that no two places ever share numbers by accident.

``Random(seed + index)`` makes neighbouring seeds the same test: item 1 of seed 42 is item 0 of seed
43. Here a stream's key is the SHA-256 of everything that names it (release, task, parameters, seed,
index ...), and its numbers are BLAKE2b blocks of that key and a counter. The definition is ours and
complete in this file, so a frozen release does not depend on any library's generator.
"""

import hashlib
from collections.abc import Callable, MutableSequence, Sequence
from struct import Struct
from typing import Any, ClassVar, Protocol, Self, TypeVar

from scbench.base.canonical import canonical_json

T = TypeVar("T")

_BLOCK_BITS = 512
_UNIT = 2.0**-53
_MOST_QUICK = 1_000_000
_SIXTEEN = Struct("<16I").unpack
_MASK_53 = (1 << 53) - 1
_blake2b = hashlib.blake2b


class BitSource(Protocol):
    """Anything that yields random bits: a `Stream`, or the standard library's ``Random``."""

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits."""
        ...


class Stream:
    """Deterministic random numbers named by the JSON values given.

    Equal names give equal streams on every machine and Python version; names that differ in
    anything give unrelated ones.

    >>> Stream("docs", 1).below(100), Stream("docs", 1).below(100), Stream("docs", 2).below(100)
    (84, 84, 34)
    """

    __slots__ = ("_bits", "_counter", "_key", "_spare")

    hash_of_name: ClassVar[Callable[[bytes], Any]] = hashlib.sha256
    """Begins the hash whose digest is the key."""

    def __init__(self, *name: object) -> None:
        self._key = hashlib.sha256(canonical_json(list(name)).encode()).digest()
        self._counter = 0
        self._bits = 0
        self._spare = 0

    @classmethod
    def keyed(cls, key: bytes) -> Self:
        """Return the stream of a key, which is the SHA-256 of its name."""
        stream = cls.__new__(cls)
        stream._key = key
        stream._counter = stream._bits = stream._spare = 0
        return stream

    def _fill(self, k: int) -> None:
        """Append blocks until there are ``k`` bits."""
        while self._spare < k:
            block = _blake2b(
                self._counter.to_bytes(8, "little"), key=self._key
            ).digest()
            self._bits |= int.from_bytes(block, "little") << self._spare
            self._spare += _BLOCK_BITS
            self._counter += 1

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits, ``k`` at least 0."""
        if self._spare < k:
            self._fill(k)
        bits = self._bits
        self._bits = bits >> k
        self._spare -= k
        return bits & ((1 << k) - 1)

    # What follows could all be said by getrandbits and below. It is written out because builders
    # spend half their time here; a test compares it with the plain definitions.

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1, each equally likely. ``n`` must be at least 1."""
        if n < 1:
            raise ValueError(f"below() needs n of at least 1, got {n}")
        k = (n - 1).bit_length()
        mask = (1 << k) - 1
        while True:
            if self._spare < k:
                self._fill(k)
            bits = self._bits
            self._bits = bits >> k
            self._spare -= k
            value = bits & mask
            if value < n:
                return value

    def several(self, n: int, k: int) -> list[int]:
        """Return ``k`` integers in 0..n-1: what `below` gives when called so often."""
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
        if self._spare < 53:
            self._fill(53)
        bits = self._bits
        self._bits = bits >> 53
        self._spare -= 53
        return (bits & _MASK_53) * _UNIT < probability

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[int]) -> T:
        """Return one of the items with chances in proportion to whole-number weights."""
        mark = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            mark -= weight
            if mark < 0:
                return item
        raise AssertionError("unreachable: the mark lies below the sum of weights")

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle the items in place; every order is equally likely."""
        bits, count = self._bits, self._spare
        for i in range(len(items) - 1, 0, -1):
            k = i.bit_length()
            mask = (1 << k) - 1
            while True:
                if count < k:
                    self._bits, self._spare = bits, count
                    self._fill(k)
                    bits, count = self._bits, self._spare
                j = bits & mask
                bits >>= k
                count -= k
                if j <= i:
                    break
            items[i], items[j] = items[j], items[i]
        self._bits, self._spare = bits, count

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different items in random order."""
        n = len(items)
        if not 0 <= k <= n:
            raise ValueError(f"cannot take {k} of {n} items")
        # The first k steps of a shuffle from the front; only what was moved is remembered.
        swaps: dict[int, int] = {}
        sample: list[T] = []
        bits, count = self._bits, self._spare
        for i in range(k):
            highest = n - i - 1
            size = highest.bit_length()
            mask = (1 << size) - 1
            while True:
                if count < size:
                    self._bits, self._spare = bits, count
                    self._fill(size)
                    bits, count = self._bits, self._spare
                j = bits & mask
                bits >>= size
                count -= size
                if j <= highest:
                    break
            j += i
            sample.append(items[swaps.get(j, j)])
            swaps[j] = swaps.get(i, i)
        self._bits, self._spare = bits, count
        return sample


class QuickStream(Stream):
    """A stream that takes 32 bits for most numbers, for builders of many small cases.

    Same names, other numbers: the key is the BLAKE2b of the name, and is the first block itself;
    the others are blocks of the key and a counter from 1. A block is cut into sixteen words, least
    first, which are used from the last to the first. An integer below n is the product of n and a
    word over 2**32, so that none is favoured by more than n / 2**32; from `_MOST_QUICK` on, and for
    floats, more words are taken. About three times as quick.
    """

    __slots__ = ("_ready",)

    hash_of_name = _blake2b

    def __init__(self, *name: object) -> None:
        self._key = _blake2b(canonical_json(list(name)).encode()).digest()
        self._counter = 1
        self._ready = [*_SIXTEEN(self._key)]

    @classmethod
    def keyed(cls, key: bytes) -> Self:
        """Return the stream of a key, which is the BLAKE2b of its name."""
        stream = cls.__new__(cls)
        stream._key = key
        stream._counter = 1
        stream._ready = [*_SIXTEEN(key)]
        return stream

    def _refill(self) -> list[int]:
        block = _blake2b(self._counter.to_bytes(8, "little"), key=self._key).digest()
        self._counter += 1
        self._ready = [*_SIXTEEN(block)]
        return self._ready

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits; whole words are used up."""
        value = 0
        for shift in range(0, k, 32):
            value |= (self._ready or self._refill()).pop() << shift
        return value & ((1 << k) - 1)

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1, each equally likely. ``n`` must be at least 1."""
        if not 0 < n < _MOST_QUICK:
            return self._far_below(n)
        return (self._ready or self._refill()).pop() * n >> 32

    def _far_below(self, n: int) -> int:
        if n < 1:
            raise ValueError(f"below() needs n of at least 1, got {n}")
        return self.getrandbits(n.bit_length() + 64) * n >> (n.bit_length() + 64)

    def between(self, low: int, high: int) -> int:
        """Return an integer in low..high, both ends included."""
        n = high - low + 1
        if not 0 < n < _MOST_QUICK:
            return low + self._far_below(n)
        return low + ((self._ready or self._refill()).pop() * n >> 32)

    def chance(self, probability: float) -> bool:
        """Return True with the given probability, to 32 bits."""
        return (self._ready or self._refill()).pop() < probability * 4294967296.0

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, each equally likely."""
        return items[(self._ready or self._refill()).pop() * len(items) >> 32]

    def several(self, n: int, k: int) -> list[int]:
        """Return ``k`` integers in 0..n-1: what `below` gives when called so often."""
        if not 0 < n < _MOST_QUICK:
            return super().several(n, k)
        return [word * n >> 32 for word in self._words(k)]

    def _words(self, k: int) -> list[int]:
        ready = self._ready
        words = ready[: -k - 1 : -1]
        del ready[-k or len(ready) :]
        while len(words) < k:
            missing = k - len(words)
            ready = self._refill()
            words += ready[: -missing - 1 : -1]
            del ready[-missing:]
        return words

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle the items in place; every order is equally likely."""
        for i in range(len(items) - 1, 0, -1):
            j = (self._ready or self._refill()).pop() * (i + 1) >> 32
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different items in random order."""
        n = len(items)
        if not 0 <= k <= n:
            raise ValueError(f"cannot take {k} of {n} items")
        while 2 * k * k <= n:  # few of many are mostly different at the first go
            places = self.several(n, k)
            if len({*places}) == k:
                return [items[place] for place in places]
        pool = list(items)
        for i, word in enumerate(self._words(k)):
            j = i + (word * (n - i) >> 32)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]


class Streams:
    """Streams whose names begin alike, made quickly: the common part is hashed once.

    >>> Streams("docs").of(2).below(100) == Stream("docs", 2).below(100)
    True
    """

    __slots__ = ("_begun", "_kind")

    def __init__(self, *name: object, kind: type[Stream] = Stream) -> None:
        text = canonical_json([*name, 0])
        self._begun = kind.hash_of_name(text.removesuffix("0]").encode())
        self._kind = kind

    def of(self, last: int) -> Stream:
        """Return the stream of this name with a number at its end."""
        hashed = self._begun.copy()
        hashed.update(b"%d]" % last)
        return self._kind.keyed(hashed.digest())
