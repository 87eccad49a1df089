"""Where on a ladder a model scores half: a logistic item response curve with a guessing floor.

`scbench.analysis.curves` has the curve. At its level b a model scores, where it can be read, half
of the distance between the floor and 1.

- **Estimate.** b is where the likelihood is greatest once the slope is integrated out, over a
  prior. Six items a rung are often all right up to one rung and all wrong above it, and a
  likelihood without a prior then has no greatest slope. Levels are on a grid that reaches three
  rungs beyond the ladder.
- **Interval.** Levels whose likelihood falls short of the greatest by no more than 95 % of
  simulated runs do at their own level (a parametric bootstrap of the likelihood ratio). It stays
  open towards an end of the ladder that the scores do not rule out. Simulated scores vary as little
  as the real ones, by the dispersion.
- **Fit.** The shortfall of the likelihood below that of rungs with chances of their own is
  compared with that of the simulated runs, each fitted by itself. Below 1 in 100 the rungs do not
  fit the curve.

The ceiling is in `scbench.analysis.ceilings`, means and differences of levels in
`scbench.analysis.level_means`. Simulated runs come from a stream of fixed bits, so an interval is
the same each time. ``docs/evidence.md`` has the measured bias and coverage.
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

# Rungs beyond either end that a level counts for at most where several are added up.
BEYOND = 0.5
# Simulated runs behind an interval.
DRAWS = 500
# Share of simulated runs that fit their curve as badly, below which a run does not fit.
_MISFIT = 0.01
# Rounding of deviances.
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Level:
    """The level of one run on a task, or over several.

    Attributes:
        value: in rungs; unbounded numbers beyond the ladder say only that it is beyond, and NaN
            that nothing is known.
        low: lower end of the interval; minus infinity if the scores leave it open.
        high: upper end; infinity likewise.
        top: the highest rung; a mean of them over several tasks.
        slope: discrimination per rung; NaN over several tasks.
        below: how many tasks' levels lie below the first rung.
        above: how many lie above the top.
    """

    value: float
    low: float
    high: float
    top: float
    slope: float = np.nan
    below: int = 0
    above: int = 0

    def clipped(self) -> tuple[float, float, float]:
        """Return value, low and high, within half a rung beyond the ladder."""
        figures = (self.value, self.low, self.high)
        value, low, high = np.clip(figures, FIRST - BEYOND, self.top + BEYOND)
        return float(value), float(low), float(high)

    @property
    def beyond(self) -> str | None:
        """Say "below 1" or "above 8" of a level that lies beyond the ladder."""
        if self.value < FIRST:
            return f"below {FIRST:g}"
        return f"above {self.top:g}" if self.value > self.top else None

    def cells(self) -> dict[str, float | str | None]:
        """Return level, low and high, null beyond the ladder, and beyond, as cells of a table."""
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
        level: with its interval.
        places: levels of the grid, shape (places,).
        weights: likelihood times prior, adding up to 1, shape (places, slopes); with no answers,
            the prior.
        floor: of each rung, shape (top,).
        expected: the score that the curve expects of each answer.
        dispersion: of the scores; 1 for right-or-wrong ones.
        ceiling: share of replies that can be read.
        misfit: how the rungs do not fit the curve ("flat", "dip at 3", "bump at 6"), or empty.
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
        """Return the Fisher information of an item of each rung, expected over the curves.

        With s the logistic curve, the information of an item is ``(c (1 - g) a s (1 - s))² / (p (1
        - p))``.
        """
        p = curve_chances(self.floor, self.ceiling)
        # On rungs whose floor is 1, nothing can be passed.
        with np.errstate(divide="ignore", invalid="ignore"):
            passed = (p / self.ceiling - self.floor) / (1 - self.floor)
            passed = np.where(self.floor < 1, np.clip(passed, 0.0, 1.0), 0.0)
        height = self.ceiling * (1 - self.floor)
        rise = height * SLOPES[:, None] * passed * (1 - passed)
        per_curve = rise**2 / (p * (1 - p))
        summed: Floats = np.einsum("ha,har->r", self.weights, per_curve)
        return summed / self.dispersion

    def variance(self) -> float:
        """Return the variance of the level over the fitted curves, those beyond held near."""
        top = len(self.floor)
        near = np.clip(self.places, FIRST - BEYOND, top + BEYOND)
        weights = self.weights.sum(axis=1)
        mean = float(weights @ near)
        return float(weights @ (near - mean) ** 2)


class FittedRuns(NamedTuple):
    """Likelihoods of simulated runs.

    Attributes:
        shares: likelihood at each place, as a share of the greatest, of shape (runs, places).
        highest: the greatest log-likelihood of each run.
    """

    shares: Floats
    highest: Floats


def fit(
    answers: Answers, draws: int = DRAWS, level: float = LEVEL, ceiling: float = 1.0
) -> Fit:
    """Fit the curve of one run on a task.

    Args:
        answers: those with a score; there may be none, and whole rungs may be missing.
        draws: simulated runs behind the interval; 0 for none, and an open interval.
        level: of the interval.
        ceiling: of the run, see `scbench.analysis.ceilings.fit_ceiling`.
    """
    top = answers.top
    sums = rung_sums(answers)
    n, right, floor = sums
    chances = curve_chances(floor, ceiling)
    places = places_of(top)
    dispersion = dispersion_of(answers, sums, chances)
    weights = curve_weights(sums, chances, dispersion)
    floors = floor[answers.places]
    if not (floors < 1).any():
        # There is no answer, or none that could score more than a guess.
        blank = Level(np.nan, -np.inf, np.inf, top)
        return Fit(blank, places, weights, floor, floors, dispersion, ceiling)
    marginal = np.log(np.maximum(weights.sum(axis=1), 1e-300))
    value = peak_of(marginal, places)
    clipped = np.clip(value, FIRST - BEYOND, top + BEYOND)
    nearest = int(np.abs(places - clipped).argmin())
    by_slope = weights[nearest] / weights[nearest].sum()
    expected: Floats = by_slope @ chances[nearest]
    low, high = -np.inf, np.inf
    misfit = ""
    if draws:
        runs = simulated_runs(n, chances[nearest], by_slope, dispersion, draws)
        fitted = fitted_runs(runs, n, chances, dispersion)
        at_level = np.maximum(fitted.shares[:, nearest], 1e-30)
        shortfall = np.log(fitted.shares.max(axis=1)) - np.log(at_level)
        limit = float(np.quantile(shortfall, level))
        low, high = interval_ends(marginal, places, limit)
        simulated = saturated_likelihood(runs, n, dispersion) - fitted.highest
        deviance = saturated_likelihood(right[None], n, dispersion)[0]
        deviance -= log_likelihood(right[None], n, chances, dispersion).max()
        if (simulated >= deviance - _TINY).mean() < _MISFIT:
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
    of_answers = expected[answers.places]
    return Fit(
        estimate, places, weights, floor, of_answers, dispersion, ceiling, misfit
    )


def peak_of(marginal: Floats, places: Floats) -> float:
    """Return where a curve is highest, by a parabola through the three highest places."""
    highest = int(marginal.argmax())
    if highest in {0, len(places) - 1}:
        # Nowhere near the ladder.
        return float(np.copysign(np.inf, highest - 1))
    before, here, after = marginal[highest - 1 : highest + 2]
    bend = before - 2 * here + after
    shift = STEP * (before - after) / (2 * bend) if bend < 0 else 0.0
    return float(places[highest] + shift)


def simulated_runs(
    n: Floats, chances: Floats, by_slope: Floats, dispersion: float, draws: int
) -> Floats:
    """Return the sums of scores on each rung in simulated runs, of shape (draws, rungs).

    Args:
        n: answers on each rung.
        chances: at the level, of shape (slopes, rungs).
        by_slope: how likely each slope is.
        dispersion: of the scores.
        draws: how many runs.
    """
    rungs = np.arange(len(n))
    of_answers = np.repeat(rungs, n.astype(np.int64))
    uniform = uniform_numbers(draws, len(of_answers) + 1)
    # The first number of a run draws its slope, the others its answers.
    slope = np.searchsorted(np.cumsum(by_slope)[:-1], uniform[:, 0])
    p = chances[slope]
    is_right = uniform[:, 1:] < p[:, of_answers]
    counts = is_right @ (of_answers[:, None] == rungs).astype(float)
    # Scores that vary less lie closer to their mean.
    sums: Floats = n * p + dispersion**0.5 * (counts - n * p)
    return sums


@lru_cache(maxsize=8)
def uniform_numbers(rows: int, columns: int) -> Floats:
    """Return numbers in [0, 1) of bits that numpy keeps fixed."""
    bits = np.random.PCG64(Stream("levels", rows, columns).getrandbits(128))
    # A float has 53 bits.
    words = bits.random_raw(rows * columns) >> np.uint64(11)
    return words.astype(np.float64).reshape(rows, columns) * 2.0**-53


def fitted_runs(
    runs: Floats, n: Floats, chances: Floats, dispersion: float
) -> FittedRuns:
    """Fit simulated runs, of shape (runs, rungs)."""
    # Half the digits in half the time: a limit needs three.
    flat = chances.astype(np.float32).reshape(-1, len(n))
    odds = np.log(flat / (1 - flat))
    wrong = np.log1p(-flat) @ n.astype(np.float32)
    prior = np.tile(LOG_PRIOR.astype(np.float32), len(chances))
    surface = runs.astype(np.float32) @ (odds / np.float32(dispersion)).T
    surface += wrong / np.float32(dispersion) + prior
    highest = surface.max(axis=1)
    surface -= highest[:, None]
    by_curve = np.exp(surface, out=surface).reshape(len(runs), *chances.shape[:2])
    return FittedRuns(by_curve.sum(axis=2), highest)


def interval_ends(
    marginal: Floats, places: Floats, limit: float
) -> tuple[float, float]:
    """Return where the likelihood crosses the limit; infinite where it does not."""
    over = marginal - (marginal.max() - limit)
    inside = np.flatnonzero(over >= 0)
    first, last = int(inside[0]), int(inside[-1])
    low, high = -np.inf, np.inf
    if first > 0:
        crossing = slice(first - 1, first + 1)
        low = float(np.interp(0.0, over[crossing], places[crossing]))
    if last < len(places) - 1:
        # From outside to inside: `np.interp` needs rising heights.
        ends = [last + 1, last]
        high = float(np.interp(0.0, over[ends], places[ends]))
    return low, high
