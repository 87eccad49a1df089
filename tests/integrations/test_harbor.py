"""Tasks for Harbor: their files, their verifier in a plain folder, and a job read back."""

import json
from pathlib import Path

import polars as pl
import pytest
from commands import run
from typer.testing import CliRunner

import scbench
from scbench.cli.main import app

PICTURED = "polynomial_curve_fitting/04"
IDS = [
    "two_segments/07",
    "two_segments/08",
    "enumerate_edges/02",
    PICTURED,
    "svg_shapes/00",
]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("harbor")
    ids = folder / "ids.txt"
    ids.write_text("\n".join(IDS))
    options = [
        "--format",
        "harbor",
        "--ids",
        str(ids),
        "--solutions",
        "--out",
        str(folder / "t"),
    ]
    done = CliRunner().invoke(app, ["prompts", *options])
    assert done.exit_code == 0, done.stderr
    assert "keep it away from the model" in done.stderr
    assert (
        CliRunner().invoke(app, ["prompts", *options]).exit_code == 2
    )  # nothing is written over
    return {row_id: folder / "t" / row_id.replace("/", "-") for row_id in IDS}


def script(path: Path, task: Path, folder: Path) -> int:
    """Run a script as Harbor does, but in a plain folder."""
    places = {
        "TESTS": task / "tests",
        "ANSWER": folder / "answer.json",
        "LOGS": folder / "logs",
    }
    return run(
        "sh", path, **{f"SCBENCH_{name}": place for name, place in places.items()}
    ).returncode


@pytest.mark.parametrize(
    ("row_id", "answer", "score"),
    [
        *((row_id, None, 1.0) for row_id in IDS),
        (IDS[0], "", 0.0),
        (IDS[0], "[broken", 0.0),
    ],
)
def test_the_verifier_writes_what_the_command_scores(
    tasks, tmp_path, row_id, answer, score
):
    if answer is None:
        assert (
            script(tasks[row_id] / "solution" / "solve.sh", tasks[row_id], tmp_path)
            == 0
        )
    elif answer:
        (tmp_path / "answer.json").write_text(answer)
    assert script(tasks[row_id] / "tests" / "test.sh", tasks[row_id], tmp_path) == 0
    rewards = json.loads((tmp_path / "logs" / "reward.json").read_text())
    normalized = (
        {}
        if scbench.load_release().floors().get(row_id, 0.0) == 1
        else {"normalized_score": score}
    )
    assert rewards == {"reward": score, "score": score, **normalized}


def trial(
    folder: Path, row_id: str, number: int, answer: str | None, error: str = ""
) -> None:
    result = {
        "task_name": f"scbench/{row_id.replace('/', '-')}",
        "agent_info": {
            "name": "a-cli",
            "version": "1",
            "model_info": {"name": "m", "provider": "p"},
        },
        "agent_result": {"n_input_tokens": 9, "n_output_tokens": 5, "cost_usd": 0.5},
        "exception_info": {"exception_type": error, "exception_message": "why"}
        if error
        else None,
    }
    path = folder / f"trial-{number}"
    (path / "artifacts" / "app").mkdir(parents=True)
    (path / "result.json").write_text(json.dumps(result))
    if answer is not None:
        (path / "artifacts" / "app" / "answer.json").write_text(answer)


def test_a_job_folder_is_read(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    (job / "result.json").write_text("{}")  # of the job itself
    stored = scbench.load_release().references()
    right = next(
        ref.answer for ref in stored if ref.id == IDS[0] and ref.kind == "reference"
    )
    trials = [
        (right, "", "answered", 1.0),
        ("no idea", "", "unparsed", 0.0),
        (None, "", "unparsed", 0.0),
        (None, "AgentTimeoutError", "truncated", 0.0),
        (None, "EnvironmentStartError", "api_error", None),
        (right, "AgentTimeoutError", "answered", 1.0),
    ]
    for number, (answer, error, *_) in enumerate(trials):
        trial(job, IDS[0], number, answer, error)
    report = scbench.grade_file(job, tmp_path / "out", partial=True, workers=1)
    rows = report.results.filter(pl.col("status") != "missing").sort("sample")
    assert rows.select("status", "score").rows() == [(*one[2:],) for one in trials]
    assert {*rows["model"]} == {"p/m"}
    assert {*rows["setting"]} == {"tools"}
    assert json.loads(rows["usage"][0])["cost"] == 0.5


def test_its_own_models_take_the_tasks(tasks):
    """On Python 3.12 with harbor: ``nox -s harbor``."""
    pytest.importorskip("harbor", reason="nox -s harbor")
    from harbor.models.task.config import TaskConfig  # noqa: PLC0415
    from harbor.models.task.paths import TaskPaths  # noqa: PLC0415
    from harbor.models.task.verifier_mode import (  # noqa: PLC0415
        resolve_verifier_environment_definition,
    )

    for folder in tasks.values():
        config = TaskConfig.model_validate_toml((folder / "task.toml").read_text())
        definition = resolve_verifier_environment_definition(config, TaskPaths(folder))
        assert definition.bundled_tests
        assert definition.directory == folder / "tests"
        assert definition.config.network_mode.value == "no-network"
