"""Kappa and its interval: against the formula by brute force, and its coverage."""

import numpy as np
import pytest

from scbench.analysis.failure_modes.agreement import kappa_interval


def kappa(table):
    n = table.sum()
    agreed = np.trace(table) / n
    chance = (table.sum(0) @ table.sum(1)) / n**2
    return (agreed - chance) / (1 - chance)


def test_a_large_table_has_the_interval_of_the_delta_method():
    """Against numeric derivatives of kappa by the shares of the cells."""
    table = np.array([[400.0, 60, 10], [50, 300, 40], [20, 30, 90]])
    n = table.sum()
    shares = (table / n).ravel()

    def of(p):
        return kappa(p.reshape(3, 3) / p.sum())

    slopes = np.array([(of(shares + step) - of(shares - step)) / 2e-6 for step in np.eye(9) * 1e-6])
    variance = (slopes**2 @ shares - (slopes @ shares) ** 2) / n
    low, high = kappa_interval(table, kappa(table))
    assert (high - low) / 2 == pytest.approx(1.96 * variance**0.5, rel=0.02)
    assert (high + low) / 2 == pytest.approx(kappa(table), abs=0.005)


def test_perfect_agreement_on_few_is_no_proof():
    low, high = kappa_interval(np.diag([3.0, 2.0, 1.0]), 1.0)
    assert low < 0.7
    assert high == 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_interval_holds_the_truth_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    truth = np.array([[0.4, 0.08, 0.02], [0.05, 0.2, 0.05], [0.02, 0.08, 0.1]])
    present = total = 0
    for _ in range(1500):
        table = rng.multinomial(n, truth.ravel()).reshape(3, 3).astype(float)
        if table.sum(0).max() == table.sum(1).max() == n:
            continue
        low, high = kappa_interval(table, kappa(table))
        total += 1
        present += low <= kappa(truth) <= high
    assert 0.92 <= present / total <= 0.985
