"""The paired test: against enumeration and scipy, and its properties for any differences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from later import Later

from scbench.analysis.sign_flips import sign_flip_tests, sign_test, step_down_p_values

stats = Later("scipy.stats")

# The score differences of up to nine answers in three lines of a table.
CHANGE = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
CHANGES = st.lists(st.tuples(CHANGE, CHANGE, CHANGE), min_size=1, max_size=9)


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=60)
def test_sign_test_equals_mcnemars(first, second):
    assert sign_test(first, second) == pytest.approx(mcnemar(first, second), rel=1e-9)


def mcnemar(first: int, second: int) -> float:
    if first + second == 0:
        return 1.0
    return stats.binomtest(first, first + second).pvalue


def by_enumeration(change, weights):
    """Plain and corrected p-values over all signs, by the definition of the step-down."""
    spread = np.sqrt((change**2).sum(axis=0))
    result = np.abs(change.sum(axis=0)) / spread
    every = np.array(list(product([1, -1], repeat=len(change))))
    simulated = np.abs(every @ change) / spread
    # The margin makes equal sums equal, whatever their rounding.
    plain = (simulated >= result - 1e-9).mean(axis=0)
    order = np.argsort(-result, kind="stable")
    corrected = np.empty(len(result))
    worst = 0.0
    for i, line in enumerate(order):
        # The largest statistic among this line and all with smaller ones.
        largest = simulated[:, order[i:]].max(axis=1)
        worst = max(worst, (largest >= result[line] - 1e-9).mean())
        corrected[line] = worst
    return plain, np.maximum(corrected, plain)


@given(CHANGES)
@settings(max_examples=60, deadline=None)
def test_few_answers_are_tested_by_all_signs(rows):
    lines = np.array(rows)
    with_overall = np.column_stack([lines, lines.sum(axis=1)])
    # Lines without any difference are not tested.
    change = with_overall[:, with_overall.any(axis=0)]
    if not change.shape[1]:
        return
    weights = np.ones_like(change)
    plain, corrected = by_enumeration(change, weights)
    tested = sign_flip_tests(change, weights)
    assert tested.p_value == pytest.approx(plain)
    assert tested.p_corrected == pytest.approx(corrected)


def test_draws_are_close_to_enumeration():
    rng = np.random.default_rng(4)
    change = rng.uniform(-0.4, 1, (14, 1))
    plain, _ = by_enumeration(change, np.ones_like(change))
    tested = sign_flip_tests(change, np.ones_like(change))
    assert tested.p_value[0] == pytest.approx(plain[0], abs=0.003)


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=20, max_size=60), st.randoms()
)
@settings(max_examples=20, deadline=None)
def test_binary_scores_are_exact_and_the_order_of_rows_does_not_matter(values, random):
    change = np.array(values)[:, None]
    tested = sign_flip_tests(change, np.ones_like(change), draws=1000)
    expected = mcnemar(values.count(-1.0), values.count(1.0))
    assert tested.p_value[0] == pytest.approx(expected)
    shuffled = np.array(random.sample(values, len(values)))[:, None]
    again = sign_flip_tests(shuffled, np.ones_like(change), draws=1000)
    assert again.p_value[0] == tested.p_value[0]


def test_corrected_values_are_no_smaller_and_keep_the_order_of_statistics():
    rng = np.random.default_rng(1)
    result = np.array([3.0, 1.0, 2.0, 0.1])
    simulated = np.abs(rng.normal(size=(5000, 4)))
    p_values = step_down_p_values(result, iter([simulated]), 99)
    order = np.argsort(-result)
    assert (np.diff(p_values[order]) >= 0).all()
    # The observed signs count as one more draw.
    uncorrected = ((simulated >= result).sum(axis=0) + 1) / (5000 + 1)
    assert (p_values >= uncorrected - 1e-12).all()
    assert p_values[0] < 0.03


def test_five_answers_are_never_significant_and_six_can_be():
    for changes, too_few in (
        ([1], True),
        ([1, 0, 0, 0, -1], True),
        ([1, 0, 0, 0, 0, -1], False),
    ):
        change = np.array(changes, dtype=float)[:, None]
        tested = sign_flip_tests(change, np.ones_like(change))
        assert bool(tested.too_few[0]) is too_few
    for n in (6, 13):  # up to thirteen all signs are tried
        best = np.ones((n, 1))
        assert sign_flip_tests(best, best).p_corrected[0] == pytest.approx(2 / 2**n)


def test_power_matches_the_table():
    """Of pairs that differ by the detectable difference of a line, about 80 % are significant."""
    rng = np.random.default_rng(8)
    n, rate, times = 200, 0.4, 400
    weights = np.ones((n, 1))
    # Models that differ on `rate` of the items, in either direction equally often.
    usual = (rng.random((n, 1)) < rate) * rng.choice([-1.0, 1.0], (n, 1))
    size = sign_flip_tests(usual, weights, draws=2000).shows[0]
    # Now the second model is ahead by the detectable difference.
    ahead = (rate + size) / 2
    sizes, significant = [], 0
    for _ in range(times):
        draw = rng.random((n, 1))
        change = np.select([draw < ahead, draw < rate], [1.0, -1.0], 0.0)
        tested = sign_flip_tests(change, weights, draws=1000)
        sizes.append(tested.shows[0])
        significant += tested.p_corrected[0] <= 0.05
    assert 0.7 <= significant / times <= 0.9
    assert size == pytest.approx(np.median(sizes), rel=0.15)
