"""The share of a run's replies that are readable: the ceiling of its item response curves.

Each run has one ceiling: its share of readable replies on rungs up to the level of
their task. Harder rungs are excluded because replies there may be cut off. If the
scores contradict this share, the ceiling instead maximizes the joint likelihood of all
tasks, each with its best curve.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scbench.analysis.curves import (
    Answers,
    curve_chances,
    dispersion_of,
    log_likelihood,
    rung_sums,
    under_ceiling,
)
from scbench.base.intervals import Floats

# The grid of ceilings, from high to low.
_CEILINGS = np.array(
    [1.0, 0.98, 0.96, 0.94, 0.92, 0.9, 0.87, 0.84, 0.8, 0.75, 0.7, 0.65, 0.6]
)
LEAST_CEILING = float(_CEILINGS[-1])
# Scores contradict a ceiling if its log-likelihood is lower than the best by more than
# this, which happens in about 1 of 70 runs with that ceiling.
_AGAINST = 3.0
# The log-likelihood is 0.5 lower one standard error away from the best ceiling.
_STANDARD_ERROR = 0.5
_FINE = np.linspace(LEAST_CEILING, 1.0, 401)


class Ceiling(NamedTuple):
    """The share of a run's replies that are readable, with one standard error on either side."""

    value: float
    low: float
    high: float


def share_read(read: int, replies: int) -> Ceiling:
    """Return the share of readable replies, with its binomial error."""
    share = max(read / replies, LEAST_CEILING) if replies else 1.0
    error = float(np.sqrt(share * (1 - share) / max(replies, 1)))
    return Ceiling(share, max(share - error, LEAST_CEILING), min(share + error, 1.0))


def fit_ceiling(tasks: Sequence[Answers], from_statuses: Ceiling) -> Ceiling:
    """Return the share of one run's replies that are readable, over all its tasks.

    Args:
        tasks: answers of the run on each ladder.
        from_statuses: the share according to the statuses of the replies. It is used unless the
            scores contradict it: a readable reply can still score 0, even on the
            easiest item.
    """
    total = np.zeros(len(_CEILINGS))
    for answers in tasks:
        if answers.is_informative:
            _add_likelihoods(total, answers)
    best = int(total.argmax())
    # `np.interp` needs ascending x values.
    rising = _CEILINGS[::-1]
    likelihoods = total[::-1]
    known_likelihood = float(np.interp(from_statuses.value, rising, likelihoods))
    if known_likelihood >= total[best] - _AGAINST:
        return from_statuses
    value = float(_CEILINGS[best])
    if 0 < best < len(total) - 1:
        # The maximum of the parabola through the three best ceilings.
        near = slice(best - 1, best + 2)
        bend = np.polyfit(_CEILINGS[near], total[near], 2)
        value = float(-bend[1] / (2 * bend[0]))
    fine = np.interp(_FINE, rising, likelihoods)
    within = _FINE[fine >= total[best] - _STANDARD_ERROR]
    low = min(value, float(within[0]))
    high = max(value, float(within[-1]))
    return Ceiling(value, low, high)


def _add_likelihoods(total: Floats, answers: Answers) -> None:
    """Add the best log-likelihood of a task at each ceiling."""
    sums = rung_sums(answers)
    plain = curve_chances(sums.floor)
    dispersion = dispersion_of(answers, sums, plain)
    for i, ceiling in enumerate(_CEILINGS):
        chances = under_ceiling(plain, ceiling)
        surface = log_likelihood(sums.right[None], sums.n, chances, dispersion)
        total[i] += surface.max()
