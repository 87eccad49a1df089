"""The level of a model on a ladder: the rung where it scores halfway between the floor and 1.

It is the parameter b of a logistic item response curve with a guessing floor, see
`scbench.analysis.curves`. Unreadable replies do not change it: they lower the ceiling.

- **Estimate.** b maximizes the marginal likelihood, in which the slope is integrated
  out over a prior. With six items per rung, answers are often all correct up to one
  rung and all wrong above it; without a prior, the likelihood would then keep growing
  with the slope. Levels are on a grid that reaches three rungs beyond the ladder.
- **Interval.** It contains every level whose log-likelihood is within a limit of the maximum. Runs
  are simulated at the estimate, and in each the log-likelihood at the estimate is below that run's
  maximum; the limit is the 95 % quantile of these differences (a parametric bootstrap of the
  likelihood ratio). The interval stays open towards an end of the ladder that the scores do not
  rule out. Simulated scores are shrunk towards their mean until they have the
  dispersion of the real ones.
- **Fit.** The deviance of the rungs is the difference between the greatest likelihood
  of a curve and of the saturated model, which has a free probability for each rung. If
  it is as large in fewer than 1 % of the simulated runs, each with its own best curve,
  the rungs do not fit the curve.

See `scbench.analysis.ceilings` for the ceiling, and `scbench.analysis.level_means` for
means and differences of levels. Simulated runs have a fixed seed, so an interval is the
same each time. ``docs/evidence.md`` has the measured bias and coverage.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scbench.analysis.curves import (
    FIRST,
    LOG_PRIOR,
    SLOPES,
    STEP,
    Answers,
    RungSums,
    curve_chances,
    curve_weights,
    dispersion_of,
    log_likelihood,
    misfit_words,
    places_of,
    rung_sums,
    saturated_likelihood,
)
from scbench.base.intervals import LEVEL, Floats
from scbench.base.seeding import Stream

# In means, a level outside the ladder counts as at most this many rungs outside.
BEYOND = 0.5
# Simulated runs for an interval.
DRAWS = 500
# A run does not fit its curve if fewer than this share of simulated runs fit as badly.
_MISFIT_SHARE = 0.01
# Deviances that are closer than this are equal up to rounding.
_DEVIANCE_ROUNDING = 1e-6
# Smallest likelihoods of which logarithms are taken; simulated runs have 32-bit floats.
_LEAST_WEIGHT = 1e-300
_LEAST_SHARE = 1e-30


@dataclass(frozen=True, slots=True)
class Level:
    """The level of one run on a task, or over several tasks.

    Attributes:
        value: in rungs. Outside the ladder it may be infinite and shows only the side;
            NaN if unknown.
        low: lower end of the interval; minus infinity if open.
        high: upper end; infinity if open.
        top: the highest rung, or the mean of them over several tasks.
        slope: discrimination per rung; NaN over several tasks.
        below: number of tasks' levels below the first rung.
        above: number of tasks' levels above the top rung.
    """

    value: float
    low: float
    high: float
    top: float
    slope: float = np.nan
    below: int = 0
    above: int = 0

    def clipped(self) -> tuple[float, float, float]:
        """Return value, low and high, clipped to half a rung outside the ladder."""
        figures = (self.value, self.low, self.high)
        value, low, high = np.clip(figures, FIRST - BEYOND, self.top + BEYOND)
        return float(value), float(low), float(high)

    @property
    def beyond(self) -> str | None:
        """Text such as "below 1" or "above 8" for a level outside the ladder; else None."""
        if self.value < FIRST:
            return f"below {FIRST:g}"
        return f"above {self.top:g}" if self.value > self.top else None

    def cells(self) -> dict[str, float | str | None]:
        """Return table cells; numbers outside the ladder are null, and "beyond" names the side."""
        beyond = self.beyond
        return {
            "level": self.value if beyond is None else None,
            "low": self.low if self.low >= FIRST else None,
            "high": self.high if self.high <= self.top else None,
            "beyond": beyond,
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted curve of one run on a task.

    Attributes:
        level: the level and its interval.
        places: the levels of the grid, shape (places,).
        weights: likelihood times prior, summing to 1, shape (places, slopes); without
            answers, the prior.
        floor: floor of each rung, shape (rungs,).
        expected: for each answer, the score that the curve expects, shape (answers,).
        dispersion: dispersion of the scores; 1 for binary ones.
        ceiling: share of readable replies.
        misfit: how the rungs deviate from the curve ("flat", "dip at 3", "bump at 6"), or empty.
    """

    level: Level
    places: Floats
    weights: Floats
    floor: Floats
    expected: Floats
    dispersion: float
    ceiling: float = 1.0
    misfit: str = ""

    def information(self) -> Floats:
        """Return the Fisher information of an item on each rung, averaged over the curves.

        The curve is ``p = c (g + (1 - g) s)`` with c the ceiling, g the floor, a the slope, and s
        the logistic function. The information of an item is ``(c (1 - g) a s (1 - s))² / (p (1 -
        p))``.
        """
        # `curve_chances` keeps p away from 0 and 1, so the division below is safe.
        p = curve_chances(self.floor, self.ceiling)
        # Solves the curve for s. A rung with floor 1 carries no information, so its s
        # is set to 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (p / self.ceiling - self.floor) / (1 - self.floor)
            s = np.where(self.floor < 1, np.clip(s, 0.0, 1.0), 0.0)
        height = self.ceiling * (1 - self.floor)
        # Size of dp/db.
        steepness = height * SLOPES[:, None] * s * (1 - s)
        per_curve = steepness**2 / (p * (1 - p))
        # Sums over levels of the grid (h) and slopes (a) for each rung (r).
        information: Floats = np.einsum("ha,har->r", self.weights, per_curve)
        return information / self.dispersion

    def variance(self) -> float:
        """Return the variance of the level over the fitted curves.

        Levels outside the ladder are clipped, see `Level.clipped`.
        """
        top = len(self.floor)
        clipped_levels = np.clip(self.places, FIRST - BEYOND, top + BEYOND)
        weights = self.weights.sum(axis=1)
        mean = float(weights @ clipped_levels)
        return float(weights @ (clipped_levels - mean) ** 2)


class FittedRuns(NamedTuple):
    """Likelihoods of simulated runs.

    Attributes:
        shares: likelihood at each place, as a share of the greatest, of shape (runs, places).
        highest: the greatest log-likelihood of each run.
    """

    shares: Floats
    highest: Floats


class Simulation(NamedTuple):
    """Runs that were simulated at the estimate, compared with the real run.

    Attributes:
        shortfalls: for each run, its greatest log-likelihood minus that at the estimate.
        share_as_bad: share of the runs whose rungs fit their curve as badly as the real ones.
    """

    shortfalls: Floats
    share_as_bad: float


def fit(
    answers: Answers, draws: int = DRAWS, level: float = LEVEL, ceiling: float = 1.0
) -> Fit:
    """Fit the curve of one run on a task.

    Args:
        answers: answers with a score; there may be none, and whole rungs may be
            missing.
        draws: simulated runs for the interval; with 0, the interval is open.
        level: confidence level of the interval.
        ceiling: ceiling of the run, see `scbench.analysis.ceilings.fit_ceiling`.
    """
    top = answers.top
    sums = rung_sums(answers)
    floor = sums.floor
    chances = curve_chances(floor, ceiling)
    places = places_of(top)
    dispersion = dispersion_of(answers, sums, chances)
    weights = curve_weights(sums, chances, dispersion)
    # `answers.places` has the position of each answer's rung.
    floor_of_answers = floor[answers.places]
    if not (floor_of_answers < 1).any():
        # There is no answer that could score more than a guess.
        blank = Level(np.nan, -np.inf, np.inf, top)
        return Fit(
            level=blank,
            places=places,
            weights=weights,
            floor=floor,
            expected=floor_of_answers,
            dispersion=dispersion,
            ceiling=ceiling,
        )
    marginal = np.log(np.maximum(weights.sum(axis=1), _LEAST_WEIGHT))
    value = peak_of(marginal, places)
    # The grid place nearest to the estimate, and the probability of each slope there.
    clipped_value = np.clip(value, FIRST - BEYOND, top + BEYOND)
    nearest = int(np.abs(places - clipped_value).argmin())
    by_slope = weights[nearest] / weights[nearest].sum()
    expected: Floats = by_slope @ chances[nearest]
    low = -np.inf
    high = np.inf
    misfit = ""
    if draws:
        simulation = simulate_at(nearest, by_slope, sums, chances, dispersion, draws)
        limit = float(np.quantile(simulation.shortfalls, level))
        low, high = interval_ends(marginal, places, limit)
        if simulation.share_as_bad < _MISFIT_SHARE:
            misfit = misfit_words(sums, expected)
    estimate = Level(
        value,
        low,
        high,
        top,
        slope=float(by_slope @ SLOPES),
        below=int(value < FIRST),
        above=int(value > top),
    )
    return Fit(
        level=estimate,
        places=places,
        weights=weights,
        floor=floor,
        expected=expected[answers.places],
        dispersion=dispersion,
        ceiling=ceiling,
        misfit=misfit,
    )


def simulate_at(
    place: int,
    by_slope: Floats,
    sums: RungSums,
    chances: Floats,
    dispersion: float,
    draws: int,
) -> Simulation:
    """Simulate runs at a level of the grid, and compare them with the real one.

    Args:
        place: position of the level on the grid.
        by_slope: probability of each slope.
        sums: the real scores.
        chances: expected scores of the curves, of shape (places, slopes, rungs).
        dispersion: dispersion of the scores.
        draws: number of simulated runs.
    """
    n = sums.n
    runs = simulated_runs(n, chances[place], by_slope, dispersion, draws)
    fitted = fitted_runs(runs, n, chances, dispersion)
    at_level = np.maximum(fitted.shares[:, place], _LEAST_SHARE)
    shortfalls = np.log(fitted.shares.max(axis=1)) - np.log(at_level)
    # The greatest likelihoods of curves, real and simulated, include the log-prior.
    simulated_deviances = saturated_likelihood(runs, n, dispersion) - fitted.highest
    right = sums.right[None]
    saturated = saturated_likelihood(right, n, dispersion)[0]
    deviance = saturated - log_likelihood(right, n, chances, dispersion).max()
    is_as_bad = simulated_deviances >= deviance - _DEVIANCE_ROUNDING
    return Simulation(shortfalls, float(is_as_bad.mean()))


def peak_of(marginal: Floats, places: Floats) -> float:
    """Return the maximum of a curve, by a parabola through its highest place and neighbours.

    It is infinite if the highest place is an end of the grid, which is far from the
    ladder.
    """
    highest = int(marginal.argmax())
    if highest == 0:
        return -np.inf
    if highest == len(places) - 1:
        return np.inf
    before, peak, after = marginal[highest - 1 : highest + 2]
    curvature = before - 2 * peak + after
    # From the highest place to the vertex of the parabola.
    shift = STEP * (before - after) / (2 * curvature) if curvature < 0 else 0.0
    return float(places[highest] + shift)


def simulated_runs(
    n: Floats, chances: Floats, by_slope: Floats, dispersion: float, draws: int
) -> Floats:
    """Return the sums of scores on each rung in simulated runs, of shape (draws, rungs).

    Args:
        n: number of answers on each rung.
        chances: expected scores at the level, of shape (slopes, rungs).
        by_slope: probability of each slope.
        dispersion: dispersion of the scores.
        draws: number of runs.
    """
    rungs = np.arange(len(n))
    rung_of_answers = np.repeat(rungs, n.astype(np.int64))
    uniform = uniform_numbers(draws, len(rung_of_answers) + 1)
    # The first number of a run draws its slope, the others its answers. The last bound is left
    # out: it is 1, or less by rounding, and a number above it would have no slope.
    bounds = np.cumsum(by_slope)[:-1]
    slope = np.searchsorted(bounds, uniform[:, 0])
    p = chances[slope]
    is_right = uniform[:, 1:] < p[:, rung_of_answers]
    is_on_rung = (rung_of_answers[:, None] == rungs).astype(float)
    counts = is_right @ is_on_rung
    # Shrunk towards the mean, so that the variance is multiplied by the dispersion.
    sums: Floats = n * p + dispersion**0.5 * (counts - n * p)
    return sums


@lru_cache(maxsize=8)
def uniform_numbers(rows: int, columns: int) -> Floats:
    """Return random numbers in [0, 1), of shape (rows, columns); cached, so do not change them.

    They are made from the raw bits of PCG64, which numpy promises never to change.
    """
    bits = np.random.PCG64(Stream("levels", rows, columns).getrandbits(128))
    # Keeps 53 of 64 bits, the precision of a float.
    words = bits.random_raw(rows * columns) >> np.uint64(11)
    return words.astype(np.float64).reshape(rows, columns) * 2.0**-53


def fitted_runs(
    runs: Floats, n: Floats, chances: Floats, dispersion: float
) -> FittedRuns:
    """Return the likelihoods of all curves in simulated runs, as `log_likelihood` defines them.

    Args:
        runs: sums of scores, of shape (runs, rungs).
        n: number of answers on each rung.
        chances: expected scores of the curves, of shape (places, slopes, rungs).
        dispersion: dispersion of the scores.
    """
    # 32-bit floats take half the time, and the limit needs only three digits.
    by_curve_and_rung = chances.astype(np.float32).reshape(-1, len(n))
    # The log-likelihood is right * log(p / (1 - p)) + n * log(1 - p), summed over the rungs.
    log_odds = np.log(by_curve_and_rung / (1 - by_curve_and_rung))
    all_wrong = np.log1p(-by_curve_and_rung) @ n.astype(np.float32)
    # The prior of the slopes, repeated for each place.
    prior = np.tile(LOG_PRIOR.astype(np.float32), len(chances))
    surface = runs.astype(np.float32) @ (log_odds / np.float32(dispersion)).T
    surface += all_wrong / np.float32(dispersion) + prior
    highest = surface.max(axis=1)
    surface -= highest[:, None]
    # In place, because the array is large and its logarithms are no longer needed.
    by_curve = np.exp(surface, out=surface).reshape(len(runs), *chances.shape[:2])
    return FittedRuns(by_curve.sum(axis=2), highest)


def interval_ends(
    marginal: Floats, places: Floats, limit: float
) -> tuple[float, float]:
    """Return the ends where the likelihood crosses the limit; infinite if it never does."""
    margin = marginal - (marginal.max() - limit)
    inside = np.flatnonzero(margin >= 0)
    first = int(inside[0])
    last = int(inside[-1])
    low = -np.inf
    high = np.inf
    # `np.interp` needs ascending x values, so both pairs go from outside the interval
    # to inside.
    if first > 0:
        pair = [first - 1, first]
        low = float(np.interp(0.0, margin[pair], places[pair]))
    if last < len(places) - 1:
        pair = [last + 1, last]
        high = float(np.interp(0.0, margin[pair], places[pair]))
    return low, high
