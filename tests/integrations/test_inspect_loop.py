"""Trials through Inspect's real library: live results equal a replay of the log."""

import polars as pl
import pytest
from inspect_model import ITS_WARNINGS, MODEL, without_waiting
from loopback import Loopback
from trials import SCRIPTS, SETUPS, played, scripted

pytest.importorskip("inspect_ai", reason="extra [inspect]")

import inspect_ai
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model

import scbench

pytestmark = ITS_WARNINGS


@pytest.fixture(scope="module", autouse=True)
def no_waiting():
    with without_waiting() as patch:
        patch.setenv("INSPECT_DISPLAY", "none")
        yield


@pytest.fixture(scope="module", params=SCRIPTS)
def setting(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def log(setting, tmp_path_factory):
    with Loopback(scripted(setting)) as server:
        (made,) = inspect_ai.eval(
            "scbench/loop",
            model=get_model(MODEL, base_url=server.url, memoize=False),
            task_args={**SETUPS[setting], "ids": list(SCRIPTS[setting]), "budget": 500},
            log_dir=str(tmp_path_factory.mktemp("logs")),
            max_retries=3,
        )
    return read_eval_log(made.location)


@pytest.fixture(scope="module")
def rows(log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    report = scbench.grade_file(log.location, folder, partial=True, workers=1)
    assert not report.problems
    return report.results.filter(pl.col("status") != "missing").rows_by_key(
        "id", named=True
    )


def test_trial_equals_that_of_a_plain_loop(setting, log):
    plain = played(setting)
    assert {sample.id for sample in log.samples} == {*plain}
    for sample in log.samples:
        assert sample.error is None
        assert sample.metadata["turns"] == plain[sample.id].turns
        assert sample.metadata["loop"] == plain[sample.id].prediction()["loop"]
        shown = [message.text for message in sample.messages if message.role == "user"]
        assert shown[1:] == [turn["observation"] for turn in plain[sample.id].turns]


def test_live_scores_equal_the_replay_to_the_last_bit(setting, log, rows):
    assert {*rows} == {*SCRIPTS[setting]}
    for sample in log.samples:
        live, replayed = sample.scores["outcome"], rows[sample.id]
        assert {row["setting"] for row in replayed} == {setting}
        assert {row["status"] for row in replayed} == {live.metadata["status"]}
        assert live.metadata["scores"] == [row["score"] for row in replayed]
        for i, turn in enumerate(live.metadata["turns"]):
            # A turn without an answer has no scores.
            if turn is not None:
                assert turn == [row["turn_scores"][i] for row in replayed]
        assert {row["queries"] for row in replayed} == {live.metadata["queries"]}


def test_every_tool_call_is_a_turn(setting, tmp_path):
    """Loops offer no tools: the text of a call becomes the text of a turn."""
    script = scripted(setting)

    def reply(body):
        assert not any(message.get("tool_calls") for message in body["messages"])
        function = {"name": "submit", "arguments": script(body)}
        call = {"id": "1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    ids = [*SCRIPTS[setting]]
    with Loopback(reply) as server:
        (made,) = inspect_ai.eval(
            "scbench/loop",
            model=get_model(MODEL, base_url=server.url, memoize=False),
            task_args={**SETUPS[setting], "ids": ids},
            log_dir=str(tmp_path),
            max_retries=3,
        )
        plain = played(setting)
        assert len(server.requests) == sum(len(plain[row_id].turns) for row_id in ids)
    for sample in read_eval_log(made.location).samples:
        assert sample.error is None
        observations = [turn["observation"] for turn in sample.metadata["turns"]]
        assert observations == [turn["observation"] for turn in plain[sample.id].turns]
