"""Tables: every score counts the same, and a gap is never a zero."""

import polars as pl
import pytest

from scbench.grading.means import MEANS, Cells, normalized_answers
from scbench.grading.score_tables import Condensed, outside_release, score_table
from scbench.release.manifest import weight_of


def rows(*specs) -> pl.DataFrame:
    """Results of (task, bucket, subtask, score, status, model, sample); the last have defaults."""
    table = []
    for task, bucket, subtask, score, *rest in specs:
        status, model, sample = [*rest, *["answered", "m", 0][len(rest) :]]
        table.append(
            {
                "id": f"{task}/{subtask:02d}",
                "task": task,
                "bucket": bucket,
                "subtask": subtask,
                "model": model,
                "setting": None,
                "budget": None,
                "sample": sample,
                "score": score,
                "status": status,
                "instance_hash": None if status == "not_run" else "x",
            }
        )
    strings = {
        "setting": pl.String,
        "budget": pl.Int64,
        "score": pl.Float64,
        "instance_hash": pl.String,
    }
    return pl.DataFrame(table, schema_overrides=strings)


MIXED = rows(
    ("csg_union", "constructive", 0, 0.5),
    ("csg_union", "constructive", 1, 1.0),
    ("csg_union", "constructive", 2, 0.0),
    ("maze_3d", "planning", 0, 1.0),
    ("two_segments", "axiomatic", 0, None, "missing"),
    ("two_segments", "axiomatic", 1, 1.0),
    ("two_segments", "axiomatic", 2, 0.0, "refused"),
)


def test_means_are_over_scores_and_never_over_means():
    table = {row["bucket"]: row for row in score_table(MIXED, "bucket").to_dicts()}
    assert table["overall"]["mean"] == pytest.approx(3.5 / 6)
    assert table["overall"]["mean_missing_as_zero"] == pytest.approx(3.5 / 7)
    assert table["axiomatic"]["mean"] == 0.5
    assert table["axiomatic"]["coverage"] == pytest.approx(2 / 3)
    assert table["constructive"]["coverage"] == 1


def test_samples_are_averaged_first_and_items_counted_once():
    results = rows(
        ("maze_3d", "planning", 0, 1.0),
        ("maze_3d", "planning", 1, 1.0),
        ("maze_3d", "planning", 0, 0.0, "answered", "m", 1),
        ("maze_3d", "planning", 1, None, "missing", "m", 1),
    )
    row = score_table(results, "task").row(0, named=True)
    assert (row["n"], row["samples"], row["scored"]) == (2, 2, 3)
    # The first item has the mean 0.5, the second one 1, or 0.5 with its gap as zero.
    assert (row["mean"], row["mean_missing_as_zero"]) == (0.75, 0.5)
    assert row["coverage"] == 3 / 4


def test_rows_outside_the_release_are_counted_separately():
    results = pl.concat([MIXED, rows(("hyper_snake", "planning", 0, None, "not_run"))])
    assert score_table(results, "bucket").equals(score_table(MIXED, "bucket"))
    assert outside_release(results).rows() == [("hyper_snake", 1)]


FLOORS = rows(
    ("csg_union", "constructive", 0, 0.5),
    ("csg_union", "constructive", 1, 1.0),
    ("csg_union", "constructive", 2, None, "missing"),
    ("maze_3d", "planning", 0, 1.0),
    ("shuffle", "manifolds", 0, 1.0),
    ("shuffle", "manifolds", 1, 0.0),
    ("shuffle", "manifolds", 2, 0.0, "truncated"),
    ("shuffle", "manifolds", 3, 0.0, "refused"),
).with_columns(floor=pl.Series([0.8, 0.9, 0.2, 0.0, 0.25, 0.25, 0.25, 0.25]))


def test_normalized_score_comes_first_and_weighs_answers_with_room():
    table = {row["bucket"]: row for row in score_table(FLOORS, "bucket").to_dicts()}
    # The row without a score is left out of the floor.
    assert table["constructive"]["floor"] == pytest.approx((0.8 + 0.9) / 2)
    assert table["constructive"]["normalized"] == pytest.approx((0 + 1) / 2)
    assert table["constructive"]["below_floor"] == 0.5
    assert table["planning"]["normalized"] == 1
    constructive, planning = weight_of([0.8, 0.9, 0.2]), weight_of([0.0])
    expected = (constructive * 0.5 + planning) / (constructive + planning)
    assert table["overall"]["normalized"] == pytest.approx(expected)
    weighted = score_table(FLOORS, "bucket", {"csg_union": 3.0, "maze_3d": 1.0})
    (overall,) = weighted.filter(bucket="overall")["normalized"]
    assert overall == pytest.approx((3.0 * 0.5 + 1.0 * 1) / (3.0 + 1.0))
    cells = Cells()
    cells.add(FLOORS)
    block = cells.blocks()[1]["shuffle"]
    assert block.of(block.names[:3]).weights() == pytest.approx([3 * 0.75])
    # (right - g answered) / (n (1 - g)): truncated and refused replies were no guesses.
    text = table["manifolds"]
    assert (text["mean"], text["readable"], text["below_floor"]) == (0.25, 0.5, None)
    assert text["normalized"] == pytest.approx((1 - 0.25 * 2) / (4 * 0.75))
    for row in table.values():
        assert row["normalized_low"] < row["normalized"] <= row["normalized_high"]


def test_normalized_answers_are_0_at_their_floor():
    answers = normalized_answers(FLOORS).sort("id")
    values = dict(answers.select("id", "u").iter_rows())
    assert values == pytest.approx(
        {
            "csg_union/00": 0,
            "csg_union/01": 1,
            "maze_3d/00": 1,
            "shuffle/00": 1,
            # A wrong answer to a text task counts below 0, so that guesses average 0.
            "shuffle/01": -0.25 / 0.75,
            # Truncated and refused replies were no guesses.
            "shuffle/02": 0,
            "shuffle/03": 0,
        }
    )


def test_unreadable_reply_costs_exactly_one_answer():
    """Even with high floors, one unreadable reply does not pull the mean of u far below 0."""
    task = ("pack_rectangular_prisms", "constructive")
    right = [(*task, item, 1.0) for item in range(9)]
    all_right = rows(*right).with_columns(floor=0.95)
    row = score_table(all_right, "task").row(0, named=True)
    assert (row["normalized"], row["normalized_high"]) == (1, 1)
    assert row["normalized_low"] > 0.6
    one_lost = rows((*task, 0, 0.0, "unparsed"), *right[1:]).with_columns(floor=0.95)
    row = score_table(one_lost, "task").row(0, named=True)
    assert (row["normalized"], row["readable"]) == pytest.approx((8 / 9, 8 / 9))


def test_answer_with_nine_scores_counts_once_per_sample():
    """Its floor applies to the whole answer, so each sample's mean is compared with it."""
    task = ("interlocking_parts", "constructive")
    right = [(*task, i, 1.0, "answered", "m", 0) for i in range(9)]
    wrong = [(*task, i, 0.0, "answered", "m", 1) for i in range(9)]
    results = rows(*right, *wrong).with_columns(
        id=pl.lit("interlocking_parts/00"), floor=0.4
    )
    row = score_table(results, "task").row(0, named=True)
    assert (row["n"], row["mean"], row["normalized"]) == (9, 0.5, 0.5)
    # Portions of five rows cut both answers.
    condensed = Condensed()
    for start in range(0, 18, 5):
        condensed.add(results.slice(start, 5))
    assert condensed.table("task").equals(score_table(results, "task"))


def test_tokens_and_cost_are_averaged_over_answers():
    results = rows(*(("interlocking_parts", "constructive", i, 1.0) for i in range(9)))
    results = results.with_columns(id=pl.lit("interlocking_parts/00"))
    results = pl.concat([results, rows(("maze_3d", "planning", 0, 1.0))])
    usage = ['{"output_tokens":900,"cost":0.3}'] * 9 + ['{"output_tokens":100}']
    table = score_table(results.with_columns(usage=pl.Series(usage)), "bucket")
    overall = table.filter(bucket="overall").row(0, named=True)
    assert (overall["output_tokens"], overall["cost"]) == (500, pytest.approx(0.3))


def test_absurd_token_counts_are_not_averaged():
    results = rows(*(("maze_3d", "planning", i, 1.0) for i in range(3)))
    usage = [
        '{"output_tokens":100}',
        '{"output_tokens":300}',
        '{"output_tokens":1e300}',
    ]
    table = score_table(results.with_columns(usage=pl.Series(usage)), "task")
    assert table.row(0, named=True)["output_tokens"] == 200


def test_without_floors_or_room_there_is_no_normalized_score():
    for results in (MIXED, FLOORS.with_columns(floor=pl.lit(None, pl.Float64))):
        (row, *_) = score_table(results, "task").to_dicts()
        assert {row[name] for name in (*MEANS[:3], "floor")} == {None}
    full = FLOORS.with_columns(floor=pl.lit(1.0))
    (row, *_) = score_table(full, "task").to_dicts()
    assert (row["floor"], row["normalized"], row["normalized_low"]) == (1.0, None, None)
