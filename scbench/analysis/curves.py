"""Item response curves on a grid of levels and slopes, and their likelihoods.

The expected score of an item on rung r is ``c (g + (1 - g) / (1 + exp(a (r - b))))``:
the four-parameter model of item response theory.

- r: the rung, which is the difficulty of the item
- a: the slope, which is the discrimination of the ladder
- g: the score of guessing, which is the known floor
- c: the ceiling, which is the share of readable replies, equal on all rungs
- b: the level

Partial scores vary less than binary scores with the same mean. Their log-likelihood is
divided by the dispersion ``1 - sum y (1 - y) / sum p (1 - p)``, which is 1 for binary
scores.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scbench.base.intervals import Floats

# The lowest rung of every ladder.
FIRST = 1.0
# Levels on the grid reach this many rungs beyond the ladder.
_REACH = 3.0
# Rungs between two levels on the grid.
STEP = 0.1
SLOPES = np.exp(np.linspace(np.log(0.3), np.log(6.0), 14))
# Log-normal with median 1; 95 % of it is between 0.14 and 7 per rung.
LOG_PRIOR = -0.5 * np.log(SLOPES) ** 2
# Probabilities stay this far from 0 and 1, because any answer can be a slip or a lucky
# guess.
_SURE = 1e-4
# Added to both sums of the dispersion, so that a few equal scores do not imply
# certainty.
_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True)
class Answers:
    """The scores of one run on the ladder of a task, with an entry for each answer with a score.

    Attributes:
        rungs: rungs, counted from 1.
        scores: scores in [0, 1], averaged over samples and over the scores of one
            answer.
        floors: the score of a guess; 0 if unknown.
        top: the highest rung of the ladder.
    """

    rungs: Floats
    scores: Floats
    floors: Floats
    top: int

    @property
    def places(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """The rung of each answer as an index, from 0."""
        return self.rungs.astype(np.int64) - 1

    @property
    def is_informative(self) -> bool:
        """Whether any answer can score more than a guess."""
        return bool((self.floors < 1).any())


class RungSums(NamedTuple):
    """Sums over the answers of each rung; arrays of shape (rungs,).

    Attributes:
        n: number of answers.
        right: sum of their scores.
        floor: their mean floor; on rungs without answers, the mean over all answers.
    """

    n: Floats
    right: Floats
    floor: Floats


def places_of(top: int) -> Floats:
    """Return the levels on the grid for a ladder with this many rungs."""
    steps = round((top - FIRST + 2 * _REACH) / STEP)
    return np.linspace(FIRST - _REACH, top + _REACH, steps + 1)


def rung_sums(answers: Answers) -> RungSums:
    """Return the sums over the answers of each rung."""
    top = answers.top
    places = answers.places
    n = np.bincount(places, minlength=top).astype(np.float64)
    right = np.bincount(places, answers.scores, minlength=top).astype(np.float64)
    floors = np.bincount(places, answers.floors, minlength=top)
    usual_floor = float(answers.floors.mean()) if len(places) else 0.0
    floor = np.where(n > 0, floors / np.maximum(n, 1), usual_floor)
    return RungSums(n, right, floor)


def curve_chances(floor: Floats, ceiling: float = 1.0) -> Floats:
    """Return the expected scores of all curves, of shape (places, slopes, rungs).

    Args:
        floor: floor of each rung.
        ceiling: share of readable replies.
    """
    top = len(floor)
    rungs = np.arange(1, top + 1)
    levels = places_of(top)[:, None, None]
    exponents = SLOPES[:, None] * (rungs - levels)
    # Clipped, because the exponential of a large number overflows.
    fall = 1 + np.exp(np.clip(exponents, -50, 50))
    chances: Floats = floor + (1 - floor) / fall
    return under_ceiling(chances, ceiling)


def under_ceiling(chances: Floats, ceiling: float) -> Floats:
    """Return expected scores if only a share of the replies is readable."""
    return np.clip(ceiling * chances, _SURE, 1 - _SURE)


def log_likelihood(
    right: Floats, n: Floats, chances: Floats, dispersion: float
) -> Floats:
    """Return log-likelihood plus log-prior, of shape (runs, places, slopes).

    Args:
        right: sums of scores, of shape (runs, rungs).
        n: answers on each rung.
        chances: as returned by `curve_chances`.
        dispersion: dispersion of the scores.
    """
    log_wrong = np.log1p(-chances)
    log_odds = np.log(chances) - log_wrong
    # r log(p) + (n - r) log(1 - p) is r times the log-odds, plus n log(1 - p).
    by_curve = right @ log_odds.reshape(-1, len(n)).T
    right_terms = by_curve.reshape(-1, *chances.shape[:2])
    common_terms = log_wrong @ n
    surface: Floats = (right_terms + common_terms) / dispersion + LOG_PRIOR
    return surface


def curve_weights(sums: RungSums, chances: Floats, dispersion: float) -> Floats:
    """Return the probability of each curve, summing to 1, shape (places, slopes)."""
    surface = log_likelihood(sums.right[None], sums.n, chances, dispersion)[0]
    weights = np.exp(surface - surface.max())
    shares: Floats = weights / weights.sum()
    return shares


def dispersion_of(answers: Answers, sums: RungSums, chances: Floats) -> float:
    """Return the variation of scores, as a share of the variation of binary scores."""
    if not len(answers.rungs):
        return 1.0
    weights = curve_weights(sums, chances, 1.0)
    by_rung = np.einsum("ha,har->r", weights, chances)
    expected = by_rung[answers.places]
    binary = float((expected * (1 - expected)).sum()) + _SMOOTHING
    # Partial scores have this much less variance; it is 0 for binary scores.
    shortfall = float((answers.scores * (1 - answers.scores)).sum())
    return max(binary - shortfall, _SMOOTHING) / binary


def saturated_likelihood(right: Floats, n: Floats, dispersion: float) -> Floats:
    """Return the log-likelihood, by run, of a model with a separate probability for each rung.

    Args:
        right: sums of scores, of shape (runs, rungs).
        n: answers on each rung.
        dispersion: dispersion of the scores.
    """
    share = np.clip(right / np.maximum(n, 1), _SURE, 1 - _SURE)
    by_rung = right * np.log(share) + (n - right) * np.log1p(-share)
    summed: Floats = by_rung.sum(axis=1)
    return summed / dispersion


def misfit_words(sums: RungSums, expected: Floats) -> str:
    """Return how rungs deviate from their curve: "flat", or "dip" or "bump" at the worst rung.

    Args:
        sums: sums over the answers of each rung.
        expected: score of each rung on the curve.
    """
    n, right, _ = sums
    one_mean = np.full(len(n), right.sum() / n.sum())
    one_mean = np.clip(one_mean, _SURE, 1 - _SURE)
    if _binary_likelihood(sums, one_mean) > _binary_likelihood(sums, expected):
        return "flat"
    excess = right - n * expected
    error = np.sqrt(n * expected * (1 - expected))
    # Rungs without answers divide 0 by 0.
    with np.errstate(invalid="ignore"):
        deviation = np.where(n > 0, excess / error, 0.0)
    worst = int(np.abs(deviation).argmax())
    shape = "bump" if deviation[worst] > 0 else "dip"
    return f"{shape} at {worst + 1}"


def _binary_likelihood(sums: RungSums, chance: Floats) -> float:
    wrong = sums.n - sums.right
    by_rung = sums.right * np.log(chance) + wrong * np.log1p(-chance)
    return float(by_rung.sum())
