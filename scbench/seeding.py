"""Random streams derived by hash, so that no two places ever share numbers by accident.

``Random(seed + index)`` makes neighbouring seeds the same test: item 1 of seed 42 is item 0 of seed
43. Here a stream's key is the SHA-256 of everything that names it (release, task, parameters, seed,
index ...), and its numbers are BLAKE2b blocks of that key and a counter. The definition is ours and
complete in this file, so a frozen release does not depend on any library's generator.
"""

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import Protocol, TypeVar

from scbench.canonical import canonical_json

T = TypeVar("T")

_BLOCK_BITS = 512
_UNIT = 2.0**-53


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

    __slots__ = ("_bits", "_counter", "_key", "_left")

    def __init__(self, *name: object) -> None:
        self._key = hashlib.sha256(canonical_json(list(name)).encode()).digest()
        self._counter = 0
        self._bits = 0
        self._left = 0

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits, ``k`` at least 0."""
        while self._left < k:
            block = hashlib.blake2b(self._counter.to_bytes(8, "little"), key=self._key).digest()
            self._bits |= int.from_bytes(block, "little") << self._left
            self._left += _BLOCK_BITS
            self._counter += 1
        value = self._bits & ((1 << k) - 1)
        self._bits >>= k
        self._left -= k
        return value

    def below(self, n: int) -> int:
        """Return an integer in 0..n-1, each equally likely. ``n`` must be at least 1."""
        if n < 1:
            raise ValueError(f"below() needs n of at least 1, got {n}")
        k = (n - 1).bit_length()
        value = self.getrandbits(k)
        while value >= n:
            value = self.getrandbits(k)
        return value

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
        return self.unit() < probability

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
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different items in random order."""
        if not 0 <= k <= len(items):
            raise ValueError(f"cannot take {k} of {len(items)} items")
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]
