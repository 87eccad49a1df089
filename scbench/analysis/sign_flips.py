"""A paired test for the difference between runs, corrected over all lines of a table.

Under the null hypothesis that two runs do not differ, the signs of the differences are
random. A line's statistic is the sum of its answers' differences divided by the root of
the sum of their squares; for scores of 0 or 1, the test is McNemar's exact test. Signs
are drawn once for all lines of a table, so lines that share answers stay correlated,
and all scores of one answer get the same sign.

The correction is the step-down method of Romano and Wolf: the largest statistic is compared with
the largest of each draw, the next with the largest of the remaining lines, and so on. If runs do
not differ, the chance of any significant line in the table is at most 5 %.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, floor
from statistics import NormalDist

import numpy as np

from scbench.base.intervals import LEVEL, Floats
from scbench.base.seeding import Stream

DRAWS = 10_000
# Power at the detectable difference.
POWER = 0.8
# Tolerance for rounding errors in comparisons of statistics.
EXACT = 1e-9
# Draws of signs that are multiplied at a time.
_CHUNK = 1_000
# Maximum number of statistics cached in memory.
_MAX_CACHED = 4_000_000
# Up to this many answers, all combinations of signs are used instead of random draws.
_ALL_SIGNS = 13
# Differences smaller than this are rounding errors.
_NONE = 1e-12


@dataclass(frozen=True, slots=True)
class Tested:
    """The tests of all lines of a table; arrays of shape (lines,).

    Attributes:
        p_value: p-value of this line alone, exact if answers are few or all differences
            have the same size.
        p_corrected: p-value corrected over all lines of the table.
        too_few: whether no outcome could be significant.
        shows: the detectable difference at the power `POWER`; NaN if there is none.
    """

    p_value: Floats
    p_corrected: Floats
    too_few: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
    shows: Floats


class _Statistics:
    """Absolute statistics of all draws, in batches; cached if they are few.

    Args:
        flips: signs, of shape (draws, answers).
        scaled: differences of each line, scaled so that their squares add up to 1, of
            shape (answers, lines).
    """

    def __init__(self, flips: Floats, scaled: Floats) -> None:
        self._draws = len(flips)
        self._flips = np.ascontiguousarray(flips.T)
        # Most lines contain few of the answers.
        self._lines = []
        for line, column in enumerate(scaled.T):
            answers = np.flatnonzero(column)
            self._lines.append((answers, scaled[answers, line]))
        is_small = self._draws * len(self._lines) <= _MAX_CACHED
        self._cache = list(self._chunks()) if is_small else None

    def __iter__(self) -> Iterator[Floats]:
        return self._chunks() if self._cache is None else iter(self._cache)

    def _chunks(self) -> Iterator[Floats]:
        for start in range(0, self._draws, _CHUNK):
            flips = self._flips[:, start : start + _CHUNK]
            sums = [values @ flips[answers] for answers, values in self._lines]
            yield np.abs(np.column_stack(sums))


def sign_flip_tests(
    differences: Floats,
    weights: Floats,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
) -> Tested:
    """Test the lines of a table.

    Args:
        differences: shape (answers, lines): summed over an answer's scores; 0 if the
            line does not cover the answer, or the runs do not differ.
        weights: number of the line's scores in the answer, in the same shape.
        level: one minus the level of the test.
        draws: number of draws of signs.
        seed: seed of the draws.
    """
    n = len(differences)
    alpha = 1 - level
    spread = np.sqrt((differences**2).sum(axis=0))
    has_difference = spread > _NONE
    divisor = np.where(has_difference, spread, 1)
    scaled = np.where(has_difference, differences / divisor, 0.0)
    observed = np.abs(scaled.sum(axis=0))
    flips = signs(n, draws, seed)
    simulated = _Statistics(flips, scaled)

    # Draws whose statistic is at least as large, by line.
    counts = np.zeros(len(observed))
    for chunk in simulated:
        counts += (chunk >= observed - EXACT).sum(axis=0)
    p_values = share_of_draws(counts, len(flips), n)
    for line in np.flatnonzero(has_difference):
        exact = exact_p_value(differences[:, line])
        if exact is not None:
            p_values[line] = exact
    p_values = np.where(has_difference, p_values, 1.0)
    step_down = step_down_p_values(observed, simulated, n)
    step_down = np.where(has_difference, step_down, 1.0)
    # A single line's exact p-value can exceed the one from draws.
    corrected = np.maximum(step_down, p_values)

    # Significant lines no longer count in the correction of the others.
    is_tied = corrected > alpha
    maxima = [chunk[:, is_tied].max(axis=1, initial=0.0) for chunk in simulated]
    largest = np.concatenate(maxima)
    answers = (weights > 0).sum(axis=0)
    too_few = is_tied & (least_p_values(answers, largest, n) > alpha)
    limit_of_draws = float(np.quantile(largest, level, method="higher"))
    limit = max(limit_of_draws, NormalDist().inv_cdf(1 - alpha / 2))
    shows = detectable_differences(spread, weights, limit)
    return Tested(p_values, corrected, too_few, shows)


@lru_cache(maxsize=2)
def signs(n: int, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Return signs for n answers: all combinations if there are few, else random draws.

    Args:
        n: number of answers.
        draws: number of draws.
        seed: seed of the draws.

    Returns:
        Shape (draws, n), of 1 and -1. Each row also represents its opposite.
    """
    if n <= _ALL_SIGNS:
        # Row k has the signs that are the bits of k; the last sign is always positive.
        rows = np.arange(2 ** max(n - 1, 0))
        is_negative = (rows[:, None] >> np.arange(n)) & 1
        return 1.0 - 2.0 * is_negative.astype(np.float64)
    # Bits of a stream that numpy keeps fixed.
    generator = np.random.PCG64(Stream("ranks", seed).getrandbits(128))
    words_of_draw = ceil(n / 64)
    words = generator.random_raw(draws * words_of_draw).reshape(draws, -1)
    # The same bytes on machines of either byte order.
    octets = words.astype("<u8").view(np.uint8)
    ones = np.unpackbits(octets, axis=1)[:, :n]
    return ones.astype(np.float64) * 2 - 1


def step_down_p_values(observed: Floats, simulated: Iterable[Floats], n: int) -> Floats:
    """Return p-values, corrected over all lines of a table by the step-down method.

    Args:
        observed: sizes of the statistics, shape (lines,).
        simulated: sizes of the statistics of draws, some draws at a time, shape (draws, lines).
        n: number of answers, which decides whether the draws are exhaustive.
    """
    order = np.argsort(-observed, kind="stable")
    counts = np.zeros(len(observed))
    total = 0
    for chunk in simulated:
        # From the smallest statistic up: the largest among the remaining ones.
        backwards = chunk[:, order][:, ::-1]
        largest = np.maximum.accumulate(backwards, axis=1)[:, ::-1]
        counts += (largest >= observed[order] - EXACT).sum(axis=0)
        total += len(chunk)
    p_values = np.empty_like(counts)
    # A p-value is never smaller than the one before it.
    p_values[order] = np.maximum.accumulate(share_of_draws(counts, total, n))
    return p_values


def share_of_draws(counts: Floats, total: int, n: int) -> Floats:
    """Return the share of draws; for random draws, the observed signs count as one draw."""
    extra = int(n > _ALL_SIGNS)
    share: Floats = (counts + extra) / (total + extra)
    return share


def draws_within(alpha: float, total: int, n: int) -> int:
    """Return how many draws may reach a statistic with a p-value up to `alpha`; -1 if none can."""
    # As in `share_of_draws`.
    extra = int(n > _ALL_SIGNS)
    return floor(alpha * (total + extra) + _NONE) - extra


def exact_p_value(differences: Floats) -> float | None:
    """Return the two-sided p-value of one line; None if it needs draws."""
    nonzero = differences[np.abs(differences) > _NONE]
    # All of one size: only their signs matter.
    if np.ptp(np.abs(nonzero)) < EXACT:
        negative = int((nonzero < 0).sum())
        return sign_test(negative, len(nonzero) - negative)
    if len(nonzero) > _ALL_SIGNS:
        return None
    sums = np.abs(signs(len(nonzero)) @ nonzero)
    return float((sums >= abs(nonzero.sum()) - EXACT).mean())


def sign_test(negative: int, positive: int) -> float:
    """Return the two-sided p-value of the sign test: McNemar's exact test.

    Args:
        negative: number of differences below 0.
        positive: number of differences above 0.
    """
    n = negative + positive
    tail = sum(comb(n, k) for k in range(min(negative, positive) + 1))
    return min(1.0, float(2 * tail / 2**n))


def least_p_values(answers: Floats, largest: Floats, n: int) -> Floats:
    """Return the smallest p-value that an outcome could have, by line.

    Args:
        answers: answers of each line.
        largest: statistic of each draw.
        n: answers of the table.
    """
    # All answers of a line differ by the same amount in the same direction.
    best = np.sqrt(answers)
    reached = (largest[:, None] >= best - EXACT).sum(axis=0, dtype=float)
    by_draws = share_of_draws(reached, len(largest), n)
    by_signs = np.where(answers > 0, 2.0 ** (1.0 - answers), 1.0)
    return np.maximum(by_draws, by_signs)


def detectable_differences(spread: Floats, weights: Floats, limit: float) -> Floats:
    """Return the differences that a test with this limit detects with probability `POWER`.

    Assumes that runs differ as often as observed, or only in favour of the better one if that
    requires a larger difference.
    """
    reach = limit + NormalDist().inv_cdf(POWER)
    n = weights.sum(axis=0)
    # Lines without scores divide by 0.
    with np.errstate(invalid="ignore", divide="ignore"):
        usual = reach * spread / n
        mean_square = (weights**2).sum(axis=0) / n
        all_one_way = reach**2 * mean_square / n
        detectable = np.maximum(usual, all_one_way)
        return np.where(detectable <= 1, detectable, np.nan)
