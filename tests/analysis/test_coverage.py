"""Coverage of intervals, and how often equal models are called different."""

import sys

import numpy as np
import pytest
import score_simulation as scores
import simulation as sim


@pytest.mark.slow
def test_right_or_wrong_scores_at_every_size():
    chances = np.arange(0.05, 0.9501, 0.0025)
    for n in sim.SIZES:
        coverage = sim.binary_coverage(n, chances)
        assert 0.94 <= coverage.mean() <= 0.97, n
        assert coverage.min() >= 0.91, n


@pytest.mark.slow
@pytest.mark.parametrize("family", sim.PARTIAL)
def test_partial_scores_at_every_size(family):
    for n in sim.SIZES:
        coverage = sim.partial_coverage(n, family, times=4000)
        # Intervals are wider than necessary at most sizes, to cover scores of two values, too.
        assert 0.94 <= coverage.mean() <= 0.995, n
        assert coverage.min() >= 0.91, n


@pytest.mark.slow
@pytest.mark.parametrize("bucket", sim.TASKS)
@pytest.mark.parametrize("kind", sim.KINDS[:2])
def test_buckets_and_the_whole_benchmark(bucket, kind):
    means = sim.task_means(kind, len(sim.TASKS[bucket]), 20_000)
    assert 0.94 <= sim.bucket_coverage(bucket, means) <= 0.98


@pytest.mark.slow
def test_intervals_are_conservative_if_most_tasks_are_all_right_or_all_wrong():
    for bucket, tasks in sim.TASKS.items():
        means = sim.task_means(sim.KINDS[2], len(tasks), 5000)
        assert 0.94 <= sim.bucket_coverage(bucket, means) <= 0.99


@pytest.mark.slow
def test_differences():
    for n in (6, 8, 10, 13, 20, 40):
        coverage = sim.difference_coverage(n, times=500)
        assert 0.94 <= coverage.mean() <= 0.995, n
        assert coverage.min() >= 0.87, n


@pytest.mark.slow
def test_equal_models_are_called_different_in_at_most_5_of_100_tables(capsys):
    corrected, plain = sim.family_wise_error(1000, draws=1000)
    with capsys.disabled():
        sys.stdout.write(
            f"\nfamily-wise error {corrected:.1%} of 1,000, plain {plain:.1%}\n"
        )
    assert corrected <= 0.05
    assert plain > 0.2, "without a correction the test would not be worth much"


def test_release_weights_order_models_best():
    """A small part of the measurements of ``python tools/print_evidence.py scores``."""
    plain, mean_of_tasks, _, weighted = scores.SCHEMES
    for unread, gain in ((0.0, 0.005), (0.2, 0.03)):
        orderings = [scores.ordering(400, unread, seed) for seed in range(6)]
        mean = {}
        for scheme in scores.SCHEMES:
            mean[scheme] = np.mean([ordering[scheme] for ordering in orderings])
        assert mean[weighted] > mean[plain] + gain
        assert mean[weighted] > mean[mean_of_tasks]
        assert mean[weighted] > 0.92


@pytest.mark.parametrize("unread", [0.0, 0.1, 0.2])
def test_intervals_of_normalized_scores_keep_coverage_with_unreadable_replies(unread):
    covered, length = scores.normalized_coverage(1500, unread)
    assert 0.93 <= covered <= 0.98
    assert length < 0.14


@pytest.mark.parametrize("n", [6, 13, 40])
def test_intervals_cover_scores_of_two_values(n):
    assert scores.two_point_coverage(n, 1000).min() >= 0.925


def test_overall_line_finds_ten_points_and_seldom_a_false_difference():
    # Items with a floor of 1 have no weight, and 4.0.0 has more of them.
    assert scores.overall_power(120, 0.1) > 0.5
    assert scores.overall_power(200, 0.0) <= 0.09
