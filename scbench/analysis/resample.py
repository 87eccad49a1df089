"""Seeded bootstrap over scores, stratified by task.

The unit is one score of the release (an instance, or one criterion of an answer that has several);
samples of a run are averaged before. Every resample draws each task's scores anew from that task,
and all runs get the same draws, so differences between runs are paired.

The draws come straight from the raw bits of PCG64, whose stream numpy keeps fixed, so an interval
is the same with every version of numpy and on every machine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from scbench.seeding import Stream

Floats = npt.NDArray[np.float64]

RESAMPLES = 10_000
LEVEL = 0.95
_CHUNK = 1_000
"""Resamples made at a time, to bound memory."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Scores added up, and how many there were; the mean is one over the other.

    Attributes:
        sums: an array of any shape.
        counts: of the same shape.
    """

    sums: Floats
    counts: Floats

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.sums + other.sums, self.counts + other.counts)

    @property
    def means(self) -> Floats:
        """Sums over counts; NaN where nothing was counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = self.sums / self.counts
        return means


def resample(
    scores: Mapping[str, Sums], resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Sums]:
    """Draw from each task's scores with replacement.

    Args:
        scores: by task, arrays of shape (scores of the task, runs): each score summed over the
            samples of a run that have one, and their number.
        resamples: how often to draw.
        seed: another seed gives other draws; each task has a stream of its own.

    Returns:
        By task, arrays of shape (resamples, runs). Tasks can be added up to buckets.
    """
    return {task: _task(task, values, resamples, seed) for task, values in scores.items()}


def _task(task: str, values: Sums, resamples: int, seed: int) -> Sums:
    n, runs = values.sums.shape
    bits = np.random.PCG64(Stream("bootstrap", task, seed).getrandbits(128))
    sums = np.empty((resamples, runs))
    counts = np.broadcast_to(values.counts.sum(axis=0), sums.shape)
    uneven = bool((values.counts != values.counts[:1]).any())
    if uneven:
        counts = np.empty_like(sums)
    for start in range(0, resamples, _CHUNK):
        size = min(_CHUNK, resamples - start)
        drawn = _below(n, size * n, bits).reshape(size, n)
        sums[start : start + size] = values.sums[drawn].sum(axis=1)
        if uneven:
            counts[start : start + size] = values.counts[drawn].sum(axis=1)
    return Sums(sums, counts)


def _below(n: int, count: int, bits: np.random.PCG64) -> npt.NDArray[np.int64]:
    """Return numbers in [0, n), of 32 random bits each: none is favoured by more than n/2**32."""
    words = bits.random_raw(-(-count // 2)).astype(np.uint64)
    halves = np.concatenate([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)])[:count]
    return ((halves * np.uint64(n)) >> np.uint64(32)).astype(np.int64)


def interval(draws: Floats, level: float = LEVEL) -> tuple[float, float] | tuple[None, None]:
    """Return the percentile interval of bootstrap draws, NaN left out; nothing if none is left."""
    known = draws[~np.isnan(draws)]
    if not known.size:
        return None, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def total(parts: Iterable[Sums]) -> Sums:
    """Add tasks up."""
    return reduce(add, parts)
