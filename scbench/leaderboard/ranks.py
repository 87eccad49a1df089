"""Ranks with their uncertainty: which models of a board can be told apart.

Models are compared score by score over the same instances. Under the hypothesis that two models are
alike, each instance could as well have gone the other way round: the signs of the differences are
random. `DRAWS` draws of such signs, the same for all pairs of models and for all scores of one
answer, show how large the largest difference of a whole board gets by chance (each divided by the
root of the pair's summed squares). What exceeds its 95 % quantile is told apart; the
rest is tested again without those pairs, until nothing more comes off (a step-down test, after
Romano and Wolf). So with a chance of 95 % no two models that are alike are told apart anywhere on
the board, however many models there are. For one pair of right-or-wrong scores this is McNemar's
exact test.

A model's rank is one more than the number of models that are better beyond chance, so tied models
share a rank. Its range runs from there to the number of models that are not worse beyond chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scbench.analysis.resample import Floats
from scbench.seeding import Stream

DRAWS = 10_000
LEVEL = 0.95
_CHUNK = 500
_EXACT = 1e-9
_SAME = 1e-6
"""Models whose scores differ by no more have the same scores, up to rounding."""

Truths = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a model stands.

    Attributes:
        rank: one more than the number of models that are better beyond chance.
        low: the best rank it may have; the same as `rank`.
        high: the worst rank it may have.
    """

    rank: int
    low: int
    high: int


def ranks(scores: Floats, answers: Sequence[str], draws: int = DRAWS, seed: int = 0) -> list[Rank]:
    """Return the rank of each model.

    Args:
        scores: of shape (scores, models), each the mean over a model's samples; none missing.
        answers: what each score is of; scores of the same answer are not independent.
        draws: how many draws of signs.
        seed: another seed gives other draws.
    """
    models = scores.shape[1]
    better = told_apart(scores, answers, draws, seed)
    above, below = better.sum(axis=0), better.sum(axis=1)
    return [
        Rank(int(above[i]) + 1, int(above[i]) + 1, models - int(below[i])) for i in range(models)
    ]


def told_apart(scores: Floats, answers: Sequence[str], draws: int, seed: int = 0) -> Truths:
    """Return which models are better than which beyond chance: [i, j] is True if i beats j."""
    models = scores.shape[1]
    better = np.zeros((models, models), dtype=bool)
    first, second = np.triu_indices(models, 1)
    if not len(first):
        return better
    places: Mapping[str, int] = {name: i for i, name in enumerate(dict.fromkeys(answers))}
    sums = np.zeros((len(places), models))
    np.add.at(sums, [places[name] for name in answers], scores)
    # Of the pair (a, b), the sum of (a - b)^2 over answers.
    squares = (sums**2).sum(axis=0)
    shared = (sums.T @ sums)[first, second]
    spread = np.sqrt(np.maximum(squares[first] + squares[second] - 2 * shared, 0))
    total = sums.sum(axis=0)
    differ = spread > _SAME
    first, second, spread = first[differ], second[differ], spread[differ]
    found = (total[first] - total[second]) / spread
    drawn = _signs(len(sums), draws, seed) @ sums
    tied = np.ones(len(found), dtype=bool)
    while tied.any():
        chance = _largest(drawn, first[tied], second[tied], spread[tied])
        limit = np.quantile(chance, LEVEL, method="higher")
        new = tied & (np.abs(found) > limit + _EXACT)
        if not new.any():
            break
        tied &= ~new
    for a, b, value in zip(first[~tied], second[~tied], found[~tied], strict=True):
        better[(a, b) if value > 0 else (b, a)] = True
    return better


def _signs(n: int, draws: int, seed: int) -> Floats:
    """Return draws of n signs each, from bits whose stream numpy keeps fixed."""
    bits = np.random.PCG64(Stream("ranks", seed).getrandbits(128))
    words = bits.random_raw(draws * -(-n // 64)).astype("<u8").reshape(draws, -1)
    ones = np.unpackbits(words.view(np.uint8), axis=1)[:, :n]
    return ones.astype(np.float64) * 2 - 1


def _largest(drawn: Floats, first: Places, second: Places, spread: Floats) -> Floats:
    """Return, for each draw, the largest difference of any pair, over the pair's spread."""
    parts = []
    for start in range(0, len(drawn), _CHUNK):
        sums = drawn[start : start + _CHUNK]
        parts.append((np.abs(sums[:, first] - sums[:, second]) / spread).max(axis=1))
    largest: Floats = np.concatenate(parts)
    return largest
