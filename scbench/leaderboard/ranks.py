"""Ranks with their uncertainty: which models of a board can be told apart.

Models are compared answer by answer over the same instances, by the test of
`scbench.analysis.sign_flips`, corrected over all pairs of a board: with a chance of 95 % no two
models that are alike are told apart anywhere on it, however many models there are.

A model's rank is one more than the number of models that are better beyond chance, so tied models
share a rank. Its range runs from there to the number of models that are not worse beyond chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scbench.analysis.sign_flips import DRAWS, adjusted, signs
from scbench.intervals import LEVEL, Floats

_CHUNK = 500
_SAME = 1e-6
"""Models whose scores differ by no more have the same scores, up to rounding."""

_ROUNDING = 1e-12

Truths = npt.NDArray[np.bool_]


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
    found = (total[first] - total[second]) / spread
    drawn = signs(len(sums), draws, seed) @ sums

    def sizes() -> Iterator[Floats]:
        for start in range(0, len(drawn), _CHUNK):
            part = drawn[start : start + _CHUNK]
            yield np.abs(part[:, first] - part[:, second]) / spread

    apart = adjusted(np.abs(found), sizes(), len(sums)) <= 1 - LEVEL + _ROUNDING
    for a, b, value in zip(first[apart], second[apart], found[apart], strict=True):
        better[(a, b) if value > 0 else (b, a)] = True
    return better
