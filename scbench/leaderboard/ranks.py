"""Ranks with their uncertainty: which models of a board can be told apart.

Models are compared answer by answer over the same instances, by the test of
`scbench.analysis.sign_flips`, corrected over all pairs of a board: with a chance of 95 % no two
models that are alike are told apart anywhere on it, however many models there are.

A model's rank is one more than the number of models that are better beyond chance, so tied models
share a rank. Its range runs from there to the number of models that are not worse beyond chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scbench.analysis.sign_flips import DRAWS, EXACT, draws_within, signs
from scbench.base.intervals import LEVEL, Floats

_CHUNK = 256
_SAME = 1e-6
"""Models whose scores differ by no more have the same scores, up to rounding."""

Truths = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]
_FloatsT = TypeVar("_FloatsT", npt.NDArray[np.float32], npt.NDArray[np.float64])


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
    if not len(first):
        return better
    statistics = (total[first] - total[second]) / spread
    draw_sums = signs(len(sums), draws, seed) @ sums
    scale = np.zeros((models, models))
    scale[first, second] = 1 / spread
    apart = _beyond_chance(
        np.abs(statistics), first, second, _LargestOfDraws(draw_sums, scale), len(sums)
    )
    for a, b, value in zip(first[apart], second[apart], statistics[apart], strict=True):
        better[(a, b) if value > 0 else (b, a)] = True
    return better


def _beyond_chance(
    statistics: Floats, first: Places, second: Places, largest: "_LargestOfDraws", answers: int
) -> Truths:
    """Return which pairs are told apart by the step-down of `scbench.analysis.sign_flips`.

    All pairs above the limit of those that are left are taken out, until none is: the same pairs
    as one at a time, since a limit only falls.
    """
    rank = draws_within(1 - LEVEL, len(largest), answers)
    apart = np.zeros(len(statistics), dtype=bool)
    while rank >= 0 and not apart.all():
        above = ~apart & (statistics - EXACT > largest.limit(rank))
        if not above.any():
            break
        apart |= above
        largest.leave_out(first[above], second[above])
    return apart


class _LargestOfDraws:
    """The largest statistic of all pairs in each draw, worked out where it decides.

    Args:
        sums: of shape (draws, models): the models' sums of a draw.
        scale: of shape (models, models): by what the difference of a pair is multiplied; 0 leaves
            the pair out, and where the first model is not the one further up.
    """

    def __init__(self, sums: Floats, scale: Floats) -> None:
        self._sums, self._scale = sums, scale
        rough = _largest(sums.astype(np.float32), scale.astype(np.float32))
        error = 8 * np.finfo(np.float32).eps * np.abs(sums).max() * scale.max()
        self._bound = rough.astype(np.float64) + error
        """No draw's largest is above this."""

    def __len__(self) -> int:
        return len(self._sums)

    def leave_out(self, first: Places, second: Places) -> None:
        """Leave out pairs."""
        self._scale[first, second] = 0

    def limit(self, rank: int) -> float:
        """Return what is exceeded by the largest statistic of so many draws."""
        order = np.argsort(-self._bound, kind="stable")
        done, tried = 0, min(2 * rank + 2, len(order))
        while True:
            new = order[done:tried]
            self._bound[new] = _largest(self._sums[new], self._scale)
            limit = np.sort(self._bound[order[:tried]])[-(rank + 1)]
            if tried == len(order) or limit >= self._bound[order[tried]]:
                return float(limit)
            done, tried = tried, min(2 * tried, len(order))


def _largest(sums: _FloatsT, scale: _FloatsT) -> _FloatsT:
    """Return the largest scaled difference of each draw, 0 without a pair; shape (draws,)."""
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
