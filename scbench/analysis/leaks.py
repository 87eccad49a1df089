"""The share of a public ladder that a model has memorized, and tests of single tasks.

A memorized share x raises the mean of a rung by x times its distance to 1. The interval
contains every share x that the test of `scbench.analysis.sign_flips` does not reject.

A task has few rungs, so it is tested item by item: each item of a rung is equally
likely to be on either ladder.
"""

from collections.abc import Mapping
from math import comb
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from scbench.analysis.climbs import Climb
from scbench.analysis.curves import Answers
from scbench.analysis.levels import uniform_numbers
from scbench.analysis.sign_flips import signs
from scbench.base.intervals import Floats

# Added to a rung's mean, so that no rung gets all the weight.
EASY = 0.1
ROUNDING = 1e-12
# Number of random assignments of a rung's items to two ladders.
_DEALS = 2000
# With fewer distinct assignments than this, no result can be significant.
_LEAST_DEALS = 1000


class Leak(NamedTuple):
    """The memorized share of items, from -1 to 1, and the ends of its interval."""

    share: float
    low: float
    high: float


class LineTest(NamedTuple):
    """The test of one line of a table.

    Attributes:
        p_value: p-value of this line alone.
        p_corrected: p-value corrected over the lines of its family.
        too_few: whether no outcome could be significant.
    """

    p_value: float
    p_corrected: float
    too_few: bool


class Deals(NamedTuple):
    """The p-value of a permutation test, and whether there are too few permutations for it."""

    p_value: float
    too_few: bool


def leak_of(means: Floats, weight: Floats, level: float, draws: int, seed: int) -> Leak:
    """Return the memorized share that fits best, and its interval.

    A share x raises the mean of a rung by x times its distance to 1. After this lift is
    subtracted, the signs of the remaining differences are random. The interval contains
    every x whose statistic is not among the largest 5 % over random signs. With m the
    mean of both ladders, (1 - m) is the distance after removing half of the lift: x = A
    / (1 + A / 2).

    Args:
        means: means of the public and the private ladder, of shape (rungs, 2).
        weight: weight of each rung.
        level: level of the interval.
        draws: number of draws of signs.
        seed: seed of the draws.
    """
    lifts = weight * (means[:, 0] - means[:, 1])
    distances = weight * (1 - means.mean(axis=1))
    lift = lifts.sum()
    distance = distances.sum()
    limit2 = statistic_limit(lifts, level, draws, seed) ** 2
    # The ends solve a x² - 2 b x + c = 0.
    a = distance**2 - limit2 * (distances**2).sum()
    b = lift * distance - limit2 * (lifts * distances).sum()
    c = lift**2 - limit2 * (lifts**2).sum()
    if a <= 0:
        # No share is rejected.
        share = _halved(lift / max(distance, ROUNDING))
        return Leak(share, -1.0, 1.0)
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return Leak(
        share=_halved(lift / distance),
        low=_halved((b - root) / a),
        high=_halved((b + root) / a),
    )


def statistic_limit(lifts: Floats, level: float, draws: int, seed: int) -> float:
    """Return the statistic that random signs exceed with a chance of 1 - `level`."""
    spread = float(np.sqrt((lifts**2).sum()))
    if spread <= 0:
        return NormalDist().inv_cdf((1 + level) / 2)
    statistics = np.abs(signs(len(lifts), draws, seed) @ (lifts / spread))
    return float(np.quantile(statistics, level, method="higher"))


def _halved(lift: float) -> float:
    """Return x = A / (1 + A / 2) for a lift A."""
    return float(np.clip(lift / max(1 + lift / 2, ROUNDING), -1.0, 1.0))


def item_tests(
    public: Mapping[str, Climb], private: Mapping[str, Climb]
) -> dict[str, LineTest]:
    """Test each task item by item, corrected over the tasks (Holm)."""
    deals = {}
    for task in public.keys() & private.keys():
        deals[task] = deal(public[task].answers, private[task].answers)
    tests = {}
    largest = 0.0
    ordered = sorted(deals, key=lambda task: (deals[task].p_value, task))
    for place, task in enumerate(ordered):
        p, too_few = deals[task]
        # A p-value is never smaller than the one before it.
        largest = min(1.0, max(largest, p * (len(ordered) - place)))
        tests[task] = LineTest(p, largest, too_few)
    return tests


def deal(public: Answers, private: Answers) -> Deals:
    """Assign the scores of each rung to the two ladders at random, many times."""
    observed = 0.0
    dealt = np.zeros(_DEALS)
    deals = 1
    keys = uniform_numbers(_DEALS, len(public.rungs) + len(private.rungs))
    start = 0
    rungs = set(public.rungs.tolist())
    rungs.intersection_update(private.rungs.tolist())
    for rung in sorted(rungs):
        public_scores = public.scores[public.rungs == rung]
        private_scores = private.scores[private.rungs == rung]
        all_scores = np.concatenate([public_scores, private_scores])
        public_mean = public_scores.mean()
        private_mean = private_scores.mean()
        weight = 1 / ((public_mean + private_mean) / 2 + EASY)
        # The order of random keys is a random order of the items.
        stop = start + len(all_scores)
        order = np.argsort(keys[:, start:stop], axis=1)
        start = stop
        n = len(public_scores)
        first = all_scores[order[:, :n]].mean(axis=1)
        second = (all_scores.sum() - first * n) / len(private_scores)
        observed += weight * (public_mean - private_mean)
        dealt += weight * (first - second)
        deals *= comb(len(all_scores), n)
    as_large = (np.abs(dealt) >= abs(observed) - ROUNDING).sum()
    return Deals(float(as_large + 1) / (_DEALS + 1), deals < _LEAST_DEALS)
