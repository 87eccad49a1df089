"""Tables: every score counts the same, and a gap is never a zero."""

import polars as pl
import pytest

from scbench.analysis.matrix import means_of, score_matrix
from scbench.base.model import Status
from scbench.catalog import BUCKETS
from scbench.grading.score_tables import ABOVE, outside_release, score_table


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


def test_buckets_come_in_the_papers_order_with_all_of_them_last():
    table = score_table(MIXED, "bucket")
    assert table["bucket"].to_list() == ["axiomatic", "constructive", "planning", "overall"]
    assert table["n"].to_list() == [3, 3, 1, 7]


def test_means_are_over_scores_never_over_means():
    table = {row["bucket"]: row for row in score_table(MIXED, "bucket").to_dicts()}
    assert table["overall"]["mean"] == pytest.approx(3.5 / 6)
    assert table["overall"]["mean_missing_as_zero"] == pytest.approx(3.5 / 7)
    assert table["axiomatic"]["mean"] == 0.5
    assert table["axiomatic"]["coverage"] == pytest.approx(2 / 3)
    assert table["constructive"]["coverage"] == 1


def test_tasks_come_in_the_papers_order_with_their_status_counts():
    table = score_table(MIXED, "task")
    assert table["task"].to_list() == ["two_segments", "csg_union", "maze_3d"]
    first = table.row(0, named=True)
    counts = {status.value: first[status.value] for status in Status if first[status.value]}
    assert counts == {"answered": 1, "refused": 1, "missing": 1}


def test_samples_are_pooled_and_items_counted_once():
    results = rows(
        ("maze_3d", "planning", 0, 1.0),
        ("maze_3d", "planning", 1, 1.0),
        ("maze_3d", "planning", 0, 0.0, "answered", "m", 1),
        ("maze_3d", "planning", 1, None, "missing", "m", 1),
    )
    row = score_table(results, "task").row(0, named=True)
    assert (row["n"], row["samples"], row["scored"]) == (2, 2, 3)
    assert row["mean"] == pytest.approx(2 / 3)
    assert row["coverage"] == 0.75


def test_runs_are_kept_apart():
    results = rows(
        ("maze_3d", "planning", 0, 1.0, "answered", "b"), ("maze_3d", "planning", 0, 0.0)
    )
    results = pl.concat([results, results.with_columns(setting=pl.lit("tools"))])
    table = score_table(results, "task")
    assert table.select("model", "setting", "mean").rows() == [
        ("b", None, 1.0),
        ("b", "tools", 1.0),
        ("m", None, 0.0),
        ("m", "tools", 0.0),
    ]


def test_the_nine_scores_of_one_answer_are_nine_items():
    results = rows(*(("interlocking_parts", "constructive", i, i % 2) for i in range(9)))
    results = results.with_columns(id=pl.lit("interlocking_parts/00"))
    assert score_table(results, "task")["n"].to_list() == [9]


def test_rows_outside_the_release_are_counted_apart():
    results = pl.concat([MIXED, rows(("hyper_snake", "planning", 0, None, "not_run"))])
    assert score_table(results, "bucket").equals(score_table(MIXED, "bucket"))
    assert outside_release(results).rows() == [("hyper_snake", 1)]


def test_a_run_without_any_score_has_no_mean():
    row = score_table(rows(("maze_3d", "planning", 0, None, "blocked")), "task").row(0, named=True)
    assert row["mean"] is None
    assert row["mean_missing_as_zero"] == 0


def test_no_rows_make_an_empty_table():
    assert score_table(MIXED.head(0), "bucket").is_empty()


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


def test_means_stand_above_the_floor_too():
    table = {row["bucket"]: row for row in score_table(FLOORS, "bucket").to_dicts()}
    assert table["constructive"]["floor"] == pytest.approx(0.85), "of the rows with a score"
    assert table["constructive"]["above"] == pytest.approx((0.75 - 0.85) / 0.15), "worse than none"
    assert table["planning"]["above"] == 1
    assert table["overall"]["above"] == pytest.approx((2.5 - 1.7) / (3 - 1.7))
    # (right - g answered) / (n (1 - g)): what was cut off or refused was not lucky.
    assert table["manifolds"]["mean"] == 0.25
    assert table["manifolds"]["above"] == pytest.approx((1 - 0.25 * 2) / (4 * 0.75))
    for row in table.values():
        assert row["above_low"] < row["above"] <= row["above_high"]


@pytest.mark.parametrize("by", ["bucket", "task"])
def test_tables_of_a_run_and_of_its_analysis_agree_on_what_lies_above_the_floor(by):
    found = score_table(FLOORS, by).to_dicts()
    where = {"release": pl.lit("0.0.1"), "release_hash": pl.lit("x")}
    matrix = score_matrix(FLOORS.with_columns(**where))
    for row in found:
        spatial = [task for task in matrix.blocks if matrix.buckets[task] != "manifolds"]
        chosen = {
            "overall": spatial,
            **{b: [t for t in matrix.blocks if matrix.buckets[t] == b] for b in BUCKETS},
            "manifolds": ["shuffle"],
        }[row["bucket"]]
        blocks = [matrix.blocks[t] for t in ([row["task"]] if by == "task" else chosen)]
        cells = means_of(blocks).cells(0)
        assert {name: row[name] for name in cells} == pytest.approx(cells)


def test_without_floors_nothing_lies_above_them():
    for results in (MIXED, FLOORS.with_columns(floor=pl.lit(None, pl.Float64))):
        (row, *_) = score_table(results, "task").to_dicts()
        assert {row[name] for name in ABOVE} == {None}
    full = FLOORS.with_columns(floor=pl.lit(1.0))
    (row, *_) = score_table(full, "task").to_dicts()
    assert (row["floor"], row["above"], row["above_low"]) == (1.0, None, None), "there is no room"
