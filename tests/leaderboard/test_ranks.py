"""Models share a rank unless their scores differ significantly."""

from itertools import product
from math import comb

import numpy as np
import pytest

from scbench.analysis.sign_flips import signs, step_down_p_values
from scbench.leaderboard.ranks import Rank, ranks, significant_pairs


def names(n: int) -> list[str]:
    return [f"t/{i:02d}" for i in range(n)]


def right(rng: np.random.Generator, n: int, *skills: float) -> np.ndarray:
    return (rng.random((n, len(skills))) < skills).astype(float)


def test_tie_in_the_middle_is_a_range():
    scores = right(np.random.default_rng(2), 285, 0.95, 0.5, 0.5, 0.05)
    assert ranks(scores, names(285)) == [
        Rank(1, 1, 1),
        Rank(2, 2, 3),
        Rank(2, 2, 3),
        Rank(4, 4, 4),
    ]


@pytest.mark.parametrize(
    ("wins", "losses"), [(5, 0), (6, 0), (9, 1), (10, 1), (10, 3), (14, 3)]
)
def test_two_models_are_separated_like_in_mcnemars_test(wins, losses):
    """The exact two-sided p at 5 %, except near the limit, where drawn signs vary by chance."""
    n = wins + losses
    one_sided = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    p = min(1.0, 2 * one_sided)
    scores = np.zeros((n + 30, 2))
    scores[:wins, 0] = scores[wins:n, 1] = 1
    # Both models answer the other 30 items correctly, which must not matter.
    scores[n:] = 1
    assert significant_pairs(scores, names(len(scores)), 10_000)[0, 1] == (p < 0.05)


def test_scores_of_one_answer_count_as_one():
    scores = np.zeros((9, 2))
    scores[:, 0] = 1
    assert significant_pairs(scores, names(9), 10_000)[0, 1]
    assert not significant_pairs(scores, ["interlocking_parts/00"] * 9, 10_000).any()


def test_equal_models_are_separated_on_one_board_in_twenty():
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores = (rng.random((80, 10)) < rng.random((80, 1))).astype(float)
        wrong += significant_pairs(scores, names(80), 1000, seed).any()
    # 10 of 200 boards are expected; outside these limits is very unlikely.
    assert 2 <= wrong <= 20


def test_limits_separate_the_same_pairs_as_corrected_p_values():
    """Limits are computed from the decisive draws; p-values count all draws of all pairs."""
    rng = np.random.default_rng(6)
    for seed, draws in product(range(30), (1, 19, 20, 50, 1000)):
        answers, models = int(rng.integers(3, 30)), int(rng.integers(2, 14))
        scores = right(rng, answers, *rng.random(models))
        # Every other board has partial scores.
        if seed % 2 == 0:
            scores = scores * rng.random(models)
        first, second = np.triu_indices(models, 1)
        differences = scores[:, first] - scores[:, second]
        spread = np.sqrt((differences**2).sum(axis=0))
        # Equal models have no spread; their statistic stays 0.
        differ = spread > 1e-6
        flips = signs(answers, draws, seed)
        found = np.zeros(len(first))
        found[differ] = differences.sum(axis=0)[differ] / spread[differ]
        drawn = np.zeros((len(flips), len(first)))
        drawn[:, differ] = (flips @ differences[:, differ]) / spread[differ]
        p_values = step_down_p_values(np.abs(found), [np.abs(drawn)], answers)
        is_significant = p_values <= 0.05
        expected = np.zeros((models, models), dtype=bool)
        expected[first, second] = is_significant & (found > 0)
        expected[second, first] = is_significant & (found < 0)
        result = significant_pairs(scores, names(answers), draws, seed)
        assert (result == expected).all()
