"""The half-way point: recovered from simulated curves, with the coverage its interval claims."""

import numpy as np
import pytest

from scbench.analysis.falloff import half_interval
from scbench.analysis.half_points import half_point

VALUES = np.array([2.0, 4.0, 6.0, 8.0, 10.0, 12.0])


def simulated(rng, half, slope, n=40, floor=0.0, values=VALUES):
    chance = floor + (1 - floor) / (1 + np.exp(slope * (values - half)))
    right = rng.binomial(n, chance).astype(float)
    counts = np.full(len(values), float(n))
    floors = np.full(len(values), floor)
    return values, right, counts, floors


@pytest.mark.parametrize("floor", [0.0, 0.5])
@pytest.mark.parametrize("half", [5.0, 7.5])
def test_half_way_point_is_recovered(floor, half):
    rng = np.random.default_rng(1)
    result = half_point(*simulated(rng, half, 1.2, n=400, floor=floor))
    assert result.value == pytest.approx(half, abs=0.5)
    assert result.low < half < result.high
    assert result.falls


@pytest.mark.slow
@pytest.mark.parametrize("floor", [0.0, 0.33])
def test_interval_has_the_coverage_it_claims(floor):
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(150):
        result = half_point(*simulated(rng, 6.7, 0.9, n=30, floor=floor))
        assert result is not None
        # An end beyond all values is None.
        low = -np.inf if result.low is None else result.low
        high = np.inf if result.high is None else result.high
        covered += low <= 6.7 <= high
    assert 0.9 <= covered / 150 <= 1.0


def test_flat_curve_has_no_half_way_point():
    n = np.full(6, 20.0)
    for share_right in (0, 0.5, 1):
        assert half_point(VALUES, n * share_right, n, np.zeros(6)) is None


def test_step_is_half_way_between_and_distant_points_are_open():
    n = np.full(6, 20.0)
    step = half_point(VALUES, n * (VALUES < 7), n, np.zeros(6))
    assert 6 < step.value < 8
    assert step.low >= 5
    assert step.high <= 9
    slow = half_point(VALUES, n - VALUES / 2, n, np.zeros(6))
    assert slow.high is None
    assert half_interval({"half_low": 2.0, "half_high": None}) == "above 2.00"


def test_scores_at_the_floor_are_not_half():
    """A guesser at one half is not half-way: it has nothing above the floor."""
    n = np.full(6, 200.0)
    right = np.array([200, 200, 200, 100, 100, 100.0])
    result = half_point(VALUES, right, n, np.full(6, 0.5))
    assert 6 < result.value < 8
