"""Ranks of models by their scores, with ranges.

Models are compared by their normalized scores, answer by answer, with the test of
`scbench.analysis.sign_flips` that `scbench compare` uses. The test is corrected over all pairs of a
board: if no models differ, the chance of any significant pair is at most 5 %. A model's rank is one
more than the number of models that are significantly better, so statistical ties share a rank. Its
range goes from there to the number of models that are not significantly worse.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.analysis.sign_flips import DRAWS, EXACT, draws_within, signs
from scbench.base.intervals import LEVEL, Floats

# Draws compared at a time, chosen to fit into the processor's cache.
_CHUNK = 256
# Differences up to this one are rounding errors.
_SAME = 1e-6

Truths = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
# In single or double precision.
AnyFloats = npt.NDArray[Any]


class Rank(NamedTuple):
    """The rank of a model, and its best and worst possible rank."""

    rank: int
    rank_low: int
    rank_high: int


def ranks(scores: Floats, answers: Sequence[str]) -> list[Rank]:
    """Return the rank of each model.

    Args:
        scores: shape (scores, models), none missing.
        answers: the answer of each row of scores; scores of one answer are not
            independent.
    """
    models = scores.shape[1]
    better = significant_pairs(scores, answers, DRAWS)
    better_count = better.sum(axis=0)
    worse_count = better.sum(axis=1)
    model_ranks = []
    for i in range(models):
        rank = int(better_count[i]) + 1
        model_ranks.append(Rank(rank, rank, models - int(worse_count[i])))
    return model_ranks


def significant_pairs(
    scores: Floats, answers: Sequence[str], draws: int, seed: int = 0
) -> Truths:
    """Return the pairs of models that differ significantly.

    Args:
        scores: shape (scores, models), none missing.
        answers: the answer of each row of scores.
        draws: number of draws of signs.
        seed: seed of the draws.

    Returns:
        Shape (models, models); [i, j] is True if i is better than j.
    """
    models = scores.shape[1]
    better = np.zeros((models, models), dtype=bool)
    first, second = np.triu_indices(models, 1)
    if not len(first):
        return better
    sums = sums_by_answer(scores, answers)
    # For each pair (a, b), the root of the sum of (a - b)^2 over answers.
    squares = (sums**2).sum(axis=0)
    shared = (sums.T @ sums)[first, second]
    spread = np.sqrt(np.maximum(squares[first] + squares[second] - 2 * shared, 0))
    total = sums.sum(axis=0)
    # Pairs with equal scores are not compared.
    has_difference = spread > _SAME
    first = first[has_difference]
    second = second[has_difference]
    spread = spread[has_difference]
    if not len(first):
        return better
    statistics = (total[first] - total[second]) / spread
    draw_sums = signs(len(sums), draws, seed) @ sums
    scale = np.zeros((models, models))
    scale[first, second] = 1 / spread
    largest = LargestOfDraws(draw_sums, scale)
    rank = draws_within(1 - LEVEL, len(draw_sums), len(sums))
    is_significant = beyond_chance(np.abs(statistics), first, second, largest, rank)
    winners = np.where(statistics > 0, first, second)
    losers = np.where(statistics > 0, second, first)
    better[winners[is_significant], losers[is_significant]] = True
    return better


def sums_by_answer(scores: Floats, answers: Sequence[str]) -> Floats:
    """Return the sums over the scores of each answer, shape (answers, models)."""
    rows = {name: row for row, name in enumerate(dict.fromkeys(answers))}
    sums = np.zeros((len(rows), scores.shape[1]))
    np.add.at(sums, [rows[name] for name in answers], scores)
    return sums


def beyond_chance(
    statistics: Floats,
    first: Indices,
    second: Indices,
    largest: "LargestOfDraws",
    rank: int,
) -> Truths:
    """Return the pairs that differ by the step-down test of `scbench.analysis.sign_flips`.

    Args:
        statistics: absolute statistics of the pairs, shape (pairs,).
        first: first model of each pair.
        second: second model of each pair.
        largest: largest statistics of the same pairs; changed in place.
        rank: the number of draws that may exceed the limit; negative if too few were drawn.
    """
    is_beyond = np.zeros(len(statistics), dtype=bool)
    # Pairs that differ leave the comparison, which lowers the limit for the remaining pairs.
    while rank >= 0 and not is_beyond.all():
        is_new = ~is_beyond & (statistics - EXACT > largest.limit(rank))
        if not is_new.any():
            break
        is_beyond |= is_new
        largest.leave_out(first[is_new], second[is_new])
    return is_beyond


class LargestOfDraws:
    """The largest statistic of all pairs in each draw, computed exactly only where needed.

    All draws are computed in single precision first, which gives upper bounds.
    """

    def __init__(self, sums: Floats, scale: Floats) -> None:
        """Compute upper bounds of the largest statistics.

        Args:
            sums: shape (draws, models).
            scale: shape (models, models), factors of the pairs' differences. 0 leaves
                out a pair; each pair has a factor only in one order.
        """
        self._sums = sums
        self._scale = scale
        rough = largest_differences(sums.astype(np.float32), scale.astype(np.float32))
        error = 8 * np.finfo(np.float32).eps * np.abs(sums).max() * scale.max()
        # The largest statistic of a draw is never above its bound.
        self._bound = rough.astype(np.float64) + error

    def leave_out(self, first: Indices, second: Indices) -> None:
        """Leave out pairs."""
        self._scale[first, second] = 0

    def limit(self, rank: int) -> float:
        """Return the threshold that the largest statistics of this many draws exceed."""
        order = np.argsort(-self._bound, kind="stable")
        start = 0
        end = min(2 * rank + 2, len(order))
        while True:
            new = order[start:end]
            self._bound[new] = largest_differences(self._sums[new], self._scale)
            limit = np.sort(self._bound[order[:end]])[-(rank + 1)]
            # The bounds of the remaining draws are even lower.
            if end == len(order) or limit >= self._bound[order[end]]:
                return float(limit)
            start = end
            end = min(2 * end, len(order))


def largest_differences(sums: AnyFloats, scale: AnyFloats) -> AnyFloats:
    """Return the largest scaled difference of each draw, shape (draws,); 0 without pairs."""
    largest = np.zeros(len(sums), dtype=sums.dtype)
    for start in range(0, len(sums), _CHUNK):
        part = np.ascontiguousarray(sums[start : start + _CHUNK].T)
        block = largest[start : start + _CHUNK]
        for first, factors in enumerate(scale):
            seconds = np.flatnonzero(factors)
            if len(seconds):
                sizes = part[seconds] - part[first]
                np.abs(sizes, out=sizes)
                sizes *= factors[seconds, None]
                np.maximum(block, sizes.max(axis=0), out=block)
    return largest
