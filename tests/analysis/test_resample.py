"""Bootstrap intervals: against exact distributions, scipy, and themselves."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scbench.analysis.paper import paper_table
from scbench.analysis.resample import Sums, _below, interval, resample, total
from scbench.grading.score_tables import OVERALL


def sums(*columns) -> Sums:
    values = np.array(columns, dtype=np.float64).T
    return Sums(values, np.ones_like(values))


@pytest.mark.parametrize(("right", "n"), [(1, 6), (17, 27), (39, 40), (20, 25)])
def test_the_interval_of_right_and_wrong_is_that_of_the_binomial(right, n):
    """The bootstrap of k ones among n is a binomial, whose quantiles are known."""
    drawn = resample({"t": sums([1] * right + [0] * (n - right))})["t"]
    low, high = interval(drawn.means[:, 0])
    exact = stats.binom(n, right / n).ppf([0.025, 0.975]) / n
    assert [low, high] == pytest.approx(exact, abs=1.01 / n), "at most one score away"


def test_the_interval_of_partial_scores_is_scipys():
    scores = np.array([0.1, 0.95, 0.3, 0.33, 1, 0, 0.75, 0.5, 0.98, 0.61, 0.2, 0.8])
    theirs = stats.bootstrap(
        (scores,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    ours = interval(resample({"t": sums(scores)})["t"].means[:, 0])
    assert ours == pytest.approx(theirs, abs=0.01)


def test_the_interval_of_a_paired_difference_is_scipys():
    rng = np.random.default_rng(5)
    first, second = rng.random(30), rng.random(30)
    second = 0.5 * first + 0.5 * second
    theirs = stats.bootstrap(
        (first, second),
        lambda a, b, axis: (b - a).mean(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    means = resample({"t": sums(first, second)})["t"].means
    assert interval(means[:, 1] - means[:, 0]) == pytest.approx(theirs, abs=0.01)


def test_tasks_are_strata():
    """Two tasks, each of equal scores: drawing inside each leaves nothing to vary."""
    drawn = resample({"a": sums([1.0] * 5), "b": sums([0.0] * 15)})
    assert set(total(drawn.values()).means[:, 0]) == {0.25}


def test_the_spread_over_tasks_is_that_of_a_stratified_sample():
    rng = np.random.default_rng(7)
    tasks = {f"t{n}": rng.random(n) for n in (5, 17, 40)}
    means = total(resample({task: sums(x) for task, x in tasks.items()}).values()).means[:, 0]
    wanted = sum(len(x) * x.var() for x in tasks.values()) ** 0.5 / 62
    assert means.std() == pytest.approx(wanted, rel=0.03)
    assert means.mean() == pytest.approx(np.concatenate(list(tasks.values())).mean(), abs=0.005)


def test_equal_runs_differ_by_exactly_nothing():
    scores = np.random.default_rng(1).random(23)
    means = resample({"t": sums(scores, 1 - scores, scores)})["t"].means
    assert (means[:, 0] == means[:, 2]).all()
    assert interval(means[:, 2] - means[:, 0]) == (0, 0)


def test_a_missing_score_is_drawn_as_missing():
    values = Sums(np.array([[1.0], [0.0], [1.0]]), np.array([[1.0], [0.0], [1.0]]))
    drawn = resample({"t": values}, 4000)["t"]
    means = drawn.means[:, 0]
    assert set(means[~np.isnan(means)]) == {1.0}, "a gap is never a zero"
    assert np.isnan(means).mean() == pytest.approx(1 / 27, abs=0.015)
    assert interval(means) == (1, 1)
    assert interval(np.array([np.nan])) == (None, None)


def test_a_seed_gives_the_same_draws_and_another_gives_others():
    scores = {"t": sums(np.random.default_rng(1).random(20))}
    first, again, other = (resample(scores, 200, seed)["t"].sums for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_a_tasks_draws_do_not_depend_on_other_tasks_or_runs():
    a, b = (np.random.default_rng(i).random(20) for i in range(2))
    alone = resample({"t": sums(a)}, 100)["t"].sums[:, 0]
    beside = resample({"s": sums(b), "t": sums(b, a)}, 100)["t"].sums[:, 1]
    assert alone == pytest.approx(beside, rel=1e-14)


def test_more_resamples_begin_with_the_same_draws():
    scores = {"t": sums(np.random.default_rng(1).random(20))}
    few, many = (resample(scores, n)["t"].sums for n in (1000, 2500))
    assert (many[:1000] == few).all()


@given(n=st.integers(1, 10_000), count=st.integers(0, 50), seed=st.integers(0, 2**64))
@settings(max_examples=30)
def test_draws_are_below_n(n, count, seed):
    drawn = _below(n, count, np.random.PCG64(seed))
    assert drawn.shape == (count,)
    assert ((drawn >= 0) & (drawn < n)).all()


def test_draws_are_even():
    counts = np.bincount(_below(7, 70_000, np.random.PCG64(2)), minlength=7)
    assert stats.chisquare(counts).pvalue > 0.001


def test_intervals_of_the_paper_are_what_they_were(paper_results):
    """Golden: whoever repeats an analysis next year gets the same figures."""
    table = paper_table(paper_results, seed=0).filter(pl.col("bucket") == OVERALL)
    columns = ["model", "setting", "low", "high", "delta_low", "delta_high"]
    found = [
        [round(cell, 9) if isinstance(cell, float) else cell for cell in row]
        for row in table.select(columns).iter_rows()
    ]
    golden = Path(__file__).parent.parent / "data" / "paper" / "intervals.json"
    assert found == json.loads(golden.read_text("utf-8"))


def test_a_wider_level_gives_a_wider_interval(paper_results):
    narrow, wide = (
        paper_table(paper_results, resamples=2000, level=level).row(0, named=True)
        for level in (0.5, 0.99)
    )
    assert wide["low"] < narrow["low"] < narrow["mean"] < narrow["high"] < wide["high"]
