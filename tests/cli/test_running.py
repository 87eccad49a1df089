"""`scbench run` with Inspect's real provider against a local model, in this process."""

import json
import os
import signal
from pathlib import Path

import polars as pl
import pytest
from inspect_model import MODEL, NEEDS_INSPECT, without_waiting
from loopback import REFUSALS, Loopback, stored
from trials import SCRIPTS, scripted
from typer.testing import CliRunner

import scbench
from scbench.cli.main import app

pytestmark = NEEDS_INSPECT
HELLO = "Answer with the one word: yes"
IDS = Path(__file__)
"""This file, which is not a list of ids."""


@pytest.fixture(scope="module", autouse=True)
def no_waiting():
    with without_waiting():
        yield


@pytest.fixture(autouse=True)
def interruptible():
    """Let interrupts raise even if the shell made background processes ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def instances():
    return scbench.load_release().instances()


@pytest.fixture
def model(instances):
    prompts = {row_id: entry.prompt for row_id, entry in instances.items()}
    present = scbench.load_release().references()
    lines = [
        {"id": entry.id, "answer": json.loads(entry.answer)}
        for entry in present
        if entry.score == 1 and entry.id.startswith(("two_segments/", "shikaku"))
    ]
    with Loopback(stored(lines, prompts)) as loopback:
        yield loopback


@pytest.fixture
def run(model, tmp_path):
    def called(*options: str, name: str = MODEL, out: str = "out"):
        # The API client waits between its own retries, too.
        answers = [
            "-M", "max_retries=0", "--base-url", model.url, "--out", str(tmp_path / out), "--quiet",
            *options,
        ]  # fmt: skip
        return CliRunner().invoke(app, ["run", name, *answers])

    return called


def statuses(folder):
    rows = pl.read_parquet(folder / "results.parquet").filter(
        pl.col("status") != "missing"
    )
    return {
        (row["id"][-2:], row["sample"]): row["status"] for row in rows.rows(named=True)
    }


def test_run_ends_in_tables_and_can_be_extended(run, model, tmp_path):
    done = run("--tasks", "two_segments", "--limit", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "openai-api/loopback/a-model" in done.stdout
    assert "25 missing" in done.stdout
    assert len(model.asked) == 1 + 2
    assert model.asked[0] == HELLO
    extra = run("--tasks", "two_segments", "--limit", "3", "--samples", "2")
    assert "48 missing" in extra.stdout
    assert len(model.asked) == 1 + 6
    assert len(set(model.asked)) == 1 + 3
    present = tmp_path / "out" / "logs" / "mine.txt"
    present.write_text("kept")
    again = run("--tasks", "two_segments", "--limit", "3", "--samples", "2")
    assert present.read_text() == "kept"
    assert again.stdout == extra.stdout, again.stderr
    assert len(model.asked) == 1 + 6
    second = run("--tasks", "two_segments", "--budget", "900")
    assert second.exit_code == 2
    assert "contains a different run, of openai-api/loopback/a-model" in second.stderr


def test_answers_that_were_there_before_are_announced(model, tmp_path, monkeypatch):
    """The default folder may be from somebody else's archive."""
    monkeypatch.chdir(tmp_path)
    command = ["run", MODEL, "-M", "max_retries=0", "--base-url", model.url]
    command += ["--tasks", "two_segments", "--limit", "2"]
    first = CliRunner().invoke(app, command)
    assert "continuing" not in first.stderr
    asked = len(model.requests)
    second = CliRunner().invoke(app, command)
    assert len(model.requests) == asked
    assert "warning: continuing the run in scbench-results/" in second.stderr
    assert "/logs, which has 2 answers; to run everything again" in second.stderr
    quiet = CliRunner().invoke(app, [*command, "--quiet"])
    assert "warning: continuing the run in scbench-results/" in quiet.stderr


def test_run_of_somebody_else_is_not_continued_by_default(
    run, model, tmp_path, monkeypatch
):
    monkeypatch.setenv("INSPECT_LOG_FORMAT", "json")
    options = ["--tasks", "two_segments", "--limit", "1"]
    assert run(*options).exit_code == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    logs = sorted((tmp_path / "out" / "logs").iterdir())
    refused = run(*options)
    assert refused.exit_code == 2
    assert "contains a run that you did not start on this machine" in refused.stderr
    # Without the identity of a run, too, nothing is lost.
    (tmp_path / "out" / "logs" / "RUN.json").write_text("")
    assert "was not made by scbench" in run(*options).stderr
    assert sorted((tmp_path / "out" / "logs").iterdir()) == logs


def test_run_of_another_machine_is_continued_with_an_option(
    run, model, tmp_path, monkeypatch
):
    options = ["--tasks", "two_segments", "--limit", "1"]
    # The option may always be given.
    assert run(*options, "--resume").exit_code == 0
    asked = len(model.requests)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(*options).exit_code == 2
    assert run(*options, "--resume").exit_code == 0
    # From now on it is a run of this machine.
    assert run(*options).exit_code == 0
    assert len(model.requests) == asked


def test_unanswered_item_has_no_score_and_is_asked_again(
    run, model, instances, tmp_path
):
    ended = {
        "00": ("429 500 cut", "answered", ""),
        "01": ("500!", "api_error", "500 told to say 500"),
        "02": ("empty!", "unparsed", ""),
        "03": ("404!", "api_error", "404 told to say 404"),
        "04": ("filter!", "blocked", "finish_reason is content_filter"),
        "05": ("long!", "api_error", REFUSALS["long"][1]),
        "06": ("long!", "api_error", REFUSALS["long"][1]),
        "07": ("filtered!", "blocked", REFUSALS["filtered"][1]),
        "08": ("invalid!", "blocked", REFUSALS["invalid"][1]),
        "09": ("400!", "api_error", "400 told to say 400"),
        "10": ("silent!", "api_error", "attempt_timeout '10' exceeded"),
    }
    for place, (faults, *_) in ended.items():
        model.faults[instances[f"two_segments/{place}"].prompt] = faults.split()
    options = ("--tasks", "two_segments", "--limit", "11", "--max-retries", "3")
    done = run(*options, "--attempt-timeout", "10")
    assert done.exit_code == 1
    assert (
        "some calls were never answered; run the same command to retry them"
        in done.stderr
    )
    rows = pl.read_parquet(tmp_path / "out" / "results.parquet")
    for place, (_, status, reason) in ended.items():
        row = rows.row(by_predicate=pl.col("id") == f"two_segments/{place}", named=True)
        assert (row["status"], row["score"] is None) == (
            status,
            status in {"api_error", "blocked"},
        )
        assert reason in (row["reason"] or "")
    assert f"status api_error on 2 calls: {REFUSALS['long'][1]}" in done.stderr
    assert len(done.stderr.splitlines()) < 20
    lost = [place for place, (_, status, _) in ended.items() if status == "api_error"]
    model.faults.clear()
    before = len(model.asked)
    assert run(*options).exit_code == 0
    assert len(model.asked) == before + len(lost)
    assert {statuses(tmp_path / "out")[place, 0] for place in lost} == {"answered"}


def test_silent_endpoint_is_reported_and_leaves_nothing(
    run, model, tmp_path, monkeypatch
):
    monkeypatch.setattr("scbench.integrations.inspect.play._TEST_CALL_SECONDS", 2)
    model.faults[HELLO] = ["silent!"]
    options = ("run", MODEL, "--base-url", model.url, "--tasks", "maze_3d", "--out")
    done = CliRunner().invoke(app, [*options, str(tmp_path / "out")])
    assert done.exit_code == 2
    first, *_, last = done.stderr.splitlines()
    assert first.strip() == f"testing {MODEL} at {model.url} with a short call"
    assert f"no reply within 2 s (asked at {model.url})" in last
    model.faults.clear()
    monkeypatch.setattr("scbench.integrations.inspect.play._TEST_CALL_SECONDS", 600)
    interrupts = [
        signal.SIGINT
    ]  # one: a call that is made again comes when nobody waits for it
    model.replies = lambda _: (
        os.kill(os.getpid(), interrupts.pop()) if interrupts else "yes"
    )
    done = CliRunner().invoke(app, [*options, str(tmp_path / "out")])
    assert done.exit_code == 130
    assert "interrupted; no prompt was sent and nothing was saved" in done.stderr
    assert not (tmp_path / "out").exists()


def test_request_options_reach_the_model(run, model, tmp_path):
    options = (
        "--tasks",
        "two_segments",
        "--limit",
        "1",
        "--temperature",
        "0.5",
        "--seed",
        "3",
    )
    assert run(*options, "--structured").exit_code == 0
    (request,) = model.requests[1:]
    assert (request["temperature"], request["seed"]) == (0.5, 3)
    schema = scbench.load_release().instances()["two_segments/00"].answer_schema
    assert request["response_format"]["json_schema"]["schema"] == json.loads(schema)
    script = scripted("retry")
    model.replies = lambda body: (
        "yes" if body["messages"][0]["content"] == HELLO else script(body)
    )
    ids = tmp_path / "ids.txt"
    ids.write_text("".join(f"{row_id}\n" for row_id in SCRIPTS["retry"]))
    done = run("--ids", str(ids), "--setting", "retry", out="loop")
    rows = pl.read_parquet(tmp_path / "loop" / "results.parquet").filter(
        pl.col("turn_scores").is_not_null()
    )
    assert rows["setting"].unique().to_list() == ["retry"], done.stderr
    assert {*rows["id"]} == {*SCRIPTS["retry"]}
    closed = run("--tasks", "boolean", "--limit", "1", "--closed", out="closed")
    assert (closed.exit_code, "--closed needs --setting retry" in closed.stderr) == (
        2,
        True,
    )
    model.replies = lambda _: "yes"
    done = run(
        "--tasks",
        "boolean",
        "--limit",
        "1",
        "--setting",
        "retry",
        "--closed",
        out="closed",
    )
    assert done.exit_code == 0, done.stderr


def test_run_interrupted_twice_resumes_each_time(run, model, tmp_path):
    message, stops = model.replies, [3, 6]

    def reply(body):
        if stops and len(model.asked) == stops[0]:
            stops.pop(0)
            os.kill(os.getpid(), signal.SIGINT)
        return message.get(body["messages"][0]["content"], "yes")

    model.replies = reply
    options = ("--tasks", "two_segments", "--limit", "6", "--max-connections", "1")
    for _ in range(2):
        done = run(*options)
        assert done.exit_code == 130, (done.stdout, done.stderr)
        assert "run the same command to continue" in done.stderr
    assert run(*options).exit_code == 0
    assert set(statuses(tmp_path / "out").values()) == {"answered"}
    assert len(statuses(tmp_path / "out")) == 6
    assert len(model.asked) <= 1 + 6 + 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--tasks", "two_segmints"), "Did you mean 'two_segments'?"),
        (("--ids", str(IDS), "--limit", "3"), "leave out --limit"),
        (("--model-arg", "stream"), "--model-arg must be NAME=VALUE"),
        (("--tasks", "terse,ladder"), "give only one of them"),
    ],
)
def test_wrong_usage_is_refused_before_any_request(run, model, options, text):
    done = run(*options)
    assert done.exit_code == 2
    assert text in done.stderr
    assert model.asked == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gpt-9", "should be in the format of"),
        ("opnai/gpt-9", "Model API opnai of model"),
        ("openai-api/nobody/gpt-9", "NOBODY_API_KEY"),
        (MODEL, "does not answer: NotFoundError"),
        (MODEL, "(asked at http://127.0.0.1:"),
    ],
)
def test_unusable_model_is_refused_immediately(run, model, tmp_path, name, text):
    model.faults[HELLO] = ["404!"]
    done = run("--tasks", "two_segments", name=name)
    assert done.exit_code == 2
    assert text in done.stderr
    assert not (tmp_path / "out" / "logs").exists()


def test_folder_in_use_or_of_another_program_is_left_alone(run, tmp_path):
    logs = tmp_path / "out" / "logs"
    logs.mkdir(parents=True)
    (logs / "mine.eval").write_text("x")
    done = run("--tasks", "two_segments")
    assert done.exit_code == 2
    assert "was not made by scbench" in done.stderr
    assert [path.name for path in logs.iterdir()] == ["mine.eval"]


def test_dry_run_estimates_the_cost_and_asks_nothing(run, model, instances, tmp_path):
    done = run("--tasks", "two_segments", "--limit", "2", "--samples", "3", "--dry-run")
    characters = 3 * sum(len(instances[f"two_segments/0{i}"].prompt) for i in (0, 1))
    assert "6 prompts, 0 with an image" in done.stdout
    assert (
        f"{characters:,} characters, about {round(characters / 3):,} tokens"
        in done.stdout
    )
    priced = run(
        "--tasks", "two_segments", "--limit", "2", "--dry-run", "--price", "3,500"
    )
    assert "2,000 tokens received: 1.00 USD" in priced.stdout
    assert run("--dry-run", "--price", "3").exit_code == 2
    assert (model.asked, [*tmp_path.iterdir()]) == ([], [])


def test_exhausted_key_ends_the_run(run, model, instances, tmp_path):
    for place in range(3, 25):
        model.faults[instances[f"two_segments/{place:02}"].prompt] = ["quota!"]
    options = ("--tasks", "two_segments", "--limit", "25", "--max-connections", "1")
    done = run(*options)
    assert done.exit_code == 5, done.stderr
    assert (
        "stopped, because 10 calls in a row failed: 429 "
        "You exceeded your current quota." in done.stderr
    )
    assert len(model.asked) <= 1 + 3 + 10 + 3
    ended = statuses(tmp_path / "out")
    assert [ended[f"{place:02}", 0] for place in range(3)] == ["answered"] * 3
    assert {ended[f"{place:02}", 0] for place in range(3, 25)} == {"api_error"}
    model.faults.clear()
    again = run(*options)
    assert again.exit_code == 0
    assert {*statuses(tmp_path / "out").values()} == {"answered"}


def test_env_file_of_the_working_folder_is_not_read(run, model, tmp_path, monkeypatch):
    # As in an archive from someone else, which the user has unpacked.
    unpacked = tmp_path / "archive"
    below = unpacked / "below"
    below.mkdir(parents=True)
    names = ("PYTHONPATH", "SCBENCH_TERRAIN_PYTHON", "XDG_CACHE_HOME")
    lines = "".join(f"{name}={unpacked}\n" for name in names)
    for folder in (unpacked, below):
        (folder / ".env").write_text(lines)
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(below)
    done = run("--tasks", "two_segments", "--limit", "1")
    assert (done.exit_code, done.stderr) == (0, "")
    assert os.environ.keys().isdisjoint(names)
