"""Levels of results: the answers that count, the sums of lines, and differences of runs."""

import polars as pl
import pytest
from ladders import ladder_results

from scbench.analysis.ladder import (
    climbs_of,
    compare_levels,
    ladder_table,
    overall_levels,
    read_ladders,
    rung_table,
)
from scbench.analysis.ladder_sheets import (
    interval_words,
    ladder_sheets,
    level_pairs_sheets,
)
from scbench.analysis.results import check_results
from scbench.analysis.shared_luck import SharedLuck
from scbench.analysis.terminal_tables import terminal
from scbench.base.errors import ResultsError

TASKS = ["two_segments", "enumerate_edges", "csg_union"]


def tables(results, draws=60):
    result = climbs_of(results, draws)
    return ladder_table(result), rung_table(result)


def line(table, task=None, bucket=None):
    if task:
        is_line = pl.col("task") == task
    else:
        is_line = pl.col("task").is_null() & (pl.col("bucket") == bucket)
    return table.filter(is_line).row(0, named=True)


def test_table_has_each_task_bucket_and_overall():
    levels = {"two_segments": 3.0, "enumerate_edges": 6.0, "csg_union": 4.5}
    results = ladder_results({"m": levels}, TASKS)
    check_results(results, partial=True)
    table, rungs = tables(results)
    assert table["task"].to_list() == [
        "enumerate_edges",
        "two_segments",
        None,
        "csg_union",
        None,
        None,
    ]
    assert line(table, "two_segments")["level"] == pytest.approx(3, abs=0.8)
    overall = line(table, bucket="overall")
    levels = [line(table, task)["level"] for task in TASKS]
    assert overall["level"] == pytest.approx(sum(levels) / 3)
    assert (overall["n"], overall["scored"], overall["rungs"]) == (144, 144, 8)
    assert rungs.height == 24
    first = rungs.row(0, named=True)
    assert (first["rung"], first["n"], first["mean"]) == (1, 6, 1.0)


def test_nine_scores_of_one_answer_are_one_answer():
    table, rungs = tables(ladder_results({"m": 4.0}, ["interlocking_parts"], floor=0.4))
    assert line(table, "interlocking_parts")["n"] == 48
    assert rungs["n"].to_list() == [6] * 8
    above = ((rungs["mean"] - 0.4) / 0.6).clip(0)
    assert rungs["above"].to_list() == pytest.approx(above.to_list())


def test_missing_score_is_left_out_and_lowers_coverage():
    complete = ladder_results({"m": 4.0}, ["two_segments"])
    # The first of six items on each rung.
    is_lost = pl.col("id").str.ends_with("-1")
    blocked = complete.with_columns(
        status=pl.when(is_lost).then(pl.lit("blocked")).otherwise("status"),
        score=pl.when(is_lost).then(None).otherwise("score"),
    )
    row = line(tables(blocked)[0], "two_segments")
    assert (row["n"], row["scored"]) == (48, 40)
    assert row["coverage"] == pytest.approx(40 / 48)
    without_rows = line(tables(complete.filter(~is_lost))[0], "two_segments")
    assert without_rows["level"] == row["level"]
    as_zeros = complete.with_columns(
        score=pl.when(is_lost).then(0.0).otherwise("score")
    )
    assert line(tables(as_zeros)[0], "two_segments")["level"] != row["level"]


def test_task_without_any_score_has_no_level_and_no_part_in_others():
    results = ladder_results({"m": 4.0}, TASKS)
    is_lost = pl.col("task") == "csg_union"
    lost = results.with_columns(
        status=pl.when(is_lost).then(pl.lit("api_error")).otherwise("status"),
        score=pl.when(is_lost).then(None).otherwise("score"),
    )
    table, _ = tables(lost)
    row = line(table, "csg_union")
    assert (row["level"], row["beyond"], row["coverage"]) == (None, None, 0)
    assert interval_words(row) == ""
    overall, axiomatic = line(table, bucket="overall"), line(table, bucket="axiomatic")
    assert overall["level"] == axiomatic["level"]
    assert terminal(ladder_sheets(table)[0])


def test_levels_beyond_the_ladder_are_marked_and_counted():
    levels = {"two_segments": -2.0, "enumerate_edges": 12.0, "csg_union": 5.0}
    table, _ = tables(ladder_results({"m": levels}, TASKS))
    assert line(table, "two_segments")["beyond"] == "below 1"
    assert line(table, "enumerate_edges")["beyond"] == "above 8"
    bucket = line(table, bucket="axiomatic")
    assert bucket["level"] == pytest.approx(4.5)
    assert (bucket["tasks_below"], bucket["tasks_above"]) == (1, 1)
    text = terminal(ladder_sheets(table)[0])
    assert "below 1" in text
    assert "above 8" in text
    assert "+1 -1" in text


def test_two_runs_are_compared_in_rungs():
    results = ladder_results({"a": 3.0, "b": 5.0}, TASKS)
    result = climbs_of(results, 60)
    table = compare_levels(result)
    row = line(table, bucket="overall")
    assert (row["first"], row["second"]) == ("a no_tools", "b no_tools")
    assert row["shared"] == 144
    assert row["low"] < 2 < row["high"]
    assert row["difference"] == pytest.approx(row["second_level"] - row["first_level"])
    text = terminal(level_pairs_sheets(table)[0])
    assert "+2." in text or "+1." in text
    with pytest.raises(ResultsError, match="two runs"):
        compare_levels(climbs_of(results.filter(model="a"), 0))


def test_runs_on_the_same_items_differ_more_surely():
    """Equal models on the same items, once with shared luck of the items and once without."""
    levels = {"a": 4.0, "b": 4.0}
    lengths = {}
    for shared in (0.0, 0.9):
        result = climbs_of(ladder_results(levels, luck_of_items=shared), 60)
        row = line(compare_levels(result), bucket="overall")
        assert row["low"] <= 0.05
        assert row["high"] >= -0.05
        lengths[shared] = row["high"] - row["low"]
    assert lengths[0.9] < 0.7 * lengths[0.0]
    half = climbs_of(ladder_results(levels, TASKS, luck_of_items=0.5), 0)
    assert SharedLuck(half, 0, 1, TASKS).correlation == pytest.approx(0.5, abs=0.2)


def test_rungs_drawn_above_the_top_count_with_those_below(tmp_path):
    complete = ladder_results({"m": 7.5}, ["two_segments"], slope=4)
    is_top = pl.col("id").str.contains("ladder-08")
    higher = complete.filter(is_top).with_columns(
        id=pl.lit("c0ffee:") + pl.col("id").str.replace("ladder-08", "ladder-09"),
        score=pl.lit(0.0),
        release_hash=pl.lit("p"),
    )
    passed = complete.with_columns(score=pl.lit(1.0))
    paths = [tmp_path / "whole.parquet", tmp_path / "higher.parquet"]
    passed.write_parquet(paths[0])
    higher.write_parquet(paths[1])
    below = line(ladder_table(climbs_of(read_ladders(paths[:1]), 0)), "two_segments")
    assert below["beyond"] == "above 8"
    row = line(ladder_table(climbs_of(read_ladders(paths), 60)), "two_segments")
    assert (row["rungs"], row["n"]) == (9, 54)
    assert row["level"] == pytest.approx(8.5, abs=0.1)
    higher.with_columns(grader_version=pl.lit(2, pl.Int64)).write_parquet(paths[1])
    with pytest.raises(ResultsError, match="two_segments by versions 1, 2"):
        read_ladders(paths)


def test_text_tasks_have_a_separate_level_and_no_part_in_the_overall_one():
    spatial = {"two_segments": 3.0, "enumerate_edges": 6.0, "csg_union": 4.5}
    levels = {"m": {**spatial, "dates": 7.5}, "n": {**spatial, "dates": 2.0}}
    results = ladder_results(levels, [*TASKS, "dates"])
    all_tasks = climbs_of(results, 60)
    spatial_tasks = climbs_of(results.filter(pl.col("task") != "dates"), 60)
    is_spatial = pl.col("bucket") != "manifolds"
    table = ladder_table(all_tasks)
    assert table.filter(is_spatial).equals(ladder_table(spatial_tasks))
    compared = compare_levels(all_tasks).filter(is_spatial)
    assert compared.equals(compare_levels(spatial_tasks))
    text = line(table, bucket="manifolds")
    assert 6.5 < text["level"] < 8
    overall = overall_levels(results)
    assert overall.keys() == {
        ("m", "no_tools", None, "overall"),
        ("m", "no_tools", None, "manifolds"),
        ("n", "no_tools", None, "overall"),
        ("n", "no_tools", None, "manifolds"),
    }
    words = overall["m", "no_tools", None, "manifolds"]
    assert words.startswith(f"{text['level']:.1f} (")
