"""Where on a ladder a model scores half: a logistic item response curve with a guessing floor.

The expected score of an item on rung r is ``c (g + (1 - g) / (1 + exp(a (r - b))))``: four
parameters of item response theory, with the rung for the item's difficulty, a for the
discrimination of the ladder, g for guessing (the floor, which is known), c for the ceiling (the
share of replies that can be read, whatever the rung), and b, the **level**: there a model scores,
where it can be read, half of what lies between the floor and 1.

- **Ceiling.** One for each run: the share of its replies that was read, on rungs up to the level of
  their task, as harder ones may be cut off because they are hard. Where scores speak against it,
  it is where the likelihood of all tasks together, each at its best curve, is greatest. It is
  shared by them, so what its error adds to a mean over tasks does not average out: their levels
  are fitted once more with the ceiling a standard error lower, and higher.
- **Estimate.** b is where the likelihood is greatest once a is integrated out, over a log-normal
  prior of median 1 that is wide (a 95 % range from 0.14 to 7 per rung). Six items a rung are often
  all right up to one rung and all wrong above it, and a likelihood without a prior then has no
  greatest slope. Levels are tried on a grid that reaches three rungs beyond the ladder.
- **Interval.** Levels whose likelihood falls short of the greatest by no more than 95 % of
  simulated runs do at their own level (a parametric bootstrap of the likelihood ratio). It stays
  open towards an end of the ladder that the scores do not rule out.
- **Partial scores** vary less than right-or-wrong ones of the same mean: the likelihood is divided
  by the dispersion ``1 - sum y (1 - y) / sum p (1 - p)``, which is 1 for right-or-wrong scores, and
  simulated scores vary as little.
- **Fit.** What the likelihood falls short of that of rungs that are each as likely as can be is
  compared with that of the simulated runs, each fitted by itself. Below 1 in 100 the rungs do not
  fit the curve.
- **Several tasks.** The mean of the tasks' levels, each held within half a rung beyond its ladder;
  ends of intervals are put together by the method of variance estimates recovery (Zou and Donner
  2008), which keeps intervals lopsided that are.

Simulated runs come from a stream of fixed bits, so an interval is the same each time.
``docs/evidence.md`` has the measured bias and coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scbench.base.intervals import LEVEL, Floats
from scbench.base.seeding import Stream

# The lowest rung of every ladder.
FIRST = 1.0
# Rungs beyond either end that a level counts for at most where several are added up.
BEYOND = 0.5
# Simulated runs behind an interval.
DRAWS = 500

_REACH = 3.0
_STEP = 0.1
_SLOPES = np.exp(np.linspace(np.log(0.3), np.log(6.0), 14))
_LOG_PRIOR = -0.5 * np.log(_SLOPES) ** 2
# No item is taken to be quite sure to be right, or wrong: there are slips.
_SURE = 1e-4
# Added to both sums of the dispersion, so that a few equal scores are no certainty.
_SMOOTHING = 0.5


# Ceilings that are tried.
_CEILINGS = np.array(
    [1.0, 0.98, 0.96, 0.94, 0.92, 0.9, 0.87, 0.84, 0.8, 0.75, 0.7, 0.65, 0.6]
)
LEAST_CEILING = float(_CEILINGS[-1])
# By so much the log-likelihood of a ceiling is lower where scores speak against it, as
# it is in about 1 of 70 runs of that ceiling.
_AGAINST = 3.0
_FINE = np.linspace(LEAST_CEILING, 1.0, 401)
# Rungs that runs of their curve are this seldom further from do not fit it.
_MISFIT = 0.01
_TINY = 1e-6
# By how much an interval is widened, times the share of items not asked.
_ADAPTIVE = 0.7


@dataclass(frozen=True, slots=True)
class Answers:
    """What one run scored on the ladder of a task, an entry for each answer with a score.

    Attributes:
        rungs: from 1.
        scores: in [0, 1], averaged over samples and over the scores of one answer.
        floors: what guessing scores; 0 where it is not known.
        top: the highest rung of the ladder.
    """

    rungs: Floats
    scores: Floats
    floors: Floats
    top: int


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
        value, low, high = np.clip(
            (self.value, self.low, self.high), FIRST - BEYOND, self.top + BEYOND
        )
        return float(value), float(low), float(high)

    @property
    def beyond(self) -> str | None:
        """Say "below 1" or "above 8" of a level that lies beyond the ladder."""
        if self.value < FIRST:
            return f"below {FIRST:g}"
        return f"above {self.top:g}" if self.value > self.top else None

    def cells(self) -> dict[str, float | str | None]:
        """Return level, low and high, null beyond the ladder, and beyond, as cells of a table."""
        inside = self.beyond is None
        return {
            "level": self.value if inside else None,
            "low": self.low if self.low >= FIRST else None,
            "high": self.high if self.high <= self.top else None,
            "beyond": self.beyond,
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted curve of one run on a task.

    Attributes:
        level: with its interval.
        places: levels that were tried, shape (places,).
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
        """Return what an item of each rung tells of the level: Fisher's, expected over the curves.

        With s the logistic curve, the information of an item is ``(c (1 - g) a s (1 - s))² / (p (1
        - p))``.
        """
        p = _chances(self.floor, self.ceiling)
        with np.errstate(divide="ignore", invalid="ignore"):
            passed = (p / self.ceiling - self.floor) / (1 - self.floor)
            passed = np.where(self.floor < 1, np.clip(passed, 0.0, 1.0), 0.0)
        rise = (
            self.ceiling * (1 - self.floor) * _SLOPES[:, None] * passed * (1 - passed)
        )
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


def places_of(top: int) -> Floats:
    """Return the levels that are tried on a ladder of so many rungs."""
    return np.linspace(
        FIRST - _REACH, top + _REACH, round((top - FIRST + 2 * _REACH) / _STEP) + 1
    )


def _chances(floor: Floats, ceiling: float = 1.0) -> Floats:
    """Return expected scores, of shape (places, slopes, rungs)."""
    rungs = np.arange(1, len(floor) + 1)
    steps = _SLOPES[:, None] * (rungs - places_of(len(floor))[:, None, None])
    p: Floats = floor + (1 - floor) / (1 + np.exp(np.clip(steps, -50, 50)))
    return np.clip(ceiling * p, _SURE, 1 - _SURE)


def _on_rungs(answers: Answers) -> tuple[Floats, Floats, Floats]:
    """Return answers, sum of scores and floor of each rung."""
    top, rung = answers.top, answers.rungs.astype(np.int64) - 1
    n = np.bincount(rung, minlength=top).astype(np.float64)
    right = np.bincount(rung, answers.scores, minlength=top).astype(np.float64)
    usual = float(answers.floors.mean()) if len(rung) else 0.0
    floor: Floats = np.where(
        n > 0,
        np.bincount(rung, answers.floors, minlength=top) / np.maximum(n, 1),
        usual,
    )
    return n, right, floor


def _dispersion(answers: Answers, right: Floats, n: Floats, chances: Floats) -> float:
    """Return how much scores vary, as a share of what right-or-wrong ones would."""
    if not len(answers.rungs):
        return 1.0
    rung = answers.rungs.astype(np.int64) - 1
    p = np.einsum("ha,har->r", _likely(right, n, chances, 1.0), chances)[rung]
    binary = float((p * (1 - p)).sum()) + _SMOOTHING
    within = float((answers.scores * (1 - answers.scores)).sum())
    return max(binary - within, _SMOOTHING) / binary


class Ceiling(NamedTuple):
    """The share of a run's replies that can be read, and one standard error to either side."""

    value: float
    low: float
    high: float


def share_read(read: int, replies: int) -> Ceiling:
    """Return the share of so many replies that was read, with its binomial error."""
    share = max(read / replies, LEAST_CEILING) if replies else 1.0
    error = float(np.sqrt(share * (1 - share) / max(replies, 1)))
    return Ceiling(share, max(share - error, LEAST_CEILING), min(share + error, 1.0))


def fit_ceiling(tasks: Sequence[Answers], known: Ceiling) -> Ceiling:
    """Return the share of replies of one run that can be read, over all its tasks.

    Args:
        tasks: what it scored on each ladder.
        known: what the status of its replies says, which stands unless scores speak against it:
            replies may be read and yet be worth nothing, however easy the item.
    """
    total = np.zeros(len(_CEILINGS))
    for answers in tasks:
        if not (answers.floors < 1).any():
            continue
        n, right, floor = _on_rungs(answers)
        plain = _chances(floor)
        dispersion = _dispersion(answers, right, n, plain)
        for i, ceiling in enumerate(_CEILINGS):
            chances = np.clip(ceiling * plain, _SURE, 1 - _SURE)
            total[i] += _loglik(right[None], n, chances, dispersion).max()
    at = int(total.argmax())
    if (
        float(np.interp(known.value, _CEILINGS[::-1], total[::-1]))
        >= total[at] - _AGAINST
    ):
        return known
    value = float(_CEILINGS[at])
    if 0 < at < len(total) - 1:  # by a parabola through the three best
        bend = np.polyfit(_CEILINGS[at - 1 : at + 2], total[at - 1 : at + 2], 2)
        value = float(-bend[1] / (2 * bend[0]))
    # A standard error away, the log-likelihood is lower by a half.
    within = np.interp(_FINE, _CEILINGS[::-1], total[::-1]) >= total[at] - 0.5
    return Ceiling(
        value, min(value, float(_FINE[within][0])), max(value, float(_FINE[within][-1]))
    )


def fit(
    answers: Answers, draws: int = DRAWS, level: float = LEVEL, ceiling: float = 1.0
) -> Fit:
    """Fit the curve of one run on a task.

    Args:
        answers: those with a score; there may be none, and whole rungs may lack.
        draws: simulated runs behind the interval; 0 for none, and an open interval.
        level: of the interval.
        ceiling: of the run, see `fit_ceiling`.
    """
    top, rung = answers.top, answers.rungs.astype(np.int64) - 1
    n, right, floor = _on_rungs(answers)
    chances = _chances(floor, ceiling)
    places = places_of(top)
    dispersion = _dispersion(answers, right, n, chances)
    weights = _likely(right, n, chances, dispersion)
    if not (floor[rung] < 1).any():  # no answers, or none that could tell anything
        blank = Level(np.nan, -np.inf, np.inf, top)
        return Fit(blank, places, weights, floor, floor[rung], dispersion, ceiling)
    marginal = np.log(np.maximum(weights.sum(axis=1), 1e-300))
    value = _peak(marginal, places)
    at = int(np.abs(places - np.clip(value, FIRST - BEYOND, top + BEYOND)).argmin())
    by_slope = weights[at] / weights[at].sum()
    low, high, misfit = -np.inf, np.inf, ""
    expected: Floats = by_slope @ chances[at]
    if draws:
        runs = _simulated(n, chances[at], by_slope, dispersion, draws)
        marginals, highest = _fitted_runs(runs, n, chances, dispersion)
        short = np.log(marginals.max(axis=1)) - np.log(
            np.maximum(marginals[:, at], 1e-30)
        )
        low, high = _interval_ends(marginal, places, float(np.quantile(short, level)))
        deviance = _saturated(runs, n, dispersion) - highest
        own = _saturated(right[None], n, dispersion)[0]
        own -= _loglik(right[None], n, chances, dispersion).max()
        if (deviance >= own - _TINY).mean() < _MISFIT:
            misfit = _misfit(right, n, expected)
    slope = float(by_slope @ _SLOPES)
    estimate = Level(value, low, high, top, slope, int(value < FIRST), int(value > top))
    return Fit(
        estimate, places, weights, floor, expected[rung], dispersion, ceiling, misfit
    )


def _saturated(right: Floats, n: Floats, dispersion: float) -> Floats:
    """Return the log-likelihood of rungs that are each as likely as can be, by run."""
    share = np.clip(right / np.maximum(n, 1), _SURE, 1 - _SURE)
    summed: Floats = (right * np.log(share) + (n - right) * np.log1p(-share)).sum(
        axis=1
    )
    return summed / dispersion


def _misfit(right: Floats, n: Floats, expected: Floats) -> str:
    """Return how rungs do not fit their curve: the rung that is furthest from it, or a flat line.

    They are flat if the same score on all rungs is likelier than the curve.
    """
    with np.errstate(invalid="ignore"):
        away = np.where(
            n > 0, (right - n * expected) / np.sqrt(n * expected * (1 - expected)), 0.0
        )
    same = np.clip(np.full(len(n), right.sum() / n.sum()), _SURE, 1 - _SURE)
    flat, curve = (
        float((right * np.log(p) + (n - right) * np.log1p(-p)).sum())
        for p in (same, expected)
    )
    if flat > curve:
        return "flat"
    rung = int(np.abs(away).argmax())
    return f"{'bump' if away[rung] > 0 else 'dip'} at {rung + 1}"


def _loglik(right: Floats, n: Floats, chances: Floats, dispersion: float) -> Floats:
    """Return log-likelihood plus log-prior, of shape (runs, places, slopes)."""
    odds = np.log(chances) - np.log1p(-chances)
    flat = odds.reshape(-1, len(n))
    summed = (right @ flat.T).reshape(-1, *chances.shape[:2])
    surface: Floats = (summed + np.log1p(-chances) @ n) / dispersion + _LOG_PRIOR
    return surface


def _likely(right: Floats, n: Floats, chances: Floats, dispersion: float) -> Floats:
    """Return how likely each curve is, adding up to 1, of shape (places, slopes)."""
    surface = _loglik(right[None], n, chances, dispersion)[0]
    weights = np.exp(surface - surface.max())
    shares: Floats = weights / weights.sum()
    return shares


def _peak(marginal: Floats, places: Floats) -> float:
    """Return where a curve is highest, by a parabola through the three highest places."""
    at = int(marginal.argmax())
    if at in {0, len(places) - 1}:
        return float(np.copysign(np.inf, at - 1))  # nowhere near the ladder
    before, here, after = marginal[at - 1 : at + 2]
    bend = before - 2 * here + after
    return float(
        places[at] + (_STEP * (before - after) / (2 * bend) if bend < 0 else 0.0)
    )


def _simulated(
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
    rungs = np.repeat(np.arange(len(n)), n.astype(np.int64))
    uniform = uniform_numbers(draws, len(rungs) + 1)
    slope = np.searchsorted(np.cumsum(by_slope)[:-1], uniform[:, 0])
    p = chances[slope]
    counts = (uniform[:, 1:] < p[:, rungs]) @ (
        rungs[:, None] == np.arange(len(n))
    ).astype(float)
    sums: Floats = n * p + dispersion**0.5 * (counts - n * p)
    return sums


@lru_cache(maxsize=8)
def uniform_numbers(rows: int, columns: int) -> Floats:
    """Return numbers in [0, 1) of bits that numpy keeps fixed."""
    bits = np.random.PCG64(Stream("levels", rows, columns).getrandbits(128))
    words = bits.random_raw(rows * columns) >> np.uint64(11)
    return words.astype(np.float64).reshape(rows, columns) * 2.0**-53


def _fitted_runs(
    runs: Floats, n: Floats, chances: Floats, dispersion: float
) -> tuple[Floats, Floats]:
    """Return the likelihood of each run at each place, as a share of its greatest, and that one."""
    # Half the digits in half the time: a limit needs three.
    flat = chances.astype(np.float32).reshape(-1, len(n))
    odds, wrong = np.log(flat / (1 - flat)), np.log1p(-flat) @ n.astype(np.float32)
    prior = np.tile(_LOG_PRIOR.astype(np.float32), len(chances))
    surface = runs.astype(np.float32) @ (odds / np.float32(dispersion)).T
    surface += wrong / np.float32(dispersion) + prior
    highest = surface.max(axis=1)
    surface -= highest[:, None]
    marginal = (
        np.exp(surface, out=surface).reshape(len(runs), *chances.shape[:2]).sum(axis=2)
    )
    return marginal, highest


def _interval_ends(
    marginal: Floats, places: Floats, limit: float
) -> tuple[float, float]:
    """Return where the likelihood crosses the limit; infinite where it does not."""
    over = marginal - (marginal.max() - limit)
    inside = np.flatnonzero(over >= 0)
    first, last = int(inside[0]), int(inside[-1])
    low, high = -np.inf, np.inf
    if first > 0:
        low = float(
            np.interp(0.0, over[first - 1 : first + 1], places[first - 1 : first + 1])
        )
    if last < len(places) - 1:
        high = float(np.interp(0.0, over[[last + 1, last]], places[[last + 1, last]]))
    return low, high


def mean_level(
    levels: Sequence[Level],
    answered: float = 1.0,
    drift: tuple[float, float] = (0.0, 0.0),
) -> Level:
    """Return the mean of tasks' levels, which are of different items.

    Args:
        levels: at least one; see `Level.clipped` for those beyond the ladder.
        answered: share of the ladder's items. Items that were asked near the level, by answers so
            far, tell less than as many that were chosen beforehand, so with fewer of them the
            interval is widened; docs/evidence.md has how that was measured.
        drift: how far down and up the mean goes with the ceiling, which all tasks share.
    """
    k = len(levels)
    if k == 1:
        return levels[0]
    clipped = np.array([level.clipped() for level in levels])
    tops = np.array([level.top for level in levels])
    value = float(clipped[:, 0].mean())
    wider = (1 + _ADAPTIVE * (1 - answered)) / k
    down, up = (
        float(
            np.hypot(
                np.hypot.reduce(clipped[:, 0] - clipped[:, end]) * wider, drift[end - 1]
            )
        )
        for end in (1, 2)
    )
    # What no task bounds is open.
    low = value - down if (clipped[:, 1] > FIRST - BEYOND).any() else -np.inf
    high = value + up if (clipped[:, 2] < tops + BEYOND).any() else np.inf
    return Level(
        value,
        low,
        high,
        float(tops.mean()),
        below=sum(level.below for level in levels),
        above=sum(level.above for level in levels),
    )


def level_difference(
    first: Sequence[Level],
    second: Sequence[Level],
    alike: Floats | float = 0.0,
    drift: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float, float]:
    """Return the mean difference of tasks' levels, second minus first, with its interval.

    Args:
        first: one run's levels.
        second: another's, on the same tasks.
        alike: the correlation of their luck, from 0 for different items to 1; for all tasks, or
            one for each.
        drift: how far down and up the mean difference goes with the runs' ceilings.

    Returns:
        The difference and the ends, each level held within half a rung beyond its ladder.
    """
    first_ends, second_ends = (
        np.array([level.clipped() for level in levels]) for levels in (first, second)
    )
    change = second_ends[:, 0] - first_ends[:, 0]
    down_one, down_two = (
        first_ends[:, 0] - first_ends[:, 1],
        second_ends[:, 0] - second_ends[:, 1],
    )
    up_one, up_two = (
        first_ends[:, 2] - first_ends[:, 0],
        second_ends[:, 2] - second_ends[:, 0],
    )
    lower = down_two**2 + up_one**2 - 2 * alike * down_two * up_one
    upper = up_two**2 + down_one**2 - 2 * alike * up_two * down_one
    k = len(change)
    value = float(change.mean())
    low, high = (
        float(np.hypot(np.sqrt(np.maximum(side, 0).sum()) / k, drift[end]))
        for end, side in enumerate((lower, upper))
    )
    return value, value - low, value + high
