import json

import polars as pl
import pytest

from scbench.analysis.results import comparable_rows
from scbench.analysis.turns import SCHEMA, turn_sheets, turn_table
from scbench.base.errors import ResultsError
from scbench.grading.score_tables import score_table

LOOP = json.dumps({"setting": "retry", "attempts": 3})
TURNS = {"setting": "retry", "loop": LOOP, "bucket": "axiomatic"}


def trial(i, scores, **more):
    """A row of a trial; its score is that of its last answer."""
    # A turn without an answer has the score None.
    answers = [score for score in scores if score is not None]
    return {
        **TURNS,
        "id": f"two_segments/{i:02}",
        "subtask": i,
        "score": answers[-1] if answers else 0.0,
        "turn_scores": scores,
        "best_score": max(answers, default=None),
        **more,
    }


def table(make_results, *rows, by="bucket"):
    frame = turn_table(make_results(*rows), by)
    assert dict(frame.schema) == dict(SCHEMA)
    return frame


def test_score_after_a_turn_is_that_of_the_last_answer(make_results):
    result = table(
        make_results,
        trial(0, [1.0]),
        trial(1, [0.0, 1.0]),
        trial(2, [None, 0.0, 0.0]),
        trial(3, [1.0, None, 0.0]),
    )
    assert result["turn"].to_list() == [1, 2, 3]
    assert {*result["loop"]} == {'{"attempts":3,"setting":"retry"}'}
    assert result["mean"].to_list() == [0.5, 0.75, 0.5]
    assert result["solved"].to_list() == [0.5, 0.75, 0.5]
    assert result["gain"].to_list() == [None, 0.25, -0.25]
    assert result["played"].to_list() == [1.0, 0.75, 0.5]
    assert result["n"].to_list() == [4, 4, 4]
    for low, mean, high in result.select("low", "mean", "high").iter_rows():
        assert low < mean < high
    # The first turn has no gain.
    for low, gain, high in result.select("gain_low", "gain", "gain_high").rows()[1:]:
        assert low < gain < high


def test_floors_rise_with_the_answers_and_earn_nothing(make_results):
    of_task = {
        "bucket": "manifolds",
        "task": "shuffle",
        "floor": 0.75,
        "turn_floors": [0.25, 0.5, 0.75],
    }
    # A guesser of one of four choices, who tries another one in each turn.
    scores = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0], [1.0]]
    rows = []
    for i, turns in enumerate(scores):
        rows.append(trial(i, turns, **of_task, id=f"shuffle/{i:02}"))
    frame = make_results(*rows)
    result = turn_table(frame)
    assert result["floor"].to_list() == [0.25, 0.5, 0.75]
    assert result["mean"].to_list() == [0.25, 0.5, 0.75]
    assert result["normalized"].to_list() == pytest.approx([0, 0, 0])
    (line,) = score_table(frame, "task").filter(pl.col("task") == "shuffle").to_dicts()
    assert (line["floor"], line["normalized"]) == (0.75, pytest.approx(0))


def test_truncated_trials_are_counted_with_score_zero(make_results):
    cut = trial(1, [0.5, 1.0], status="truncated", score=0.0)
    result = table(make_results, trial(0, [0.0, 1.0]), cut, trial(2, [1.0]))
    assert result["cut"].to_list() == [1, 1]
    assert result["mean"].to_list() == [0.5, pytest.approx(2 / 3)]


def test_other_settings_and_rows_without_a_score_are_left_out(make_results):
    plain = {"id": "two_segments/00", "score": 1.0, "bucket": "axiomatic"}
    no_score = {"status": "api_error", "score": None, "turn_scores": None}
    failed = trial(1, [0.0], **no_score)
    result = table(make_results, trial(0, [0.0]), failed, plain | {"setting": "tools"})
    assert result["n"].to_list() == [1]
    assert result["mean"].to_list() == [0.0]
    with pytest.raises(ResultsError, match="no scored trials"):
        turn_table(make_results(plain))


def test_loop_trials_share_no_mean_with_runs_of_other_answers(make_results):
    plain = {"id": "two_segments/00", "score": 1.0, "bucket": "axiomatic"}
    mixed = make_results(
        trial(0, [0.0]), plain, plain | {"setting": None, "model": "n"}
    )
    assert comparable_rows(mixed)["setting"].to_list() == ["no_tools", None]
    assert comparable_rows(make_results(trial(0, [0.0]))).height == 1
    probe = trial(0, [0.0], setting="probe")
    with pytest.raises(
        ResultsError, match=r"settings \(probe, retry\), which cannot be averaged"
    ):
        comparable_rows(make_results(trial(0, [0.0]), probe))


def test_sheets_of_runs_are_in_the_order_of_the_table(make_results):
    models = [f"m{i:02}" for i in range(6)]
    result = table(make_results, *(trial(0, [1.0], model=model) for model in models))
    sheets = turn_sheets(result)
    assert len(sheets) == 6
    for model, sheet in zip(models, sheets, strict=True):
        assert model in sheet.title
