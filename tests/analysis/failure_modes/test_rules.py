"""The built-in judge: its decisions, in order."""

import json

import pytest

from scbench.analysis.failure_modes.labels import Decision, candidates
from scbench.analysis.failure_modes.rules import judge_by_rules
from scbench.base.errors import ResultsError

TRIANGLES = '{"triangles":[[0,1,2]]}'


def check(check_id, count=None, *, passed=False, **details):
    details |= (
        {} if count is None else {"count": count, "offenders": [0] * min(count, 50)}
    )
    return {
        "id": check_id,
        "passed": passed,
        "message": "It is so.",
        "details": details,
    }


@pytest.fixture
def decide(make_results):
    """A function that judges one row, given its failed checks."""

    def run(*checks, **row):
        row = {
            "task": "delaunay_triangulation",
            "score": 0.0,
            "answer": TRIANGLES,
        } | row
        result = judge_by_rules(
            candidates(make_results(row | {"checks": json.dumps(checks)}))
        )
        (decision,) = result.to_dicts()
        Decision.model_validate(decision)
        return decision

    return run


ANSWER_FOUND = check("answer_found")


@pytest.mark.parametrize(
    ("row", "checks", "label", "confidence"),
    [
        (
            {"status": "refused", "answer": None},
            [ANSWER_FOUND],
            "evasion_forfeit",
            0.95,
        ),
        (
            {"status": "unparsed", "answer": None, "response_characters": 40},
            [ANSWER_FOUND],
            "evasion_forfeit",
            0.6,
        ),
        (
            {"status": "unparsed", "answer": None, "response_characters": 90_000},
            [ANSWER_FOUND],
            "evasion_forfeit",
            0.4,
        ),
        (
            {"answer": "{}"},
            [check("answer_schema", errors=[{}])],
            "evasion_forfeit",
            0.9,
        ),
        (
            {"answer": '{"triangles":[]}'},
            [check("hull", count=4)],
            "evasion_forfeit",
            0.7,
        ),
        (
            {"answer": '{"note":"too hard","triangles":[[],[""]]}'},
            [check("answer_schema", errors=[])],
            "evasion_forfeit",
            0.9,
        ),
        (
            {"answer": '{"error":"use a solver"}'},
            [check("answer_schema", errors=[])],
            "evasion_forfeit",
            0.9,
        ),
        (
            {"answer": '{"segments":[[0,1]]}'},
            [check("answer_schema", errors=[{}] * 5)],
            "trivialized_misframed",
            0.6,
        ),
        ({}, [check("resource_limit")], "runaway_overthinking", 0.7),
        ({}, [check("repeats", count=1)], "near_miss", 0.8),
        ({}, [check("repeats", count=2)], "near_miss", 0.6),
        ({}, [check("repeats", count=3)], "local_only", 0.7),
        ({}, [check("hull")], "near_miss", 0.5),
        ({}, [check("hull"), check("overlap", count=1)], "local_only", 0.6),
        ({}, [check("hull"), check("overlap"), check("area")], "local_only", 0.8),
        ({}, [check("repeats", count=1), check("area", passed=None)], "near_miss", 0.7),
        ({}, [check("area", passed=None)], "local_only", 0.3),
        ({"task": "csg_union", "score": 0.55}, [check("union")], "near_miss", 0.3),
        ({"task": "csg_union", "score": 0.0}, [check("union")], "near_miss", 0.3),
        ({"task": "csg_union", "score": 0.2}, [check("union")], "local_only", 0.5),
        (
            {"task": "csg_union", "score": 0.2},
            [check("union", passed=True)],
            "local_only",
            0.4,
        ),
        ({"answer": None}, [check("repeats", count=1)], "near_miss", 0.8),
        (
            {"answer": '{"triangles":[0]}'},
            [check("repeats", count=1)],
            "near_miss",
            0.8,
        ),
        (
            {"task": "maze_3d", "answer": '{"maze":[]}'},
            [check("shape")],
            "evasion_forfeit",
            0.7,
        ),
        (
            {"task": "maze_3d", "answer": '{"maze":["1A"]}'},
            [check("shape")],
            "near_miss",
            0.5,
        ),
    ],
)
def test_decisions(decide, row, checks, label, confidence):
    decision = decide(*checks, **row)
    assert (decision["failure_mode"], decision["confidence"]) == (label, confidence)
    assert decision["evidence_tags"] == [
        c["id"] for c in checks if c["passed"] is False
    ]
    assert decision["justification"].endswith(".")


def test_other_counts_are_not_numbers_of_places(decide):
    """For example, interlocking parts count parts, and pipe loops count crossings."""
    odd = {
        "id": "hull",
        "passed": False,
        "message": "",
        "details": {"count": 12, "wanted": 10},
    }
    assert decide(odd)["failure_mode"] == "near_miss"


def test_defining_check_outranks_the_number_of_places(decide, monkeypatch):
    from scbench.graders import delaunay_triangulation  # noqa: PLC0415

    monkeypatch.setattr(
        delaunay_triangulation, "DEFINING", frozenset({"empty_circle"}), raising=False
    )
    decision = decide(check("empty_circle", count=1))
    assert decision["failure_mode"] == "trivialized_misframed"
    assert "empty_circle" in decision["justification"]
    assert decide(check("hull", count=1))["failure_mode"] == "near_miss"


@pytest.mark.parametrize("column", ["checks", "answer"])
def test_invalid_json_is_named(make_results, column):
    rows = make_results({"score": 0.0, column: "[0"})
    with pytest.raises(
        ResultsError, match=f"two_segments/00 .subtask 0.: its {column} is not"
    ):
        judge_by_rules(candidates(rows))
