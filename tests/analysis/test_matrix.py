"""Means above the floor, and what lines of tables are over."""

import numpy as np
import polars as pl
import pytest

from scbench.analysis.matrix import above_floor, difference_of, means_of, paired, score_matrix
from scbench.analysis.paper import paper_sheet, paper_table
from scbench.analysis.results import check_results
from scbench.base.errors import ResultsError


def floored(make_results, rows, **more):
    """Results with a score and a floor each; a score may be a status."""
    found = []
    for i, (score, floor) in enumerate(rows):
        result = {"status": score} if isinstance(score, str) else {"score": float(score)}
        if isinstance(score, str) and score in {"truncated", "unparsed", "refused"}:
            result["score"] = 0.0
        found.append({"subtask": i, "floor": floor} | result | more)
    return make_results(*found)


def line(results, **more):
    return paper_table(results, **more).row(0, named=True)


def test_above_the_floor_by_hand(make_results):
    row = line(floored(make_results, [(1, 0.5), (0.5, 0.5), (0, 0.5), (1, 0.5)], task="csg_union"))
    assert (row["mean"], row["floor"], row["above"]) == pytest.approx((0.625, 0.5, 0.25))
    assert row["above_low"] == pytest.approx((row["low"] - 0.5) / 0.5)
    assert row["above_high"] == pytest.approx((row["high"] - 0.5) / 0.5)


def test_worse_than_the_floor_is_negative(make_results):
    row = line(floored(make_results, [(0, 0.2)] * 6, task="csg_union"))
    assert row["above"] == pytest.approx(-0.25)


def test_instances_weigh_by_their_room_above_the_floor(make_results):
    results = floored(make_results, [(1, 0.9), (0.5, 0.0)], task="csg_union")
    parts = [((1 - 0.9) / 0.1, 0.1), (0.5, 1.0)]
    expected = sum(value * room for value, room in parts) / sum(room for _, room in parts)
    assert line(results)["above"] == pytest.approx(expected)


def test_no_room_above_the_floor_divides_nothing_by_zero(make_results):
    row = line(floored(make_results, [(1, 1.0), (1, 1.0)]))
    assert (row["floor"], row["above"], row["above_low"]) == (1, None, None)
    beside = line(floored(make_results, [(1, 1.0), (0.5, 0.5)], task="csg_union"))
    assert beside["above"] == pytest.approx(0.0), "an instance without room weighs nothing"


def test_an_unknown_floor_leaves_the_line_without_a_mean_above_it(make_results):
    row = line(floored(make_results, [(1, 0.5), (0, None)]))
    assert (row["mean"], row["floor"], row["above"]) == (0.5, None, None)
    missing = line(floored(make_results, [(1, 0.5), ("missing", None)]))
    assert missing["above"] == 1.0, "floors count where scores do"


def test_who_gave_no_answer_to_a_text_task_did_not_guess(make_results):
    """(right - g answered) / (n (1 - g))."""
    g = 0.25
    rows = [(1, g), (1, g), (0, g), ("truncated", g), ("refused", g), ("unparsed", g)]
    row = line(floored(make_results, rows, task="boolean"))
    right, answered, n = 2, 3, 6
    assert row["mean"] == pytest.approx(right / n)
    assert row["above"] == pytest.approx((right - g * answered) / (n * (1 - g)))
    spatial = line(floored(make_results, rows, task="two_segments"))
    assert spatial["above"] == pytest.approx((right / n - g) / (1 - g))


def test_a_guesser_is_at_the_floor_whatever_is_cut_off(make_results):
    rng = np.random.default_rng(1)
    g = 0.2
    cut = rng.random(4000) < 0.5
    rows = [
        ("truncated" if c else float(r), g) for c, r in zip(cut, rng.random(4000) < g, strict=True)
    ]
    row = line(floored(make_results, rows, task="boolean"))
    assert row["above"] == pytest.approx(0.0, abs=0.03)
    assert row["above_low"] < 0 < row["above_high"]


def test_differences_above_the_floor(make_results):
    first = floored(make_results, [(0, 0.5), (1, 0.5), (0, 0.5)], model="a")
    second = floored(make_results, [(1, 0.5), (1, 0.5), (0, 0.5)], model="b")
    matrix = score_matrix(pl.concat([first, second]))
    result = difference_of([paired(matrix.blocks["two_segments"], 0, 1)])
    assert result.difference == pytest.approx(1 / 3)
    assert result.above == pytest.approx(2 / 3)
    assert result.above_low == pytest.approx(2 * result.low)


def test_results_of_before_floors_are_read_as_unknown(make_results):
    rows = make_results({"score": 1.0}).drop("floor")
    result = means_of(list(score_matrix(rows).blocks.values()))
    assert result.mean[0] == 1
    assert np.isnan(result.above[0])


def test_a_floor_that_cannot_be_is_refused(make_results):
    with pytest.raises(ResultsError, match=r"has the floor 1\.5"):
        check_results(make_results({"score": 1.0, "floor": 1.5}), partial=True)


def test_the_scale_by_itself():
    assert above_floor(np.array(0.75), np.array(0.5)) == 0.5
    assert np.isnan(above_floor(np.array(1.0), np.array(1.0)))


def test_the_sheet_prints_it_below_the_mean_and_says_what_it_is(make_results):
    table = paper_table(floored(make_results, [(1, 0.5), (0.5, 0.5)] * 8, task="csg_union"))
    sheet = paper_sheet("T", table)
    assert "above 50.0 (" in sheet.rows[0][2]
    assert any("worse than that" in note for note in sheet.notes)
    without = paper_sheet("T", paper_table(floored(make_results, [(1, 0.0), (0.5, 0.0)])))
    assert "above" not in without.rows[0][2], "the same figure twice says nothing"


def test_there_is_no_overall_line_over_one_bucket_and_partial_lines_say_what_they_are_over(
    make_results,
):
    first = paper_table(make_results({"score": 1.0}))
    assert first.select("bucket", "over").rows() == [("axiomatic", "only two_segments")]
    two = paper_table(make_results({"score": 1.0}, {"task": "csg_union", "score": 1.0}))
    assert two.select("bucket", "over").rows()[-1] == ("overall", "only two_segments, csg_union")
    assert paper_sheet("T", two).rows[-1][0] == "overall (only two_segments, csg_union)"


def test_whole_buckets_are_named_as_such(paper_results):
    part = paper_results.filter(pl.col("bucket") != "planning")
    table = paper_table(part)
    assert table.filter(pl.col("bucket") == "overall")["over"][0] == "axiomatic and constructive"
    assert table.filter(pl.col("bucket") == "axiomatic")["over"][0] is None
    assert paper_table(paper_results)["over"].is_null().all()
