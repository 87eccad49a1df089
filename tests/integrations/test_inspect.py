"""Inspect's real library and OpenAI-compatible provider, against a local model."""

import json
import math
import os
from collections import Counter
from concurrent.futures import Future
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from inspect_model import ITS_WARNINGS, MODEL, without_waiting
from loopback import Loopback, prompt_of, stored

pytest.importorskip("inspect_ai", reason="extra [inspect]")

import inspect_ai
from inspect_ai import eval_retry
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from inspect_ai.model import get_model

import scbench
from scbench.base.errors import ResultsError
from scbench.catalog import BUCKETS, all_tasks
from scbench.grading.workers.live import LiveGrader
from scbench.integrations.inspect import tasks as inspect_tasks
from scbench.integrations.inspect.play import _with_earlier_ids
from scbench.integrations.inspect.scorer import named_instances

pytestmark = ITS_WARNINGS
REAL = Path(__file__).parents[3] / "shared" / "real" / "predictions.jsonl"
ITEMS = {
    "two_segments/07": "",
    "two_segments/08": "429 500 cut slow",
    "two_segments/09": "empty",
    "two_segments/10": "filter",
    "two_segments/11": "length",
    "two_segments/12": "400!",
    "csg_union/03": "",
    "enumerate_edges/02": "",
    "polynomial_curve_fitting/02": "cut cut",
    "interlocking_parts/00": "",
    "hide_and_seek/00": "",
    "maze_3d/01": "",
}
"""Items, and the fault of the endpoint when they are asked."""
instances = cache(lambda: named_instances(None))


@pytest.fixture(scope="module", autouse=True)
def no_waiting():
    with without_waiting() as patch:
        patch.setenv("INSPECT_DISPLAY", "none")
        yield


@pytest.fixture(scope="module")
def replies():
    """Texts by prompt: real answers where available, references, and prose."""
    held = scbench.load_release().references()
    lines = [
        {"id": one.id, "answer": json.loads(one.answer)}
        for one in held
        if one.score == 1
    ]
    if REAL.is_file():
        lines = [*map(json.loads, REAL.read_text("utf-8").splitlines()), *lines]
    prompts = {row_id: one.prompt for row_id, one in instances().items()}
    return {
        **stored(lines, prompts),
        prompts["enumerate_edges/02"]: "I cannot help with that.",
        prompts["two_segments/12"]: "never said",
    }


@pytest.fixture(scope="module")
def model(replies):
    with Loopback(replies) as loopback:
        yield loopback


def play(name: str, folder: Path, url: str, **options):
    asked = get_model(MODEL, base_url=url, memoize=False)
    config = {"model": asked, "log_dir": str(folder), "max_retries": 3}
    (log,) = inspect_ai.eval(f"scbench/{name}", **config, **options)
    return read_eval_log(log.location)


@pytest.fixture(scope="module")
def log(model, tmp_path_factory):
    for row_id, faults in ITEMS.items():
        model.faults[instances()[row_id].prompt] = faults.split()
    folder = tmp_path_factory.mktemp("logs")
    return play(
        "spatial", folder, model.url, task_args={"ids": list(ITEMS), "budget": 900}
    )


@pytest.fixture(scope="module")
def report(log, tmp_path_factory):
    return graded(log, tmp_path_factory.mktemp("graded"))


def graded(log, folder: Path, tasks: list[str] | None = None):
    return scbench.grade_file(
        log.location, folder, tasks=tasks, partial=True, workers=2
    )


def answered(report) -> pl.DataFrame:
    return report.results.filter(pl.col("status") != "missing").sort("id", "subtask")


def test_every_score_equals_that_of_the_command(log, report):
    rows = answered(report).rows_by_key("id", named=True)
    assert {*rows} == {*ITEMS}
    statuses = {}
    for sample in log.samples:
        graded = rows[sample.id]
        assert {row["budget"] for row in graded} == {900}
        if sample.error:
            statuses[sample.id] = graded[0]["status"]
            continue
        score = sample.scores["outcome"]
        statuses[sample.id] = score.metadata["status"]
        assert score.metadata["status"] == graded[0]["status"]
        assert score.metadata["scores"] == [
            row["score"] for row in graded if row["score"] is not None
        ]
        checks = [verdict["checks"] for verdict in score.metadata["verdicts"]]
        assert checks == [json.loads(row["checks"]) for row in graded][: len(checks)]
        if score.metadata["scores"]:
            assert score.value == sum(score.metadata["scores"]) / len(graded)
        else:
            assert score.value != score.value  # NaN, which metrics leave out
            assert score.reason == score.metadata["status"]
    assert statuses == {
        **dict.fromkeys(ITEMS, "answered"),
        "two_segments/09": "unparsed",
        "two_segments/10": "blocked",
        "two_segments/11": "answered",
        "two_segments/12": "api_error",
        "enumerate_edges/02": "refused",
    }


def test_means_and_coverage_equal_those_of_the_tables(log, report):
    lines = report.tables["bucket"].rows_by_key("bucket", named=True, unique=True)
    found = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    endings = ("", " mean", " coverage")
    assert {*found} == {f"{name}{ending}" for name in lines for ending in endings}
    counts = (
        Counter()
    )  # of all items: the table of a partial file covers only its own tasks
    for task in all_tasks().values():
        if task.bucket in BUCKETS:
            names = [
                row_id for row_id in instances() if row_id.rpartition("/")[0] == task.id
            ]
            size = task.scores * sum(
                name.rpartition("/")[2].isdecimal() for name in names
            )
            counts.update({task.bucket: size, "overall": size})
    for name, line in lines.items():
        # Inspect's metrics are numbers. A table has none where all items have a floor of 1.
        if line["normalized"] is None:
            assert math.isnan(found[name])
        else:
            assert found[name] == line["normalized"]
        assert found[f"{name} mean"] == line["mean"]
        assert found[f"{name} coverage"] == line["scored"] / counts[name]
    assert found["axiomatic coverage"] < 1


def test_only_failed_calls_are_asked_again(log, model):
    assert log.status == "error"
    assert model.requests[0]["max_tokens"] == 900
    gone = instances()["two_segments/12"].prompt
    model.faults[gone] = []
    before = len(model.asked)
    (again,) = eval_retry(log.location, log_dir=str(Path(log.location).parent))
    assert model.asked[before:] == [gone]
    assert again.status == "success"


def test_grader_failure_is_an_error_and_the_reply_is_kept(model, tmp_path, monkeypatch):
    broken = Future()
    broken.set_result(
        scbench.grading.rows.wire.WireOutcome(
            "grader_error", reason="ZeroDivisionError: oh"
        )
    )
    monkeypatch.setattr(LiveGrader, "submit", lambda *_: broken)
    log = play(
        "two_segments", tmp_path, model.url, task_args={"ids": "two_segments/07"}
    )
    (sample,) = log.samples
    assert "ZeroDivisionError: oh" in sample.error.message
    assert not sample.scores
    report = graded(log, tmp_path / "graded", ["two_segments"])
    assert answered(report)["status"].to_list() == ["answered"]


def test_tools_setting_has_python_and_search(replies, tmp_path):
    """Python really runs; its output becomes part of the next request."""
    prompt = instances()["two_segments/07"].prompt

    def reply(body):
        if body["messages"][-1]["role"] == "tool":
            assert "1764" in body["messages"][-1]["content"]
            return replies[prompt]
        code = json.dumps({"code": "print(42 ** 2)"})
        call = {
            "id": "1",
            "type": "function",
            "function": {"name": "python", "arguments": code},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    given = {
        "ids": "two_segments/07",
        "tools": True,
        "sandbox": "local",
        "search": "tavily",
    }
    with Loopback(reply) as loopback:
        log = play("spatial", tmp_path, loopback.url, task_args=given)
        offered = [tool["function"]["name"] for tool in loopback.requests[0]["tools"]]
    assert offered == ["python", "web_search"]
    (sample,) = log.samples
    assert sample.scores["outcome"].metadata["status"] == "answered"
    report = graded(log, tmp_path / "graded", ["two_segments"])
    assert answered(report)["setting"].to_list() == ["tools"]


@pytest.mark.parametrize("name", ["compose.yaml", ".compose.yaml", "Dockerfile"])
def test_sandbox_uses_no_file_of_the_working_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make = inspect_tasks.TASKS["two_segments"]
    assert make(tools=True).sandbox.config is None
    (tmp_path / name).touch()
    with pytest.raises(PrerequisiteError, match=f"would use the file {name} in this"):
        make(tools=True)
    chosen = make(tools=True, sandbox=f"docker:{name}").sandbox
    assert (chosen.type, chosen.config) == ("docker", str(tmp_path / name))
    assert make(tools=False).sandbox is None
    assert make(tools=True, sandbox="local").sandbox.type == "local"


def test_unknown_sandbox_is_named():
    with pytest.raises(PrerequisiteError, match="'nowhere' not recognized"):
        inspect_tasks.TASKS["two_segments"](tools=True, sandbox="nowhere")


def call_of(name: str, arguments: str) -> dict:
    function = {"name": name, "arguments": arguments}
    call = {"id": "1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_call_of_a_tool_that_was_not_offered_ends_the_reply(replies, tmp_path):
    ids = ["two_segments/07", "two_segments/08"]
    texts = {
        instances()[row_id].prompt: replies[instances()[row_id].prompt]
        for row_id in ids
    }

    def reply(body):
        text = texts[prompt_of(body)]
        return call_of("submit", text[text.index("{") : text.rindex("}") + 1])

    with Loopback(reply) as loopback:
        for name in ("plain", "schema"):
            log = play(
                "two_segments",
                tmp_path / name,
                loopback.url,
                task_args={"ids": ids, "schema": name == "schema"},
            )
            assert [sample.scores["outcome"].value for sample in log.samples] == [1, 1]
            rows = answered(graded(log, tmp_path / f"graded {name}", ["two_segments"]))
            assert rows["score"].to_list() == [1, 1]
        assert len(loopback.requests) == 4


def test_reply_with_tools_ends_at_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_tasks, "MESSAGES_WITH_TOOLS", 7)
    given = {
        "ids": "two_segments/07",
        "tools": True,
        "sandbox": "local",
        "search": "tavily",
    }
    with Loopback(lambda _: call_of("python", '{"code": "1"}')) as loopback:
        log = play("spatial", tmp_path, loopback.url, task_args=given)
        assert len(loopback.requests) == 3
    (sample,) = log.samples
    assert sample.error is None
    assert sample.scores["outcome"].metadata["status"] == "truncated"
    report = graded(log, tmp_path / "graded", ["two_segments"])
    assert answered(report)["status"].to_list() == ["truncated"]
    assert answered(report)["score"].to_list() == [0]


def test_ids_of_earlier_runs_are_kept_and_unreadable_files_refused(tmp_path):
    ids = tmp_path / "ids"
    assert _with_earlier_ids(["a", "b"], ids) == ["a", "b"]
    assert _with_earlier_ids(["c", "a"], ids) == ["a", "b", "c"]
    assert ids.read_text() == "a\nb\nc\n"
    ids.write_bytes(b"a\xff\n")
    with pytest.raises(ResultsError, match="is damaged: it is not UTF-8"):
        _with_earlier_ids(["d"], ids)
    assert ids.read_bytes() == b"a\xff\n"
    ids.unlink()
    os.mkfifo(ids)
    with pytest.raises(OSError, match="not a regular file"):
        _with_earlier_ids(["d"], ids)
