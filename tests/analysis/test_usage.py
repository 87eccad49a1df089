"""What answers cost: by hand."""

import json

import pytest

from scbench.analysis.usage import cost_sheet, cost_table
from scbench.base.errors import ResultsError
from scbench.report.charts import cost_chart, draw


def used(**amounts):
    return json.dumps(amounts)


ROWS = (
    {"subtask": 0, "score": 1.0, "usage": used(output_tokens=1000, seconds=2.0, cost=0.5)},
    {"subtask": 1, "score": 0.0, "usage": used(output_tokens=3000, cost=1.5)},
    {"subtask": 2, "status": "truncated", "score": 0.0, "usage": used(output_tokens=4000)},
    {"subtask": 3, "score": 1.0, "finish_reason": "max_tokens"},
    {"subtask": 4, "status": "api_error", "usage": used(output_tokens=10**6)},
)


def test_amounts_are_per_answer_over_answers_that_report_them(make_results):
    row = cost_table(make_results(*ROWS)).row(0, named=True)
    assert row["answers"] == 4, "a failed call is no answer"
    assert (row["output_tokens"], row["output_tokens_reported"]) == (pytest.approx(8000 / 3), 3)
    assert (row["seconds"], row["seconds_reported"]) == (2.0, 1)
    assert (row["cost"], row["cost_reported"]) == (1.0, 2)
    assert row["cut_off"] == 0.5
    assert row["score_per_1000_tokens"] == pytest.approx(1.0 / 8), "over those that report tokens"
    assert row["mean"] == 0.5


def test_an_answer_with_nine_scores_is_paid_once(make_results):
    rows = (
        {"task": "interlocking_parts", "subtask": i, "score": 1.0, "usage": used(output_tokens=500)}
        for i in range(9)
    )
    row = cost_table(make_results(*rows)).row(0, named=True)
    assert (row["answers"], row["output_tokens"]) == (1, 500)
    assert row["score_per_1000_tokens"] == 18


def test_results_without_usage_are_refused_with_what_to_do(make_results):
    with pytest.raises(ResultsError, match='as "usage"'):
        cost_table(make_results({"score": 1.0}))


def test_sheet_and_chart(make_results):
    table = cost_table(make_results(*ROWS))
    sheet = cost_sheet(table)
    assert "seconds" in sheet.heads
    assert "input tokens" not in sheet.heads, "nobody reports them"
    assert sheet.rows[0][sheet.heads.index("cost")] == "1.0000\nof 2"
    picture = draw(cost_chart(table), "svg").decode()
    assert "US dollars per answer" in picture
    assert "m no_tools" in picture
