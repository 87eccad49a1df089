"""The example predictions: valid, complete, and graded as their documentation says."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from scbench.catalog import get_task
from scbench.freezing.example import example_predictions
from scbench.freezing.freeze import build_release
from scbench.release.load import Release, find_release
from scbench.scoring.answers.extract import from_response
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import judge
from scbench.scoring.refusals import declines

BIN = Path(sys.executable).parent


QUICK = (
    "topology_enumeration",
    "classify_behaviour",
    "two_segments",
    "half_subdivision_neighbours",
)
QUICK += ("delaunay_triangulation", "shikaku_rectangles", "maze_3d")


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Release:
    """A release of tasks that are quick to grade, one of them answered in text."""
    folder = tmp_path_factory.mktemp("example") / "0.0.3"
    build_release("0.0.3", folder, [get_task(task) for task in QUICK])
    return find_release(str(folder))


@pytest.fixture(scope="module")
def lines(release) -> list[dict]:
    return [json.loads(line) for line in example_predictions(release)]


def of(model: str, lines: list[dict]) -> list[dict]:
    return [line for line in lines if line["model"] == model]


def score(release: Release, line: dict) -> float | None:
    """The score of an answer; None if there is no answer in the line."""
    instance = release.instances([line["id"].split("/")[0]])[line["id"]]
    task = get_task(instance.task)
    if "answer" in line:
        value = line["answer"]
    elif "response" in line:
        found = from_response(line["response"], shape_of(task.answer_model))
        if found is None:
            return None
        value = found.value
    else:
        return None
    params = task.params_model.model_validate_json(instance.all_params)
    verdicts = judge(task, params, value)
    return sum(verdict.score for verdict in verdicts) / len(verdicts)


def outcome(release: Release, line: dict) -> str:
    got = score(release, line)
    if got is not None:
        return "right" if got == 1 else "wrong"
    if line.get("finish_reason") == "length":
        return "truncated"
    if "response" in line:
        return "refused" if declines(line["response"]) else "unparsed"
    return line.get("status", "api_error" if line.get("error") else "missing")


def test_every_instance_is_answered_once_by_each_model(release, lines):
    ids = list(release.instances())
    assert [line["id"] for line in of("oracle", lines)] == ids
    assert [line["id"] for line in of("sloppy", lines)] == ids
    assert len(lines) == 2 * len(ids)


def test_the_oracle_is_always_right_in_both_forms(release, lines):
    oracle = of("oracle", lines)
    assert {score(release, line) for line in oracle} == {1}
    assert {"answer" in line for line in oracle} == {True, False}


def test_commands_grade_the_example_as_documented(release, lines, tmp_path):
    folder = str(release.root)
    command = [BIN / "scbench", "example", "--release", folder]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert [json.loads(line) for line in text.splitlines()] == lines
    done = subprocess.run(
        [BIN / "scbench-grade", "-", "--release", folder, "--out", "out", "--format", "json"],
        input=text,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = pl.read_parquet(tmp_path / "out" / "results.parquet").to_dicts()
    graded = {(row["model"], row["id"]): (row["status"], row["score"]) for row in rows}
    assert len(graded) == len(lines)
    for line in lines:
        said = outcome(release, line)
        status, got = graded[line["model"], line["id"]]
        assert status == {"right": "answered", "wrong": "answered"}.get(said, said)
        expected = {"right": 1, "truncated": 0, "refused": 0, "unparsed": 0}
        if said == "wrong":
            assert got < 1
        else:
            assert got == expected.get(said)
