"""Comparing runs: tests and estimates against scipy, by hand and by brute force."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control

from scbench.analysis.compare import _correct, compare_runs, mcnemar, pass_at_k, run_name
from scbench.analysis.paper import paper_table
from scbench.errors import ResultsError


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=60)
def test_mcnemar_is_the_sign_test(first, second):
    wanted = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(wanted, rel=1e-9)
    assert mcnemar(first, second) == mcnemar(second, first)


def test_mcnemar_does_not_overflow():
    assert mcnemar(2000, 2000) == 1
    assert 0 < mcnemar(1900, 2100) < 0.01
    assert mcnemar(0, 5000) == 0, "less than any double"


def holm(ps):
    rows = [{"p_value": p, "p_holm": None} for p in ps]
    _correct(rows)
    return [row["p_holm"] for row in rows]


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.6]) == [1, None, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_never_below_p_nor_below_false_discovery(ps):
    corrected = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, corrected, strict=True))
    weaker = false_discovery_control(ps)
    assert all(q >= w - 1e-12 for q, w in zip(corrected, weaker, strict=True))
    order = np.argsort(ps, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()


def pair(make_results, first, second, **more):
    """Results of runs a and b with these scores, None for a missing one."""
    return make_results(
        *(
            {"model": model, "subtask": i, **more}
            | ({"status": "missing"} if score is None else {"score": float(score)})
            for model, scores in (("a", first), ("b", second))
            for i, score in enumerate(scores)
        )
    )


def test_a_comparison_counts_who_alone_is_right(make_results):
    rows = pair(make_results, [1, 1, 1, 0, 0, None], [1, 0, 1, 1, 0, 1])
    row = compare_runs(rows).row(0, named=True)
    assert (row["n"], row["binary_n"]) == (5, 5), "over the scores that both have"
    assert (row["only_first"], row["only_second"], row["p_value"]) == (1, 1, 1)
    assert (row["first_mean"], row["second_mean"], row["difference"]) == (0.6, 0.6, 0)
    assert row["verdict"] == "tied"
    assert row["low"] < 0 < row["high"]


def test_a_clear_difference_has_a_winner(make_results):
    table = compare_runs(pair(make_results, [0] * 20, [1] * 18 + [0] * 2))
    row = table.row(-1, named=True)
    assert (row["bucket"], row["verdict"]) == ("overall", "b no_tools")
    assert row["p_value"] == pytest.approx(binomtest(0, 18).pvalue)
    assert row["p_holm"] == pytest.approx(3 * row["p_value"]), "task, bucket and overall are tests"
    swapped = compare_runs(pair(make_results, [1] * 18 + [0] * 2, [0] * 20)).row(-1, named=True)
    assert swapped["verdict"] == "a no_tools"
    assert swapped["difference"] == -row["difference"]


def test_equal_runs_are_tied_even_with_fractions(make_results):
    scores = np.random.default_rng(2).random(22)
    rows = pair(make_results, scores, scores, task="csg_union")
    for row in compare_runs(rows).iter_rows(named=True):
        assert (row["low"], row["high"], row["verdict"]) == (0, 0, "tied")
        assert (row["binary_n"], row["p_value"], row["p_holm"]) == (0, None, None)


def test_only_tasks_of_right_and_wrong_are_tested(make_results):
    rows = pl.concat(
        [
            pair(make_results, [0.25, 1], [1, 1], task="csg_union"),
            pair(make_results, [0, 1, 1], [1, 1, 0]),
        ]
    )
    found = {(r["bucket"], r["task"]): r for r in compare_runs(rows).iter_rows(named=True)}
    assert found["constructive", "csg_union"]["p_value"] is None
    assert found["overall", None]["n"] == 5
    assert found["overall", None]["binary_n"] == 3


def test_scores_that_samples_disagree_on_are_not_tested(make_results):
    rows = pair(make_results, [1, 1, 0], [1, 0, 1])
    again = pair(make_results, [1, 0, 0], [1, 0, 1], sample=1)
    row = compare_runs(pl.concat([rows, again])).row(0, named=True)
    assert (row["n"], row["binary_n"]) == (3, 2)
    assert (row["only_first"], row["only_second"]) == (0, 1)
    assert row["difference"] == pytest.approx((2 - 1.5) / 3)


def test_every_pair_of_runs_is_compared(paper_results, paper_numbers):
    table = compare_runs(paper_results)
    pairs = list(dict.fromkeys(table.select("first", "second").iter_rows()))
    assert len(pairs) == 15
    assert pairs[0] == ("claude-sonnet-4-5 no_tools", "claude-sonnet-4-5 tools")
    assert table.height == 15 * (len(paper_numbers["table2"]) + 4)


def test_a_comparison_is_the_difference_of_the_tables(paper_results):
    compared = compare_runs(paper_results, seed=4)
    table = paper_table(paper_results, "task", seed=4)
    for model in paper_results["model"].unique():
        ours = compared.filter(
            pl.col("first") == f"{model} no_tools", pl.col("second") == f"{model} tools"
        ).select("difference", "low", "high")
        theirs = table.filter(pl.col("model") == model, pl.col("setting") == "tools").select(
            "delta", "delta_low", "delta_high"
        )
        assert np.allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-12)


def test_nothing_to_compare_is_refused(make_results):
    with pytest.raises(ResultsError, match="two runs or more"):
        compare_runs(make_results({"score": 1.0}))
    rows = make_results({"model": "a", "score": 1.0}, {"model": "b", "status": "missing"})
    with pytest.raises(ResultsError, match="a no_tools and b no_tools have no score in common"):
        compare_runs(rows)


def test_names_of_runs():
    assert run_name("m", None, None) == "m"
    assert run_name("m", "tools", 1024) == "m tools @1024"


def sampled(make_results, *items):
    """Results with one item for each list of scores, a sample for each of those."""
    return make_results(
        *(
            {"subtask": i, "sample": s}
            | ({"status": "missing"} if score is None else {"score": float(score)})
            for i, scores in enumerate(items)
            for s, score in enumerate(scores)
        )
    )


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_pass_at_k_is_the_share_of_subsets_with_a_pass(make_results, items):
    table = pass_at_k(sampled(make_results, *items), range(1, 6))
    for row in table.iter_rows(named=True):
        subsets = [list(combinations(item, row["k"])) for item in items]
        wanted = np.mean([np.mean([any(s) for s in of_item]) for of_item in subsets])
        assert row["pass_at_k"] == pytest.approx(wanted)


def test_pass_at_1_is_the_mean_and_no_k_above_the_samples_is_made_up(make_results):
    table = pass_at_k(sampled(make_results, [1, 0, 1], [0, 0, 0], [1, 1, None]), (1, 2, 3))
    assert table["k"].unique().to_list() == [1, 2], "one item has but two samples"
    row = table.row(0, named=True)
    means = [2 / 3, 0, 1]
    assert row["samples"] == 2
    assert [row["mean"], row["pass_at_k"]] == pytest.approx([np.mean(means)] * 2)


def test_the_error_is_clustered_by_item(make_results):
    items = [[1] * 10, [0] * 10, [1] * 10, [0] * 10]
    row = pass_at_k(sampled(make_results, *items)).row(0, named=True)
    assert row["error"] == pytest.approx(np.std([1, 0, 1, 0], ddof=1) / 2)
    assert row["error"] > 2.5 * (0.25 / 40) ** 0.5, "forty independent tries would seem surer"
    assert pass_at_k(sampled(make_results, [1, 0])).row(0, named=True)["error"] is None


def test_a_pass_can_be_less_than_full(make_results):
    rows = make_results(*({"task": "csg_union", "sample": s, "score": 0.9} for s in range(2)))
    assert pass_at_k(rows)["pass_at_k"].to_list() == [0, 0, 0]
    assert pass_at_k(rows, passes=0.9)["pass_at_k"].to_list() == [1, 1, 1]


def test_tables_of_samples_run_as_the_papers_do(paper_results, paper_numbers):
    table = pass_at_k(paper_results)
    first = table.filter(pl.col("model") == "gpt-5.2", pl.col("setting") == "tools")
    assert first.height == len(paper_numbers["table2"]) + 4
    assert first["bucket"][-1] == "overall"
    assert first["task"][0] == "topology_enumeration"
    assert first["task"][5] is None
