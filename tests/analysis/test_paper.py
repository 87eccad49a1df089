"""The paper's tables: every printed figure, weights, intervals, gaps."""

from itertools import product

import polars as pl
import pytest

from scbench.analysis.paper import paper_sheet, paper_table
from scbench.analysis.sheets import points, signed

GAPS = (
    {"subtask": 0, "score": 1.0},
    {"subtask": 1, "score": 0.0},
    {"subtask": 2, "status": "missing"},
    {"subtask": 3, "score": 1.0},
    {"setting": "tools", "subtask": 0, "score": 0.0},
    {"setting": "tools", "subtask": 1, "status": "blocked"},
    {"setting": "tools", "subtask": 2, "score": 1.0},
    {"setting": "tools", "subtask": 3, "score": 1.0},
)


@pytest.fixture(scope="module")
def by_task(paper_results):
    return paper_table(paper_results, "task")


def cells(table: pl.DataFrame) -> dict:
    return {
        (row["bucket"], row["task"], row["model"], row["setting"]): row
        for row in table.to_dicts()
    }


def test_all_cells_of_the_paper_bucket_table(paper_results, paper_numbers):
    result = cells(paper_table(paper_results))
    assert len(result) == 4 * 6
    for row in paper_numbers["table1"]:
        bucket = row["bucket"].lower()
        for model, cell in row["models"].items():
            without = result[bucket, None, model, "no_tools"]
            with_tools = result[bucket, None, model, "tools"]
            assert without["n"] == row["n"]
            assert points(without["mean"]) == f"{cell['no_tools']:.1f}"
            assert signed(with_tools["delta_mean"]) == cell["tools_delta_printed"]
            assert without["delta"] is None


def test_all_132_cells_of_the_paper_task_table(by_task, paper_numbers):
    result = cells(by_task)
    compared = 0
    for row in paper_numbers["table2"]:
        for model, cell in row["models"].items():
            key = (row["bucket"].lower(), row["task_id"], model)
            assert result[*key, "no_tools"]["n"] == row["n"]
            assert points(result[*key, "no_tools"]["mean"]) == f"{cell['no_tools']:.1f}"
            assert (
                signed(result[*key, "tools"]["delta_mean"])
                == cell["tools_delta_printed"]
            )
            compared += 2
    assert compared == 132


@pytest.mark.parametrize(
    ("task", "model", "delta"),
    [
        ("classify_behaviour", "gpt-5.2", "-7.7"),
        ("csg_union", "claude-sonnet-4-5", "+0.6"),
        ("tetrahedra_shadow_projection", "gpt-5.2", "+68.5"),
        ("hide_and_seek", "gemini-3-pro-preview", "+16.7"),
    ],
)
def test_differences_are_rounded_once(by_task, task, model, delta):
    rows = by_task.filter((pl.col("task") == task) & (pl.col("model") == model))
    without, with_tools = rows["mean"].to_list()
    assert signed(rows["delta_mean"][1]) == delta
    assert signed(round(with_tools, 3) - round(without, 3)) != delta, (
        "not a case of rounding twice"
    )


def test_no_difference_is_plus_minus_zero():
    assert signed(0.0) == "±0.0"
    assert signed(0.0004) == "±0.0"
    assert signed(-0.0004) == "±0.0"
    assert signed(-0.0006) == "-0.1"
    assert signed(None) == "-"


def test_difference_uses_the_scores_that_both_runs_have(make_results):
    row = paper_table(make_results(*GAPS)).to_dicts()[1]
    assert row["delta_n"] == 2
    assert row["delta"] == pytest.approx(0.5 - 1.0)
    assert row["delta"] != pytest.approx(2 / 3 - 2 / 3), (
        "that would mix different scores"
    )


def test_difference_weighs_items_equally_with_missing_samples(make_results):
    """In both runs one item is always right and the other never: nothing has changed."""
    # (item, sample): each run has three samples of one item and one of the other.
    scored = {
        "no_tools": {(0, 0), (0, 1), (0, 2), (1, 0)},
        "tools": {(0, 0), (1, 0), (1, 1), (1, 2)},
    }
    rows = []
    for setting, item, sample in product(scored, range(2), range(3)):
        row = {"setting": setting, "subtask": item, "sample": sample}
        if (item, sample) in scored[setting]:
            row["score"] = float(item == 0)
        else:
            row["status"] = "missing"
        rows.append(row)
    row = paper_table(make_results(*rows)).row(1, named=True)
    assert row["delta"] == 0
    assert row["delta_low"] == pytest.approx(-row["delta_high"])


def test_runs_with_missing_tasks_are_not_shown_as_complete(make_results):
    rows = [{"model": "a", "subtask": i, "score": 1.0} for i in range(3)]
    rows += [{"model": "b", "subtask": i, "score": 1.0} for i in range(3)]
    rows += [
        {"model": "b", "task": "csg_union", "subtask": i, "score": 0.0}
        for i in range(8)
    ]
    table = paper_table(make_results(*rows))
    overall = table.filter(pl.col("bucket") == "overall").to_dicts()
    assert [(row["n"], row["samples"]) for row in overall] == [(3, 1), (11, 1)]
    assert overall[0]["over"] == "only two_segments"
    sheet = paper_sheet("t", table)
    assert sheet.rows[-1][:2] == ["overall (only two_segments, csg_union)", "11"]
    assert [cell.partition("\n")[0] for cell in sheet.rows[-1][2:]] == [
        "100.0†",
        "36.3",
    ]
    assert any(
        "overall (only two_segments): a no_tools" in note for note in sheet.notes
    )
    by_task = paper_sheet("t", paper_table(make_results(*rows), "task"))
    row = next(row for row in by_task.rows if row[0] == "csg_union")
    assert row[1:3] == ["8", ""]
