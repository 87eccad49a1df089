"""Tables of scores: which come first, and which columns say something."""

from scbench.analysis.score_sheets import overview_sheets, score_sheet
from scbench.grading.score_tables import score_table

ROWS = ({"score": 1.0}, {"task": "shuffle", "score": 0.0})


def test_text_tasks_stand_apart_and_lines_are_named_by_what_they_are_of(make_results):
    tables = {by: score_table(make_results(*ROWS), by) for by in ("task", "bucket")}
    sheets = overview_sheets("Scores", tables["bucket"])
    means = {sheet.title: sheet.rows[0][sheet.heads.index("mean")] for sheet in sheets}
    assert means == {"Scores": "100.0", "Scores, text tasks": "0.0"}
    for by, table in tables.items():
        assert tables.keys() & {*score_sheet("Scores", table).heads} == {by}
