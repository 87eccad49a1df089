"""The environment for verifiers, played by the real package in a separate process."""

import json
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from commands import run
from loopback import Loopback, prompt_of
from stored_replies import (
    expected,
    installed,
    playing,
    rows,
    stored_replies,
)
from trials import SCRIPTS, scripted
from trials import played as played_by_script

import scbench
from scbench.release.load import find_release
from scbench.reward import unpacked

FOLDER = Path(str(files("scbench.integrations"))) / "verifiers_env"
WITHHELD = "maze_3d/00"
PICTURED = "polynomial_curve_fitting/04"
REFUSED = {
    "two_segments/20": ("long!", "api_error"),
    "two_segments/21": ("invalid!", "blocked"),
}
"""Calls that the provider refuses with 400, and the resulting statuses."""

PROGRAM = """
import json, sys
import verifiers.v1 as vf
from verifiers.v1.cli.eval.main import main
config = vf.taskset_config_type("scbench-env")
results = []
for asked in json.loads(sys.argv[1]):
    try:
        taskset = vf.load_taskset(config(id="scbench-env", **asked))
        results.append([task.data.model_dump() for task in taskset])
    except Exception as error:
        results.append(str(error))
whole = vf.env_config_type("scbench-env")
for runtime in ({}, {"runtime": {"type": "docker"}}):
    agent = {"harness": {"id": "bash"}} | runtime
    try:
        made = whole.model_validate({"taskset": {"id": "scbench-env"}, "agent": agent})
        results.append(made.agent.runtime.type)
    except ValueError as error:
        results.append(str(error))
open(sys.argv[2], "w").write(json.dumps(results))
main(sys.argv[3:])
"""
"""Loads some tasksets, then runs the command vf-eval."""

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
(BLOCK,) = re.findall(
    r"^```sh\n(vf-eval .*)\n(scbench-grade .*)\n```$",
    PAGE.read_text("utf-8"),
    re.MULTILINE,
)

ASKED = [
    {"tasks": ["arithmetic"], "fresh": 3, "seed": 5, "parameters": {"length": 4}},
    {"tasks": ["arithmetic"], "fresh": 3, "seed": 6, "parameters": {"length": 4}},
    {"tasks": ["two_segments"], "fresh": 1, "rung": 2},
    {"tasks": ["two_segments"], "config": "ladder", "rung": 2},
    {"tasks": ["planning"], "config": "terse"},
    {"tasks": ["polynomial_curve_fitting"], "images": False},
    {"tasks": ["plannin"]},
    {"fresh": 2},
    {"tasks": ["arithmetic"], "parameters": {"length": 4}},
    {"tasks": ["two_segments"], "fresh": 1, "rung": 99},
    {"rung": 1},
]


@pytest.fixture
def played(once, pytestconfig):
    """The loaded tasksets, the traces, and the requests to the model."""
    cache = pytestconfig.cache.mkdir("packages")
    out = once("verifiers", lambda folder: play(cache, folder))
    (traces,) = out.glob("outputs/*/traces.jsonl")
    loaded, asked = (
        json.loads((out / f"{name}.json").read_text()) for name in ("loaded", "asked")
    )
    return loaded, traces, asked


@pytest.fixture
def played_in_a_loop(once, pytestconfig):
    """The folder of a run in setting retry."""
    cache = pytestconfig.cache.mkdir("packages")
    return once("verifiers-loop", lambda folder: play_trials(cache, folder))


def play_trials(cache: Path, out: Path) -> None:
    out.mkdir()
    ids = [*SCRIPTS["retry"]]
    with Loopback(scripted("retry")) as served:
        command = [
            sys.executable,
            "-c",
            "from verifiers.v1.cli.eval.main import main; main()",
            *shlex.split(BLOCK[0].replace("$BASE_URL", served.url))[1:],
            "--no-rich",
            "--env.taskset.setting",
            "retry",
            "--env.taskset.tasks",
            json.dumps(sorted({row_id.partition("/")[0] for row_id in ids})),
            "--select.include.keys",
            json.dumps(ids),
        ]
        called(command, cache, out)


def called(command: list[str], cache: Path, out: Path) -> None:
    """Run a command in the environment that has verifiers."""
    folder = installed(cache, "verifiers==0.4.0")
    variables = {"API_KEY": "none", "PYTHONPATH": f"{folder}:{FOLDER}"}
    variables |= {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": cache / "compiled",
    }
    run(*command, cwd=out, code=0, **variables)


def play(cache: Path, out: Path) -> None:
    out.mkdir()
    replies = stored_replies()
    withheld = find_release().instances([WITHHELD.partition("/")[0]])[WITHHELD].prompt
    ids = [*replies, WITHHELD, PICTURED, *REFUSED]
    tasks = list(dict.fromkeys(row_id.partition("/")[0] for row_id in ids))
    with playing(replies) as served:
        served.faults[withheld] = ["filter!"]
        refused = find_release().instances(["two_segments"])
        for row_id, (fault, _) in REFUSED.items():
            served.faults[refused[row_id].prompt] = [fault]
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            json.dumps(ASKED),
            str(out / "loaded.json"),
            *shlex.split(BLOCK[0].replace("$BASE_URL", served.url))[1:],
            "--no-rich",
            "--env.taskset.tasks",
            json.dumps(tasks),
            "--select.include.keys",
            json.dumps(ids),
        ]
        called(command, cache, out)
    (out / "asked.json").write_text(json.dumps(served.requests))


def test_rewards_equal_the_scores_of_the_command(played):
    replies = stored_replies()
    _, traces, _ = played
    episodes = {
        one["task"]["key"]: one
        for one in map(json.loads, traces.read_text().splitlines())
    }
    assert episodes.keys() == {*replies, WITHHELD, PICTURED, *REFUSED}
    for row_id, one in replies.items():
        (trace,) = episodes[row_id]["traces"]
        assert trace["rewards"] == {"scbench": {"score": one.score, "weight": 1.0}}
        assert trace["ok"]
    run("bash", "-c", BLOCK[1], cwd=traces.parents[2], code=0)
    others = {WITHHELD: ("api_error", None), PICTURED: ("refused", 0.0)}
    others |= {row_id: (status, None) for row_id, (_, status) in REFUSED.items()}
    assert rows(traces.parents[2] / "by-verifiers" / "results.parquet") == {
        "my-model": expected(replies) | others
    }


def test_ungradable_reply_is_an_error_without_a_reward(played):
    _, traces, _ = played
    (episode,) = (
        one
        for one in map(json.loads, traces.read_text().splitlines())
        if WITHHELD in str(one)
    )
    (trace,) = episode["traces"]
    assert not episode["ok"]
    assert trace["rewards"] == {"scbench": None}
    (error,) = trace["errors"]
    assert error["type"] == "TaskError"
    assert f"{WITHHELD} has no score (api_error)" in error["message"]


def test_prompt_is_sent_once_unchanged_and_with_its_pictures(played):
    instances = find_release().instances()
    _, _, asked = played
    required = {
        instances[row_id].prompt
        for row_id in [*stored_replies(), WITHHELD, PICTURED, *REFUSED]
    }
    assert {*map(prompt_of, asked)} == required
    (pictured,) = (
        one for one in asked if not isinstance(one["messages"][0]["content"], str)
    )
    parts = [part["type"] for part in pictured["messages"][0]["content"]]
    assert parts == ["text", *["image_url"] * len(instances[PICTURED].images)]
    assert all(len(one["messages"]) == 1 and "tools" not in one for one in asked)


def test_trial_and_replay_equal_a_plain_loop(played_in_a_loop):
    plain = played_by_script("retry")
    (traces,) = played_in_a_loop.glob("outputs/*/traces.jsonl")
    episodes = {
        one["task"]["key"]: one
        for one in map(json.loads, traces.read_text().splitlines())
    }
    assert episodes.keys() == plain.keys()
    report = scbench.grade_file(str(traces), played_in_a_loop / "graded", partial=True)
    graded = report.results.filter(pl.col("status") != "missing").rows_by_key(
        "id", named=True
    )
    assert graded.keys() == plain.keys()
    for row_id, environment in plain.items():
        (trace,) = episodes[row_id]["traces"]
        assert trace["info"]["turns"] == environment.turns
        scores = [row["score"] for row in graded[row_id]]
        assert trace["rewards"]["scbench"]["score"] == sum(scores) / len(scores)
        assert {row["setting"] for row in graded[row_id]} == {"retry"}
        assert len(graded[row_id][0]["turn_scores"]) == len(environment.turns)


def test_tasksets_by_parameters(played):
    (first, second, drawn_rung, rung, terse, no_pictures, *errors), _, _ = played
    same = scbench.generate("arithmetic", count=3, seed=5, length=4)
    assert [one["id"] for one in first] == [one.id for one in same]
    assert [one["prompt"] for one in first] == [one.prompt for one in same]
    assert not {one["prompt"] for one in first} & {one["prompt"] for one in second}
    assert [one["idx"] for one in first] == [0, 1, 2]
    right = unpacked(first[0]["instance"])
    assert right.all_params == same[0].all_params
    assert scbench.score(right, "no") == 0.0
    assert ":two_segments/" in drawn_rung[0]["id"]
    ladder = find_release().ladder().instances(["two_segments"])
    assert [one["id"] for one in rung] == [
        one for one in ladder if "/ladder-02-" in one
    ]
    assert {one["bucket"] for one in terse} == {"planning"}
    assert all(
        one["id"].endswith("-terse") and one["instance"] is None for one in terse
    )
    assert [one["id"][-2:] for one in no_pictures] == ["00", "01", "02", "03"]
    required = [
        "Did you mean 'planning'",
        "name the tasks",
        "fresh",
        "no rung 99",
        "config ladder",
    ]
    required += ["model's code on this machine", "docker"]  # a shell for the model
    for words, error in zip(required, errors, strict=True):
        assert words in error


def test_conflict_with_the_openai_version_of_inspect_is_explained(tmp_path):
    (tmp_path / "openai-3.54.0.dist-info").mkdir()
    (tmp_path / "openai-3.54.0.dist-info" / "METADATA").write_text(
        "Name: openai\nVersion: 3.54.0"
    )
    program = "import scbench.integrations.verifiers"
    done = run(sys.executable, "-c", program, PYTHONPATH=tmp_path)
    assert (
        "scbench[verifiers] and scbench[inspect] in separate environments"
        in done.stderr
    )
