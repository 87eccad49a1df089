"""A public ladder against a private one: leaks found, and comparisons refused."""

import ladder_simulation as sim
import numpy as np
import polars as pl
import pytest
from ladders import ladder_results

from scbench.analysis.curves import Answers
from scbench.analysis.gap import (
    ALIKE,
    HIGHER,
    LOWER,
    GapLine,
    gap_table,
    main_line_of,
)
from scbench.analysis.ladder import on_ladder
from scbench.analysis.leaks import deal, leak_of
from scbench.base.errors import ResultsError


def pair(public=4.0, private=4.0, tasks=sim.TASKS, **more):
    """Results of one model on a public and on a private ladder."""
    twin = ladder_results({"m": private}, tasks, luck=2, prefix="c0ffee:")
    twin = twin.with_columns(release_hash=pl.lit("p"), release=pl.lit("generated-p"))
    return on_ladder(ladder_results({"m": public}, tasks, **more)), on_ladder(twin)


def overall(table):
    return table.row(by_predicate=pl.col("bucket") == "overall", named=True)


def test_equal_ladders_have_no_gap():
    table = gap_table(*pair(), draws=1000, fits=60)
    row = overall(table)
    assert row["verdict"] == ALIKE
    assert row["low"] < 0 < row["high"]
    assert row["levels_low"] < 0 < row["levels_high"]
    # 22 tasks with 8 rungs, and 6 items on each rung.
    assert row["pairs"] == 22 * 8
    assert (row["public_n"], row["private_n"]) == (1056, 1056)
    rungs = table.filter(pl.col("rung").is_not_null())["rung"].to_list()
    assert rungs == [1, 2, 3, 4, 5, 6, 7, 8]
    few = Answers(*np.ones((3, 5)), 8)
    more = Answers(*np.ones((3, 7)), 8)
    assert deal(few, more) == (1.0, True), "there are only 792 deals"


def test_leak_is_found_and_measured():
    row = overall(gap_table(*pair(leak=0.3), draws=1000, fits=0))
    assert row["verdict"] == HIGHER
    assert row["leak_low"] < 0.3 < row["leak_high"]
    assert row["p_value"] == row["p_corrected"]
    # A leak raises the mean by its share of the distance to 1.
    for end in ("low", "high"):
        assert row[end] == pytest.approx(row[f"leak_{end}"] * (1 - row["private"]))
    public, private = pair(leak=0.3)
    swapped = overall(gap_table(private, public, draws=1000, fits=0))
    assert (swapped["verdict"], swapped["difference"]) == (LOWER, -row["difference"])
    # A single rung has an interval of all possible leaks.
    one_rung = leak_of(np.array([[0.9, 0.5]]), np.ones(1), 0.95, 100, 0)
    assert one_rung[1:] == (-1.0, 1.0)


def test_one_memorized_task_is_flagged_and_its_interval_agrees_with_the_test():
    levels = dict.fromkeys(sim.TASKS, 3.0)
    public, private = pair(levels | {"csg_union": 12.0}, levels)
    table = gap_table(public, private, draws=1000, fits=0)
    flagged = table.filter(pl.col("verdict") != ALIKE, pl.col("task").is_not_null())
    assert flagged["task"].to_list() == ["csg_union"]
    for row in table.filter(pl.col("task").is_null()).iter_rows(named=True):
        is_significant = row["p_value"] <= 0.05
        excludes_0 = row["leak_low"] > 0 or row["leak_high"] < 0
        assert is_significant == excludes_0


def test_only_rungs_that_both_have_are_paired():
    public, private = pair(tasks=["two_segments", "csg_union"])
    seven_rungs = private.filter(pl.col("rung") != 8)
    row = overall(gap_table(public, seven_rungs, draws=1000, fits=0))
    assert row["pairs"] == 2 * 7
    one, other = public.filter(task="csg_union"), private.filter(task="two_segments")
    with pytest.raises(ResultsError, match="no rung has scores on both"):
        gap_table(one, other, fits=0)


def test_mismatched_ladders_are_refused():
    public, private = pair(tasks=["two_segments"])
    with pytest.raises(ResultsError, match="same ladder"):
        gap_table(public, public)
    with pytest.raises(ResultsError, match="results of the same run"):
        gap_table(public, private.with_columns(model=pl.lit("another")))
    with pytest.raises(ResultsError, match="two_segments by versions 1, 2"):
        gap_table(public, private.with_columns(grader_version=pl.lit(2, pl.Int64)))
    two = pl.concat([public, public.with_columns(model=pl.lit("n"))])
    with pytest.raises(ResultsError, match="select one with --model"):
        gap_table(two, private)


@pytest.mark.slow
def test_leak_of_10_percent_is_found_and_none_is_not():
    found, leaks = sim.leaks(0.1, 16, draws=1000)[:, :2].T
    assert found.mean() > 0.85
    assert leaks.mean() == pytest.approx(0.1, abs=0.03)
    false_alarms = sim.leaks(0.0, 24, draws=1000)[:, 0]
    assert false_alarms.mean() <= 0.08


def test_text_tasks_are_excluded_from_the_overall_line_and_the_rungs():
    tasks = ["two_segments", "csg_union", "dates"]
    levels = dict.fromkeys(tasks, 4.0)
    table = gap_table(*pair(levels | {"dates": 9.0}, levels, tasks), draws=400, fits=0)
    assert (overall(table)["pairs"], overall(table)["verdict"]) == (16, ALIKE)
    # Each rung has a pair of each of the two spatial tasks.
    assert table.filter(pl.col("rung").is_not_null())["pairs"].to_list() == [2] * 8
    texts = table.row(by_predicate=pl.col("task") == "dates", named=True)
    assert texts["verdict"] == HIGHER
    of_texts = gap_table(*pair(9.0, 4.0, ["dates"]), draws=400, fits=0)
    is_line = (pl.col("bucket") == "manifolds") & pl.col("task").is_null()
    line = of_texts.row(by_predicate=is_line, named=True)
    assert line["verdict"] == HIGHER


@pytest.mark.parametrize(
    ("buckets", "main"),
    [
        (["axiomatic", "planning", "manifolds", "overall"], 3),
        (["axiomatic", "manifolds"], 0),
        (["manifolds"], 0),
    ],
)
def test_main_line_covers_spatial_tasks_if_there_are_any(buckets, main):
    lines = [GapLine({"bucket": bucket, "task": None}, []) for bucket in buckets]
    lines.append(GapLine({"rung": 1}, []))
    assert main_line_of(lines) == main
