"""The cost of answers by hand, and the paper's stored points of budget sweeps."""

import json
from functools import cache

import pytest

from scbench.analysis.usage import budget_sweep, cost_table
from scbench.catalog import paper_tasks


def used(**amounts):
    return json.dumps(amounts)


ROWS = (
    {
        "subtask": 0,
        "score": 1.0,
        "usage": used(output_tokens=1000, seconds=2.0, cost=0.5),
    },
    {"subtask": 1, "score": 0.0, "usage": used(output_tokens=3000, cost=1.5)},
    {
        "subtask": 2,
        "status": "truncated",
        "score": 0.0,
        "usage": used(output_tokens=4000),
    },
    {"subtask": 3, "score": 1.0, "finish_reason": "max_tokens"},
    {"subtask": 4, "status": "api_error", "usage": used(output_tokens=10**6)},
)


def test_amounts_are_averaged_over_the_answers_that_report_them(make_results):
    row = cost_table(make_results(*ROWS)).row(0, named=True)
    assert row["answers"] == 4, "a failed call is no answer"
    assert (row["output_tokens"], row["output_tokens_reported"]) == (
        pytest.approx(8000 / 3),
        3,
    )
    assert (row["seconds"], row["seconds_reported"]) == (2.0, 1)
    assert (row["cost"], row["cost_reported"]) == (1.0, 2)
    assert row["cut_off"] == 0.5
    assert row["score_per_1000_tokens"] == pytest.approx(1.0 / 8), (
        "over those that report tokens"
    )
    assert row["mean"] == 0.5


def test_answer_with_nine_scores_is_paid_once(make_results):
    rows = (
        {
            "task": "interlocking_parts",
            "subtask": i,
            "score": 1.0,
            "usage": used(output_tokens=500),
        }
        for i in range(9)
    )
    row = cost_table(make_results(*rows)).row(0, named=True)
    assert (row["answers"], row["output_tokens"]) == (1, 500)
    assert row["score_per_1000_tokens"] == 18


@cache
def items() -> list[tuple[str, int]]:
    """The paper's items of the bucket that the sweep covered."""
    return [
        (task.id, i)
        for task in paper_tasks()
        if task.bucket == "axiomatic"
        for i in range(len(task.builder().paper()))
    ]


def rows_of(point: dict) -> list[dict]:
    """75 rows that add up to a stored point: capped ones first, correct ones last."""
    n, capped, budget = point["n"], point["cap_hits"], point["budget"]
    # Rows below the cap share the remaining tokens evenly; the first get one more.
    total = round(point["mean_output_tokens"] * n)
    share, remainder = divmod(total - capped * budget, n - capped)
    below = [share + (i < remainder) for i in range(n - capped)]
    assert max(below) < budget
    spent = [budget] * capped + below
    rows = []
    for i, (task, subtask) in enumerate(items()):
        is_cut = i < point["incomplete_responses"]
        is_empty = i < point["empty_outputs"]
        status = "answered"
        if is_empty:
            status = "truncated" if is_cut else "unparsed"
        rows.append(
            {
                "model": point["model"],
                "budget": budget,
                "task": task,
                "subtask": subtask,
                "status": status,
                "score": float(i >= n - point["total_score"]),
                "usage": json.dumps({"output_tokens": spent[i]}),
                "finish_reason": "FinishReason.MAX_TOKENS" if is_cut else "stop",
                "response_characters": 0 if is_empty else 100,
            }
        )
    return rows


@pytest.fixture(scope="module")
def stored(paper_numbers):
    return paper_numbers["budget_sweep"]["stored_points"]


@pytest.fixture(scope="module")
def points(stored, make_results):
    return budget_sweep(
        make_results(*(row for point in stored for row in rows_of(point)))
    )


def test_paper_ten_points(stored, points):
    assert points.height == 10
    result = {
        (row["model"], row["budget"]): row for row in points.iter_rows(named=True)
    }
    for point in stored:
        row = result[point["model"], point["budget"]]
        assert (row["n"], row["coverage"], row["token_observations"]) == (75, 1, 75)
        assert row["accuracy"] == pytest.approx(point["accuracy"], abs=1e-12)
        assert row["mean_output_tokens"] == pytest.approx(
            point["mean_output_tokens"], abs=1e-9
        )
        assert round(row["empty"] * 75) == point["empty_outputs"]
        assert round(row["cap_hit"] * 75) == point["cap_hits"]
        assert round(row["truncated"] * 75) == point["incomplete_responses"]
        assert row["api_error"] == 0
        assert row["low"] <= row["accuracy"] <= row["high"]


def point(make_results, *rows):
    full = ({"budget": 100, "subtask": i} | row for i, row in enumerate(rows))
    return budget_sweep(make_results(*full)).row(0, named=True)


def reported(tokens) -> str:
    return json.dumps({"input_tokens": 5, "output_tokens": tokens})


def test_rows_without_a_report_are_left_out_of_the_mean(make_results):
    row = point(
        make_results,
        {"score": 1.0, "usage": reported(40)},
        {"score": 1.0, "usage": reported(100)},
        {"score": 0.0, "usage": "{}"},
        {"score": 0.0},
        {"score": 0.0, "usage": '{"output_tokens": "many"}'},
        {"score": 0.0, "usage": "not JSON"},
    )
    assert (row["mean_output_tokens"], row["token_observations"], row["n"]) == (
        70,
        2,
        6,
    )
    assert row["cap_hit"] == pytest.approx(1 / 6)


def test_cap_hits_are_divided_by_the_answered_rows(make_results):
    row = point(
        make_results,
        {"score": 1.0, "usage": reported(100)},
        {"score": 1.0, "usage": reported(10)},
        {"status": "missing"},
        {"status": "api_error", "usage": reported(100)},
    )
    assert (row["answered"], row["cap_hit"]) == (2, 0.5)


def test_failures_are_counted_by_kind(make_results):
    row = point(
        make_results,
        {"score": 0.0, "status": "truncated"},
        {"score": 0.0, "status": "truncated", "response_characters": 50},
        {"score": 1.0, "finish_reason": " LENGTH ", "response_characters": 50},
        {
            "score": 0.0,
            "status": "unparsed",
            "response_characters": 0,
            "finish_reason": "stop",
        },
        {"score": 1.0, "finish_reason": None},
        {"status": "api_error"},
        {"status": "missing"},
        {"score": 0.0, "status": "unparsed", "response_characters": 9},
    )
    assert (row["n"], row["answered"]) == (8, 6)
    assert row["truncated"] == 3 / 6
    assert row["empty"] == 2 / 6, "an answer handed over as data is not empty"
    assert row["unparsed"] == 2 / 6
    assert row["api_error"] == 1 / 8, "of all rows: it is no answer"
    assert row["coverage"] == 6 / 8
    assert row["accuracy"] == pytest.approx(2 / 6), "over the scored rows"
