"""Judging: answers that do not fit the schema score 0, and verdicts of graders are kept."""

import pytest

from scbench.base.model import Check, Verdict
from scbench.catalog import get_task
from scbench.scoring.judge import MAX_VALUES, judge, schema_check, size_check

DELAUNAY = get_task("delaunay_triangulation")
SQUARE = DELAUNAY.params_model(
    points=((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.1, 0.9)), decimals=1
)
RIGHT = {"triangles": [[0, 1, 3], [1, 2, 3]]}
THREE = "must be three whole numbers from 0"
BAD = {
    "true": (True, "must be an object with the key 'triangles'; got true"),
    "text": ("[[0, 1, 2]]", "Put a model's text in response, not in answer."),
    "array": (
        [[0, 1, 2]],
        "must be an object with the key 'triangles'; got a list of 1 entry",
    ),
    "wrong key": ({"triangle": []}, "triangles: is missing"),
    "object inside": (
        {"triangles": {"0": [0, 1, 2]}},
        "got an object with the keys '0'",
    ),
    "boolean": (
        {"triangles": [[0, True, 2]]},
        f"triangles.0: {THREE}; got [0, true, 2].",
    ),
    "float": ({"triangles": [[0, 1.5, 2]]}, f"triangles.0: {THREE}; got [0, 1.5, 2]."),
    "NaN": (
        {"triangles": [[0, float("nan"), 2]]},
        f"triangles.0: {THREE}; got [0, NaN, 2].",
    ),
    "two": ({"triangles": [[0, 1, 2], [0, 1]]}, f"triangles.1: {THREE}; got [0, 1]."),
}


def grader_returning(verdicts):
    def grade(params, answer):
        return verdicts

    return grade


def verdict_on(answer) -> Verdict:
    [verdict] = judge(DELAUNAY, SQUARE, answer)
    return verdict


@pytest.mark.parametrize(("answer", "expected_message"), BAD.values(), ids=BAD)
def test_schema_faults_score_0_and_name_the_place(answer, expected_message):
    verdict = verdict_on(answer)
    assert verdict.score == 0
    [check] = verdict.checks
    assert (check.id, check.passed) == ("answer_schema", False)
    assert check.message.startswith("The answer does not have the required form: ")
    assert expected_message in check.message


def test_many_faults_are_counted_and_some_are_shown():
    [check] = verdict_on({"triangles": [["a"] * 3] * 40}).checks
    assert "(and 35 more)" in check.message
    assert check.details["count"] == 40
    places = [fault["at"] for fault in check.details["errors"]]
    assert places == [f"triangles.{i}" for i in range(5)]


def test_unknown_keys_are_ignored_with_a_note():
    assert verdict_on(RIGHT | {"why": 1}).score == 1
    assert verdict_on(RIGHT | {"why": 1}).notes == ("ignored 1 unknown key: 'why'",)
    many = {f"{i}\n\x1b{'k' * 9000}": i for i in range(9)}
    [note] = verdict_on(RIGHT | many).notes
    assert note.startswith("ignored 9 unknown keys: '0\\n\\x1bkkk")
    assert note.isprintable()
    assert len(note) < 300


def test_every_score_of_a_task_gets_the_schema_check(make_task):
    task, params = make_task(grader_returning(None), scores=9)
    verdicts = judge(task, params, {})
    assert [verdict.score for verdict in verdicts] == [0.0] * 9
    assert {check.id for verdict in verdicts for check in verdict.checks} == {
        "answer_schema"
    }


def test_task_with_several_scores_gets_several_verdicts(make_task):
    three = tuple(Verdict(i / 2, (), notes=("own",)) for i in range(3))
    task, params = make_task(grader_returning(three), scores=3)
    verdicts = judge(task, params, {"values": [], "extra": 1})
    assert [verdict.score for verdict in verdicts] == [0, 0.5, 1]
    assert verdicts[1].notes == ("own", "ignored 1 unknown key: 'extra'")


@pytest.mark.parametrize(
    ("given", "expected_message"),
    [
        (None, r"must return 2 verdicts, not \(NoneType\)"),
        (Verdict(1.0, ()), r"must return 2 verdicts, not \(Verdict\)"),
        ((), r"must return 2 verdicts, not \(\)"),
        ((Verdict(1.0, ()), 1.0), r"must return 2 verdicts, not \(Verdict, float\)"),
        ([Verdict(1.0, ())] * 2, r"must return 2 verdicts, not \(list\)"),
    ],
)
def test_grader_must_return_verdicts(make_task, given, expected_message):
    task, params = make_task(grader_returning(given), scores=2)
    with pytest.raises(TypeError, match=expected_message):
        judge(task, params, {"values": []})


def test_answers_with_too_many_values_fail_the_resource_limit():
    half = [[0, 0]] * (MAX_VALUES // 3 - 10)
    assert size_check({"triangles": half}) is None
    for answer in (
        [0] * MAX_VALUES,
        {"a": half, "b": [half]},
        {str(i): 0 for i in range(500_001)},
    ):
        check = size_check(answer)
        assert isinstance(check, Check)
        assert (check.id, check.passed) == ("resource_limit", False)
        assert "500,000 values" in check.message


def test_message_about_many_faults_is_short():
    answer = {"triangles": [""] * (MAX_VALUES - 10)}
    assert size_check(answer) is None
    with pytest.raises(ValueError, match="499990 validation errors") as caught:
        DELAUNAY.answer_model.model_validate(answer)
    check = schema_check(caught.value, answer, DELAUNAY.answer_model)
    assert len(check.message) < 1000
    assert check.details["count"] == MAX_VALUES - 10


def test_only_the_faults_that_are_shown_are_described(monkeypatch):
    described = []

    def note(value):
        described.append(value)
        return "x"

    monkeypatch.setattr("scbench.scoring.judge.describe_value", note)
    verdict = verdict_on({"triangles": [[0, 1.5, 2.5]] * 1000})
    assert verdict.checks[0].details["count"] == 1000
    assert len(described) == 5


def test_the_last_of_several_faults_at_one_place_counts():
    verdict = verdict_on({"triangles": [[0, 1.5, "a"], [0, 1]]})
    details = verdict.checks[0].details
    assert details["count"] == 2
    assert [fault["at"] for fault in details["errors"]] == [
        "triangles.0",
        "triangles.1",
    ]
