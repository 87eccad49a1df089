"""The rows that are diagnosed, and the labels of the others."""

import polars as pl
import pytest

from scbench.analysis.failure_modes.labels import candidates, states_without_diagnosis
from scbench.analysis.failure_modes.modes import PASS
from scbench.base.model import Status


def test_paper_candidates(paper_results):
    result = candidates(paper_results)
    counts = {
        (model, setting): n
        for model, setting, n in result.group_by("model", "setting").len().iter_rows()
    }
    assert [
        counts[model, setting]
        for model in ("gpt-5.2", "gemini-3-pro-preview", "claude-sonnet-4-5")
        for setting in ("no_tools", "tools")
    ] == [122, 101, 123, 96, 190, 178]
    assert result["candidate"].n_unique() == result.height


@pytest.mark.parametrize(
    ("row", "chosen", "state"),
    [
        ({"score": 0.0}, True, None),
        ({"score": 0.0, "status": "refused"}, True, None),
        ({"score": 0.0, "status": "unparsed", "response_characters": 7}, True, None),
        ({"score": 0.0, "status": "unparsed"}, True, None),
        (
            {"score": 0.0, "status": "unparsed", "response_characters": 0},
            False,
            "unparsed",
        ),
        (
            {"score": 0.0, "status": "truncated", "response_characters": 7},
            False,
            "truncated",
        ),
        ({"score": 1.0}, False, PASS),
        ({"score": 0.6, "task": "csg_union"}, False, PASS),
        ({"score": 0.59999, "task": "csg_union"}, True, None),
        *(({"status": s.value}, False, s.value) for s in Status if not s.scored),
    ],
)
def test_only_model_replies_are_diagnosed(make_results, row, chosen, state):
    rows = make_results(row)
    assert candidates(rows).height == chosen
    assert states_without_diagnosis(rows)["state"].to_list() == [state]


def test_candidate_name_depends_only_on_its_content(make_results):
    row = {"score": 0.0, "budget": 7}
    name = candidates(make_results(row))["candidate"][0]
    assert name == "9fa46eecc7a9f363"
    same = [
        row | {"grader_version": 2, "answer": "{}"},
        row | {"score": 0.0, "line": 9},
    ]
    assert {candidates(make_results(second))["candidate"][0] for second in same} == {
        name
    }
    remaining = [
        row | change
        for change in (
            {"model": "n"},
            {"setting": None},
            {"setting": "tools"},
            {"budget": None},
            {"budget": 8},
            {"sample": 1},
            {"subtask": 1},
            {"task": "csg_union"},
        )
    ]
    names = {candidates(make_results(second))["candidate"][0] for second in remaining}
    assert len(names) == len(remaining)
    assert name not in names


def test_answer_is_next_to_each_of_its_scores(make_results):
    rows = [
        {"task": "interlocking_parts", "subtask": i, "score": float(i < 3)}
        for i in range(9)
    ]
    rows[0] |= {"answer": '{"parts":[]}'}
    rows += [
        {"task": "interlocking_parts", "subtask": i, "score": 0.0, "sample": 1}
        for i in range(9)
    ]
    result = candidates(make_results(*rows))
    assert result.height == 6 + 9
    answers = result.group_by("sample").agg(pl.col("answer").unique()).sort("sample")
    assert answers["answer"].to_list() == [['{"parts":[]}'], [None]]
