"""Intervals of means: known values, edges, and properties for any scores."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.intervals import (
    condense,
    condense_differences,
    difference_interval,
    mean_interval,
)

# Right and wrong are drawn as often as all partial scores together.
SCORE = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
SCORES = st.lists(SCORE, min_size=1, max_size=40)


def column(values):
    """One run's numbers: the functions take a column for each run."""
    return np.array(values, float)[:, None]


def interval(values, weights=None, level=0.95):
    given_weights = None if weights is None else column(weights)
    low, high = mean_interval([condense(column(values), given_weights)], level)
    return float(low[0]), float(high[0])


def wilson(k, n):
    """Wilson's interval by solving |k/n - p| = z sqrt(p (1 - p) / n) for p."""
    z = NormalDist().inv_cdf(0.975)
    roots = np.roots([1 + z * z / n, -(2 * k + z * z) / n, (k / n) ** 2])
    low, high = np.sort(roots.real)
    return low, high


@pytest.mark.parametrize("n", [1, 2, 6, 10, 40])
def test_all_right_and_all_wrong_equal_wilsons(n):
    assert interval([1] * n) == pytest.approx(wilson(n, n))
    assert interval([0] * n) == pytest.approx(wilson(0, n))


def test_binary_scores_are_near_wilsons_and_never_narrower():
    for n in range(6, 41):
        for k in range(n + 1):
            low, high = interval([1] * k + [0] * (n - k))
            wilson_low, wilson_high = wilson(k, n)
            assert low <= wilson_low + 1e-12
            assert high >= wilson_high - 1e-12
            assert (high - low) / (wilson_high - wilson_low) < 1.3


@given(SCORES)
def test_interval_contains_its_mean_within_0_and_1_and_is_mirrored(values):
    low, high = interval(values)
    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1
    assert low < high
    mirrored_low, mirrored_high = interval([1 - value for value in values])
    assert (1 - mirrored_high, 1 - mirrored_low) == pytest.approx((low, high), abs=1e-7)


@given(SCORES, st.integers(2, 9))
@settings(max_examples=50)
def test_equally_weighted_scores_count_equally(values, weight):
    weighted = interval(values, [weight] * len(values))
    assert weighted == pytest.approx(interval(values), abs=1e-9)


def test_missing_scores_have_no_effect():
    with_gap = interval([1, 0, 0.25, 1, 0.5], [1, 1, 0, 1, 1])
    assert with_gap == pytest.approx(interval([1, 0, 1, 0.5]))
    assert np.isnan(interval([0.5], [0])).all()


def test_one_answer_shows_no_spread():
    low, high = interval([0.5])
    assert high - low > 0.8
    nine_scores = interval([0.5], [9])
    assert nine_scores == (low, high), "nine scores of one answer are one observation"


@given(SCORES)
@settings(max_examples=50)
def test_bucket_of_one_task_equals_that_task(values):
    task = condense(column(values))
    unanswered = condense(column([0, 0, 0]), column([0, 0, 0]))
    assert np.allclose(mean_interval([task]), mean_interval([unanswered, task]))


def test_task_without_a_wrong_answer_keeps_its_share_of_uncertainty():
    sure, unsure = [1] * 6, [1, 0, 1, 0, 1, 0]
    low, high = mean_interval([condense(column(sure)), condense(column(unsure))])
    unsure_low, unsure_high = interval(unsure)
    # If the sure task's mean were known, the bucket would have half the width of the other.
    assert high[0] - low[0] > (unsure_high - unsure_low) / 2


def test_differences_of_equal_scores_still_have_uncertainty():
    for n in (1, 6, 40):
        low, high = difference_interval([condense_differences(np.zeros((n, 1)))])
        assert low[0] == pytest.approx(-high[0])
        assert 0.03 < high[0] <= 1
    low, high = difference_interval([condense_differences(np.ones((6, 1)))])
    wilson_low, _ = wilson(6, 6)
    # Differences lie within -1 and 1: twice as wide as scores.
    assert high[0] == pytest.approx(1)
    assert low[0] == pytest.approx(2 * wilson_low - 1)


def test_higher_level_is_wider():
    wide_low, _ = interval([1, 0, 0.5], level=0.99)
    narrow_low, _ = interval([1, 0, 0.5], level=0.8)
    assert wide_low < narrow_low
