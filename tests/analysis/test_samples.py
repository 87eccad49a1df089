"""Several samples per item: by hand and by brute force."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.analysis.samples import pass_at_k, samples_sheet
from scbench.analysis.usage import budget_sheet, budget_sweep, cost_sheet, cost_table
from scbench.base.intervals import QUANTILE
from scbench.grading.score_tables import score_table

VOTES = {
    "one wins": [("a", 1.0), ("a", 1.0), ("b", 0.0)],
    "the wrong one wins": [("c", 0.0), ("d", 1.0), ("c", 0.0)],
    "two tie": [("h", 1.0), ("h", 1.0), ("i", 0.0), ("i", 0.0)],
    "nothing was read": [(None, 0.0), (None, 0.0)],
    "all differ": [("e", 0.0), ("f", 1.0), ("g", 0.0)],
}


def sampled(make_results, *items):
    """Results with one item for each list of scores, and one sample for each score."""
    rows = []
    for item, scores in enumerate(items):
        for sample, score in enumerate(scores):
            row = {"subtask": item, "sample": sample}
            if score is None:
                row["status"] = "missing"
            else:
                row["score"] = float(score)
            rows.append(row)
    return make_results(*rows)


@given(
    st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4)
)
@settings(max_examples=25, deadline=None)
def test_pass_at_k_is_the_share_of_subsets_with_a_pass(make_results, items):
    table = pass_at_k(sampled(make_results, *items), range(1, 6))
    for row in table.iter_rows(named=True):
        shares = []
        for item in items:
            passed = [any(subset) for subset in combinations(item, row["k"])]
            shares.append(np.mean(passed))
        assert row["pass_at_k"] == pytest.approx(np.mean(shares))


def test_pass_at_1_is_the_mean_and_k_never_exceeds_the_samples(make_results):
    results = sampled(make_results, [1, 0, 1], [0, 0, 0], [1, 1, None])
    table = pass_at_k(results, (1, 2, 3, 4))
    assert table["k"].unique().sort().to_list() == [1, 2, 3], "no item has four samples"
    of_three = table.filter(pl.col("k") == 3).row(0, named=True)
    # The third item has only two scores.
    assert (of_three["pass_n"], of_three["pass_at_k"]) == (2, 0.5)
    row = table.row(0, named=True)
    assert row["samples"] == 2
    mean = pytest.approx((2 / 3 + 0 + 1) / 3)
    assert (row["mean"], row["pass_at_k"]) == (mean, mean)


def test_variance_within_and_between_items(make_results):
    items = [[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]]
    row = pass_at_k(sampled(make_results, *items)).row(0, named=True)
    within = np.mean([np.var(item, ddof=1) for item in items])
    means = [np.mean(item) for item in items]
    assert row["within"] == pytest.approx(within)
    assert row["between"] == pytest.approx(max(0, np.var(means, ddof=1) - within / 3))
    error = np.sqrt(within / 3 / len(items))
    assert row["same_items"] == pytest.approx(QUANTILE * error)
    # One sample per item shows no variance within items.
    single = pass_at_k(sampled(make_results, [1], [0])).row(0, named=True)
    assert single["within"] is single["between"] is single["same_items"] is None


@pytest.mark.parametrize(
    ("votes", "majority", "settled"),
    [
        (["one wins", "the wrong one wins"], 0.5, 2),
        (["two tie"], 0.5, 1),
        (["nothing was read", "one wins"], 0.5, 2),
        (["all differ", "one wins"], None, 1),
        (["all differ"] + ["one wins"] * 9, (1 / 3 + 9) / 10, 9),
    ],
)
def test_vote_is_over_all_items_and_ties_are_shared(
    make_results, votes, majority, settled
):
    rows = []
    for item, name in enumerate(votes):
        for sample, (answer, score) in enumerate(VOTES[name]):
            row = {"subtask": item, "sample": sample, "answer": answer, "score": score}
            rows.append(row)
    row = pass_at_k(make_results(*rows)).row(0, named=True)
    assert (row["majority"], row["majority_n"]) == (pytest.approx(majority), settled)


@pytest.mark.parametrize("table", ["samples", "cost", "budget"])
def test_every_table_of_means_starts_with_the_normalized_score(make_results, table):
    """Two samples of three cases: one correct, and one truncated, which is not a guess."""
    g = 0.25
    usual = {"task": "boolean", "floor": g, "budget": 100}
    usual |= {"usage": '{"output_tokens":7}'}
    cut = {"score": 0.0, "status": "truncated"}
    right, wrong = {"score": 1}, {"score": 0}
    rows = []
    for item, pair in enumerate([(right, wrong), (wrong, cut), (right, right)]):
        for sample, outcome in enumerate(pair):
            rows.append({**usual, "subtask": item, "sample": sample, **outcome})
    results = make_results(*rows)
    tables = {"samples": pass_at_k, "cost": cost_table, "budget": budget_sweep}
    sheets = {"samples": samples_sheet, "cost": cost_sheet, "budget": budget_sheet}
    frame = tables[table](results)
    row = frame.row(0, named=True)
    # (right - g answered) / (n (1 - g)): the truncated reply did not guess.
    assert row["normalized"] == pytest.approx((3 - 5 * g) / (6 * (1 - g)))
    assert row["normalized_low"] < row["normalized"] < row["normalized_high"]
    sheet = sheets[table](frame)
    assert sheet.rows[0][list(sheet.heads).index("normalized")] == "38.9"


def test_n_equals_that_of_the_tables_even_with_a_missing_score(make_results):
    results = sampled(make_results, [1], [0], [None])
    samples = pass_at_k(results).row(0, named=True)
    table = score_table(results, "bucket").row(0, named=True)
    assert samples["n"] == table["n"] == 3
    assert samples["pass_n"] == table["scored"] == 2
