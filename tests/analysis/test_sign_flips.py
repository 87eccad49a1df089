"""The paired test: against enumeration and scipy, and its properties for any differences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from later import Later

from scbench.analysis.sign_flips import adjusted, lines_tested, sign_test

stats = Later("scipy.stats")

changes = st.lists(
    st.tuples(*[st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])] * 3),
    min_size=1,
    max_size=9,
)


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=60)
def test_sign_test_equals_mcnemars(first, second):
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert sign_test(first, second) == pytest.approx(expected, rel=1e-9)


def by_enumeration(change, weights):
    """Plain and corrected p-values over all signs, by the definition of the step-down."""
    spread = np.sqrt((change**2).sum(axis=0))
    result = np.abs(change.sum(axis=0)) / spread
    every = np.array(list(product([1, -1], repeat=len(change))))
    simulated = np.abs(every @ change) / spread
    plain = (simulated >= result - 1e-9).mean(axis=0)
    order = np.argsort(-result, kind="stable")
    corrected = np.empty(len(result))
    worst = 0.0
    for i, line in enumerate(order):
        largest = simulated[:, order[i:]].max(axis=1)
        worst = max(worst, (largest >= result[line] - 1e-9).mean())
        corrected[line] = worst
    return plain, np.maximum(corrected, plain)


@given(changes)
@settings(max_examples=60, deadline=None)
def test_few_answers_are_tested_by_all_signs(rows):
    change = np.array(rows)
    change = np.column_stack([change, change.sum(axis=1)])
    change = change[:, (change**2).sum(axis=0) > 0]
    if not change.shape[1]:
        return
    weights = np.ones_like(change)
    plain, corrected = by_enumeration(change, weights)
    tested = lines_tested(change, weights)
    assert tested.p_value == pytest.approx(plain)
    assert tested.p_corrected == pytest.approx(corrected)


def test_draws_are_close_to_enumeration():
    rng = np.random.default_rng(4)
    change = rng.uniform(-0.4, 1, (14, 1))
    plain, _ = by_enumeration(change, np.ones_like(change))
    tested = lines_tested(change, np.ones_like(change))
    assert tested.p_value[0] == pytest.approx(plain[0], abs=0.003)


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=20, max_size=60), st.randoms()
)
@settings(max_examples=20, deadline=None)
def test_binary_scores_are_exact_and_the_order_of_rows_does_not_matter(values, random):
    change = np.array(values)[:, None]
    tested = lines_tested(change, np.ones_like(change), draws=1000)
    less, extra = values.count(-1.0), values.count(1.0)
    expected = stats.binomtest(less, less + extra).pvalue if less + extra else 1.0
    assert tested.p_value[0] == pytest.approx(expected)
    shuffled = random.sample(values, len(values))
    again = lines_tested(np.array(shuffled)[:, None], np.ones_like(change), draws=1000)
    assert again.p_value[0] == tested.p_value[0]


def test_corrected_values_are_no_smaller_and_keep_the_order_of_statistics():
    rng = np.random.default_rng(1)
    result = np.array([3.0, 1.0, 2.0, 0.1])
    simulated = np.abs(rng.normal(size=(5000, 4)))
    p = adjusted(result, iter([simulated]), 99)
    order = np.argsort(-result)
    assert (np.diff(p[order]) >= 0).all()
    single = [((simulated[:, i] >= result[i]).sum() + 1) / 5001 for i in range(4)]
    assert (p >= np.array(single) - 1e-12).all()
    assert p[0] < 0.03


def test_five_answers_are_never_significant_and_six_can_be():
    for n, small in ((1, True), (5, True), (6, False)):
        change = np.zeros((n, 1))
        change[0] = 1.0
        change[-1] -= 1.0 if n > 1 else 0.0
        tested = lines_tested(change, np.ones_like(change))
        assert bool(tested.too_few[0]) is small
    for n in (6, 13):  # up to thirteen all signs are tried
        best = np.ones((n, 1))
        assert lines_tested(best, best).p_corrected[0] == pytest.approx(2 / 2**n)


def test_power_matches_the_table():
    """Of pairs that differ by the detectable difference of a line, about 80 % are significant."""
    rng = np.random.default_rng(8)
    n, rate = 200, 0.4
    weights = np.ones((n, 1))
    output, result, times = [], 0, 400
    size = None
    for _ in range(times):
        if size is None:
            usual = (rng.random((n, 1)) < rate) * rng.choice([-1.0, 1.0], (n, 1))
            size = lines_tested(usual, weights, draws=2000).shows[0]
        up = (rate + size) / 2
        draw = rng.random((n, 1))
        change = np.where(draw < up, 1.0, np.where(draw < rate, -1.0, 0.0))
        tested = lines_tested(change, weights, draws=1000)
        output.append(tested.shows[0])
        result += tested.p_corrected[0] <= 0.05
    assert 0.7 <= result / times <= 0.9
    assert size == pytest.approx(np.median(output), rel=0.15)
