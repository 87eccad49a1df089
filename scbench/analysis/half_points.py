"""The half-way point of a logistic curve above the floor.

The probability of a correct answer at a value x of a parameter is
``g + (1 - g) / (1 + exp(s (x - h)))``: it falls from 1 to the floor g and is half-way
between them at h. h and the slope s are maximum-likelihood estimates; the interval of h
contains the values that a likelihood-ratio test does not reject. An end that the data
do not bound is None.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from scbench.base.intervals import LEVEL, Floats

# Number of half-way points on the coarse grid.
_PLACES = 401
# Number of slopes on the fine grid, which has four times as many half-way points.
_FINE = 41
# Slopes of the coarse grid, per span of the values; scores rise if the slope is
# negative.
_SLOPES = np.concatenate([-np.geomspace(80, 0.05, 60), np.geomspace(0.05, 80, 60)])
# Extent of the grid beyond the values, in spans of the values.
_REACH = 1.0
# Tolerance for rounding errors of log-likelihoods.
_CLEAR = 1e-9


class Half(NamedTuple):
    """The half-way point.

    Attributes:
        value: value at which half of the distance to the floor is lost; None if it is
            far outside the data.
        low: lower end of its interval; None if the data do not bound it.
        high: upper end; None if the data do not bound it.
        falls: whether larger values are harder.
    """

    value: float | None
    low: float | None
    high: float | None
    falls: bool


class CurveData(NamedTuple):
    """Scores at the values of a parameter; arrays of shape (values,).

    Attributes:
        values: values of the parameter, at least two distinct ones.
        right: sum of the scores at each value.
        n: number of scores at each value.
        floor: score of a guess, below 1.
    """

    values: Floats
    right: Floats
    n: Floats
    floor: Floats

    def likelihood(self, places: Floats, slopes: Floats) -> Floats:
        """Return log-likelihoods of half-way points and slopes, of shape (places, slopes)."""
        span = float(np.ptp(self.values))
        distances = self.values - places[:, None, None]
        exponents = slopes[None, :, None] * distances / span
        # Clipped, because the exponential of a large number overflows.
        fall = 1 + np.exp(np.clip(exponents, -50, 50))
        return self.likelihood_of(self.floor + (1 - self.floor) / fall)

    def likelihood_of(self, chance: Floats) -> Floats:
        """Return the binomial log-likelihood of probabilities, summed over the values."""
        safe = np.clip(chance, 1e-6, 1 - 1e-6)
        wrong = self.n - self.right
        by_value = self.right * np.log(safe) + wrong * np.log(1 - safe)
        summed: Floats = by_value.sum(axis=-1)
        return summed


def half_point(
    values: Floats, right: Floats, n: Floats, floor: Floats, level: float = LEVEL
) -> Half | None:
    """Return the half-way point of a logistic curve; None if the curve is flat.

    Args:
        values: values of the parameter, at least two distinct ones.
        right: sum of the scores at each value.
        n: number of scores at each value.
        floor: score of a guess there, below 1.
        level: level of the interval.
    """
    data = CurveData(values, right, n, floor)
    reach = _REACH * float(np.ptp(values))
    places = np.linspace(values.min() - reach, values.max() + reach, _PLACES)
    surface = data.likelihood(places, _SLOPES)
    by_place = surface.max(axis=1)
    best = float(by_place.max())
    one_mean = (right.sum() / n.sum()) * np.ones_like(n)
    flat = float(data.likelihood_of(one_mean))
    # The likelihood-ratio test rejects a curve whose log-likelihood is this much lower.
    allowed = NormalDist().inv_cdf((1 + level) / 2) ** 2 / 2
    if best - flat <= allowed:
        return None
    # If a step fits anywhere between two values, the most likely places form a plateau.
    plateau = np.flatnonzero(by_place >= best - _CLEAR)
    first = int(plateau[0])
    last = int(plateau[-1])
    slope = _SLOPES[surface[first].argmax()]
    edge = _PLACES - 1
    value = None
    if first > 0 and last < edge:
        near = np.linspace(places[first - 1], places[last + 1], 4 * _FINE)
        value = _fine_place(data, near, slope)
    # An end at the edge of the grid is open.
    inside = np.flatnonzero(by_place >= best - allowed)
    lowest = int(inside[0])
    highest = int(inside[-1])
    low = None if lowest == 0 else float(places[lowest])
    high = None if highest == edge else float(places[highest])
    return Half(value, low, high, falls=bool(slope > 0))


def _fine_place(data: CurveData, near: Floats, slope: float) -> float:
    """Return the most likely place between the points of the coarse grid."""
    slopes = slope * np.geomspace(0.8, 1.25, _FINE)
    by_place = data.likelihood(near, slopes).max(axis=1)
    is_best = by_place >= by_place.max() - _CLEAR
    return float(near[is_best].mean())
