"""Harbor tasks: their files, their verifier in a plain folder, and importing a job."""

import errno
import json
import os
import tomllib
from pathlib import Path

import polars as pl
import pytest
from commands import run
from typer.testing import CliRunner

import scbench
from scbench.base.errors import PredictionsError
from scbench.cli.main import app
from scbench.formats.imports.harbor_jobs import is_job, read_job
from scbench.integrations.harbor import DATASET, verify

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
    """Run a script like Harbor, but in a plain folder."""
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
def test_verifier_and_command_give_the_same_score(
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


def leave_link(logs: Path) -> None:
    logs.symlink_to(logs.parent / "elsewhere")


def leave_file(logs: Path) -> None:
    logs.write_text("x")


def leave_rewards(logs: Path) -> None:
    logs.mkdir()
    (logs / "reward.json").write_text('{"reward": 1}')
    (logs / "reward.txt").write_text("1")


def leave_folders(logs: Path) -> None:
    (logs / "reward.json" / "x").mkdir(parents=True)
    (logs / "outcome.json" / "x").mkdir(parents=True)


def leave_pipes(logs: Path) -> None:
    logs.mkdir()
    os.mkfifo(logs / "reward.json")
    os.mkfifo(logs / "outcome.json")


def leave_links(logs: Path) -> None:
    logs.mkdir()
    for name in ("reward.json", "outcome.json"):
        (logs / name).symlink_to(logs.parent / "stolen")


@pytest.mark.parametrize(
    "leave",
    [leave_link, leave_file, leave_rewards, leave_folders, leave_pipes, leave_links],
)
def test_files_left_by_an_agent_do_not_count(tasks, tmp_path, leave):
    logs = tmp_path / "logs"
    leave(logs)
    tests = tasks[IDS[0]] / "tests"
    assert verify(tests, tmp_path / "answer.json", logs) == 0
    assert logs.is_dir()
    assert not logs.is_symlink()
    assert {path.name for path in logs.iterdir()} == {"outcome.json", "reward.json"}
    assert json.loads((logs / "reward.json").read_text())["reward"] == 0
    assert not (tmp_path / "stolen").exists()


def test_killed_verifier_leaves_no_earlier_reward(tasks, tmp_path, monkeypatch):
    logs = tmp_path / "logs"
    leave_rewards(logs)

    def end(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("scbench.integrations.harbor.outcome", end)
    with pytest.raises(MemoryError):
        verify(tasks[IDS[0]] / "tests", tmp_path / "answer.json", logs)
    assert list(logs.iterdir()) == []


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


def test_job_folder_is_read(tmp_path):
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


def empty_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def linked(path: Path) -> None:
    target = path.rename(path.parents[4] / "elsewhere.json")
    path.symlink_to(target)


def linked_folder(path: Path) -> None:
    folder = path.parent
    target = folder.rename(path.parents[4] / "elsewhere")
    folder.symlink_to(target)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


BAD_ANSWERS = {
    "a pipe": pipe,
    "a folder": empty_folder,
    "a link": linked,
    "a link to its folder": linked_folder,
    "an answer of 17 MB": lambda path: path.write_text(f"[{'1,' * 8_600_000}1]"),
    "17 MB of signs that JSON escapes": lambda path: path.write_bytes(bytes(3 << 20)),
}


@pytest.mark.parametrize("fault", BAD_ANSWERS)
def test_bad_answer_scores_0_here_and_in_the_verifier(tasks, tmp_path, fault):
    job = tmp_path / "job"
    trial(job, IDS[0], 0, "{}")
    answer = job / "trial-0/artifacts/app/answer.json"
    BAD_ANSWERS[fault](answer)
    report = scbench.grade_file(job, tmp_path / "out", partial=True, workers=1)
    rows = report.results.filter(pl.col("status") != "missing")
    assert rows.select("status", "score").rows() == [("unparsed", 0.0)]
    if fault != "a link to its folder":
        logs = tmp_path / "logs"
        assert verify(tasks[IDS[0]] / "tests", answer, logs) == 0
        assert json.loads((logs / "reward.json").read_text())["score"] == 0


def looped(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


BAD_RESULTS = {
    "deep": "[" * 200_000,
    "a deep field": '{"task_name": "x", "a": ' + "[" * 200_000,
    "no JSON": "\0",
    "no name": '{"task_name": ["a"]}',
    "a pipe": pipe,
    "a link to itself": looped,
}


@pytest.mark.parametrize("fault", BAD_RESULTS)
def test_bad_result_costs_only_its_trial(tmp_path, fault):
    job = tmp_path / "job"
    for number in range(2):
        trial(job, IDS[number], number, "{}")
    result = job / "trial-0/result.json"
    content = BAD_RESULTS[fault]
    if isinstance(content, str):
        result.write_text(content)
    else:
        content(result)
    report = scbench.grade_file(job, tmp_path / "out", partial=True, workers=1)
    rows = report.results.filter(pl.col("status") != "missing")
    assert [*rows["id"].unique()] == [IDS[1]]
    assert len(report.problems) == 1
    assert "trial-0" in str(report.problems[0])


def test_folders_without_permission_cost_only_their_trials(tmp_path, monkeypatch):
    job = tmp_path / "job"
    for number in range(4):
        trial(job, IDS[0], number, '{"segments": []}')
    failed = job / "trial-0/result.json"
    failure = {"exception_info": {"exception_type": "X"}}
    failed.write_text(json.dumps(json.loads(failed.read_text()) | failure))
    (job / "trial-3/result.json").unlink()
    (job / "job.log").touch()
    system_stat = os.stat
    system_open = os.open

    def guarded_stat(path, *arguments, **options):
        if "artifacts" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return system_stat(path, *arguments, **options)

    def guarded_open(path, *arguments, **options):
        if path in {"artifacts", "trial-1"}:
            raise PermissionError(errno.EACCES, "Permission denied")
        return system_open(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", guarded_stat)
    monkeypatch.setattr(os, "open", guarded_open)
    assert is_job(str(job))
    trials = [entry for _, entry in read_job(str(job))]
    problem = trials[1]
    assert isinstance(problem, PredictionsError)
    assert str(problem) == "trial-1: [Errno 13] Permission denied"
    assert [trials[0].fields["status"], trials[2].fields["response"]] == [
        "api_error",
        "",
    ]
    assert len(trials) == 3, "a trial without a result is unfinished"


@pytest.mark.parametrize(
    "change",
    [
        {"agent_result": {"cost_usd": float("nan"), "n_output_tokens": 5}},
        {"agent_result": {"cost_usd": -1, "n_output_tokens": 5}},
        {"agent_result": {"cost_usd": 10**400, "n_output_tokens": 5}},
        {"agent_info": {"name": "a", "model_info": {"provider": ["p"], "name": 5}}},
        {"agent_info": {"name": ["a"], "model_info": ["p"]}},
    ],
)
def test_odd_field_of_a_result_costs_no_answer(tmp_path, change):
    job = tmp_path / "job"
    trial(job, IDS[0], 0, "{}")
    path = job / "trial-0/result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    report = scbench.grade_file(job, tmp_path / "out", partial=True, workers=1)
    rows = report.results.filter(pl.col("status") != "missing")
    assert len(rows) == 1
    assert "cost" not in (rows["usage"][0] or "") or "agent_result" not in change


def test_verifiers_install_the_given_wheels(tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    options = ["prompts", "--format", "harbor", "--wheels", str(wheels)]

    def written(name: str) -> tuple[int, str, Path]:
        ids = tmp_path / "ids.txt"
        ids.write_text(IDS[0])
        out = tmp_path / name
        done = CliRunner().invoke(app, [*options, "--ids", str(ids), "--out", str(out)])
        return done.exit_code, done.stderr, out / "two_segments-07" / "tests"

    code, words, _ = written("none")
    assert (code, "contains no wheels" in words) == (2, True)
    (wheels / "numpy-2.0-py3-none-any.whl").write_bytes(b"n")
    code, words, _ = written("other")
    assert (code, "pip wheel --no-deps" in words) == (2, True)
    ours = f"scbench-{scbench.__version__}-py3-none-any.whl"
    (wheels / ours).write_bytes(b"s")
    code, _, tests = written("all")
    assert code == 0
    assert "--no-index --find-links /tmp/wheels" in (tests / "Dockerfile").read_text()
    assert (tests / "wheels" / ours).read_bytes() == b"s"
    (wheels / "numpy-2.0-py3-none-any.whl").unlink()
    code, _, tests = written("ours")
    text = (tests / "Dockerfile").read_text()
    assert (code, "COPY wheels" in text, "--no-index" in text) == (0, True, False)


def test_manifest_lists_every_task_once(tasks):
    folder = tasks[IDS[0]].parent
    manifest = tomllib.loads((folder / DATASET).read_text())
    names = [task["name"].removeprefix("scbench/") for task in manifest["tasks"]]
    assert sorted(names) == sorted(path.name for path in tasks.values())
    version = scbench.load_release().version
    assert manifest["dataset"]["version"] == version


def test_harbor_models_accept_the_tasks(tasks):
    """On Python 3.12 with harbor: ``nox -s harbor``."""
    pytest.importorskip("harbor", reason="nox -s harbor")
    from harbor.models.dataset.manifest import DatasetManifest  # noqa: PLC0415
    from harbor.models.task.config import TaskConfig  # noqa: PLC0415
    from harbor.models.task.paths import TaskPaths  # noqa: PLC0415
    from harbor.models.task.verifier_mode import (  # noqa: PLC0415
        resolve_verifier_environment_definition,
    )
    from harbor.publisher.packager import Packager  # noqa: PLC0415

    listed = DatasetManifest.from_toml_file(tasks[IDS[0]].parent / DATASET).tasks
    digests = {task.name: task.digest for task in listed}
    for folder in tasks.values():
        digest, _ = Packager.compute_content_hash(folder)
        assert digests[f"scbench/{folder.name}"] == f"sha256:{digest}"
        config = TaskConfig.model_validate_toml((folder / "task.toml").read_text())
        definition = resolve_verifier_environment_definition(config, TaskPaths(folder))
        assert definition.bundled_tests
        assert definition.directory == folder / "tests"
        assert definition.config.network_mode.value == "no-network"
