"""The level of a model on a ladder: known cases, and recovered from simulated models."""

import ladder_simulation as sim
import numpy as np
import polars as pl
import pytest

from scbench.analysis.ceilings import Ceiling, fit_ceiling, share_read
from scbench.analysis.curves import Answers, RungSums, misfit_words
from scbench.analysis.level_means import level_difference, mean_level
from scbench.analysis.levels import Level, fit, interval_ends


def climbed(*right: float, each: int = 6, floor: float = 0.0) -> Answers:
    """Answers with a given number of correct ones on each rung."""
    rungs, scores = [], []
    for rung, count in enumerate(right, 1):
        rungs += [float(rung)] * each
        scores += [1.0] * count + [0.0] * (each - count)
    floors = np.full(len(rungs), floor)
    return Answers(np.array(rungs), np.array(scores), floors, len(right))


def test_step_has_its_level_between_the_rungs():
    result = fit(climbed(6, 6, 6, 6, 0, 0, 0, 0)).level
    assert result.value == pytest.approx(4.5, abs=0.05)
    assert 3.6 < result.low < 4.3
    assert 4.7 < result.high < 5.4
    assert result.beyond is None


def test_mirrored_scores_have_the_mirrored_level():
    level = fit(climbed(6, 6, 6, 5, 4, 2, 1, 0)).level
    # Rung r becomes rung 9 - r, and right becomes wrong.
    mirrored = fit(climbed(6, 5, 4, 2, 1, 0, 0, 0)).level
    assert mirrored.value == pytest.approx(9 - level.value, abs=0.02)


@pytest.mark.parametrize(("each", "message"), [(0, "below 1"), (6, "above 8")])
def test_level_beyond_the_ladder_is_marked(each, message):
    result = fit(climbed(*[each] * 8)).level
    cells = result.cells()
    assert (result.beyond, cells["level"]) == (message, None)
    assert (cells["low"] is None) is (each == 0)
    assert (cells["high"] is None) is (each == 6)
    assert (result.below, result.above) == (int(each == 0), int(each == 6))
    half_a_rung_beyond = 0.5 if each == 0 else 8.5
    assert result.clipped()[0] == half_a_rung_beyond


def test_guessing_is_not_climbing():
    """Half correct on every rung is nothing if half is guessed, and half-way if nothing is."""
    guessed = fit(climbed(*[3] * 8, floor=0.5)).level
    assert guessed.beyond == "below 1"
    half_way = fit(climbed(6, 6, 6, 6, 3, 3, 3, 3, floor=0.5)).level
    assert half_way.value == pytest.approx(4.5, abs=0.3)


def test_partial_scores_are_more_precise_than_binary_ones_of_the_same_means():
    binary = climbed(6, 6, 5, 4, 2, 1, 0, 0)
    means = np.repeat([6, 6, 5, 4, 2, 1, 0, 0], 6) / 6
    partial = Answers(binary.rungs, means, binary.floors, 8)
    of_binary, of_partial = fit(binary), fit(partial)
    assert of_binary.dispersion == pytest.approx(1.0)
    assert 0 < of_partial.dispersion < 0.3
    long, short = of_binary.level, of_partial.level
    assert short.value == pytest.approx(long.value, abs=0.2)
    assert short.high - short.low < 0.7 * (long.high - long.low)


def test_unanswered_rungs_are_not_failed_ones():
    small = Answers(np.array([3.0, 3, 6, 6]), np.array([1.0, 1, 0, 0]), np.zeros(4), 8)
    result = fit(small).level
    assert result.value == pytest.approx(4.5, abs=0.1)
    assert result.high - result.low > 2


def test_mean_of_levels_counts_half_a_rung_beyond_and_reports_how_many():
    levels = [
        Level(4.0, 3.0, 5.0, 8, 1.0),
        Level(-np.inf, -np.inf, 1.2, 8, 1.0, below=1),
        Level(np.inf, 8.0, np.inf, 8, 1.0, above=1),
    ]
    result = mean_level(levels)
    assert result.value == pytest.approx((4.0 + 0.5 + 8.5) / 3)
    assert result.low == pytest.approx(result.value - np.hypot(1.0, 0.5) / 3)
    assert result.high == pytest.approx(result.value + np.hypot(1.0, 0.7) / 3)
    assert (result.below, result.above) == (1, 1)
    assert mean_level(levels[:1]) is levels[0]
    beyond = mean_level(levels[1:2] * 3)
    assert (beyond.beyond, beyond.low) == ("below 1", -np.inf)


def test_shared_luck_makes_a_difference_surer_and_never_moves_it():
    first, two = Level(4.0, 3.4, 4.6, 8), Level(5.0, 4.5, 5.6, 8)
    value, low, high = level_difference([first], [two])
    shared_value, shared_low, shared_high = level_difference([first], [two], 0.6)
    assert value == shared_value == 1.0
    assert low < shared_low < 1.0 < shared_high < high
    _, *swapped = level_difference([two], [first])
    assert swapped == pytest.approx([-high, -low])


def test_levels_of_simulated_models_are_found():
    """A small part of the measurements of ``python tools/print_evidence.py ladder``."""
    rows = sim.single_tasks(300, seed=11, draws=200)
    within = rows.filter(pl.col("level").is_between(1, sim.TOP))
    assert abs(within["error"].mean()) < 0.1
    assert 0.92 <= rows["holds"].mean() <= 0.99
    is_far = (pl.col("level") < 0) | (pl.col("level") > 9)
    far = rows.filter(is_far, pl.col("slope") > 1)
    assert far["beyond"].mean() > 0.95


def test_readable_share_has_its_binomial_error():
    # sqrt(0.8 * 0.2 / 25) = 0.08
    assert share_read(20, 25) == pytest.approx((0.8, 0.72, 0.88))
    assert share_read(25, 25) == (1, 1, 1)


def test_ceiling_leaves_the_level_unchanged():
    """A tenth of the replies of a run cannot be read, on eight tasks."""
    rng = np.random.default_rng(5)
    levels = np.linspace(3.0, 6.5, 8)
    curves = [(level, 2.0, 0.0, sim.KINDS[0]) for level in levels]
    drawn = [sim.answers_of(rng, curve) for curve in curves for _ in range(3)]
    runs = []
    for answers in drawn:
        is_lost = rng.random(len(answers.rungs)) < 0.1
        scores = np.where(is_lost, 0.0, answers.scores)
        runs.append(Answers(answers.rungs, scores, answers.floors, answers.top))
    ceiling = fit_ceiling(runs, Ceiling(1.0, 1.0, 1.0)).value
    assert ceiling == pytest.approx(0.9, abs=0.05)
    found = np.mean([fit(run, 0, ceiling=ceiling).level.value for run in runs])
    assert abs(found - levels.mean()) < 0.15
    # Without the ceiling, lost replies look like a lower level.
    found = np.mean([fit(run, 0, ceiling=1.0).level.value for run in runs])
    assert found - levels.mean() < -0.3
    assert fit_ceiling(runs, share_read(9, 10)) == share_read(9, 10)
    whole = [sim.answers_of(rng, curve) for curve in curves]
    assert fit_ceiling(whole, share_read(1, 1)).value == 1


@pytest.mark.parametrize(
    ("right", "misfit"),
    [
        ((6, 6, 6, 5, 3, 1, 0, 0), ""),
        ((6, 6, 0, 6, 6, 6, 0, 0), "dip at 3"),
        ((6, 6, 1, 0, 0, 0, 6, 0), "bump at 7"),
    ],
)
def test_rungs_that_do_not_fit_the_curve_are_marked(right, misfit):
    assert fit(climbed(*right)).misfit == misfit


def test_interval_ends_where_the_likelihood_crosses_the_limit():
    places = np.array([1.0, 2.0, 3.0, 4.0])
    inside = np.array([-3.0, 0.0, -1.0, -3.0])
    assert interval_ends(inside, places, 2.0) == pytest.approx((1 + 1 / 3, 3.5))
    falling = np.array([0.0, -1.0, -1.5, -3.0])
    assert interval_ends(falling, places, 2.0) == (-np.inf, pytest.approx(3 + 1 / 3))
    assert interval_ends(-falling, places, 5.0) == (-np.inf, np.inf)


def test_misfit_is_measured_in_binomial_errors():
    n = np.full(3, 10.0)
    right = np.array([7.0, 2.0, 0.0])
    expected = np.array([0.95, 0.5, 0.05])
    # Rung 1 is 2.5 answers below its curve and rung 2 is 3, but 0.95 varies less than 0.5:
    # these are 3.6 and 1.9 standard errors.
    assert misfit_words(RungSums(n, right, np.zeros(3)), expected) == "dip at 1"


@pytest.mark.slow
def test_levels_of_600_simulated_models_are_unbiased_with_correct_coverage():
    rows = sim.single_tasks(600)
    within = rows.filter(pl.col("level").is_between(1, sim.TOP))
    for low in np.arange(1, sim.TOP, 1.0):
        part = within.filter(pl.col("level").is_between(low, low + 1))
        noise = 2 * part["error"].std() / part.height**0.5
        assert abs(part["error"].mean()) < 0.1 + noise, low
    assert abs(within["error"].mean()) < 0.05
    assert 0.94 <= rows["holds"].mean() <= 0.97
    for slope in sim.SLOPES:
        assert rows.filter(slope=slope)["holds"].mean() > 0.92, slope


@pytest.mark.slow
def test_means_of_levels_are_found():
    for name, rows in sim.buckets(24, draws=200).items():
        error, holds, _ = rows.T
        assert abs(error.mean()) < 0.1, name
        assert holds.mean() >= 0.88, name


@pytest.mark.slow
def test_differences_of_simulated_models_are_surer_with_shared_luck():
    apart = sim.differences(4, 0.0, draws=200)
    together = sim.differences(4, 0.8, draws=200)
    for rows in (apart, together):
        assert abs(rows["error"].mean()) < 0.1
        assert rows["holds"].mean() >= 0.9
    assert together["length"].median() < 0.8 * apart["length"].median()
