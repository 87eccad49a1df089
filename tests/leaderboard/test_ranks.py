"""Models share a rank where the scores cannot tell them apart."""

import random
from itertools import product
from math import comb

import numpy as np
import pytest

from scbench.analysis.sign_flips import adjusted, signs
from scbench.leaderboard.board import Rank, ranks, told_apart


def names(n: int) -> list[str]:
    return [f"t/{i:02d}" for i in range(n)]


def right(rng: np.random.Generator, n: int, *skills: float) -> np.ndarray:
    return (rng.random((n, len(skills))) < skills).astype(float)


def test_equal_models_share_all_ranks():
    scores = np.ones((20, 3))
    assert ranks(scores, names(20)) == [Rank(1, 1, 3)] * 3
    assert ranks(np.zeros((20, 1)), names(20)) == [Rank(1, 1, 1)]


def test_clear_differences_give_clear_ranks_whatever_the_order_of_the_columns():
    scores = right(np.random.default_rng(1), 285, 0.05, 0.5, 0.95)
    assert ranks(scores, names(285)) == [Rank(3, 3, 3), Rank(2, 2, 2), Rank(1, 1, 1)]
    assert ranks(scores[:, ::-1], names(285))[0] == Rank(1, 1, 1)


def test_a_tie_in_the_middle_is_a_range():
    scores = right(np.random.default_rng(2), 285, 0.95, 0.5, 0.5, 0.05)
    assert ranks(scores, names(285)) == [Rank(1, 1, 1), Rank(2, 2, 3), Rank(2, 2, 3), Rank(4, 4, 4)]


@pytest.mark.parametrize(("wins", "losses"), [(5, 0), (6, 0), (9, 1), (10, 1), (10, 3), (14, 3)])
def test_two_models_are_told_apart_as_mcnemar_does(wins, losses):
    """Its two-sided exact p at 5 %; at the rim a draw of signs has its own chance, so not there."""
    n = wins + losses
    p = min(1.0, 2 * sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n)
    scores = np.zeros((n + 30, 2))
    scores[:wins, 0] = scores[wins:n, 1] = 1
    scores[n:] = 1
    assert told_apart(scores, names(len(scores)), 10_000)[0, 1] == (p < 0.05)


def test_against_all_signs_counted_out():
    rng = random.Random(5)
    differences = [rng.choice([-0.4, 0.3, 0.9, 0.0]) for _ in range(10)]
    compared = 0
    for shift in (0.0, 0.1, 0.2, 0.5, 0.8):
        moved = [d + shift for d in differences]
        own = sum(d * d for d in moved) ** 0.5
        chance = [
            abs(sum(s * d for s, d in zip(signs, moved, strict=True))) / own
            for signs in product((-1, 1), repeat=10)
        ]
        exact = np.quantile(chance, 0.95)
        found = abs(sum(moved)) / own
        if abs(found - exact) < 0.1:  # too near for draws
            continue
        scores = np.array([[1 + d, 1.0] for d in moved])
        assert told_apart(scores, names(10), 20_000)[0, 1] == (found > exact)
        compared += 1
    assert compared >= 3


def test_scores_of_one_answer_count_as_one():
    scores = np.zeros((9, 2))
    scores[:, 0] = 1
    assert told_apart(scores, names(9), 10_000)[0, 1]
    assert not told_apart(scores, ["interlocking_parts/00"] * 9, 10_000).any()


def test_alike_models_are_told_apart_on_one_board_in_twenty():
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores = (rng.random((80, 10)) < rng.random((80, 1))).astype(float)
        wrong += told_apart(scores, names(80), 1000, seed).any()
    assert 2 <= wrong <= 20


def test_more_is_told_apart_step_by_step_than_at_once():
    """Pairs that differ for sure must not make it harder to tell the others apart."""
    rng = np.random.default_rng(3)
    scores = right(rng, 285, *[0.02] * 6, *[0.98] * 6, 0.5, 0.62)
    better = told_apart(scores, names(285), 5000)
    assert better[6:12, :6].all()
    assert not better[6:12, 6:12].any()


def test_the_limits_give_the_pairs_that_the_corrected_p_values_give():
    """Limits are worked out for the draws that decide; p-values count all draws of all pairs."""
    rng = np.random.default_rng(6)
    for seed, draws in product(range(30), (1, 19, 20, 50, 1000)):
        answers, models = int(rng.integers(3, 30)), int(rng.integers(2, 14))
        scores = right(rng, answers, *rng.random(models)) * (1 if seed % 2 else rng.random(models))
        first, second = np.triu_indices(models, 1)
        differences = scores[:, first] - scores[:, second]
        spread = np.sqrt((differences**2).sum(axis=0))
        differ = spread > 1e-6
        found = np.zeros(len(first))
        found[differ] = differences.sum(axis=0)[differ] / spread[differ]
        drawn = np.zeros((len(signs(answers, draws, seed)), len(first)))
        drawn[:, differ] = (signs(answers, draws, seed) @ differences[:, differ]) / spread[differ]
        p_values = adjusted(np.abs(found), [np.abs(drawn)], answers)
        wanted = np.zeros((models, models), dtype=bool)
        wanted[first, second] = (p_values <= 0.05) & (found > 0)
        wanted[second, first] = (p_values <= 0.05) & (found < 0)
        assert (told_apart(scores, names(answers), draws, seed) == wanted).all()


def test_ranges_are_whole():
    rng = np.random.default_rng(4)
    for _ in range(20):
        found = ranks(right(rng, 100, *rng.random(12)), names(100), 1000)
        assert all(1 <= place.low == place.rank <= place.high <= 12 for place in found)
        assert min(place.rank for place in found) == 1
        assert max(place.high for place in found) == 12
