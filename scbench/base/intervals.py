"""Intervals for means of few scores: the one home of every interval that is printed.

The score of one answer lies between 0 and 1, and a task has 1 to 40 of them. What holds there:

- **One task.** Wilson's score interval. Its quantile is widened by ``0.6 sqrt(m (1 - m)) / n``, and
  within two scores of an end the bound is a Poisson one (Brown, Cai and DasGupta 2001); without
  these, coverage falls below 90 % at some shares.
- **Partial scores** vary less than right-or-wrong ones of the same mean, and tell as much as more
  of them: as many as the ratio of the variances says. To theirs a score of 0 and one of 1 are
  added, since what was not seen yet may come; for right-or-wrong scores the ratio is 1.
- **Several tasks.** The variance of the mean is the sum over tasks, each at a mean that one more
  score, of the mean of all, is added to: a task without a wrong answer still adds uncertainty.
  The interval is Wilson's again, over as many scores as have that variance.
- **Differences** lie between -1 and 1; halved and moved they are partial scores.

Nothing is drawn at random. ``docs/evidence.md`` has the measured coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ends = tuple[float, float] | tuple[None, None]

LEVEL = 0.95
# How many standard errors an interval reaches to either side.
QUANTILE = NormalDist().inv_cdf((1 + LEVEL) / 2)

_WIDER = 0.3
# Right (or wrong) scores up to which the bound towards 0 (or 1) is a Poisson one.
_NEAR = 2.0
# Scores at the mean of all that are added to each task.
_SHRINK = 1.0
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Part:
    """Scores of one task, condensed; arrays of one shape, an entry per run or draw.

    Attributes:
        weight: how many scores there are; 0 for none.
        mean: of them, in [0, 1]; NaN where there is none.
        worth: how many right-or-wrong scores tell as much.
    """

    weight: Floats
    mean: Floats
    worth: Floats


def condense(scores: Floats, weights: Floats | None = None) -> Part:
    """Return the scores of one task, condensed.

    Args:
        scores: in [0, 1], of shape (answers, ...): one for each answer, which is what is drawn
            independently; scores of one answer, and samples of one item, are averaged before.
        weights: of the same shape: how many scores each stands for, 0 for a missing one; None for
            one each.
    """
    shares = np.ones_like(scores) if weights is None else weights
    weight = shares.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        n = weight**2 / (shares**2).sum(axis=0)
        mean = np.where(shares > 0, shares * scores, 0.0).sum(axis=0) / weight
        spread = (
            np.where(shares > 0, shares * (scores - mean) ** 2, 0.0).sum(axis=0)
            / weight
        )
        raised = (n * spread + mean**2 + (1 - mean) ** 2) / (n + 2)
        binary = np.maximum(mean * (1 - mean), _TINY)
        worth = n / np.minimum(1, raised / binary)
    return Part(weight, mean, worth)


def ends(parts: Sequence[Part], level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of the mean over all scores of some tasks; NaN where there are none.

    Args:
        parts: one per task, all of the same shape.
        level: chance with which the interval is to hold the true mean.
    """
    weight = np.stack([part.weight for part in parts])
    present = weight > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        share = weight / weight.sum(axis=0)
        means = np.where(present, np.stack([part.mean for part in parts]), 0.0)
        worth = np.where(present, np.stack([part.worth for part in parts]), 1.0)
        mean = np.where(present.any(axis=0), (share * means).sum(axis=0), np.nan)
        shrunk = (means * worth + _SHRINK * mean) / (worth + _SHRINK)
        variance = (share**2 * shrunk * (1 - shrunk) / worth).sum(axis=0)
        binary = mean * (1 - mean)
        alike = 1 / (share**2 / worth).sum(
            axis=0
        )  # the limit where all scores are 0, or 1
        total = np.where(binary > _TINY, binary / variance, alike)
        return _wilson(mean, total, level)


def _wilson(mean: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    room = np.sqrt(np.maximum(mean * (1 - mean), 0))
    z2 = (z * (1 + 2 * _WIDER * room / n)) ** 2
    centre = mean + z2 / (2 * n)
    half = np.sqrt(z2 * (room**2 / n + z2 / (4 * n * n)))
    low, high = (centre - half) / (1 + z2 / n), (centre + half) / (1 + z2 / n)
    low = _towards_zero(low, mean * n, n, level)
    high = 1 - _towards_zero(1 - high, (1 - mean) * n, n, level)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _towards_zero(low: Floats, count: Floats, n: Floats, level: float) -> Floats:
    """Return the lower bound of few scores: that of Poisson counts, by Wilson and Hilferty."""
    positive = np.maximum(count, _TINY)
    q = NormalDist().inv_cdf(level)
    poisson = (
        positive
        * np.maximum(1 - 1 / (9 * positive) - q / (3 * np.sqrt(positive)), 0) ** 3
        / n
    )
    # Fades out with more scores, and towards the other end, so that none moves the bound by a jump.
    part = np.clip(_NEAR + 1 - count, 0, 1) * np.clip(3 - 4 * count / n, 0, 1)
    bound: Floats = low + part * (np.minimum(low, poisson) - low)
    return bound


def condense_differences(differences: Floats, weights: Floats | None = None) -> Part:
    """Return differences in [-1, 1], condensed, for `ends_of_differences`; see `condense`."""
    return condense((differences + 1) / 2, weights)


def ends_of_differences(
    parts: Sequence[Part], level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the interval of a mean difference, in [-1, 1]; see `ends`."""
    low, high = ends(parts, level)
    return 2 * low - 1, 2 * high - 1


def pair_of(low: float, high: float) -> Ends:
    """Return the ends of an interval as table cells: nothing where they are NaN."""
    return (None, None) if np.isnan(low) else (float(low), float(high))
