"""Confidence intervals for means of few scores. Every printed interval comes from here.

The score of an answer lies between 0 and 1, and a task has 1 to 40 answers.

- **One task.** Wilson's score interval. Its quantile is widened by ``0.6 sqrt(m (1 - m)) / n``, and
  within two scores of an end the bound is a Poisson one (Brown, Cai and DasGupta 2001); without
  these, coverage falls below 90 % at some shares.
- **Partial scores** vary less than binary scores of the same mean, so each counts for more, by the
  ratio of the two variances. A score of 0 and a score of 1 are added before computing
  the variance, because either may still occur. For binary scores the ratio is 1.
- **Several tasks.** The variance of the mean is the sum over tasks. Each task's mean is first
  shrunk by one score at the mean of all, so that a task without a wrong answer still adds
  uncertainty. The interval is again Wilson's, for the number of scores with that variance.
- **Differences** lie between -1 and 1. They are scaled to lie between 0 and 1, then treated as
  partial scores.

Nothing is random. ``docs/evidence.md`` has the measured coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Chance that an interval contains the true mean.
LEVEL = 0.95
# Half width of a normal interval at that level, in standard errors.
QUANTILE = NormalDist().inv_cdf((1 + LEVEL) / 2)
# The quantile is widened by this times the standard deviation, divided by the number of scores.
_WIDENING = 0.6
# Up to this many right (wrong) scores, the lower (upper) bound is corrected by a Poisson bound.
_POISSON_SCORES = 2.0
# Scores at the overall mean that are added to each task.
_SHRINKAGE = 1.0
# Keeps divisors above 0 where all scores are equal.
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Part:
    """Summary of the scores of one task: arrays of equal shape, with an entry for each run or draw.

    Attributes:
        weight: number of scores; 0 for none.
        mean: mean score, in [0, 1]; NaN if there is none.
        effective_size: number of binary scores that carry as much information.
    """

    weight: Floats
    mean: Floats
    effective_size: Floats


def condense(scores: Floats, weights: Floats | None = None) -> Part:
    """Summarize the scores of one task.

    Args:
        scores: in [0, 1], of shape (answers, ...). Answers must be independent: average the scores
            of one answer, and the samples of one item, first.
        weights: number of scores behind each entry, in the same shape; 0 for a missing entry. None
            means one score per entry.
    """
    shares = np.ones_like(scores) if weights is None else weights
    weight = shares.sum(axis=0)
    # A run without scores divides 0 by 0: its mean and effective_size are NaN.
    with np.errstate(invalid="ignore", divide="ignore"):
        size = weight**2 / (shares**2).sum(axis=0)
        mean = _weighted_sum(shares, scores) / weight
        spread = _weighted_sum(shares, (scores - mean) ** 2) / weight
        # The variance with a score of 0 and a score of 1 added.
        variance = (size * spread + mean**2 + (1 - mean) ** 2) / (size + 2)
        binary_variance = np.maximum(mean * (1 - mean), _TINY)
        effective_size = size / np.minimum(1, variance / binary_variance)
    return Part(weight, mean, effective_size)


def _weighted_sum(shares: Floats, values: Floats) -> Floats:
    """Return the sum over answers. Missing scores may be NaN, so their products are ignored."""
    total: Floats = np.where(shares > 0, shares * values, 0.0).sum(axis=0)
    return total


def mean_interval(parts: Sequence[Part], level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of the mean over all scores of some tasks; NaN where there are none.

    Args:
        parts: one per task, all of the same shape.
        level: confidence level.
    """
    weights = np.stack([part.weight for part in parts])
    means = np.stack([part.mean for part in parts])
    effective_sizes = np.stack([part.effective_size for part in parts])
    # A task without scores has no share. Its NaNs must not spread.
    has_scores = weights > 0
    means = np.where(has_scores, means, 0.0)
    effective_sizes = np.where(has_scores, effective_sizes, 1.0)
    # Runs without any scores divide 0 by 0.
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = weights / weights.sum(axis=0)
        mean = (shares * means).sum(axis=0)
        mean = np.where(has_scores.any(axis=0), mean, np.nan)
        shrunk = (means * effective_sizes + _SHRINKAGE * mean) / (
            effective_sizes + _SHRINKAGE
        )
        variance = (shares**2 * shrunk * (1 - shrunk) / effective_sizes).sum(axis=0)
        binary_variance = mean * (1 - mean)
        # Both variances vanish where all scores are 0, or all are 1; this is the limit.
        limit = 1 / (shares**2 / effective_sizes).sum(axis=0)
        size = np.where(binary_variance > _TINY, binary_variance / variance, limit)
        return wilson_interval(mean, size, level)


def wilson_interval(mean: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval for ``n`` binary scores, corrected near 0 and 1."""
    deviation = np.sqrt(np.maximum(mean * (1 - mean), 0))
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    # The square of the widened quantile, called z in Wilson's formula.
    z2 = (quantile * (1 + _WIDENING * deviation / n)) ** 2
    centre = mean + z2 / (2 * n)
    variance = deviation**2 / n + z2 / (4 * n * n)
    half_width = np.sqrt(z2 * variance)
    scale = 1 + z2 / n
    low = (centre - half_width) / scale
    high = (centre + half_width) / scale
    low = poisson_corrected(low, mean * n, n, level)
    # The upper bound of right scores is the lower bound of wrong ones, mirrored.
    high = 1 - poisson_corrected(1 - high, (1 - mean) * n, n, level)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def poisson_corrected(low: Floats, count: Floats, n: Floats, level: float) -> Floats:
    """Return a lower bound, reduced to a Poisson bound if few of ``n`` scores are right.

    The Poisson bound uses the Wilson-Hilferty approximation.
    """
    positive = np.maximum(count, _TINY)
    quantile = NormalDist().inv_cdf(level)
    correction = quantile / (3 * np.sqrt(positive))
    cube_root = np.maximum(1 - 1 / (9 * positive) - correction, 0)
    poisson = positive * cube_root**3 / n
    # The correction fades out with more scores and towards the other end, so that no single score
    # moves the bound by a jump.
    few_right = np.clip(_POISSON_SCORES + 1 - count, 0, 1)
    away_from_one = np.clip(3 - 4 * count / n, 0, 1)
    bound: Floats = low + few_right * away_from_one * (np.minimum(low, poisson) - low)
    return bound


def condense_differences(differences: Floats, weights: Floats | None = None) -> Part:
    """Summarize differences in [-1, 1] for `difference_interval`; see `condense`."""
    return condense((differences + 1) / 2, weights)


def difference_interval(
    parts: Sequence[Part], level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the interval of a mean difference, in [-1, 1]; see `mean_interval`."""
    low, high = mean_interval(parts, level)
    return 2 * low - 1, 2 * high - 1
