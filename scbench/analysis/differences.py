"""Differences between two runs, answer by answer, and their means over the lines of tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scbench.base.intervals import (
    LEVEL,
    Floats,
    condense_differences,
    difference_interval,
)
from scbench.grading.means import Block


@dataclass(frozen=True, slots=True)
class Paired:
    """Differences between two runs on one task, over the scores that both runs have.

    Attributes:
        answers: numbers of the answers, see `Block.answers`.
        weights: number of scores of each answer.
        first: sum of each answer's scores in the first run.
        second: sum of each answer's scores in the second run.
        u: normalized scores of both runs, of shape (2, answers), see `Block.u`; NaN without room.
        weight: weight of the task in the normalized score.
        guessed: mean floor of a text task's answers with room; else 0.
        is_known: whether the floors of all answers are known.
        is_plain: whether scores replace normalized scores, see `without_floors`.
    """

    answers: npt.NDArray[np.int64]
    weights: Floats
    first: Floats
    second: Floats
    u: Floats
    weight: float
    guessed: float
    is_known: bool
    is_plain: bool = False

    def without_floors(self) -> "Paired":
        """Return scores instead of normalized scores, weighted equally as in the mean."""
        return replace(
            self,
            u=np.stack([self.first, self.second]) / self.weights,
            weight=float(self.weights.sum()),
            guessed=0.0,
            is_known=True,
            is_plain=True,
        )

    @property
    def differences(self) -> Floats:
        """Second minus first, summed by answer."""
        return self.second - self.first

    @property
    def gains(self) -> Floats:
        """Normalized second minus first by answer; NaN without room."""
        gains: Floats = (self.u[1] - self.u[0]) / (1 - self.guessed)
        return gains

    @property
    def room(self) -> npt.NDArray[np.bool_]:
        """Mask of answers with room above their floors."""
        room: npt.NDArray[np.bool_] = ~np.isnan(self.u[0])
        return room


class Difference(NamedTuple):
    """The mean difference over a line, second minus first; None if unknown.

    Attributes:
        n: scores that both runs have.
        first_normalized: normalized score of the first run over these.
        second_normalized: normalized score of the second run.
        difference: difference of these; `low` and `high` are the ends of its interval.
        first_mean: mean of the first run's scores.
        second_mean: mean of the second run's scores.
        of_means: difference of the means; `of_means_low` and `of_means_high` are the
            ends of its interval.
    """

    n: int
    first_normalized: float | None = None
    second_normalized: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    first_mean: float | None = None
    second_mean: float | None = None
    of_means: float | None = None
    of_means_low: float | None = None
    of_means_high: float | None = None


def pair_scores(block: Block, first: int, second: int) -> Paired:
    """Return two runs' scores of a task, answer by answer.

    Samples are averaged first: otherwise unequal numbers of samples would weight items differently
    in the two runs and distort the difference.
    """
    pair = [first, second]
    has_both = (block.counts[:, pair] > 0).all(axis=1)
    common = block.take(np.flatnonzero(has_both))
    ones = np.ones(len(common.sums))
    added = common.per_answer(np.column_stack([ones, common.item_means[:, pair]]))
    # Answers without a common score are left out.
    answers = np.flatnonzero(added[:, 0] > 0)
    weights, first_sums, second_sums = added[answers].T
    u = block.u[answers][:, pair].T
    floors = block.answer_floors[answers][:, pair]
    # Room must be known in both runs.
    has_room = ~np.isnan(u).any(axis=0)
    floor_means = np.zeros(2)
    if block.is_text and has_room.any():
        floor_means = floors[has_room].mean(axis=0)
    guessed = float(floor_means.mean())
    weight = block.weight
    # Without a release's weights, answers with room are weighted equally.
    if weight is None:
        weight = float(has_room.sum()) * (1 - guessed)
    if floor_means[0] != floor_means[1]:
        # Trials may have different numbers of answers.
        u = (u - floor_means[:, None]) / (1 - floor_means[:, None])
        guessed = 0.0
    return Paired(
        answers,
        weights,
        first_sums,
        second_sums,
        u=np.where(has_room, u, np.nan),
        weight=weight if has_room.any() else 0.0,
        guessed=guessed,
        is_known=not np.isnan(floors).any(),
    )


def difference_of(pairs: Sequence[Paired], level: float = LEVEL) -> Difference:
    """Return the mean difference over some tasks, with its interval."""
    pairs = [pair for pair in pairs if len(pair.weights)]
    # Weights count scores, of which an answer may have several.
    n = sum(pair.weights.sum() for pair in pairs)
    if not n:
        return Difference(0)
    first = sum(float(pair.first.sum()) for pair in pairs) / n
    second = sum(float(pair.second.sum()) for pair in pairs) / n
    parts = []
    for pair in pairs:
        means = (pair.differences / pair.weights)[:, None]
        parts.append(condense_differences(means, pair.weights[:, None]))
    low, high = (float(end[0]) for end in difference_interval(parts, level))
    plain = Difference(
        round(n),
        first_mean=first,
        second_mean=second,
        of_means=second - first,
        of_means_low=low,
        of_means_high=high,
    )
    return with_normalized(plain, pairs, level)


def with_normalized(
    plain: Difference, pairs: Sequence[Paired], level: float
) -> Difference:
    """Add the normalized scores and their difference, if they are known."""
    # Tasks without room have weight 0.
    total = sum(pair.weight for pair in pairs)
    if not total or not all(pair.is_known for pair in pairs):
        return plain
    pairs = [pair for pair in pairs if pair.weight]
    first = sum(_weighted(pair, 0) for pair in pairs) / total
    second = sum(_weighted(pair, 1) for pair in pairs) / total
    # Differences of text tasks are stretched by 1 / (1 - g), see `scbench.grading.means`.
    parts = []
    scale = 0.0
    for pair in pairs:
        stretched = pair.weight / (1 - pair.guessed)
        scale += stretched / total
        part = condense_differences((pair.u[1] - pair.u[0])[pair.room][:, None])
        parts.append(replace(part, weight=np.array([stretched])))
    low, high = (scale * float(end[0]) for end in difference_interval(parts, level))
    return plain._replace(
        first_normalized=first,
        second_normalized=second,
        difference=second - first,
        low=low,
        high=high,
    )


def _weighted(pair: Paired, run: int) -> float:
    """Return the normalized score of a run times the weight of the task."""
    mean = float(pair.u[run][pair.room].mean())
    return pair.weight * (mean - pair.guessed) / (1 - pair.guessed)
