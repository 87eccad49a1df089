"""Comparing runs: means, differences, verdicts, and inconclusive results."""

import numpy as np
import polars as pl
import pytest
from later import Later

from scbench.analysis.compare import (
    INCONCLUSIVE,
    MARGIN,
    NO_ROOM,
    TIED,
    TOO_FEW,
    compare_runs,
)
from scbench.analysis.matrix import score_matrix
from scbench.analysis.paper import paper_table
from scbench.base.errors import ResultsError
from scbench.leaderboard.ranks import significant_pairs

stats = Later("scipy.stats")

UNDECIDED = {TIED, INCONCLUSIVE, TOO_FEW, NO_ROOM}


def pair(make_results, first, second, **more):
    """Results of runs a and b with these scores, None for a missing one."""
    rows = []
    for model, scores in (("a", first), ("b", second)):
        for i, score in enumerate(scores):
            row = {"model": model, "subtask": i, **more}
            if score is None:
                row["status"] = "missing"
            else:
                row["score"] = float(score)
            rows.append(row)
    return make_results(*rows)


def test_comparison_uses_the_scores_that_both_have(make_results):
    rows = pair(make_results, [1, 1, 1, 0, 0, None], [1, 0, 1, 1, 0, 1])
    row = compare_runs(rows).row(0, named=True)
    assert (row["n"], row["answers"]) == (5, 5)
    assert (row["first_ahead"], row["second_ahead"], row["p_value"]) == (1, 1, 1)
    assert (row["first_mean"], row["second_mean"], row["difference"]) == (0.6, 0.6, 0)
    assert row["shows"] is None
    assert row["verdict"] == TOO_FEW, "five answers could not tell, whatever they were"
    assert row["low"] < 0 < row["high"]


def test_clear_difference_has_a_winner(make_results):
    table = compare_runs(pair(make_results, [0] * 20, [1] * 18 + [0] * 2))
    row = table.row(-1, named=True)
    assert (row["bucket"], row["over"], row["verdict"]) == (
        "axiomatic",
        "only two_segments",
        "b no_tools",
    )
    assert row["p_value"] == pytest.approx(stats.binomtest(0, 18).pvalue)
    assert row["p_value"] <= row["p_corrected"] <= 0.001
    assert 0 < row["shows"] < 1
    swapped = compare_runs(pair(make_results, [1] * 18 + [0] * 2, [0] * 20)).row(
        -1, named=True
    )
    assert swapped["verdict"] == "a no_tools"
    assert swapped["difference"] == -row["difference"]


def test_verdict_comes_only_from_the_corrected_test(paper_results):
    table = compare_runs(paper_results)
    for row in table.iter_rows(named=True):
        better = row["second"] if row["difference"] > 0 else row["first"]
        if row["p_corrected"] <= 0.05:
            assert row["verdict"] == better
        else:
            assert row["verdict"] in UNDECIDED
    zero_outside = table.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    assert set(zero_outside["verdict"]) & UNDECIDED, "an interval alone is no verdict"


def test_equal_runs_tie_even_with_fractions_and_the_interval_has_a_width(
    make_results,
):
    scores = np.random.default_rng(2).random(22)
    rows = pair(make_results, scores, scores, task="csg_union")
    for row in compare_runs(rows).iter_rows(named=True):
        assert row["low"] == pytest.approx(-row["high"])
        assert (row["difference"], row["p_value"], row["p_corrected"]) == (0, 1, 1)
        assert (row["high"] > MARGIN, row["verdict"]) == (True, INCONCLUSIVE)


def test_scores_of_one_answer_are_one_observation(make_results):
    rows = pair(make_results, [0] * 9, [1] * 9, task="interlocking_parts")
    row = compare_runs(rows).row(0, named=True)
    assert (row["n"], row["answers"], row["second_ahead"], row["p_value"]) == (
        9,
        1,
        1,
        1,
    )
    assert row["verdict"] == TOO_FEW
    assert row["low"] < 0 < row["high"]


def test_planted_difference_is_found_and_row_order_does_not_matter(make_results):
    rng = np.random.default_rng(3)
    tasks = {"two_segments": 27, "csg_union": 22, "delaunay_triangulation": 25}
    parts = []
    for task, n in tasks.items():
        first = rng.random(n) < 0.3
        parts.append(
            pair(make_results, first, first | (rng.random(n) < 0.7), task=task)
        )
    rows = pl.concat(parts)
    table = compare_runs(rows)
    assert set(table["verdict"]) == {"b no_tools"}
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=1)
    assert compare_runs(shuffled).equals(table)


def test_comparison_is_the_difference_of_the_tables(paper_results):
    compared = compare_runs(paper_results, draws=1000)
    table = paper_table(paper_results, "task")
    for model in paper_results["model"].unique():
        ours = compared.filter(
            pl.col("first") == f"{model} no_tools", pl.col("second") == f"{model} tools"
        ).select("difference", "low", "high")
        theirs = table.filter(
            pl.col("model") == model, pl.col("setting") == "tools"
        ).select("delta", "delta_low", "delta_high")
        assert np.allclose(ours.to_numpy(), theirs.to_numpy(), atol=1e-12)


def test_nothing_to_compare_is_refused(make_results):
    with pytest.raises(ResultsError, match="at least two runs"):
        compare_runs(make_results({"score": 1.0}))
    rows = make_results(
        {"model": "a", "score": 1.0}, {"model": "b", "status": "missing"}
    )
    with pytest.raises(
        ResultsError, match="a no_tools and b no_tools have no scored items in common"
    ):
        compare_runs(rows)


def test_overall_line_is_corrected_as_on_the_board(make_results):
    rng = np.random.default_rng(8)
    skills = {"a": 0.2, "b": 0.45, "c": 0.5, "d": 0.8}
    tasks = {"two_segments": 27, "csg_union": 22, "delaunay_triangulation": 25}
    rows = make_results(
        *(
            {"model": m, "task": t, "subtask": i, "score": float(rng.random() < skill)}
            | {"floor": 0.0}
            for m, skill in skills.items()
            for t, n in tasks.items()
            for i in range(n)
        )
    )
    overall = compare_runs(rows).filter(bucket="overall")
    matrix = score_matrix(rows)
    blocks = list(matrix.blocks.values())
    shares = np.concatenate([b.u * b.weights() / len(b.names) for b in blocks])
    better = significant_pairs(
        shares, [name for b in blocks for name in b.names], 10_000
    )
    runs = [f"{model} no_tools" for model, *_ in matrix.runs]
    for row in overall.iter_rows(named=True):
        first, second = runs.index(row["first"]), runs.index(row["second"])
        assert (row["verdict"] == row["first"]) == better[first, second]
        assert (row["verdict"] == row["second"]) == better[second, first]
    assert better.any()
    assert not better[1, 2]
    pair = compare_runs(rows.filter(pl.col("model").is_in(["a", "b"]))).filter(
        bucket="overall"
    )
    assert pair["p_corrected"].to_list() == pair["p_value"].to_list()
    rows = rows.filter(
        pl.col("bucket") == "constructive", pl.col("model").is_in(["b", "c"])
    )
    last = compare_runs(rows).row(-1, named=True)
    assert (last["task"], last["p_corrected"]) == (None, last["p_value"]), (
        "as of a single bucket"
    )


def test_line_without_room_has_no_verdict_and_one_without_floors_compares_scores(
    make_results,
):
    rows = pair(make_results, [0] * 9, [1] * 9)
    full = compare_runs(rows.with_columns(floor=pl.lit(1.0))).row(0, named=True)
    assert (full["verdict"], full["difference"], full["answers"]) == (NO_ROOM, None, 0)
    plain = compare_runs(rows.with_columns(floor=pl.lit(None, pl.Float64))).row(
        0, named=True
    )
    assert (plain["verdict"], plain["difference"]) == ("b no_tools", 1.0)
    assert plain["first_normalized"] is None
