"""Warnings about unusual predictions, and the limits of reported status and usage."""

import json

import pytest

from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.validate import release_finder, validate
from scbench.release.load import find_release


@pytest.fixture
def warnings(entry, check):
    """A function that changes line 3 and returns the warnings; there must be no problem."""

    def run(**change: object):
        def apply(rows: list[dict]) -> None:
            row = rows[2] | change
            rows[2] = {key: value for key, value in row.items() if value is not None}

        entry.lines(apply)
        done = check(entry.folder)
        assert not done.problems
        return [(codes.code, codes.line) for codes in done.findings], done

    return run


def test_row_without_an_answer_lowers_coverage_with_a_warning(warnings):
    codes, done = warnings(answer=None, status="blocked")
    assert codes == [("coverage", None)]
    assert (done.checked.expected, done.checked.scored) == (27, 26)
    assert "coverage is 26 of 27 scores (1 blocked)" in done.findings[0].message


def test_input_size_impossible_without_tools_is_noticed(warnings):
    assert warnings(usage={"input_tokens": 91_676})[0] == [("usage_input", 3)]
    assert (
        warnings(
            usage={"input_tokens": 900, "output_tokens": 5, "reasoning_tokens": 5}
        )[0]
        == []
    )
    retried = {"input_tokens": 60_000, "attempts": 20}
    assert warnings(usage=retried)[0] == []


@pytest.mark.parametrize(
    "line",
    [
        {"usage": {"server_tool_use": {"web_search_requests": 0}}},
        {"usage": {"tool_tokens": 0}},
        {"tool_calls": []},
        {"usage": {"note": "no tools"}},
        {"response": "I used no tool, I searched nothing. Answer: {}", "answer": None},
    ],
)
def test_naming_a_tool_is_not_using_one(warnings, line):
    assert "usage_setting" not in dict(warnings(**line)[0])


def test_real_answers_completed_with_references_pass(real_rows, kit, tmp_path):
    release = find_release()
    real = {row["id"]: row["answer"] for row, _ in real_rows if "answer" in row}
    lines = kit.answers(release)
    known = {line["id"] for line in lines}
    assert len(real.keys() & known) > 50
    for line in lines:
        line["answer"] = real.get(line["id"], line["answer"])
    kit.submit(tmp_path, kit.about.format(release=release.version), lines)
    with open_submission(tmp_path) as opened:
        done = validate(opened, release_finder())
    assert not done.problems
    records = release.manifest.default_records.values()
    scores = sum(record.scores for record in records)
    assert done.checked.lines == sum(record.instances for record in records)
    assert done.checked.expected == done.checked.scored == scores
    assert json.dumps(done.about.model_dump(mode="json"))
