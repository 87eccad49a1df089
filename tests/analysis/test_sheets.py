"""Tables of scores: their order, and the columns worth showing."""

from scbench.analysis.compare import compare_runs, comparison_sheets
from scbench.analysis.paper import paper_table, run_lines_sheet
from scbench.analysis.score_sheets import overview_sheets, score_sheet
from scbench.analysis.sheets import mean_and_readable, task_cell
from scbench.grading.score_tables import score_table

ROWS = ({"score": 1.0}, {"task": "shuffle", "score": 0.0})


def test_text_tasks_are_separate_and_lines_are_named_by_their_subject(make_results):
    tables = {by: score_table(make_results(*ROWS), by) for by in ("task", "bucket")}
    sheets = overview_sheets("Scores", tables["bucket"])
    means = {sheet.title: sheet.rows[0][sheet.heads.index("mean")] for sheet in sheets}
    assert means == {"Scores": "100.0", "Scores, text tasks": "0.0"}
    for by, table in tables.items():
        assert tables.keys() & {*score_sheet("Scores", table).heads} == {by}


def test_no_heading_contains_a_comma_because_hidden_columns_are_a_list(make_results):
    rows = make_results(
        {"score": 1.0}, {"score": 0.0, "setting": "tools"}, {"model": "b", "score": 0.0}
    )
    sheets = [
        score_sheet("t", score_table(rows, "task")),
        run_lines_sheet("t", paper_table(rows)),
        *comparison_sheets(compare_runs(rows)),
    ]
    heads = [head for sheet in sheets for head in sheet.heads]
    assert not [head for head in heads if "," in head]
    assert {"95 % CI of mean", "95 % CI of Δ tools", "95 % CI of means"} <= {*heads}


def test_tokens_are_shown_if_any_run_reports_them(make_results):
    silent = run_lines_sheet("t", paper_table(make_results(*ROWS)))
    assert "tokens" not in silent.heads
    usage = {"usage": '{"output_tokens": 1500}'}
    frame = make_results(*(row | usage for row in ROWS))
    reported = run_lines_sheet("t", paper_table(frame))
    assert reported.rows[0][reported.heads.index("tokens")] == "1,500"


def test_tables_name_tasks_by_their_ids_also_in_brackets(make_results):
    rows = make_results({"score": 1.0}, {"model": "b", "score": 0.0})
    sheets = [
        score_sheet("t", score_table(rows, "task")),
        run_lines_sheet("t", paper_table(rows, "task")),
        *comparison_sheets(compare_runs(rows)),
    ]
    names = {row[sheet.heads.index("task")] for sheet in sheets for row in sheet.rows}
    assert names == {"two_segments", "", "all axiomatic (only two_segments)"}
    assert task_cell({"task": "csg_union"}) == "csg_union"


def test_mean_and_readable_share_are_shown_where_they_say_something():
    assert mean_and_readable({"mean": 0.5, "readable": 0.9}) == [
        "mean 50.0",
        "90.0 % readable",
    ]
    assert mean_and_readable({"mean": 0.5, "readable": 1.0}) == ["mean 50.0"]
    assert mean_and_readable({"mean": None, "readable": None}) == []
