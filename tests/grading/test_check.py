"""Checking without grading: every problem and every likely mistake, each with its line."""

import pytest

from scbench.catalog import get_task
from scbench.grading.check import check_file
from scbench.scoring.judge import MAX_VALUES

TASKS = [get_task("parity"), get_task("enumerate_edges")]
PARITY = [f"parity/{i:02d}" for i in range(4)]

WARNED = {
    "wrong shape": (
        {"answer": {"bit": "0"}},
        "answer_schema",
        "bit: must be a whole number; got",
    ),
    "text in answer": (
        {"answer": '{"bit": 0}'},
        "answer_schema",
        "in response, not in answer",
    ),
    "too long": (
        {"answer": {"bit": [0] * MAX_VALUES}},
        "resource_limit",
        "500,000 values",
    ),
    "prose": ({"response": "It is even."}, "no_answer", "no answer found in the reply"),
    "blank": ({"response": " "}, "no_answer", "the row will get the status unparsed"),
    "nothing": (
        {"model": "unnamed"},
        "no_answer",
        "contains neither answer nor response",
    ),
    "null": ({"answer": None}, "no_answer", "the row will get the status missing"),
    "error": (
        {"error": "timeout"},
        "no_answer",
        "timeout; the row will get the status api_error",
    ),
}


@pytest.fixture
def check(parity_release, write_lines):
    def check(*lines, partial=True, tasks=TASKS):
        path = write_lines(*lines)
        return check_file(str(path), parity_release, tasks, partial=partial)

    return check


def codes(problems) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in problems]


def row(i: int = 0, **fields) -> dict:
    return {"id": PARITY[i], **(fields or {"answer": {"bit": 0}})}


def test_every_problem_is_listed_with_its_line(check):
    result = check(
        "junk",
        row(0),
        "[]",
        "",
        row(0),
        {"id": "parity/4"},
        {"id": "parity/1"},
        {"id": "parity/01", "sample": -1},
        "[" * 5000,
        row(3),
    )
    assert codes(result.problems) == [
        ("not_json", 1),
        ("not_object", 3),
        ("duplicate", 5),
        ("unknown_id", 6),
        ("unknown_id", 7),
        ("bad_prediction", 8),
        ("not_json", 9),
    ]
    assert "line 2" in result.problems[2].message
    assert "from parity/00 to parity/03" in result.problems[3].message
    assert "'parity/01'" in result.problems[4].message
    assert result.usable == 2


@pytest.mark.parametrize(("fields", "code", "message"), WARNED.values(), ids=WARNED)
def test_likely_mistake_is_a_warning(check, fields, code, message):
    result = check(row(0), row(1, **fields))
    assert result.problems == []
    assert codes(result.warnings) == [(code, 2)]
    assert result.warnings[0].id == "parity/01"
    assert message in result.warnings[0].message
    assert result.usable == 2


@pytest.mark.parametrize(
    "status", ["truncated", "refused", "blocked", "missing", "not_run"]
)
def test_status_with_a_reason_is_no_warning(check, status):
    for fields in ({}, {"response": "I can't."}):
        assert check(row(0, status=status, **fields)).warnings == []


def test_missing_items_are_a_problem_unless_partial(check):
    result = check(*map(row, range(4)), partial=False)
    assert codes(result.problems) == [("incomplete", None)]
    assert (
        "8 of 12 items (the first is enumerate_edges/00)" in result.problems[0].message
    )
    assert check(*map(row, range(4)), partial=False, tasks=TASKS[:1]).problems == []
    assert check(*map(row, range(3)), partial=True).problems == []


def test_lines_of_unselected_tasks_are_counted_but_not_used(check):
    result = check(row(0), row(1), tasks=TASKS[1:])
    assert (result.warnings, result.lines, result.usable) == ([], 2, 0)
    assert codes(result.problems) == [("nothing_graded", None)]
